//! Strict reader for one JSON object of strings and string arrays.
//!
//! The whole text is checked (RFC 8259, UTF-8, no lone surrogate, no byte order mark) before any
//! statement about its members is made, and member names are compared at every depth. The reader
//! keeps its own stack: nesting costs memory in proportion to the text and no call depth.

use std::collections::HashSet;

/// Value of a top-level member, as far as tool input needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Text(String),
    /// An array whose elements are all strings.
    Texts(Vec<String>),
    /// Anything else.
    Other,
}

/// A read document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    /// Top-level members in order; `None` when the top level is no object.
    pub(crate) members: Option<Vec<(String, Member)>>,
    /// First member name that stands twice in the same object.
    pub(crate) duplicate: Option<String>,
}

/// Byte offset and description of a syntax error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxFault {
    pub(crate) offset: usize,
    pub(crate) what: &'static str,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Document, SyntaxFault> {
    let text = std::str::from_utf8(bytes).map_err(|error| SyntaxFault {
        offset: error.valid_up_to(),
        what: "text is not UTF-8",
    })?;
    let mut reader = Reader {
        text,
        bytes,
        position: 0,
    };
    let mut build = Build::default();
    reader.document(&mut build)?;
    Ok(Document {
        members: build.members,
        duplicate: build.duplicate,
    })
}

enum Container {
    Object(HashSet<String>),
    Array,
}

/// What a value turned out to be.
enum Token {
    Text(String),
    Scalar,
}

#[derive(Default)]
struct Build {
    stack: Vec<Container>,
    members: Option<Vec<(String, Member)>>,
    name: Option<String>,
    /// Strings of a top-level array member while all elements are strings.
    texts: Option<Vec<String>>,
    duplicate: Option<String>,
}

impl Build {
    fn open(&mut self, container: Container) {
        match (self.stack.len(), &container) {
            (0, Container::Object(_)) => self.members = Some(Vec::new()),
            (1, Container::Array) if self.members.is_some() => self.texts = Some(Vec::new()),
            (2, _) => self.texts = None,
            _ => {}
        }
        self.stack.push(container);
    }

    fn close(&mut self) {
        self.stack.pop();
        if self.stack.len() == 1 {
            let value = self.texts.take().map_or(Member::Other, Member::Texts);
            self.member(value);
        }
    }

    fn scalar(&mut self, token: Token) {
        match (self.stack.len(), token) {
            (1, Token::Text(text)) => self.member(Member::Text(text)),
            (1, Token::Scalar) => self.member(Member::Other),
            (2, Token::Text(text)) => {
                if let Some(texts) = &mut self.texts {
                    texts.push(text);
                }
            }
            (2, Token::Scalar) => self.texts = None,
            _ => {}
        }
    }

    fn member(&mut self, value: Member) {
        if let (Some(members), Some(name)) = (&mut self.members, self.name.take()) {
            members.push((name, value));
        }
    }

    fn key(&mut self, key: String) {
        if self.stack.len() == 1 {
            self.name = Some(key.clone());
        }
        if let Some(Container::Object(names)) = self.stack.last_mut() {
            if self.duplicate.is_none() && names.contains(&key) {
                self.duplicate = Some(key);
            } else {
                names.insert(key);
            }
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    position: usize,
}

impl Reader<'_> {
    fn document(&mut self, build: &mut Build) -> Result<(), SyntaxFault> {
        self.blank();
        self.value(build)?;
        while !build.stack.is_empty() {
            self.blank();
            self.after_value(build)?;
        }
        self.blank();
        if self.position == self.bytes.len() {
            Ok(())
        } else {
            Err(self.fault("text after the value"))
        }
    }

    /// After a complete value inside a container: a comma and the next one, or the end.
    fn after_value(&mut self, build: &mut Build) -> Result<(), SyntaxFault> {
        let object = matches!(build.stack.last(), Some(Container::Object(_)));
        match self.peek() {
            Some(b',') => {
                self.position += 1;
                self.blank();
                if object {
                    self.key(build)?;
                }
                self.value(build)
            }
            Some(b'}') if object => self.end(build),
            Some(b']') if !object => self.end(build),
            _ if object => Err(self.fault("expected a comma or the end of the object")),
            _ => Err(self.fault("expected a comma or the end of the array")),
        }
    }

    fn end(&mut self, build: &mut Build) -> Result<(), SyntaxFault> {
        self.position += 1;
        build.close();
        Ok(())
    }

    /// Opens containers until a scalar or an empty container completes a value.
    fn value(&mut self, build: &mut Build) -> Result<(), SyntaxFault> {
        loop {
            self.blank();
            match self.peek() {
                Some(b'{') => {
                    self.position += 1;
                    build.open(Container::Object(HashSet::new()));
                    self.blank();
                    if self.peek() == Some(b'}') {
                        return self.end(build);
                    }
                    self.key(build)?;
                }
                Some(b'[') => {
                    self.position += 1;
                    build.open(Container::Array);
                    self.blank();
                    if self.peek() == Some(b']') {
                        return self.end(build);
                    }
                }
                Some(b'"') => {
                    let text = self.string()?;
                    build.scalar(Token::Text(text));
                    return Ok(());
                }
                _ => {
                    self.scalar()?;
                    build.scalar(Token::Scalar);
                    return Ok(());
                }
            }
        }
    }

    fn key(&mut self, build: &mut Build) -> Result<(), SyntaxFault> {
        if self.peek() != Some(b'"') {
            return Err(self.fault("expected a member name in double quotes"));
        }
        let key = self.string()?;
        self.blank();
        if self.peek() != Some(b':') {
            return Err(self.fault("expected a colon"));
        }
        self.position += 1;
        build.key(key);
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), SyntaxFault> {
        for word in ["true", "false", "null"] {
            if self
                .bytes
                .get(self.position..)
                .is_some_and(|rest| rest.starts_with(word.as_bytes()))
            {
                self.position += word.len();
                return Ok(());
            }
        }
        self.number()
    }

    fn number(&mut self) -> Result<(), SyntaxFault> {
        let start = self.position;
        if self.peek() == Some(b'-') {
            self.position += 1;
        }
        match self.peek() {
            Some(b'0') => self.position += 1,
            Some(b'1'..=b'9') => {
                self.digits();
            }
            _ => {
                self.position = start;
                return Err(self.fault("expected a value"));
            }
        }
        if self.peek() == Some(b'.') {
            self.position += 1;
            if self.digits() == 0 {
                return Err(self.fault("expected a digit"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            if self.digits() == 0 {
                return Err(self.fault("expected a digit"));
            }
        }
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let start = self.position;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        self.position - start
    }

    fn string(&mut self) -> Result<String, SyntaxFault> {
        self.position += 1;
        let mut out = String::new();
        let mut run = self.position;
        loop {
            match self.peek() {
                None => return Err(self.fault("a string is not closed")),
                Some(b'"') => {
                    out.push_str(self.text.get(run..self.position).unwrap_or_default());
                    self.position += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    out.push_str(self.text.get(run..self.position).unwrap_or_default());
                    out.push(self.escape()?);
                    run = self.position;
                }
                Some(0..0x20) => return Err(self.fault("a control character in a string")),
                Some(_) => self.position += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxFault> {
        let start = self.position;
        let bad = |what| {
            Err(SyntaxFault {
                offset: start,
                what,
            })
        };
        let kind = self.bytes.get(start + 1).copied();
        self.position += 2;
        Ok(match kind {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let Some(first) = self.hex() else {
                    return bad("a bad unicode escape");
                };
                let code = match first {
                    0xD800..0xDC00 => {
                        let low = (self.peek() == Some(b'\\')
                            && self.bytes.get(self.position + 1) == Some(&b'u'))
                        .then(|| {
                            self.position += 2;
                            self.hex()
                        })
                        .flatten()
                        .filter(|low| (0xDC00..0xE000).contains(low));
                        let Some(low) = low else {
                            return bad("a lone surrogate");
                        };
                        0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00)
                    }
                    other => other,
                };
                match char::from_u32(code) {
                    Some(character) => character,
                    None => return bad("a lone surrogate"),
                }
            }
            _ => return bad("a bad escape"),
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.position..self.position + 4)?;
        let mut value = 0;
        for &digit in digits {
            value = value * 16 + char::from(digit).to_digit(16)?;
        }
        self.position += 4;
        Some(value)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    const fn fault(&self, what: &'static str) -> SyntaxFault {
        SyntaxFault {
            offset: self.position,
            what,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    /// Accepts exactly what serde_json accepts (it keeps duplicates silently, so only syntax and
    /// string values are compared).
    #[test]
    fn agrees_with_serde_json_on_syntax() {
        for text in [
            "{}",
            " {\"a\":1} ",
            "[]",
            "[1,2]",
            "{\"a\":[\"b\",\"c\"]}",
            "{\"a\":}",
            "{\"a\" 1}",
            "{,}",
            "[,]",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "-",
            "-0",
            "1.",
            "1.5e",
            "1.5e+3",
            "1e5",
            "tru",
            "true",
            "nul",
            "null",
            "\"a",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\ud83d\\ude00\"",
            "\"\\udc00\"",
            "\"\\ud800\\u0041\"",
            "\"\\x\"",
            "\"\n\"",
            "\u{feff}{}",
            "{} {}",
            "",
            " ",
            "[[[[]]]]",
            "[[[[]]]",
            "{\"a\":{\"b\":{}}}",
            "+1",
            ".5",
            "NaN",
            "'a'",
            "{a:1}",
            "[1 2]",
            "\"\u{7f}\"",
            "\"é\"",
            "/**/{}",
            "[\"\\\"\"]",
            "[true,false,null]",
            "truee",
        ] {
            let ours = read(text.as_bytes()).is_ok();
            let theirs = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(ours, theirs, "{text:?}");
        }
    }

    #[test]
    fn members_are_read_and_duplicates_found_at_any_depth() {
        let document =
            read(br#"{"a":"\u00e9\n","b":["x","y"],"c":[1],"d":[["x"]],"e":{}}"#).unwrap();
        let members = document.members.unwrap();
        let texts = |items: &[&str]| Member::Texts(items.iter().map(|i| (*i).to_owned()).collect());
        assert_eq!(members[0], ("a".to_owned(), Member::Text("é\n".to_owned())));
        assert_eq!(members[1], ("b".to_owned(), texts(&["x", "y"])));
        assert!(
            members[2..]
                .iter()
                .all(|(_, value)| *value == Member::Other)
        );
        let duplicate = |text: &str| read(text.as_bytes()).unwrap().duplicate;
        assert_eq!(
            duplicate(r#"{"a":[{"k":1,"\u006b":2}]}"#).as_deref(),
            Some("k")
        );
        assert_eq!(duplicate(r#"{"a":{"k":1},"b":{"k":1}}"#), None);
        assert_eq!(read(b"[1]").unwrap().members, None);
    }

    #[test]
    fn deep_nesting_costs_no_call_depth() {
        let depth = 500_000;
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(text.as_bytes()).is_ok());
        assert!(read("[".repeat(depth).as_bytes()).is_err());
        assert!(read("{\"a\":".repeat(depth).as_bytes()).is_err());
    }
}
