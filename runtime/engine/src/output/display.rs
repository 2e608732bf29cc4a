//! What people are shown of a command and of texts about it (spec 06 section 10.5).
//!
//! Nothing is removed here. A character that a terminal would act on, or that would be invisible or
//! change the direction of what follows, is written as an escape, so that what is read is what
//! runs. Each argument is escaped before it is quoted: nothing in it can end its quotes or hide
//! their place.

use super::finalise::{Finalised, finalise_marked};
use super::marked::{Marked, Part};
use super::redactor::{MAX_LINE_BYTES, Redactor};
use super::safe_text::SafeText;
use super::sanitise::Form;
use crate::identity::sha256_hex;

/// The argument vector as one line for people, at most [`MAX_LINE_BYTES`]; a longer one ends in
/// `… (<n> bytes, sha256 <hex>)` of the whole line.
///
/// Each element is redacted, then written in one of three forms of which exactly one applies: bare
/// when it is not empty and holds only `[A-Za-z0-9_./:-]`; `'…'` with `'\''` for a quote when all of
/// it can be seen; else `$'…'`, in which `\\`, `\'`, `\t`, `\n`, `\r`, `\xHH` (one byte), `\uHHHH` and
/// `\UHHHHHHHH` (one character) stand for what can not. A shell reads the line as the same argv.
pub fn display_command<T: AsRef<[u8]>>(
    redactor: &Redactor,
    argv: impl IntoIterator<Item = T>,
) -> SafeText {
    let mut line = Marked::default();
    for (index, element) in argv.into_iter().enumerate() {
        if index > 0 {
            line.push_bytes(b" ");
        }
        quote_into(&redactor.mark(element.as_ref()), &mut line);
    }
    bounded_line(redactor, &line)
}

/// Every element in the form of [`display_command`], whole: for a person who wants to see all of a
/// command that is too long for one line.
pub fn display_words<T: AsRef<[u8]>>(
    redactor: &Redactor,
    argv: impl IntoIterator<Item = T>,
) -> Vec<SafeText> {
    let word = |element: T| {
        let mut line = Marked::default();
        quote_into(&redactor.mark(element.as_ref()), &mut line);
        whole(redactor, &line)
    };
    argv.into_iter().map(word).collect()
}

/// One argument or path where no quotes are needed, as a member of an array or alone in a row: as
/// it is, or in the form `$'…'` of [`display_command`] when it holds something that can not be seen
/// (or begins like that form).
pub fn display_element(redactor: &Redactor, element: &[u8]) -> SafeText {
    let marked = redactor.mark(element);
    let mut line = Marked::default();
    if needs_escapes(&marked) || element.starts_with(b"$'") {
        escaped_into(&marked, &mut line);
    } else {
        line = marked;
    }
    whole(redactor, &line)
}

/// Prose about a command, at most [`MAX_LINE_BYTES`] in one line: reasons, messages, rationales.
/// What can not be seen is written as `\n`, `\xHH`, `\uHHHH` or `\UHHHHHHHH`.
pub fn display_prose(redactor: &Redactor, text: &[u8]) -> SafeText {
    let mut line = Marked::default();
    for part in redactor.mark(text).parts() {
        match part {
            Part::Token => line.push_token(),
            Part::Bytes(bytes) => each_character(bytes, |piece| match piece {
                Piece::Character(c) if !is_hidden(c) => push_char(c, &mut line),
                piece => push_escape(piece, &mut line),
            }),
        }
    }
    finalise_marked(redactor, &line, Form::OneLine, MAX_LINE_BYTES).text
}

/// The display form of a raw shell request: the canonical executable, the digest of the script and
/// its preview.
pub fn display_raw_shell(
    redactor: &Redactor,
    canonical: &[u8],
    script_sha256: &str,
    preview: &[u8],
) -> SafeText {
    let mut line = Marked::default();
    quote_into(&redactor.mark(canonical), &mut line);
    line.push_bytes(b" <script sha256=");
    line.push_bytes(script_sha256.as_bytes());
    line.push_bytes(b" preview=");
    quote_into(&redactor.mark(preview), &mut line);
    line.push_bytes(b">");
    bounded_line(redactor, &line)
}

fn quote_into(element: &Marked, line: &mut Marked) {
    let bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./:-".contains(byte);
    let mut parts = element.parts();
    if let (Some(Part::Bytes(bytes)), None) = (parts.next(), parts.next())
        && bytes.iter().all(bare)
    {
        line.push_bytes(bytes);
        return;
    }
    if needs_escapes(element) {
        escaped_into(element, line);
        return;
    }
    line.push_bytes(b"'");
    for part in element.parts() {
        match part {
            Part::Token => line.push_token(),
            Part::Bytes(bytes) => {
                for (index, piece) in bytes.split(|byte| *byte == b'\'').enumerate() {
                    if index > 0 {
                        line.push_bytes(b"'\\''");
                    }
                    line.push_bytes(piece);
                }
            }
        }
    }
    line.push_bytes(b"'");
}

fn escaped_into(element: &Marked, line: &mut Marked) {
    line.push_bytes(b"$'");
    for part in element.parts() {
        match part {
            Part::Token => line.push_token(),
            Part::Bytes(bytes) => each_character(bytes, |piece| match piece {
                Piece::Character('\\') => line.push_bytes(b"\\\\"),
                Piece::Character('\'') => line.push_bytes(b"\\'"),
                Piece::Character(c) if !is_hidden(c) && !is_combining(c) => push_char(c, line),
                piece => push_escape(piece, line),
            }),
        }
    }
    line.push_bytes(b"'");
}

fn needs_escapes(element: &Marked) -> bool {
    let mut found = false;
    let mut leading = true;
    for part in element.parts() {
        if let Part::Bytes(bytes) = part {
            each_character(bytes, |piece| match piece {
                Piece::Character(c) => {
                    // A mark at the start would be drawn over the quote.
                    found |= is_hidden(c) || leading && is_combining(c);
                    leading = false;
                }
                Piece::Byte(_) => found = true,
            });
        }
        leading = false;
    }
    found
}

/// A character, or a byte that belongs to none.
#[derive(Clone, Copy)]
enum Piece {
    Character(char),
    Byte(u8),
}

fn each_character(bytes: &[u8], mut take: impl FnMut(Piece)) {
    for chunk in bytes.utf8_chunks() {
        chunk
            .valid()
            .chars()
            .for_each(|c| take(Piece::Character(c)));
        chunk
            .invalid()
            .iter()
            .for_each(|byte| take(Piece::Byte(*byte)));
    }
}

fn push_char(c: char, line: &mut Marked) {
    line.push_bytes(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn push_escape(piece: Piece, line: &mut Marked) {
    let text = match piece {
        Piece::Character('\t') => "\\t".to_owned(),
        Piece::Character('\n') => "\\n".to_owned(),
        Piece::Character('\r') => "\\r".to_owned(),
        Piece::Character(c) if c.is_ascii() => format!("\\x{:02x}", u32::from(c)),
        Piece::Character(c) if u32::from(c) <= 0xFFFF => format!("\\u{:04x}", u32::from(c)),
        Piece::Character(c) => format!("\\U{:08x}", u32::from(c)),
        Piece::Byte(byte) => format!("\\x{byte:02x}"),
    };
    line.push_bytes(text.as_bytes());
}

/// Characters that are not seen as what they are: controls, line and paragraph ends, white space
/// other than the space, everything that Unicode lets a renderer ignore (joiners, direction marks,
/// variation selectors, fillers, tags), private use and noncharacters. U+FFFD is among them: it is
/// what other programs show for bytes that are no text.
const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1F}'
        | '\u{7F}'..='\u{A0}'
        | '\u{AD}'
        | '\u{34F}'
        | '\u{61C}'
        | '\u{115F}'..='\u{1160}'
        | '\u{1680}'
        | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{2000}'..='\u{200F}'
        | '\u{2028}'..='\u{202F}'
        | '\u{205F}'..='\u{206F}'
        | '\u{2800}'
        | '\u{3000}'
        | '\u{3164}'
        | '\u{E000}'..='\u{F8FF}'
        | '\u{FDD0}'..='\u{FDEF}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}'
        | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFD}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}'
        | '\u{F0000}'..='\u{10FFFF}'
    ) || (c as u32) & 0xFFFE == 0xFFFE
}

/// The blocks of marks that are drawn over what stands before them, whatever the script.
const fn is_combining(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36F}'
        | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}'
        | '\u{FE20}'..='\u{FE2F}'
    )
}

fn whole(redactor: &Redactor, line: &Marked) -> SafeText {
    finalise_marked(redactor, line, Form::OneLine, usize::MAX).text
}

fn bounded_line(redactor: &Redactor, line: &Marked) -> SafeText {
    let whole = finalise_marked(redactor, line, Form::OneLine, usize::MAX);
    if whole.text.len() <= MAX_LINE_BYTES {
        return whole.text;
    }
    let bytes = whole.text.as_str().as_bytes();
    let suffix = format!("… ({} bytes, sha256 {})", bytes.len(), sha256_hex(bytes));
    let Finalised { text, tokens, .. } = whole;
    SafeText::cut(text, &tokens, MAX_LINE_BYTES - suffix.len(), &suffix)
}

#[cfg(test)]
#[path = "display_tests.rs"]
mod tests;
