//! Patterns.

use super::Parse;
use super::cursor::Parser;
use crate::ast::{Ident, Pattern, PatternKind};
use crate::lex::{Token, TokenKind};

const A_PATTERN: &[&str] = &["a pattern"];

impl Parser<'_> {
    pub(super) fn pattern(&mut self) -> Parse<Pattern> {
        let token = self.token();
        let kind = match token.kind {
            TokenKind::LeftParen => {
                self.bump();
                self.expect(
                    TokenKind::RightParen,
                    &["`)`: patterns have no other parentheses than `()`"],
                )?;
                PatternKind::Unit
            }
            TokenKind::Tag => self.tag_pattern()?,
            TokenKind::LeftBrace => self.record_pattern()?,
            TokenKind::Minus => self.negative_literal(TokenKind::Int)?,
            TokenKind::MinusDot => self.negative_literal(TokenKind::Float)?,
            TokenKind::Underscore
            | TokenKind::LowerName
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::String
            | TokenKind::True
            | TokenKind::False => self.plain_pattern(token),
            _ => return Err(self.unexpected(A_PATTERN)),
        };
        Ok(Pattern {
            kind,
            span: self.span_from(token.span.start),
        })
    }

    fn plain_pattern(&mut self, token: Token) -> PatternKind {
        self.bump();
        let text = self.text(token.span);
        match token.kind {
            TokenKind::Underscore => PatternKind::Wildcard,
            TokenKind::Int => PatternKind::Int(text.parse().unwrap_or(i64::MAX)),
            TokenKind::Float => PatternKind::Float(text.parse().unwrap_or(f64::MAX)),
            TokenKind::String => PatternKind::String(self.string_value(token)),
            TokenKind::True => PatternKind::Bool(true),
            TokenKind::False => PatternKind::Bool(false),
            _ => PatternKind::Var(self.name(text)),
        }
    }

    fn negative_literal(&mut self, kind: TokenKind) -> Parse<PatternKind> {
        self.bump();
        let expected: &[&str] = if kind == TokenKind::Int {
            &["an integer"]
        } else {
            &["a float"]
        };
        let number = self.expect(kind, expected)?;
        let text = self.text(number.span);
        Ok(match kind {
            TokenKind::Int => PatternKind::Int(text.parse::<i64>().map_or(i64::MIN, |n| -n)),
            _ => PatternKind::Float(text.parse::<f64>().map_or(f64::MIN, |n| -n)),
        })
    }

    fn tag_pattern(&mut self) -> Parse<PatternKind> {
        let tag = self.bump();
        let tag = self.ident(tag);
        let mut args = Vec::new();
        if self.kind() == TokenKind::LeftParen {
            let opening = self.bump();
            args = self.bracketed(opening.span, |p| {
                let mut args = vec![p.pattern()?];
                while p.eat(TokenKind::Comma).is_some() {
                    args.push(p.pattern()?);
                }
                p.expect(TokenKind::RightParen, &["`,`", "`)`"])?;
                Ok(args)
            })?;
        }
        Ok(PatternKind::Tag { tag, args })
    }

    fn record_pattern(&mut self) -> Parse<PatternKind> {
        let opening = self.bump();
        self.bracketed(opening.span, |p| {
            let mut fields: Vec<(Ident, Pattern)> = Vec::new();
            let mut open = false;
            while p.eat(TokenKind::RightBrace).is_none() {
                if !fields.is_empty() && p.eat(TokenKind::Underscore).is_some() {
                    open = true;
                    p.eat(TokenKind::Semicolon);
                    p.expect(TokenKind::RightBrace, &["`}`"])?;
                    break;
                }
                let label = p.expect(
                    TokenKind::LowerName,
                    if fields.is_empty() {
                        &["a label"]
                    } else {
                        &["a label", "`_`"]
                    },
                )?;
                let label = p.ident(label);
                p.expect(TokenKind::Equal, &["`=`"])?;
                fields.push((label, p.pattern()?));
                if p.eat(TokenKind::Semicolon).is_none() {
                    p.expect(TokenKind::RightBrace, &["`;`", "`}`"])?;
                    break;
                }
            }
            Ok(PatternKind::Record { fields, open })
        })
    }
}
