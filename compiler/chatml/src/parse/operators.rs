//! Operators by precedence, with an explicit stack: a chain of operators costs no native stack,
//! and an operand without operators costs one call.

use super::Parse;
use super::cursor::Parser;
use crate::ast::{BinaryOp, BinaryStep, Expr, ExprKind, PrefixOp};
use crate::lex::{Token, TokenKind};
use crate::span::Span;

/// Levels of the table in spec 05 section 3.1, loosest first.
const COMPARISON: u8 = 2;
const ADDITIVE: u8 = 3;
const MULTIPLICATIVE: u8 = 4;
const PREFIX: u8 = 5;

/// An operator that waits for its right operand.
enum Pending {
    Prefix {
        op: PrefixOp,
        span: Span,
    },
    Binary {
        level: u8,
        first: Expr,
        start: u32,
        rest: Vec<BinaryStep>,
        op: BinaryOp,
        op_span: Span,
    },
}

impl Parser<'_> {
    /// An expression of operators, levels 2 to 6.
    pub(super) fn operators(&mut self) -> Parse<Expr> {
        let token = self.token();
        if prefix_op(token.kind).is_none() {
            let operand = self.operand()?;
            if binary_op(self.kind()).is_none() {
                return Ok(operand);
            }
            return self.operator_chain(Some(operand), token.span.start);
        }
        self.operator_chain(None, token.span.start)
    }

    #[inline(never)]
    fn operator_chain(&mut self, first: Option<Expr>, start: u32) -> Parse<Expr> {
        let depth = self.depth();
        let result = self.operator_loop(first, start);
        self.set_depth(depth);
        result
    }

    fn operator_loop(&mut self, mut first: Option<Expr>, mut start: u32) -> Parse<Expr> {
        let mut pending: Vec<Pending> = Vec::new();
        loop {
            let operand = match first.take() {
                Some(operand) => operand,
                None => {
                    self.prefixes(&mut pending)?;
                    start = self.token().span.start;
                    self.operand()?
                }
            };
            let next = binary_op(self.kind());
            let reduced = self.reduce(
                &mut pending,
                operand,
                start,
                next.map_or(0, |(_, level)| level),
            );
            let operator = self.token().span;
            match (next, reduced) {
                (None, Some((whole, _))) => return Ok(whole),
                (None, None) => return Err(self.unexpected(&["an operator"])),
                (Some((op, level)), Some((first, start))) => pending.push(Pending::Binary {
                    level,
                    first,
                    start,
                    rest: Vec::with_capacity(1),
                    op,
                    op_span: operator,
                }),
                (Some((next_op, _)), None) => {
                    if let Some(Pending::Binary { op, op_span, .. }) = pending.last_mut() {
                        *op = next_op;
                        *op_span = operator;
                    }
                }
            }
            self.bump();
        }
    }

    /// Prefix operators in front of an operand.
    fn prefixes(&mut self, pending: &mut Vec<Pending>) -> Parse<()> {
        while let Some(op) = prefix_op(self.kind()) {
            let token = self.token();
            // A minus after `*` or behind `!` takes a looser operand than its place allows.
            let looser = op != PrefixOp::Deref
                && match pending.last() {
                    Some(Pending::Binary { level, .. }) => *level == MULTIPLICATIVE,
                    Some(Pending::Prefix { op, .. }) => *op == PrefixOp::Deref,
                    None => false,
                };
            if looser {
                self.deepen(token.span)?;
            }
            self.bump();
            pending.push(Pending::Prefix {
                op,
                span: token.span,
            });
        }
        Ok(())
    }

    fn operand(&mut self) -> Parse<Expr> {
        let token = self.token();
        match token.kind {
            TokenKind::Ref => self.reference(token),
            TokenKind::Fun | TokenKind::If | TokenKind::Match => self.keyword_form(),
            TokenKind::Let | TokenKind::LetStar | TokenKind::LetPlus => self.inner_block(token),
            TokenKind::Type => Err(self.misplaced_type(token.span)),
            _ => self.postfix(),
        }
    }

    fn reference(&mut self, token: Token) -> Parse<Expr> {
        self.bump();
        let content = self.nested(token.span, Self::expr)?;
        Ok(self.make(ExprKind::Ref(Box::new(content)), token.span.start))
    }

    fn inner_block(&mut self, token: Token) -> Parse<Expr> {
        self.nested(token.span, Self::block)
    }

    /// Applies the waiting operators that take `operand` before an operator of level `next` would.
    /// Nothing comes back when the operand went into a chain of that level, now on top.
    fn reduce(
        &mut self,
        pending: &mut Vec<Pending>,
        operand: Expr,
        start: u32,
        next: u8,
    ) -> Option<(Expr, u32)> {
        let mut current = operand;
        let mut current_start = start;
        loop {
            current = self.reduce_prefixes(pending, current, &mut current_start, next);
            match pending.last() {
                Some(Pending::Binary { level, .. }) if next <= *level => {}
                _ => return Some((current, current_start)),
            }
            let Some(Pending::Binary {
                level,
                first,
                start,
                mut rest,
                op,
                op_span,
            }) = pending.pop()
            else {
                return Some((current, current_start));
            };
            rest.push(BinaryStep {
                op,
                op_span,
                right: current,
                span: self.span_from(start),
                id: self.new_id(),
            });
            if next == level {
                pending.push(Pending::Binary {
                    level,
                    first,
                    start,
                    rest,
                    op,
                    op_span,
                });
                return None;
            }
            let first = Box::new(first);
            current = self.make(ExprKind::Binary { first, rest }, start);
            current_start = start;
        }
    }

    /// Puts the prefix operators on top in front of `operand`; in a row they are one node.
    fn reduce_prefixes(
        &mut self,
        pending: &mut Vec<Pending>,
        operand: Expr,
        start: &mut u32,
        next: u8,
    ) -> Expr {
        let mut ops = Vec::new();
        while let Some(Pending::Prefix { op, span }) = pending.last() {
            let level = if *op == PrefixOp::Deref {
                PREFIX
            } else {
                MULTIPLICATIVE
            };
            if next >= level {
                break;
            }
            ops.push((*op, *span));
            pending.pop();
        }
        let Some((_, span)) = ops.last() else {
            return operand;
        };
        *start = span.start;
        ops.reverse();
        let operand = match operand {
            Expr {
                kind:
                    ExprKind::Prefix {
                        ops: inner,
                        operand,
                    },
                parenthesized: false,
                ..
            } => {
                ops.extend(inner);
                operand
            }
            other => Box::new(other),
        };
        self.make(ExprKind::Prefix { ops, operand }, *start)
    }
}

const fn prefix_op(kind: TokenKind) -> Option<PrefixOp> {
    match kind {
        TokenKind::Bang => Some(PrefixOp::Deref),
        TokenKind::Minus => Some(PrefixOp::Negate),
        TokenKind::MinusDot => Some(PrefixOp::NegateFloat),
        _ => None,
    }
}

/// A binary operator and its level.
const fn binary_op(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    use BinaryOp as B;
    use TokenKind as T;
    let (op, level) = match kind {
        T::EqualEqual => (B::Equal, COMPARISON),
        T::NotEqual => (B::NotEqual, COMPARISON),
        T::Less => (B::Less, COMPARISON),
        T::Greater => (B::Greater, COMPARISON),
        T::LessEqual => (B::LessEqual, COMPARISON),
        T::GreaterEqual => (B::GreaterEqual, COMPARISON),
        T::LessDot => (B::LessFloat, COMPARISON),
        T::GreaterDot => (B::GreaterFloat, COMPARISON),
        T::LessEqualDot => (B::LessEqualFloat, COMPARISON),
        T::GreaterEqualDot => (B::GreaterEqualFloat, COMPARISON),
        T::Plus => (B::Add, ADDITIVE),
        T::Minus => (B::Subtract, ADDITIVE),
        T::PlusPlus => (B::Concat, ADDITIVE),
        T::PlusDot => (B::AddFloat, ADDITIVE),
        T::MinusDot => (B::SubtractFloat, ADDITIVE),
        T::Star => (B::Multiply, MULTIPLICATIVE),
        T::Slash => (B::Divide, MULTIPLICATIVE),
        T::StarDot => (B::MultiplyFloat, MULTIPLICATIVE),
        T::SlashDot => (B::DivideFloat, MULTIPLICATIVE),
        _ => return None,
    };
    Some((op, level))
}
