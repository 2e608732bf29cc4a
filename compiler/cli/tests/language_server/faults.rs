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
    client.finish();
}
