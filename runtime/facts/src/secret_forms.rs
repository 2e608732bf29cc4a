//! The forms in which one secret value is recognised (spec 06b B6.1): a run hides them in output, an
//! evaluation in its trace.

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use zeroize::Zeroizing;

/// One form; overwritten when dropped.
pub type Needle = Zeroizing<Vec<u8>>;

/// Values shorter than this are matched plain only: their encodings are too short to mean anything.
const DERIVED_MIN: usize = 8;

/// Lines of a multi-line value shorter than this are not patterns of their own.
const LINE_MIN: usize = 16;

/// All patterns of `value`, which is not empty. Equal patterns may repeat.
pub fn needles(value: &[u8]) -> Vec<Needle> {
    let mut out = Vec::new();
    let stripped = without_trailing_newline(value);
    out.push(copy(value));
    out.push(copy(stripped));
    if value.contains(&b'\n') {
        let lines = value.split(|byte| *byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        out.extend(lines.filter(|line| line.len() >= LINE_MIN).map(copy));
    }
    derive(value, &mut out);
    if stripped.len() != value.len() {
        derive(stripped, &mut out);
    }
    out.retain(|needle| !needle.is_empty());
    out
}

/// `value` without one trailing `\n` or `\r\n`.
fn without_trailing_newline(value: &[u8]) -> &[u8] {
    match value.strip_suffix(b"\n") {
        Some(rest) => rest.strip_suffix(b"\r").unwrap_or(rest),
        None => value,
    }
}

fn copy(bytes: &[u8]) -> Needle {
    Zeroizing::new(bytes.to_vec())
}

fn derive(value: &[u8], out: &mut Vec<Needle>) {
    if value.len() < DERIVED_MIN {
        return;
    }
    out.push(json_form(value));
    out.push(percent_form(value, b"0123456789ABCDEF"));
    out.push(percent_form(value, b"0123456789abcdef"));
    out.push(hex_form(value, b"0123456789abcdef"));
    out.push(hex_form(value, b"0123456789ABCDEF"));
    for engine in [&STANDARD, &URL_SAFE] {
        for foreign in 0..3 {
            base64_forms(value, foreign, engine, out);
        }
    }
}

fn json_form(value: &[u8]) -> Needle {
    // Six bytes per byte is the longest escape: the buffer never moves.
    let mut form = Zeroizing::new(Vec::with_capacity(value.len() * 6));
    json_escape_into(value, &mut form);
    form
}

fn percent_form(value: &[u8], digits: &[u8; 16]) -> Needle {
    let mut form = Zeroizing::new(Vec::with_capacity(value.len() * 3));
    for &byte in value {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            form.push(byte);
        } else {
            form.push(b'%');
            form.push(digits[usize::from(byte >> 4)]);
            form.push(digits[usize::from(byte & 15)]);
        }
    }
    form
}

fn hex_form(value: &[u8], digits: &[u8; 16]) -> Needle {
    let mut form = Zeroizing::new(Vec::with_capacity(value.len() * 2));
    for &byte in value {
        form.push(digits[usize::from(byte >> 4)]);
        form.push(digits[usize::from(byte & 15)]);
    }
    form
}

/// The three patterns for `value` after `foreign` bytes that are not its own: the characters whose
/// six bits all belong to it; the same to the end of an encoding that ends with it, unpadded; and
/// padded.
fn base64_forms(value: &[u8], foreign: usize, engine: &GeneralPurpose, out: &mut Vec<Needle>) {
    let mut input = Zeroizing::new(Vec::with_capacity(foreign + value.len()));
    input.extend_from_slice(&[0u8; 3][..foreign]);
    input.extend_from_slice(value);
    let mut text = Zeroizing::new(vec![0u8; input.len().div_ceil(3) * 4]);
    let Ok(length) = engine.encode_slice(&*input, &mut text) else {
        return; // The buffer has the exact size of the encoding.
    };
    let bits = input.len() * 8;
    let start = (foreign * 8).div_ceil(6);
    for end in [bits / 6, bits.div_ceil(6), length] {
        out.extend(text.get(start..end).map(copy));
    }
}

/// Appends `value` with the string escapes of RFC 8785. Works on bytes, because a secret need not
/// be UTF-8.
pub fn json_escape_into(value: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &byte in value {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0C => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x00..=0x1F => {
                out.extend_from_slice(b"\\u00");
                out.push(DIGITS[usize::from(byte >> 4)]);
                out.push(DIGITS[usize::from(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
}
