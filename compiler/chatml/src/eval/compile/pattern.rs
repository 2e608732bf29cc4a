//! Patterns: tests that jump away, and names for the parts.

use super::builder::Hole;
use super::condition::LATER;
use super::scope::Binding;
use super::{Compiled, Compiler};
use crate::ast::{Pattern, PatternKind};
use crate::eval::{Instr, Reg};
use crate::span::Span;
use crate::value::Value;

impl Compiler {
    /// Tests the value of a register; the jumps in `no` are taken when the pattern does not apply. A
    /// record pattern looks only at the labels it lists (spec 05 section 6).
    pub(super) fn pattern(
        &mut self,
        pattern: &Pattern,
        src: Reg,
        no: &mut Vec<Hole>,
    ) -> Compiled<()> {
        let span = pattern.span;
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Unit => {}
            PatternKind::Var(name) => {
                let level = self.level();
                self.scope.bind(
                    name,
                    Binding::Local {
                        level,
                        register: src,
                    },
                );
            }
            PatternKind::Int(value) => match i16::try_from(*value) {
                Ok(value) => {
                    let to = LATER;
                    let jump = Instr::JumpUnlessEqImm { a: src, value, to };
                    no.push(self.emit_jump(jump, span));
                }
                Err(_) => self.literal(Value::Int(*value), src, span, no),
            },
            PatternKind::Float(value) => self.literal(Value::Float(*value), src, span, no),
            PatternKind::Bool(value) => {
                let jump = Instr::JumpUnless {
                    cond: src,
                    expected: *value,
                    to: LATER,
                };
                no.push(self.emit_jump(jump, span));
            }
            PatternKind::String(text) => {
                let index = self.text_constant(text);
                let to = LATER;
                let jump = Instr::JumpUnlessConst { src, index, to };
                no.push(self.emit_jump(jump, span));
            }
            PatternKind::Tag { tag, args } => {
                let count = u32::try_from(args.len()).unwrap_or(u32::MAX);
                let case = self.symbols.case(&tag.name, count).0;
                let to = LATER;
                let jump = Instr::JumpUnlessCase { src, case, to };
                no.push(self.emit_jump(jump, span));
                for (index, arg) in (0..).zip(args) {
                    if binds_nothing(arg) {
                        continue;
                    }
                    let dst = self.register(span)?;
                    self.emit(Instr::Argument { dst, src, index }, span);
                    self.pattern(arg, dst, no)?;
                }
            }
            PatternKind::Record { fields, .. } => {
                for (label, field) in fields {
                    if binds_nothing(field) {
                        continue;
                    }
                    let dst = self.register(span)?;
                    let site = self.field_site(&label.name);
                    self.emit(Instr::Field { dst, src, site }, span);
                    self.pattern(field, dst, no)?;
                }
            }
        }
        Ok(())
    }

    fn literal(&mut self, value: Value, src: Reg, span: Span, no: &mut Vec<Hole>) {
        let index = self.constant(value);
        let to = LATER;
        no.push(self.emit_jump(Instr::JumpUnlessConst { src, index, to }, span));
    }
}

/// Whether a pattern accepts everything and names nothing.
fn binds_nothing(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Wildcard | PatternKind::Unit)
}
