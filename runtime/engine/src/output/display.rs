//! The display form of commands (spec 06 section 10.5).

use super::finalise::{Finalised, finalise_marked};
use super::marked::{Marked, Part};
use super::redactor::{MAX_LINE_BYTES, Redactor};
use super::safe_text::SafeText;
use super::sanitise::Form;
use crate::identity::sha256_hex;

/// The argument vector as one line for people: each element redacted, then quoted, all of it
/// sanitised. At most [`MAX_LINE_BYTES`]; a longer one ends in `… (<n> bytes, sha256 <hex>)` of the
/// whole redacted line. The quoting is that of POSIX shells, so element boundaries are visible; it
/// is never parsed back.
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

/// The display form of a raw shell request: the canonical executable, the digest of the script and
/// its preview.
pub fn display_raw_shell(
    redactor: &Redactor,
    canonical: &[u8],
    script_sha256: &str,
    preview: &[u8],
) -> SafeText {
    let mut line = redactor.mark(canonical);
    line.push_bytes(b" <script sha256=");
    line.push_bytes(script_sha256.as_bytes());
    line.push_bytes(b" preview=\"");
    redactor
        .mark(preview)
        .parts()
        .for_each(|part| line.push(part));
    line.push_bytes(b"\">");
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
