//! Tokens of JSON text.

use super::JsonError;

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token<'s> {
    OpenObject,
    CloseObject,
    OpenArray,
    CloseArray,
    Comma,
    Colon,
    /// With its escapes resolved.
    String(String),
    /// As written.
    Number(&'s str),
    True,
    False,
    Null,
    End,
}

/// Reads tokens one after the other.
#[derive(Debug)]
pub(crate) struct Lexer<'s> {
    source: &'s str,
    at: usize,
    /// Where the last token began.
    start: usize,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self {
            source,
            at: 0,
            start: 0,
        }
    }

    /// An error at the last token.
    pub(crate) fn error(&self, reason: &'static str) -> JsonError {
        JsonError {
            reason,
            at: self.start,
        }
    }

    fn here<T>(&self, reason: &'static str) -> Result<T, JsonError> {
        Err(JsonError {
            reason,
            at: self.at,
        })
    }

    fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Token<'s>, JsonError> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.start = self.at;
        let Some(byte) = self.peek() else {
            return Ok(Token::End);
        };
        let single = match byte {
            b'{' => Token::OpenObject,
            b'}' => Token::CloseObject,
            b'[' => Token::OpenArray,
            b']' => Token::CloseArray,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => return self.string().map(Token::String),
            b'-' | b'0'..=b'9' => return self.number().map(Token::Number),
            b't' => return self.word("true", Token::True),
            b'f' => return self.word("false", Token::False),
            b'n' => return self.word("null", Token::Null),
            _ => return self.here("a value is expected"),
        };
        self.at += 1;
        Ok(single)
    }

    fn word(&mut self, word: &str, token: Token<'s>) -> Result<Token<'s>, JsonError> {
        let rest = self.source.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return self.here("a value is expected");
        }
        self.at += word.len();
        Ok(token)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return self.here("a digit is expected");
        }
        Ok(())
    }

    fn number(&mut self) -> Result<&'s str, JsonError> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            self.digits()?;
        }
        Ok(self.source.get(start..self.at).unwrap_or_default())
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..0x20)) {
                self.at += 1;
            }
            text.push_str(self.source.get(start..self.at).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return self.here("a control character in a string"),
                None => return self.here("the text ends early"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return self.here("an unknown escape"),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let first = self.unit()?;
        let code = match first {
            0xd800..0xdc00 => {
                if !(self.eat(b'\\') && self.eat(b'u')) {
                    return self.here("half of a surrogate pair");
                }
                let second = self.unit()?;
                if !(0xdc00..0xe000).contains(&second) {
                    return self.here("half of a surrogate pair");
                }
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            other => other,
        };
        match char::from_u32(code) {
            Some(c) => Ok(c),
            None => self.here("half of a surrogate pair"),
        }
    }

    fn unit(&mut self) -> Result<u32, JsonError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return self.here("four hexadecimal digits are expected");
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }
}
