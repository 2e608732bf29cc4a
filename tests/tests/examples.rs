//! The worked examples hold what their comments promise.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::Path;

use chatmd_tests::{Project, repository};

fn documents(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "chatmd")
        })
        .map(|path| path.display().to_string())
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no document in {}", folder.display());
    names
}

#[test]
fn every_example_compiles_without_a_warning() {
    let project = Project::new("");
    for name in documents(&repository().join("corpus/examples")) {
        project
            .chatmdc(&["check", "--deny-warnings", &name])
            .expect(0);
    }
}

#[test]
fn every_refused_example_is_refused_by_check_and_never_runs() {
    let project = Project::new("");
    for name in documents(&repository().join("corpus/examples/refused")) {
        let outcome = project.chatmdc(&["check", "--format", "concise", &name]);
        outcome.expect(1);
        assert!(outcome.stderr.contains("error["), "{}", outcome.stderr);
        project.chatmdc(&["manifest", &name]).expect(1);
        project
            .chatmd(&[
                "run",
                "--authorize-manifest",
                &"0".repeat(64),
                &name,
                "list",
            ])
            .expect(1);
    }
}

#[test]
fn the_unsandboxed_example_is_refused_for_its_backend() {
    let project = Project::new("");
    let name = repository()
        .join("corpus/examples/refused/unsandboxed.chatmd")
        .display()
        .to_string();
    let outcome = project.chatmdc(&["check", "--format", "json", &name]);
    let value: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let codes: Vec<&str> = value["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|d| d["severity"] == "error")
        .map(|d| d["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["shell.incompatible_backend"]);
}

#[test]
fn a_document_with_a_failing_test_never_runs() {
    let text = fs::read_to_string(repository().join("corpus/examples/git-status.chatmd")).unwrap();
    let failing = text.replace(
        "expect match: git status --short",
        "expect match: git blame README.md",
    );
    assert_ne!(text, failing);
    let project = Project::new(&failing);
    // Before any question of authority: a digest that could not match is not even looked at.
    let outcome = project.chatmd(&[
        "run",
        "--authorize-manifest",
        &"0".repeat(64),
        "agent.chatmd",
        "git_status",
        "{}",
    ]);
    outcome.expect(1);
    assert!(
        outcome.stderr.contains("chatmd.test_failed"),
        "{}",
        outcome.stderr
    );
    let project = Project::new(&text);
    let outcome = project.chatmd(&[
        "run",
        "--authorize-manifest",
        &"0".repeat(64),
        "agent.chatmd",
        "git_status",
        "{}",
    ]);
    outcome.expect(3);
}

#[test]
fn git_status_reports_the_work_tree_and_nothing_else_of_git() {
    let text = fs::read_to_string(repository().join("corpus/examples/git-status.chatmd")).unwrap();
    let project = Project::new(&text);
    project
        .run(std::process::Command::new("git").args(["init", "-q", "-b", "main"]))
        .expect(0);
    project.write("new.txt", "x");
    let outcome = project.call("git_status", "{}");
    outcome.expect(0);
    assert!(
        outcome.stdout.contains("## No commits yet on main"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("?? new.txt"), "{}", outcome.stdout);
    assert_eq!(
        project
            .call("git_status", r#"{"arguments":["-v"]}"#)
            .error_code(),
        "shell.tool_arguments_forbidden"
    );
}

#[test]
fn development_build_runs_make_and_refuses_to_push() {
    let text =
        fs::read_to_string(repository().join("corpus/examples/development-build.chatmd")).unwrap();
    let project = Project::new(&text);
    project.write("Makefile", "all:\n\t@echo built > out.txt && echo done\n");
    let outcome = project.call("make", r#"{"rationale":"first build"}"#);
    outcome.expect(0);
    let result: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(result["stdout"], "done\n");
    assert_eq!(result["status"], serde_json::json!({"exited": 0}));
    assert_eq!(result["backend"], "linux-bubblewrap");
    assert_eq!(
        fs::read_to_string(project.path().join("out.txt")).unwrap(),
        "built\n"
    );
    let run = |program: &str, arguments: &[&str]| {
        let input =
            serde_json::json!({"program": program, "arguments": arguments, "rationale": "r"});
        let outcome = project.call("run", &input.to_string());
        outcome.expect(1);
        outcome.error_code()
    };
    assert_eq!(
        run("git", &["-C", ".", "push"]),
        "capability_violation",
        "pushing needs the network"
    );
    assert_eq!(run("rm", &["-f", "out.txt"]), "denied", "a rule forbids it");
    let refused = project.call(
        "run",
        r#"{"program":"rm","arguments":["out.txt"],"rationale":"r"}"#,
    );
    let why = "; a build that has to be cleaned is cleaned by its Makefile; instead: run the \
               target clean";
    assert!(refused.stdout.contains(why), "{}", refused.stdout);
    assert_eq!(
        run("ls", &[]),
        "denied",
        "nobody can answer, so `ask` is a denial"
    );
    assert!(project.path().join("out.txt").exists());
}
