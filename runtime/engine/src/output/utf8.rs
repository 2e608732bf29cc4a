//! UTF-8 repair over a stream (spec 06b B7.1 step 3).

use super::marked::{Marked, Part};

/// Replaces each maximal invalid subpart by U+FFFD. Holds back an incomplete character (at most
/// three bytes).
#[derive(Clone, Default)]
pub(crate) struct Utf8Repair {
    incomplete: Vec<u8>,
}

const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

impl Utf8Repair {
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

    /// Ends the text: an incomplete character is one invalid subpart.
    pub(crate) fn finish(&mut self, out: &mut Marked) {
        if !self.incomplete.is_empty() {
            self.incomplete.clear();
            out.push_bytes(REPLACEMENT);
        }
    }

    /// Whether an incomplete character is held.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.incomplete.is_empty()
    }

    /// Forgets an incomplete character.
    pub(crate) fn discard(&mut self) {
        self.incomplete.clear();
    }

    fn push_bytes(&mut self, bytes: &[u8], out: &mut Marked) {
        if self.incomplete.is_empty() {
            self.repair(bytes, out);
        } else {
            let mut joined = std::mem::take(&mut self.incomplete);
            joined.extend_from_slice(bytes);
            self.repair(&joined, out);
        }
    }

    fn repair(&mut self, mut rest: &[u8], out: &mut Marked) {
        while let Err(error) = std::str::from_utf8(rest) {
            let (valid, after) = rest.split_at(error.valid_up_to());
            out.push_bytes(valid);
            let Some(length) = error.error_len() else {
                self.incomplete = after.to_vec();
                return;
            };
            out.push_bytes(REPLACEMENT);
            rest = after.get(length..).unwrap_or_default();
        }
        out.push_bytes(rest);
    }
}
