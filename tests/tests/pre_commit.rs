//! `.pre-commit-hooks.yaml` under the real pre-commit, as programs of the system and built by it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chatmd_tests::python::{commit_all, environment, git, succeed, target};
use chatmd_tests::{Outcome, program, repository};

const PRE_COMMIT: &str = "pre-commit==4.7.0";

const GOOD: &str = r#"<shell_access id="r" extends="builtin:workspace-readonly@1"/>
<tool name="list" runtime="r" command="ls"/>
"#;

/// A project that uses hooks, with the folders that pre-commit keeps its own things in.
struct User {
    scratch: tempfile::TempDir,
    /// `bin` of the environment with pre-commit.
    bin: PathBuf,
}

impl User {
    /// A repository with one good document, whose hooks come from the repository `hooks`.
    fn new(hooks: &Path, language: &str, ids: &[&str]) -> Self {
        let bin = environment(PRE_COMMIT);
        let scratch = tempfile::tempdir().unwrap();
        let user = Self { scratch, bin };
        fs::create_dir(user.project()).unwrap();
        let rev = succeed(git(hooks).args(["rev-parse", "HEAD"]));
        let mut config = format!(
            "repos:\n- repo: {}\n  rev: {rev}  hooks:\n",
            hooks.display()
        );
        for id in ids {
            config += &format!("  - id: {id}\n    language: {language}\n");
        }
        user.write(".pre-commit-config.yaml", &config);
        user.write("agent.chatmd", GOOD);
        commit_all(&user.project(), "start");
        user
    }

    fn project(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.project().join(name), text).unwrap();
    }

    /// Stages everything and runs the hooks on what is staged, as `git commit` does.
    fn run(&self, path: OsString, more: &[(&str, OsString)]) -> Outcome {
        succeed(git(&self.project()).args(["add", "--all"]));
        let mut command = Command::new(self.bin.join("pre-commit"));
        command
            .args(["run", "--color=never", "--all-files", "--verbose"])
            .current_dir(self.project())
            .env("PRE_COMMIT_HOME", self.scratch.path().join("home"))
            .env("PATH", path)
            .envs(more.iter().map(|(name, value)| (*name, value)));
        Outcome::from(command.output().unwrap())
    }

    /// Commits everything with the hooks installed, as a person does; without hooks that are in
    /// `skip`.
    fn commit(&self, skip: &str) -> Outcome {
        let pre_commit = self.bin.join("pre-commit");
        let home = self.scratch.path().join("home");
        succeed(
            Command::new(pre_commit)
                .arg("install")
                .current_dir(self.project())
                .env("PRE_COMMIT_HOME", &home),
        );
        succeed(git(&self.project()).args(["add", "--all"]));
        let ours = program("chatmdc").parent().unwrap().to_path_buf();
        let mut commit = git(&self.project());
        commit
            .args(["commit", "--message", "change"])
            .env("PRE_COMMIT_HOME", home)
            .env("PRE_COMMIT_COLOR", "never")
            .env("SKIP", skip)
            .env("PATH", in_front(&ours));
        Outcome::from(commit.output().unwrap())
    }

    /// How many commits there are.
    fn commits(&self) -> usize {
        let log = succeed(git(&self.project()).args(["rev-list", "HEAD"]));
        log.lines().count()
    }

    /// With the built programs in front of the path.
    fn run_with_ours(&self) -> Outcome {
        let ours = program("chatmdc").parent().unwrap().to_path_buf();
        self.run(in_front(&ours), &[])
    }
}

/// `PATH` with a folder before it.
fn in_front(folder: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    std::env::join_paths(all).unwrap()
}

/// A git repository with our hook definitions alone, enough for `language: system`.
fn definitions() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let name = ".pre-commit-hooks.yaml";
    fs::copy(repository().join(name), folder.path().join(name)).unwrap();
    commit_all(folder.path(), "hooks");
    folder
}

#[test]
fn check_and_fmt_pass_good_documents_and_stop_bad_ones() {
    let hooks = definitions();
    let user = User::new(hooks.path(), "system", &["chatmdc-check", "chatmdc-fmt"]);
    let passed = user.run_with_ours();
    passed.expect(0);
    assert_eq!(
        passed.stdout.matches("Passed").count(),
        2,
        "{}",
        passed.stdout
    );

    user.write("agent.chatmd", &GOOD.replace("command=", "comand="));
    let failed = user.run_with_ours();
    failed.expect(1);
    assert!(failed.stdout.contains("did you mean"), "{}", failed.stdout);
    assert!(
        failed.stdout.contains("agent.chatmd:2:"),
        "{}",
        failed.stdout
    );

    // A warning: nothing uses the runtime.
    user.write("agent.chatmd", GOOD.lines().next().unwrap());
    let warned = user.run_with_ours();
    warned.expect(1);
    assert!(
        warned.stdout.contains("shell.unused_runtime"),
        "{}",
        warned.stdout
    );

    let untidy = GOOD.replace("<tool name=\"list\"", "<tool   name = 'list'");
    user.write("agent.chatmd", &untidy);
    let failed = user.run_with_ours();
    failed.expect(1);
    assert_eq!(
        failed.stdout.matches("Passed").count(),
        1,
        "{}",
        failed.stdout
    );
    assert!(
        failed.stdout.lines().any(|line| line == "agent.chatmd"),
        "{}",
        failed.stdout
    );
    let text = fs::read_to_string(user.project().join("agent.chatmd")).unwrap();
    assert_eq!(text, untidy, "--check changes nothing");

    // Other files are none of our business.
    user.write("agent.chatmd", GOOD);
    user.write("notes.md", "<User>");
    user.run_with_ours().expect(0);
}

const GATE: &str = "chatmdc-authority";

#[test]
fn a_commit_that_widens_authority_is_stopped() {
    let hooks = definitions();
    let user = User::new(hooks.path(), "system", &[GATE]);
    let wider = GOOD.replace(
        "readonly@1\"/>",
        "readonly@1\"><capabilities network=\"true\"/></shell_access>",
    );
    user.write("agent.chatmd", &wider);
    let stopped = user.commit("");
    stopped.expect(1);
    assert_eq!(user.commits(), 1);
    // The hook's output goes to standard error of git.
    let expected = "== agent.chatmd\nruntime r\n  ~ widening  capabilities.network: \
                    false -> true\n";
    assert!(stopped.stderr.contains(expected), "{}", stopped.stderr);
    assert!(
        stopped.stderr.contains("\nauthority: widening\n"),
        "{}",
        stopped.stderr
    );
    // Whoever means it, says so.
    user.commit(GATE).expect(0);
    assert_eq!(user.commits(), 2);

    // Less, or as much as before.
    for document in [
        GOOD.to_owned(),
        format!("<!-- notes -->\n{GOOD}"),
        "<user>x</user>\n".to_owned(),
    ] {
        user.write("agent.chatmd", &document);
        user.write("notes.md", &document);
        let passed = user.commit("");
        passed.expect(0);
        assert!(passed.stderr.contains("Passed"), "{}", passed.stderr);
    }
    assert_eq!(user.commits(), 5);
    fs::remove_file(user.project().join("agent.chatmd")).unwrap();
    user.commit("").expect(0);

    // What is not staged is not committed, and not looked at.
    user.write("new.chatmd", GOOD);
    let new = user.commit("");
    new.expect(1);
    assert!(new.stderr.contains("== new.chatmd (new)"), "{}", new.stderr);
    // Broken documents have no authority that could be compared.
    user.write("new.chatmd", &GOOD.replace("command=", "comand="));
    let broken = user.commit("");
    broken.expect(1);
    assert!(
        broken.stderr.contains("did you mean") && broken.stderr.contains("authority: unknown"),
        "{}",
        broken.stderr
    );
}

/// The document itself stays as it is; what it imports does not, and has another ending.
#[test]
fn a_wider_import_is_stopped_too() {
    let hooks = definitions();
    let user = User::new(hooks.path(), "system", &[GATE]);
    user.write(
        "agent.chatmd",
        "<import src=\"access.md\"/>\n<tool name=\"list\" runtime=\"r\" command=\"ls\"/>\n",
    );
    let access = GOOD.lines().next().unwrap();
    user.write("access.md", access);
    user.commit("").expect(0);
    let wider = access.replace(
        "readonly@1\"/>",
        "readonly@1\"><policy default=\"allow\"/></shell_access>",
    );
    user.write("access.md", &wider);
    let stopped = user.commit("");
    stopped.expect(1);
    assert!(
        stopped.stderr.contains("~ widening  policy.default: "),
        "{}",
        stopped.stderr
    );
    user.write("access.md", access);
    user.write("notes.md", "one more file");
    user.commit("").expect(0);
}

/// pre-commit builds `chatmdc` from a clone of this repository with `cargo install`. The build is
/// not optimised here, and its products are kept, so that the test takes a minute at most.
#[test]
fn pre_commit_builds_the_hooks_from_this_repository() {
    let source = tempfile::tempdir().unwrap();
    let listed = succeed(git(&repository()).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]));
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (repository().join(name), source.path().join(name));
        if from.is_file() {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from, to).unwrap();
        }
    }
    commit_all(source.path(), "as it is");
    let user = User::new(source.path(), "rust", &["chatmdc-check"]);
    let build: &[(&str, OsString)] = &[
        ("CARGO_TARGET_DIR", target().join("pre-commit-build").into()),
        ("CARGO_PROFILE_RELEASE_LTO", "off".into()),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0".into()),
        ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16".into()),
    ];
    let path = std::env::var_os("PATH").unwrap();
    user.run(path.clone(), build).expect(0);
    user.write("agent.chatmd", &GOOD.replace("command=", "comand="));
    let failed = user.run(path, build);
    failed.expect(1);
    assert!(failed.stdout.contains("did you mean"), "{}", failed.stdout);
    let home = user.scratch.path().join("home");
    let built = succeed(
        Command::new("find")
            .arg(home)
            .args(["-name", "chatmdc", "-path", "*/bin/*"]),
    );
    assert_eq!(
        built.lines().count(),
        1,
        "the hook ran the program that pre-commit built"
    );
}
