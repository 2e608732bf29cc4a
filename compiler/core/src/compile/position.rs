//! From places to bytes, lines and columns (spec 01 section 15.2).

use chatmd_syntax::Span;

use super::CompiledFile;
use crate::diagnostics::{FileIndex, Place};

/// A position as people count: both from 1, columns in Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; a tab counts 1, a leading byte order mark 0.
    pub column: u32,
}

/// A place at this moment.
#[derive(Clone, Copy, Debug)]
pub struct Location<'a> {
    /// The file.
    pub file: &'a CompiledFile,
    /// Its index.
    pub index: FileIndex,
    /// Bytes from the start of [`CompiledFile::text`].
    pub span: Span,
    /// Position of the first byte.
    pub start: LineColumn,
    /// Position after the last byte.
    pub end: LineColumn,
}

/// Start offsets of lines. LF, CRLF and a lone CR each end one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineTable {
    starts: Box<[u32]>,
}

impl LineTable {
    /// The lines of a text.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at as u32 + 1);
            }
        }
        Self {
            starts: starts.into(),
        }
    }

    /// How many lines there are; a final line end starts an empty line.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Bytes of a line, from 0, with its line end.
    pub fn span(&self, line: usize, text: &str) -> Span {
        let start = self.starts.get(line).copied().unwrap_or(text.len() as u32);
        let end = self
            .starts
            .get(line + 1)
            .copied()
            .unwrap_or(text.len() as u32);
        Span::new(start, end)
    }

    /// Line (from 0) of an offset.
    pub fn line(&self, offset: u32) -> usize {
        self.starts
            .partition_point(|start| *start <= offset)
            .saturating_sub(1)
    }

    /// Line and column of an offset. An offset inside a CRLF counts as the end of the line, one
    /// inside a character as its start.
    pub fn line_column(&self, text: &str, offset: u32) -> LineColumn {
        let line = self.line(offset);
        let span = self.span(line, text);
        let mut start = span.start as usize;
        if line == 0 && text.starts_with('\u{feff}') {
            start = '\u{feff}'.len_utf8();
        }
        let mut end = (offset as usize).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(start..end).unwrap_or_default();
        // Between CR and LF: the CR is not a column of its own.
        let inside_crlf = before.ends_with('\r') && text[end..].starts_with('\n');
        let column = before.chars().count() - usize::from(inside_crlf) + 1;
        LineColumn {
            line: line as u32 + 1,
            column: column as u32,
        }
    }
}

/// The bytes of a place in its file.
pub(super) fn absolute(place: Place, item_starts: &[u32], text: &str) -> Span {
    let base = place
        .item
        .and_then(|item| item_starts.get(item as usize))
        .copied()
        .unwrap_or(0);
    let limit = text.len() as u32;
    let start = base.saturating_add(place.span.start).min(limit);
    let end = base.saturating_add(place.span.end).clamp(start, limit);
    Span::new(start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, offset: u32) -> (u32, u32) {
        let position = LineTable::new(text).line_column(text, offset);
        (position.line, position.column)
    }

    #[test]
    fn every_line_end_counts_once() {
        let text = "a\nb\r\nc\rd";
        assert_eq!(LineTable::new(text).count(), 4);
        let starts = [
            (0, (1, 1)),
            (2, (2, 1)),
            (5, (3, 1)),
            (7, (4, 1)),
            (8, (4, 2)),
        ];
        for (offset, expected) in starts {
            assert_eq!(at(text, offset), expected, "offset {offset}");
        }
        assert_eq!(at(text, 3), (2, 2), "before CRLF");
        assert_eq!(at(text, 4), (2, 2), "inside CRLF");
    }

    #[test]
    fn columns_count_scalar_values() {
        let text = "\u{feff}äb\t😀x";
        let expected = [("\u{feff}", 1), ("\u{feff}ä", 2), ("\u{feff}äb\t", 4)];
        for (before, column) in expected {
            assert_eq!(at(text, before.len() as u32), (1, column), "{before:?}");
        }
        assert_eq!(at(text, 0), (1, 1));
        assert_eq!(at(text, 4), (1, 1), "inside a character");
        assert_eq!(at(text, text.len() as u32), (1, 6));
        assert_eq!(at(text, 99), (1, 6));
    }
}
