//! Byte offsets to lines and columns and back (spec 01 section 15.2).
//!
//! The `line-index` crate is not used: it counts `\n` only, and its look-up is linear in the
//! non-ASCII characters of the line, which one long line turns into the whole file.

use std::sync::Arc;

use memchr::memchr2_iter;

use crate::Span;
use crate::tree::BOM;

/// Bytes between two counted places: the most that a look-up reads.
const STRIDE: usize = 256;

/// A position for people: both count from 1, columns in Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// 1-based.
    pub line: u32,
    /// 1-based, in Unicode scalar values; a skipped byte order mark counts 0.
    pub column: u32,
}

/// A position for editors: both count from 0, characters in UTF-16 code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Utf16Position {
    /// 0-based.
    pub line: u32,
    /// 0-based, in UTF-16 code units.
    pub character: u32,
}

/// Characters before a place of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    scalars: u32,
    utf16: u32,
}

/// Lines of a text. Building reads it once; a look-up is O(log lines).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    text: Arc<str>,
    /// Offset of the first byte of each line; the first line starts behind the byte order mark.
    starts: Vec<u32>,
    /// Characters before each multiple of [`STRIDE`]; empty for ASCII, where bytes are characters.
    counts: Vec<Count>,
}

impl LineIndex {
    /// The index of a text, which must be shorter than 4 GiB.
    pub fn new(text: Arc<str>) -> Self {
        let bytes = text.as_bytes();
        let first = if text.starts_with(BOM) {
            BOM.len() as u32
        } else {
            0
        };
        let mut starts = vec![first];
        for at in memchr2_iter(b'\n', b'\r', bytes) {
            // CRLF is one line end: the LF ends the line.
            if bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            starts.push(at as u32 + 1);
        }
        let counts = if text.is_ascii() {
            Vec::new()
        } else {
            count(bytes)
        };
        Self {
            text,
            starts,
            counts,
        }
    }

    /// The text that was indexed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of lines; a line end at the end of the text begins an empty last line.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Bytes of a 0-based line without its line end; the last line for a number past it.
    pub fn line(&self, line: u32) -> Span {
        let last = self.starts.len() - 1;
        let line = (line as usize).min(last);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let end = match self.starts.get(line + 1) {
            Some(next) => {
                let crlf = self
                    .text
                    .as_bytes()
                    .get(..*next as usize)
                    .is_some_and(|text| text.ends_with(b"\r\n"));
                next - 1 - u32::from(crlf)
            }
            None => self.text.len() as u32,
        };
        Span::new(start, end.max(start))
    }

    /// Position for people. An offset past the end or inside a character or a line end is moved
    /// back: to the end of the text, the start of the character, the end of the line.
    pub fn position(&self, offset: u32) -> Position {
        let (line, start, offset) = self.locate(offset);
        let column = self.count(offset).scalars - self.count(start).scalars;
        Position {
            line: line + 1,
            column: column + 1,
        }
    }

    /// Position for editors; moved back like [`LineIndex::position`].
    pub fn utf16(&self, offset: u32) -> Utf16Position {
        let (line, start, offset) = self.locate(offset);
        Utf16Position {
            line,
            character: self.count(offset).utf16 - self.count(start).utf16,
        }
    }

    /// Offset of a position for people; a column past the end of its line is that end, a line past
    /// the last one the end of the text.
    pub fn offset(&self, position: Position) -> u32 {
        let units = position.column.saturating_sub(1);
        self.find(position.line.saturating_sub(1), units, |count| {
            count.scalars
        })
    }

    /// Offset of a position for editors; clamped like [`LineIndex::offset`]. A position inside a
    /// surrogate pair is the start of its character.
    pub fn offset_utf16(&self, position: Utf16Position) -> u32 {
        self.find(position.line, position.character, |count| count.utf16)
    }

    /// 0-based line of an offset, the start of the line, and the offset moved to a character of it.
    fn locate(&self, offset: u32) -> (u32, u32, u32) {
        let mut at = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self
            .starts
            .partition_point(|start| *start as usize <= at)
            .saturating_sub(1) as u32;
        let span = self.line(line);
        (line, span.start, (at as u32).clamp(span.start, span.end))
    }

    /// Characters before a character boundary.
    fn count(&self, offset: u32) -> Count {
        if self.counts.is_empty() {
            return Count {
                scalars: offset,
                utf16: offset,
            };
        }
        let at = offset as usize;
        let mut count = self.counts.get(at / STRIDE).copied().unwrap_or_default();
        for byte in self
            .text
            .as_bytes()
            .get(at / STRIDE * STRIDE..at)
            .unwrap_or_default()
        {
            count.add(*byte);
        }
        count
    }

    fn find(&self, line: u32, units: u32, measure: impl Fn(Count) -> u32) -> u32 {
        if line as usize >= self.starts.len() {
            return self.text.len() as u32;
        }
        let span = self.line(line);
        if self.counts.is_empty() {
            return span.start.saturating_add(units).min(span.end);
        }
        let goal = measure(self.count(span.start)).saturating_add(units);
        // Last counted place of the line at or before the goal, then character by character.
        let places = span.start as usize / STRIDE + 1..span.end as usize / STRIDE + 1;
        let counted = self.counts.get(places.clone()).unwrap_or_default();
        let skip = counted.partition_point(|count| measure(*count) <= goal);
        let mut at = match skip {
            0 => span.start as usize,
            skip => (places.start + skip - 1) * STRIDE,
        };
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let mut before = measure(self.count(at as u32));
        for c in self
            .text
            .get(at..span.end as usize)
            .unwrap_or_default()
            .chars()
        {
            let mut width = Count::default();
            width.add_char(c);
            before += measure(width);
            if before > goal {
                break;
            }
            at += c.len_utf8();
        }
        at as u32
    }
}

impl Count {
    /// Counts a character at its first byte: one of four bytes takes two UTF-16 units.
    fn add(&mut self, byte: u8) {
        let first = u32::from(byte & 0xC0 != 0x80);
        self.scalars += first;
        self.utf16 += first + u32::from(byte >= 0xF0);
    }

    fn add_char(&mut self, c: char) {
        self.scalars += 1;
        self.utf16 += c.len_utf16() as u32;
    }
}

fn count(bytes: &[u8]) -> Vec<Count> {
    let mut counts = Vec::with_capacity(bytes.len() / STRIDE + 1);
    let mut count = Count::default();
    for chunk in bytes.chunks(STRIDE) {
        counts.push(count);
        for byte in chunk {
            count.add(*byte);
        }
    }
    if bytes.len().is_multiple_of(STRIDE) {
        counts.push(count);
    }
    counts
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use proptest::prelude::*;

    fn index(text: &str) -> LineIndex {
        LineIndex::new(Arc::from(text))
    }

    #[test]
    fn every_line_end_counts_once() {
        let index = index("a\nb\r\nc\rd");
        let lines: Vec<&str> = (0..index.line_count())
            .map(|line| &index.text()[index.line(line).range()])
            .collect();
        assert_eq!(lines, ["a", "b", "c", "d"]);
        let at = |offset| (index.position(offset).line, index.position(offset).column);
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(1), (1, 2));
        assert_eq!(at(2), (2, 1));
        assert_eq!(at(3), (2, 2));
        assert_eq!(at(4), (2, 2), "inside CRLF is the end of the line");
        assert_eq!(at(5), (3, 1));
        assert_eq!(at(7), (4, 1));
        assert_eq!(at(8), (4, 2));
        assert_eq!(at(800), (4, 2), "past the end");
    }

    #[test]
    fn columns_in_three_units() {
        let index = index("日本😀<x>\nz");
        let at = |needle: &str| index.text().find(needle).unwrap() as u32;
        assert_eq!(index.position(at("<")), Position { line: 1, column: 4 });
        assert_eq!(
            index.utf16(at("<")),
            Utf16Position {
                line: 0,
                character: 4
            }
        );
        assert_eq!(index.position(at("<") - 1).column, 3, "inside a character");
        assert_eq!(
            index.offset_utf16(Utf16Position {
                line: 0,
                character: 3
            }),
            at("😀")
        );
        assert_eq!(
            index.offset_utf16(Utf16Position {
                line: 0,
                character: 900
            }),
            at("\n")
        );
        assert_eq!(
            index.offset(Position { line: 9, column: 1 }),
            index.text().len() as u32
        );
        assert_eq!(index.offset(Position { line: 0, column: 0 }), 0);
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let index = index("\u{FEFF}ab\nc");
        for (offset, column) in [(0, 1), (2, 1), (3, 1), (4, 2)] {
            assert_eq!(index.position(offset), Position { line: 1, column });
        }
        assert_eq!(index.utf16(4).character, 1);
        assert_eq!(index.offset(Position { line: 1, column: 1 }), 3);
    }

    #[test]
    fn a_text_without_characters() {
        let index = index("");
        assert_eq!(index.position(0), Position { line: 1, column: 1 });
        assert_eq!(index.line_count(), 1);
    }

    proptest! {
        #[test]
        fn agrees_with_counting(text in "[a\r\né日😀\u{FEFF}]{0,900}", offset in 0usize..3000) {
            let index = index(&text);
            let mut at = offset.min(text.len());
            while !text.is_char_boundary(at) { at -= 1; }
            if text[..at].ends_with('\r') && text[at..].starts_with('\n') { at -= 1; }
            let skipped = if text.starts_with('\u{FEFF}') { 3 } else { 0 };
            let at = at.max(skipped);
            let before = text[skipped..at].replace("\r\n", "\n").replace('\r', "\n");
            let line = before.matches('\n').count() as u32;
            let last = before.rsplit('\n').next().unwrap();
            let offset = offset as u32;
            prop_assert_eq!(index.position(offset), Position { line: line + 1, column: last.chars().count() as u32 + 1 });
            prop_assert_eq!(index.utf16(offset), Utf16Position { line, character: last.encode_utf16().count() as u32 });
            prop_assert_eq!(index.offset(index.position(offset)), at as u32);
            prop_assert_eq!(index.offset_utf16(index.utf16(offset)), at as u32);
        }
    }
}
