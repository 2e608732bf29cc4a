//! Chains, pipelines and pipefail (06 section 5.1, 06b B5.2).

use chatmd_runtime::output::ExitStatus;

use crate::harness::{Project, code, stdout};

fn document(pipefail: bool) -> String {
    format!(
        r#"
<shell_access id="r" cwd="${{workspace}}" pipefail="{pipefail}">
  <capabilities sandbox="required"><read path="${{workspace}}"/></capabilities>
  <resolver><search_path path="/usr/bin"/></resolver>
  <environment inherit="safe"/>
  <policy default="allow"/>
  <approvals provider="none"/>
  <audit format="session"/>
</shell_access>
<tool name="chain" type="shell" mode="chain" runtime="r" result="structured" stdin="optional"/>
"#
    )
}

async fn run(pipefail: bool, command: &str) -> (ExitStatus, String, usize) {
    let input = serde_json::json!({ "command": command }).to_string();
    let invoked = Project::new(&document(pipefail))
        .call("chain", &input)
        .await;
    let text = stdout(&invoked);
    let result = invoked.result.unwrap();
    let value: serde_json::Value = serde_json::from_str(&invoked.text).unwrap();
    (
        result.status,
        text,
        value["commands"].as_array().unwrap().len(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_select_pipelines() {
    let ok = ExitStatus::Exited(0);
    for (command, status, text, commands) in [
        ("echo a ; echo b", ok, "a\nb\n", 2),
        ("false && echo a || echo b", ok, "b\n", 2),
        ("true && echo a || echo b", ok, "a\n", 2),
        ("false ; echo x", ok, "x\n", 2),
        ("echo a && false", ExitStatus::Exited(1), "a\n", 2),
        ("echo 'a;b' \"c|d\"", ok, "a;b c|d\n", 1),
    ] {
        assert_eq!(
            run(false, command).await,
            (status, text.to_owned(), commands),
            "{command}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pipefail_takes_the_rightmost_failure() {
    assert_eq!(run(false, "false | true").await.0, ExitStatus::Exited(0));
    assert_eq!(run(true, "false | true").await.0, ExitStatus::Exited(1));
    assert_eq!(run(true, "true | true").await.0, ExitStatus::Exited(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn stages_are_connected_and_each_is_in_its_own_sandbox() {
    let (status, text, commands) = run(false, "cat src/a.txt | grep -c TODO").await;
    assert_eq!(
        (status, text.as_str(), commands),
        (ExitStatus::Exited(0), "2\n", 2)
    );
    // A producer without end is ended by its reader.
    let (status, text, _) = run(false, "cat /dev/zero | head -c 5 | wc -c").await;
    assert_eq!((status, text.trim()), (ExitStatus::Exited(0), "5"));
}

#[tokio::test(flavor = "multi_thread")]
async fn stdin_reaches_the_first_stage_of_the_first_pipeline_alone() {
    let project = Project::new(&document(false));
    let input = r#"{"command":"cat | cat ; cat","stdin":"once"}"#;
    assert_eq!(stdout(&project.call("chain", input).await), "once");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_refused_stage_starts_none() {
    let project = Project::new(&document(false));
    let input = r#"{"command":"echo a | cat /etc/passwd"}"#;
    let invoked = project.call("chain", input).await;
    assert_eq!(code(&invoked), "capability_violation");
    assert!(!project.events().contains(&"started".to_owned()));
    for refused in ["echo $HOME", "echo a > b", "echo `id`", "echo a &", "ls *"] {
        let input = serde_json::json!({ "command": refused }).to_string();
        assert_eq!(
            code(&project.call("chain", &input).await),
            "shell.tool_chain_parse"
        );
    }
}
