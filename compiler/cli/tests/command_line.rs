//! Conventions of the command line (spec 10 section 1): options, exit codes, streams.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::process::Stdio;

use support::{Project, finished};

const GOOD: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\"/>\n\
                    <tool name=\"t\" runtime=\"r\" command=\"git status\"/>\n";
const BAD: &str = "<User>hi</User>\n";
/// One warning and no error: nothing uses the runtime.
const WARNED: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\"/>\n";

fn project() -> Project {
    Project::new(&[
        ("good.chatmd", GOOD),
        ("bad.chatmd", BAD),
        ("warned.chatmd", WARNED),
    ])
}

#[test]
fn exit_codes() {
    let project = project();
    std::fs::create_dir(project.path().join("folder")).unwrap();
    let table: &[(&[&str], i32)] = &[
        (&["check", "good.chatmd"], 0),
        (&["check", "warned.chatmd"], 0),
        (&["check", "--deny-warnings", "warned.chatmd"], 1),
        (
            &["check", "--deny", "shell.unused_runtime", "warned.chatmd"],
            1,
        ),
        (
            &[
                "check",
                "--deny-warnings",
                "--allow",
                "shell.unused_runtime",
                "warned.chatmd",
            ],
            0,
        ),
        (&["check", "bad.chatmd"], 1),
        (&["check", "good.chatmd", "bad.chatmd"], 1),
        (&["check", "none.chatmd"], 4),
        (&["check", "bad.chatmd", "none.chatmd"], 4),
        (&["check"], 2),
        (&["check", "folder"], 2),
        (&["check", "good.chatmd", "folder"], 2),
        (
            &["check", "--allow", "chatmd.import_cycle", "good.chatmd"],
            2,
        ),
        (
            &["check", "--allow", "chatmd.no_such_code", "good.chatmd"],
            2,
        ),
        (
            &["check", "--deny", "chatmd.no_such_code", "good.chatmd"],
            2,
        ),
        (&["check", "--format", "dot", "good.chatmd"], 2),
        (&["check", "--forma", "json", "good.chatmd"], 2),
        (&["chec", "good.chatmd"], 2),
        (&[], 2),
        (
            &[
                "check",
                "--platform",
                "macos",
                "--platform",
                "linux",
                "good.chatmd",
            ],
            2,
        ),
        (
            &[
                "check",
                "--format",
                "json",
                "--format",
                "concise",
                "good.chatmd",
            ],
            0,
        ),
        (&["check", "--", "good.chatmd"], 0),
        (&["check", "--format=concise", "-q", "good.chatmd"], 0),
        (&["manifest", "good.chatmd"], 0),
        (&["manifest", "--digest", "bad.chatmd"], 1),
        (&["manifest", "good.chatmd", "bad.chatmd"], 2),
        (&["manifest", "none.chatmd"], 4),
        (&["manifest", "--pretty", "-o", "x.json", "good.chatmd"], 2),
        (&["manifest", "-o", "folder", "good.chatmd"], 4),
        (&["inspect", "--no-live", "good.chatmd"], 0),
        (&["inspect", "bad.chatmd"], 1),
        (&["inspect", "none.chatmd"], 4),
        (&["explain", "chatmd.import_cycle"], 0),
        (&["explain", "--list"], 0),
        (&["explain", "chatmd.import_cycl"], 1),
        (&["explain"], 2),
        (&["--help"], 0),
        (&["check", "-h"], 0),
        (&["--version"], 0),
    ];
    for (args, code) in table {
        let run = project.run(args);
        assert_eq!(run.code, *code, "{args:?}\n{}{}", run.stdout, run.stderr);
    }
}

#[test]
fn usage_errors_name_the_nearest_option() {
    let project = project();
    for (args, advice) in [
        (
            &["check", "--deny-warning", "good.chatmd"][..],
            "'--deny-warnings'",
        ),
        (&["check", "--formt", "json", "good.chatmd"], "'--format'"),
        (&["inspct", "good.chatmd"], "'inspect'"),
        (
            &["check", "--allow", "shell.unused_runtme", "good.chatmd"],
            "`shell.unused_runtime`",
        ),
        (&["explain", "import_cycle"], "`chatmd.import_cycle`"),
    ] {
        let run = project.run(args);
        assert!(run.stderr.contains(advice), "{args:?}\n{}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
    }
}

#[test]
fn every_help_page_ends_with_exit_codes_and_an_example() {
    let project = project();
    for page in [
        &["--help"][..],
        &["check", "--help"],
        &["inspect", "-h"],
        &["manifest", "-h"],
    ] {
        let run = project.run(page);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{page:?}");
        let codes = run.stdout.find("Exit codes:").expect("exit codes");
        let example = run.stdout.find("Example:\n  chatmdc ").expect("an example");
        assert!(codes < example);
        assert!(
            !run.stdout.contains("$(chatmdc"),
            "authorises whatever is there at the moment"
        );
    }
    assert!(project.run(&["--version"]).stdout.starts_with("chatmdc "));
}

#[test]
fn standard_input_is_a_document() {
    let project = project();
    let run = project.run_with_stdin(&["check", "--format", "concise", "-"], BAD.as_bytes());
    assert_eq!(run.code, 1);
    assert!(
        run.stderr
            .starts_with("<stdin>:1:1: error[chatmd.unknown_element]"),
        "{}",
        run.stderr
    );
    let args = [
        "check",
        "--format",
        "concise",
        "--stdin-name",
        "agents/new.chatmd",
        "-",
    ];
    let run = project.run_with_stdin(&args, BAD.as_bytes());
    assert!(
        run.stderr.starts_with("agents/new.chatmd:1:1: error"),
        "{}",
        run.stderr
    );
    let run = project.run_with_stdin(&["check", "-", "-"], BAD.as_bytes());
    assert_eq!(run.code, 2);
}

#[test]
fn imports_of_standard_input_start_at_its_name() {
    let project = Project::new(&[("lib/a.chatmd", GOOD)]);
    let text = b"<import src=\"a.chatmd\"/>\n";
    let named = [
        "check",
        "--format",
        "concise",
        "--stdin-name",
        "lib/new.chatmd",
        "-",
    ];
    assert_eq!(project.run_with_stdin(&named, text).code, 0);
    let placed = ["check", "--source-dir", "lib", "-"];
    assert_eq!(project.run_with_stdin(&placed, text).code, 0);
    assert_eq!(project.run_with_stdin(&["check", "-"], text).code, 1);
    // The text stands for a file: importing that file closes a cycle.
    let own = [
        "check",
        "--format",
        "concise",
        "--stdin-name",
        "lib/a.chatmd",
        "-",
    ];
    let run = project.run_with_stdin(&own, text);
    assert!(run.stderr.contains("chatmd.import_cycle"), "{}", run.stderr);
}

#[test]
fn quiet_leaves_errors() {
    let project = project();
    let run = project.run(&["check", "-q", "warned.chatmd"]);
    assert_eq!(
        (run.code, run.stdout.as_str(), run.stderr.as_str()),
        (0, "", "")
    );
    let run = project.run(&["check", "-q", "--format", "concise", "bad.chatmd"]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

#[test]
fn a_closed_pipe_is_met_quietly() {
    let project = project();
    let closed = || {
        let mut child = project
            .command(&["explain", "--list"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.stderr, "");
        run.code
    };
    // A fork of a parallel test may hold the reading end open for a moment; then nothing is closed.
    assert!((0..20).any(|_| closed() == 141));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let project = project();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = project
        .command(&["explain", "--list"])
        .stdout(full)
        .output()
        .unwrap();
    let run = finished(output);
    assert_eq!(run.code, 4);
    assert!(run.stderr.contains("cannot write"), "{}", run.stderr);
}

#[test]
fn arguments_are_escaped_in_messages() {
    let project = project();
    for args in [
        &["check", "\u{1b}[31m.chatmd"][..],
        &["check", "--\u{202e}x", "a"],
        &["a\u{9b}b"],
    ] {
        let run = project.run(args);
        let bad = |c: char| chatmd_compiler::safe_text::is_unsafe(c) && c != '\n';
        assert!(!run.stderr.contains(bad), "{:?}", run.stderr);
        assert_ne!(run.code, 0);
    }
}

#[test]
fn configured_administration_is_refused_not_ignored() {
    let project = project();
    for (variable, subject) in [
        ("CHATMD_SHELL_ADMIN_POLICY", "administrative:"),
        ("CHATMD_SHELL_TRUSTED_SOURCES", "trusted sources:"),
        ("CHATMD_SHELL_MANIFEST_SIGNATURE", "signature:"),
        ("OCHAT_SHELL_ADMIN_POLICY", "administrative:"),
        ("CHATMD_SHELL_SIGNATURE_AUDIENCE", "signature:"),
        ("OCHAT_SHELL_REPOSITORY_IDENTITY", "trusted sources:"),
    ] {
        let mut command = project.command(&["inspect", "--no-live", "good.chatmd"]);
        let run = finished(command.env(variable, "/x.json").output().unwrap());
        assert_eq!(run.code, 3, "{variable}");
        let line = run
            .stdout
            .lines()
            .find(|line| line.starts_with(subject))
            .unwrap();
        assert!(
            line.contains(variable) && line.contains("not evaluated"),
            "{line}"
        );
        assert!(run.stderr.contains(variable));
        let mut command = project.command(&["check", "--admin", "good.chatmd"]);
        assert_eq!(
            finished(command.env(variable, "/x.json").output().unwrap()).code,
            3
        );
        let mut command = project.command(&["inspect", "--no-live", "good.chatmd"]);
        let run = finished(command.env(variable, "").output().unwrap());
        assert_eq!(run.code, 0, "set but empty counts as unset");
    }
}

#[test]
fn options_that_name_nothing_are_refused() {
    let project = Project::new(&[("a.chatmd", "<user>x</user>\n")]);
    for (option, value, reason) in [
        ("--workspace", "none", "--workspace: `none` does not exist"),
        (
            "--workspace",
            "a.chatmd",
            "--workspace: `a.chatmd` is not a directory",
        ),
        ("--tool-dir", "none", "--tool-dir: `none` does not exist"),
        ("--env-file", "none", "--env-file: `none` does not exist"),
        ("--env-file", ".", "--env-file: `.` is a directory"),
    ] {
        for command in ["check", "inspect", "manifest", "graph"] {
            let run = project.run(&[command, option, value, "a.chatmd"]);
            assert_eq!(run.code, 4, "{command} {option} {value}");
            assert_eq!(run.stderr, format!("chatmdc: {reason}\n"), "{command}");
        }
    }
    let run = project.run(&["check", "--stdin-name", "b.chatmd", "a.chatmd"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no document is `-`"), "{}", run.stderr);
}

#[test]
fn a_file_that_cannot_be_written_is_named_as_given() {
    let project = Project::new(&[("a.chatmd", "<user>x</user>\n")]);
    let run = project.run(&["manifest", "-o", "none/m.json", "a.chatmd"]);
    assert_eq!(run.code, 4);
    assert!(
        run.stderr
            .starts_with("chatmdc: cannot write `none/m.json`: No such file or directory"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains(".chatmdc-"), "{}", run.stderr);
}
