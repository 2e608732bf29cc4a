//! How `chatmdc diff` uses git: few processes, and none that the repository or the surroundings ask for.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::git::{git, last, repository, run};
use support::{Project, finished};

const OLD: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly\"/>\n\
    <tool name=\"t\" type=\"shell\" mode=\"structured\" runtime=\"r\"/>\n";

fn script(path: &Path, body: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn real_git() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let all = std::env::split_paths(&path).map(|directory| directory.join("git"));
    let mut programs = all.filter(|program| program.is_file());
    programs.next().unwrap()
}

/// However many files are compared: one process reads the stored files, and a handful answer for
/// the repository.
#[test]
fn five_hundred_changed_files_are_read_by_one_process() {
    let text = |number: usize, end: &str| format!("{OLD}<user>{number}{end}</user>\n");
    let names: Vec<String> = (0..500)
        .map(|number| format!("d{}/{number}.chatmd", number % 7))
        .collect();
    let project = Project::new(&[]);
    for (number, name) in names.iter().enumerate() {
        project.write(name, text(number, "").as_bytes());
    }
    git(&project, &["init", "-q"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-qm", "first"]);
    for (number, name) in names.iter().enumerate() {
        project.write(name, text(number, " changed").as_bytes());
    }
    let counted = Project::new(&[]);
    let list = counted.path().join("list");
    let real = real_git();
    let body = format!(
        "echo \"$*\" >> {}\nexec {} \"$@\"",
        list.display(),
        real.display()
    );
    script(&counted.path().join("git"), &body);
    let path = format!(
        "{}:{}",
        counted.path().display(),
        std::env::var("PATH").unwrap()
    );
    let mut with_names = vec!["diff", "--against", "git:HEAD"];
    with_names.extend(names.iter().map(String::as_str));
    for args in [&with_names, &with_names[..3]] {
        let mut command = project.command(args);
        let run = finished(command.env("PATH", &path).output().unwrap());
        assert_eq!(
            (run.code, last(&run)),
            (0, "authority: neutral"),
            "{}",
            run.stderr
        );
        assert_eq!(
            run.stdout.matches("\n== ").count(),
            500,
            "one part for each, one for all"
        );
        let started = std::fs::read_to_string(&list).unwrap();
        let started: Vec<&str> = started.lines().collect();
        let readers = started.iter().filter(|line| line.contains("cat-file"));
        assert_eq!(readers.count(), 1, "{started:#?}");
        assert!(started.len() <= 5, "{started:#?}");
        std::fs::remove_file(&list).unwrap();
    }
}

/// Nothing that a repository configures is started.
#[cfg(unix)]
#[test]
fn a_repository_cannot_run_anything() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = repository(&[
        ("a.chatmd", OLD),
        (".gitattributes", "*.chatmd filter=x diff=x\n"),
    ]);
    let trap = project.path().join("trap");
    std::fs::write(&trap, "#!/bin/sh\necho \"$0 $*\" >> sprung\ncat\n").unwrap();
    std::fs::set_permissions(&trap, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir_all(project.path().join(".git/hooks")).unwrap();
    for hook in [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "pre-auto-gc",
    ] {
        std::fs::copy(&trap, project.path().join(".git/hooks").join(hook)).unwrap();
    }
    let trap = trap.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.alternateRefsCommand",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.smudge",
        "filter.x.clean",
        "filter.x.process",
        "alias.rev-parse",
        "alias.cat-file",
        "credential.helper",
    ] {
        git(&project, &["config", key, trap]);
    }
    git(&project, &["config", "core.hooksPath", ".git/hooks"]);
    project.write("git", b"#!/bin/sh\necho relative >> sprung\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path().join("git"), executable).unwrap();
    let mut command = project.command(&["diff", "--against", "git:HEAD", "a.chatmd"]);
    let path = format!(".::{}", std::env::var("PATH").unwrap());
    let run = finished(command.env("PATH", path).output().unwrap());
    assert_eq!(
        (run.code, last(&run)),
        (0, "authority: equal"),
        "{}",
        run.stderr
    );
    assert!(!project.path().join("sprung").exists());
}

/// A file that a partial clone has not got is missing; it is not fetched, whatever program the
/// repository names for that.
#[test]
fn nothing_is_fetched() {
    let project = repository(&[("a.chatmd", OLD)]);
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ext::sh -c touch% sprung"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("protocol.ext.allow", "always"),
        ("protocol.allow", "always"),
    ] {
        git(&project, &["config", key, value]);
    }
    let output = Command::new("git")
        .args(["rev-parse", "HEAD:a.chatmd"])
        .current_dir(project.path())
        .output()
        .unwrap();
    let object = String::from_utf8(output.stdout).unwrap();
    let (folder, file) = object.trim().split_at(2);
    std::fs::remove_file(project.path().join(".git/objects").join(folder).join(file)).unwrap();
    let compared = run(&project, &["diff", "--against", "git:HEAD", "a.chatmd"]);
    assert_eq!(compared.code, 4, "{}", compared.stdout);
    assert!(!project.path().join("sprung").exists());
    // The control: git alone does fetch it.
    let _ = Command::new("git")
        .args(["cat-file", "-p", object.trim()])
        .current_dir(project.path())
        .output();
    assert!(project.path().join("sprung").exists());
}

/// Variables of git that start programs, write files or change settings have no say; those that name
/// the repository do, because hooks depend on them.
#[test]
fn the_surroundings_cannot_run_anything_either() {
    let project = repository(&[("a.chatmd", OLD)]);
    let trap = project.path().join("trap");
    let sprung = project.path().join("sprung");
    script(
        &trap,
        &format!("echo \"$0 $*\" >> {}\nexit 1", sprung.display()),
    );
    let helpers = project.path().join("helpers");
    std::fs::create_dir(&helpers).unwrap();
    let trace = project.path().join("trace");
    let trap = trap.to_str().unwrap();
    let variables = [
        ("GIT_TRACE", trace.to_str().unwrap()),
        ("GIT_TRACE2_EVENT", trace.to_str().unwrap()),
        ("GIT_TRACE_SETUP", trace.to_str().unwrap()),
        ("GIT_EXEC_PATH", helpers.to_str().unwrap()),
        ("GIT_EXTERNAL_DIFF", trap),
        ("GIT_PAGER", trap),
        ("GIT_SSH_COMMAND", trap),
        ("GIT_ASKPASS", trap),
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_0", trap),
        ("GIT_CONFIG_KEY_1", "core.worktree"),
        ("GIT_CONFIG_VALUE_1", "/"),
        ("GIT_ALLOW_PROTOCOL", "ext"),
    ];
    let mut command = project.command(&["diff", "--against", "git:HEAD"]);
    command
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs(variables);
    let run = finished(command.output().unwrap());
    assert_eq!(
        (run.code, last(&run)),
        (0, "authority: equal"),
        "{}",
        run.stderr
    );
    assert!(!sprung.exists() && !trace.exists());
    // The control: git alone obeys them.
    let _ = Command::new("git")
        .args(["ls-files"])
        .current_dir(project.path())
        .envs(variables)
        .output();
    assert!(sprung.exists() || trace.exists());
    // A hook of a work tree that lies apart from its repository.
    let apart = Project::new(&[("a.chatmd", OLD)]);
    std::fs::rename(project.path().join(".git"), apart.path().join("stored")).unwrap();
    let mut command = apart.command(&["diff", "--against", "git:HEAD", "a.chatmd"]);
    command
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_DIR", apart.path().join("stored"))
        .env("GIT_WORK_TREE", apart.path());
    let run = finished(command.output().unwrap());
    assert_eq!(
        (run.code, last(&run)),
        (0, "authority: equal"),
        "{}",
        run.stderr
    );
}
