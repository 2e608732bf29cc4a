//! Edits and requests in order: L1, and the text of the server against that of the client.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, text_of};

const URI: &str = "file:///nowhere/order.chatmd";
const CONTENT_MODIFIED: i64 = -32801;

/// L1: 200 edits, a request after each third, nothing is waited for.
fn burst(pause: Option<Duration>) -> usize {
    let mut client = Client::plain();
    client.open(URI, "");
    let mut text = String::new();
    let mut asked = Vec::new();
    for edit in 0..200_u32 {
        let c = char::from(b'a' + (edit % 26) as u8);
        let at = json!({"line": 0, "character": edit});
        let version = i64::from(edit) + 2;
        client.change(
            URI,
            version,
            json!([{"range": {"start": at, "end": at}, "text": c.to_string()}]),
        );
        text.push(c);
        if edit % 3 == 2 {
            asked.push((client.syntax_tree(URI), text.clone()));
        }
        if let Some(pause) = pause {
            std::thread::sleep(pause);
        }
    }
    assert_eq!(client.text(URI), text);
    let mut answered = 0;
    for (id, expected) in asked {
        let answer = client.answer(id);
        match text_of(&answer) {
            Some(found) => {
                assert_eq!(
                    found, expected,
                    "the answer shows another state than it was asked for"
                );
                answered += 1;
            }
            None => assert_eq!(answer["error"]["code"], CONTENT_MODIFIED, "{answer}"),
        }
    }
    // Letters alone are one finding as long as the text: a set shows its version.
    let last = client.published(URI, 201);
    assert_eq!(last[0]["range"]["end"]["character"], 200);
    let mut before = 0;
    for message in client.rest() {
        assert_eq!(message["method"], "textDocument/publishDiagnostics");
        let version = message["params"]["version"].as_i64().unwrap();
        assert!(
            version > before && version < 201,
            "{version} after {before}"
        );
        before = version;
        let set = &message["params"]["diagnostics"];
        let shown = set[0]["range"]["end"]["character"].as_i64().unwrap_or(0);
        assert_eq!(shown, version - 1, "a set of another version: {set}");
    }
    client.finish();
    answered
}

#[test]
fn l1_two_hundred_edits_at_once() {
    burst(None);
}

#[test]
fn l1_two_hundred_edits_while_someone_types() {
    let answered = burst(Some(Duration::from_millis(6)));
    assert!(
        answered > 20,
        "only {answered} of 66 requests were answered with a tree"
    );
}

#[test]
fn a_version_that_does_not_grow_is_applied() {
    let mut client = Client::plain();
    client.open(URI, "<user>a</user>");
    client.replace(URI, 1, "<user>b</user>");
    client.replace(URI, 0, "<user>c</user>");
    assert_eq!(client.text(URI), "<user>c</user>");
    client.finish();
}

/// The text as a client keeps it that counts UTF-16 or bytes.
struct Model {
    text: Vec<char>,
    utf8: bool,
    state: u64,
}

impl Model {
    fn random(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % below.max(1) as u64) as usize
    }

    /// A place that the protocol can name: not between CR and LF.
    fn place(&mut self) -> usize {
        let at = self.random(self.text.len() + 1);
        let inside = at > 0 && self.text[at - 1] == '\r' && self.text.get(at) == Some(&'\n');
        at + usize::from(inside)
    }

    fn position(&self, at: usize) -> Value {
        let (mut line, mut character) = (0, 0);
        for (index, c) in self.text[..at].iter().enumerate() {
            let ends = *c == '\n' || *c == '\r' && self.text.get(index + 1) != Some(&'\n');
            if ends {
                (line, character) = (line + 1, 0);
            } else {
                character += if self.utf8 {
                    c.len_utf8()
                } else {
                    c.len_utf16()
                };
            }
        }
        json!({"line": line, "character": character})
    }

    fn edit(&mut self) -> Value {
        const PIECES: [&str; 16] = [
            "x",
            "é",
            "😀",
            "e\u{301}",
            "\n",
            "\r\n",
            "\r",
            "<user>",
            "</user>",
            "<tool name=\"",
            "\"",
            "/>",
            "<!--",
            "-->",
            "末",
            "",
        ];
        let (a, b) = (self.place(), self.place());
        let (start, end) = match self.random(4) {
            0 => (a.min(b), a.max(b).min(a.min(b) + 40)),
            _ => (a, a),
        };
        // The bound above may have cut between CR and LF.
        let split = end > 0 && self.text[end - 1] == '\r' && self.text.get(end) == Some(&'\n');
        let end = end + usize::from(split);
        let mut piece = PIECES[self.random(PIECES.len())].to_owned();
        if self.text.len() > 1_500 {
            piece.clear();
        }
        let change = json!({
            "range": {"start": self.position(start), "end": self.position(end)},
            "text": piece,
        });
        self.text.splice(start..end, piece.chars());
        change
    }
}

fn edits(utf8: bool, count: usize) {
    let encodings = if utf8 {
        json!(["utf-16", "utf-8"])
    } else {
        json!(["utf-16"])
    };
    let mut client = Client::ready(json!({
        "processId": null,
        "capabilities": {"general": {"positionEncodings": encodings}},
    }));
    let mut model = Model {
        text: Vec::new(),
        utf8,
        state: 0x9e37_79b9_7f4a_7c15,
    };
    client.open(URI, "");
    let (mut done, mut version) = (0, 1);
    while done < count {
        let changes: Vec<Value> = (0..=model.random(5)).map(|_| model.edit()).collect();
        done += changes.len();
        version += 1;
        client.change(URI, version, Value::from(changes));
        if version % 100 == 0 {
            let expected: String = model.text.iter().collect();
            assert_eq!(client.text(URI), expected, "after {done} edits");
            client.rest();
        }
    }
    let expected: String = model.text.iter().collect();
    assert_eq!(client.text(URI), expected);
    client.finish();
}

fn edit_count() -> usize {
    let count = std::env::var("CHATMD_LSP_EDITS").ok();
    count.map_or(5_000, |count| count.parse().unwrap())
}

#[test]
fn random_edits_leave_the_text_of_the_client() {
    edits(false, edit_count());
}

#[test]
fn random_edits_in_bytes_leave_the_text_of_the_client() {
    edits(true, edit_count());
}

/// L9 in small: what edits leave behind does not add up.
#[cfg(target_os = "linux")]
#[test]
fn l9_memory_does_not_grow_with_edits() {
    let count = edit_count().max(2_000) as i64 * 2;
    let mut client = Client::plain();
    let body = "<user>some text</user>\n".repeat(100);
    client.open(URI, &body);
    let at = json!({"line": 50, "character": 8});
    let after = json!({"line": 50, "character": 9});
    let mut warm = 0;
    for edit in 0..count {
        let change = if edit % 2 == 0 {
            json!([{"range": {"start": at, "end": at}, "text": "x"}])
        } else {
            json!([{"range": {"start": at, "end": after}, "text": ""}])
        };
        client.change(URI, edit + 2, change);
        if edit % 50 == 49 {
            client.text(URI);
            client.rest();
        }
        if edit == count / 4 {
            warm = resident_kib(client.server.id());
        }
    }
    let now = resident_kib(client.server.id());
    assert!(
        now <= warm + warm / 20 + 1_024,
        "{warm} KiB grew to {now} KiB"
    );
    client.finish();
}

#[cfg(target_os = "linux")]
pub fn resident_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
