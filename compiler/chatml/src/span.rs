//! Half-open byte ranges in the script's own text, and their lines and columns.

/// A half-open byte range `[start, end)` in the text of one script. Offsets fit `u32`: a script
/// holds at most 1 MiB (spec 01 section 11). The host adds the offset of the element body when
/// the script stands inside a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from `start` to `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// An empty span at `at`.
    pub const fn empty(at: u32) -> Self {
        Self { start: at, end: at }
    }

    /// The smallest span that covers both.
    pub const fn to(self, other: Self) -> Self {
        Self {
            start: if self.start < other.start {
                self.start
            } else {
                other.start
            },
            end: if self.end > other.end {
                self.end
            } else {
                other.end
            },
        }
    }

    /// The span moved by `base` bytes, for text that stands inside a larger one.
    pub const fn offset_by(self, base: u32) -> Self {
        Self {
            start: self.start + base,
            end: self.end + base,
        }
    }

    /// The text of the span, or nothing when the span does not lie in `source`.
    pub fn of(self, source: &str) -> &str {
        source
            .get(self.start as usize..self.end as usize)
            .unwrap_or("")
    }
}

/// A place as people name it: line from 1, column in bytes from 0 (spec 05 section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Bytes before the place on its line.
    pub column: u32,
}

/// The line starts of one text. LF, CRLF and a lone CR each end a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the lines of `source`, which holds less than 4 GiB.
    pub fn new(source: &str) -> Self {
        let bytes = source.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends_line = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends_line {
                starts.push(u32::try_from(at + 1).unwrap_or(u32::MAX));
            }
        }
        Self { starts }
    }

    /// Line and column of a byte offset; an offset past the end counts on the last line.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: offset - start.min(offset),
        }
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.position(offset).line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_counts_once() {
        let index = LineIndex::new("a\nbc\r\nd\re");
        let at = |offset| {
            let place = index.position(offset);
            (place.line, place.column)
        };
        assert_eq!(at(0), (1, 0));
        assert_eq!(at(2), (2, 0));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(5), (2, 3), "the LF of a CRLF stays on its line");
        assert_eq!(at(6), (3, 0));
        assert_eq!(at(8), (4, 0));
        assert_eq!(at(99), (4, 91));
    }
}
