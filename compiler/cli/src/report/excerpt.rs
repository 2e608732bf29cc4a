//! Long lines cut down to what a finding is about.

use std::collections::HashSet;
use std::ops::Range;

/// How much of a line is shown.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Columns of the terminal.
    width: usize,
    /// Text kept before and behind a label, in bytes.
    context: usize,
    /// Text kept of a label that is long itself.
    label: usize,
}

/// Columns left of the text: number, bar and spaces.
const GUTTER: usize = 8;
/// Columns between the end of a label and its text.
const ARM: usize = 3;

impl Frame {
    /// What fits on lines of so many columns, with a short text beside the label.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            context: (width / 5).clamp(8, 32),
            label: (width / 5).clamp(12, 96),
        }
    }

    /// Whether the line of a span has to be cut so that it and the text of the label, `words`
    /// columns long, fit.
    pub fn cuts(&self, text: &str, span: &Range<usize>, words: usize) -> bool {
        let columns = |range: Range<usize>| {
            let part = text.get(range).unwrap_or_default();
            part.chars().count() + 3 * part.bytes().filter(|byte| *byte == b'\t').count()
        };
        let first = line_around(text, span.start);
        let last = line_around(text, span.end);
        let label = columns(last.start..span.end.min(last.end)) + ARM + words;
        [columns(first), columns(last), label]
            .into_iter()
            .any(|columns| columns + GUTTER > self.width)
    }
}

/// A labelled span, and whether its lines are cut.
pub type Labelled = (Range<usize>, bool);

/// Stands for what was left out.
const GAP: &str = " … ";

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

/// Cuts whatever shares a line with what is cut.
pub fn cut_together(text: &str, labels: &mut [Labelled]) {
    let ends = |span: &Range<usize>| [span.start, span.end].map(|at| line_around(text, at).start);
    let lines: HashSet<usize> = labels
        .iter()
        .filter(|(_, cut)| *cut)
        .flat_map(|(span, _)| ends(span))
        .collect();
    for (span, cut) in labels {
        *cut |= ends(span).iter().any(|line| lines.contains(line));
    }
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
    pub fn new(
        text: &str,
        labels: &[Labelled],
        frame: Frame,
        line_of: impl Fn(usize) -> usize,
    ) -> Self {
        let mut wanted: Vec<Range<usize>> = labels
            .iter()
            .flat_map(|label| keep(text, label, frame))
            .collect();
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
                excerpt.open_end(text, &range, &ends_after(labels, &range));
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

fn ends_after(labels: &[Labelled], range: &Range<usize>) -> Vec<usize> {
    labels
        .iter()
        .flat_map(|(span, _)| [span.start, span.end])
        .filter(|at| *at > range.end)
        .collect()
}

/// What is kept around the two ends of a span.
fn keep(text: &str, (span, cut): &Labelled, frame: Frame) -> Vec<Range<usize>> {
    let around = |from: usize, to: usize, line: &Range<usize>| {
        if !cut {
            return line.clone();
        }
        let mut start = from.saturating_sub(frame.context).max(line.start);
        let mut end = (to + frame.context).min(line.end);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        start..end
    };
    let first = line_around(text, span.start);
    if span.end <= first.end && (span.len() <= frame.label || !cut) {
        return vec![around(span.start, span.end, &first)];
    }
    let last = line_around(text, span.end);
    let head = (span.start + frame.label).min(first.end);
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
        let frame = Frame::new(80);
        let spans = [here..here + 4, there..there + 5, last..last + 4];
        let labels = spans
            .clone()
            .map(|span| (span.clone(), frame.cuts(&text, &span, 8)));
        assert!(labels[0].1 && !labels[2].1);
        let line_of = |at: usize| text[..at].matches('\n').count();
        let excerpt = Excerpt::new(&text, &labels, frame, line_of);
        for (span, word) in spans.iter().zip(["HERE", "THERE", "last"]) {
            assert_eq!(
                &excerpt.text[excerpt.offset(span.start)..excerpt.offset(span.end)],
                word
            );
        }
        let lines: Vec<_> = excerpt.text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[0], lines[2]), ("", "last"));
        assert!(lines[1].chars().count() < 160, "{}", lines[1]);
        assert_eq!(lines[1].matches('…').count(), 3, "{}", lines[1]);
    }

    #[test]
    fn a_line_is_cut_where_it_or_the_text_of_its_label_does_not_fit() {
        let frame = Frame::new(80);
        let fits = "x".repeat(72);
        assert!(!frame.cuts(&fits, &(0..4), 20));
        assert!(frame.cuts(&fits, &(60..70), 20));
        assert!(frame.cuts(&"x".repeat(73), &(0..4), 20));
        assert!(frame.cuts(&"\t".repeat(20), &(0..1), 20));
    }

    #[test]
    fn a_long_label_keeps_both_ends() {
        let text = "y".repeat(5_000);
        let span = 1_000..4_000;
        let excerpt = Excerpt::new(&text, &[(span.clone(), true)], Frame::new(80), |_| 0);
        assert!(excerpt.text.chars().count() <= 88, "{}", excerpt.text);
        assert!(excerpt.offset(span.start) < excerpt.offset(span.end));
    }
}
