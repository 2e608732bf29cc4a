//! The options of `chatmd run` and what it prints (spec 10 section 3.1), row by row.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chatmd_tests::{Outcome, Project, program};
use serde_json::{Value, json};

const DOCUMENT: &str = r#"<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true"><read path="${workspace}"/></capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <policy default="allow"/>
  <audit format="session" content="redacted"/>
</shell_access>
<tool name="sh" type="shell" mode="structured" runtime="r" stdin="optional" rationale="optional"/>
<tool name="why" type="shell" mode="structured" runtime="r" rationale="required"/>
<tool name="strict" type="shell" mode="structured" runtime="r" nonzero="error"/>
<tool name="fixed" type="shell" runtime="r" command="printf plain"/>
<tool name="object" type="shell" mode="structured" runtime="r" result="structured"/>
"#;

fn project() -> Project {
    Project::new(DOCUMENT)
}

fn sh(script: &str) -> String {
    json!({"program": "sh", "arguments": ["-c", script]}).to_string()
}

/// `chatmd run` with options, the document, and what follows it.
fn command(project: &Project, options: &[&str], rest: &[&str]) -> Command {
    let mut command = Command::new(program("chatmd"));
    command
        .current_dir(project.path())
        .args(["run", "--no-approval", "--session", "s", "--state-dir"])
        .arg(project.state())
        .args(["--authorize-manifest", &project.bound_digest()])
        .args(options)
        .arg("agent.chatmd")
        .args(rest);
    command
}

fn run(project: &Project, options: &[&str], rest: &[&str]) -> Outcome {
    project.run(&mut command(project, options, rest))
}

/// The same with something on standard input.
fn run_with(project: &Project, input: &str, options: &[&str], rest: &[&str]) -> Outcome {
    let mut command = command(project, options, rest);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    Outcome::from(child.wait_with_output().unwrap())
}

#[test]
fn the_input_comes_from_one_place() {
    let project = project();
    let input = sh("echo here");
    project.write("input.json", &input);
    for outcome in [
        run(&project, &[], &["sh", &input]),
        run(&project, &["--input", &input], &["sh"]),
        run(&project, &["--input-file", "input.json"], &["sh"]),
        run_with(&project, &input, &["--input-file", "-"], &["sh"]),
    ] {
        assert_eq!(outcome.expect(0).stdout, "here\n");
    }
    // None means the empty object.
    assert_eq!(run(&project, &[], &["fixed"]).expect(0).stdout, "plain\n");
    let empty = run(&project, &[], &["sh"]);
    assert_eq!(empty.expect(1).error_code(), "shell.tool_program_required");
    for (options, rest) in [
        (vec!["--input", &input], vec!["sh", &input]),
        (vec!["--input-file", "input.json"], vec!["sh", &input]),
        (
            vec!["--input", &input, "--input-file", "input.json"],
            vec!["sh"],
        ),
    ] {
        let outcome = run(&project, &options, &rest);
        assert!(
            outcome.expect(2).stderr.contains("cannot be used with"),
            "{}",
            outcome.stderr
        );
    }
    let missing = run(&project, &["--input-file", "none.json"], &["sh"]);
    assert!(missing.expect(4).stderr.contains("none.json"));
}

#[test]
fn rationale_and_standard_input_become_members_and_never_a_second_one() {
    let project = project();
    project.write("text", "from a file");
    let cat = json!({"program": "cat", "arguments": []}).to_string();
    let outcome = run(&project, &["--stdin-file", "text"], &["sh", &cat]);
    assert_eq!(outcome.expect(0).stdout, "from a file\n");
    let outcome = run_with(
        &project,
        "from a pipe",
        &["--stdin-file", "-"],
        &["sh", &cat],
    );
    assert_eq!(outcome.expect(0).stdout, "from a pipe\n");
    let without = run(&project, &[], &["why", &cat]);
    assert_eq!(
        without.expect(1).error_code(),
        "shell.tool_rationale_required"
    );
    run(&project, &["--rationale", "to see it"], &["why", &cat]).expect(0);
    for (option, value, member) in [
        ("--rationale", "x", "rationale"),
        ("--stdin-file", "text", "stdin"),
    ] {
        let mut input: Value = serde_json::from_str(&cat).unwrap();
        input[member] = json!("own");
        let outcome = run(&project, &[option, value], &["sh", &input.to_string()]);
        let message = format!("{option} and a member `{member}` of the input exclude each other");
        assert!(
            outcome.expect(2).stderr.contains(&message),
            "{}",
            outcome.stderr
        );
    }
}

/// Whoever came second would find nothing, and say something confusing about it.
#[test]
fn standard_input_is_read_for_one_thing_only() {
    let project = project();
    for (options, document, message) in [
        (
            &["--input-file", "-", "--stdin-file", "-"][..],
            "agent.chatmd",
            "both --input-file and --stdin-file",
        ),
        (
            &["--input-file", "-"],
            "-",
            "both the document and --input-file",
        ),
        (
            &["--stdin-file", "-"],
            "-",
            "both the document and --stdin-file",
        ),
    ] {
        let words = [&["run"], options, &[document, "sh"]].concat();
        let outcome = project.chatmd(&words);
        assert!(
            outcome.expect(2).stderr.contains(message),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn the_result_has_the_form_that_was_asked_for() {
    let project = project();
    let input = sh("echo out; echo err >&2");
    let auto = run(&project, &[], &["sh", &input]);
    assert_eq!(
        (auto.expect(0).stdout.as_str(), auto.stderr.as_str()),
        ("out\nerr\n", "")
    );
    let text = run(&project, &["--result", "text"], &["sh", &input]);
    assert_eq!(
        (text.expect(0).stdout.as_str(), text.stderr.as_str()),
        ("out\n", "err\n")
    );
    // The object whatever the tool declares, and the same as that of a tool that declares it.
    let object = |outcome: &Outcome| {
        let mut value: Value = serde_json::from_str(&outcome.expect(0).stdout).unwrap();
        assert!(value["request_id"].as_str().unwrap().starts_with("shell-"));
        value["request_id"] = Value::Null;
        value
    };
    let json = object(&run(&project, &["--result", "json"], &["sh", &input]));
    assert_eq!(
        (&json["stdout"], &json["stderr"]),
        (&json!("out\n"), &json!("err\n"))
    );
    assert_eq!(json["status"], json!({"exited": 0}));
    assert_eq!(json, object(&run(&project, &[], &["object", &input])));
    // A failure is one object in every form, on standard output.
    for form in ["auto", "json", "text"] {
        let failed = run(
            &project,
            &["--result", form],
            &["sh", r#"{"program":"no-such","arguments":[]}"#],
        );
        assert_eq!(failed.expect(1).error_code(), "resolution_error");
        assert_eq!(failed.stdout.lines().count(), 1);
    }
}

#[test]
fn the_exit_status_is_that_of_the_call_or_on_request_of_the_command() {
    let project = project();
    for (script, status) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 128 + 15)] {
        let input = sh(script);
        run(&project, &[], &["sh", &input]).expect(0);
        run(&project, &["--exit-status"], &["sh", &input]).expect(status);
        let strict = i32::from(status != 0);
        run(&project, &[], &["strict", &input]).expect(strict);
        run(&project, &["--exit-status"], &["strict", &input]).expect(status);
    }
    let failed = run(
        &project,
        &["--exit-status"],
        &["sh", r#"{"program":"no-such","arguments":[]}"#],
    );
    failed.expect(1);
}

#[test]
fn a_time_bound_only_shortens() {
    let limits = "<limits wall_time=\"700ms\"/><policy";
    let project = Project::new(&DOCUMENT.replace("<policy", limits));
    let sleep = r#"{"program":"sleep","arguments":["30"]}"#;
    for (bound, said) in [("100ms", "after 0.100s"), ("1h", "after 0.700s")] {
        let begun = Instant::now();
        let outcome = run(&project, &["--timeout", bound], &["sh", sleep]);
        assert_eq!(outcome.expect(1).error_code(), "timed_out");
        assert!(outcome.stdout.contains(said), "{}", outcome.stdout);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn an_unknown_tool_names_the_known_ones_and_runs_nothing() {
    let project = project();
    let outcome = run(&project, &[], &["gone", "{}"]);
    assert!(
        outcome
            .expect(1)
            .stderr
            .contains("fixed, object, sh, strict, why"),
        "{}",
        outcome.stderr
    );
    assert!(!project.audit_log().exists());
}

/// Without `--session` nothing of the run is left.
#[test]
fn an_ephemeral_session_is_removed_with_its_log() {
    let project = project();
    let temporary = tempfile::tempdir().unwrap();
    let mut command = Command::new(program("chatmd"));
    command
        .env("TMPDIR", temporary.path())
        .args(["run", "--state-dir"])
        .arg(project.state())
        .args([
            "--authorize-manifest",
            &project.bound_digest(),
            "agent.chatmd",
            "fixed",
        ]);
    assert_eq!(project.run(&mut command).expect(0).stdout, "plain\n");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    assert!(!project.audit_log().exists());
}
