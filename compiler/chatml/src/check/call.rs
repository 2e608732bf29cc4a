//! Calls and other suffixes.

use super::conflict::{Reason, count};
use super::graph::{Graph, Shape, Ty};
use super::{Check, Checker, fail};
use crate::ast::{Expr, ExprKind, Suffix, SuffixKind};
use crate::diagnostic::{Code, Diagnostic, quoted};
use crate::span::Span;

impl Checker {
    pub(super) fn postfix(&mut self, base: &Expr, suffixes: &[Suffix]) -> Check<Ty> {
        if let Some(ty) = self.record_keys_of_module(base, suffixes)? {
            return self.suffixes(ty, suffixes.get(1..).unwrap_or(&[]));
        }
        let ty = self.infer(base)?;
        self.suffixes(ty, suffixes)
    }

    fn suffixes(&mut self, base: Ty, suffixes: &[Suffix]) -> Check<Ty> {
        let mut ty = base;
        for suffix in suffixes {
            ty = match &suffix.kind {
                SuffixKind::Call(args) => self.call(ty, args, suffix.span)?,
                SuffixKind::Field(label) => self.field(ty, label, suffix.span)?,
                SuffixKind::Index(index) => {
                    let item = self.item(ty, suffix.span)?;
                    let index_type = self.infer(index)?;
                    self.expect(index_type, Graph::INT, index.span, Reason::Index)?;
                    item
                }
            };
            self.record_type(suffix.id, ty);
        }
        Ok(ty)
    }

    /// `record_keys(M)`: the one place where a module may stand as an argument.
    fn record_keys_of_module(&mut self, base: &Expr, suffixes: &[Suffix]) -> Check<Option<Ty>> {
        let (ExprKind::Var(name), Some(first)) = (&base.kind, suffixes.first()) else {
            return Ok(None);
        };
        let SuffixKind::Call(args) = &first.kind else {
            return Ok(None);
        };
        let [
            Expr {
                kind: ExprKind::Module(path),
                ..
            },
        ] = args.as_slice()
        else {
            return Ok(None);
        };
        if &**name != "record_keys" || !self.is_builtin(name) {
            return Ok(None);
        }
        self.check_module(path)?;
        let keys = self.graph.array(Graph::STRING);
        self.record_type(first.id, keys);
        Ok(Some(keys))
    }

    fn call(&mut self, callee: Ty, args: &[Expr], span: Span) -> Check<Ty> {
        let types = self.infer_all(args)?;
        match self.graph.shape(callee) {
            Shape::Function(params, result) => {
                let (params, result) = (params.to_vec(), *result);
                if params.len() != args.len() {
                    return fail(self.wrong_arity(callee, params.len(), args, span));
                }
                for (number, ((found, expected), arg)) in
                    types.iter().zip(&params).zip(args).enumerate()
                {
                    self.argument(*found, *expected, arg, span, number + 1)?;
                }
                Ok(result)
            }
            Shape::Variable { .. } => {
                let result = self.fresh();
                let function = self.graph.function(types, result);
                self.expect(callee, function, span, Reason::Argument(1))?;
                Ok(result)
            }
            _ => {
                let text = self.graph.print(callee);
                fail(Diagnostic::new(
                    Code::NotCallable,
                    span,
                    format!("a value of type `{text}` can not be called"),
                ))
            }
        }
    }

    fn argument(
        &mut self,
        found: Ty,
        expected: Ty,
        arg: &Expr,
        call: Span,
        number: usize,
    ) -> Check<()> {
        let Err(conflict) = self.graph.unify(found, expected) else {
            return Ok(());
        };
        let mut explained = self.explain(
            conflict,
            found,
            expected,
            arg.span,
            Reason::Argument(number),
        );
        // A missing field and a wrong parameter count are told of the whole call (section 5.8).
        if matches!(explained.code, Code::UnknownField | Code::Arity) && explained.span != call {
            explained = explained.label(arg.span, format!("argument {number}"));
            explained.span = call;
        }
        Err(Box::new(explained))
    }

    fn wrong_arity(&self, callee: Ty, wanted: usize, args: &[Expr], span: Span) -> Diagnostic {
        let text = self.graph.print(callee);
        let message = format!(
            "this function takes {}, the call has {}",
            count(wanted, "parameter"),
            count(args.len(), "argument")
        );
        let found = Diagnostic::new(Code::Arity, span, message)
            .note(format!("its type is `{}`", quoted_type(&text)));
        match (wanted, args) {
            (0, [only]) if matches!(only.kind, ExprKind::Unit) => {
                found.help("`f(())` passes a unit; call it as `f()`")
            }
            (1, []) if text.starts_with("(unit)") => {
                found.help("the parameter is a unit: call it as `f(())`")
            }
            (wanted, args) if args.len() < wanted => {
                found.help("there is no partial application: wrap the call in `fun x -> …`")
            }
            _ => found,
        }
    }
}

/// Types in notes may be longer than quoted source, but not without bound.
fn quoted_type(text: &str) -> String {
    if text.len() <= 200 {
        text.to_owned()
    } else {
        quoted(text)
    }
}
