//! What `chatmdc eval` says of a call is what `chatmd run` then does (spec 10 section 2.8, 12 section
//! 3.1): the same outcome, code and reason, for every request.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::os::unix::fs::symlink;

use chatmd_tests::Project;
use serde_json::{Value, json};

const DOCUMENT: &str = r#"<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true">
    <read path="${workspace}"/><read path="/usr"/><write path="${workspace}/out"/>
  </capabilities>
  <resolver>
    <search_path path="/usr/bin"/><search_path path="${workspace}/bin"/><trusted_root path="/usr/bin"/>
    <executable id="reader" path="/usr/bin/cat"/>
  </resolver>
  <environment inherit="safe"/>
  <policy default="ask">
    <rule id="no-push" action="deny"><all><basename value="git"/><argument value="push"/></all></rule>
    <rule id="no-script" action="deny"><argument_contains value="import os"/></rule>
    <rule id="readers" action="allow">
      <all><trusted_executable/><any><basename value="cat"/><basename value="grep"/><basename value="ls"/><basename value="touch"/></any></all>
    </rule>
    <rule id="reader" action="allow"><program value="reader"/></rule>
  </policy>
</shell_access>
<tool name="one" type="shell" mode="structured" runtime="r" result="structured" stdin="optional" rationale="optional"/>
<tool name="chain" type="shell" mode="chain" runtime="r" result="structured"/>
<tool name="find-text" type="shell" mode="fixed" runtime="r" result="structured">
  <command program="grep"><arg value="-rn"/><arg value="--"/></command>
  <arguments mode="required" min_count="1" max_count="3"/>
</tool>
"#;

fn requests() -> Vec<(&'static str, String)> {
    let one = |program: &str, arguments: &[&str]| {
        (
            "one",
            json!({ "program": program, "arguments": arguments }).to_string(),
        )
    };
    let chain = |command: &str| ("chain", json!({ "command": command }).to_string());
    vec![
        one("cat", &["a.txt"]),
        one("cat", &["missing.txt"]),
        one("/usr/bin/cat", &["a.txt"]),
        one("reader", &["a.txt"]),
        one("cat", &["/etc/passwd"]),
        one("cat", &["../outside"]),
        one("cat", &["link-out"]),
        one("ls", &["-la"]),
        one("grep", &["-rn", "x", "."]),
        one("touch", &["out/made"]),
        one("touch", &["not-allowed"]),
        one("head", &["a.txt"]),
        one("git", &["push"]),
        one("git", &["-C", ".", "push"]),
        one("env", &["git", "push"]),
        one("sh", &["-c", "git push"]),
        one("sh", &["-c", "echo hello"]),
        one("python3", &["-c", "import os"]),
        one("curl", &["https://example.invalid"]),
        one("sudo", &["ls"]),
        one("local", &[]),
        one("./bin/local", &[]),
        one("no-such-program", &[]),
        one("", &[]),
        one("a.txt", &[]),
        ("one", r#"{"program":"cat"}"#.to_owned()),
        (
            "one",
            r#"{"program":"cat","arguments":["a\u0000b"]}"#.to_owned(),
        ),
        (
            "one",
            r#"{"program":"cat","arguments":[],"extra":1}"#.to_owned(),
        ),
        (
            "one",
            r#"{"program":"cat","arguments":[],"stdin":"text"}"#.to_owned(),
        ),
        (
            "one",
            r#"{"program":"cat","program":"ls","arguments":[]}"#.to_owned(),
        ),
        ("one", "[]".to_owned()),
        chain("cat a.txt"),
        chain("cat a.txt | grep one"),
        chain("cat missing.txt && ls"),
        chain("cat missing.txt || ls"),
        chain("ls; git push"),
        chain("ls | sh -c 'git push'"),
        chain("cat $HOME"),
        chain("cat 'a.txt"),
        chain("cat a.txt > out/x"),
        chain(""),
        ("find-text", r#"{"arguments":["one","a.txt"]}"#.to_owned()),
        ("find-text", r#"{"arguments":["one","/etc"]}"#.to_owned()),
        ("find-text", r#"{"arguments":[]}"#.to_owned()),
        ("find-text", r#"{"arguments":["a","b","c","d"]}"#.to_owned()),
    ]
}

/// What a run shows of the outcome that an evaluation names.
fn run_outcome(answer: &str) -> (String, String) {
    let value: Value = serde_json::from_str(answer).unwrap_or(Value::Null);
    let error = &value["error"];
    match error["code"].as_str() {
        None => ("would_run".to_owned(), String::new()),
        Some(code) => {
            let message = error["message"].as_str().unwrap().to_owned();
            let outcome = match code {
                "denied" if message.contains("approval is unavailable") => "would_ask",
                "denied" => "would_deny",
                "resolution_error" => "unresolvable",
                _ => "would_reject",
            };
            (outcome.to_owned(), format!("{code}: {message}"))
        }
    }
}

#[test]
fn every_request_becomes_what_its_evaluation_says() {
    let project = Project::new(DOCUMENT);
    project.write("a.txt", "one\ntwo\n");
    project.write("bin/local", "#!/bin/sh\necho local\n");
    project.write("out/keep", "");
    let local = project.path().join("bin/local");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(local, mode).unwrap();
    symlink("/etc/passwd", project.path().join("link-out")).unwrap();

    let schema = |name: &str| {
        let text = project.chatmdc(&["schema", name]).expect(0).stdout.clone();
        jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
    };
    let (eval, trace_only) = (schema("eval"), schema("trace"));
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (tool, input) in requests() {
        let words = [
            "eval",
            "--format",
            "json",
            "--tool",
            tool,
            "--input",
            &input,
            "agent.chatmd",
        ];
        let evaluated = project.chatmdc(&words);
        let evaluated: Value = serde_json::from_str(&evaluated.stdout)
            .unwrap_or_else(|_| panic!("{input}: {}{}", evaluated.stdout, evaluated.stderr));
        for (schema, value) in [(&eval, &evaluated), (&trace_only, &evaluated["trace"])] {
            let faults: Vec<String> = schema
                .iter_errors(value)
                .map(|fault| format!("{} at {}", fault, fault.instance_path()))
                .collect();
            assert!(faults.is_empty(), "{input}: {faults:?}");
        }
        let said = evaluated["outcome"].as_str().unwrap_or("none").to_owned();
        let trace = &evaluated["trace"];
        let (did, error) = run_outcome(&project.call(tool, &input).stdout);
        seen.insert(said.clone());
        // Stages of a chain are judged one by one, and the run ends at the first refusal.
        let same = said == did;
        let code = trace["code"].as_str().unwrap_or_default();
        let reason = trace["reason"].as_str().unwrap_or_default();
        let explained =
            did != "would_reject" || (error.starts_with(code) && error.contains(reason));
        if !same || !explained {
            wrong.push(format!(
                "{tool} {input}\n  eval {said} {code}: {reason}\n  run  {did} {error}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    // Each outcome was met.
    for outcome in [
        "would_run",
        "would_ask",
        "would_deny",
        "would_reject",
        "unresolvable",
    ] {
        assert!(seen.contains(outcome), "{outcome} in {seen:?}");
    }
}
