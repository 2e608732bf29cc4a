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

/// A copy of `true` that the kernel can not load: its interpreter does not exist.
fn unloadable(project: &Project) {
    let mut bytes = std::fs::read("/usr/bin/true").unwrap();
    let name = b"/lib64/ld-linux";
    let at = bytes.windows(name.len()).position(|part| part == name);
    let at = at.expect("a dynamic program");
    bytes[at..at + 4].copy_from_slice(b"/nix");
    let path = project.root.join("unloadable");
    std::fs::write(&path, bytes).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
}

fn writing(direct: bool) -> String {
    let (sandbox, backend) = if direct {
        ("direct_unsafe", "<direct/>")
    } else {
        ("required", "<bubblewrap/>")
    };
    document(false)
        .replace(
            r#"sandbox="required"><read path="${workspace}"/>"#,
            &format!(
                r#"sandbox="{sandbox}" child_processes="true" arbitrary_code="true"><read path="/usr"/><write path="${{workspace}}"/>"#
            ),
        )
        .replace(
            r#"<policy default"#,
            &format!(r#"<backends merge="replace">{backend}</backends><policy default"#),
        )
}

/// Without a sandbox a stage runs from its start on: that a later one fails does not undo it.
#[tokio::test(flavor = "multi_thread")]
async fn stages_that_ran_before_one_that_can_not_start_are_on_record() {
    let project = Project::new(&writing(true));
    unloadable(&project);
    let command = "touch ran | true | true | true | true | true | ./unloadable";
    let input = serde_json::json!({ "command": command }).to_string();
    let invoked = project.call("chain", &input).await;
    assert_eq!(code(&invoked), "spawn_error");
    let events = project.events();
    let count = |name: &str| events.iter().filter(|event| *event == name).count();
    assert_eq!(
        (count("started"), count("terminated"), count("rejected")),
        (6, 6, 1),
        "{events:?}"
    );
    assert_eq!(project.assert_balanced()["commands"], 6);
    project.assert_audit_is_valid();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stage_beside_one_that_is_not_executed_has_its_end_and_its_bytes() {
    let project = Project::new(&writing(false));
    unloadable(&project);
    let command = "./unloadable | sh -c 'echo y > ran; cat; echo out'";
    let input = serde_json::json!({ "command": command }).to_string();
    let invoked = project.call("chain", &input).await;
    assert_eq!(code(&invoked), "spawn_error", "{}", invoked.text);
    assert!(project.root.join("ran").exists());
    let last = project.assert_balanced();
    assert_eq!(
        (&last["commands"], &last["stdout_bytes"]),
        (&1.into(), &4.into())
    );
    assert_eq!(last["code"], "spawn_error");
    let events = project.events();
    assert!(events.contains(&"finished".to_owned()), "{events:?}");
    project.assert_audit_is_valid();
}

/// A result is all or nothing: what earlier pipelines wrote is not told beside an error.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_in_a_later_pipeline_discloses_nothing() {
    let project = Project::new(&document(false));
    let input = r#"{"command":"echo first-output ; cat /etc/passwd"}"#;
    let invoked = project.call("chain", input).await;
    assert_eq!(code(&invoked), "capability_violation");
    assert!(!invoked.text.contains("first-output"), "{}", invoked.text);
    // It has run, and that is on record.
    let last = project.assert_balanced();
    assert_eq!(
        (&last["commands"], &last["stdout_bytes"]),
        (&1.into(), &13.into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_for_all_pipelines_together() {
    let with = |limits: &str| {
        document(false).replace(
            "<policy default",
            &format!("<limits {limits}/><policy default"),
        )
    };
    for (limits, command, expected) in [
        // Far apart, so that a busy machine does not cut the first one.
        (r#"wall_time="4s""#, "sleep 0.1 ; sleep 30", "timed_out"),
        (
            r#"stdout="1KiB" stderr="1KiB" total_output="2KiB""#,
            "head -c 1500 /dev/zero ; head -c 1500 /dev/zero",
            "output_limit_exceeded",
        ),
    ] {
        let document = with(limits);
        let project = Project::new(&document);
        let input = serde_json::json!({ "command": command }).to_string();
        assert_eq!(code(&project.call("chain", &input).await), expected);
        assert_eq!(project.assert_balanced()["commands"], 2);
    }
    let project = Project::new(&with(r#"stdout="10B" stderr="10B" total_output="64KiB""#));
    let input = r#"{"command":"echo 1234567 ; echo abcdefg"}"#;
    let result = project.call("chain", input).await.result.unwrap();
    assert_eq!(result.stdout.as_str(), "1234567\nab");
    assert!(result.stdout_truncated);
}
