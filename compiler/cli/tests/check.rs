//! `chatmdc check` as a process: what people and programs read.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::Project;

/// Ten mistakes that have nothing to do with each other.
const TEN: &str = r#"<config model="m" temperature="warm"/>
<User>hello</User>
<shell_access id="dev" extends="builtin:workspace-readonlyy@1">
  <limits waltime="5m"/>
  <capabilities network="yes"/>
  <policy default="ask">
    <rule id="r" action="allow"><basenam value="rg"/></rule>
  </policy>
</shell_access>
<tool name="search" type="shell" runtime="devv" command="rg TODO"/>
<tool name="bad name" type="shell" runtime="dev" command="ls"/>
<moderator_runtime shell_runtime="dev">text</moderator_runtime>
<script id="s" language="python" kind="shell_matcher">x</script>
"#;

const TEN_CODES: [&str; 10] = [
    "chatmd.config_invalid_value",
    "chatmd.unknown_element",
    "shell.unknown_builtin_profile",
    "shell.unknown_attribute",
    "shell.invalid_attribute",
    "shell.unknown_matcher",
    "shell.unknown_runtime",
    "shell.tool_invalid_name",
    "shell.moderator_runtime_content",
    "chatmd.script_invalid_language",
];

fn ten() -> Project {
    Project::new(&[("agent.chatmd", TEN)])
}

#[test]
fn ten_mistakes_for_people() {
    let run = ten().run(&["check", "agent.chatmd"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    insta::assert_snapshot!("ten_human", run.stderr);
}

#[test]
fn ten_mistakes_in_colour() {
    let run = ten().run(&["check", "--color", "always", "agent.chatmd"]);
    insta::assert_snapshot!("ten_color", run.stderr.replace('\u{1b}', "␛"));
}

#[test]
fn ten_mistakes_concise() {
    let run = ten().run(&["check", "--format", "concise", "agent.chatmd"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!("ten_concise", run.stderr);
    for code in TEN_CODES {
        let lines = run
            .stderr
            .lines()
            .filter(|line| line.contains(&format!("[{code}]")));
        assert_eq!(lines.count(), 1, "{code}\n{}", run.stderr);
    }
}

#[test]
fn ten_mistakes_as_json() {
    let run = ten().run(&["check", "--format", "json", "agent.chatmd"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    insta::assert_snapshot!("ten_json", run.stdout);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["ok"], false);
}
