//! `chatmdc eval` on this machine: outcomes, exit codes, both forms, and that nothing starts.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod support;

use serde_json::Value;
use support::{Project, Run};

const DOCUMENT: &str = r#"<shell_access id="dev" cwd="${workspace}">
  <capabilities sandbox="direct_unsafe" child_processes="true" arbitrary_code="true">
    <read path="${workspace}"/><write path="${workspace}/out"/>
  </capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <backends merge="replace"><direct when="linux"/></backends>
  <environment inherit="none"><set name="TOKEN" value="s3cret-value"/></environment>
  <policy default="ask">
    <rule id="looks" action="allow"><all><basename value="cat"/><trusted_executable/></all></rule>
    <rule id="no-env" action="deny"><basename value="env"/></rule>
  </policy>
  <approvals provider="none"/>
</shell_access>
<tool name="sh" type="shell" mode="structured" runtime="dev"/>
<tool name="pipe" type="shell" mode="chain" runtime="dev"/>
<tool name="secret" type="shell" runtime="dev">
  <command program="/usr/bin/cat"><arg value="a"/><secret_arg env="TOKEN" prefix="--token="/></command>
  <arguments mode="none"/>
</tool>
"#;

fn project() -> Project {
    Project::new(&[("a.chatmd", DOCUMENT), ("notes", "x"), ("out/keep", "")])
}

fn eval(project: &Project, args: &[&str]) -> Run {
    let mut all = vec!["eval"];
    all.extend(args);
    project.run(&all)
}

#[test]
fn every_outcome_with_its_exit_code() {
    let project = project();
    for (tool, words, outcome) in [
        ("sh", &["cat", "notes"][..], "would_run"),
        ("sh", &["cat", "/etc/passwd"], "would_reject"),
        ("sh", &["env", "true"], "would_deny"),
        // `ask`, and nobody can be asked.
        ("sh", &["ls", "out"], "would_deny"),
        ("sh", &["no-such-program"], "unresolvable"),
        ("pipe", &["cat notes | cat"], "would_run"),
        // The worst command of a chain is its outcome.
        ("pipe", &["cat notes && env true"], "would_deny"),
        ("pipe", &["cat a > b"], "would_reject"),
    ] {
        let mut args = vec!["--tool", tool, "--expect", outcome, "a.chatmd", "--"];
        args.extend(words);
        let run = eval(&project, &args);
        assert_eq!(run.code, 0, "{words:?}\n{}{}", run.stdout, run.stderr);
        let last = run.stdout.lines().last().unwrap().to_owned();
        assert!(last.starts_with("outcome    "), "{last}");
        assert!(last.contains(outcome), "{last}");
    }
    let run = eval(
        &project,
        &[
            "--tool",
            "sh",
            "--expect",
            "would_deny",
            "a.chatmd",
            "--",
            "cat",
            "notes",
        ],
    );
    assert_eq!(run.code, 1);
    assert_eq!(run.stderr, "chatmdc: expected would_deny, got would_run\n");
}

/// Who could answer an `ask` is told as the host decides it (02 section 12, 06 section 10.4).
#[test]
fn an_ask_is_denied_where_nobody_can_answer() {
    let person = "<reviewers><reviewer id=\"me\" kind=\"ui\"/></reviewers>";
    for (approvals, outcome) in [
        ("<approvals/>".to_owned(), "would_ask"),
        (format!("<approvals/>{person}"), "would_ask"),
        (
            "<approvals/><reviewers/>".to_owned(),
            "would_deny     denied:",
        ),
        (
            "<approvals unavailable=\"error\"/><reviewers/>".to_owned(),
            "would_deny     denied:",
        ),
        (
            format!("<approvals provider=\"none\"/>{person}"),
            "would_deny     denied:",
        ),
        (
            "<approvals provider=\"none\" unavailable=\"error\"/>".to_owned(),
            "would_deny     permission_required:",
        ),
    ] {
        let document = DOCUMENT.replace("<approvals provider=\"none\"/>", &approvals);
        let project = Project::new(&[("a.chatmd", document.as_str()), ("out/keep", "")]);
        let run = eval(&project, &["--tool", "sh", "a.chatmd", "--", "ls", "out"]);
        let last = run.stdout.lines().last().unwrap_or_default().to_owned();
        assert!(
            last.contains(outcome),
            "{approvals}: {last}\n{}",
            run.stderr
        );
    }
}

#[test]
fn an_assumed_approval_answers_an_ask() {
    let project = project();
    let args = |grant: &'static [&'static str]| {
        let mut args = vec!["--tool", "sh"];
        args.extend(grant);
        args.extend(["a.chatmd", "--", "ls", "out"]);
        args
    };
    let run = eval(&project, &args(&[]));
    assert!(
        run.stdout.contains("permission") || run.stdout.contains("denied"),
        "{}",
        run.stdout
    );
    let run = eval(&project, &args(&["--assume-grant", "once"]));
    assert!(
        run.stdout.contains("outcome    would_run"),
        "{}",
        run.stdout
    );
    let run = eval(&project, &args(&["--assume-grant", "durable_exact"]));
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert!(run.stderr.contains("durable_exact"), "{}", run.stderr);
}

#[test]
fn the_trace_tells_what_decided_and_where() {
    let project = project();
    let run = eval(
        &project,
        &[
            "--tool",
            "sh",
            "a.chatmd",
            "--",
            "env",
            "cat",
            "/etc/passwd",
        ],
    );
    for part in [
        "request    structured     env cat /etc/passwd\n",
        "capability FAIL           read outside allowed roots: /etc/passwd",
        "a.chatmd:2:4\n",
        "policy     deny           by no-env (after capability refusal)\n",
        "no-env                       a.chatmd:10:15\n",
        "outcome    would_reject   capability_violation: read outside allowed roots: /etc/passwd",
    ] {
        assert!(run.stdout.contains(part), "{part:?} in\n{}", run.stdout);
    }
}

#[test]
fn the_json_form_has_the_whole_trace() {
    let project = project();
    let input = r#"{"program":"cat","arguments":["notes"]}"#;
    let run = eval(
        &project,
        &[
            "--tool", "sh", "--input", input, "--format", "json", "a.chatmd",
        ],
    );
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["command"], "eval");
    assert_eq!(answer["outcome"], "would_run");
    let trace = &answer["trace"];
    // Members of the trace are indented by four, in the published order.
    let lines = run.stdout.lines();
    let members = lines.filter_map(|line| line.strip_prefix("    \""));
    let names: Vec<&str> = members
        .map(|member| member.split('"').next().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "version",
            "manifest_sha256",
            "host",
            "runtime",
            "tool",
            "origin",
            "request",
            "input",
            "parse",
            "stages",
            "outcome",
            "code",
            "reason",
            "decided_by",
            "may_change",
            "assumptions",
        ]
    );
    let stage = &trace["stages"][0];
    assert_eq!(stage["argv"], serde_json::json!(["cat", "notes"]));
    assert_eq!(stage["resolution"]["located"], "/usr/bin/cat");
    assert_eq!(stage["resolution"]["trust"]["T1"], "yes");
    assert_eq!(stage["policy"]["deciding"], serde_json::json!(["looks"]));
    assert_eq!(
        stage["backend"]["argv"],
        serde_json::json!(["cat", "notes"])
    );
    assert_eq!(stage["limits"]["max_stdin_bytes"], 1_048_576);
}

#[test]
fn invalid_input_is_the_tools_own_refusal() {
    let project = project();
    let run = eval(
        &project,
        &["--tool", "sh", "--input", r#"{"program":7}"#, "a.chatmd"],
    );
    assert_eq!(run.code, 1);
    assert!(
        run.stdout
            .contains("shell.tool_invalid_input: program must be a string"),
        "{}",
        run.stdout
    );
}

#[test]
fn usage_errors_name_what_there_is() {
    let project = project();
    for (args, message) in [
        (
            &["a.chatmd", "--", "cat"][..],
            "name the tool with --tool: pipe, secret, sh",
        ),
        (
            &["--tool", "shh", "a.chatmd", "--", "cat"],
            "did you mean `sh`?",
        ),
        (
            &["--runtime", "dew", "a.chatmd", "--", "cat"],
            "did you mean `dev`?",
        ),
        (&["--tool", "sh", "a.chatmd"], "nothing to evaluate"),
    ] {
        let run = eval(&project, args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn secrets_do_not_show() {
    let project = project();
    for extra in [&[][..], &["--format", "json"], &["--verbose"]] {
        let mut args = vec!["--tool", "secret", "a.chatmd"];
        args.extend(extra);
        let run = eval(&project, &args);
        assert!(
            run.stdout.contains("--token=[REDACTED]"),
            "{}{}",
            run.stdout,
            run.stderr
        );
        assert!(!run.stdout.contains("s3cret"), "{}", run.stdout);
    }
}

/// Somebody may evaluate a command that holds a secret in another form.
#[test]
fn encoded_secrets_do_not_show_either() {
    let project = project();
    let document = DOCUMENT.replace(
        "<policy default=\"ask\">",
        "<secrets><from_env name=\"TOKEN\"/></secrets>\n  <policy default=\"ask\">",
    );
    project.write("b.chatmd", document.as_bytes());
    for form in [
        // base64 at each of the three offsets, hexadecimal digits in both cases.
        "czNjcmV0LXZhbHVl",
        "eHMzY3JldC12YWx1ZQ==",
        "eHlzM2NyZXQtdmFsdWU=",
        "7333637265742d76616c7565",
        "7333637265742D76616C7565",
    ] {
        for extra in [&[][..], &["--format", "json"]] {
            let mut command = project.command(&["eval", "--runtime", "dev"]);
            command.env("TOKEN", "s3cret-value").args(extra);
            let output = command
                .args(["b.chatmd", "--", "cat", form])
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.contains("[REDACTED]"), "{form}: {text}");
            assert!(!text.contains(form), "{form}: {text}");
        }
    }
}

#[test]
fn nothing_starts() {
    let project = project();
    project.write("bin/tool", b"#!/bin/sh\ntouch started\n");
    use std::os::unix::fs::PermissionsExt as _;
    let tool = project.path().join("bin/tool");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = eval(
        &project,
        &["--runtime", "dev", "a.chatmd", "--", "./bin/tool"],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("bin/tool"), "{}", run.stdout);
    assert!(!project.path().join("started").exists());
}

#[test]
fn a_document_with_errors_is_reported_and_not_evaluated() {
    let project = Project::new(&[("a.chatmd", "<shell_access id=\"a\" extends=\"b\"/>")]);
    let run = eval(&project, &["a.chatmd", "--", "cat"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.contains("the document has errors"),
        "{}",
        run.stderr
    );
    let run = eval(&project, &["--format", "json", "a.chatmd", "--", "cat"]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    assert_eq!(answer["ok"], false);
    assert!(!answer["diagnostics"].as_array().unwrap().is_empty());
}
