//! `match`: redundancy, typing of arms, exhaustiveness (spec 05 section 5.6).

use std::collections::{HashMap, HashSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::conflict::{Reason, listed};
use super::graph::{Graph, Label, Shape, Slot, Ty};
use super::pattern::{is_catch_all, is_total};
use super::{Check, Checker, fail};
use crate::ast::{Arm, Expr, Name, Pattern, PatternKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::span::Span;

/// What two arms must not both match literally.
#[derive(PartialEq, Eq, Hash)]
enum Literal<'p> {
    Unit,
    Int(i64),
    /// Bits, with one zero.
    Float(u64),
    Bool(bool),
    String(&'p Name),
    Tag(&'p Name),
}

fn literal(pattern: &Pattern) -> Option<Literal<'_>> {
    Some(match &pattern.kind {
        PatternKind::Unit => Literal::Unit,
        PatternKind::Int(n) => Literal::Int(*n),
        PatternKind::Float(n) => Literal::Float((n + 0.0).to_bits()),
        PatternKind::Bool(b) => Literal::Bool(*b),
        PatternKind::String(s) => Literal::String(s),
        PatternKind::Tag { tag, args } if args.is_empty() => Literal::Tag(&tag.name),
        _ => return None,
    })
}

impl Checker {
    pub(super) fn match_form(&mut self, scrutinee: &Expr, arms: &[Arm], span: Span) -> Check<Ty> {
        let ty = self.infer(scrutinee)?;
        plain_redundancy(arms)?;
        let mut result: Option<Ty> = None;
        for arm in arms {
            let mark = self.scope.mark();
            self.pattern(&arm.pattern, ty)?;
            let body = self.infer(&arm.body)?;
            self.scope.leave(mark);
            result = Some(match result {
                None => body,
                Some(before) => self.join_branches(before, body, arm.pattern.span, Reason::Arm)?,
            });
        }
        if !arms.iter().any(|arm| is_catch_all(&arm.pattern)) {
            self.exhaustive(ty, arms, span)?;
        }
        self.typed_redundancy(ty, arms)?;
        Ok(match result {
            Some(result) => result,
            None => self.fresh(),
        })
    }

    fn exhaustive(&mut self, scrutinee: Ty, arms: &[Arm], span: Span) -> Check<()> {
        let missing: Vec<String> = match self.graph.shape(scrutinee) {
            Shape::Bool => {
                let has = |value| {
                    arms.iter()
                        .any(|arm| literal(&arm.pattern) == Some(Literal::Bool(value)))
                };
                [true, false]
                    .into_iter()
                    .filter(|value| !has(*value))
                    .map(|value| value.to_string())
                    .collect()
            }
            Shape::Unit => {
                let has = arms
                    .iter()
                    .any(|arm| literal(&arm.pattern) == Some(Literal::Unit));
                if has {
                    Vec::new()
                } else {
                    vec!["()".to_owned()]
                }
            }
            Shape::Variant(row) => {
                let row = *row;
                self.missing_cases(row, arms)
            }
            Shape::Record(_) if arms.iter().any(|arm| is_total(&arm.pattern)) => Vec::new(),
            Shape::Record(_) => vec!["_".to_owned()],
            _ => {
                let text = self.graph.print(scrutinee);
                let message =
                    format!("the arms can not cover every `{text}`: a last arm `_` is needed");
                let found = Diagnostic::new(Code::NonExhaustive, span, message);
                return fail(add_arms(found, span, &["_".to_owned()]));
            }
        };
        let Some(first) = missing.first() else {
            return Ok(());
        };
        let message = match missing.len() {
            1 => format!("the match does not cover `` {first} ``"),
            more => format!(
                "the match does not cover `` {first} `` and {} more",
                more - 1
            ),
        };
        let found = Diagnostic::new(Code::NonExhaustive, span, message).note(
            "an arm covers a case when it takes whatever stands inside; several arms do not add up",
        );
        fail(add_arms(found, span, &missing))
    }

    /// Known cases no arm covers, in byte order. Without any, an open tail is closed.
    fn missing_cases(&mut self, row: Ty, arms: &[Arm]) -> Vec<String> {
        let covered: FxHashSet<Label> = arms
            .iter()
            .filter_map(|arm| self.covered_case(&arm.pattern))
            .collect();
        let (cases, tail) = self.graph.collect_row(row);
        let mut missing: Vec<(String, usize)> = cases
            .iter()
            .filter(|(label, slot)| !covered.contains(label) && *slot != Slot::Absent)
            .map(|(label, slot)| {
                let count = if let Slot::Types(types) = slot {
                    types.len()
                } else {
                    0
                };
                (self.graph.label_name(*label).to_owned(), count)
            })
            .collect();
        missing.sort();
        if missing.is_empty() && matches!(self.graph.node(tail).shape, Shape::RowVariable { .. }) {
            self.graph.define(tail, Graph::ROW_EMPTY);
        }
        missing
            .into_iter()
            .map(|(tag, count)| match count {
                0 => format!("`{tag}"),
                _ => format!("`{tag}({})", vec!["_"; count].join(", ")),
            })
            .collect()
    }

    /// The case an arm takes whatever its arguments are.
    fn covered_case(&mut self, pattern: &Pattern) -> Option<Label> {
        match &pattern.kind {
            PatternKind::Tag { tag, args } if args.iter().all(is_total) => {
                Some(self.graph.label(&tag.name))
            }
            _ => None,
        }
    }

    fn typed_redundancy(&mut self, scrutinee: Ty, arms: &[Arm]) -> Check<()> {
        let mut covered: FxHashMap<Label, Span> = FxHashMap::default();
        let mut literals: HashSet<Literal<'_>> = HashSet::new();
        for arm in arms {
            if is_catch_all(&arm.pattern) && self.all_covered(scrutinee, &covered, &literals) {
                let message = "the arms before cover every value, so this one never applies";
                return fail(Diagnostic::new(
                    Code::RedundantArm,
                    arm.pattern.span,
                    message,
                ));
            }
            if let PatternKind::Tag { tag, .. } = &arm.pattern.kind {
                let label = self.graph.label(&tag.name);
                if let Some(first) = covered.get(&label) {
                    let message = format!(
                        "the case `` `{} `` is covered already, so this arm never applies",
                        tag.name
                    );
                    return fail(
                        Diagnostic::new(Code::RedundantArm, arm.pattern.span, message)
                            .label(*first, "covered here"),
                    );
                }
            }
            if let Some(label) = self.covered_case(&arm.pattern) {
                covered.insert(label, arm.pattern.span);
            }
            literals.extend(literal(&arm.pattern));
        }
        Ok(())
    }

    fn all_covered(
        &mut self,
        scrutinee: Ty,
        covered: &FxHashMap<Label, Span>,
        literals: &HashSet<Literal<'_>>,
    ) -> bool {
        match self.graph.shape(scrutinee) {
            Shape::Bool => {
                literals.contains(&Literal::Bool(true)) && literals.contains(&Literal::Bool(false))
            }
            Shape::Unit => literals.contains(&Literal::Unit),
            Shape::Variant(row) => {
                let row = *row;
                let (cases, tail) = self.graph.collect_row(row);
                let closed = matches!(self.graph.node(tail).shape, Shape::RowEmpty);
                closed
                    && !covered.is_empty()
                    && cases.iter().all(|(label, _)| covered.contains_key(label))
            }
            _ => false,
        }
    }
}

/// Step 2: what can be said without types.
fn plain_redundancy(arms: &[Arm]) -> Check<()> {
    let mut catch_all: Option<Span> = None;
    let mut seen: HashMap<Literal<'_>, Span> = HashMap::new();
    for arm in arms {
        let span = arm.pattern.span;
        if let Some(first) = catch_all {
            let message = "an arm before takes every value, so this one never applies";
            return fail(
                Diagnostic::new(Code::RedundantArm, span, message)
                    .label(first, "this takes every value"),
            );
        }
        if is_catch_all(&arm.pattern) {
            catch_all = Some(span);
        }
        if let Some(literal) = literal(&arm.pattern)
            && let Some(first) = seen.insert(literal, span)
        {
            let message = "this pattern stands in the match twice";
            return fail(
                Diagnostic::new(Code::DuplicateArm, span, message).label(first, "first here"),
            );
        }
    }
    Ok(())
}

/// Offers arms for what is missing.
fn add_arms(found: Diagnostic, span: Span, missing: &[String]) -> Diagnostic {
    let names: Vec<&str> = missing.iter().map(String::as_str).collect();
    let arms: String = missing
        .iter()
        .map(|pattern| format!("\n| {pattern} -> fail(\"not handled\")"))
        .collect();
    let help = match missing.len() {
        1 => "add an arm for it".to_owned(),
        _ => format!(
            "add arms for {}",
            listed(&names, "").replace("`` ` ``", "`")
        ),
    };
    found
        .help(help)
        .fix("Add the missing arms", Span::empty(span.end), arms)
}
