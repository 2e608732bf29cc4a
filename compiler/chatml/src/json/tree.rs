//! JSON text as a tree that keeps the order and the repetition of members.

use super::{JsonError, Lexer, Token};

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// A container that is not closed yet.
enum Open {
    Array(Vec<Json>),
    /// The members, and the name of the one to come.
    Object(Vec<(String, Json)>, String),
}

/// Parses a whole text whose containers nest at most `max_depth` deep. Uses no native stack.
pub(crate) fn parse(text: &str, max_depth: usize) -> Result<Json, JsonError> {
    let mut lexer = Lexer::new(text);
    let mut open: Vec<Open> = Vec::new();
    loop {
        let mut value = match lexer.next()? {
            Token::Null => Json::Null,
            Token::True => Json::Bool(true),
            Token::False => Json::Bool(false),
            Token::Number(text) => Json::Number(text.to_owned()),
            Token::String(text) => Json::String(text),
            Token::OpenArray | Token::OpenObject if open.len() >= max_depth => {
                return Err(lexer.error("values nest too deep"));
            }
            Token::OpenArray => {
                open.push(Open::Array(Vec::new()));
                continue;
            }
            Token::OpenObject => {
                let first = lexer.next()?;
                if first == Token::CloseObject {
                    Json::Object(Vec::new())
                } else {
                    let name = member_name(&mut lexer, first)?;
                    open.push(Open::Object(Vec::new(), name));
                    continue;
                }
            }
            Token::CloseArray => match open.pop() {
                Some(Open::Array(items)) if items.is_empty() => Json::Array(items),
                _ => return Err(lexer.error("a value is expected")),
            },
            Token::End => return Err(lexer.error("the text ends early")),
            _ => return Err(lexer.error("a value is expected")),
        };
        // Puts the value into the innermost container, and that one into the next while they end.
        loop {
            let token = lexer.next()?;
            match open.pop() {
                None => {
                    return match token {
                        Token::End => Ok(value),
                        _ => Err(lexer.error("text after the value")),
                    };
                }
                Some(Open::Array(mut items)) => {
                    items.push(value);
                    match token {
                        Token::Comma => {
                            open.push(Open::Array(items));
                            break;
                        }
                        Token::CloseArray => value = Json::Array(items),
                        _ => return Err(lexer.error("`,` or `]` is expected")),
                    }
                }
                Some(Open::Object(mut members, name)) => {
                    members.push((name, value));
                    match token {
                        Token::Comma => {
                            let next = lexer.next()?;
                            let name = member_name(&mut lexer, next)?;
                            open.push(Open::Object(members, name));
                            break;
                        }
                        Token::CloseObject => value = Json::Object(members),
                        _ => return Err(lexer.error("`,` or `}` is expected")),
                    }
                }
            }
        }
    }
}

fn member_name(lexer: &mut Lexer<'_>, token: Token<'_>) -> Result<String, JsonError> {
    let Token::String(name) = token else {
        return Err(lexer.error("a member name is expected"));
    };
    match lexer.next()? {
        Token::Colon => Ok(name),
        _ => Err(lexer.error("`:` is expected")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn accepts_what_the_rfc_accepts() {
        let text = r#" {"a": [1, -2.5e+3, true, null, []], "b": {}, "a": "\u00e9\ud83d\ude00"} "#;
        let Json::Object(members) = parse(text, 8).unwrap() else {
            unreachable!("an object")
        };
        assert_eq!(members.len(), 3);
        assert_eq!(members[2].1, Json::String("é😀".to_owned()));
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            " ",
            "[",
            "{",
            "]",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "nul",
            "tru",
            "\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\t\"",
            "1 2",
            "[1}",
            "{\"a\":1]",
            "NaN",
            "Infinity",
            "'a'",
        ] {
            assert!(parse(text, 8).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(&nested(8), 8).is_ok());
        assert!(parse(&nested(9), 8).is_err());
        assert!(parse(&"[".repeat(1_000_000), 8).is_err());
    }
}
