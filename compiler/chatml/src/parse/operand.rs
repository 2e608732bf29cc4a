//! Operands: keyword forms, postfix chains, literals and brackets.

use super::Parse;
use super::cursor::Parser;
use super::hints::AN_EXPRESSION;
use crate::ast::{Arm, Branch, Expr, ExprKind, Field, Ident, Name, StepKind, Suffix, SuffixKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::{Token, TokenKind, decode_string};
use crate::span::Span;

const AFTER_ARGUMENT: &[&str] = &["`,`", "`)`", "an operator"];

impl Parser<'_> {
    /// `fun`, `if` or `match`.
    pub(super) fn keyword_form(&mut self) -> Parse<Expr> {
        let opening = self.bump();
        self.nested(opening.span, |p| match opening.kind {
            TokenKind::Fun => p.function(opening),
            TokenKind::If => p.conditional(opening),
            _ => p.match_form(opening),
        })
    }

    fn function(&mut self, opening: Token) -> Parse<Expr> {
        let params = match self.kind() {
            TokenKind::LeftParen if self.kind_at(1) == TokenKind::RightParen => {
                self.bump();
                self.bump();
                Vec::new()
            }
            TokenKind::LowerName | TokenKind::Underscore => self.params(),
            _ => return Err(self.unexpected(&["a parameter", "`()`"])),
        };
        self.expect(TokenKind::Arrow, &["a parameter", "`->`"])?;
        let body = self.block()?;
        Ok(self.lambda(params, body, opening.span.start))
    }

    /// `if` is read; `else if` adds a branch instead of nesting.
    fn conditional(&mut self, opening: Token) -> Parse<Expr> {
        let mut branches = Vec::new();
        let mut last = opening;
        loop {
            branches.push(self.opened(last.span, Self::branch)?);
            match self.eat(TokenKind::If) {
                Some(next) => last = next,
                None => break,
            }
        }
        let otherwise = Box::new(self.opened(last.span, Self::block)?);
        Ok(self.make(
            ExprKind::If {
                branches,
                otherwise,
            },
            opening.span.start,
        ))
    }

    /// From a condition to the `else` after its branch.
    fn branch(&mut self) -> Parse<Branch> {
        let condition = self.block()?;
        self.expect(TokenKind::Then, &["`then`", "an operator"])?;
        let body = self.block()?;
        self.expect(TokenKind::Else, &["`else`", "an operator"])?;
        Ok(Branch { condition, body })
    }

    fn match_form(&mut self, opening: Token) -> Parse<Expr> {
        let scrutinee = Box::new(self.block()?);
        self.expect(TokenKind::With, &["`with`", "an operator"])?;
        if self.kind() != TokenKind::Bar {
            return Err(self.unexpected(&["`|`"]));
        }
        let mut arms = Vec::new();
        while self.eat(TokenKind::Bar).is_some() {
            let pattern = self.pattern()?;
            self.expect(TokenKind::Arrow, &["`->`"])?;
            let body = self.block()?;
            arms.push(Arm { pattern, body });
        }
        Ok(self.make(ExprKind::Match { scrutinee, arms }, opening.span.start))
    }

    /// Level 6: a primary with calls, fields and indices.
    pub(super) fn postfix(&mut self) -> Parse<Expr> {
        let start = self.token().span.start;
        let base = self.primary()?;
        match self.kind() {
            TokenKind::LeftParen | TokenKind::LeftBracket | TokenKind::Dot => {
                self.suffixes(base, start)
            }
            _ => Ok(base),
        }
    }

    fn suffixes(&mut self, base: Expr, start: u32) -> Parse<Expr> {
        // Most chains have one suffix and most calls one argument; a million of them should not
        // pay for four.
        let mut suffixes = Vec::with_capacity(1);
        loop {
            let token = self.token();
            let kind = match token.kind {
                TokenKind::LeftParen => {
                    self.lint_line_continues(token);
                    self.call()?
                }
                TokenKind::LeftBracket => {
                    self.lint_line_continues(token);
                    self.index()?
                }
                TokenKind::Dot => self.field_access()?,
                _ => break,
            };
            suffixes.push(Suffix {
                kind,
                span: self.span_from(start),
                id: self.new_id(),
            });
        }
        let base = Box::new(base);
        Ok(self.make(ExprKind::Postfix { base, suffixes }, start))
    }

    fn lint_line_continues(&mut self, bracket: Token) {
        if !bracket.first_on_line {
            return;
        }
        let (what, other) = match bracket.kind {
            TokenKind::LeftParen => ("calls", "put the bracket behind the function's name"),
            _ => ("indexes", "put the bracket behind the array"),
        };
        let message = format!("this bracket {what} the expression on the line before");
        self.warn(
            Diagnostic::new(Code::LineContinues, bracket.span, message).help(format!(
                "for a new statement write `let _ = …`; otherwise {other}"
            )),
        );
    }

    fn call(&mut self) -> Parse<SuffixKind> {
        let opening = self.bump();
        Ok(SuffixKind::Call(self.bracketed(opening.span, |p| {
            p.items(TokenKind::RightParen)
        })?))
    }

    /// Sequences with commas between them up to the closing bracket, which is read too.
    fn items(&mut self, closing: TokenKind) -> Parse<Vec<Expr>> {
        if self.eat(closing).is_some() {
            return Ok(Vec::new());
        }
        let mut items = Vec::with_capacity(1);
        loop {
            items.push(self.block()?);
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        let expected = if closing == TokenKind::RightParen {
            AFTER_ARGUMENT
        } else {
            &["`,`", "`]`", "an operator"]
        };
        self.expect(closing, expected)?;
        Ok(items)
    }

    fn index(&mut self) -> Parse<SuffixKind> {
        let opening = self.bump();
        let index = self.bracketed(opening.span, |p| {
            let index = p.expr()?;
            p.expect(TokenKind::RightBracket, &["`]`", "an operator"])?;
            Ok(index)
        })?;
        Ok(SuffixKind::Index(Box::new(index)))
    }

    fn field_access(&mut self) -> Parse<SuffixKind> {
        self.bump();
        let label = self.expect(TokenKind::LowerName, &["a field name"])?;
        Ok(SuffixKind::Field(self.ident(label)))
    }

    fn primary(&mut self) -> Parse<Expr> {
        let token = self.token();
        let start = token.span.start;
        match token.kind {
            TokenKind::LeftParen => self.parentheses(),
            TokenKind::LeftBracket => self.array(start),
            TokenKind::LeftBrace => self.braces(start),
            TokenKind::While => self.while_loop(start),
            TokenKind::Tag => self.tag(start),
            TokenKind::UpperName => self.module_path(start),
            _ => self.name_or_literal(),
        }
    }

    fn name_or_literal(&mut self) -> Parse<Expr> {
        let token = self.token();
        let text = self.text(token.span);
        let kind = match token.kind {
            TokenKind::LowerName => ExprKind::Var(self.name(text)),
            // Out of range: already reported by the lexer.
            TokenKind::Int => ExprKind::Int(text.parse().unwrap_or(i64::MAX)),
            TokenKind::Float => ExprKind::Float(text.parse().unwrap_or(f64::MAX)),
            TokenKind::String => ExprKind::String(self.string_value(token)),
            TokenKind::True => ExprKind::Bool(true),
            TokenKind::False => ExprKind::Bool(false),
            _ => return Err(self.unexpected(AN_EXPRESSION)),
        };
        self.bump();
        Ok(self.make(kind, token.span.start))
    }

    fn parentheses(&mut self) -> Parse<Expr> {
        let opening = self.bump();
        if self.eat(TokenKind::RightParen).is_some() {
            return Ok(self.make(ExprKind::Unit, opening.span.start));
        }
        let mut inner = self.bracketed(opening.span, |p| {
            let inner = p.block()?;
            p.expect(TokenKind::RightParen, &["`)`", "`;`", "an operator"])?;
            Ok(inner)
        })?;
        inner.parenthesized = true;
        Ok(inner)
    }

    fn array(&mut self, start: u32) -> Parse<Expr> {
        let opening = self.bump();
        let items = self.bracketed(opening.span, |p| p.items(TokenKind::RightBracket))?;
        self.lint_array_sequence(&items);
        Ok(self.make(ExprKind::Array(items), start))
    }

    fn lint_array_sequence(&mut self, items: &[Expr]) {
        let sequence = items.iter().find(|item| {
            !item.parenthesized
                && matches!(&item.kind, ExprKind::Block(block) if block.is_sequence())
        });
        if let Some(sequence) = sequence {
            let semicolon = self.semicolon_in(sequence);
            let mut found = Diagnostic::new(
                Code::ArraySequence,
                sequence.span,
                "this is one array item: the value after the last `;`",
            )
            .help("separate array items with `,`");
            if let Some(semicolon) = semicolon {
                found = found.fix("Use a comma", semicolon, ",");
            }
            self.warn(found);
        }
    }

    /// The first `;` of a sequence.
    fn semicolon_in(&self, expr: &Expr) -> Option<Span> {
        let ExprKind::Block(block) = &expr.kind else {
            return None;
        };
        let step = block
            .steps
            .iter()
            .find(|step| matches!(step.kind, StepKind::Expr(_)))?;
        self.first_after(step.span.end, TokenKind::Semicolon)
    }

    fn while_loop(&mut self, start: u32) -> Parse<Expr> {
        let opening = self.bump();
        let kind = self.bracketed(opening.span, |p| {
            let condition = Box::new(p.block()?);
            p.expect(TokenKind::Do, &["`do`", "an operator"])?;
            let body = Box::new(p.block()?);
            p.expect(TokenKind::Done, &["`done`", "`;`", "an operator"])?;
            Ok(ExprKind::While { condition, body })
        })?;
        Ok(self.make(kind, start))
    }

    fn tag(&mut self, start: u32) -> Parse<Expr> {
        let tag = self.bump();
        let tag = self.ident(tag);
        let mut args = Vec::new();
        // An opening bracket on a later line still belongs to the tag, as it does to a callee.
        if self.kind() == TokenKind::LeftParen {
            let opening = self.token();
            self.lint_line_continues(opening);
            self.bump();
            args = self.bracketed(opening.span, |p| p.items(TokenKind::RightParen))?;
        }
        Ok(self.make(ExprKind::Tag { tag, args }, start))
    }

    /// `M`, `M.N`, `M.x` or `M.N.x`.
    fn module_path(&mut self, start: u32) -> Parse<Expr> {
        let first = self.bump();
        let mut path: Vec<Ident> = vec![self.ident(first)];
        while self.eat(TokenKind::Dot).is_some() {
            let token = self.token();
            match token.kind {
                TokenKind::UpperName => {
                    self.bump();
                    let module = self.ident(token);
                    path.push(module);
                }
                TokenKind::LowerName => {
                    self.bump();
                    let name = self.ident(token);
                    return Ok(self.make(ExprKind::Member { path, name }, start));
                }
                _ => return Err(self.unexpected(&["a name"])),
            }
        }
        Ok(self.make(ExprKind::Module(path), start))
    }

    fn braces(&mut self, start: u32) -> Parse<Expr> {
        let opening = self.bump();
        let kind = self.bracketed(opening.span, |p| {
            if p.eat(TokenKind::RightBrace).is_some() {
                return Ok(ExprKind::Record(Vec::new()));
            }
            if p.kind() == TokenKind::LowerName && p.kind_at(1) == TokenKind::Equal {
                return Ok(ExprKind::Record(p.fields()?));
            }
            let base = Box::new(p.block()?);
            p.expect(TokenKind::With, &["`with`", "`=` after a label"])?;
            Ok(ExprKind::Update {
                base,
                fields: p.fields()?,
            })
        })?;
        Ok(self.make(kind, start))
    }

    /// Fields up to the closing brace, which is read too.
    fn fields(&mut self) -> Parse<Vec<Field>> {
        let mut fields = Vec::new();
        loop {
            let label = self.expect(TokenKind::LowerName, &["a label"])?;
            let label = self.ident(label);
            self.expect(TokenKind::Equal, &["`=`"])?;
            let value = self.field_value()?;
            fields.push(Field { label, value });
            let separated = self.eat(TokenKind::Semicolon).is_some();
            if self.eat(TokenKind::RightBrace).is_some() {
                return Ok(fields);
            }
            if !separated {
                return Err(self.unexpected(&["`;`", "`}`", "an operator"]));
            }
        }
    }

    /// A string token's value, for patterns.
    pub(super) fn string_value(&mut self, token: Token) -> Name {
        decode_string(self.text(token.span), |_| {}).into()
    }
}
