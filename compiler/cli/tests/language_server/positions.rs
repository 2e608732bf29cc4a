//! Ranges in the units of the client.

use serde_json::{Value, json};

use super::client::Client;

const URI: &str = "file:///nowhere/positions.chatmd";
/// One unknown element a line, behind characters of every width and line end.
const TEXT: &str =
    "<user>é😀e\u{301}末</user><nothing/>\r\n<!-- é😀 --><nothing/>\r<nothing/>\n\t<nothing/>";

/// Line, start and end of the findings about elements.
fn places(encodings: Option<Value>) -> (String, Vec<(i64, i64, i64)>) {
    let general = encodings.map_or(json!({}), |list| json!({"positionEncodings": list}));
    let mut client = Client::start();
    let id = client.request(
        "initialize",
        json!({"processId": null, "capabilities": {"general": general}}),
    );
    let answer = client.answer(id);
    client.notify("initialized", json!({}));
    client.open(URI, TEXT);
    let set = client.published(URI, 1);
    let mut found: Vec<_> = set
        .iter()
        .filter(|one| one["code"] == "chatmd.unknown_element")
        .map(|one| {
            let range = &one["range"];
            assert_eq!(range["start"]["line"], range["end"]["line"]);
            (
                range["start"]["line"].as_i64().unwrap(),
                range["start"]["character"].as_i64().unwrap(),
                range["end"]["character"].as_i64().unwrap(),
            )
        })
        .collect();
    found.sort_unstable();
    client.finish();
    let encoding = &answer["result"]["capabilities"]["positionEncoding"];
    (encoding.as_str().unwrap().to_owned(), found)
}

#[test]
fn every_encoding() {
    // Width of `<user>é😀e◌́末</user>` and of `<!-- é😀 -->` in each encoding.
    for (offered, encoding, first, second) in [
        (None, "utf-16", 19, 12),
        (Some(json!(["utf-16"])), "utf-16", 19, 12),
        (Some(json!(["utf-16", "utf-8", "utf-32"])), "utf-8", 25, 15),
        (Some(json!(["utf-32", "utf-16"])), "utf-16", 19, 12),
        (Some(json!(["utf-32"])), "utf-32", 18, 11),
        (Some(json!([])), "utf-16", 19, 12),
    ] {
        let (found, places) = places(offered.clone());
        assert_eq!(found, encoding, "{offered:?}");
        let lines: Vec<i64> = places.iter().map(|(line, _, _)| *line).collect();
        assert_eq!(lines, [0, 1, 2, 3], "{encoding}");
        // Wherever inside the tag the finding points, it is the same place in every line.
        let bare = places[2].1;
        let starts: Vec<i64> = places.iter().map(|(_, start, _)| start - bare).collect();
        assert_eq!(starts, [first, second, 0, 1], "{encoding}");
        let width = places[2].2 - places[2].1;
        assert!(places.iter().all(|(_, start, end)| end - start == width));
    }
}

#[test]
fn a_mark_on_disk_is_not_part_of_the_first_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bom.chatmd");
    std::fs::write(&path, "\u{feff}<nothing/>").unwrap();
    let uri = format!("file://{}", path.display());
    let mut client = Client::plain();
    client.open(&uri, "<nothing/>");
    let set = client.published(&uri, 1);
    assert!(set[0]["range"]["end"]["character"].as_i64().unwrap() <= 10);
    client.change(
        &uri,
        2,
        json!([{"range": {"start": {"line": 0, "character": 0},
        "end": {"line": 0, "character": 10}}, "text": "<user>x</user>"}]),
    );
    assert_eq!(client.published(&uri, 2), Vec::<Value>::new());
    assert_eq!(client.text(&uri), "\u{feff}<user>x</user>");
    client.finish();
}

/// fc1-039: the document of the case as it stands.
///
/// Held here and in the next test: the range of the finding in every encoding, that the ranges which
/// the server sends are ranges that it understands, and that places which do not exist are clamped.
/// The case also asks for `rename` and `hover`, which the server does not offer yet: that both are
/// refused, wherever they point, is all there is to hold of them.
#[test]
fn the_document_of_the_field_case() {
    let cases = include_str!("../../../../corpus/cases/field-cases-1.jsonl");
    let mut cases = cases
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let case = cases.find(|case| case["id"] == "fc1-039").unwrap();
    let text = case["input"]["document"].as_str().unwrap();
    for encoding in ["utf-16", "utf-8", "utf-32"] {
        let mut client = Client::ready(json!({"processId": null,
            "capabilities": {"general": {"positionEncodings": [encoding]}}}));
        client.open(URI, text);
        let set = client.published(URI, 1);
        assert!(!set.is_empty());
        let units = |part: &str| match encoding {
            "utf-8" => part.len(),
            "utf-16" => part.encode_utf16().count(),
            _ => part.chars().count(),
        };
        // Outside of any runtime the element is what is wrong.
        let start = units(text.split("<rule").next().unwrap());
        let named = |one: &Value| one["range"]["start"]["character"] == start;
        assert!(set.iter().any(named), "{encoding}, {start}: {set:#?}");
        for one in &set {
            let same = json!([{"range": one["range"], "text": "\u{1F600}"}]);
            client.change(URI, 2, same);
            client.replace(URI, 3, text);
        }
        for (method, extra) in [
            ("textDocument/hover", json!({})),
            ("textDocument/rename", json!({"newName": "s"})),
        ] {
            for character in [10_000, units("<!-- 日本") + 1] {
                let mut params = json!({"textDocument": {"uri": URI},
                    "position": {"line": 0, "character": character}});
                params
                    .as_object_mut()
                    .unwrap()
                    .extend(extra.as_object().unwrap().clone());
                let id = client.request(method, params);
                assert_eq!(client.answer(id)["error"]["code"], -32601);
            }
        }
        assert_eq!(client.text(URI), text);
        client.finish();
    }
}

/// fc1-039: a finding behind wide characters, and places that do not exist.
#[test]
fn a_misspelt_attribute_behind_wide_characters() {
    let text = "<shell_access id=\"x\"><policy><!-- 日本😀 --> <rule id=\"r\" actn=\"deny\"/></policy></shell_access>";
    for encoding in ["utf-16", "utf-8", "utf-32"] {
        let mut client = Client::ready(json!({"processId": null,
            "capabilities": {"general": {"positionEncodings": [encoding]}}}));
        client.open(URI, text);
        let set = client.published(URI, 1);
        let found = set
            .iter()
            .find(|one| one["code"] == "shell.unknown_attribute")
            .unwrap();
        assert_eq!(found["severity"], 1);
        let units = |part: &str| match encoding {
            "utf-8" => part.len(),
            "utf-16" => part.encode_utf16().count(),
            _ => part.chars().count(),
        };
        let start = units(text.split("actn").next().unwrap());
        let range = &found["range"];
        assert_eq!(range["start"], json!({"line": 0, "character": start}));
        assert_eq!(range["end"], json!({"line": 0, "character": start + 4}));
        // The range of the server is one that it understands: what it marks is what it replaces.
        client.change(URI, 2, json!([{"range": range, "text": "action"}]));
        assert_eq!(client.text(URI), text.replace("actn", "action"));
        // Far behind the end, and inside a pair of surrogates or a sequence of bytes.
        let far = json!({"line": 0, "character": 10_000});
        client.change(
            URI,
            3,
            json!([{"range": {"start": far, "end": far}, "text": "!"}]),
        );
        let inside = units(text.split('😀').next().unwrap()) + usize::from(encoding != "utf-32");
        let inside = json!({"line": 0, "character": inside});
        client.change(
            URI,
            4,
            json!([{"range": {"start": inside, "end": inside}, "text": "?"}]),
        );
        let expected = text.replace("actn", "action").replace('😀', "?😀") + "!";
        assert_eq!(client.text(URI), expected, "{encoding}");
        // What is not served yet is refused, wherever it points.
        let id = client.request(
            "textDocument/hover",
            json!({"textDocument": {"uri": URI}, "position": far}),
        );
        assert_eq!(client.answer(id)["error"]["code"], -32601);
        client.finish();
    }
}
