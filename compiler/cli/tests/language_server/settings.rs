//! Settings (spec 11 section 1.6): how they arrive, what they change, and who hears of wrong ones.

use serde_json::{Value, json};

use super::client::Client;

const URI: &str = "file:///nowhere/settings.chatmd";
const PULL: &str = "workspace/configuration";

fn shown(client: &mut Client) -> String {
    let (_, message) = client.wait("a message", |m| m["method"] == "window/showMessage");
    assert_eq!(message["params"]["type"], 2, "a warning");
    message["params"]["message"].as_str().unwrap().to_owned()
}

fn pulling(options: Value) -> Client {
    Client::ready(json!({
        "processId": null,
        "capabilities": {"workspace": {
            "configuration": true,
            "didChangeConfiguration": {"dynamicRegistration": true}}},
        "initializationOptions": options,
    }))
}

fn link(set: &[Value]) -> &str {
    set[0]["codeDescription"]["href"].as_str().unwrap_or("")
}

fn docs(url: &str) -> Value {
    json!({"docs": {"baseUrl": url}})
}

#[test]
fn wrong_settings_are_named_to_the_user() {
    let mut client = Client::ready(json!({"processId": null, "capabilities": {},
        "initializationOptions": {"chatmd": {"platform": "beos"}}}));
    assert_eq!(
        shown(&mut client),
        "ChatMD: the setting chatmd.platform must be current, linux, macos or windows"
    );
    let change = |client: &mut Client, settings: Value| {
        let settings = json!({"settings": {"chatmd": settings}});
        client.notify("workspace/didChangeConfiguration", settings);
    };
    let wrong = json!({"docs": {"baseUri": "https://x/"}, "trusted": 1});
    change(&mut client, wrong.clone());
    let message = shown(&mut client);
    for part in [
        "there is no setting chatmd.docs.baseUri; did you mean chatmd.docs.baseUrl?",
        "the setting chatmd.trusted must be true or false",
    ] {
        assert!(message.contains(part), "{message}");
    }
    // The same again is no news; when it comes back, it is.
    change(&mut client, wrong.clone());
    change(&mut client, json!({"trusted": true}));
    client.open(URI, "<user>x</user>");
    client.published(URI, 1);
    assert!(
        client
            .rest()
            .iter()
            .all(|m| m["method"] != "window/showMessage")
    );
    change(&mut client, wrong);
    shown(&mut client);
    let log = client.finish_with_log();
    assert!(
        log.contains("warn: the setting chatmd.platform must be"),
        "{log}"
    );
}

#[test]
fn settings_are_asked_for_and_asked_for_again() {
    let mut client = pulling(docs("https://first/"));
    client.open(URI, "<nothing/>");
    assert!(link(&client.published(URI, 1)).starts_with("https://first/"));
    let registration = client.asked("client/registerCapability");
    assert_eq!(
        registration["params"]["registrations"][0]["method"],
        "workspace/didChangeConfiguration"
    );
    client.respond(&registration, Value::Null);
    let pull = client.asked(PULL);
    assert_eq!(pull["params"]["items"], json!([{"section": "chatmd"}]));
    client.respond(&pull, json!([docs("https://second/")]));
    assert!(link(&client.next_set(URI)).starts_with("https://second/"));
    // Clients of this kind say that something changed, and nothing else.
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": null}),
    );
    let pull = client.asked(PULL);
    client.respond(&pull, json!([{"docs": {"baseUrl": 5}}]));
    assert_eq!(
        shown(&mut client),
        "ChatMD: the setting chatmd.docs.baseUrl must be a text"
    );
    assert_eq!(link(&client.next_set(URI)), "");
    client.finish();
}

#[test]
fn an_answer_that_was_overtaken_counts_no_more() {
    let mut client = pulling(Value::Null);
    let first = client.asked(PULL);
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": null}),
    );
    let second = client.asked(PULL);
    client.respond(&second, json!([docs("https://second/")]));
    client.respond(&first, json!([docs("https://first/")]));
    client.open(URI, "<nothing/>");
    assert!(link(&client.published(URI, 1)).starts_with("https://second/"));
    // Nothing to say leaves what was said.
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": null}),
    );
    let third = client.asked(PULL);
    client.respond(&third, json!([null]));
    client.replace(URI, 2, "<nothing/> ");
    assert!(link(&client.published(URI, 2)).starts_with("https://second/"));
    client.finish();
}

#[test]
fn every_folder_has_its_own() {
    let mut client = Client::ready(json!({
        "processId": null,
        "capabilities": {"workspace": {"configuration": true}},
        "workspaceFolders": [{"uri": "file:///nowhere/a", "name": "a"}],
    }));
    let pull = client.asked(PULL);
    let scopes = |pull: &Value| {
        let items = pull["params"]["items"].as_array().unwrap();
        let scopes = items
            .iter()
            .map(|item| item["scopeUri"].as_str().unwrap_or("").to_owned());
        scopes.collect::<Vec<_>>()
    };
    assert_eq!(scopes(&pull), ["", "file:///nowhere/a"]);
    client.respond(&pull, json!([docs("https://all/"), docs("https://a/")]));
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({"event": {"added": [{"uri": "file:///nowhere/a/b", "name": "b"}], "removed": []}}),
    );
    let pull = client.asked(PULL);
    assert_eq!(
        scopes(&pull),
        ["", "file:///nowhere/a", "file:///nowhere/a/b"]
    );
    client.respond(
        &pull,
        json!([docs("https://all/"), docs("https://a/"), docs("https://b/")]),
    );
    for (uri, url) in [
        ("file:///nowhere/x.chatmd", "https://all/"),
        ("file:///nowhere/a/x.chatmd", "https://a/"),
        ("file:///nowhere/a/b/x.chatmd", "https://b/"),
    ] {
        client.open(uri, "<nothing/>");
        let set = client.published(uri, 1);
        assert!(link(&set).starts_with(url), "{uri}: {set:?}");
    }
    client.finish();
}
