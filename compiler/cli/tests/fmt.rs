//! `chatmdc fmt` as a process.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::Project;

const BEFORE: &str = "<user>\n  keep   me\n</user>\n\
                      <shell_access  id='r'   extends=\"builtin:workspace-readonly@1\" ></shell_access>\n\
                      <tool name=\"t\" runtime=\"r\"   command=\"git status\"/>\n";
const AFTER: &str = "<user>\n  keep   me\n</user>\n\
                     <shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\"/>\n\
                     <tool name=\"t\" runtime=\"r\" command=\"git status\"/>\n";

fn read(project: &Project, name: &str) -> String {
    std::fs::read_to_string(project.path().join(name)).unwrap()
}

#[test]
fn writes_only_what_changes() {
    let project = Project::new(&[("a.chatmd", BEFORE), ("b.chatmd", AFTER)]);
    let run = project.run(&["fmt", "--check", "a.chatmd", "b.chatmd"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, "a.chatmd\n"));
    let run = project.run(&["fmt", "--diff", "a.chatmd"]);
    assert_eq!(run.code, 0);
    assert!(
        run.stdout.contains("\n-<shell_access  id='r'"),
        "{}",
        run.stdout
    );
    assert_eq!(read(&project, "a.chatmd"), BEFORE);
    let run = project.run(&["fmt", "a.chatmd", "b.chatmd"]);
    assert_eq!((run.code, run.stdout + &run.stderr), (0, String::new()));
    assert_eq!(read(&project, "a.chatmd"), AFTER);
    assert_eq!(
        project
            .run(&["fmt", "--check", "a.chatmd", "b.chatmd"])
            .code,
        0
    );
}

#[test]
fn standard_input_goes_to_standard_output() {
    let project = Project::new(&[]);
    let run = project.run_with_stdin(&["fmt", "--stdin"], BEFORE.as_bytes());
    assert_eq!((run.code, run.stdout.as_str()), (0, AFTER));
}

#[test]
fn a_dash_is_standard_input() {
    let project = Project::new(&[("a.chatmd", BEFORE)]);
    let run = |args: &[&str], input: &str| {
        let run = project.run_with_stdin(args, input.as_bytes());
        (run.code, run.stdout, run.stderr)
    };
    let nothing = String::new();
    assert_eq!(
        run(&["fmt", "-"], BEFORE),
        (0, AFTER.to_owned(), nothing.clone())
    );
    assert_eq!(
        run(&["fmt", "--check", "-"], BEFORE),
        (1, "<stdin>\n".to_owned(), nothing.clone())
    );
    assert_eq!(
        run(&["fmt", "--check", "-"], AFTER),
        (0, nothing.clone(), nothing.clone())
    );
    let (code, stdout, _) = run(&["fmt", "--diff", "-"], BEFORE);
    assert_eq!(code, 0);
    assert!(
        stdout.starts_with("--- <stdin>\n+++ <stdin>\n@@"),
        "{stdout}"
    );
    let (code, stdout, stderr) = run(&["fmt", "-", "a.chatmd"], BEFORE);
    assert_eq!((code, stdout), (2, nothing));
    assert!(stderr.contains("no other document"), "{stderr}");
    assert_eq!(read(&project, "a.chatmd"), BEFORE);
}

#[test]
fn documents_with_syntax_errors_stay_as_they_are() {
    let broken = "<shell_access  id=\"r\">\n<user>x</user>\n";
    let project = Project::new(&[("a.chatmd", broken)]);
    let run = project.run(&["fmt", "a.chatmd"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("chatmd.format_syntax_error"),
        "{}",
        run.stderr
    );
    assert_eq!(read(&project, "a.chatmd"), broken);
    assert_eq!(project.run(&["fmt", "none.chatmd"]).code, 4);
    assert_eq!(project.run(&["fmt"]).code, 2);
}

#[cfg(unix)]
#[test]
fn links_and_modes_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new(&[("real.chatmd", BEFORE)]);
    let real = project.path().join("real.chatmd");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.chatmd", project.path().join("link.chatmd")).unwrap();
    assert_eq!(project.run(&["fmt", "link.chatmd"]).code, 0);
    assert_eq!(read(&project, "real.chatmd"), AFTER);
    let link = project.path().join("link.chatmd");
    assert!(std::fs::symlink_metadata(link).unwrap().is_symlink());
    assert_eq!(
        std::fs::metadata(real).unwrap().permissions().mode() & 0o777,
        0o640
    );
}

#[test]
fn completions_name_the_commands() {
    let project = Project::new(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = project.run(&["completions", shell]);
        assert_eq!(run.code, 0);
        assert!(run.stdout.contains("deny-warnings"), "{shell}");
    }
    assert_eq!(project.run(&["completions", "csh"]).code, 2);
}
