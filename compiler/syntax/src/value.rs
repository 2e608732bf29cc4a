//! Decoding of attribute values (spec 01 section 2.4), with a map back to the source.

use std::borrow::Cow;

use memchr::memchr2;

use crate::Span;
use crate::tree::Quote;

/// A decoded value and where each of its bytes was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'t> {
    /// The value.
    pub text: Cow<'t, str>,
    map: Map,
}

/// Pieces of a value that were written differently than they read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Map {
    base: u32,
    pieces: Vec<Piece>,
}

/// `decoded` bytes from offset `at` on were written as `source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    at: u32,
    decoded: u32,
    source: Span,
}

impl Decoded<'_> {
    /// Offset in the file of the character that holds byte `at` of the value; the end of the value
    /// maps to the end of its source.
    pub fn source_start(&self, at: u32) -> u32 {
        match self.map.piece_before(at) {
            None => self.map.base + at,
            Some(piece) if at < piece.at + piece.decoded => piece.source.start,
            Some(piece) => piece.source.end + (at - piece.at - piece.decoded),
        }
    }

    /// Bytes of the file that `range` of the value was written as.
    pub fn source_span(&self, range: core::ops::Range<usize>) -> Span {
        let start = self.source_start(range.start as u32);
        if range.end <= range.start {
            return Span::empty(start);
        }
        let last = range.end as u32 - 1;
        let end = match self.map.piece_before(last) {
            Some(piece) if last < piece.at + piece.decoded => piece.source.end,
            _ => self.source_start(last) + 1,
        };
        Span::new(start, end)
    }

    /// Bytes of the whole value.
    pub fn span(&self) -> Span {
        Span::new(self.map.base, self.source_start(self.text.len() as u32))
    }
}

impl Map {
    fn piece_before(&self, at: u32) -> Option<Piece> {
        let after = self.pieces.partition_point(|piece| piece.at <= at);
        after
            .checked_sub(1)
            .and_then(|index| self.pieces.get(index))
            .copied()
    }
}

/// Decodes `raw`, the bytes between the quotes; `base` is their offset in the file.
pub fn decode(raw: &str, quote: Quote, base: u32) -> Decoded<'_> {
    let mut pieces = Vec::new();
    let text = run(
        raw,
        quote,
        |at, decoded, source: core::ops::Range<usize>| {
            let source = Span::new(base + source.start as u32, base + source.end as u32);
            pieces.push(Piece {
                at: at as u32,
                decoded: decoded as u32,
                source,
            });
        },
    );
    Decoded {
        text,
        map: Map { base, pieces },
    }
}

/// Decodes `raw` without a map.
pub fn decode_text(raw: &str, quote: Quote) -> Cow<'_, str> {
    run(raw, quote, |_, _, _| {})
}

/// The five entities. Anything else that looks like one stays as written.
const ENTITIES: [(&str, &str); 5] = [
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&apos;", "'"),
];

/// Reports every piece that reads differently as `(offset in the value, its length, source)`.
fn run(
    raw: &str,
    quote: Quote,
    mut piece: impl FnMut(usize, usize, core::ops::Range<usize>),
) -> Cow<'_, str> {
    if quote == Quote::None || memchr2(b'&', b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let mark = if quote == Quote::Double { '"' } else { '\'' };
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(length) = memchr2(b'&', b'\\', raw.as_bytes().get(at..).unwrap_or_default()) {
        at += length;
        let rest = raw.get(at..).unwrap_or_default();
        let (reads, written) = if rest.starts_with('&') {
            entity(rest)
        } else {
            backslashes(rest, mark)
        };
        let end = at + written;
        if reads.len() != written {
            out.push_str(raw.get(kept..at).unwrap_or_default());
            piece(out.len(), reads.len(), at..end);
            out.push_str(reads);
            kept = end;
        }
        at = end;
    }
    if kept == 0 {
        return Cow::Borrowed(raw);
    }
    out.push_str(raw.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// What the `&` at the start of `rest` reads as, and how many bytes it was written with.
fn entity(rest: &str) -> (&str, usize) {
    let known = ENTITIES
        .iter()
        .find(|(written, _)| rest.starts_with(written));
    known.map_or(
        (rest.get(..1).unwrap_or_default(), 1),
        |(written, reads)| (*reads, written.len()),
    )
}

/// What the run of backslashes at the start of `rest` reads as, a quote that it escapes included.
fn backslashes(rest: &str, mark: char) -> (&str, usize) {
    let run = rest.bytes().take_while(|byte| *byte == b'\\').count();
    let after = rest.get(run..).unwrap_or_default();
    match after.chars().next() {
        // An odd run: the last backslash and the quote are the quote.
        Some(next) if next == mark => (
            rest.get(run - run / 2..run + 1).unwrap_or_default(),
            run + 1,
        ),
        // Directly before the closing quote.
        None => (rest.get(..run / 2).unwrap_or_default(), run),
        Some(_) => (rest.get(..run).unwrap_or_default(), run),
    }
}

/// Offsets of everything that looks like an entity and is none (spec 01 section 2.4), in order.
pub(crate) fn unknown_entities(raw: &str) -> Vec<core::ops::Range<usize>> {
    let mut found = Vec::new();
    for at in memchr::memchr_iter(b'&', raw.as_bytes()) {
        let rest = raw.as_bytes().get(at + 1..).unwrap_or_default();
        let hash = usize::from(rest.first() == Some(&b'#'));
        let name = rest.get(hash..).unwrap_or_default();
        let length = name
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let starts = hash == 1 || name.first().is_some_and(u8::is_ascii_alphabetic);
        if length == 0 || !starts || name.get(length) != Some(&b';') {
            continue;
        }
        let range = at..at + 1 + hash + length + 1;
        let written = raw.get(range.clone()).unwrap_or_default();
        if !ENTITIES.iter().any(|(known, _)| *known == written) {
            found.push(range);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn rules_of_section_2_4() {
        for (raw, quote, want) in [
            (r#"say \"hi\""#, Quote::Double, r#"say "hi""#),
            (r"C:\\", Quote::Double, r"C:\"),
            (r"C:\\\\", Quote::Double, r"C:\\"),
            (r#"a\\\"b"#, Quote::Double, r#"a\"b"#),
            (r"^\d+\.x", Quote::Double, r"^\d+\.x"),
            (r#"a\'b"#, Quote::Double, r#"a\'b"#),
            (r"a\'b", Quote::Single, "a'b"),
            ("a & b &lt; c", Quote::Double, "a & b < c"),
            ("&amp;lt;", Quote::Double, "&lt;"),
            ("&amp;&lt;&gt;&quot;&apos;", Quote::Single, "&<>\"'"),
            ("&nbsp; &#65; &x", Quote::Double, "&nbsp; &#65; &x"),
            ("&lt;", Quote::None, "&lt;"),
            (r"C:\\", Quote::None, r"C:\\"),
            ("", Quote::Double, ""),
        ] {
            assert_eq!(decode_text(raw, quote), want, "{raw}");
            let decoded = decode(raw, quote, 100);
            assert_eq!(decoded.text, want, "{raw}");
            assert_eq!(
                decoded.span(),
                Span::new(100, 100 + raw.len() as u32),
                "{raw}"
            );
        }
    }

    #[test]
    fn spans_point_at_the_written_characters() {
        let raw = r#"a &lt; \"b\" c"#;
        let decoded = decode(raw, Quote::Double, 10);
        let span = |needle: &str| {
            let at = decoded.text.find(needle).unwrap();
            let span = decoded.source_span(at..at + needle.len());
            &raw[span.start as usize - 10..span.end as usize - 10]
        };
        assert_eq!(span("a"), "a");
        assert_eq!(span("<"), "&lt;");
        assert_eq!(span("\""), "\\\"");
        assert_eq!(span("\"b\""), "\\\"b\\\"");
        assert_eq!(span("b"), "b");
        assert_eq!(span(" c"), " c");
    }

    #[test]
    fn unknown_entities_are_contiguous() {
        let raw = "&nbsp; & &lt; &a b; &#65; &#; &1x; &&y;";
        let found: Vec<&str> = unknown_entities(raw)
            .into_iter()
            .map(|range| &raw[range])
            .collect();
        assert_eq!(found, ["&nbsp;", "&#65;", "&y;"]);
    }
}
