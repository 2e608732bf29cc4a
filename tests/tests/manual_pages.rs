//! The manual pages of `cargo xtask man`, and completion scripts.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../examples/man/pages.rs"]
mod pages;

use std::process::Command;

use chatmd_tests::{Outcome, Project, program};

/// What mandoc prints for a page.
fn mandoc(project: &Project, words: &[&str], file: &str) -> Outcome {
    let mut command = Command::new("mandoc");
    command.args(words).arg(file);
    project.run(&mut command)
}

/// What mandoc finds wrong with a page.
fn complaints(project: &Project, file: &str) -> String {
    let found = mandoc(project, &["-T", "lint", "-W", "warning"], file);
    // A date would make pages differ from build to build.
    let lines = found.stdout.lines().chain(found.stderr.lines());
    lines
        .filter(|line| !line.ends_with("WARNING: missing date, using \"\": TH"))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn every_command_has_a_page_that_renders_without_a_warning() {
    let project = Project::new("");
    let pages = pages::all().unwrap();
    for page in &pages {
        project.write(&page.file(), &page.roff);
        assert_eq!(complaints(&project, &page.file()), "", "{}", page.name);

        // `col -b` is not everywhere: bold is written as letter, backspace, letter.
        let shown = mandoc(&project, &["-T", "utf8", "-O", "width=200"], &page.file());
        shown.expect(0);
        let mut plain = String::new();
        for letter in shown.stdout.chars() {
            if letter == '\u{8}' {
                plain.pop();
            } else {
                plain.push(letter);
            }
        }
        for option in page
            .command
            .get_arguments()
            .filter(|option| !option.is_hide_set())
        {
            if let Some(long) = option.get_long() {
                assert!(
                    plain.contains(&format!("--{long}")),
                    "{}: --{long}",
                    page.name
                );
            }
        }
        for inner in page.command.get_subcommands() {
            let name = format!("{}-{}", page.name, inner.get_name());
            assert!(
                plain.contains(&format!("{name}(1)")),
                "{}: {name}",
                page.name
            );
            assert!(
                pages.iter().any(|page| page.name == name),
                "{name} has no page"
            );
        }
        if page.name != "chatmd-audit" {
            for part in ["EXIT STATUS", "EXAMPLES", "0  ", "2  usage error"] {
                assert!(plain.contains(part), "{}: {part}\n{plain}", page.name);
            }
        }
    }
    for name in [
        "chatmdc",
        "chatmdc-check",
        "chatmd",
        "chatmd-audit-validate",
    ] {
        assert!(pages.iter().any(|page| page.name == name), "{name}");
    }
}

#[test]
fn bash_completes_commands_and_options_of_both_programs() {
    let project = Project::new("");
    let cases = [
        ("chatmdc", "ins", "inspect"),
        ("chatmdc", "check --deny-w", "--deny-warnings"),
        ("chatmd", "comp", "completions"),
        ("chatmd", "audit vali", "validate"),
        ("chatmd", "run --authorize", "--authorize-manifest"),
    ];
    for (name, typed, wanted) in cases {
        let script = r#"
            source <("$1" completions bash)
            set -f
            COMP_WORDS=("$2" $3)
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            word=${COMP_WORDS[COMP_CWORD]}
            before=${COMP_WORDS[COMP_CWORD - 1]}
            "_$2" "$2" "$word" "$before"
            printf '%s\n' "${COMPREPLY[@]}"
        "#;
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", script, "bash"])
            .arg(program(name))
            .args([name, typed]);
        let outcome = project.run(&mut bash);
        outcome.expect(0);
        assert_eq!(outcome.stdout, format!("{wanted}\n"), "{name} {typed}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = project.chatmd(&["completions", shell]);
        assert!(
            script.expect(0).stdout.contains("authorize-manifest"),
            "{shell}"
        );
    }
    project.chatmd(&["completions", "csh"]).expect(2);
}
