//! Documents that are too large, and a process that holds too much (spec 11 sections 2.3 and 2.4).

use serde_json::{Value, json};

use super::client::Client;

const URI: &str = "file:///nowhere/large.chatmd";
const TOOL: &str = "<tool name=\"t\" type=\"shell\" mode=\"structured\" runtime=\"none\"/>\n";

fn codes(set: &[Value]) -> Vec<&str> {
    let codes = set.iter().map(|one| one["code"].as_str().unwrap());
    codes.collect()
}

#[test]
fn of_a_document_above_eight_mebibytes_the_syntax_is_checked() {
    let body = "0123456789abcdef".repeat((8 << 20) / 16);
    let text = format!("{TOOL}<user>{body}</user>\n<user name=\"x>open\n");
    let mut client = Client::plain();
    client.open(URI, &text);
    let set = client.published(URI, 1);
    let found = codes(&set);
    assert!(found.contains(&"chatmd.lsp.analysis_reduced"), "{found:?}");
    assert!(
        found.contains(&"chatmd.unterminated_attribute"),
        "{found:?}"
    );
    assert!(!found.contains(&"shell.unknown_runtime"), "{found:?}");
    let note = set.iter().find(|one| one["severity"] == 3).unwrap();
    assert_eq!(note["code"], "chatmd.lsp.analysis_reduced");
    assert_eq!(note["range"]["start"]["line"], 0);
    // Small again, and everything is checked again.
    let text = format!("{TOOL}<user>{}</user>\n", &body[..1_000]);
    client.replace(URI, 2, &text);
    let set = client.published(URI, 2);
    assert!(codes(&set).contains(&"shell.unknown_runtime"), "{set:?}");
    client.finish();
}

#[test]
fn a_document_above_the_limit_has_one_finding() {
    let mut client = Client::plain();
    client.open(URI, &"<nothing/>\n".repeat((64 << 20) / 11 + 1));
    assert_eq!(
        codes(&client.published(URI, 1)),
        ["chatmd.document_too_large"]
    );
    client.replace(URI, 2, "<user>small</user>");
    assert_eq!(client.published(URI, 2), Vec::<Value>::new());
    client.finish();
}

/// With the limit at one byte every step is over it.
#[cfg(target_os = "linux")]
#[test]
fn what_can_be_computed_again_is_dropped_when_memory_runs_out() {
    let mut client = Client::plain();
    client.open(URI, TOOL);
    client.published(URI, 1);
    client.notify("chatmd/test/memoryLimit", json!({"bytes": 1}));
    for version in 2..20 {
        let text = format!("{TOOL}<user>{version}</user>");
        client.replace(URI, version, &text);
        let set = client.published(URI, version);
        assert!(codes(&set).contains(&"shell.unknown_runtime"), "{set:?}");
        assert_eq!(client.text(URI), text);
    }
    let log = client.finish_with_log();
    // Once: what is left is the documents, and nothing grew.
    assert_eq!(log.matches("too much memory").count(), 1, "{log}");
}
