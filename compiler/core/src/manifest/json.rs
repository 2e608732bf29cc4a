//! Strict JSON for authority-relevant data, and its canonical form (RFC 8785).
//!
//! `serde_json` alone keeps the last of two equal members and stops at 128 levels, which is less
//! than a legal matcher needs; both are wrong for a manifest.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// Largest integer that every JSON implementation represents exactly: 2^53 − 1.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Deepest nesting that is read. A matcher may be 64 deep and takes two levels each; the rest of
/// the payload needs fewer than 16.
pub const MAX_DEPTH: usize = 160;

/// Why a text is no strict JSON value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {offset}")]
pub struct JsonError {
    /// Byte offset into the input.
    pub offset: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Reads exactly one value: no duplicate member at any depth, no fraction or exponent, integers
/// from 0 to [`MAX_INTEGER`] only, at most [`MAX_DEPTH`] levels, nothing but white space around it.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|error| JsonError {
        offset: error.valid_up_to(),
        reason: "not UTF-8".to_owned(),
    })?;
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    if reader.at < text.len() {
        return Err(reader.error("text after the value"));
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, reason: impl Into<String>) -> JsonError {
        JsonError {
            offset: self.at,
            reason: reason.into(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), JsonError> {
        self.space();
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.error(format!("expected `{}`", char::from(byte))))
    }

    /// Recursion is bounded by [`MAX_DEPTH`].
    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'0'..=b'9') => self.integer(),
            Some(b'-') => Err(self.error("a negative number is not allowed")),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(_) => Err(self.error("expected a value")),
            None => Err(self.error("the text ends early")),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, JsonError> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.error("expected a value"))
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut members = Map::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a member name"));
            }
            let name = self.string()?;
            self.take(b':')?;
            let value = self.value(depth + 1)?;
            if members.contains_key(&name) {
                return Err(JsonError {
                    offset: start,
                    reason: format!("member {:?} occurs twice", clip(&name)),
                });
            }
            members.insert(name, value);
            self.space();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            self.take(b'}')?;
            return Ok(Value::Object(members));
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            self.take(b']')?;
            return Ok(Value::Array(items));
        }
    }

    fn integer(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            return Err(self.error("only whole numbers are allowed"));
        }
        let digits = &self.text[start..self.at];
        if digits.len() > 1 && digits.starts_with('0') {
            return Err(JsonError {
                offset: start,
                reason: "a number starts with 0".to_owned(),
            });
        }
        match digits.parse::<u64>() {
            Ok(value) if value <= MAX_INTEGER => Ok(Value::Number(Number::from(value))),
            _ => Err(JsonError {
                offset: start,
                reason: "the number is too large".to_owned(),
            }),
        }
    }

    /// The string's extent is found here; its escapes are decoded by `serde_json`.
    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => {
                    return Err(JsonError {
                        offset: start,
                        reason: "unclosed string".into(),
                    });
                }
            }
        }
        self.at += 1;
        let raw = self.text.get(start..self.at).ok_or_else(|| JsonError {
            offset: start,
            reason: "malformed string".to_owned(),
        })?;
        serde_json::from_str(raw).map_err(|_| JsonError {
            offset: start,
            reason: "malformed string".to_owned(),
        })
    }
}

/// The beginning of a text that somebody else wrote, for a message that shows it escaped.
pub(crate) fn clip(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The value has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number {0} is no integer from 0 to 2^53-1")]
pub struct NotCanonical(pub String);

/// Writes the canonical form (RFC 8785) of a value without fractions: members sorted by UTF-16
/// code units, no white space, shortest escapes.
///
/// Recursion is as deep as the value, which is bounded where values are made.
pub fn canonical(value: &Value) -> Result<Vec<u8>, NotCanonical> {
    let mut out = Vec::new();
    write(value, &mut out)?;
    Ok(out)
}

fn write(value: &Value, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => match number.as_u64() {
            Some(integer) if integer <= MAX_INTEGER => {
                out.extend_from_slice(integer.to_string().as_bytes());
            }
            _ => return Err(NotCanonical(number.to_string())),
        },
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out)?;
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_by(|left, right| utf16(left.0, right.0));
            out.push(b'{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                string(name, out);
                out.push(b':');
                write(member, out)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

/// Order of member names: by UTF-16 code units.
pub(super) fn utf16(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}

/// Writes a string with its quotes, runs without escapes at once.
pub(super) fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest
        .iter()
        .position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'))
    {
        let (run, behind) = rest.split_at(at);
        out.extend_from_slice(run);
        let Some((byte, behind)) = behind.split_first() else {
            break;
        };
        rest = behind;
        match *byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            byte => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn again(text: &str) -> String {
        String::from_utf8(canonical(&parse(text.as_bytes()).unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn members_are_sorted_by_utf16_units() {
        // U+E000 is one unit above the surrogates that encode U+10000.
        assert_eq!(
            again("{\"\u{e000}\":1, \"\u{10000}\":2, \"b\":3, \"a\" : 4}"),
            "{\"a\":4,\"b\":3,\"\u{10000}\":2,\"\u{e000}\":1}"
        );
    }

    #[test]
    fn escapes_are_the_shortest() {
        assert_eq!(
            again(r#"["\u0008\t\n\u000c\r\u001f\u007f\"\\\/\u20ac\ud83d\ude00"]"#),
            "[\"\\b\\t\\n\\f\\r\\u001f\u{7f}\\\"\\\\/€😀\"]"
        );
    }

    #[test]
    fn what_is_refused() {
        for (text, reason) in [
            (r#"{"a":1,"b":{"c":1,"\u0063":2}}"#, "occurs twice"),
            ("1.0", "whole numbers"),
            ("1e3", "whole numbers"),
            ("-1", "negative"),
            ("01", "starts with 0"),
            ("9007199254740992", "too large"),
            ("[1]x", "text after"),
            ("\"a", "unclosed"),
            ("\"a\\", "unclosed"),
            ("\"\\ud800\"", "malformed"),
            ("\"\n\"", "malformed"),
            ("[1,]", "expected a value"),
            ("{\"a\" 1}", "expected `:`"),
            ("", "ends early"),
            ("nul", "expected a value"),
            ("{a:1}", "member name"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.reason.contains(reason), "{text}: {error}");
        }
        assert_eq!(
            parse(b"9007199254740991").unwrap().as_u64(),
            Some(MAX_INTEGER)
        );
        let deep = "[".repeat(200_000);
        assert!(
            parse(deep.as_bytes())
                .unwrap_err()
                .reason
                .contains("nested")
        );
        assert_eq!(parse(b"\"\xff\"").unwrap_err().offset, 1);
    }

    #[test]
    fn no_prefix_of_a_text_panics() {
        let text = r#"{"a":[true,false,null,"\u00e9 \" é",12],"b":{"c":{}}}"#;
        for end in 0..text.len() {
            assert!(parse(&text.as_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn numbers_that_have_no_canonical_form() {
        assert!(canonical(&serde_json::json!(1.5)).is_err());
        assert!(canonical(&serde_json::json!(-1)).is_err());
        assert!(canonical(&serde_json::json!(MAX_INTEGER + 1)).is_err());
    }
}
