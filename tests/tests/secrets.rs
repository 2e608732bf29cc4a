//! A secret that a command knows reaches no reader: not the result, not an error, not the audit log.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;

use base64::Engine;
use chatmd_tests::{Outcome, Project};

const TOKEN: &str = "tok_live_8f3a9c1d2e/Zq+77~";
const OVERLAP: &str = "7~second-secret";

/// A runtime that may run a script of the workspace, with two secrets whose ends overlap.
fn project(script: &str, result: &str) -> Project {
    let project = Project::new(&format!(
        r#"<shell_access id="r" cwd="${{workspace}}">
  <capabilities child_processes="true" arbitrary_code="true"><read path="${{workspace}}"/></capabilities>
  <environment inherit="safe"><pass name="TOKEN" secret="true"/></environment>
  <policy default="allow"/>
  <secrets><from_env name="OTHER"/></secrets>
  <audit format="session" content="full"/>
</shell_access>
<tool name="t" type="shell" mode="fixed" runtime="r" result="{result}" rationale="optional">
  <command program="/bin/sh"><arg value="leak.sh"/><secret_arg env="TOKEN" prefix="--token="/></command>
  <arguments mode="optional"/>
</tool>
"#
    ));
    project.write("leak.sh", script);
    project
}

fn call(project: &Project, input: &str) -> Outcome {
    let digest = Outcome::from(
        std::process::Command::new(chatmd_tests::program("chatmdc"))
            .current_dir(project.path())
            .env("TOKEN", TOKEN)
            .env("OTHER", OVERLAP)
            .args(["manifest", "--bound", "--digest", "agent.chatmd"])
            .output()
            .unwrap(),
    );
    digest.expect(0);
    let mut command = project.call_command("t", input);
    command.env("TOKEN", TOKEN).env("OTHER", OVERLAP);
    project.run(&mut command)
}

fn assert_silent(outcome: &Outcome, project: &Project) {
    let audit = fs::read_to_string(project.audit_log()).unwrap();
    let base64 = base64::engine::general_purpose::STANDARD.encode(TOKEN);
    let hex: String = TOKEN.bytes().map(|byte| format!("{byte:02x}")).collect();
    for (reader, text) in [
        ("stdout", &outcome.stdout),
        ("stderr", &outcome.stderr),
        ("audit", &audit),
    ] {
        for form in [
            TOKEN,
            OVERLAP,
            "8f3a9c1d2e",
            "second-secret",
            &base64[..24],
            &hex,
        ] {
            assert!(!text.contains(form), "{reader} shows {form}:\n{text}");
        }
    }
}

#[test]
fn whole_overlapping_encoded_and_split_forms_are_replaced() {
    let script = format!(
        "echo whole $TOKEN\nprintf '%s' \"$TOKEN{rest}\"; echo\nprintf %s \"$TOKEN\" | base64 -w0; echo\n\
         printf %s \"x$TOKEN\" | base64 -w0; echo\nprintf %s \"$TOKEN\" | od -An -tx1 | tr -d ' \\n'; echo\n\
         printf %s tok_live_8f; sleep 0.3; printf '%s\\n' 3a9c1d2e/Zq+77~\necho err $TOKEN >&2\necho \"$@\"\necho end\n",
        rest = &OVERLAP[2..]
    );
    for result in ["combined", "structured"] {
        let project = project(&script, result);
        let outcome = call(
            &project,
            r#"{"rationale":"because tok_live_8f3a9c1d2e/Zq+77~ says so"}"#,
        );
        outcome.expect(0);
        assert_silent(&outcome, &project);
        assert!(
            outcome.stdout.contains("whole [REDACTED]"),
            "{}",
            outcome.stdout
        );
        assert!(
            outcome.stdout.contains("--token=[REDACTED]"),
            "{}",
            outcome.stdout
        );
        assert!(outcome.stdout.contains("end"), "{}", outcome.stdout);
    }
}

#[test]
fn a_secret_among_the_arguments_does_not_reach_an_error_or_the_log() {
    let project = project("echo ok\n", "combined");
    let input = serde_json::json!({"arguments": [format!("--password={TOKEN}"), "/etc/shadow"]})
        .to_string();
    let outcome = call(&project, &input);
    assert_silent(&outcome, &project);
    let refused = call(
        &project,
        &serde_json::json!({"arguments": [TOKEN], TOKEN: 1}).to_string(),
    );
    refused.expect(1);
    assert_eq!(refused.error_code(), "shell.tool_unknown_input");
    assert_silent(&refused, &project);
}

#[test]
fn a_secret_at_the_truncation_edge_leaves_no_prefix() {
    for pad in 1000..1024 {
        if pad % 5 != 0 {
            continue;
        }
        let project = project(
            &format!("head -c {pad} /dev/zero | tr '\\0' x; printf %s $TOKEN; printf %s tail\n"),
            "combined",
        );
        let text = fs::read_to_string(project.path().join("agent.chatmd")).unwrap();
        project.write(
            "agent.chatmd",
            text.replace("<policy ", "<limits stdout=\"1024B\"/>\n  <policy "),
        );
        let outcome = call(&project, "{}");
        outcome.expect(0);
        assert!(
            !outcome.stdout.contains("tok_live"),
            "pad {pad}: {}",
            &outcome.stdout[990..]
        );
        assert!(outcome.stdout.trim_end_matches('\n').len() <= 1024);
    }
}
