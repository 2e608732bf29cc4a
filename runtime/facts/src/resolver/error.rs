//! Why a program can not be resolved, or is not what it was.

use std::io;

/// Longest program text repeated in a message, in characters.
const SHOWN_CHARS: usize = 120;

/// Words that a shell would run itself; the message says that there is no shell.
const BUILTINS: &[&str] = &[
    "cd", "export", "source", ".", "eval", "exec", "alias", "set", "unset", "umask", "ulimit",
    "trap", "read", "wait", "exit", "type", "command",
];

/// Reason of a `resolution_error` (spec 06 sections 3.1 to 3.4). `Display` is the reason text.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// No candidate exists.
    #[error("executable \"{}\" was not found{}", shown(.0), builtin_hint(.0))]
    NotFound(String),
    /// A candidate exists and none can be executed.
    #[error("executable \"{}\" is not executable{}", shown(.0), builtin_hint(.0))]
    NotExecutable(String),
    /// Text that can not name a program.
    #[error("\"{}\" can not name a program{}", shown(.0), builtin_hint(.0))]
    BadProgram(String),
    /// Program text beyond the bound.
    #[error("the program name is longer than 4096 bytes")]
    ProgramTooLong,
    /// A declared digest differs.
    #[error("executable digest mismatch: {0}")]
    DigestMismatch(String),
    /// The file can not be opened or read.
    #[error("{path} can not be read: {source}")]
    Unreadable {
        /// Canonical path.
        path: String,
        /// The host's answer.
        source: io::Error,
    },
    /// Not a regular file with an execute bit once it was open.
    #[error("{0} is not a regular executable file")]
    NotRegular(String),
    /// Beyond the hash bound.
    #[error("{0} is larger than 512 MiB")]
    TooLarge(String),
    /// Its identity changed between two looks.
    #[error("{0} changed while it was being fingerprinted")]
    Changing(String),
    /// Neither `#!` nor a program for this machine.
    #[error("{0} is not a supported executable format")]
    Format(String),
    /// The `#!` line or what it names can not be used.
    #[error("the interpreter of {path} can not be used: {reason}")]
    Interpreter {
        /// Canonical path of the file with the `#!` line.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// Paths that policy, audit and grants could not write down exactly.
    #[error("the path of the executable is not valid UTF-8")]
    NotUtf8,
}

/// Reason of `executable_changed` (spec 06 section 3.5).
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The name leads to another file now.
    #[error("{0} leads to another file now")]
    Moved(String),
    /// The file is not the one that was approved.
    #[error("{0} is not the file that was approved")]
    Different(String),
    /// It can not be examined any more.
    #[error("{0}")]
    Unavailable(#[from] ResolveError),
}

fn shown(program: &str) -> String {
    let mut text: String = program.chars().take(SHOWN_CHARS).collect();
    if text.len() < program.len() {
        text.push('…');
    }
    text
}

fn builtin_hint(program: &str) -> &'static str {
    if BUILTINS.contains(&program) {
        " (shell built-ins are not available)"
    } else {
        ""
    }
}
