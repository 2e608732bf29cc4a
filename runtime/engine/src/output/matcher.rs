//! One redaction pass over a stream (spec 06b B6.2, B6.3, B6.5).

use std::collections::VecDeque;
use std::sync::Arc;

use super::automaton::{Automaton, ROOT, State};
use super::marked::{Marked, Part};

/// Replaces every maximal interval of matches by a token, whatever the chunking. Holds back only
/// what a later byte could still change: the begun patterns and an interval that touches them.
#[derive(Clone)]
pub(crate) struct Matcher {
    automaton: Arc<Automaton>,
    /// The text passes widen intervals to whole characters; the byte pass does not.
    whole_characters: bool,
    state: State,
    /// Held bytes; those before `emitted` have been passed on already.
    held: Vec<u8>,
    emitted: usize,
    /// Disjoint, not touching, ascending; offsets into `held`.
    intervals: VecDeque<(usize, usize)>,
}

impl Matcher {
    pub(crate) fn new(automaton: Arc<Automaton>, whole_characters: bool) -> Self {
        Self {
            automaton,
            whole_characters,
            state: ROOT,
            held: Vec::new(),
            emitted: 0,
            intervals: VecDeque::new(),
        }
    }

    /// Takes input and passes on what is settled.
    pub(crate) fn push(&mut self, input: &Marked, out: &mut Marked) {
        for part in input.parts() {
            match part {
                Part::Bytes(bytes) => self.push_bytes(bytes, out),
                Part::Token => {
                    self.finish(out);
                    out.push_token();
                }
            }
        }
    }

    /// Takes bytes without tokens.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8], out: &mut Marked) {
        if self.automaton.max_len() == 0 {
            out.push_bytes(bytes);
            return;
        }
        self.compact();
        let mut end = self.held.len();
        self.held.extend_from_slice(bytes);
        for &byte in bytes {
            end += 1;
            self.state = self.automaton.step(self.state, byte);
            let length = self.automaton.longest(self.state);
            if length > 0 {
                self.add_interval(end - length, end);
            }
        }
        let settled = self.held.len() - self.automaton.depth(self.state);
        self.emit_until(settled, out);
    }

    /// Ends the text: everything held is passed on.
    pub(crate) fn finish(&mut self, out: &mut Marked) {
        // One beyond the end: an interval that ends with the text is settled too.
        self.emit_until(self.held.len() + 1, out);
        self.held.clear();
        self.emitted = 0;
        self.intervals.clear();
        self.state = ROOT;
    }

    /// How many bytes at the end begin a pattern that has not ended.
    pub(crate) fn begun(&self) -> usize {
        self.automaton.depth(self.state)
    }

    /// Forgets the last `count` held bytes, but nothing of an interval; returns how many went.
    pub(crate) fn drop_tail(&mut self, count: usize) -> usize {
        let before = self.held.len();
        let wanted = before.saturating_sub(count).max(self.emitted);
        let kept = self
            .intervals
            .back()
            .map_or(wanted, |&(_, end)| wanted.max(end));
        self.held.truncate(kept);
        self.state = ROOT;
        before - self.held.len()
    }

    fn add_interval(&mut self, mut start: usize, mut end: usize) {
        if self.whole_characters {
            while start > self.emitted && is_continuation(self.held[start]) {
                start -= 1;
            }
            while end < self.held.len() && is_continuation(self.held[end]) {
                end += 1;
            }
        }
        while let Some(&(last_start, last_end)) = self.intervals.back() {
            if last_end < start {
                break;
            }
            start = start.min(last_start);
            end = end.max(last_end);
            self.intervals.pop_back();
        }
        self.intervals.push_back((start, end));
    }

    /// Passes on everything before `settled`, except an interval that may still grow.
    fn emit_until(&mut self, settled: usize, out: &mut Marked) {
        while let Some(&(start, end)) = self.intervals.front() {
            if end >= settled {
                self.emit_bytes(start.min(settled), out);
                return;
            }
            self.emit_bytes(start, out);
            out.push_token();
            self.emitted = end;
            self.intervals.pop_front();
        }
        self.emit_bytes(settled.min(self.held.len()), out);
    }

    fn emit_bytes(&mut self, mut until: usize, out: &mut Marked) {
        if self.whole_characters {
            while until < self.held.len()
                && until > self.emitted
                && is_continuation(self.held[until])
            {
                until -= 1;
            }
        }
        if until > self.emitted {
            out.push_bytes(&self.held[self.emitted..until]);
            self.emitted = until;
        }
    }

    /// Frees passed-on bytes when they are the larger half, so that the cost stays linear.
    fn compact(&mut self) {
        if self.emitted * 2 < self.held.len() || self.emitted == 0 {
            return;
        }
        let by = self.emitted;
        self.held.drain(..by);
        self.emitted = 0;
        for interval in &mut self.intervals {
            interval.0 -= by;
            interval.1 -= by;
        }
    }
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}
