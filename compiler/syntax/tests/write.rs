//! What is written reads back as it was (spec 01 section 18).
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_syntax::write::{ScriptBodyError, attribute_value, body_text, raw_blocks, script_body};
use chatmd_syntax::{Element, Node, Parse, parse};
use common::check_cover;
use proptest::prelude::*;

fn read(document: &str) -> Parse {
    let parsed = parse(document.as_bytes());
    check_cover(&parsed);
    assert_eq!(parsed.diagnostics, [], "{document}");
    assert_eq!(parsed.tree.top.len(), 1, "{document}");
    parsed
}

fn only(parsed: &Parse) -> &Element {
    parsed.tree.element(parsed.tree.top[0]).unwrap()
}

/// Text made of what could break out of a body or a value.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "|RAW",
        "RAW|",
        "|",
        "RAW",
        "</user>",
        "<user>",
        "<",
        ">",
        "\"",
        "'",
        "\\",
        "&",
        "&lt;",
        "\n",
        "\r\n",
        " ",
        "x",
        "<!--",
        "-->",
        "</script>",
        "</script",
        "é",
        "\u{FEFF}",
        "=",
        "/>",
        "<shell_access id=\"a\"/>",
        "\n<tool ",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn attribute_values_read_back(value in nasty()) {
        let written = attribute_value(&value);
        let parsed = read(&format!("<user name={written} id=\"next\"/>"));
        let attributes = &only(&parsed).attributes;
        prop_assert_eq!(attributes.len(), 2);
        prop_assert_eq!(parsed.tree.value(&attributes[0]).unwrap(), value);
    }

    #[test]
    fn bodies_read_back(text in nasty()) {
        for written in [body_text(&text), raw_blocks(&text)] {
            let parsed = read(&format!("<user>{written}</user>"));
            let user = only(&parsed);
            prop_assert_eq!(parsed.tree.body_text(&user.children), &*text);
            let elements = user.children.iter().filter(|id| parsed.tree.element(**id).is_some());
            prop_assert_eq!(elements.count(), 0, "text became a tag");
        }
    }

    #[test]
    fn script_bodies_read_back(program in nasty()) {
        match script_body(&program) {
            Err(ScriptBodyError::NeedsFile) => prop_assert!(program.contains("|RAW")),
            Ok(written) => {
                let parsed = read(&format!("<script id=\"s\">{written}</script>"));
                let content = parsed.tree.nodes.iter().find_map(|node| match node {
                    Node::ScriptBody { content, .. } => Some(parsed.tree.slice(*content)),
                    _ => None,
                });
                prop_assert_eq!(content.unwrap_or_default(), &*program);
            }
        }
    }
}

#[test]
fn forms_of_the_specification() {
    assert_eq!(raw_blocks("x|RAWy"), "RAW|x||RAWRAW|RAWy|RAW");
    assert_eq!(body_text("plain & simple"), "plain & simple");
    assert_eq!(body_text("a<b"), "RAW|a<b|RAW");
    assert_eq!(attribute_value("a<b>&c"), "\"a&lt;b&gt;&amp;c\"");
    assert_eq!(attribute_value("say \"hi\""), "'say \"hi\"'");
    assert_eq!(attribute_value("\"it's\""), "\"&quot;it's&quot;\"");
    assert_eq!(attribute_value("C:\\"), "\"C:\\\\\"");
    assert_eq!(script_body(" \n"), Ok("RAW| \n|RAW".to_owned()));
    assert_eq!(
        script_body("a</script b|RAW"),
        Err(ScriptBodyError::NeedsFile)
    );
}
