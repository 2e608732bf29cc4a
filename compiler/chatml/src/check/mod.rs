//! Type inference (spec 05 sections 4 and 5).
//!
//! Hindley and Milner with levels, rows, and equality marks. The first error of a top-level
//! statement ends that statement; what it would have defined then fits everything, so one mistake
//! is reported once. Recursion follows the syntax tree, whose depth is bounded; types are walked
//! with explicit stacks.

mod access;
mod annotation;
mod binding;
mod call;
mod conflict;
mod entry;
mod export;
mod expr;
mod generalize;
mod graph;
mod join;
mod match_form;
mod pattern;
mod scope;
mod statement;
mod suggest;
#[cfg(test)]
mod tests;
mod unify;

use std::collections::HashMap;

use rustc_hash::FxHashMap;

pub use entry::{EntryPoint, EntryReport, EntryRequest, check_entries, default_entry};

use crate::ast::{ExprId, Name, Program};
use crate::diagnostic::{Code, Diagnostic, MAX_DIAGNOSTICS};
use crate::span::Span;
use crate::surface::{BuiltinId, Kind};
use crate::types::TypeGraph;
use graph::{Graph, Shape, TOP, Ty};
use scope::Scope;

/// What a top-level statement defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// `let` or `let rec`.
    Value,
    /// `type`
    Type,
    /// `module`
    Module,
}

/// A name a top-level statement defines.
#[derive(Clone, Debug)]
pub struct TopBinding {
    /// The name.
    pub name: Name,
    /// Where it is bound.
    pub span: Span,
    /// What it names.
    pub kind: BindingKind,
    ty: Option<Ty>,
}

/// The result of checking a program.
pub struct Checked {
    /// Errors by statement, at most 100. Without any, and without errors of the parser, the
    /// program can be evaluated.
    pub errors: Vec<Diagnostic>,
    /// Warnings by place, at most 100.
    pub warnings: Vec<Diagnostic>,
    /// What the top-level statements define, in source order.
    pub bindings: Vec<TopBinding>,
    kind: Kind,
    graph: Graph,
    expr_types: Vec<Option<Ty>>,
    last: Option<Ty>,
}

impl Checked {
    /// Whether the check gave up at its bounds, so that nothing more is known of the types.
    pub(crate) fn is_exhausted(&self) -> bool {
        exhausted(&self.errors)
    }

    /// Whether the check found no error.
    pub fn is_ok(&self) -> bool {
        self.errors.is_empty()
    }

    /// The kind whose surface the program was checked on.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The type of an expression; nothing for a module name and where an error left none.
    pub fn type_of(&self, id: ExprId) -> Option<TypeGraph> {
        let ty = self.expr_types.get(id.0 as usize).copied().flatten()?;
        Some(self.graph.export(ty))
    }

    /// The scheme of a value or the type of a type name; nothing for modules and after an error.
    pub fn scheme(&self, binding: &TopBinding) -> Option<TypeGraph> {
        binding.ty.map(|ty| self.graph.export(ty))
    }

    /// The type of the program: that of its last statement, be it an expression, a binding or a
    /// type declaration.
    pub fn program_type(&self) -> Option<TypeGraph> {
        self.last.map(|ty| self.graph.export(ty))
    }
}

impl std::fmt::Debug for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checked")
            .field("errors", &self.errors)
            .field("warnings", &self.warnings)
            .field("bindings", &self.bindings)
            .finish_non_exhaustive()
    }
}

/// Checks a program on the surface of a kind. Statements with syntax errors are passed over; the
/// names they would have defined fit every use.
pub fn check(program: &Program, kind: Kind) -> Checked {
    let mut checker = Checker {
        graph: Graph::new(program.expr_count),
        scope: Scope::new(kind),
        types: HashMap::new(),
        library_types: FxHashMap::default(),
        builtins: FxHashMap::default(),
        expr_types: vec![None; program.expr_count as usize],
        level: TOP,
        errors: Vec::new(),
        warnings: Vec::new(),
        discarded: Vec::new(),
        bindings: Vec::new(),
        last: None,
        module_depth: 0,
    };
    checker.program(program);
    checker.finish_lints();
    let mut warnings = checker.warnings;
    warnings.sort_by_key(|warning| warning.span);
    warnings.truncate(MAX_DIAGNOSTICS);
    Checked {
        errors: checker.errors,
        warnings,
        bindings: checker.bindings,
        kind,
        graph: checker.graph,
        expr_types: checker.expr_types,
        last: checker.last,
    }
}

fn exhausted(errors: &[Diagnostic]) -> bool {
    errors
        .last()
        .is_some_and(|error| error.code == Code::TooComplex)
}

/// A declared type; one whose declaration failed fits everything.
struct TypeName {
    ty: Option<Ty>,
    span: Span,
}

struct Checker {
    graph: Graph,
    scope: Scope,
    types: HashMap<Name, TypeName>,
    library_types: FxHashMap<&'static str, Ty>,
    /// Schemes of library functions used so far.
    builtins: FxHashMap<BuiltinId, Ty>,
    expr_types: Vec<Option<Ty>>,
    level: u32,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// Left sides of `;` with their types, which may turn out to be tasks later.
    discarded: Vec<(Span, Ty)>,
    bindings: Vec<TopBinding>,
    last: Option<Ty>,
    module_depth: u32,
}

impl Checker {
    fn is_exhausted(&self) -> bool {
        exhausted(&self.errors)
    }
}

/// A statement failed with this diagnostic.
type Check<T> = Result<T, Box<Diagnostic>>;

fn fail<T>(diagnostic: Diagnostic) -> Check<T> {
    Err(Box::new(diagnostic))
}

impl Checker {
    fn fresh(&mut self) -> Ty {
        self.graph
            .add(Shape::Variable { equality: false }, self.level)
    }

    fn fresh_row(&mut self) -> Ty {
        self.graph
            .add(Shape::RowVariable { equality: false }, self.level)
    }

    fn record_type(&mut self, id: ExprId, ty: Ty) {
        if let Some(entry) = self.expr_types.get_mut(id.0 as usize) {
            *entry = Some(ty);
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.errors.len() < MAX_DIAGNOSTICS {
            self.errors.push(diagnostic);
        }
    }

    fn finish_lints(&mut self) {
        for (span, ty) in std::mem::take(&mut self.discarded) {
            if self.warnings.len() < MAX_DIAGNOSTICS
                && matches!(self.graph.shape(ty), Shape::Task(_))
            {
                self.warnings.push(
                    Diagnostic::new(
                        Code::DiscardedTask,
                        span,
                        "this task is thrown away, so it is never performed",
                    )
                    .help("run it with `let* () = … in` and return what follows"),
                );
            }
        }
        for local in &self.scope.locals {
            if !local.used
                && !local.name.starts_with('_')
                && self.warnings.len() < 2 * MAX_DIAGNOSTICS
            {
                self.warnings.push(
                    Diagnostic::new(
                        Code::UnusedBinding,
                        local.span,
                        format!("`{}` is never used", local.name),
                    )
                    .help("remove it, or start its name with `_`")
                    .fix(
                        format!("Rename to `_{}`", local.name),
                        Span::empty(local.span.start),
                        "_",
                    ),
                );
            }
        }
    }
}
