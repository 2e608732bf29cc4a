//! Half-open byte ranges.

/// A half-open byte range `[start, end)`. Offsets fit `u32`: a document holds at most 64 MiB
/// (spec 01 section 20).
///
/// Inside values that `chatmd-compiler` keeps per top-level item, a span is relative to the `<`
/// of that item, so that an edit above it does not change the value; everywhere else it counts
/// from the start of the file.
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

    /// Length in bytes.
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the span covers no byte.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span as a `usize` range for slicing.
    pub const fn range(self) -> core::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The span as seen from `base`, which must not lie behind its start.
    pub const fn relative_to(self, base: u32) -> Self {
        Self {
            start: self.start - base,
            end: self.end - base,
        }
    }

    /// Inverse of [`Span::relative_to`].
    pub const fn offset_by(self, base: u32) -> Self {
        Self {
            start: self.start + base,
            end: self.end + base,
        }
    }
}
