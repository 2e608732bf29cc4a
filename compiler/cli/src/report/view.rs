//! Source text as it may be shown: escaped, with LF line ends, and offsets carried over.

use chatmd_compiler::compile::{LineIndex, Span};
use chatmd_compiler::safe_text::is_unsafe;

/// Stands for a secret.
const HIDDEN: &str = "***";

/// The escaped text of a file.
pub struct View {
    text: String,
    /// Where escaping changed lengths: source offset and shown offset right behind each change,
    /// ascending.
    shifts: Vec<(u32, u32)>,
}

impl View {
    /// Escapes a text and hides `secrets`, which are ascending. A leading byte order mark is left
    /// out: it is no part of the first line.
    pub fn new(source: &str, secrets: &[Span]) -> Self {
        let mut view = Self {
            text: String::with_capacity(source.len() + 1),
            shifts: Vec::new(),
        };
        let mut at = 0;
        for secret in secrets {
            let Some(before) = source.get(at..secret.start as usize) else {
                continue;
            };
            view.escape(before, at, source);
            at = secret.end as usize;
            view.hide(source.get(secret.range()).unwrap_or_default());
            view.shifts.push((secret.end, view.text.len() as u32));
        }
        view.escape(source.get(at..).unwrap_or_default(), at, source);
        view
    }

    /// Stars instead of a secret; line ends stay, so that lines keep their numbers.
    fn hide(&mut self, secret: &str) {
        self.text.push_str(HIDDEN);
        let ends = LineIndex::new(secret.into()).line_count() - 1;
        self.text.extend(std::iter::repeat_n('\n', ends as usize));
    }

    /// Adds a part of the source that begins at `base`.
    fn escape(&mut self, part: &str, base: usize, source: &str) {
        let mut copied = 0;
        for (at, c) in part.char_indices() {
            let after = at + c.len_utf8();
            let replacement = match c {
                '\n' | '\t' => continue,
                '\r' if source[base + after..].starts_with('\n') => Replacement::Nothing,
                '\r' => Replacement::LineEnd,
                '\u{feff}' if base + at == 0 => Replacement::Nothing,
                c if is_unsafe(c) => Replacement::Escape(c),
                _ => continue,
            };
            self.text.push_str(&part[copied..at]);
            copied = after;
            match replacement {
                Replacement::Nothing => {}
                Replacement::LineEnd => self.text.push('\n'),
                Replacement::Escape(c) => self.text.extend(c.escape_unicode()),
            }
            self.shifts
                .push(((base + after) as u32, self.text.len() as u32));
        }
        self.text.push_str(&part[copied..]);
    }

    /// The text to show.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The shown offset of a source offset.
    pub fn offset(&self, source: u32) -> usize {
        let next = self.shifts.partition_point(|(at, _)| *at <= source);
        let (from, shown) = match next.checked_sub(1).and_then(|at| self.shifts.get(at)) {
            Some((from, shown)) => (*from, *shown),
            None => (0, 0),
        };
        let next_shown = self.shifts.get(next).map_or(u32::MAX, |(_, shown)| *shown);
        // Inside what was replaced: its end at most.
        let mut offset = (shown + (source - from)).min(next_shown) as usize;
        offset = offset.min(self.text.len());
        // Inside an escaped character.
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

enum Replacement {
    Nothing,
    LineEnd,
    Escape(char),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_the_text() {
        let source = "\u{feff}a\u{1b}b\r\nc\rd\te\u{202e}f";
        let view = View::new(source, &[]);
        assert_eq!(view.text(), "a\\u{1b}b\nc\nd\te\\u{202e}f");
        for c in ['a', 'b', 'c', 'd', 'e', 'f'] {
            let from = source.find(c).map_or(0, |at| at as u32);
            // `\u{…}` holds hexadecimal digits, so the last occurrence is not always the one.
            let shown = view.offset(from);
            assert!(view.text()[shown..].starts_with(c), "{c} at {shown}");
        }
        assert_eq!(view.offset(source.len() as u32), view.text().len());
    }
    #[test]
    fn secrets_are_hidden() {
        let source = "<literal value=\"S3CR3T\nTOO\"/> <b/>";
        let start = source.find("S3").map_or(0, |at| at as u32);
        let end = source.find("\"/>").map_or(0, |at| at as u32);
        let view = View::new(source, &[Span::new(start, end)]);
        assert_eq!(view.text(), "<literal value=\"***\n\"/> <b/>");
        let b = source.find("<b/>").map_or(0, |at| at as u32);
        assert!(view.text()[view.offset(b)..].starts_with("<b/>"));
        assert!(view.offset(start + 3) <= view.offset(end));
    }
}
