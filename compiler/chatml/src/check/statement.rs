//! Statements, modules and `open` (spec 05 section 4).

use std::cell::RefCell;
use std::rc::Rc;

use std::collections::HashMap;

use super::graph::{Graph, TOP};
use super::scope::{Definition, Exports, Meaning};
use super::{BindingKind, Check, Checker, TopBinding, TypeName, conflict, fail};
use crate::ast::{Binding, Ident, Name, Program, Statement, StatementKind};
use crate::diagnostic::{Code, Diagnostic, MAX_DIAGNOSTICS};
use crate::span::Span;
use crate::surface;

impl Checker {
    pub(super) fn program(&mut self, program: &Program) {
        for statement in &program.statements {
            self.last = None;
            if self.errors.len() >= MAX_DIAGNOSTICS || self.is_exhausted() {
                // Nothing more would be reported, and explaining errors costs more than finding them.
                // A checker that has used up its bounds would only say so again.
                self.poison(statement);
                continue;
            }
            let before = self.scope.mark();
            let first_local = self.scope.locals.len();
            if let Err(mut diagnostic) = self.statement(statement, None) {
                if diagnostic.code == Code::TooComplex {
                    // No single expression is to blame.
                    diagnostic.span = statement.span;
                }
                self.last = None;
                self.level = TOP;
                self.module_depth = 0;
                // Locals of a statement that failed may well be used in what was not looked at.
                self.scope.locals.truncate(first_local);
                // What a module could open without hiding anything is there.
                if !matches!(statement.kind, StatementKind::Open(_)) {
                    self.scope.leave(before);
                }
                self.report(*diagnostic);
                self.poison(statement);
            }
        }
    }

    /// Checks one statement; `exports` are those of the module it stands in.
    fn statement(&mut self, statement: &Statement, exports: Option<&Exports>) -> Check<()> {
        match &statement.kind {
            StatementKind::Type(decl) => {
                let ty = self.type_declaration(decl)?;
                self.last = Some(ty);
                self.bindings.push(TopBinding {
                    name: decl.name.name.clone(),
                    span: decl.name.span,
                    kind: BindingKind::Type,
                    ty: Some(ty),
                });
            }
            StatementKind::Let(binding) => self.top_let(binding, exports)?,
            StatementKind::LetRec(bindings) => self.top_let_rec(bindings, exports)?,
            StatementKind::Module { name, body } => self.module(name, body, exports)?,
            StatementKind::Open(name) => self.open(name, statement.span)?,
            StatementKind::Expr(expr) => {
                let ty = self.generalized(expr, |checker| checker.infer(expr))?;
                self.last = Some(ty);
            }
            StatementKind::Error { .. } => self.poison(statement),
        }
        if self.graph.exhausted() {
            return fail(conflict::too_complex(statement.span));
        }
        Ok(())
    }

    fn top_let(&mut self, binding: &Binding, exports: Option<&Exports>) -> Check<()> {
        let ty = self.binding_type(binding)?;
        self.last = Some(ty);
        if let Some(name) = &binding.binder.name {
            self.define_top(name, binding.binder.span, Meaning::Value(ty), exports);
            self.list(name, binding.binder.span, BindingKind::Value, Some(ty));
        }
        Ok(())
    }

    fn top_let_rec(&mut self, bindings: &[Binding], exports: Option<&Exports>) -> Check<()> {
        let types = self.recursive_types(bindings)?;
        for (binding, ty) in bindings.iter().zip(types) {
            self.last = Some(ty);
            if let Some(name) = &binding.binder.name {
                self.define_top(name, binding.binder.span, Meaning::Value(ty), exports);
                self.list(name, binding.binder.span, BindingKind::Value, Some(ty));
            }
        }
        Ok(())
    }

    fn list(&mut self, name: &Name, span: Span, kind: BindingKind, ty: Option<super::Ty>) {
        if self.module_depth == 0 {
            self.bindings.push(TopBinding {
                name: name.clone(),
                span,
                kind,
                ty,
            });
        }
    }

    /// Defines a top-level or module name and exports it.
    fn define_top(&mut self, name: &Name, span: Span, meaning: Meaning, exports: Option<&Exports>) {
        let definition = Definition {
            meaning,
            span: Some(span),
            local: None,
        };
        if let Some(exports) = exports {
            exports
                .borrow_mut()
                .insert(name.clone(), definition.clone());
        }
        self.scope.define(name.clone(), definition);
    }

    fn module(&mut self, name: &Ident, body: &[Statement], exports: Option<&Exports>) -> Check<()> {
        let own: Exports = Rc::new(RefCell::new(HashMap::default()));
        let mark = self.scope.mark();
        // Inside, `M.x` is what the module has exported so far.
        self.define_top(&name.name, name.span, Meaning::Module(own.clone()), None);
        self.module_depth += 1;
        for item in body {
            self.statement(item, Some(&own))?;
        }
        self.module_depth -= 1;
        self.scope.leave(mark);
        self.last = None;
        self.define_top(&name.name, name.span, Meaning::Module(own), exports);
        self.list(&name.name, name.span, BindingKind::Module, None);
        Ok(())
    }

    fn open(&mut self, name: &Ident, statement: Span) -> Check<()> {
        let Some(found) = self.scope.look_up(&name.name) else {
            self.scope.open_failed = true;
            return fail(self.unknown_name(&name.name, name.span));
        };
        let mut exports: Vec<(Name, Definition)> = match found.meaning {
            Meaning::Module(exports) => exports
                .borrow()
                .iter()
                .map(|(n, d)| (n.clone(), d.clone()))
                .collect(),
            Meaning::BuiltinModule(module) => library_exports(module),
            Meaning::Failed | Meaning::Value(_) | Meaning::Builtin(_) => {
                self.scope.open_failed = true;
                return Ok(());
            }
        };
        exports.sort_by(|a, b| a.0.cmp(&b.0));
        let mut shadowed = None;
        for (export, mut definition) in exports {
            if let Some(existing) = self.scope.peek(&export) {
                if !matches!(existing.meaning, Meaning::Failed) && shadowed.is_none() {
                    shadowed = Some((export, existing));
                }
                continue;
            }
            definition.local = None;
            self.scope.define(export, definition);
        }
        match shadowed {
            None => Ok(()),
            Some((hidden, existing)) => fail(open_shadow(name, &hidden, existing.span, statement)),
        }
    }

    /// Defines what a failed statement would have, so that uses are not reported again.
    fn poison(&mut self, statement: &Statement) {
        let values: Vec<&Ident>;
        let binders: Vec<(&Name, Span)> = match &statement.kind {
            StatementKind::Let(binding) => binding
                .binder
                .name
                .iter()
                .map(|name| (name, binding.binder.span))
                .collect(),
            StatementKind::LetRec(bindings) => bindings
                .iter()
                .filter_map(|binding| Some((binding.binder.name.as_ref()?, binding.binder.span)))
                .collect(),
            StatementKind::Module { name, .. } => vec![(&name.name, name.span)],
            StatementKind::Type(decl) => {
                self.types
                    .entry(decl.name.name.clone())
                    .or_insert(TypeName {
                        ty: None,
                        span: decl.name.span,
                    });
                return;
            }
            StatementKind::Error { names } => {
                values = names.iter().collect();
                for name in names {
                    self.types.entry(name.name.clone()).or_insert(TypeName {
                        ty: None,
                        span: name.span,
                    });
                }
                values
                    .iter()
                    .map(|ident| (&ident.name, ident.span))
                    .collect()
            }
            StatementKind::Open(_) | StatementKind::Expr(_) => return,
        };
        for (name, span) in binders {
            self.define_top(name, span, Meaning::Failed, None);
            let kind = match statement.kind {
                StatementKind::Module { .. } => BindingKind::Module,
                _ => BindingKind::Value,
            };
            self.list(name, span, kind, None);
        }
    }

    /// The type of a library function, quantified.
    pub(super) fn builtin_scheme(&mut self, builtin: &'static surface::Builtin) -> super::Ty {
        if let Some(ty) = self.builtins.get(&builtin.id) {
            return *ty;
        }
        let ty = if builtin.ty.nodes.is_empty() {
            Graph::UNIT
        } else {
            self.graph.import(&builtin.ty)
        };
        self.builtins.insert(builtin.id, ty);
        ty
    }
}

fn library_exports(module: &'static surface::Module) -> Vec<(Name, Definition)> {
    let functions = module
        .functions
        .iter()
        .filter_map(|id| surface::builtin_at(*id));
    functions
        .map(|builtin| {
            let definition = Definition {
                meaning: Meaning::Builtin(builtin),
                span: None,
                local: None,
            };
            (Name::from(builtin.name), definition)
        })
        .collect()
}

fn open_shadow(
    module: &Ident,
    hidden: &str,
    existing: Option<Span>,
    statement: Span,
) -> Diagnostic {
    let message = format!(
        "opening `{}` would hide the `{hidden}` that is already there",
        module.name
    );
    let found = Diagnostic::new(Code::OpenShadow, statement, message).help(format!(
        "write `{}.{hidden}` where you mean the module's",
        module.name
    ));
    match existing {
        Some(span) => found.label(span, format!("`{hidden}` is defined here")),
        None => found.note(format!("`{hidden}` is a name of the library")),
    }
}
