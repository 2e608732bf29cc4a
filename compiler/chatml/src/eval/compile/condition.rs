//! Branches: `if`, the conditions of `if` and `while`, and `match`.

use super::builder::Hole;
use super::{Compiled, Compiler};
use crate::ast::{Arm, BinaryOp, Expr, ExprKind};
use crate::eval::{Instr, Reg};

/// Stands in a jump until its target is known.
pub(super) const LATER: u32 = u32::MAX;

impl Compiler {
    /// `if` and `match`.
    pub(super) fn branching(&mut self, expr: &Expr, dst: Option<Reg>) -> Compiled<()> {
        let mut ends = Vec::new();
        match &expr.kind {
            ExprKind::If {
                branches,
                otherwise,
            } => {
                for branch in branches {
                    let mut no = Vec::new();
                    self.condition(&branch.condition, &mut no)?;
                    self.deliver(&branch.body, dst)?;
                    if dst.is_some() {
                        ends.push(self.emit_jump(Instr::Jump { to: LATER }, branch.body.span));
                    }
                    self.land_all(no);
                }
                self.deliver(otherwise, dst)?;
            }
            ExprKind::Match { scrutinee, arms } => {
                let floor = self.floor();
                let value = self.operand(scrutinee)?;
                for arm in arms {
                    self.arm(arm, value, dst, &mut ends)?;
                }
                self.emit(Instr::NoMatch, expr.span);
                self.free(floor);
            }
            _ => {}
        }
        self.land_all(ends);
        Ok(())
    }

    fn arm(
        &mut self,
        arm: &Arm,
        value: Reg,
        dst: Option<Reg>,
        ends: &mut Vec<Hole>,
    ) -> Compiled<()> {
        let floor = self.floor();
        let mark = self.scope.mark();
        let mut no = Vec::new();
        self.pattern(&arm.pattern, value, &mut no)?;
        self.deliver(&arm.body, dst)?;
        if dst.is_some() {
            ends.push(self.emit_jump(Instr::Jump { to: LATER }, arm.body.span));
        }
        self.land_all(no);
        self.scope.leave(mark);
        self.free(floor);
        Ok(())
    }

    /// Goes on when the condition holds; the jumps in `no` are taken when it does not.
    pub(super) fn condition(&mut self, expr: &Expr, no: &mut Vec<Hole>) -> Compiled<()> {
        let floor = self.floor();
        let jump = match self.comparison(expr)? {
            Some(jump) => jump,
            None => Instr::JumpUnless {
                cond: self.operand(expr)?,
                expected: true,
                to: LATER,
            },
        };
        no.push(self.emit_jump(jump, expr.span));
        self.free(floor);
        Ok(())
    }

    /// The fused jump of an integer comparison.
    fn comparison(&mut self, expr: &Expr) -> Compiled<Option<Instr>> {
        let ExprKind::Binary { first, rest } = &expr.kind else {
            return Ok(None);
        };
        let [step] = rest.as_slice() else {
            return Ok(None);
        };
        let to = LATER;
        if let Some(value) = small(&step.right) {
            let known = matches!(
                step.op,
                BinaryOp::Less
                    | BinaryOp::LessEqual
                    | BinaryOp::Greater
                    | BinaryOp::GreaterEqual
                    | BinaryOp::Equal
                    | BinaryOp::NotEqual
            );
            if !known {
                return Ok(None);
            }
            let a = self.operand(first)?;
            return Ok(Some(match step.op {
                BinaryOp::Less => Instr::JumpUnlessLessImm { a, value, to },
                BinaryOp::LessEqual => Instr::JumpUnlessLessEqImm { a, value, to },
                BinaryOp::Greater => Instr::JumpUnlessMoreImm { a, value, to },
                BinaryOp::GreaterEqual => Instr::JumpUnlessMoreEqImm { a, value, to },
                BinaryOp::NotEqual => Instr::JumpUnlessNotEqImm { a, value, to },
                _ => Instr::JumpUnlessEqImm { a, value, to },
            }));
        }
        let swapped = matches!(step.op, BinaryOp::Greater | BinaryOp::GreaterEqual);
        let strict = matches!(step.op, BinaryOp::Less | BinaryOp::Greater);
        if !strict && !matches!(step.op, BinaryOp::LessEqual | BinaryOp::GreaterEqual) {
            return Ok(None);
        }
        let left = self.operand(first)?;
        let right = self.operand(&step.right)?;
        let (a, b) = if swapped {
            (right, left)
        } else {
            (left, right)
        };
        Ok(Some(if strict {
            Instr::JumpUnlessLess { a, b, to }
        } else {
            Instr::JumpUnlessLessEq { a, b, to }
        }))
    }
}

/// An integer literal that fits a jump.
fn small(expr: &Expr) -> Option<i16> {
    match &expr.kind {
        ExprKind::Int(value) => i16::try_from(*value).ok(),
        _ => None,
    }
}
