//! Python programs for tests, from PyPI, in environments below the target folder that are kept.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The target folder of this build.
///
/// # Panics
/// When the test does not lie in `target/PROFILE/deps`.
pub fn target() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let target = test.ancestors().nth(3).expect("target/PROFILE/deps");
    target.to_path_buf()
}

/// The `bin` folder of an environment that holds exactly that requirement (`pre-commit==4.7.0`).
/// It is made at the first use.
///
/// # Panics
/// When it cannot be made, with what the program said.
pub fn environment(requirement: &str) -> PathBuf {
    let folder = target().join("python").join(requirement.replace("==", "-"));
    let done = folder.join("installed");
    std::fs::create_dir_all(target().join("python")).expect("a folder for environments");
    let lock = std::fs::File::create(folder.with_extension("lock")).expect("a lock file");
    // Tests run side by side, and several need the same environment.
    lock.lock().expect("the lock");
    if !done.is_file() {
        succeed(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&folder),
        );
        let pip = folder.join("bin/pip");
        succeed(Command::new(pip).args(["install", "--quiet", requirement]));
        std::fs::write(&done, "").expect("the environment can be marked");
    }
    folder.join("bin")
}

/// Runs a command and gives its standard output.
///
/// # Panics
/// When it fails, with all it printed.
pub fn succeed(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Initialises a git repository with everything in the folder committed. Its configuration is
/// independent of the machine's.
pub fn commit_all(folder: &Path, message: &str) {
    if !folder.join(".git").exists() {
        succeed(git(folder).args(["init", "--quiet", "--initial-branch=main"]));
    }
    succeed(git(folder).args(["add", "--all"]));
    succeed(git(folder).args(["commit", "--quiet", "--allow-empty", "--message", message]));
}

/// `git` in a folder, without the configuration of the machine.
pub fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder)
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ])
        .envs([
            ("GIT_AUTHOR_NAME", "test"),
            ("GIT_AUTHOR_EMAIL", "test@invalid"),
        ])
        .envs([
            ("GIT_COMMITTER_NAME", "test"),
            ("GIT_COMMITTER_EMAIL", "test@invalid"),
        ]);
    git
}
