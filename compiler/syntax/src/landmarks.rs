//! Where fences and end tags stand, for the look-aheads of recovery (spec 01 section 16): one
//! table, built when the first error asks, so that no look-ahead reads the file again.

use std::collections::HashMap;

use crate::item::{Item, ItemKind, StartTag};
use crate::{Span, Tag};

/// Offsets of one kind of thing, in order.
#[derive(Debug, Default)]
struct Offsets(Vec<u32>);

impl Offsets {
    fn next(&self, from: u32) -> Option<u32> {
        self.0.get(self.0.partition_point(|at| *at < from)).copied()
    }
}

/// The table.
#[derive(Debug)]
pub(crate) struct Landmarks<'t> {
    fences: Vec<Span>,
    ends: Vec<Offsets>,
    line_ends: Vec<Offsets>,
    unknown_ends: HashMap<&'t str, Offsets>,
    /// Sound end tags with a name outside the vocabulary, whole and name, in order.
    misspelt_ends: Vec<(Span, Span)>,
}

impl<'t> Landmarks<'t> {
    pub(crate) fn new(text: &'t str, items: &[Item]) -> Self {
        let known = || {
            Tag::ALL
                .iter()
                .map(|_| Offsets::default())
                .collect::<Vec<_>>()
        };
        let mut table = Self {
            fences: Vec::new(),
            ends: known(),
            line_ends: known(),
            unknown_ends: HashMap::new(),
            misspelt_ends: Vec::new(),
        };
        for item in items {
            match item.kind {
                ItemKind::Start(tag) if is_fence(&tag) => table.fences.push(item.span),
                ItemKind::End(end) => {
                    let at = item.span.start;
                    if let Some(tag) = end.tag {
                        push(&mut table.ends, tag, at);
                        if end.first_on_line {
                            push(&mut table.line_ends, tag, at);
                        }
                    }
                    if end.tag.is_none() && end.closed && end.junk.is_none() {
                        table.misspelt_ends.push((item.span, end.name));
                    }
                    // A shell name outside shell scope is looked up by its text.
                    if end.tag.is_none_or(Tag::is_shell) {
                        let name = text.get(end.name.range()).unwrap_or_default();
                        table.unknown_ends.entry(name).or_default().0.push(at);
                    }
                }
                _ => {}
            }
        }
        table
    }

    /// The first fence at or behind `from`.
    pub(crate) fn fence(&self, from: u32) -> Option<Span> {
        self.fences
            .get(self.fences.partition_point(|fence| fence.start < from))
            .copied()
    }

    /// The first end tag of `tag` at or behind `from`.
    pub(crate) fn end(&self, tag: Tag, from: u32) -> Option<u32> {
        self.ends.get(tag as usize)?.next(from)
    }

    /// The same for an unknown name.
    pub(crate) fn unknown_end(&self, name: &str, from: u32) -> Option<u32> {
        self.unknown_ends.get(name)?.next(from)
    }

    /// End tags with a name outside the vocabulary in `range`, whole and name, last one first.
    pub(crate) fn misspelt_ends(&self, range: Span) -> impl Iterator<Item = (Span, Span)> {
        let behind = |at: u32| {
            self.misspelt_ends
                .partition_point(|(tag, _)| tag.start < at)
        };
        let (from, to) = (behind(range.start), behind(range.end));
        let found = self.misspelt_ends.get(from..to).unwrap_or_default();
        found.iter().rev().copied()
    }

    /// The same for an end tag that is the first thing on its line.
    pub(crate) fn line_end(&self, tag: Tag, from: u32) -> Option<u32> {
        self.line_ends.get(tag as usize)?.next(from)
    }
}

fn push(table: &mut [Offsets], tag: Tag, at: u32) {
    if let Some(offsets) = table.get_mut(tag as usize) {
        offsets.0.push(at);
    }
}

/// Whether a start tag is a fence (spec 01 section 16.1).
pub(crate) fn is_fence(tag: &StartTag) -> bool {
    tag.first_on_line && tag.tag.is_some_and(Tag::is_fence)
}
