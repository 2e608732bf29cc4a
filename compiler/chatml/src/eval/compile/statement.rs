//! Statements: top-level names become globals, modules are only a way to name them.

use super::scope::{Binding, ModuleId};
use super::{CompileError, Compiled, Compiler};
use crate::ast::{self, ExprKind, Statement, StatementKind};
use crate::eval::{Instr, Reg};
use crate::span::Span;

impl Compiler {
    /// Compiles the statements into the outermost function; says whether the last has a value.
    pub(super) fn program(&mut self, statements: &[Statement]) -> Compiled<bool> {
        let span = Span::default();
        let result = self.register(span)?;
        self.emit(Instr::Unit { dst: result }, span);
        let mut has_value = false;
        for statement in statements {
            has_value = self.statement(statement, None, result)?;
        }
        self.emit(Instr::Return { src: result }, span);
        Ok(has_value)
    }

    /// Compiles one statement; its value, if it has one, goes to `result`.
    fn statement(
        &mut self,
        statement: &Statement,
        module: Option<ModuleId>,
        result: Reg,
    ) -> Compiled<bool> {
        let floor = self.floor();
        let has_value = match &statement.kind {
            StatementKind::Type(_) => false,
            StatementKind::Expr(expr) => {
                self.expression(expr, result)?;
                true
            }
            StatementKind::Let(binding) => {
                let bound = self.top_level(&binding.value, result)?;
                if let Some(name) = &binding.binder.name {
                    self.define(name, bound, module);
                }
                true
            }
            StatementKind::LetRec(bindings) => {
                self.top_level_recursive(bindings, module, result)?;
                true
            }
            StatementKind::Module { name, body } => {
                let id = self.scope.new_module();
                let mark = self.scope.mark();
                self.scope.bind(&name.name, Binding::Module(id));
                for item in body {
                    self.statement(item, Some(id), result)?;
                }
                self.scope.leave(mark);
                self.define(&name.name, Binding::Module(id), module);
                false
            }
            StatementKind::Open(name) => {
                self.open(name)?;
                false
            }
            StatementKind::Error { .. } => {
                return Err(CompileError::unchecked(
                    statement.span,
                    "the program has a syntax error",
                ));
            }
        };
        self.free(floor);
        Ok(has_value)
    }

    fn open(&mut self, name: &ast::Ident) -> Compiled<()> {
        match self.module_path(std::slice::from_ref(name), name.span)? {
            Binding::Module(module) => {
                for (name, binding) in self.scope.exports(module) {
                    self.scope.bind(&name, binding);
                }
            }
            Binding::Library(module) => {
                for id in &module.functions {
                    if let Some(builtin) = crate::surface::builtin_at(*id) {
                        let name = ast::Name::from(builtin.name);
                        self.scope.bind(&name, Binding::Builtin(id.0));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Binds a top-level or module name.
    fn define(&mut self, name: &ast::Name, binding: Binding, module: Option<ModuleId>) {
        self.scope.bind(name, binding);
        match module {
            Some(module) => self.scope.export(module, name, binding),
            None => {
                if let Binding::Global { index, .. } = binding {
                    self.names.insert(name.clone(), index);
                }
            }
        }
    }

    /// Evaluates the right side of a top-level binding into a new global and `result`.
    fn top_level(&mut self, value: &ast::Expr, result: Reg) -> Compiled<Binding> {
        let function = match &value.kind {
            ExprKind::Fun(lambda) => {
                let function = self.reserve_function();
                self.function(function, lambda, value.span)?;
                self.emit(
                    Instr::Closure {
                        dst: result,
                        function,
                    },
                    value.span,
                );
                // Nothing surrounds a top-level function, so it captures nothing.
                Some(function)
            }
            _ => {
                self.expression(value, result)?;
                None
            }
        };
        let index = self.new_global();
        self.emit(Instr::SetGlobal { index, src: result }, value.span);
        Ok(Binding::Global { index, function })
    }

    fn top_level_recursive(
        &mut self,
        bindings: &[ast::Binding],
        module: Option<ModuleId>,
        result: Reg,
    ) -> Compiled<()> {
        let mut indexes = Vec::new();
        for binding in bindings {
            let index = self.new_global();
            let function = self.reserve_function();
            indexes.push((index, function));
            if let Some(name) = &binding.binder.name {
                let binding = Binding::Global {
                    index,
                    function: Some(function),
                };
                self.define(name, binding, module);
            }
        }
        for (binding, (index, function)) in bindings.iter().zip(indexes) {
            let span = binding.value.span;
            let ExprKind::Fun(lambda) = &binding.value.kind else {
                return Err(CompileError::unchecked(span, "no function after `let rec`"));
            };
            self.function(function, lambda, span)?;
            self.emit(
                Instr::Closure {
                    dst: result,
                    function,
                },
                span,
            );
            self.emit(Instr::SetGlobal { index, src: result }, span);
        }
        Ok(())
    }
}
