//! Calls, field accesses and indexing: the suffixes of an expression.

use super::scope::Binding;
use super::{Compiled, Compiler};
use crate::ast::{Expr, ExprKind, Suffix, SuffixKind};
use crate::eval::{Instr, Reg};
use crate::library;
use crate::span::Span;

/// What a call calls.
#[derive(Debug, Clone, Copy)]
enum Callee {
    /// A function that captures nothing.
    Known(u32),
    /// A library function without a loop.
    Builtin(u16),
    /// The value of a register.
    Value(Reg),
}

impl Compiler {
    /// A chain of suffixes into a register.
    pub(super) fn postfix(&mut self, expr: &Expr, dst: Reg) -> Compiled<()> {
        let ExprKind::Postfix { base, suffixes } = &expr.kind else {
            return Ok(());
        };
        let floor = self.floor();
        let mut done = 0;
        let mut value = None;
        if let Some(Suffix {
            kind: SuffixKind::Call(args),
            span,
            ..
        }) = suffixes.first()
        {
            done = 1;
            let target = if suffixes.len() == 1 {
                dst
            } else {
                self.register(*span)?
            };
            if !self.keys_of_module(base, args, target, *span)? {
                let callee = self.callee(base)?;
                self.call(callee, args, target, *span)?;
            }
            value = Some(target);
        }
        let mut value = match value {
            Some(value) => value,
            None => self.operand(base)?,
        };
        for (index, suffix) in suffixes.iter().enumerate().skip(done) {
            let target = if index + 1 == suffixes.len() {
                dst
            } else {
                self.register(suffix.span)?
            };
            self.suffix(value, suffix, target)?;
            value = target;
        }
        self.free(floor);
        Ok(())
    }

    /// A chain that ends in a call, in tail position.
    pub(super) fn tail_call(&mut self, base: &Expr, suffixes: &[Suffix]) -> Compiled<()> {
        let floor = self.floor();
        let Some((
            Suffix {
                kind: SuffixKind::Call(args),
                span,
                ..
            },
            before,
        )) = suffixes.split_last()
        else {
            return Ok(());
        };
        let callee = if before.is_empty() {
            let target = self.register(*span)?;
            if self.keys_of_module(base, args, target, *span)? {
                self.emit(Instr::Return { src: target }, *span);
                self.free(floor);
                return Ok(());
            }
            self.callee(base)?
        } else {
            let mut value = self.callee(base)?;
            for suffix in before {
                let target = self.register(suffix.span)?;
                match (value, &suffix.kind) {
                    (callee, SuffixKind::Call(args)) => {
                        self.call(callee, args, target, suffix.span)?;
                    }
                    (Callee::Value(source), _) => self.suffix(source, suffix, target)?,
                    (callee, _) => {
                        self.load_callee(callee, target, suffix.span);
                        self.suffix(target, suffix, target)?;
                    }
                }
                value = Callee::Value(target);
            }
            value
        };
        let base = self.arguments(args, *span)?;
        let count = u16::try_from(args.len()).unwrap_or(u16::MAX);
        match callee {
            Callee::Known(function) => self.emit(Instr::TailKnown { base, function }, *span),
            Callee::Builtin(builtin) => {
                let dst = self.register(*span)?;
                self.emit(
                    Instr::CallBuiltin {
                        dst,
                        base,
                        count,
                        builtin,
                    },
                    *span,
                );
                self.emit(Instr::Return { src: dst }, *span);
            }
            Callee::Value(callee) => self.emit(
                Instr::TailCall {
                    callee,
                    base,
                    count,
                },
                *span,
            ),
        }
        self.free(floor);
        Ok(())
    }

    fn load_callee(&mut self, callee: Callee, dst: Reg, span: Span) {
        let instr = match callee {
            Callee::Known(function) => Instr::Closure { dst, function },
            Callee::Builtin(builtin) => Instr::Const {
                dst,
                index: self.constant(crate::value::Value::Builtin(builtin)),
            },
            Callee::Value(src) => Instr::Move { dst, src },
        };
        self.emit(instr, span);
    }

    /// What an expression in front of `(` calls; evaluates it when it is no known function.
    fn callee(&mut self, expr: &Expr) -> Compiled<Callee> {
        let binding = match &expr.kind {
            ExprKind::Var(name) => Some(self.variable(name, expr.span)?),
            ExprKind::Member { path, name } => Some(self.member(path, name, expr.span)?),
            _ => None,
        };
        Ok(match binding {
            Some(
                Binding::Global {
                    function: Some(function),
                    ..
                }
                | Binding::Function(function),
            ) => Callee::Known(function),
            Some(Binding::Builtin(builtin)) => match library::loop_function(builtin) {
                Some(function) => Callee::Known(function),
                None => Callee::Builtin(builtin),
            },
            _ => Callee::Value(self.operand(expr)?),
        })
    }

    fn suffix(&mut self, value: Reg, suffix: &Suffix, dst: Reg) -> Compiled<()> {
        match &suffix.kind {
            SuffixKind::Call(args) => self.call(Callee::Value(value), args, dst, suffix.span),
            SuffixKind::Field(label) => {
                let site = self.field_site(&label.name);
                let src = value;
                self.emit(Instr::Field { dst, src, site }, suffix.span);
                Ok(())
            }
            SuffixKind::Index(index) => {
                let floor = self.floor();
                let index = self.operand(index)?;
                let array = value;
                self.emit(Instr::Index { dst, array, index }, suffix.span);
                self.free(floor);
                Ok(())
            }
        }
    }

    fn call(&mut self, callee: Callee, args: &[Expr], dst: Reg, span: Span) -> Compiled<()> {
        let floor = self.floor();
        let base = self.arguments(args, span)?;
        let count = u16::try_from(args.len()).unwrap_or(u16::MAX);
        let instr = match callee {
            Callee::Known(function) => Instr::CallKnown {
                dst,
                base,
                function,
            },
            Callee::Builtin(builtin) => Instr::CallBuiltin {
                dst,
                base,
                count,
                builtin,
            },
            Callee::Value(callee) => Instr::Call {
                dst,
                callee,
                base,
                count,
            },
        };
        self.emit(instr, span);
        self.free(floor);
        Ok(())
    }

    /// Arguments go to the highest registers: they are the callee's first.
    fn arguments(&mut self, args: &[Expr], span: Span) -> Compiled<Reg> {
        self.consecutive(args.iter(), args.len(), span)
    }

    /// `record_keys(M)`: the names of a module are known here.
    fn keys_of_module(
        &mut self,
        base: &Expr,
        args: &[Expr],
        dst: Reg,
        span: Span,
    ) -> Compiled<bool> {
        let [
            Expr {
                kind: ExprKind::Module(path),
                ..
            },
        ] = args
        else {
            return Ok(false);
        };
        let ExprKind::Var(_) = &base.kind else {
            return Ok(false);
        };
        self.emit(Instr::Step, span);
        let names = self.module_names(path, span)?;
        let floor = self.floor();
        let array = self.register(span)?;
        let len = u32::try_from(names.len()).unwrap_or(u32::MAX);
        self.emit(Instr::NewArray { dst: array, len }, span);
        for (index, name) in (0u32..).zip(&names) {
            let src = self.register(span)?;
            let constant = self.text_constant(name);
            self.emit(
                Instr::Const {
                    dst: src,
                    index: constant,
                },
                span,
            );
            self.emit(Instr::InitItem { array, index, src }, span);
            self.free(floor);
            self.register(span)?;
        }
        self.emit(Instr::Move { dst, src: array }, span);
        self.free(floor);
        Ok(true)
    }
}
