//! The end of a truncated capture (spec 06b B7.1 step 6).
//!
//! Where the capture was cut, the text may end with the first part of a secret. That part is cut
//! off, as often as another one stands before it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::automaton::{Automaton, ROOT, State};
use super::marked::{Marked, Part};

/// Shorter beginnings of a secret are left: they occur in every text.
pub(crate) const PREFIX_MIN: usize = 4;

/// Holds the text since the last token that a cut at the end could still reach.
#[derive(Clone)]
pub(crate) struct TailGuard {
    automaton: Arc<Automaton>,
    state: State,
    segment: Vec<u8>,
    emitted: usize,
    /// For the newest positions of the segment: where a cut that begins at this position ends.
    lows: VecDeque<usize>,
    /// Position of the first entry of `lows`.
    first: usize,
}

impl TailGuard {
    pub(crate) fn new(automaton: Arc<Automaton>) -> Self {
        Self {
            automaton,
            state: ROOT,
            segment: Vec::new(),
            emitted: 0,
            lows: VecDeque::from([0]),
            first: 0,
        }
    }

    pub(crate) fn push(&mut self, input: &Marked, out: &mut Marked) {
        if self.automaton.max_len() <= PREFIX_MIN {
            input.parts().for_each(|part| out.push(part));
            return;
        }
        for part in input.parts() {
            match part {
                Part::Bytes(bytes) => self.push_bytes(bytes),
                Part::Token => {
                    self.release(self.segment.len(), out);
                    self.restart();
                    out.push_token();
                }
            }
        }
    }

    /// Passes on what no cut can reach any more.
    pub(crate) fn settle(&mut self, out: &mut Marked) {
        let begun = self.automaton.depth(self.state);
        let count = self.lows.len();
        let recent = self.lows.iter().skip(count.saturating_sub(begun + 1));
        let limit = recent.copied().min().unwrap_or(0);
        self.release(floor_character(&self.segment, limit), out);
        // Freed when it is the larger half, so that the cost stays linear.
        if self.emitted * 2 > self.segment.len() {
            let by = self.emitted;
            self.segment.drain(..by);
            self.emitted = 0;
            // No begun secret starts before what was passed on.
            while self.first < by && self.lows.len() > 1 {
                self.lows.pop_front();
                self.first += 1;
            }
            self.first = self.first.saturating_sub(by);
            for low in &mut self.lows {
                *low = low.saturating_sub(by);
            }
        }
    }

    /// Ends the text. After a `cut` capture the begun secrets at its end are cut off and one token
    /// is appended; returns whether that happened.
    pub(crate) fn finish(&mut self, cut: bool, out: &mut Marked) -> bool {
        let length = self.segment.len();
        let low = self.lows.back().copied().unwrap_or(length);
        let end = if cut {
            floor_character(&self.segment, low)
        } else {
            length
        };
        let end = end.max(self.emitted);
        self.release(end, out);
        let reached = end < length;
        if reached {
            out.push_token();
        }
        self.restart();
        reached
    }

    fn restart(&mut self) {
        self.state = ROOT;
        self.segment.clear();
        self.emitted = 0;
        self.lows.clear();
        self.lows.push_back(0);
        self.first = 0;
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        let window = self.automaton.max_len() + 1;
        for &byte in bytes {
            self.segment.push(byte);
            self.state = self.automaton.step(self.state, byte);
            let begun = self.automaton.depth(self.state);
            let here = self.segment.len();
            let low = if begun < PREFIX_MIN {
                here
            } else {
                let before = here - begun;
                before
                    .checked_sub(self.first)
                    .and_then(|at| self.lows.get(at))
                    .map_or(before, |low| *low)
            };
            self.lows.push_back(low);
            if self.lows.len() > window {
                self.lows.pop_front();
                self.first += 1;
            }
        }
    }

    fn release(&mut self, until: usize, out: &mut Marked) {
        if until > self.emitted {
            out.push_bytes(&self.segment[self.emitted..until]);
            self.emitted = until;
        }
    }
}

/// The largest character boundary not behind `at`.
fn floor_character(text: &[u8], mut at: usize) -> usize {
    while at > 0 && text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
        at -= 1;
    }
    at
}
