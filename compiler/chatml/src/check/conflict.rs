//! What to say when two types are not the same (spec 05 section 5.8).

use super::graph::{Graph, Label, Shape, Slot, Ty};
use super::unify::{Conflict, ConflictKind};
use super::{Check, Checker, suggest};
use crate::diagnostic::{Code, Diagnostic, quoted};
use crate::span::Span;

/// Most labels or tags a message lists.
const MAX_LISTED: usize = 8;

/// Why two types have to be the same, for messages.
#[derive(Clone, Copy)]
pub(super) enum Reason {
    /// Argument number, from 1.
    Argument(usize),
    /// What the operator takes on both sides.
    Operand(&'static str),
    Condition,
    ArrayItem,
    Index,
    ArrayValue,
    Branch,
    Annotation,
    Assigned,
    Content,
    TaskBody,
    TaskValue,
    Pattern,
    Arm,
    Recursion,
    Comparison,
    Record,
}

impl Reason {
    fn text(self) -> String {
        match self {
            Self::Argument(number) => format!("as argument {number} of this call"),
            Self::Operand(operator) => format!("as an operand of `{operator}`"),
            Self::Condition => "as a condition".to_owned(),
            Self::ArrayItem => "as the type of the items before".to_owned(),
            Self::Index => "as an index".to_owned(),
            Self::ArrayValue => "as an array".to_owned(),
            Self::Branch => "as in the branches before".to_owned(),
            Self::Annotation => "because of the annotation".to_owned(),
            Self::Assigned => "as what is stored there".to_owned(),
            Self::Content => "as a reference".to_owned(),
            Self::TaskBody => "because `let*` goes on with a task".to_owned(),
            Self::TaskValue => "as what `let*` and `let+` take".to_owned(),
            Self::Pattern => "for what this pattern matches".to_owned(),
            Self::Arm => "as in the arms before".to_owned(),
            Self::Recursion => "as where this name is used inside".to_owned(),
            Self::Comparison => "as the left side of the comparison".to_owned(),
            Self::Record => "because its fields are changed here".to_owned(),
        }
    }
}

impl Checker {
    /// Requires that the type found is the one expected.
    pub(super) fn expect(
        &mut self,
        found: Ty,
        expected: Ty,
        span: Span,
        reason: Reason,
    ) -> Check<()> {
        match self.graph.unify(found, expected) {
            Ok(()) => Ok(()),
            Err(conflict) => Err(Box::new(
                self.explain(conflict, found, expected, span, reason),
            )),
        }
    }

    /// The diagnostic of a conflict between the type found at `span` and the one expected there.
    pub(super) fn explain(
        &self,
        conflict: Conflict,
        found: Ty,
        expected: Ty,
        span: Span,
        reason: Reason,
    ) -> Diagnostic {
        match conflict.kind {
            ConflictKind::UnknownField(label, record) => self.unknown_field(label, record, span),
            ConflictKind::UnknownCase(label, variant) => self.unknown_case(label, variant, span),
            ConflictKind::VariantArity(label) => {
                let tag = self.graph.label_name(label);
                let arguments = |ty| self.case_arguments(ty, label);
                let message = format!(
                    "the tag `` `{tag} `` stands here with {}, elsewhere with {}",
                    arguments(conflict.left),
                    arguments(conflict.right)
                );
                Diagnostic::new(Code::VariantArity, span, message)
                    .note("the number of arguments is part of a case: each tag has one")
            }
            ConflictKind::Recursive => self.recursive(conflict, span),
            ConflictKind::Equality(ty) => self.not_comparable(ty, span),
            ConflictKind::TooComplex => too_complex(span),
            ConflictKind::Arity => {
                let [left, right] = self.graph.print_together([conflict.left, conflict.right]);
                let message = format!(
                    "a function of {} does not fit where one of {} is expected",
                    self.parameters(conflict.left),
                    self.parameters(conflict.right)
                );
                Diagnostic::new(Code::Arity, span, message)
                    .note(format!("found `{left}`, expected `{right}`"))
            }
            ConflictKind::Mismatch => self.mismatch(conflict, found, expected, span, reason),
        }
    }

    fn mismatch(
        &self,
        conflict: Conflict,
        found: Ty,
        expected: Ty,
        span: Span,
        reason: Reason,
    ) -> Diagnostic {
        let [found_text, expected_text, left, right] =
            self.graph
                .print_together([found, expected, conflict.left, conflict.right]);
        let message = format!(
            "expected `{expected_text}` {}, found `{found_text}`",
            reason.text()
        );
        let mut diagnostic = Diagnostic::new(Code::Mismatch, span, message);
        if (&left, &right) != (&found_text, &expected_text) {
            diagnostic = diagnostic.note(format!(
                "they differ where one has `{left}` and the other `{right}`"
            ));
        }
        match self.advice(conflict, reason) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }

    fn advice(&self, conflict: Conflict, reason: Reason) -> Option<String> {
        let found = self.graph.shape(conflict.left);
        let expected = self.graph.shape(conflict.right);
        if let Reason::Operand(operator) = reason {
            let other = match (found, operator) {
                (Shape::Float, "+" | "-" | "*" | "/" | "<" | ">" | "<=" | ">=") => {
                    format!("{operator}.")
                }
                (Shape::Int, _) if operator.ends_with('.') => {
                    operator.trim_end_matches('.').to_owned()
                }
                (Shape::String, "+") => "++".to_owned(),
                (_, "++") => {
                    return Some("text of any value is made with `to_string(…)`".to_owned());
                }
                _ => return None,
            };
            let kind = self.graph.print(conflict.left);
            return Some(format!("the operator for `{kind}` is `{other}`"));
        }
        match (found, expected) {
            (Shape::Function(params, result), _)
                if params.is_empty() && self.same_head(*result, conflict.right) =>
            {
                Some("call it: put `()` behind it".to_owned())
            }
            (Shape::Task(_), _) => {
                Some("the value of a task is bound with `let* x = … in`".to_owned())
            }
            (_, Shape::Task(_)) => Some("wrap a plain value with `Task.pure(…)`".to_owned()),
            (Shape::Ref(_), _) => Some("the content of a reference is read with `!`".to_owned()),
            (_, Shape::String) => Some("text of any value is made with `to_string(…)`".to_owned()),
            _ => None,
        }
    }

    fn same_head(&self, a: Ty, b: Ty) -> bool {
        std::mem::discriminant(self.graph.shape(a)) == std::mem::discriminant(self.graph.shape(b))
    }

    fn parameters(&self, function: Ty) -> String {
        match self.graph.shape(function) {
            Shape::Function(params, _) => count(params.len(), "parameter"),
            _ => "other parameters".to_owned(),
        }
    }

    fn case_arguments(&self, variant: Ty, label: Label) -> String {
        let Shape::Variant(row) = self.graph.shape(variant) else {
            return "other arguments".to_owned();
        };
        let mut at = self.graph.find(*row);
        while let Shape::Row(fields, tail) = &self.graph.node(at).shape {
            if let Some((_, Slot::Types(types))) = fields.iter().find(|(own, _)| *own == label) {
                return count(types.len(), "argument");
            }
            at = self.graph.find(*tail);
        }
        "other arguments".to_owned()
    }

    fn recursive(&self, conflict: Conflict, span: Span) -> Diagnostic {
        let [left, right] = self.graph.print_together([conflict.left, conflict.right]);
        Diagnostic::new(
            Code::Recursive,
            span,
            format!("the type `{left}` would have to contain itself, as `{right}`"),
        )
        .note("a type may contain itself through a record, a variant or a task only")
    }

    pub(super) fn not_comparable(&self, ty: Ty, span: Span) -> Diagnostic {
        let text = self.graph.print(ty);
        let what = match self.graph.shape(ty) {
            Shape::Array(_) => "arrays",
            Shape::Ref(_) => "references",
            Shape::Task(_) => "tasks",
            _ => "functions",
        };
        let message = format!("{what} can not be compared: `{text}`");
        let diagnostic = Diagnostic::new(Code::Equality, span, message);
        match self.graph.shape(ty) {
            Shape::Array(_) => {
                diagnostic.help("compare lengths and items, for example with `Array.for_all`")
            }
            Shape::Ref(_) => diagnostic.help("compare the contents: `!a == !b`"),
            _ => diagnostic,
        }
    }

    fn unknown_field(&self, label: Label, record: Ty, span: Span) -> Diagnostic {
        let name = self.graph.label_name(label);
        let fields = self.row_names(record);
        let message = match fields.is_empty() {
            true => format!("the record has no field `{}`: it has none", quoted(name)),
            false => format!(
                "the record has no field `{}`: it has {}",
                quoted(name),
                listed(&fields, "")
            ),
        };
        let diagnostic = Diagnostic::new(Code::UnknownField, span, message);
        match suggest::nearest(name, fields.iter().copied()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic,
        }
    }

    fn unknown_case(&self, label: Label, variant: Ty, span: Span) -> Diagnostic {
        let name = self.graph.label_name(label);
        let tags = self.row_names(variant);
        let message = match tags.is_empty() {
            true => format!(
                "the variant has no case `` `{} ``: it has none",
                quoted(name)
            ),
            false => format!(
                "the variant has no case `` `{} ``: it has {}",
                quoted(name),
                listed(&tags, "`")
            ),
        };
        let diagnostic = Diagnostic::new(Code::UnknownCase, span, message);
        match suggest::nearest(name, tags.iter().copied()) {
            Some(near) => diagnostic.help(format!("did you mean `` `{near} ``?")),
            None => diagnostic,
        }
    }

    /// Labels or tags of a type in byte order.
    fn row_names(&self, ty: Ty) -> Vec<&str> {
        let (Shape::Record(row) | Shape::Variant(row)) = self.graph.shape(ty) else {
            return Vec::new();
        };
        row_names(&self.graph, *row)
    }
}

fn row_names(graph: &Graph, row: Ty) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = graph.find(row);
    while let Shape::Row(fields, tail) = &graph.node(at).shape {
        let present = fields.iter().filter(|(_, slot)| *slot != Slot::Absent);
        names.extend(present.map(|(label, _)| graph.label_name(*label)));
        at = graph.find(*tail);
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// `` `a`, `b` and 3 more ``
pub(super) fn listed(names: &[&str], accent: &str) -> String {
    let shown = names.iter().take(MAX_LISTED).map(|name| match accent {
        "" => format!("`{}`", quoted(name)),
        _ => format!("`` {accent}{} ``", quoted(name)),
    });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if names.len() > MAX_LISTED {
        text.push_str(&format!(" and {} more", names.len() - MAX_LISTED));
    }
    text
}

pub(super) fn too_complex(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::TooComplex,
        span,
        "the types of this statement are too large to check",
    )
    .help("split it, or annotate its parts: types that double with every step grow fast")
}

pub(super) fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        _ => format!("{number} {what}s"),
    }
}
