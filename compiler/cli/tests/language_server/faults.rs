//! Panics: L7.

use serde_json::json;

use super::client::Client;

const URI: &str = "file:///nowhere/panic.chatmd";

#[test]
fn l7_a_hundred_panics_between_edits() {
    let mut client = Client::plain();
    client.open(URI, "");
    let mut asked = Vec::new();
    for version in 2..102 {
        asked.push(client.request("chatmd/test/panic", json!({})));
        client.replace(URI, version, &"x".repeat(version as usize));
    }
    for id in asked {
        let answer = client.answer(id);
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("internal error "), "{message}");
    }
    assert_eq!(client.text(URI), "x".repeat(101));
    let set = client.published(URI, 101);
    assert_eq!(set[0]["code"], "chatmd.top_level_text");
    client.replace(URI, 102, "<user>well</user>");
    assert_eq!(client.published(URI, 102), Vec::<serde_json::Value>::new());
    let (_, shown) = client.wait("a message", |m| m["method"] == "window/showMessage");
    assert!(
        shown["params"]["message"]
            .as_str()
            .unwrap()
            .contains("internal error")
    );
    let log = client.finish_with_log();
    // Where and what, and nothing of what the panic said.
    let line = log
        .lines()
        .find(|line| line.contains("internal error 1 "))
        .unwrap();
    assert!(
        line.contains("worker.rs:") && line.ends_with("in chatmd/test/panic"),
        "{line}"
    );
    assert!(!log.contains("a test asked"), "{log}");
    let lines = log.lines();
    assert_eq!(
        lines
            .filter(|line| line.contains("internal error "))
            .count(),
        100
    );
}

/// A panic in the writer costs the database; the text of the notification that caused it is kept.
#[test]
fn l7_a_panic_in_the_writer_keeps_the_text() {
    let mut client = Client::plain();
    client.open(URI, "<user>one</user>");
    client.published(URI, 1);
    let slow = client.request("chatmd/test/slow", json!({"milliseconds": 200}));
    for version in [2, 3] {
        client.notify("chatmd/test/panicAtNextEdit", json!({}));
        client.replace(URI, version, &"x".repeat(version as usize));
        assert_eq!(client.text(URI), "x".repeat(version as usize));
        let set = client.published(URI, version);
        assert_eq!(set[0]["code"], "chatmd.top_level_text");
        assert_eq!(set[0]["range"]["end"]["character"], version);
    }
    // What ran in the meantime is answered.
    assert_eq!(client.answer(slow)["result"], serde_json::Value::Null);
    let log = client.finish_with_log();
    let line = log
        .lines()
        .find(|line| line.contains("internal error at "))
        .unwrap();
    assert!(line.contains("edits.rs:"), "{line}");
    assert!(
        line.contains("in textDocument/didChange; the database is rebuilt"),
        "{line}"
    );
    assert!(!log.contains("a test asked"), "{log}");
}
