//! Facts about one prepared command, and the questions that only a host can answer
//! (spec 06 sections 1.1, 2.3, 3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::paths;
use crate::value::Value;

/// Kind of request (spec 06 section 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// One simple command, or one of a chain.
    Structured,
    /// A declared script file.
    ScriptFile,
    /// Shell source handed to a configured shell.
    RawShell,
}

impl RequestKind {
    /// The word used in hashes and audit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::ScriptFile => "script_file",
            Self::RawShell => "raw_shell",
        }
    }
}

/// Where a command reads its standard input from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StdinKind {
    /// Nothing.
    #[default]
    Empty,
    /// The stage before it.
    Pipeline,
    /// Bytes of the request.
    Supplied,
}

/// Everything static analysis and policy may know about one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFacts {
    /// Program text as requested, then the arguments. Must not be empty.
    pub argv: Vec<String>,
    /// Canonical absolute directory in which the command starts.
    pub cwd: String,
    /// Kind of request.
    pub kind: RequestKind,
    /// Source text of a raw shell request.
    pub script: Option<String>,
    /// Where stdin comes from.
    pub stdin: StdinKind,
    /// Bytes of supplied stdin.
    pub stdin_bytes: u64,
    /// The resolved executable; `None` when resolution failed and evaluation continues for a
    /// trace on the requested name, untrusted and not stable.
    pub executable: Option<ExecutableFacts>,
    /// Variables of the runtime environment that effect rules read: `HOME`,
    /// `RIPGREP_CONFIG_PATH`. Others are ignored.
    pub environment: BTreeMap<String, String>,
}

impl CommandFacts {
    /// Program text as requested; empty only for an (invalid) empty argv.
    pub fn program(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }

    /// Arguments without the program.
    pub fn arguments(&self) -> &[String] {
        self.argv.get(1..).unwrap_or(&[])
    }
}

/// Facts about the resolved executable (spec 06 sections 3.2 to 3.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutableFacts {
    /// Absolute path as found, before symbolic links are resolved.
    pub located: String,
    /// Canonical path.
    pub canonical: String,
    /// Trust of section 3.2.
    pub trusted: bool,
    /// Stability of section 3.3.
    pub stable: bool,
    /// Modifiable in the sense of T5.
    pub modifiable: bool,
    /// The file begins with `#!`.
    pub interpreted: bool,
    /// Set-user-id, set-group-id or file capabilities.
    pub set_id: bool,
    /// `located` lies in a declared trusted root.
    pub in_trusted_root: bool,
    /// The program text is a declared executable id.
    pub alias: bool,
}

/// An executable found by name for an inner command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Absolute path as found.
    pub located: String,
    /// Canonical path.
    pub canonical: String,
}

/// A path that cannot be resolved (permission, loop, not a directory, …).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFault(pub String);

/// Questions about paths. A live host asks the file system, the symbolic host of
/// spec 12 section 2.5 answers from declared facts.
pub trait PolicyHost {
    /// `canonical_or_parent` of spec 06 section 2.3 for an absolute path.
    fn canonical_or_parent(&self, path: &str) -> Result<String, PathFault>;

    /// The search of spec 06 section 3.1, aliases included, for a program text that an inner
    /// command names. `None` when nothing is found. Identity is not pinned by the answer.
    fn search(&self, program: &str, cwd: &str) -> Option<Located>;

    /// Whether the file system compares names without regard to case. A containment that holds
    /// only after folding is then `Maybe`: it restricts and never grants (spec 06 section 2.3).
    fn folds_case(&self) -> bool {
        false
    }

    /// The git directories that a `.git` file of the working tree around `folder` leads to: that of
    /// a worktree, and the one that it shares. None when `.git` is a folder.
    fn linked_git_directories(&self, folder: &str) -> Vec<String> {
        let _ = folder;
        Vec::new()
    }

    /// Whether `root` contains `path` (spec 06 section 2.3); `Maybe` when it cannot be decided.
    /// Only `Yes` grants anything.
    fn contains(&self, root: &str, path: &str) -> Value {
        match (
            self.canonical_or_parent(root),
            self.canonical_or_parent(path),
        ) {
            (Ok(root), Ok(path)) => canonical_contains(&root, &path, self.folds_case()),
            _ => Value::Maybe,
        }
    }
}

/// Containment of canonical paths; `Maybe` when it holds only after case folding.
pub fn canonical_contains(root: &str, path: &str, folds_case: bool) -> Value {
    if paths::is_within(root, path) {
        Value::Yes
    } else {
        Value::suspected(folds_case && paths::is_within(&root.to_lowercase(), &path.to_lowercase()))
    }
}
