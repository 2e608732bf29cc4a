//! Text that a terminal can not misread.
//!
//! Documents, file names and messages that quote them may hold escape sequences, controls that
//! reverse the reading direction and characters that nobody sees. Every renderer passes such text
//! through here first. Nothing is dropped: the reader must see that something was there.

use std::borrow::Cow;
use std::fmt;

/// Text without control, direction and invisible characters: they are written `\u{…}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SafeText(String);

impl SafeText {
    /// Text for one line: line ends and tabs are escaped too.
    pub fn line(text: &str) -> Self {
        Self(escape(text, |_| false).into_owned())
    }

    /// Text that may have several lines: LF stays, CRLF and lone CR become LF, a tab a space.
    pub fn lines(text: &str) -> Self {
        let text = if text.contains('\r') {
            Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
        } else {
            Cow::Borrowed(text)
        };
        Self(escape(&text.replace('\t', " "), |c| c == '\n').into_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Whether a character can mislead a terminal or a reader.
pub fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Escapes every unsafe character that `keep` does not let through.
pub fn escape(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let needed = |c: char| is_unsafe(c) && !keep(c);
    let Some(first) = text.find(needed) else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at(first);
    let mut safe = String::with_capacity(text.len() + 16);
    safe.push_str(clean);
    for c in rest.chars() {
        if needed(c) {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shows_what_was_there() {
        for (given, line, lines) in [
            ("plain ünï 日本", "plain ünï 日本", "plain ünï 日本"),
            ("\u{1b}[31mred", "\\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\u{202e}b", "a\\u{202e}b", "a\\u{202e}b"),
            ("a\r\nb\rc\td", "a\\u{d}\\u{a}b\\u{d}c\\u{9}d", "a\nb\nc d"),
            ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}", "\\u{9b}2J\\u{7f}"),
            (
                "a\u{200b}b\u{feff}",
                "a\\u{200b}b\\u{feff}",
                "a\\u{200b}b\\u{feff}",
            ),
        ] {
            assert_eq!(SafeText::line(given).as_str(), line);
            assert_eq!(SafeText::lines(given).as_str(), lines);
        }
    }

    proptest! {
        #[test]
        fn nothing_unsafe_passes(text in any::<String>()) {
            prop_assert!(!SafeText::line(&text).as_str().contains(is_unsafe));
            let lines = SafeText::lines(&text);
            prop_assert!(!lines.as_str().contains(|c| is_unsafe(c) && c != '\n'));
        }
    }
}
