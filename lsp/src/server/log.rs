//! Log lines on standard error or in a file. Never the text of documents, never standard output.

use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use chatmd_compiler::SafeText;

/// Longest line, in characters.
const MAX_CHARACTERS: usize = 400;

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What ends or damages the session.
    Error,
    /// What the client did wrong.
    #[default]
    Warn,
    /// Life cycle.
    Info,
    /// Every decision.
    Debug,
}

/// A handle on the log.
#[derive(Clone)]
pub struct Log {
    level: Level,
    file: Option<Arc<Mutex<File>>>,
}

impl Log {
    /// A log up to a level, to a file or to standard error.
    pub fn new(level: Level, file: Option<File>) -> Self {
        Self {
            level,
            file: file.map(|file| Arc::new(Mutex::new(file))),
        }
    }

    /// Writes a line. Failure to log is no failure of the server.
    pub fn write(&self, level: Level, message: &str) {
        if level > self.level {
            return;
        }
        let message: String = message.chars().take(MAX_CHARACTERS).collect();
        let word = match level {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        };
        let line = format!("chatmdc lsp: {word}: {}\n", SafeText::line(&message));
        let _ = match &self.file {
            Some(file) => file
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .write_all(line.as_bytes()),
            None => std::io::stderr().write_all(line.as_bytes()),
        };
    }

    /// What the client did wrong.
    pub fn warn(&self, message: &str) {
        self.write(Level::Warn, message);
    }

    /// What ends or damages the session.
    pub fn error(&self, message: &str) {
        self.write(Level::Error, message);
    }

    /// Life cycle.
    pub fn info(&self, message: &str) {
        self.write(Level::Info, message);
    }
}
