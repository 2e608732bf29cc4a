//! Text with opaque replacement tokens.
//!
//! A token has no bytes while the passes run: it is a position. So no pass can scan it, consume a
//! part of it or match across it, whatever the replacement text is.

/// Bytes and the positions of tokens between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    bytes: Vec<u8>,
    /// Offsets into `bytes`, not decreasing; equal offsets are tokens in a row.
    tokens: Vec<usize>,
}

/// A piece of [`Marked`] text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Bytes(&'a [u8]),
    Token,
}

impl Marked {
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn push_token(&mut self) {
        self.tokens.push(self.bytes.len());
    }

    pub(crate) fn push(&mut self, part: Part<'_>) {
        match part {
            Part::Bytes(bytes) => self.push_bytes(bytes),
            Part::Token => self.push_token(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.tokens.clear();
    }

    /// The pieces in order; byte pieces are not empty.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let ends = self.tokens.iter().copied().chain([self.bytes.len()]);
        let starts = [0].into_iter().chain(self.tokens.iter().copied());
        let last = self.tokens.len();
        starts
            .zip(ends)
            .enumerate()
            .flat_map(move |(index, (start, end))| {
                let bytes = self.bytes.get(start..end).unwrap_or_default();
                let piece = (!bytes.is_empty()).then_some(Part::Bytes(bytes));
                piece
                    .into_iter()
                    .chain((index < last).then_some(Part::Token))
            })
    }

    /// The text with every token written as `replacement`.
    pub(crate) fn render(&self, replacement: &str) -> Vec<u8> {
        let size = self.bytes.len() + self.tokens.len() * replacement.len();
        let mut out = Vec::with_capacity(size);
        for part in self.parts() {
            match part {
                Part::Bytes(bytes) => out.extend_from_slice(bytes),
                Part::Token => out.extend_from_slice(replacement.as_bytes()),
            }
        }
        out
    }

    /// Finds existing tokens by their text (after an extension returned a text).
    pub(crate) fn with_tokens_found(text: &[u8], replacement: &str) -> Self {
        let needle = replacement.as_bytes();
        let mut marked = Self::default();
        let mut rest = text;
        while let Some(at) = find(rest, needle) {
            marked.push_bytes(&rest[..at]);
            marked.push_token();
            rest = &rest[at + needle.len()..];
        }
        marked.push_bytes(rest);
        marked
    }
}

/// Leftmost occurrence. The needle is at most 64 bytes (spec 02 section 13), so the search is
/// linear in the text.
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(step) = text.get(from..)?.iter().position(|byte| *byte == first) {
        let at = from + step;
        if text[at..].starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}
