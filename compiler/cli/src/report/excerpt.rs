//! Long lines cut down to what a finding is about.

use std::ops::Range;

/// Lines up to this many bytes are shown whole.
pub const LONG_LINE: usize = 240;
/// Text kept before and behind a label, in bytes.
const CONTEXT: usize = 32;
/// Text kept of a label that is long itself.
const MAX_LABEL: usize = 96;
/// Stands for what was left out.
const GAP: &str = " … ";

/// Whether a span touches a line that is too long to be shown whole.
pub fn is_needed(text: &str, span: &Range<usize>) -> bool {
    [span.start, span.end].into_iter().any(|at| {
        let line = line_around(text, at);
        line.len() > LONG_LINE
    })
}

/// The line around an offset, without its LF.
fn line_around(text: &str, at: usize) -> Range<usize> {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |lf| lf + 1);
    let end = text
        .get(at..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |lf| at + lf);
    start..end
}

/// A text in which only the lines of some spans are left, cut around those spans; all lines keep
/// their numbers.
pub struct Excerpt {
    /// The text.
    pub text: String,
    /// Kept pieces: where they come from, and where they begin here. Ascending.
    pieces: Vec<(Range<usize>, usize)>,
}

impl Excerpt {
    /// Cuts a text. `line_of` gives the 0-based line of an offset.
    pub fn new(text: &str, spans: &[Range<usize>], line_of: impl Fn(usize) -> usize) -> Self {
        let mut wanted: Vec<Range<usize>> =
            spans.iter().flat_map(|span| keep(text, span)).collect();
        wanted.sort_by_key(|range| (range.start, range.end));
        let mut excerpt = Self {
            text: String::new(),
            pieces: Vec::new(),
        };
        let mut line = 0;
        let mut previous: Option<Range<usize>> = None;
        for range in merged(wanted) {
            let this_line = line_of(range.start);
            let same_line = previous.is_some() && this_line == line;
            for _ in line..this_line {
                excerpt.text.push('\n');
            }
            line = this_line;
            let starts_line = line_around(text, range.start).start == range.start;
            if same_line || !starts_line {
                excerpt
                    .text
                    .push_str(GAP.trim_start_matches(if same_line { "" } else { " " }));
            }
            excerpt.pieces.push((range.clone(), excerpt.text.len()));
            excerpt.text.push_str(&text[range.clone()]);
            if line_around(text, range.end).end != range.end {
                excerpt.open_end(text, &range, &spans_after(spans, &range));
            }
            previous = Some(range);
        }
        excerpt.text.push('\n');
        excerpt
    }

    /// Marks that the line goes on, unless another piece of it follows.
    fn open_end(&mut self, text: &str, range: &Range<usize>, later: &[usize]) {
        let line = line_around(text, range.end);
        if !later.iter().any(|at| line.contains(at)) {
            self.text.push_str(GAP.trim_end());
        }
    }

    /// The offset here of an offset in the whole text.
    pub fn offset(&self, at: usize) -> usize {
        let next = self.pieces.partition_point(|(range, _)| range.start <= at);
        match next.checked_sub(1).and_then(|index| self.pieces.get(index)) {
            Some((range, here)) => here + at.min(range.end) - range.start,
            None => 0,
        }
    }
}

fn spans_after(spans: &[Range<usize>], range: &Range<usize>) -> Vec<usize> {
    spans
        .iter()
        .flat_map(|span| [span.start, span.end])
        .filter(|at| *at > range.end)
        .collect()
}

/// What is kept around the two ends of a span.
fn keep(text: &str, span: &Range<usize>) -> Vec<Range<usize>> {
    let around = |from: usize, to: usize, line: &Range<usize>| {
        let mut start = from.saturating_sub(CONTEXT).max(line.start);
        let mut end = (to + CONTEXT).min(line.end);
        if line.len() <= LONG_LINE {
            (start, end) = (line.start, line.end);
        }
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        start..end
    };
    let first = line_around(text, span.start);
    if span.end <= first.end && span.len() <= MAX_LABEL {
        return vec![around(span.start, span.end, &first)];
    }
    let last = line_around(text, span.end);
    let head = (span.start + MAX_LABEL).min(first.end);
    vec![
        around(span.start, head, &first),
        around(span.end, span.end, &last),
    ]
}

/// Overlapping and touching ranges joined.
fn merged(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_line_numbers_and_what_is_labelled() {
        let long = "x".repeat(1_000);
        let text = format!("first\n{long}HERE{long}THERE{long}\nlast\n");
        let here = text.find("HERE").unwrap_or(0);
        let there = text.find("THERE").unwrap_or(0);
        let last = text.find("last").unwrap_or(0);
        let spans = [here..here + 4, there..there + 5, last..last + 4];
        assert!(is_needed(&text, &spans[0]) && !is_needed(&text, &spans[2]));
        let line_of = |at: usize| text[..at].matches('\n').count();
        let excerpt = Excerpt::new(&text, &spans, line_of);
        for (span, word) in spans.iter().zip(["HERE", "THERE", "last"]) {
            assert_eq!(
                &excerpt.text[excerpt.offset(span.start)..excerpt.offset(span.end)],
                word
            );
        }
        let lines: Vec<_> = excerpt.text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[0], lines[2]), ("", "last"));
        assert!(lines[1].len() < LONG_LINE, "{}", lines[1]);
        assert_eq!(lines[1].matches('…').count(), 3, "{}", lines[1]);
    }

    #[test]
    fn a_long_label_keeps_both_ends() {
        let text = "y".repeat(5_000);
        let span = 1_000..4_000;
        let excerpt = Excerpt::new(&text, std::slice::from_ref(&span), |_| 0);
        assert!(excerpt.text.len() < LONG_LINE);
        assert!(excerpt.offset(span.start) < excerpt.offset(span.end));
    }
}
