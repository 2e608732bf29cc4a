//! Types as scripts write them.

use super::Parse;
use super::cursor::Parser;
use crate::ast::{Ident, TypeExpr, TypeExprKind};
use crate::lex::TokenKind;

const A_TYPE: &[&str] = &["a type"];

impl Parser<'_> {
    pub(super) fn type_expr(&mut self) -> Parse<TypeExpr> {
        let start = self.token().span.start;
        let mut last = self.postfix_type()?;
        let mut params = Vec::new();
        while self.eat(TokenKind::Arrow).is_some() {
            params.push(last);
            last = self.postfix_type()?;
        }
        if params.is_empty() {
            return Ok(last);
        }
        let result = Box::new(last);
        Ok(self.make_type(TypeExprKind::Arrow { params, result }, start))
    }

    fn make_type(&self, kind: TypeExprKind, start: u32) -> TypeExpr {
        TypeExpr {
            kind,
            span: self.span_from(start),
            parenthesized: false,
        }
    }

    fn postfix_type(&mut self) -> Parse<TypeExpr> {
        let start = self.token().span.start;
        let base = self.primary_type()?;
        let mut constructors = Vec::new();
        // A name on a new line may start the next statement: no grammar rule says so, but a
        // declaration followed by an expression statement would otherwise read as one type.
        while self.kind() == TokenKind::LowerName
            && (self.at_constructor() || !self.token().first_on_line)
        {
            let token = self.bump();
            let constructor = self.ident(token);
            constructors.push(constructor);
        }
        if constructors.is_empty() {
            return Ok(base);
        }
        let base = Box::new(base);
        Ok(self.make_type(TypeExprKind::Postfix { base, constructors }, start))
    }

    fn at_constructor(&self) -> bool {
        matches!(self.text(self.token().span), "array" | "task")
    }

    fn primary_type(&mut self) -> Parse<TypeExpr> {
        let token = self.token();
        let kind = match token.kind {
            TokenKind::LowerName => {
                self.bump();
                TypeExprKind::Name(self.ident(token).name)
            }
            TokenKind::LeftParen => {
                self.bump();
                let mut inner = self.bracketed(token.span, |p| {
                    let inner = p.type_expr()?;
                    p.expect(TokenKind::RightParen, &["`)`", "`->`"])?;
                    Ok(inner)
                })?;
                inner.parenthesized = true;
                return Ok(inner);
            }
            TokenKind::LeftBrace => self.record_type()?,
            TokenKind::LeftBracket => self.variant_type()?,
            _ => return Err(self.unexpected(A_TYPE)),
        };
        Ok(self.make_type(kind, token.span.start))
    }

    fn record_type(&mut self) -> Parse<TypeExprKind> {
        let opening = self.bump();
        self.bracketed(opening.span, |p| {
            let mut fields: Vec<(Ident, TypeExpr)> = Vec::new();
            while p.eat(TokenKind::RightBrace).is_none() {
                let label = p.expect(TokenKind::LowerName, &["a label", "`}`"])?;
                let label = p.ident(label);
                p.expect(TokenKind::Colon, &["`:`"])?;
                fields.push((label, p.type_expr()?));
                if p.eat(TokenKind::Semicolon).is_none() {
                    p.expect(TokenKind::RightBrace, &["`;`", "`}`"])?;
                    break;
                }
            }
            Ok(TypeExprKind::Record(fields))
        })
    }

    fn variant_type(&mut self) -> Parse<TypeExprKind> {
        let opening = self.bump();
        self.bracketed(opening.span, |p| {
            let mut cases = Vec::new();
            if p.eat(TokenKind::RightBracket).is_some() {
                return Ok(TypeExprKind::Variant(cases));
            }
            p.eat(TokenKind::Bar);
            loop {
                cases.push(p.type_case()?);
                if p.eat(TokenKind::Bar).is_none() {
                    break;
                }
            }
            p.expect(TokenKind::RightBracket, &["`|`", "`]`"])?;
            Ok(TypeExprKind::Variant(cases))
        })
    }

    fn type_case(&mut self) -> Parse<(Ident, Vec<TypeExpr>)> {
        let tag = self.expect(TokenKind::Tag, &["a tag"])?;
        let tag = self.ident(tag);
        let mut args = Vec::new();
        if self.kind() == TokenKind::LeftParen {
            let opening = self.bump();
            args = self.bracketed(opening.span, |p| {
                let mut args = vec![p.type_expr()?];
                while p.eat(TokenKind::Comma).is_some() {
                    args.push(p.type_expr()?);
                }
                p.expect(TokenKind::RightParen, &["`,`", "`)`"])?;
                Ok(args)
            })?;
        }
        Ok((tag, args))
    }
}
