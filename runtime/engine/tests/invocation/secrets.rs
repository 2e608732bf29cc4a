//! Secrets handed to a command never come back (06b B6).

use crate::harness::{Project, code, stdout};

const SECRET: &str = "hunter2-SECRET-value";

const DOCUMENT: &str = r#"
<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true">
    <read path="${workspace}"/>
  </capabilities>
  <resolver><search_path path="/usr/bin"/></resolver>
  <environment inherit="selected">
    <set name="PATH" value="/usr/bin"/>
    <pass name="TOKEN" secret="true"/>
    <pass name="LONGER"/>
  </environment>
  <policy default="allow"/>
  <approvals provider="none"/>
  <secrets><from_env name="LONGER"/></secrets>
  <audit format="session" content="full"/>
</shell_access>
<tool name="sh" type="shell" mode="fixed" runtime="r" result="structured">
  <command program="sh"><arg value="-c"/></command>
</tool>
<tool name="show" type="shell" mode="fixed" runtime="r" result="structured">
  <command program="echo"><secret_arg env="TOKEN" prefix="--token="/></command>
</tool>
"#;

fn project() -> Project {
    Project::new(DOCUMENT)
        .with(&format!("TOKEN={SECRET}"))
        .with(&format!("LONGER=prefix-{SECRET}-suffix"))
}

fn assert_hidden(what: &str, text: &str) {
    for piece in [
        SECRET,
        "hunter2",
        "SECRET-value",
        "aHVudGVyMi1TRUNSRVQtdmFsdW",
        "68756e74657232",
    ] {
        assert!(!text.contains(piece), "{what} shows {piece}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_form_of_a_secret_comes_back() {
    let project = project();
    for (what, script) in [
        ("whole", "echo $TOKEN"),
        ("on standard error", "echo $TOKEN >&2"),
        ("overlapping", "echo $LONGER $TOKEN$TOKEN"),
        (
            "base64",
            "printf %s \"$TOKEN\" | base64; printf x%s \"$TOKEN\" | base64",
        ),
        (
            "hexadecimal",
            "printf %s \"$TOKEN\" | od -An -tx1 | tr -d ' \\n'",
        ),
        (
            "in two reads",
            "printf %.8s \"$TOKEN\"; sleep 0.3; printf %s \"${TOKEN#????????}\"",
        ),
        (
            "around an escape sequence",
            "printf '%.8s\\033[31m%s\\033[0m' \"$TOKEN\" \"${TOKEN#????????}\"",
        ),
        ("in its own environment", "env"),
    ] {
        let input = serde_json::json!({ "arguments": [script] }).to_string();
        let invoked = project.call("sh", &input).await;
        assert_hidden(what, &stdout(&invoked));
        assert_hidden(what, &invoked.text);
        assert!(
            invoked.text.contains("[REDACTED]"),
            "{what}: {}",
            invoked.text
        );
    }
    assert_hidden("the audit log", &project.audit_text());
    project.assert_audit_is_valid();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_argument_reaches_the_command_and_nobody_else() {
    let project = project();
    let invoked = project.call("show", "{}").await;
    assert_eq!(stdout(&invoked), "--token=[REDACTED]\n");
    assert_hidden("the result", &invoked.text);
    // It did arrive: its length is what it should be.
    let length = r#"{"arguments":["printf %s \"$TOKEN\" | wc -c"]}"#;
    let invoked = project.call("sh", length).await;
    assert_eq!(stdout(&invoked).trim(), SECRET.len().to_string());
    assert_hidden("the audit log", &project.audit_text());
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_hide_secrets_too() {
    let document = DOCUMENT.replace(
        "<tool name=\"show\"",
        "<tool name=\"any\" type=\"shell\" mode=\"structured\" runtime=\"r\"/><tool name=\"show\"",
    );
    let mut project = Project::new(&document);
    project.environment = project_environment();
    let input = serde_json::json!({ "program": SECRET, "arguments": [] }).to_string();
    let invoked = project.call("any", &input).await;
    assert_eq!(code(&invoked), "resolution_error");
    assert!(invoked.text.contains("[REDACTED]"), "{}", invoked.text);
    assert_hidden("an error", &invoked.text);
    assert_hidden("the audit log", &project.audit_text());
}

fn project_environment() -> Vec<String> {
    project().environment
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_secret_argument_publishes_nothing() {
    let document = DOCUMENT.replace("<pass name=\"TOKEN\" secret=\"true\"/>", "");
    let mut project = Project::new(&document);
    project.environment = project_environment();
    let problems = project.try_live().await.unwrap_err();
    assert_eq!(
        problems.first().unwrap().code,
        "shell.tool_secret_missing",
        "{problems:?}"
    );
}
