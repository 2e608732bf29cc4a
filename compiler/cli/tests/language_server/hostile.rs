//! Input that no good client sends.

use serde_json::{Value, json};

use super::client::{Client, frame};

const URI: &str = "file:///nowhere/x.chatmd";

fn lives(client: &mut Client) {
    client.open(URI, "<user>still here</user>");
    assert_eq!(client.text(URI), "<user>still here</user>");
    client.close(URI);
}

#[test]
fn what_is_unknown_is_refused_or_ignored() {
    let mut client = Client::plain();
    for method in ["chatmd/none", "textDocument/none", "$/none", ""] {
        let id = client.request(method, json!({}));
        let answer = client
            .wait("a refusal", |m| {
                m.get("error").is_some() && (m["id"] == id || m["id"].is_null())
            })
            .1;
        let code = answer["error"]["code"].as_i64().unwrap();
        assert!([-32601, -32600].contains(&code), "{method}: {answer}");
        client.notify(method, json!({"x": [1, 2]}));
    }
    // The test requests exist for this test alone; hover is for later.
    let id = client.request(
        "textDocument/hover",
        json!({
        "textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}),
    );
    assert_eq!(client.answer(id)["error"]["code"], -32601);
    lives(&mut client);
    client.finish();
}

#[test]
fn what_is_no_message_is_answered_and_the_session_goes_on() {
    let mut client = Client::plain();
    let deep = "[".repeat(100_000);
    for (body, code) in [
        (&b"{"[..], -32700),
        (b"", -32700),
        (b"\xff\xfe", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", -32700),
        (deep.as_bytes(), -32700),
        (b"[]", -32600),
        (b"{}", -32600),
        (b"null", -32600),
        (
            b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"shutdown\"}",
            -32600,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"shutdown\"}",
            -32600,
        ),
    ] {
        client.send_bytes(&frame(body));
        let text = String::from_utf8_lossy(body);
        let start: String = text.chars().take(60).collect();
        let (_, answer) = client.wait(&start, |m| m.get("error").is_some());
        assert_eq!(answer["error"]["code"], code, "{start}");
        assert_eq!(answer["id"], Value::Null, "{start}");
    }
    // Answers that nobody asked for, and parameters of the wrong shape.
    client.send(&json!({"jsonrpc": "2.0", "id": 4711, "result": {}}));
    client.send(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "?"}}));
    client.notify("textDocument/didOpen", json!({"textDocument": 3}));
    client.notify("textDocument/didOpen", Value::Null);
    client.notify(
        "textDocument/didChange",
        json!({"textDocument": {"uri": URI, "version": 2},
        "contentChanges": [{"range": {"start": {"line": -1, "character": 0},
        "end": {"line": 0, "character": 0}}, "text": ""}]}),
    );
    client.notify("$/cancelRequest", json!({"id": "none"}));
    let id = client.request("chatmd/syntaxTree", json!({"textDocument": {"uri": 5}}));
    assert_eq!(client.answer(id)["error"]["code"], -32602);
    lives(&mut client);
    client.finish();
}

#[test]
fn headers_of_another_taste_are_read() {
    let mut client = Client::plain();
    let body = json!({"jsonrpc": "2.0", "id": 99, "method": "chatmd/none"});
    let body = serde_json::to_vec(&body).unwrap();
    for header in [
        format!("content-length: {}\r\n\r\n", body.len()),
        format!(
            "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
            body.len()
        ),
        format!(
            "Content-Type: text/plain\r\nX-A: b\r\nX-C: d\r\nContent-Length:{}\r\n\r\n",
            body.len()
        ),
    ] {
        client.send_bytes(&[header.as_bytes(), &body].concat());
        assert_eq!(client.answer(99)["error"]["code"], -32601, "{header}");
    }
    client.finish();
}

#[test]
fn a_broken_stream_ends_the_session() {
    for bytes in [
        &b"Content-Length: 999999999999\r\n\r\n{}"[..],
        b"Content-Length: 18446744073709551616\r\n\r\n{}",
        b"Content-Length: -5\r\n\r\n{}",
        b"Content-Length: x\r\n\r\n{}",
        b"X: y\r\n\r\n{}",
        b"\r\n\r\n",
        &[b'x'; 10_000],
    ] {
        let mut client = Client::plain();
        client.send_bytes(bytes);
        assert_eq!(client.exit_code(), 1);
        let log = client.log();
        assert!(log.contains("error: the input stream is broken"), "{log}");
    }
}

#[test]
fn edits_of_what_is_not_open_are_ignored() {
    let mut client = Client::plain();
    client.replace(URI, 2, "x");
    client.close(URI);
    client.notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": URI}}),
    );
    client.open(URI, "one");
    client.open(URI, "two");
    assert_eq!(client.text(URI), "two");
    client.close(URI);
    lives(&mut client);
    client.finish();
}

#[test]
fn places_that_do_not_exist_are_clamped() {
    let mut client = Client::plain();
    client.open(URI, "a😀\r\nb");
    let far = u32::MAX;
    client.change(URI, 2, json!([
        {"range": {"start": {"line": 0, "character": far}, "end": {"line": 0, "character": far}}, "text": "1"},
        {"range": {"start": {"line": far, "character": far}, "end": {"line": far, "character": 0}}, "text": "2"},
        {"range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 2}}, "text": "3"},
    ]));
    assert_eq!(client.text(URI), "a3😀1\r\nb2");
    client.finish();
}
