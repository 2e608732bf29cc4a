//! Unsaved buffers, imports, and files that change.

use serde_json::{Value, json};

use super::client::Client;

struct Files {
    directory: tempfile::TempDir,
}

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let files_in = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        for (name, text) in files {
            files_in.write(name, text);
        }
        files_in
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn uri(&self, name: &str) -> String {
        let path = self.directory.path().canonicalize().unwrap();
        format!("file://{}/{name}", path.display())
    }
}

fn codes(set: &[Value]) -> Vec<&str> {
    set.iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect()
}

fn next(client: &mut Client, uri: &str) -> Vec<Value> {
    client.next_set(uri)
}

const ROOT: &str = "<import src=\"lib.chatmd\" namespace=\"lib\"/>\n<shell_access id=\"r\" extends=\"lib:base\"/>\n<tool name=\"t\" runtime=\"r\" command=\"git status\"/>\n";
const GOOD: &str = "<shell_access id=\"base\" extends=\"builtin:workspace-readonly@1\"/>\n";
const OTHER: &str = "<shell_access id=\"other\" extends=\"builtin:workspace-readonly@1\"/>\n";

#[test]
fn an_edit_of_an_imported_file_checks_its_importers() {
    let files = Files::new(&[("root.chatmd", ROOT), ("lib.chatmd", GOOD)]);
    let (root, lib) = (files.uri("root.chatmd"), files.uri("lib.chatmd"));
    let mut client = Client::plain();
    client.open(&root, ROOT);
    assert_eq!(codes(&client.published(&root, 1)), [""; 0]);
    client.open(&lib, GOOD);
    client.published(&lib, 1);
    client.replace(&lib, 2, OTHER);
    client.published(&lib, 2);
    let set = next(&mut client, &root);
    assert!(
        codes(&set).iter().any(|code| code.starts_with("shell.")),
        "{set:?}"
    );
    assert!(set.iter().any(|one| one["severity"] == 1));
    client.replace(&lib, 3, GOOD);
    assert_eq!(codes(&next(&mut client, &root)), [""; 0]);
    // Without saving, the buffer is gone with the editor.
    client.replace(&lib, 4, OTHER);
    assert!(!next(&mut client, &root).is_empty());
    client.close(&lib);
    assert_eq!(codes(&next(&mut client, &root)), [""; 0]);
    client.finish();
}

#[test]
fn a_closed_import_with_errors_is_noted_at_the_import() {
    let files = Files::new(&[("root.chatmd", ROOT), ("lib.chatmd", "")]);
    let broken = format!("{GOOD}<nothing/>\n");
    files.write("lib.chatmd", &broken);
    let (root, lib) = (files.uri("root.chatmd"), files.uri("lib.chatmd"));
    let mut client = Client::plain();
    client.open(&root, ROOT);
    let set = client.published(&root, 1);
    assert_eq!(codes(&set), ["chatmd.lsp.import_has_errors"]);
    assert_eq!(set[0]["severity"], 3);
    assert_eq!(set[0]["range"]["start"]["line"], 0);
    let related = &set[0]["relatedInformation"][0]["location"];
    assert_eq!(related["uri"], lib.as_str());
    assert_eq!(related["range"]["start"]["line"], 1);
    // Once open, it shows them itself.
    client.open(&lib, &broken);
    // Alone it has a runtime that nothing uses, too.
    assert_eq!(
        codes(&client.published(&lib, 1)),
        ["shell.unused_runtime", "chatmd.unknown_element"]
    );
    assert_eq!(codes(&next(&mut client, &root)), [""; 0]);
    client.close(&lib);
    assert_eq!(codes(&next(&mut client, &lib)), [""; 0], "cleared");
    assert_eq!(
        codes(&next(&mut client, &root)),
        ["chatmd.lsp.import_has_errors"]
    );
    client.finish();
}

#[test]
fn findings_that_an_importer_causes_show_in_the_open_file() {
    // Fine alone; a second file declares the same tool.
    let tool = "<shell_access id=\"x\" extends=\"builtin:workspace-readonly@1\"/>\n<tool name=\"t\" runtime=\"x\" command=\"git status\"/>\n";
    let root_text =
        "<tool name=\"t\" runtime=\"x\" command=\"git status\"/>\n<import src=\"lib.chatmd\"/>\n";
    let files = Files::new(&[("root.chatmd", root_text), ("lib.chatmd", tool)]);
    let (root, lib) = (files.uri("root.chatmd"), files.uri("lib.chatmd"));
    let mut client = Client::plain();
    client.open(&lib, tool);
    assert_eq!(codes(&client.published(&lib, 1)), [""; 0]);
    client.open(&root, root_text);
    client.published(&root, 1);
    let set = next(&mut client, &lib);
    assert_eq!(codes(&set), ["shell.duplicate_tool"]);
    let related = set[0]["relatedInformation"].as_array().unwrap();
    assert!(
        related
            .iter()
            .any(|one| one["location"]["uri"] == root.as_str()),
        "{related:?}"
    );
    client.close(&root);
    assert_eq!(codes(&next(&mut client, &lib)), [""; 0]);
    client.finish();
}

#[test]
fn a_buffer_without_a_file_can_be_imported() {
    let files = Files::new(&[("root.chatmd", ROOT)]);
    let (root, lib) = (files.uri("root.chatmd"), files.uri("lib.chatmd"));
    let mut client = Client::plain();
    client.open(&root, ROOT);
    assert!(codes(&client.published(&root, 1)).contains(&"chatmd.import_unavailable"));
    client.open(&lib, GOOD);
    assert_eq!(codes(&next(&mut client, &root)), [""; 0]);
    client.close(&lib);
    assert!(codes(&next(&mut client, &root)).contains(&"chatmd.import_unavailable"));
    // Another program writes it.
    files.write("lib.chatmd", GOOD);
    client.notify(
        "workspace/didChangeWatchedFiles",
        json!({"changes": [{"uri": lib, "type": 1}]}),
    );
    assert_eq!(codes(&next(&mut client, &root)), [""; 0]);
    // And changes it; a client that does not watch files tells of saving.
    files.write("lib.chatmd", OTHER);
    client.notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": root}}),
    );
    assert!(!next(&mut client, &root).is_empty());
    client.finish();
}

#[test]
fn documents_without_files_find_each_other() {
    let mut client = Client::plain();
    let (root, lib) = ("untitled:root.chatmd", "untitled:lib.chatmd");
    client.open(root, ROOT);
    assert!(codes(&client.published(root, 1)).contains(&"chatmd.import_unavailable"));
    client.open(lib, GOOD);
    assert_eq!(codes(&next(&mut client, root)), [""; 0]);
    client.finish();
}

#[test]
fn a_workspace_without_trust_reads_nothing_outside() {
    let root_text = "<import src=\"../outside.chatmd\"/>\n<user>x</user>\n";
    let files = Files::new(&[
        ("w/root.chatmd", root_text),
        ("outside.chatmd", "<nothing/>\n"),
    ]);
    let root = files.uri("w/root.chatmd");
    let start = |trusted: bool| {
        Client::ready(json!({
            "processId": null,
            "capabilities": {},
            "workspaceFolders": [{"uri": files.uri("w"), "name": "w"}],
            "initializationOptions": {"chatmd": {"trusted": trusted}},
        }))
    };
    let mut client = start(true);
    client.open(&root, root_text);
    assert_eq!(
        codes(&client.published(&root, 1)),
        ["chatmd.lsp.import_has_errors"]
    );
    client.finish();
    let mut client = start(false);
    client.open(&root, root_text);
    let set = client.published(&root, 1);
    assert_eq!(codes(&set), ["chatmd.lsp.restricted"]);
    assert_eq!(set[0]["severity"], 3);
    // Trust is given.
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": {"chatmd": {"trusted": true}}}),
    );
    assert_eq!(
        codes(&next(&mut client, &root)),
        ["chatmd.lsp.import_has_errors"]
    );
    client.finish();
}

#[test]
fn markdown_and_scripts_are_left_alone() {
    let files = Files::new(&[]);
    let mut client = Client::plain();
    for (name, language, text) in [
        (
            "README.md",
            "markdown",
            "# Title\n\n<user>x</user>\n<nothing/>\n",
        ),
        ("x.chatml", "chatml", "<nothing/>"),
        ("x.rs", "rust", "<nothing/>"),
    ] {
        let uri = files.uri(name);
        client.notify(
            "textDocument/didOpen",
            json!({"textDocument":
            {"uri": uri, "languageId": language, "version": 1, "text": text}}),
        );
        client.replace(&uri, 2, text);
    }
    let agent = files.uri("agent.md");
    client.notify("textDocument/didOpen", json!({"textDocument":
        {"uri": agent, "languageId": "markdown", "version": 1, "text": "<system>x</system>\n<nothing/>\n"}}));
    assert_eq!(
        codes(&client.published(&agent, 1)),
        ["chatmd.unknown_element"]
    );
    assert_eq!(client.rest(), Vec::<Value>::new());
    client.finish();
}

#[test]
fn a_file_that_a_document_reads_shows_what_the_document_finds_in_it() {
    let note = "<user>x</user>\n<nothing/>\n";
    let root_text = "<import src=\"note.txt\"/>\n<user>x</user>\n";
    let files = Files::new(&[("root.chatmd", root_text), ("note.txt", note)]);
    let (root, read) = (files.uri("root.chatmd"), files.uri("note.txt"));
    let open_note = |client: &mut Client, text: &str| {
        client.notify(
            "textDocument/didOpen",
            json!({"textDocument":
                {"uri": read, "languageId": "plaintext", "version": 1, "text": text}}),
        );
    };
    let mut client = Client::plain();
    open_note(&mut client, note);
    client.open(&root, root_text);
    assert_eq!(codes(&client.published(&root, 1)), [""; 0]);
    assert_eq!(codes(&next(&mut client, &read)), ["chatmd.unknown_element"]);
    // Nobody reads it any more.
    client.replace(&root, 2, "<user>x</user>\n");
    assert_eq!(codes(&next(&mut client, &read)), [""; 0]);
    client.finish();
}

#[test]
fn codes_link_to_their_documentation_when_there_is_one() {
    let files = Files::new(&[]);
    let uri = files.uri("x.chatmd");
    let mut client = Client::ready(json!({"processId": null, "capabilities": {},
        "initializationOptions": {"docs": {"baseUrl": "https://docs.example/codes/"}}}));
    client.open(&uri, "<nothing/>");
    let set = client.published(&uri, 1);
    assert_eq!(
        set[0]["codeDescription"]["href"],
        "https://docs.example/codes/chatmd.unknown_element"
    );
    assert_eq!(set[0]["source"], "chatmd");
    assert_eq!(set[0]["data"]["code"], "chatmd.unknown_element");
    client.finish();
}
