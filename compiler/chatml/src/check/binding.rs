//! `let`, `let rec` and blocks (spec 05 sections 5.3 and 5.4).

use std::collections::HashMap;

use super::conflict::Reason;
use super::graph::{Shape, Ty};
use super::scope::{Definition, Local, Meaning};
use super::{Check, Checker, fail};
use crate::ast::{
    Binder, Binding, Block, Expr, ExprKind, Lambda, Name, Step, StepKind, SuffixKind, TaskBinding,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::span::Span;

/// Whether a binding belongs to the lint of unused ones.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Watch {
    No,
    Yes,
}

/// How the steps after a `let*` or `let+` go on.
enum Pending {
    Bind,
    Map,
}

impl Checker {
    /// The type of a binding's value, generalised where that is sound.
    pub(super) fn binding_type(&mut self, binding: &Binding) -> Check<Ty> {
        self.generalized(&binding.value, |checker| checker.annotated(binding))
    }

    /// Infers one level deeper and generalises the type if `value` is non-expansive.
    pub(super) fn generalized(
        &mut self,
        value: &Expr,
        infer: impl FnOnce(&mut Self) -> Check<Ty>,
    ) -> Check<Ty> {
        self.level += 1;
        let ty = infer(self)?;
        self.level -= 1;
        if is_non_expansive(value) {
            self.graph.generalize(ty, self.level);
        } else {
            self.graph.lower(ty, self.level);
        }
        Ok(ty)
    }

    fn annotated(&mut self, binding: &Binding) -> Check<Ty> {
        let Some(annotation) = &binding.annotation else {
            return self.infer(&binding.value);
        };
        let annotation = self.annotation(annotation)?;
        self.infer_as(&binding.value, annotation)?;
        Ok(annotation)
    }

    /// Infers a value that has to have the type of an annotation.
    fn infer_as(&mut self, value: &Expr, annotation: Ty) -> Check<()> {
        if let (ExprKind::Fun(lambda), Shape::Function(params, result)) =
            (&value.kind, self.graph.shape(annotation))
        {
            let (params, result) = (params.to_vec(), *result);
            return self.lambda_as(value, lambda, &params, result, annotation);
        }
        let ty = self.infer(value)?;
        self.expect(ty, annotation, value.span, Reason::Annotation)
    }

    fn lambda_as(
        &mut self,
        value: &Expr,
        lambda: &Lambda,
        params: &[Ty],
        result: Ty,
        annotation: Ty,
    ) -> Check<()> {
        if params.len() != lambda.params.len() {
            let message = format!(
                "the annotation is a function of {}, this one has {}",
                super::conflict::count(params.len(), "parameter"),
                super::conflict::count(lambda.params.len(), "parameter")
            );
            let text = self.graph.print(annotation);
            return fail(
                Diagnostic::new(Code::AnnotationArity, value.span, message)
                    .note(format!("the annotation says `{text}`; a function that returns a function is `a -> (b -> c)`")),
            );
        }
        let mark = self.scope.mark();
        self.define_params(&lambda.params, params)?;
        let body = self.infer(&lambda.body)?;
        self.expect(body, result, result_span(&lambda.body), Reason::Annotation)?;
        self.scope.leave(mark);
        self.record_type(value.id, annotation);
        Ok(())
    }

    /// Binds parameters, refusing a name that stands twice.
    pub(super) fn define_params(&mut self, params: &[Binder], types: &[Ty]) -> Check<()> {
        unique_binders(
            params
                .iter()
                .filter_map(|param| Some((param.name.as_ref()?, param.span))),
        )?;
        for (param, ty) in params.iter().zip(types) {
            self.define_local(param.name.as_ref(), param.span, *ty, Watch::No);
        }
        Ok(())
    }

    pub(super) fn define_local(&mut self, name: Option<&Name>, span: Span, ty: Ty, watch: Watch) {
        let Some(name) = name else { return };
        let local = (watch == Watch::Yes).then(|| {
            self.scope.locals.push(Local {
                name: name.clone(),
                span,
                used: false,
            });
            self.scope.locals.len() - 1
        });
        self.scope.define(
            name.clone(),
            Definition {
                meaning: Meaning::Value(ty),
                span: Some(span),
                local,
            },
        );
    }

    /// The types of a recursive group: monomorphic inside, generalised after.
    pub(super) fn recursive_types(&mut self, bindings: &[Binding]) -> Check<Vec<Ty>> {
        unique_binders(
            bindings
                .iter()
                .filter_map(|b| Some((b.binder.name.as_ref()?, b.binder.span))),
        )?;
        for binding in bindings {
            if !matches!(binding.value.kind, ExprKind::Fun(_)) {
                return fail(
                    Diagnostic::new(
                        Code::RecNotFunction,
                        binding.value.span,
                        "the right side of `let rec` has to be a function",
                    )
                    .help("write `fun … -> …`, or `let` without `rec`"),
                );
            }
        }
        self.level += 1;
        let mark = self.scope.mark();
        let mut types = Vec::new();
        for binding in bindings {
            let ty = match &binding.annotation {
                Some(annotation) => self.annotation(annotation)?,
                None => self.fresh(),
            };
            types.push(ty);
            self.define_local(
                binding.binder.name.as_ref(),
                binding.binder.span,
                ty,
                Watch::No,
            );
        }
        for (binding, ty) in bindings.iter().zip(&types) {
            if binding.annotation.is_some() {
                self.infer_as(&binding.value, *ty)?;
            } else {
                let found = self.infer(&binding.value)?;
                self.expect(found, *ty, binding.value.span, Reason::Recursion)?;
            }
        }
        self.scope.leave(mark);
        self.level -= 1;
        // Variables of a type that can not be generalised stay shared in all types of the group.
        for ty in &types {
            if self.graph.contains_recursion(*ty) {
                self.graph.lower(*ty, self.level);
            }
        }
        for ty in &types {
            self.graph.generalize(*ty, self.level);
        }
        Ok(types)
    }

    /// A sequence of steps and a value.
    pub(super) fn block(&mut self, block: &Block) -> Check<Ty> {
        let mark = self.scope.mark();
        let mut pending = Vec::new();
        for step in &block.steps {
            self.step(step, &mut pending)?;
        }
        let mut ty = self.infer(&block.result)?;
        while let Some(next) = pending.pop() {
            match next {
                Pending::Map => ty = self.graph.task(ty),
                Pending::Bind if matches!(self.graph.shape(ty), Shape::Task(_)) => {}
                Pending::Bind => {
                    let value = self.fresh();
                    let task = self.graph.task(value);
                    self.expect(ty, task, result_span(&block.result), Reason::TaskBody)?;
                    ty = task;
                }
            }
        }
        self.scope.leave(mark);
        Ok(ty)
    }

    fn step(&mut self, step: &Step, pending: &mut Vec<Pending>) -> Check<()> {
        match &step.kind {
            StepKind::Expr(expr) => {
                let ty = self.infer(expr)?;
                self.discarded.push((expr.span, ty));
            }
            StepKind::Let(binding) => {
                let ty = self.binding_type(binding)?;
                self.define_local(
                    binding.binder.name.as_ref(),
                    binding.binder.span,
                    ty,
                    Watch::Yes,
                );
            }
            StepKind::LetRec(bindings) => {
                let types = self.recursive_types(bindings)?;
                for (binding, ty) in bindings.iter().zip(types) {
                    self.define_local(
                        binding.binder.name.as_ref(),
                        binding.binder.span,
                        ty,
                        Watch::Yes,
                    );
                }
            }
            StepKind::Bind(binding) => {
                self.task_binding(binding)?;
                pending.push(Pending::Bind);
            }
            StepKind::Map(binding) => {
                self.task_binding(binding)?;
                pending.push(Pending::Map);
            }
        }
        Ok(())
    }

    fn task_binding(&mut self, binding: &TaskBinding) -> Check<()> {
        let found = self.infer(&binding.task)?;
        let value = match self.graph.shape(found) {
            Shape::Task(value) => *value,
            _ => {
                let value = self.fresh();
                let task = self.graph.task(value);
                self.expect(found, task, binding.task.span, Reason::TaskValue)?;
                value
            }
        };
        self.define_local(
            binding.binder.name.as_ref(),
            binding.binder.span,
            value,
            Watch::No,
        );
        Ok(())
    }
}

/// Where the value of a body stands: behind its steps.
pub(super) fn result_span(body: &Expr) -> Span {
    match &body.kind {
        ExprKind::Block(block) => block.result.span,
        _ => body.span,
    }
}

fn unique_binders<'a>(binders: impl Iterator<Item = (&'a Name, Span)>) -> Check<()> {
    let mut seen: HashMap<&str, Span> = HashMap::default();
    for (name, span) in binders {
        if let Some(first) = seen.insert(name, span) {
            return fail(duplicate_binder(name, span, first));
        }
    }
    Ok(())
}

pub(super) fn duplicate_binder(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(
        Code::DuplicateBinder,
        span,
        format!("the name `{name}` is bound here twice"),
    )
    .label(first, "first here")
    .help("use `_` for what is not needed")
}

/// Whether evaluating an expression creates nothing that could be shared (section 5.4).
pub(super) fn is_non_expansive(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unit
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::String(_)
        | ExprKind::Var(_)
        | ExprKind::Member { .. }
        | ExprKind::Module(_)
        | ExprKind::Fun(_) => true,
        ExprKind::Tag { args, .. } => args.iter().all(is_non_expansive),
        ExprKind::Record(fields) => fields.iter().all(|field| is_non_expansive(&field.value)),
        ExprKind::Postfix { base, suffixes } => {
            is_non_expansive(base)
                && suffixes
                    .iter()
                    .all(|suffix| matches!(suffix.kind, SuffixKind::Field(_)))
        }
        _ => false,
    }
}
