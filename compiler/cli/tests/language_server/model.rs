//! L8: random sequences of valid and invalid messages against a model of what is open.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::client::{Client, frame, text_of};

const CONTENT_MODIFIED: i64 = -32801;

fn sequences() -> usize {
    let count = std::env::var("CHATMD_LSP_SEQUENCES").ok();
    count.map_or(10_000, |count| count.parse().unwrap())
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const PIECES: &[&str] = &[
    "x",
    "é",
    "😀",
    "\n",
    "\r\n",
    "\r",
    "<user>",
    "</user>",
    "<tool name=\"",
    "\"",
    "/>",
    "<!--",
    "RAW|",
    "末",
    "",
];

/// The offset of a place as the protocol describes it, by walking over the lines.
fn offset(text: &str, line: u64, character: u64, utf8: bool) -> usize {
    let mut lines: Vec<std::ops::Range<usize>> = std::iter::once(0..0).collect();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let end = if rest.starts_with("\r\n") {
            2
        } else {
            usize::from(rest.starts_with(['\r', '\n']))
        };
        if end > 0 {
            at += end;
            lines.push(at..at);
        } else {
            at += rest.chars().next().unwrap().len_utf8();
            lines.last_mut().unwrap().end = at;
        }
    }
    let Some(range) = usize::try_from(line).ok().and_then(|line| lines.get(line)) else {
        return text.len();
    };
    let mut units = 0;
    for (index, c) in text[range.clone()].char_indices() {
        units += if utf8 { c.len_utf8() } else { c.len_utf16() } as u64;
        if units > character {
            return range.start + index;
        }
    }
    range.end
}

/// What the client has open.
struct Model {
    random: Random,
    utf8: bool,
    open: HashMap<String, String>,
    /// Requests with what they have to show, unless the document changes before the answer.
    asked: Vec<(i64, String, Option<String>)>,
    /// Messages that are answered without an id.
    nonsense: usize,
    refused: Vec<(i64, i64)>,
}

impl Model {
    /// A change of a document, in the protocol and in the model. Places may lie anywhere.
    fn change(&mut self, text: &mut String) -> Value {
        let piece = self.random.of(PIECES);
        if self.random.below(8) == 0 {
            *text = piece.repeat(3);
            return json!({"text": text});
        }
        let mut place = || {
            let far = self.random.below(20) == 0;
            let line = if far { 1 << 30 } else { self.random.below(5) };
            let character = if far {
                2_147_483_647
            } else {
                self.random.below(12)
            };
            (line as u64, character as u64)
        };
        let (a, b) = (place(), place());
        let start = offset(text, a.0, a.1, self.utf8);
        // A range that ends before it starts is empty.
        let end = offset(text, b.0, b.1, self.utf8).max(start);
        text.replace_range(start..end, piece);
        let position =
            |(line, character): (u64, u64)| json!({"line": line, "character": character});
        json!({"range": {"start": position(a), "end": position(b)}, "text": piece})
    }

    fn step(&mut self, client: &mut Client, uri: &str, version: &mut i64) {
        *version += 1;
        match self.random.below(13) {
            0 | 1 => {
                let text: String = (0..self.random.below(6))
                    .map(|_| self.random.of(PIECES))
                    .collect();
                client.open(uri, &text);
                self.open.insert(uri.to_owned(), text);
            }
            2..=5 => {
                // Without an open document nothing happens; versions need not grow.
                let mut text = self.open.get(uri).cloned().unwrap_or_default();
                let count = 1 + self.random.below(3);
                let changes: Vec<Value> = (0..count).map(|_| self.change(&mut text)).collect();
                let version = *version - self.random.below(3) as i64;
                client.change(uri, version, Value::from(changes));
                if let Some(open) = self.open.get_mut(uri) {
                    *open = text;
                }
            }
            6 => {
                client.close(uri);
                self.open.remove(uri);
            }
            7 => client.notify(
                "textDocument/didSave",
                json!({"textDocument": {"uri": uri}}),
            ),
            8 => self.ask(client, uri),
            9 => {
                let id = client.request("chatmd/none", json!({"x": [uri]}));
                self.refused.push((id, -32601));
                let id = client.request("chatmd/syntaxTree", json!({"textDocument": uri}));
                self.refused.push((id, -32602));
            }
            10 => {
                let nonsense = ["{", "", "[]", "{\"jsonrpc\":\"2.0\"}", "\u{1}"];
                client.send_bytes(&frame(self.random.of(&nonsense).as_bytes()));
                self.nonsense += 1;
            }
            11 => {
                let at = json!({"line": -1, "character": 0});
                for (method, params) in [
                    (
                        "textDocument/didOpen",
                        json!({"textDocument": {"uri": uri}}),
                    ),
                    (
                        "textDocument/didChange",
                        json!({"textDocument": {"uri": uri, "version": 9},
                            "contentChanges": [{"range": {"start": at, "end": at}, "text": "!"}]}),
                    ),
                    ("textDocument/didClose", json!([uri])),
                    ("textDocument/none", json!({})),
                    ("$/none", json!({})),
                ] {
                    client.notify(method, params);
                }
            }
            _ => {
                client.notify("$/cancelRequest", json!({"id": "nobody"}));
                client.send(&json!({"jsonrpc": "2.0", "id": 4_711, "result": {}}));
                let settings = json!({"settings": {"chatmd": {"trace": "off"}}});
                client.notify("workspace/didChangeConfiguration", settings);
            }
        }
    }

    fn ask(&mut self, client: &mut Client, uri: &str) {
        let id = client.syntax_tree(uri);
        let expected = self.open.get(uri).cloned();
        self.asked.push((id, uri.to_owned(), expected));
    }

    /// Every answer shows the state that the client had when it asked.
    fn settle(&mut self, client: &mut Client, sequence: usize, last: usize) {
        let count = self.asked.len();
        for (index, (id, uri, expected)) in self.asked.drain(..).enumerate() {
            let answer = client.answer(id);
            let outdated = answer["error"]["code"] == CONTENT_MODIFIED;
            // The last ones were asked when nothing came behind them.
            if outdated && index < count - last {
                continue;
            }
            match &expected {
                Some(text) => assert_eq!(
                    text_of(&answer).as_ref(),
                    Some(text),
                    "{uri} in sequence {sequence}: {answer}"
                ),
                None => assert_eq!(answer["result"], Value::Null, "{uri}: {answer}"),
            }
        }
        for (id, code) in self.refused.drain(..) {
            assert_eq!(client.answer(id)["error"]["code"], code);
        }
        let rest = client.rest();
        let without_id = rest
            .iter()
            .filter(|message| message.get("error").is_some() && message["id"].is_null());
        assert_eq!(without_id.count(), self.nonsense, "sequence {sequence}");
        self.nonsense = 0;
    }
}

fn run(utf8: bool, count: usize) {
    let encoding = if utf8 { "utf-8" } else { "utf-16" };
    let mut client = Client::ready(json!({
        "processId": null,
        "capabilities": {"general": {"positionEncodings": [encoding]}},
    }));
    let mut model = Model {
        random: Random(0x2545_f491_4f6c_dd1d),
        utf8,
        open: HashMap::new(),
        asked: Vec::new(),
        nonsense: 0,
        refused: Vec::new(),
    };
    let mut version = 0;
    for sequence in 0..count {
        let uris: Vec<String> = ["a", "b", "c"]
            .iter()
            .map(|name| format!("untitled:{name}{}.chatmd", sequence % 7))
            .collect();
        for _ in 0..2 + model.random.below(9) {
            let uri = &uris[model.random.below(uris.len())];
            model.step(&mut client, uri, &mut version);
        }
        for uri in &uris {
            model.ask(&mut client, uri);
        }
        model.settle(&mut client, sequence, uris.len());
        if sequence % 7 == 6 {
            for uri in std::mem::take(&mut model.open).into_keys() {
                client.close(&uri);
            }
        }
    }
    client.finish();
}

#[test]
fn l8_random_sequences_leave_what_the_model_has() {
    run(false, sequences() / 2);
}

#[test]
fn l8_random_sequences_in_bytes_leave_what_the_model_has() {
    run(true, sequences() / 2);
}

/// Sequences of the life cycle, each in a process of its own.
#[test]
fn l8_random_sequences_begin_and_end_as_they_have_to() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for sequence in 0..sequences() / 200 {
        let mut client = Client::start();
        let (mut started, mut shut) = (false, false);
        let uri = "untitled:life.chatmd";
        let mut expected = Vec::new();
        for _ in 0..1 + random.below(8) {
            let refusal = match (started, shut) {
                (false, _) => Some(-32002),
                (true, true) => Some(-32600),
                (true, false) => None,
            };
            match random.below(5) {
                0 | 1 => {
                    let parameters = json!({"processId": null, "capabilities": {}});
                    let id = client.request("initialize", parameters);
                    expected.push((id, started.then_some(-32600)));
                    started = true;
                }
                2 => {
                    let id = client.syntax_tree(uri);
                    expected.push((id, refusal));
                }
                3 => client.open(uri, "<user>x</user>"),
                _ if random.below(3) == 0 => {
                    let id = client.request("shutdown", Value::Null);
                    expected.push((id, refusal));
                    shut |= started;
                }
                _ => client.notify("initialized", json!({})),
            }
            // Which message of a pair comes first decides what it is answered.
            if let Some((id, error)) = expected.pop() {
                let answer = client.answer(id);
                match error {
                    Some(code) => assert_eq!(answer["error"]["code"], code, "{sequence}: {answer}"),
                    None => assert!(answer.get("error").is_none(), "{sequence}: {answer}"),
                }
            }
        }
        if random.below(2) == 0 {
            client.notify("exit", Value::Null);
        } else {
            drop(client.input.take());
            shut = false;
        }
        assert_eq!(client.exit_code(), i32::from(!shut), "sequence {sequence}");
    }
}
