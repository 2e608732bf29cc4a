//! The code of one function while it grows.

use std::collections::HashMap;

use super::{CompileError, Compiled, Compiler, MAX_CAPTURES};
use crate::eval::{Function, Instr, Reg, Source};
use crate::span::Span;

/// Registers a function may have.
const MAX_REGISTERS: u32 = 65_000;

/// A jump whose target is not known yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hole(usize);

#[derive(Debug)]
pub(super) struct FunctionBuilder {
    code: Vec<Instr>,
    spans: Vec<Span>,
    parameters: u16,
    /// The next free register.
    next: u32,
    /// One more than the largest register.
    registers: u32,
    captures: Vec<Source>,
    /// Index of a captured register of an outer function.
    captured: HashMap<(usize, Reg), u16>,
}

impl FunctionBuilder {
    pub(super) fn new(parameters: u16) -> Self {
        Self {
            code: Vec::new(),
            spans: Vec::new(),
            parameters,
            next: u32::from(parameters),
            registers: u32::from(parameters),
            captures: Vec::new(),
            captured: HashMap::new(),
        }
    }

    pub(super) fn finish(self) -> Function {
        Function {
            code: self.code.into(),
            spans: self.spans.into(),
            parameters: self.parameters,
            // A call may find its result register or its arguments at the very end.
            registers: self.registers + 1,
            captures: self.captures.into(),
            library: false,
        }
    }
}

/// How many registers were taken when a scope began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Floor(u32);

impl Compiler {
    fn builder(&mut self) -> &mut FunctionBuilder {
        if self.builders.is_empty() {
            // There always is one; this keeps the type total.
            self.builders.push(FunctionBuilder::new(0));
        }
        let last = self.builders.len() - 1;
        &mut self.builders[last]
    }

    pub(super) fn emit(&mut self, instr: Instr, span: Span) {
        let builder = self.builder();
        builder.code.push(instr);
        builder.spans.push(span);
    }

    /// Where the next instruction goes.
    pub(super) fn here(&mut self) -> u32 {
        u32::try_from(self.builder().code.len()).unwrap_or(u32::MAX)
    }

    /// Emits a jump that [`Self::land`] completes.
    pub(super) fn emit_jump(&mut self, instr: Instr, span: Span) -> Hole {
        let hole = Hole(self.builder().code.len());
        self.emit(instr, span);
        hole
    }

    /// Lets a jump lead to the next instruction.
    pub(super) fn land(&mut self, hole: Hole) {
        let here = self.here();
        let Some(instr) = self.builder().code.get_mut(hole.0) else {
            return;
        };
        match instr {
            Instr::Jump { to }
            | Instr::JumpUnless { to, .. }
            | Instr::JumpUnlessLess { to, .. }
            | Instr::JumpUnlessLessEq { to, .. }
            | Instr::JumpUnlessLessImm { to, .. }
            | Instr::JumpUnlessLessEqImm { to, .. }
            | Instr::JumpUnlessMoreImm { to, .. }
            | Instr::JumpUnlessMoreEqImm { to, .. }
            | Instr::JumpUnlessEqImm { to, .. }
            | Instr::JumpUnlessNotEqImm { to, .. }
            | Instr::JumpUnlessConst { to, .. }
            | Instr::JumpUnlessCase { to, .. } => *to = here,
            _ => {}
        }
    }

    pub(super) fn land_all(&mut self, holes: Vec<Hole>) {
        for hole in holes {
            self.land(hole);
        }
    }

    /// A free register.
    pub(super) fn register(&mut self, span: Span) -> Compiled<Reg> {
        self.registers(1, span)
    }

    /// The first of several free registers in a row.
    pub(super) fn registers(&mut self, count: usize, span: Span) -> Compiled<Reg> {
        let builder = self.builder();
        let first = builder.next;
        let end = u32::try_from(count)
            .ok()
            .and_then(|count| first.checked_add(count))
            .filter(|end| *end <= MAX_REGISTERS)
            .ok_or_else(|| {
                CompileError::too_complex(
                    span,
                    "the function needs too many values at once; split it",
                )
            })?;
        builder.next = end;
        builder.registers = builder.registers.max(end);
        Ok(Reg::try_from(first).unwrap_or(Reg::MAX))
    }

    pub(super) fn floor(&mut self) -> Floor {
        Floor(self.builder().next)
    }

    /// Frees every register that was taken since.
    pub(super) fn free(&mut self, floor: Floor) {
        self.builder().next = floor.0;
    }

    /// The index under which the innermost function captures a register of an outer one. Every
    /// function in between captures it too.
    pub(super) fn capture(&mut self, level: usize, register: Reg, span: Span) -> Compiled<u16> {
        let key = (level, register);
        let mut index = 0;
        // The functions from the innermost outwards that do not have it yet.
        let known = self
            .builders
            .iter()
            .enumerate()
            .skip(level + 1)
            .rev()
            .find_map(|(at, builder)| builder.captured.get(&key).map(|index| (at, *index)));
        let first = match known {
            Some((at, found)) => {
                index = found;
                at + 1
            }
            None => level + 1,
        };
        for at in first..self.builders.len() {
            let source = if at == level + 1 {
                Source::Register(register)
            } else {
                Source::Captured(index)
            };
            self.captured += 1;
            let total = self.captured;
            let Some(builder) = self.builders.get_mut(at) else {
                break;
            };
            let next = u16::try_from(builder.captures.len());
            let (Ok(next), true) = (next, total <= MAX_CAPTURES) else {
                return Err(CompileError::too_complex(
                    span,
                    "the functions capture too many values; split the program",
                ));
            };
            builder.captures.push(source);
            builder.captured.insert(key, next);
            index = next;
        }
        Ok(index)
    }
}
