//! Patterns against types, and which patterns match everything (spec 05 section 5.6).

use std::collections::HashMap;

use super::binding::{Watch, duplicate_binder};
use super::conflict::Reason;
use super::graph::{Fields, Graph, Slot, Ty};
use super::{Check, Checker, annotation, fail};
use crate::ast::{Ident, Name, Pattern, PatternKind};
use crate::span::Span;

impl Checker {
    /// Checks an arm's pattern and binds its variables.
    pub(super) fn pattern(&mut self, pattern: &Pattern, scrutinee: Ty) -> Check<()> {
        unique_labels(pattern)?;
        let mut binders = HashMap::default();
        collect_binders(pattern, &mut binders)?;
        let mut variables = Vec::new();
        let ty = self.pattern_type(pattern, &mut variables)?;
        self.expect(scrutinee, ty, pattern.span, Reason::Pattern)?;
        for (name, span, ty) in variables {
            self.define_local(Some(&name), span, ty, Watch::No);
        }
        Ok(())
    }

    /// The type a pattern asks for.
    fn pattern_type(
        &mut self,
        pattern: &Pattern,
        variables: &mut Vec<(Name, Span, Ty)>,
    ) -> Check<Ty> {
        Ok(match &pattern.kind {
            PatternKind::Wildcard => self.fresh(),
            PatternKind::Var(name) => {
                let ty = self.fresh();
                variables.push((name.clone(), pattern.span, ty));
                ty
            }
            PatternKind::Unit => Graph::UNIT,
            PatternKind::Int(_) => Graph::INT,
            PatternKind::Float(_) => Graph::FLOAT,
            PatternKind::Bool(_) => Graph::BOOL,
            PatternKind::String(_) => Graph::STRING,
            PatternKind::Tag { tag, args } => self.tag_pattern(tag, args, variables)?,
            PatternKind::Record { fields, open } => {
                self.record_pattern(fields, *open, variables)?
            }
        })
    }

    fn tag_pattern(
        &mut self,
        tag: &Ident,
        args: &[Pattern],
        variables: &mut Vec<(Name, Span, Ty)>,
    ) -> Check<Ty> {
        let mut types = Vec::with_capacity(args.len());
        for arg in args {
            types.push(self.pattern_type(arg, variables)?);
        }
        let label = self.graph.label(&tag.name);
        let tail = self.fresh_row();
        Ok(self
            .graph
            .variant(vec![(label, Slot::Types(types.into()))], tail))
    }

    fn record_pattern(
        &mut self,
        fields: &[(Ident, Pattern)],
        open: bool,
        variables: &mut Vec<(Name, Span, Ty)>,
    ) -> Check<Ty> {
        let mut row: Fields = Vec::with_capacity(fields.len());
        for (label, field) in fields {
            let ty = self.pattern_type(field, variables)?;
            row.push((self.graph.label(&label.name), Slot::Types(Box::new([ty]))));
        }
        let tail = if open {
            self.fresh_row()
        } else {
            Graph::ROW_EMPTY
        };
        Ok(self.graph.record(row, tail))
    }
}

fn unique_labels(pattern: &Pattern) -> Check<()> {
    match &pattern.kind {
        PatternKind::Tag { args, .. } => args.iter().try_for_each(unique_labels),
        PatternKind::Record { fields, .. } => {
            annotation::unique(fields.iter().map(|(label, _)| label), "label")?;
            fields
                .iter()
                .try_for_each(|(_, field)| unique_labels(field))
        }
        _ => Ok(()),
    }
}

fn collect_binders<'p>(pattern: &'p Pattern, seen: &mut HashMap<&'p str, Span>) -> Check<()> {
    match &pattern.kind {
        PatternKind::Var(name) => match seen.insert(name, pattern.span) {
            Some(first) => fail(duplicate_binder(name, pattern.span, first)),
            None => Ok(()),
        },
        PatternKind::Tag { args, .. } => args.iter().try_for_each(|arg| collect_binders(arg, seen)),
        PatternKind::Record { fields, .. } => fields
            .iter()
            .try_for_each(|(_, field)| collect_binders(field, seen)),
        _ => Ok(()),
    }
}

/// Whether a pattern that fits its type matches every value of it. A record pattern that is not
/// open lists every field, since it closed the row.
pub(super) fn is_total(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Wildcard | PatternKind::Var(_) | PatternKind::Unit => true,
        PatternKind::Record { fields, .. } => fields.iter().all(|(_, field)| is_total(field)),
        _ => false,
    }
}

/// Whether a pattern is `_` or a variable.
pub(super) fn is_catch_all(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Wildcard | PatternKind::Var(_))
}
