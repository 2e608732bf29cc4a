//! The text of an open document and the edits of the client (spec 11 section 1.3).

use memchr::memchr2;

/// How the client counts characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

impl Encoding {
    fn width(self, c: char) -> u32 {
        match self {
            Self::Utf8 => c.len_utf8() as u32,
            Self::Utf16 => c.len_utf16() as u32,
            Self::Utf32 => 1,
        }
    }
}

/// A place as the client counts: 0-based line and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientPosition {
    /// Line.
    pub line: u32,
    /// Column in units of the encoding.
    pub character: u32,
}

/// One edit; without a range it replaces the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What is replaced.
    pub range: Option<(ClientPosition, ClientPosition)>,
    /// The new text.
    pub text: String,
}

/// Applies edits in order, each to the result of the one before it.
pub fn apply(text: &mut String, changes: Vec<Change>, encoding: Encoding) {
    for change in changes {
        match change.range {
            None => {
                *text = change.text;
                strip_bom(text);
            }
            Some((start, end)) => {
                let start = offset(text, start, encoding);
                // Ends that lie before their start are taken as empty.
                let end = offset(text, end, encoding).max(start);
                text.replace_range(start..end, &change.text);
            }
        }
    }
}

/// The buffer is analysed without a byte order mark.
pub fn strip_bom(text: &mut String) {
    if text.starts_with('\u{feff}') {
        text.replace_range(..'\u{feff}'.len_utf8(), "");
    }
}

/// The byte offset of a place. A column past the end of its line is that end, a line past the last
/// one the end of the text; inside a character its start.
pub fn offset(text: &str, at: ClientPosition, encoding: Encoding) -> usize {
    let Some(line) = line_start(text, at.line) else {
        return text.len();
    };
    let rest = text.get(line..).unwrap_or_default();
    let mut units = 0_u32;
    for (index, c) in rest.char_indices() {
        if c == '\n' || c == '\r' {
            return line + index;
        }
        units = units.saturating_add(encoding.width(c));
        if units > at.character {
            return line + index;
        }
    }
    text.len()
}

/// Offset of the first byte of a 0-based line; lines end with LF, CRLF or CR.
fn line_start(text: &str, line: u32) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    for _ in 0..line {
        let rest = bytes.get(at..)?;
        let end = at + memchr2(b'\n', b'\r', rest)?;
        let crlf = bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) == Some(&b'\n');
        at = end + if crlf { 2 } else { 1 };
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const TEXT: &str = "aé😀z\r\nb\rc\n\n末";

    #[test]
    fn offsets_in_every_encoding() {
        use Encoding::*;
        for (line, character, encoding, rest) in [
            (0, 0, Utf16, "aé😀z\r\n"),
            (0, 2, Utf16, "😀z\r\n"),
            (0, 3, Utf16, "😀z\r\n"), // inside the surrogate pair
            (0, 4, Utf16, "z\r\n"),
            (0, 2, Utf8, "é😀z\r\n"), // inside the sequence
            (0, 3, Utf8, "😀z\r\n"),
            (0, 7, Utf8, "z\r\n"),
            (0, 3, Utf32, "z\r\n"),
            (0, 99, Utf16, "\r\nb"),
            (1, 0, Utf16, "b\rc"),
            (1, 1, Utf16, "\rc\n"),
            (2, 0, Utf8, "c\n\n"),
            (3, 0, Utf8, "\n末"),
            (3, 5, Utf8, "\n末"),
            (4, 1, Utf16, ""),
            (5, 0, Utf16, ""),
            (u32::MAX, u32::MAX, Utf16, ""),
        ] {
            let at = ClientPosition { line, character };
            let found = offset(TEXT, at, encoding);
            assert!(
                TEXT[found..].starts_with(rest) && (!rest.is_empty() || found == TEXT.len()),
                "{line}:{character} {encoding:?} is at {found}"
            );
        }
    }

    #[test]
    fn edits_build_on_each_other() {
        let mut text = "one\ntwo\n".to_owned();
        let at = |line, character| ClientPosition { line, character };
        let insert = |a, text: &str| Change {
            range: Some((a, a)),
            text: text.to_owned(),
        };
        apply(
            &mut text,
            vec![insert(at(1, 0), "new "), insert(at(1, 4), "x")],
            Encoding::Utf16,
        );
        assert_eq!(text, "one\nnew xtwo\n");
        let backwards = Change {
            range: Some((at(1, 3), at(0, 0))),
            text: "!".to_owned(),
        };
        apply(&mut text, vec![backwards], Encoding::Utf16);
        assert_eq!(text, "one\nnew! xtwo\n");
        let whole = Change {
            range: None,
            text: "\u{feff}all".to_owned(),
        };
        apply(&mut text, vec![whole], Encoding::Utf16);
        assert_eq!(text, "all");
    }
}
