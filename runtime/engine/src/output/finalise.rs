//! The finaliser of one output channel (spec 06b B7).

use std::ops::Range;
use std::sync::Arc;

use super::marked::{Marked, Part};
use super::matcher::Matcher;
use super::redactor::Redactor;
use super::safe_text::{SafeText, floor_boundary};
use super::sanitise::{Form, Sanitiser};
use super::tail_guard::{PREFIX_MIN, TailGuard};
use super::utf8::Utf8Repair;

/// What is captured beyond the limit and the longest pattern, in bytes.
const SLACK: usize = 64;

/// The passes 2 to 6, each incremental.
#[derive(Clone)]
struct Passes {
    bytes: Matcher,
    utf8: Utf8Repair,
    sanitiser: Sanitiser,
    text: Matcher,
    guard: TailGuard,
    scratch: [Marked; 2],
}

impl Passes {
    fn new(redactor: &Redactor, form: Form) -> Self {
        Self {
            bytes: Matcher::new(Arc::clone(redactor.automaton()), false),
            utf8: Utf8Repair::default(),
            sanitiser: Sanitiser::new(form),
            text: Matcher::new(Arc::clone(redactor.automaton()), true),
            guard: TailGuard::new(Arc::clone(redactor.automaton())),
            scratch: [Marked::default(), Marked::default()],
        }
    }

    fn push_raw(&mut self, bytes: &[u8], out: &mut Marked) {
        let mut redacted = Marked::default();
        self.bytes.push_bytes(bytes, &mut redacted);
        self.push_redacted(&redacted, out);
    }

    /// Steps 3 to 6 for what the byte pass settled.
    fn push_redacted(&mut self, input: &Marked, out: &mut Marked) {
        let [first, second] = &mut self.scratch;
        first.clear();
        self.utf8.push(input, first);
        second.clear();
        self.sanitiser.push(first, second);
        first.clear();
        self.text.push(second, first);
        self.guard.push(first, out);
    }

    /// Ends the text; `drop_open` forgets an incomplete character and a begun escape sequence.
    /// Returns whether the tail guard cut anything.
    fn finish(mut self, cut: bool, drop_open: bool, out: &mut Marked) -> bool {
        let mut redacted = Marked::default();
        self.bytes.finish(&mut redacted);
        self.push_redacted(&redacted, out);
        if drop_open {
            self.utf8.discard();
            self.sanitiser.discard();
        }
        let mut repaired = Marked::default();
        self.utf8.finish(&mut repaired);
        let mut sanitised = Marked::default();
        self.sanitiser.push(&repaired, &mut sanitised);
        self.sanitiser.finish(&mut sanitised);
        let mut text = Marked::default();
        self.text.push(&sanitised, &mut text);
        self.text.finish(&mut text);
        self.guard.push(&text, out);
        self.guard.finish(cut, out)
    }

    /// Ends a capture that was cut. The last thing before the cut may be half a character or half
    /// an escape sequence inside a secret; what stays of it would hide the begun secret from the
    /// guard. So the guard first looks at the text without it.
    fn finish_cut(mut self, out: &mut Marked) {
        let mut settled = Marked::default();
        let mut trial = self.clone();
        let mut redacted = Marked::default();
        trial.bytes.finish(&mut redacted);
        trial.push_redacted(&redacted, &mut settled);
        if trial.utf8.is_waiting() || trial.sanitiser.is_waiting() {
            let mut shortened = Marked::default();
            if self.clone().finish(true, true, &mut shortened) {
                shortened.parts().for_each(|part| out.push(part));
                return;
            }
        }
        let mut whole = Marked::default();
        let begun = self.bytes.begun();
        if self.clone().finish(true, false, &mut whole) || begun < PREFIX_MIN {
            whole.parts().for_each(|part| out.push(part));
            return;
        }
        // A secret with characters that sanitising removes: begun in the bytes, not in the text.
        let dropped = self.bytes.drop_tail(begun);
        self.finish(false, false, out);
        if dropped > 0 {
            out.push_token();
        }
    }
}

/// Step 7: the text so far, never cut inside a character or a token.
#[derive(Clone)]
struct Bounded {
    replacement: Arc<str>,
    limit: usize,
    text: String,
    tokens: Vec<Range<usize>>,
    full: bool,
}

impl Bounded {
    fn push(&mut self, input: &Marked) {
        for part in input.parts() {
            if self.full {
                return;
            }
            let room = self.limit - self.text.len();
            match part {
                Part::Bytes(bytes) => self.push_text(bytes, room),
                Part::Token if self.replacement.len() <= room => {
                    let start = self.text.len();
                    self.text.push_str(&self.replacement);
                    self.tokens.push(start..self.text.len());
                }
                Part::Token => self.full = true,
            }
        }
    }

    fn push_text(&mut self, bytes: &[u8], room: usize) {
        // All passes keep characters whole, so this never replaces anything.
        let text = String::from_utf8_lossy(bytes);
        let end = floor_boundary(&text, room);
        self.text.push_str(&text[..end]);
        self.full = end < text.len();
    }
}

/// The finalised text of one channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finalised {
    /// The text.
    pub text: SafeText,
    /// Where replacement tokens stand in it, ascending.
    pub tokens: Vec<Range<usize>>,
    /// Whether anything was left out at the end.
    pub truncated: bool,
    /// Whether the capture held everything that was written. False implies `truncated`.
    pub captured_whole: bool,
    /// How many bytes [`Finaliser::ready`] had already handed out.
    pub streamed: usize,
}

impl Finalised {
    /// What a progress observer has not seen yet.
    pub fn rest(&self) -> &str {
        self.text.as_str().get(self.streamed..).unwrap_or_default()
    }
}

/// Takes the raw bytes of one channel in any chunks. Memory is bounded by the limit, the longest
/// pattern and a constant, whatever is written.
pub struct Finaliser {
    passes: Passes,
    bounded: Bounded,
    captured: usize,
    capture_bound: usize,
    raw: u64,
    streamed: usize,
}

impl Finaliser {
    /// A finaliser for a channel of at most `limit` bytes of text.
    pub fn new(redactor: &Redactor, limit: usize) -> Self {
        let capture_bound = limit
            .saturating_add(redactor.max_pattern_len())
            .saturating_add(SLACK);
        Self::with(redactor, limit, capture_bound, Form::Lines)
    }

    fn with(redactor: &Redactor, limit: usize, capture_bound: usize, form: Form) -> Self {
        Self {
            passes: Passes::new(redactor, form),
            bounded: Bounded {
                replacement: Arc::from(redactor.replacement()),
                limit,
                text: String::new(),
                tokens: Vec::new(),
                full: false,
            },
            captured: 0,
            capture_bound,
            raw: 0,
            streamed: 0,
        }
    }

    /// Takes the next bytes. What exceeds the capture is counted and forgotten.
    pub fn push(&mut self, bytes: &[u8]) {
        self.raw = self.raw.saturating_add(bytes.len() as u64);
        let taken = bytes.len().min(self.capture_bound - self.captured);
        self.captured += taken;
        let mut settled = Marked::default();
        self.passes.push_raw(&bytes[..taken], &mut settled);
        self.bounded.push(&settled);
    }

    /// Raw bytes taken so far: the count of `output` events and of the total limit.
    pub const fn raw_bytes(&self) -> u64 {
        self.raw
    }

    /// The text that is final and has not been handed out yet. All of these, followed by
    /// [`Finalised::rest`], are the finalised text.
    pub fn ready(&mut self) -> SafeText {
        let mut settled = Marked::default();
        self.passes.guard.settle(&mut settled);
        self.bounded.push(&settled);
        let text = self
            .bounded
            .text
            .get(self.streamed..)
            .unwrap_or_default()
            .to_owned();
        self.streamed = self.bounded.text.len();
        SafeText::from_finaliser(text)
    }

    /// Ends the channel.
    pub fn finish(self) -> Finalised {
        let cut = self.raw > self.captured as u64;
        self.finish_as(cut)
    }

    pub(crate) fn finish_as(mut self, cut: bool) -> Finalised {
        let mut last = Marked::default();
        if cut {
            self.passes.finish_cut(&mut last);
        } else {
            self.passes.finish(false, false, &mut last);
        }
        self.bounded.push(&last);
        Finalised {
            truncated: cut || self.bounded.full,
            captured_whole: !cut,
            text: SafeText::from_finaliser(self.bounded.text),
            tokens: self.bounded.tokens,
            streamed: self.streamed,
        }
    }

    /// Takes text whose tokens are known by their text.
    pub(crate) fn push_found(&mut self, text: &str) {
        let found = Marked::with_tokens_found(text.as_bytes(), &self.bounded.replacement);
        self.push_marked(&found);
    }

    fn push_marked(&mut self, input: &Marked) {
        let mut redacted = Marked::default();
        self.passes.bytes.push(input, &mut redacted);
        let mut settled = Marked::default();
        self.passes.push_redacted(&redacted, &mut settled);
        self.bounded.push(&settled);
    }
}

/// Steps 3 to 7 for a complete text whose byte pass is done.
pub(crate) fn finalise_marked(
    redactor: &Redactor,
    input: &Marked,
    form: Form,
    limit: usize,
) -> Finalised {
    let mut finaliser = Finaliser::with(redactor, limit, usize::MAX, form);
    finaliser.push_marked(input);
    finaliser.finish_as(false)
}

/// The channel of a request: the channels of its commands in order, cut to `limit` again
/// (spec 06b B7.3). Never cut inside a character or a replacement token.
pub fn join_channels<'a>(
    channels: impl IntoIterator<Item = &'a Finalised>,
    limit: usize,
) -> Finalised {
    let mut joined = Finalised {
        captured_whole: true,
        ..Finalised::default()
    };
    let mut text = String::new();
    for channel in channels {
        joined.truncated |= channel.truncated;
        joined.captured_whole &= channel.captured_whole;
        let offset = text.len();
        text.push_str(channel.text.as_str());
        let shifted = channel
            .tokens
            .iter()
            .map(|token| token.start + offset..token.end + offset);
        joined.tokens.extend(shifted);
    }
    joined.truncated |= text.len() > limit;
    joined.text = SafeText::cut(SafeText::from_finaliser(text), &joined.tokens, limit, "");
    let end = joined.text.len();
    joined.tokens.retain(|token| token.end <= end);
    joined
}
