//! Sequences, assignments and operators.

use super::Parse;
use super::cursor::Parser;
use super::hints::AN_EXPRESSION;
use crate::ast::{Binder, Block, Expr, ExprKind, Step, StepKind, SuffixKind, TaskBinding};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::TokenKind;
use crate::span::Span;

impl Parser<'_> {
    /// A sequence: `a; let x = e in b; c`.
    pub(super) fn block(&mut self) -> Parse<Expr> {
        let token = self.token();
        if matches!(
            token.kind,
            TokenKind::Let | TokenKind::LetStar | TokenKind::LetPlus
        ) {
            return self.block_after(token.span.start, Vec::new());
        }
        // Most blocks are one expression: keep this frame small, it repeats with every bracket.
        let only = self.expr()?;
        if self.kind() != TokenKind::Semicolon || self.field_ends_here() {
            return Ok(only);
        }
        self.sequence(token.span.start, only)
    }

    fn sequence(&mut self, start: u32, first: Expr) -> Parse<Expr> {
        self.bump();
        let step = Step {
            span: first.span,
            kind: StepKind::Expr(first),
        };
        self.block_after(start, vec![step])
    }

    /// The rest of a sequence of which some steps are read.
    pub(super) fn block_after(&mut self, start: u32, mut steps: Vec<Step>) -> Parse<Expr> {
        let mut last_let = None;
        loop {
            let token = self.token();
            let kind = match token.kind {
                TokenKind::Let | TokenKind::LetStar | TokenKind::LetPlus => self.local_binding()?,
                TokenKind::End if last_let.is_some() => {
                    return self.opened(last_let.unwrap_or_default(), |p| {
                        Err(p.unexpected(AN_EXPRESSION))
                    });
                }
                _ => {
                    let expr = self.expr()?;
                    if self.kind() != TokenKind::Semicolon || self.field_ends_here() {
                        return Ok(self.finish_block(start, steps, expr));
                    }
                    self.bump();
                    StepKind::Expr(expr)
                }
            };
            let span = match &kind {
                StepKind::Expr(expr) => expr.span,
                _ => {
                    last_let = Some(token.span);
                    self.span_from(token.span.start)
                }
            };
            steps.push(Step { kind, span });
        }
    }

    fn finish_block(&mut self, start: u32, steps: Vec<Step>, result: Expr) -> Expr {
        if steps.is_empty() {
            return result;
        }
        let block = Block {
            steps,
            result: Box::new(result),
        };
        self.make(ExprKind::Block(block), start)
    }

    /// `let … in`, `let* … in` or `let+ … in`.
    fn local_binding(&mut self) -> Parse<StepKind> {
        let opening = self.token();
        self.nested(opening.span, |p| {
            let kind = match opening.kind {
                TokenKind::Let => p.let_binding()?,
                _ => p.task_binding(opening.kind)?,
            };
            p.expect(TokenKind::In, &["`in`", "an operator"])?;
            Ok(kind)
        })
    }

    fn task_binding(&mut self, opening: TokenKind) -> Parse<StepKind> {
        self.bump();
        let token = self.token();
        let binder = match token.kind {
            TokenKind::LowerName | TokenKind::Underscore => self.binder(),
            TokenKind::LeftParen if self.kind_at(1) == TokenKind::RightParen => {
                self.bump();
                self.bump();
                Binder {
                    name: None,
                    span: self.span_from(token.span.start),
                }
            }
            _ => return Err(self.unexpected(&["a name", "`_`", "`()`"])),
        };
        self.expect(TokenKind::Equal, &["`=`"])?;
        let binding = TaskBinding {
            binder,
            task: self.block()?,
        };
        Ok(if opening == TokenKind::LetStar {
            StepKind::Bind(binding)
        } else {
            StepKind::Map(binding)
        })
    }

    /// Level 1: `:=`, `a[i] <- e`, or an operator expression.
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        let start = self.token().span.start;
        let left = self.operators()?;
        match self.kind() {
            TokenKind::ColonEqual => self.assignment(left, start),
            TokenKind::LeftArrow => self.item_assignment(left, start),
            _ => Ok(left),
        }
    }

    fn assignment(&mut self, target: Expr, start: u32) -> Parse<Expr> {
        let operator = self.bump().span;
        let value = self.nested(operator, Self::expr)?;
        Ok(self.make(
            ExprKind::Assign {
                target: Box::new(target),
                value: Box::new(value),
            },
            start,
        ))
    }

    fn item_assignment(&mut self, left: Expr, start: u32) -> Parse<Expr> {
        let (array, index) = split_index(left).map_err(|span| {
            let found = Diagnostic::new(
                Code::InvalidAssignment,
                span,
                "only an array element can stand left of `<-`",
            )
            .help("write `a[i] <- v`, or `r := v` for a reference");
            self.fail(found)
        })?;
        let operator = self.bump().span;
        let value = self.nested(operator, Self::expr)?;
        Ok(self.make(
            ExprKind::SetIndex {
                array: Box::new(array),
                index: Box::new(index),
                value: Box::new(value),
            },
            start,
        ))
    }
}

/// `a[i]` as `a` and `i`; anything that is no bare indexing comes back as the error.
fn split_index(expr: Expr) -> Result<(Expr, Expr), Span> {
    let span = expr.span;
    let ExprKind::Postfix { base, mut suffixes } = expr.kind else {
        return Err(span);
    };
    let last = suffixes.pop().filter(|_| !expr.parenthesized).ok_or(span)?;
    let SuffixKind::Index(index) = last.kind else {
        return Err(span);
    };
    let array = match suffixes.last() {
        None => *base,
        Some(before) => Expr {
            span: before.span,
            id: before.id,
            kind: ExprKind::Postfix { base, suffixes },
            parenthesized: false,
        },
    };
    Ok((array, *index))
}
