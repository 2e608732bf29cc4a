//! What is wrong with the text of a test.

use std::ops::Range;

use crate::diagnostics::{nearest, quote};

/// A mistake in a directive or a line of a sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Bytes of the text that was read.
    pub at: Range<usize>,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// A word that most likely belongs there instead.
    pub replace: Option<String>,
}

impl Fault {
    pub(super) fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
            hint: None,
            replace: None,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Suggests the nearest of `words`, else lists them.
    pub(super) fn suggest(mut self, word: &str, words: &[&str]) -> Self {
        match nearest(word, words.iter().copied()) {
            Some(near) => {
                self.hint = Some(format!("did you mean {}?", quote(near)));
                self.replace = Some(near.to_owned());
            }
            None => self.hint = Some(format!("known are {}", list(words))),
        }
        self
    }
}

/// Words in backquotes.
pub(super) fn list(words: &[&str]) -> String {
    let shown: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    shown.join(", ")
}
