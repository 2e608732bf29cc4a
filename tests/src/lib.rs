//! Support for end-to-end tests: the built programs, and scratch projects to use them in.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod python;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository root.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the repository")
        .to_path_buf()
}

/// A program of this workspace, found beside the test executable.
///
/// # Panics
/// When it is not built, with the command that builds it: `CARGO_BIN_EXE_…` exists only for tests
/// of the package that owns the program.
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let profile = test
        .parent()
        .and_then(Path::parent)
        .expect("tests lie in target/PROFILE/deps");
    let path = profile.join(name);
    assert!(
        path.is_file(),
        "{} is missing; run `cargo build --workspace --bins` first",
        path.display()
    );
    path
}

/// A folder with a document and files in it; removed at the end.
pub struct Project {
    folder: tempfile::TempDir,
    state: tempfile::TempDir,
}

impl Project {
    /// A project with `agent.chatmd` of that text.
    pub fn new(document: &str) -> Self {
        let scratch = |prefix| {
            tempfile::Builder::new()
                .prefix(prefix)
                .tempdir()
                .expect("a scratch folder")
        };
        let project = Project {
            folder: scratch("chatmd-test-"),
            state: scratch("chatmd-state-"),
        };
        project.write("agent.chatmd", document);
        project
    }

    /// The canonical folder.
    pub fn path(&self) -> PathBuf {
        self.folder
            .path()
            .canonicalize()
            .expect("the folder exists")
    }

    /// The state folder, outside the project: a runtime that may write to its own state is refused.
    pub fn state(&self) -> PathBuf {
        self.state.path().canonicalize().expect("the folder exists")
    }

    /// Writes a file, making its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder"))
            .expect("folders can be made");
        fs::write(path, content).expect("the file can be written");
    }

    /// Runs `chatmdc` in the folder.
    pub fn chatmdc(&self, words: &[&str]) -> Outcome {
        self.run(Command::new(program("chatmdc")).args(words))
    }

    /// Runs `chatmd` in the folder.
    pub fn chatmd(&self, words: &[&str]) -> Outcome {
        self.run(Command::new(program("chatmd")).args(words))
    }

    /// A `chatmd run` command of session `s`, authorised for the document as it is.
    pub fn call_command(&self, tool: &str, input: &str) -> Command {
        let mut command = Command::new(program("chatmd"));
        command.current_dir(self.path()).stdin(Stdio::null());
        command.args(["run", "--session", "s", "--no-approval", "--state-dir"]);
        command
            .arg(self.state())
            .arg("--authorize-manifest")
            .arg(self.bound_digest())
            .args(["agent.chatmd", tool, input]);
        command
    }

    /// Calls a tool, see [`Project::call_command`].
    pub fn call(&self, tool: &str, input: &str) -> Outcome {
        let mut command = self.call_command(tool, input);
        self.run(&mut command)
    }

    /// The digest that an authorisation names.
    pub fn bound_digest(&self) -> String {
        let outcome = self.chatmdc(&["manifest", "--bound", "--digest", "agent.chatmd"]);
        outcome.expect(0);
        outcome.stdout.trim().to_owned()
    }

    /// The session's audit log.
    pub fn audit_log(&self) -> PathBuf {
        self.state().join("sessions/s/.chatmd/shell-audit.jsonl")
    }

    /// Runs a prepared command in the folder.
    pub fn run(&self, command: &mut Command) -> Outcome {
        let output = command
            .current_dir(self.path())
            .stdin(Stdio::null())
            .output()
            .expect("the program starts");
        Outcome::from(output)
    }
}

/// How a program ended and what it printed.
#[derive(Debug)]
pub struct Outcome {
    /// Exit status, `None` after a signal.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Outcome {
    /// Insists on an exit status.
    pub fn expect(&self, status: i32) -> &Self {
        assert_eq!(
            self.status,
            Some(status),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// The `code` of an invocation error.
    pub fn error_code(&self) -> String {
        let value: serde_json::Value = serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!(
                "no JSON on stdout ({error}): {}\n{}",
                self.stdout, self.stderr
            )
        });
        value["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Outcome {
            status: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The part of SARIF 2.1.0 that is written, as a JSON Schema.
///
/// # Panics
/// When the file of the repository cannot be read.
pub fn sarif_schema() -> serde_json::Value {
    let file = repository().join("tests/schemas/sarif-2.1.0.json");
    let text = fs::read_to_string(file).expect("the schema is in the repository");
    serde_json::from_str(&text).expect("the schema is JSON")
}

/// What SARIF demands beside its schema: results name rules by their place, and regions have an
/// order.
///
/// # Panics
/// When the log does not.
pub fn assert_sarif_refers_right(log: &serde_json::Value) {
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    for run in list(&log["runs"]) {
        let rules = list(&run["tool"]["driver"]["rules"]);
        for result in list(&run["results"]) {
            let rule = result["ruleIndex"].as_u64().map(|at| at as usize);
            let rule = rule.and_then(|at| rules.get(at)).expect("the rule exists");
            assert_eq!(rule["id"], result["ruleId"]);
            assert!(result["partialFingerprints"]["chatmd/v1"].is_string());
            let places = [
                list(&result["locations"]),
                list(&result["relatedLocations"]),
            ];
            for place in places.iter().flatten() {
                let region = &place["physicalLocation"]["region"];
                let at = |name: &str| region[name].as_u64();
                assert!(
                    (at("startLine"), at("startColumn")) <= (at("endLine"), at("endColumn")),
                    "{region}"
                );
            }
        }
    }
}
