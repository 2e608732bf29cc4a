//! String literals.

use std::ops::Range;

/// Length of a string after its opening quote, closing quote included, and whether it is closed.
pub(super) fn length(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return (at + 1, true),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    (bytes.len(), false)
}

/// The value of a string literal, quotes included in `literal`. CRLF and CR become LF. An unknown
/// escape keeps its backslash and is told to `unknown` as a byte range of `literal`.
pub fn decode_string(literal: &str, mut unknown: impl FnMut(Range<usize>)) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\r' => {
                if chars.peek().is_some_and(|(_, next)| *next == '\n') {
                    chars.next();
                }
                value.push('\n');
            }
            '\\' => match chars.peek().map(|(_, next)| *next) {
                Some(next @ ('n' | 't' | '\\' | '"')) => {
                    chars.next();
                    value.push(match next {
                        'n' => '\n',
                        't' => '\t',
                        other => other,
                    });
                }
                next => {
                    value.push('\\');
                    // The next character is read by the next round: it may be a line end.
                    unknown(at + 1..at + 2 + next.map_or(0, char::len_utf8));
                }
            },
            _ => value.push(c),
        }
    }
    value
}
