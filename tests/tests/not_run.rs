//! What a document may declare and this version does not run (spec 06 section 2.1 step 11): each is
//! refused by name before anything that the document names is executed, and never ignored. A policy
//! that counted on a reviewer, a filter or an interceptor must not run without it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use std::process::Command;

use chatmd_tests::{Outcome, Project, program};

const TOOL: &str = r#"<tool name="go" type="shell" runtime="r" command="touch made"/>"#;

/// Every hook of the document is this program.
const HOOK: &str = "#!/bin/sh\ntouch hooked\n";

/// A worker runtime, whose commands are hooks.
const WORKER: &str = r#"<shell_access id="w" extends="builtin:hook-worker@1"><policy default="allow"/></shell_access>"#;

/// A document that allows everything, with something more in its runtime and before it.
fn document(section: &str, before: &str, tool: &str) -> String {
    let tool = if tool.is_empty() { TOOL } else { tool };
    format!(
        r#"{before}
<shell_access id="r" cwd="${{workspace}}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true"><write path="${{workspace}}"/></capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <policy default="allow"/>
  {section}
</shell_access>
{tool}
"#
    )
}

fn script(kind: &str, function: &str, body: &str) -> String {
    format!(
        "<script id=\"s\" language=\"chatml\" kind=\"{kind}\">\nlet initial_state = ()\n\
         let {function} ctx st =\n  Task.map({body}, fun _ -> st)\n</script>"
    )
}

fn project(document: &str) -> Project {
    let project = Project::new(document);
    project.write("hook", HOOK);
    let made = Command::new("chmod")
        .arg("755")
        .arg(project.path().join("hook"))
        .status();
    assert!(made.unwrap().success());
    project.write("body.sh", "#!/bin/sh\ntouch made\n");
    project
}

/// Runs the program, and lists what it and its children executed.
fn traced(project: &Project, words: &[&str]) -> (Outcome, Vec<String>) {
    let trace = project.state().join("trace");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-e", "trace=execve,execveat", "-o"])
        .arg(&trace)
        .arg(program("chatmd"))
        .args(words);
    let outcome = project.run(&mut command);
    let trace = std::fs::read_to_string(trace).expect("strace is installed");
    let executed = trace.lines().filter(|line| line.contains("execve"));
    (outcome, executed.map(str::to_owned).collect())
}

/// The control: without the part that is not run, the same document runs.
#[test]
fn the_same_document_without_it_runs() {
    let project = project(&document("", "", ""));
    let digest = project.bound_digest();
    let words = ["run", "--authorize-manifest", &digest, "agent.chatmd", "go"];
    let (outcome, executed) = traced(&project, &words);
    outcome.expect(0);
    assert!(project.path().join("made").exists());
    assert!(
        executed.iter().any(|line| line.contains("touch")),
        "{executed:?}"
    );
}

/// What a document may hold, and how its refusal ends.
fn declared() -> Vec<(&'static str, String)> {
    let hook = r#"executable="${workspace}/hook" runtime="w""#;
    let reviewer = |kind: &str| {
        format!(r#"<reviewers><reviewer id="x" {kind}/><reviewer id="me" kind="ui"/></reviewers>"#)
    };
    let reviewing = script("shell_reviewer", "review", "Review.approve()");
    let before = script("shell_before_interceptor", "before", "Intercept.continue()");
    let after = script("shell_after_interceptor", "after", "Result.keep()");
    let analysing = script("shell_effect_analyzer", "analyze", "Effect.network()");
    let filtering = script("shell_audit_filter", "filter", "Audit.keep()");
    let matching = script("shell_matcher", "match_command", "Match.yes(\"m\")");
    let external = r#"<backends merge="replace" accept_declared_confinement="true">
      <external_backend id="box" executable="${workspace}/hook" confinement="declared">
      <read_roots flag="-r"/><write_roots flag="-w"/><command_argv/></external_backend></backends>"#;
    let extension = |section: &str, before: &str| document(section, before, "");
    let analyzers =
        |inner: &str| format!("<effect_analysis><analyzer id=\"x\" {inner}/></effect_analysis>");
    let interceptors =
        |inner: &str| format!("<interceptors><interceptor id=\"x\" {inner}/></interceptors>");
    let filter = |inner: &str| format!("<audit format=\"stderr\"><filter {inner}/></audit>");
    vec![
        (
            "tools of mode raw",
            document(
                "",
                "",
                r#"<tool name="go" type="shell" mode="raw" runtime="r" executable="/bin/sh"/>"#,
            ),
        ),
        (
            "tools of mode script",
            document(
                "",
                "",
                r#"<tool name="go" type="shell" mode="script" runtime="r" script="body.sh" interpreter="/bin/sh"/>"#,
            ),
        ),
        (
            "automatic reviewers",
            extension(&reviewer(r#"kind="chatml" script="s""#), &reviewing),
        ),
        (
            "automatic reviewers",
            extension(&reviewer(&format!(r#"kind="executable" {hook}"#)), WORKER),
        ),
        (
            "automatic reviewers",
            extension(
                &reviewer(r#"kind="model" agent="judge""#),
                r#"<tool name="judge" agent="judge.chatmd" local/>"#,
            ),
        ),
        (
            "interceptors",
            extension(&interceptors(r#"phase="before" script="s""#), &before),
        ),
        (
            "interceptors",
            extension(&interceptors(r#"phase="after" script="s""#), &after),
        ),
        (
            "interceptors",
            extension(&interceptors(&format!(r#"phase="before" {hook}"#)), WORKER),
        ),
        (
            "interceptors",
            extension(&interceptors(&format!(r#"phase="after" {hook}"#)), WORKER),
        ),
        (
            "effect analyzers",
            extension(&analyzers(r#"script="s""#), &analysing),
        ),
        (
            "effect analyzers",
            extension(&analyzers(&format!(r#"kind="executable" {hook}"#)), WORKER),
        ),
        (
            "audit filters",
            extension(&filter(r#"script="s""#), &filtering),
        ),
        ("audit filters", extension(&filter(hook), WORKER)),
        (
            "script matchers",
            extension("", &matching).replace(
                r#"<policy default="allow"/>"#,
                r#"<policy default="allow"><rule id="m" action="deny"><chatml_match script="s"/></rule></policy>"#,
            ),
        ),
        ("external wrappers", extension(external, "")),
    ]
}

#[test]
fn what_is_not_run_is_refused_by_name_and_nothing_is_executed() {
    for (what, document) in declared() {
        let project = project(&document);
        let checked = project.chatmdc(&["check", "agent.chatmd"]);
        assert_eq!(checked.status, Some(0), "{what}: {}", checked.stderr);
        let digest = project.bound_digest();
        for command in [&["run"][..], &["tools", "--live"]] {
            let mut words = command.to_vec();
            words.extend(["--authorize-manifest", &digest, "agent.chatmd"]);
            if command == ["run"] {
                words.push("go");
            }
            let (outcome, executed) = traced(&project, &words);
            let shown = format!("{what}: {}\n{document}", outcome.stderr);
            assert_eq!(outcome.status, Some(1), "{shown}");
            assert_eq!(outcome.stdout, "", "{shown}");
            let (code, verb) = if what == "external wrappers" {
                ("shell.backend_unavailable", "start")
            } else {
                ("shell.runtime_instantiation_failed", "run")
            };
            assert!(outcome.stderr.contains(code), "{shown}");
            let message = format!("this version does not {verb} {what}");
            assert!(outcome.stderr.contains(&message), "{shown}");
            assert_only_the_wrapper_was_asked(&executed, project.path().as_path());
        }
    }
}

/// Beside the program itself, only the sandbox wrapper may have run, to say what it can do.
fn assert_only_the_wrapper_was_asked(executed: &[String], folder: &Path) {
    for line in executed.iter().skip(1) {
        let asks = line.contains("\"--version\"") || line.contains("\"--help\"");
        assert!(asks, "{line}");
    }
    for name in ["made", "hooked"] {
        assert!(!folder.join(name).exists(), "{name}");
    }
}
