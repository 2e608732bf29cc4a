//! From places to bytes, lines and columns (spec 01 section 15.2).

use chatmd_syntax::{Position, Span};

use super::CompiledFile;
use crate::diagnostics::{FileIndex, Place};

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
    pub start: Position,
    /// Position after the last byte.
    pub end: Position,
}

/// The bytes of a place in its file.
pub(super) fn absolute(place: Place, item_starts: &[u32], text: &str) -> Span {
    let starts = place.item.and_then(|item| item_starts.get(item as usize));
    let base = starts.copied().unwrap_or(0);
    let limit = text.len() as u32;
    let start = base.saturating_add(place.span.start).min(limit);
    let end = base.saturating_add(place.span.end).clamp(start, limit);
    Span::new(start, end)
}
