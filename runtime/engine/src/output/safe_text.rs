//! Text that passed the finaliser.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// Valid UTF-8 that holds no registered secret and no terminal control. Only the finaliser makes
/// one, so a function that asks for `SafeText` cannot be handed raw output.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SafeText(String);

impl SafeText {
    pub(super) const fn from_finaliser(text: String) -> Self {
        Self(text)
    }

    /// The text cut to at most `limit` bytes, never inside a character or one of `tokens`, with a
    /// fixed safe `suffix`.
    pub(super) fn cut(text: Self, tokens: &[Range<usize>], limit: usize, suffix: &str) -> Self {
        let mut text = text.0;
        if text.len() > limit {
            let inside = tokens
                .iter()
                .find(|token| token.start < limit && limit < token.end);
            let end = inside.map_or_else(|| floor_boundary(&text, limit), |token| token.start);
            text.truncate(end);
        }
        text.push_str(suffix);
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as an owned string.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for SafeText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The largest character boundary of `text` not behind `at`.
pub(super) fn floor_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at)
        .rev()
        .find(|index| text.is_char_boundary(*index))
        .unwrap_or(0)
}
