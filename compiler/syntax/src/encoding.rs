//! Bytes to text (spec 01 section 2.1).

use std::sync::Arc;

use memchr::memchr_iter;

use crate::Span;

/// Largest document, in bytes (spec 01 section 20).
pub const MAX_DOCUMENT_BYTES: usize = 64 * 1024 * 1024;

/// Most findings of one kind of bad byte that are reported for a file.
pub(crate) const MAX_BYTE_REPORTS: usize = 20;

const REPLACEMENT: &str = "\u{FFFD}";

/// A run of invalid bytes and the character that stands for it in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The U+FFFD in the text.
    pub text: Span,
    /// The invalid run in the file.
    pub original: Span,
}

/// Text of a file with what had to be changed to read it.
pub(crate) struct Decoded {
    pub text: Arc<str>,
    /// Invalid runs in file order; empty for valid UTF-8.
    pub replacements: Vec<Replacement>,
}

/// Replaces each maximal invalid run by one U+FFFD. `bytes` must not exceed
/// [`MAX_DOCUMENT_BYTES`].
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Decoded {
            text: Arc::from(text),
            replacements: Vec::new(),
        };
    }
    let mut text = String::with_capacity(bytes.len() + REPLACEMENT.len());
    let mut replacements: Vec<Replacement> = Vec::new();
    // Bytes of the file consumed so far.
    let mut read = 0u32;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        read += chunk.valid().len() as u32;
        let bad = chunk.invalid().len() as u32;
        if bad == 0 {
            continue;
        }
        read += bad;
        match replacements.last_mut() {
            // Touches the run before it: still one run.
            Some(last) if last.text.end as usize == text.len() => last.original.end = read,
            _ => {
                let start = text.len() as u32;
                text.push_str(REPLACEMENT);
                let span = Span::new(start, text.len() as u32);
                replacements.push(Replacement {
                    text: span,
                    original: Span::new(read - bad, read),
                });
            }
        }
    }
    Decoded {
        text: Arc::from(text),
        replacements,
    }
}

/// Why a file is no text in UTF-8 at all, with the place that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotText {
    /// The first bytes that are not UTF-8, or the first run of NUL.
    pub at: Span,
    /// It reads as UTF-16.
    pub utf16: bool,
    /// The bytes are valid UTF-8, but hold NUL all over.
    pub nul: bool,
}

/// Whether a file is UTF-16 or binary: bytes that are not UTF-8 beside NUL, or NUL all over.
pub(crate) fn not_text(bytes: &[u8], decoded: &Decoded) -> Option<NotText> {
    let marked = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
    let nul = bytes.len().min(1 << 16);
    let nul = memchr_iter(0, bytes.get(..nul).unwrap_or_default()).count();
    if let Some(first) = decoded.replacements.first() {
        return (marked || nul > 4).then_some(NotText {
            at: first.text,
            utf16: marked,
            nul: false,
        });
    }
    // In UTF-16 every other byte of plain text is NUL.
    let dense = nul * 3 > bytes.len().min(1 << 16) && nul > 4;
    let at = *nul_runs(&decoded.text).first().filter(|_| dense)?;
    Some(NotText {
        at,
        utf16: true,
        nul: true,
    })
}

/// Runs of U+0000, at most [`MAX_BYTE_REPORTS`].
pub(crate) fn nul_runs(text: &str) -> Vec<Span> {
    let mut runs: Vec<Span> = Vec::new();
    for at in memchr_iter(0, text.as_bytes()) {
        let at = at as u32;
        if let Some(run) = runs.last_mut().filter(|run| run.end == at) {
            run.end += 1;
        } else if runs.len() < MAX_BYTE_REPORTS {
            runs.push(Span::new(at, at + 1));
        } else {
            break;
        }
    }
    runs
}

/// Offset in the file of an offset in the text (spec 01 section 15.2: byte offsets count the
/// original bytes). An offset inside a replacement maps to the start of its run.
pub(crate) fn original_offset(replacements: &[Replacement], offset: u32) -> u32 {
    let after = replacements.partition_point(|r| r.text.start < offset);
    match after
        .checked_sub(1)
        .and_then(|index| replacements.get(index))
    {
        None => offset,
        Some(r) if offset < r.text.end => r.original.start,
        Some(r) => offset - r.text.end + r.original.end,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn one_replacement_per_maximal_run() {
        let decoded = decode(b"a\xff\xfe\xc0b\xe2\x82c\xed\xa0\x80");
        assert_eq!(&*decoded.text, "a\u{FFFD}b\u{FFFD}c\u{FFFD}");
        let lens: Vec<u32> = decoded
            .replacements
            .iter()
            .map(|r| r.original.len())
            .collect();
        assert_eq!(lens, [3, 2, 3]);
    }

    #[test]
    fn offsets_map_back_to_the_file() {
        let decoded = decode(b"a\xff\xfe\xc0\xc1b\xe2c");
        let at = |needle: &str| decoded.text.find(needle).unwrap() as u32;
        assert_eq!(original_offset(&decoded.replacements, at("a")), 0);
        assert_eq!(original_offset(&decoded.replacements, 1), 1);
        assert_eq!(original_offset(&decoded.replacements, 2), 1);
        assert_eq!(original_offset(&decoded.replacements, at("b")), 5);
        assert_eq!(original_offset(&decoded.replacements, at("c")), 7);
    }

    #[test]
    fn nul_runs_are_merged_and_bounded() {
        assert_eq!(nul_runs("a\0\0b\0"), [Span::new(1, 3), Span::new(4, 5)]);
        assert_eq!(nul_runs(&"\0x".repeat(100)).len(), MAX_BYTE_REPORTS);
    }
}
