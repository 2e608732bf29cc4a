//! Exit codes (spec 10 section 1.1) and failures that end the program.

use chatmd_compiler::SafeText;

/// Success.
pub const OK: u8 = 0;
/// The request was understood and failed.
pub const FAILED: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// Refused by security.
pub const REFUSED: u8 = 3;
/// Input or output failed outside the document.
pub const IO: u8 = 4;
/// A bug of this program.
pub const INTERNAL: u8 = 70;
/// The reader of the output went away.
pub const BROKEN_PIPE: u8 = 141;

/// Why the program ends without a result.
#[derive(Debug)]
pub struct Stop {
    code: u8,
    message: String,
}

impl Stop {
    /// An end with that exit code; the message may hold anything.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// A usage error.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(USAGE, message)
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// The diagnostic code, where the message begins with one, and the rest of the message, which
    /// may hold anything.
    pub fn parts(&self) -> (Option<&str>, &str) {
        let named = self.message.strip_prefix("error[");
        if let Some((name, text)) = named.and_then(|rest| rest.split_once("]: ")) {
            return (Some(name), text);
        }
        let text = self.message.strip_prefix("chatmd: ");
        (None, text.unwrap_or(&self.message))
    }

    /// Shows the message on standard error, escaped, and gives the exit code.
    pub fn report(&self) -> u8 {
        if !self.message.is_empty() {
            crate::show::message(SafeText::lines(&self.message).as_str());
        }
        self.code
    }
}
