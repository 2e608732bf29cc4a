//! Terminal sanitising over a stream (spec 06b B7.2).
//!
//! A state machine of our own and not a terminal emulator's parser: what is removed when a sequence
//! never ends is fixed here (its introducer and nothing else), replacement tokens end a sequence,
//! and the number of bytes that may be waited for is bounded.

use super::marked::{Marked, Part};

/// Most bytes between the introducer and the final byte of a control sequence.
const CSI_MAX: usize = 256;

/// Most UTF-8 bytes between the introducer and the terminator of a control string.
const STRING_MAX: usize = 4096;

/// Whether the text keeps its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tab, LF and CRLF are kept.
    Lines,
    /// For fields of one line: tab, LF and CRLF become one space each.
    OneLine,
}

/// Removes terminal controls, invisible and direction-changing characters. Output holds no ESC.
#[derive(Clone)]
pub(crate) struct Sanitiser {
    form: Form,
    /// Text since the last token that is not decided yet; whole characters.
    buffer: Vec<u8>,
    head: usize,
    /// How far a terminator has been looked for already, for strings that BEL ends and others.
    searched: [Search; 2],
}

/// Result of the last terminator search; offsets into the buffer.
#[derive(Clone, Copy, Default)]
enum Search {
    #[default]
    Never,
    /// No terminator starts between the start of that search and here.
    NoneBefore(usize),
    /// The first terminator: start and end.
    Found(usize, usize),
}

/// What to do at the head of the buffer.
enum Step {
    /// Remove this many bytes.
    Remove(usize),
    /// More input is needed to decide.
    Wait,
}

impl Sanitiser {
    pub(crate) fn new(form: Form) -> Self {
        Self {
            form,
            buffer: Vec::new(),
            head: 0,
            searched: [Search::Never; 2],
        }
    }

    pub(crate) fn push(&mut self, input: &Marked, out: &mut Marked) {
        for part in input.parts() {
            match part {
                Part::Bytes(bytes) => {
                    self.compact();
                    self.buffer.extend_from_slice(bytes);
                    self.run(false, out);
                }
                Part::Token => {
                    self.finish(out);
                    out.push_token();
                }
            }
        }
    }

    /// Ends the text: a sequence that is still open is unterminated.
    pub(crate) fn finish(&mut self, out: &mut Marked) {
        self.run(true, out);
        self.discard();
    }

    /// Whether a begun sequence is held.
    pub(crate) fn is_waiting(&self) -> bool {
        self.head < self.buffer.len()
    }

    /// Forgets a begun sequence.
    pub(crate) fn discard(&mut self) {
        self.buffer.clear();
        self.head = 0;
        self.searched = [Search::Never; 2];
    }

    fn compact(&mut self) {
        if self.head == 0 || self.head * 2 < self.buffer.len() {
            return;
        }
        let by = self.head;
        self.buffer.drain(..by);
        self.head = 0;
        for search in &mut self.searched {
            *search = match *search {
                Search::NoneBefore(at) if at >= by => Search::NoneBefore(at - by),
                Search::Found(start, end) if start >= by => Search::Found(start - by, end - by),
                _ => Search::Never,
            };
        }
    }

    fn run(&mut self, last: bool, out: &mut Marked) {
        while let Some(&byte) = self.buffer.get(self.head) {
            let plain = self.plain_run();
            if plain > 0 {
                out.push_bytes(&self.buffer[self.head..self.head + plain]);
                self.head += plain;
                continue;
            }
            let step = match byte {
                0x1B => self.escape(last),
                b'\r' => self.carriage_return(last, out),
                0x00..=0x7F => {
                    self.control(byte, out);
                    Step::Remove(1)
                }
                _ => self.character(last, out),
            };
            match step {
                Step::Remove(count) => self.head += count,
                Step::Wait => return,
            }
        }
    }

    /// Length of the printable ASCII at the head: most text is.
    fn plain_run(&self) -> usize {
        let rest = &self.buffer[self.head..];
        rest.iter()
            .position(|byte| !matches!(byte, 0x20..=0x7E))
            .unwrap_or(rest.len())
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.buffer.get(at).copied()
    }

    /// C0 and DEL: only tab and LF are kept.
    fn control(&self, byte: u8, out: &mut Marked) {
        match (byte, self.form) {
            (b'\t', Form::Lines) => out.push_bytes(b"\t"),
            (b'\n', Form::Lines) => out.push_bytes(b"\n"),
            (b'\t' | b'\n', Form::OneLine) => out.push_bytes(b" "),
            _ => {}
        }
    }

    fn line_break(&self, out: &mut Marked) {
        out.push_bytes(if self.form == Form::Lines {
            b"\n"
        } else {
            b" "
        });
    }

    fn carriage_return(&self, last: bool, out: &mut Marked) -> Step {
        match self.byte(self.head + 1) {
            Some(b'\n') => {
                out.push_bytes(if self.form == Form::Lines {
                    b"\r\n"
                } else {
                    b" "
                });
                Step::Remove(2)
            }
            None if !last => Step::Wait,
            _ => {
                self.line_break(out);
                Step::Remove(1)
            }
        }
    }

    /// A character above U+007F.
    fn character(&mut self, last: bool, out: &mut Marked) -> Step {
        let width = utf8_width(self.buffer[self.head]);
        let bytes = self.buffer.get(self.head..self.head + width);
        // The UTF-8 pass precedes: the buffer holds whole characters.
        let Some(c) = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()?.chars().next())
        else {
            return Step::Remove(1);
        };
        match c {
            '\u{9B}' => self.control_sequence(width, last),
            '\u{9D}' => self.control_string(width, true, last),
            '\u{90}' | '\u{98}' | '\u{9E}' | '\u{9F}' => self.control_string(width, false, last),
            '\u{2028}' | '\u{2029}' => {
                self.line_break(out);
                Step::Remove(width)
            }
            _ => {
                if !is_removed(c) {
                    out.push_bytes(&self.buffer[self.head..self.head + width]);
                }
                Step::Remove(width)
            }
        }
    }

    fn escape(&mut self, last: bool) -> Step {
        match self.byte(self.head + 1) {
            None if !last => Step::Wait,
            Some(b'[') => self.control_sequence(2, last),
            Some(b']') => self.control_string(2, true, last),
            Some(b'P' | b'X' | b'^' | b'_') => self.control_string(2, false, last),
            Some(0x30..=0x7E) => Step::Remove(2),
            Some(0x20..=0x2F) => self.other_escape(last),
            _ => Step::Remove(1),
        }
    }

    /// ESC, intermediates, one final byte; broken, it loses only its ESC.
    fn other_escape(&self, last: bool) -> Step {
        let start = self.head + 1;
        let count = self.count_while(start, |byte| matches!(byte, 0x20..=0x2F));
        match self.byte(start + count) {
            _ if count > CSI_MAX => Step::Remove(1),
            Some(0x30..=0x7E) => Step::Remove(1 + count + 1),
            None if !last => Step::Wait,
            _ => Step::Remove(1),
        }
    }

    fn control_sequence(&self, introducer: usize, last: bool) -> Step {
        let start = self.head + introducer;
        let count = self.count_while(start, |byte| matches!(byte, 0x20..=0x3F));
        match self.byte(start + count) {
            _ if count > CSI_MAX => Step::Remove(introducer),
            Some(0x40..=0x7E) => Step::Remove(introducer + count + 1),
            None if !last => Step::Wait,
            _ => Step::Remove(introducer),
        }
    }

    /// Counts matching bytes from `start`, at most one more than the bound.
    fn count_while(&self, start: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.buffer.get(start..).unwrap_or_default();
        rest.iter()
            .take(CSI_MAX + 1)
            .take_while(|byte| wanted(**byte))
            .count()
    }

    fn control_string(&mut self, introducer: usize, bell: bool, last: bool) -> Step {
        let start = self.head + introducer;
        match self.terminator(start, bell, last) {
            Some((at, end)) if at <= start + STRING_MAX => Step::Remove(end - self.head),
            Some(_) => Step::Remove(introducer),
            None if last || self.buffer.len() > start + STRING_MAX + 1 => Step::Remove(introducer),
            None => Step::Wait,
        }
    }

    /// The first terminator at or behind `start`, looked for no further than the bound needs.
    /// Remembers where the last search of this kind ended, so each byte is looked at once.
    fn terminator(&mut self, start: usize, bell: bool, last: bool) -> Option<(usize, usize)> {
        let slot = usize::from(bell);
        let mut at = match self.searched[slot] {
            Search::Found(from, end) if from >= start => return Some((from, end)),
            Search::NoneBefore(from) => from.max(start),
            _ => start,
        };
        while at <= start + STRING_MAX {
            let end = match (self.byte(at), self.byte(at + 1)) {
                (Some(0x07), _) if bell => at + 1,
                (Some(0x1B), Some(b'\\')) | (Some(0xC2), Some(0x9C)) => at + 2,
                (None, _) => break,
                (Some(0x1B), None) if !last => break,
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.searched[slot] = Search::Found(at, end);
            return Some((at, end));
        }
        self.searched[slot] = Search::NoneBefore(at);
        None
    }
}

const fn utf8_width(lead: u8) -> usize {
    match lead {
        0xF0..=0xFF => 4,
        0xE0..=0xEF => 3,
        0xC0..=0xDF => 2,
        _ => 1,
    }
}

/// Characters above U+007F that are removed: C1, direction marks, invisible characters, tags and
/// noncharacters. U+200C and U+200D stay: scripts and emoji need them.
const fn is_removed(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9F}'
        | '\u{61C}'
        | '\u{180E}'
        | '\u{200B}' | '\u{200E}' | '\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206F}'
        | '\u{FDD0}'..='\u{FDEF}'
        | '\u{FEFF}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E007F}'
    ) || (c as u32) & 0xFFFE == 0xFFFE
}

/// `text` with every character that a terminal would act on, or that shows something else than
/// what is there, written as `\u{…}`: for showing stored text instead of cleaning it.
pub fn escape_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_removed(c) {
            out.push_str(&format!("\\u{{{:x}}}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}
