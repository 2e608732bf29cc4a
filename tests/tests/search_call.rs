//! The main job end to end: one fixed tool, its literal arguments, its refusals, its audit log.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;

use chatmd_tests::{Outcome, Project, repository};

fn project() -> Project {
    let text =
        fs::read_to_string(repository().join("corpus/examples/repository-search.chatmd")).unwrap();
    let project = Project::new(&text);
    project.write("src/a.txt", "one\nTODO; rm -rf /\ntwo $(id) `id` ; |\n");
    project
}

fn events(project: &Project) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(project.audit_log()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn names(events: &[serde_json::Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect()
}

fn validate(project: &Project) -> Outcome {
    let state = project.state();
    project.chatmd(&[
        "audit",
        "validate",
        "--require-chain",
        "--state-dir",
        state.to_str().unwrap(),
        project.audit_log().to_str().unwrap(),
    ])
}

#[test]
fn shell_syntax_in_an_argument_is_text() {
    let project = project();
    let outcome = project.call("search", r#"{"arguments":["TODO; rm -rf /","src"]}"#);
    outcome.expect(0);
    assert_eq!(outcome.stdout, "src/a.txt:2:TODO; rm -rf /\n");
    let outcome = project.call("search", r#"{"arguments":["$(id) `id` ; |","src"]}"#);
    assert_eq!(outcome.stdout, "src/a.txt:3:two $(id) `id` ; |\n");
    assert!(project.path().join("src/a.txt").exists());
}

#[test]
fn reaching_outside_is_refused_before_anything_starts_and_audited() {
    let project = project();
    for outside in [
        "/etc/passwd",
        "../..",
        "src/../../../etc",
        "/proc/self/environ",
    ] {
        let input = serde_json::json!({"arguments": ["root", outside]}).to_string();
        let outcome = project.call("search", &input);
        outcome.expect(1);
        assert_eq!(outcome.error_code(), "capability_violation", "{outside}");
    }
    let events = events(&project);
    let rejected: Vec<_> = events
        .iter()
        .filter(|event| event["event"] == "rejected")
        .collect();
    assert_eq!(rejected.len(), 4);
    assert!(
        rejected
            .iter()
            .all(|event| event["code"] == "capability_violation" && event["stage"] == "capability")
    );
    validate(&project).expect(0);
}

#[test]
fn the_runtimes_own_state_below_a_read_root_is_invisible() {
    let project = project();
    let digest = project.bound_digest();
    let call = |text: &str, place: &str| {
        let input = serde_json::json!({"arguments": [text, place]}).to_string();
        let words = [
            "run",
            "--state-dir",
            "state",
            "--session",
            "s",
            "--authorize-manifest",
            &digest,
            "agent.chatmd",
            "search",
            &input,
        ];
        project.chatmd(&words)
    };
    call("one", "src").expect(0);
    let log = project
        .path()
        .join("state/sessions/s/.chatmd/shell-audit.jsonl");
    assert!(fs::read_to_string(&log).unwrap().contains("sequence"));
    let outcome = call("sequence", ".");
    outcome.expect(0);
    assert!(
        !outcome.stdout.contains("shell-audit"),
        "{}",
        outcome.stdout
    );
    let key = call("", "state/integrity.key");
    assert!(!key.stdout.contains("integrity.key:1:"), "{}", key.stdout);
}

#[test]
fn a_link_that_leads_outside_is_refused() {
    let project = project();
    std::os::unix::fs::symlink("/etc/passwd", project.path().join("src/link")).unwrap();
    let outcome = project.call("search", r#"{"arguments":["root","src/link"]}"#);
    outcome.expect(1);
    assert_eq!(outcome.error_code(), "capability_violation");
}

#[test]
fn an_allowed_call_writes_its_events_in_order() {
    let project = project();
    project
        .call("search", r#"{"arguments":["one","src"]}"#)
        .expect(0);
    let events = events(&project);
    let of_request: Vec<&str> = names(&events)
        .into_iter()
        .filter(|name| {
            ![
                "log_opened",
                "manifest_authorized",
                "runtime_started",
                "runtime_stopped",
            ]
            .contains(name)
        })
        .collect();
    let mut of_request = of_request;
    of_request.dedup();
    assert_eq!(
        of_request,
        [
            "request_received",
            "resolved",
            "policy_decided",
            "plan_created",
            "started",
            "output",
            "finished",
            "request_completed"
        ]
    );
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["sequence"], index as u64);
    }
    let outcome = validate(&project);
    outcome.expect(0);
    assert!(
        outcome
            .stdout
            .starts_with(&format!("valid audit log: {} events", events.len())),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_changed_line_or_a_removed_event_is_found() {
    let project = project();
    project
        .call("search", r#"{"arguments":["one","src"]}"#)
        .expect(0);
    let good = fs::read_to_string(project.audit_log()).unwrap();
    fs::write(
        project.audit_log(),
        good.replace("\"policy_action\":\"allow\"", "\"policy_action\":\"ask\""),
    )
    .unwrap();
    let outcome = validate(&project);
    outcome.expect(1);
    assert!(
        outcome.stderr.contains("shell.audit_chain_digest"),
        "{}",
        outcome.stderr
    );
    let cut = good
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    fs::write(project.audit_log(), cut).unwrap();
    let outcome = validate(&project);
    outcome.expect(1);
    assert!(
        outcome.stderr.contains("shell.audit_truncated"),
        "{}",
        outcome.stderr
    );
    let head = project.audit_log().with_extension("jsonl.head");
    fs::remove_file(head).unwrap();
    // The state directory knows the end as well.
    let outcome = validate(&project);
    outcome.expect(1);
    assert!(
        outcome.stderr.contains("shell.audit_truncated"),
        "{}",
        outcome.stderr
    );
    fs::remove_dir_all(project.state().join("audit-heads")).unwrap();
    let outcome = validate(&project);
    outcome.expect(0);
    assert!(
        outcome.stdout.contains("tail not provable"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn input_that_does_not_fit_is_refused_by_name() {
    let project = project();
    for (input, code) in [
        ("{", "shell.tool_invalid_input"),
        (
            r#"{"arguments":["a"],"arguments":["b"]}"#,
            "shell.tool_duplicate_input",
        ),
        (
            r#"{"arguments":["a","b"],"cwd":"/"}"#,
            "shell.tool_unknown_input",
        ),
        (r#"{"arguments":["a"]}"#, "shell.tool_too_few_arguments"),
        (r#"{"arguments":["a","b\u0000"]}"#, "shell.tool_nul_byte"),
        (
            r#"{"arguments":["a","b"],"stdin":"x"}"#,
            "shell.tool_stdin_forbidden",
        ),
        ("{}", "shell.tool_too_few_arguments"),
    ] {
        let outcome = project.call("search", input);
        outcome.expect(1);
        assert_eq!(outcome.error_code(), code, "{input}");
    }
    let unknown = project.call("serach", "{}");
    unknown.expect(1);
    assert!(
        unknown.stderr.contains("search"),
        "the tools are listed: {}",
        unknown.stderr
    );
}

#[test]
fn another_digest_does_not_authorise() {
    let project = project();
    let run = |digest: &str| {
        project.chatmd(&[
            "run",
            "--authorize-manifest",
            digest,
            "agent.chatmd",
            "search",
            r#"{"arguments":["one","src"]}"#,
        ])
    };
    let bound = project.bound_digest();
    run(&bound).expect(0);
    run(&"0".repeat(64)).expect(3);
    let requested = project
        .chatmdc(&["manifest", "--digest", "agent.chatmd"])
        .stdout
        .trim()
        .to_owned();
    let outcome = run(&requested);
    outcome.expect(3);
    assert!(
        outcome.stderr.contains(&bound),
        "the bound digest is shown to compare: {}",
        outcome.stderr
    );
    let text = fs::read_to_string(project.path().join("agent.chatmd")).unwrap();
    project.write("agent.chatmd", text + "\n<user>one more message</user>\n");
    run(&bound).expect(3);
    let nobody = project.chatmd(&[
        "run",
        "agent.chatmd",
        "search",
        r#"{"arguments":["one","src"]}"#,
    ]);
    nobody.expect(3);
}
