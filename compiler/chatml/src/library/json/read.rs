//! JSON text to values.

use super::{Failure, MAX_DEPTH};
use crate::json::{JsonError, Lexer, Token};
use crate::library::{Context, known};
use crate::value::{CaseId, Text, Value};

/// The value of a whole text.
pub(super) fn value(context: &mut Context<'_, '_>, input: Text) -> Result<Value, Failure> {
    context.budget.data(u64::from(input.len))?;
    // The heap grows while the text is read.
    let source = context.str(input).to_owned();
    let mut reader = Reader {
        lexer: Lexer::new(&source),
        context,
    };
    let first = reader.lexer.next()?;
    let value = reader.value(first, 0)?;
    match reader.lexer.next()? {
        Token::End => Ok(value),
        _ => reader.invalid("text after the value"),
    }
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Self {
        Self::Invalid(error)
    }
}

struct Reader<'s, 'c, 'a, 'b> {
    lexer: Lexer<'s>,
    context: &'c mut Context<'a, 'b>,
}

impl Reader<'_, '_, '_, '_> {
    fn invalid<T>(&self, reason: &'static str) -> Result<T, Failure> {
        Err(self.lexer.error(reason).into())
    }

    fn variant(&mut self, case: CaseId, arguments: &[Value]) -> Result<Value, Failure> {
        Ok(self.context.heap.variant(case, arguments)?)
    }

    /// Recursion ends at [`MAX_DEPTH`].
    fn value(&mut self, token: Token<'_>, depth: u32) -> Result<Value, Failure> {
        self.context.budget.step()?;
        match token {
            Token::OpenObject => self.object(depth),
            Token::OpenArray => self.array(depth),
            Token::String(text) => {
                let text = self.context.heap.string(&text)?;
                self.variant(known::JSON_STRING, &[text])
            }
            Token::Number(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => {
                    self.variant(known::JSON_NUMBER, &[Value::Float(number)])
                }
                _ => self.invalid("the number is too large"),
            },
            Token::True => self.variant(known::JSON_BOOL, &[Value::Bool(true)]),
            Token::False => self.variant(known::JSON_BOOL, &[Value::Bool(false)]),
            Token::Null => self.variant(known::JSON_NULL, &[]),
            Token::End => self.invalid("the text ends early"),
            _ => self.invalid("a value is expected"),
        }
    }

    fn enter(&self, depth: u32) -> Result<(), Failure> {
        if depth >= MAX_DEPTH {
            return self.invalid("values nest deeper than 128");
        }
        Ok(())
    }

    fn array(&mut self, depth: u32) -> Result<Value, Failure> {
        self.enter(depth)?;
        let mut items = Vec::new();
        let mut token = self.lexer.next()?;
        if token != Token::CloseArray {
            loop {
                items.push(self.value(token, depth + 1)?);
                match self.lexer.next()? {
                    Token::CloseArray => break,
                    Token::Comma => token = self.lexer.next()?,
                    _ => return self.invalid("`,` or `]` is expected"),
                }
            }
        }
        let array = self.context.heap.array(&items)?;
        self.variant(known::JSON_ARRAY, &[array])
    }

    fn object(&mut self, depth: u32) -> Result<Value, Failure> {
        self.enter(depth)?;
        let mut members = Vec::new();
        let mut token = self.lexer.next()?;
        if token != Token::CloseObject {
            loop {
                let Token::String(key) = token else {
                    return self.invalid("a member name is expected");
                };
                let key = self.context.heap.string(&key)?;
                if self.lexer.next()? != Token::Colon {
                    return self.invalid("`:` is expected");
                }
                let first = self.lexer.next()?;
                let value = self.value(first, depth + 1)?;
                members.push(self.context.heap.record(known::ENTRY, &[key, value])?);
                match self.lexer.next()? {
                    Token::CloseObject => break,
                    Token::Comma => token = self.lexer.next()?,
                    _ => return self.invalid("`,` or `}` is expected"),
                }
            }
        }
        let array = self.context.heap.array(&members)?;
        self.variant(known::JSON_OBJECT, &[array])
    }
}
