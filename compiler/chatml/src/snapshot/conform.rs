//! Whether a value has a type.

use std::fmt;
use std::sync::Arc;

use crate::limits::{Segment, Walk};
use crate::types::{NodeId, NodeKind, TypeGraph};
use crate::value::data::Data;

/// A part of a value that is not of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where, starting at `root`.
    pub path: String,
    /// What the type says.
    pub expected: String,
    /// What the value has.
    pub found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            expected,
            found,
        } = self;
        write!(out, "{path}: expected {expected}, found {found}")
    }
}

/// Checks a value against a state type: closed rows exactly, open rows at least, type variables not at
/// all (spec 05 section 8.4).
///
/// # Errors
/// The first part that does not fit.
pub fn check(data: &Data, ty: &TypeGraph) -> Result<(), Mismatch> {
    conform(data, ty, false)
}

/// The value without the fields that its type does not have. A join can hide fields of a record from
/// the checker; they are not part of the state, and a restored state must equal the stored one.
///
/// # Errors
/// As [`check`]; a checked program yields no value for which it fails.
pub fn project(mut data: Data, ty: &TypeGraph) -> Result<Data, Mismatch> {
    conform(&data, ty, true)?;
    strip(&mut data, ty);
    Ok(data)
}

/// Removes hidden fields.
fn strip(data: &mut Data, ty: &TypeGraph) {
    let mut pending = vec![(data, ty.root)];
    while let Some((data, node)) = pending.pop() {
        let Some(kind) = ty.node(node).map(|node| &node.kind) else {
            continue;
        };
        match (data, kind) {
            (Data::Array(items), NodeKind::Array(item)) => {
                pending.extend(items.iter_mut().map(|value| (value, *item)));
            }
            (Data::Record(values), NodeKind::Record { fields, row }) => {
                if row.is_none() && values.len() > fields.len() {
                    values.retain(|label, _| field(fields, label).is_some());
                }
                for (label, value) in values {
                    if let Some(node) = field(fields, label) {
                        pending.push((value, node));
                    }
                }
            }
            (Data::Variant { tag, arguments }, NodeKind::Variant { cases, .. }) => {
                if let Some(types) = case(cases, tag) {
                    pending.extend(arguments.iter_mut().zip(types.iter().copied()));
                }
            }
            _ => {}
        }
    }
}

/// The type of a field; labels are in byte order.
fn field(fields: &[(Arc<str>, NodeId)], label: &str) -> Option<NodeId> {
    let index = fields
        .binary_search_by(|(name, _)| (**name).cmp(label))
        .ok()?;
    fields.get(index).map(|(_, node)| *node)
}

/// The argument types of a case; tags are in byte order.
fn case<'a>(cases: &'a [(Arc<str>, Vec<NodeId>)], tag: &str) -> Option<&'a [NodeId]> {
    let index = cases.binary_search_by(|(name, _)| (**name).cmp(tag)).ok()?;
    cases.get(index).map(|(_, types)| types.as_slice())
}

/// Whether every part fits its type. Labels without a type are hidden fields or foreign ones.
fn conform(data: &Data, ty: &TypeGraph, hidden: bool) -> Result<(), Mismatch> {
    let mut walk = Walk::new("root", data, ty.root);
    while let Some((data, node)) = walk.next() {
        let kind = ty.node(node).map(|node| &node.kind);
        if let Err((expected, found)) = outside(data, kind, hidden) {
            return Err(Mismatch {
                path: walk.path.to_string(),
                expected,
                found,
            });
        }
        walk.parts(data, |segment, _| match (segment, kind?) {
            (_, NodeKind::Array(item)) => Some(*item),
            (Segment::Label(label), NodeKind::Record { fields, .. }) => field(fields, label),
            (Segment::Argument(tag, index), NodeKind::Variant { cases, .. }) => {
                case(cases, tag)?.get(*index).copied()
            }
            _ => None,
        });
    }
    Ok(())
}

/// Whether the outermost part fits; what was expected and what was found if not.
fn outside(data: &Data, kind: Option<&NodeKind>, hidden: bool) -> Result<(), (String, String)> {
    let Some(kind) = kind else {
        return Err(("a known type".to_owned(), data.kind().to_owned()));
    };
    match (data, kind) {
        (_, NodeKind::Variable { .. })
        | (Data::Unit, NodeKind::Unit)
        | (Data::Bool(_), NodeKind::Bool)
        | (Data::Int(_), NodeKind::Int)
        | (Data::Float(_), NodeKind::Float)
        | (Data::String(_), NodeKind::String)
        | (Data::Array(_), NodeKind::Array(_)) => Ok(()),
        (Data::Record(values), NodeKind::Record { fields, row }) => {
            let foreign = |label: &&String| field(fields, label).is_none();
            if row.is_none()
                && !hidden
                && let Some(label) = values.keys().find(foreign)
            {
                return Err(("no other field".to_owned(), format!("the field `{label}`")));
            }
            match fields
                .iter()
                .find(|(label, _)| !values.contains_key(&**label))
            {
                Some((label, _)) => Err((
                    format!("the field `{label}`"),
                    "a record without it".to_owned(),
                )),
                None => Ok(()),
            }
        }
        (Data::Variant { tag, arguments }, NodeKind::Variant { cases, row }) => {
            match case(cases, tag) {
                Some(types) if types.len() == arguments.len() => Ok(()),
                Some(types) => Err((
                    format!("{} arguments of `{tag}", types.len()),
                    arguments.len().to_string(),
                )),
                None if row.is_some() => Ok(()),
                None => Err(("a known case".to_owned(), format!("`{tag}"))),
            }
        }
        (data, kind) => Err((name(kind).to_owned(), data.kind().to_owned())),
    }
}

fn name(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Int => "an int",
        NodeKind::Float => "a float",
        NodeKind::Bool => "a bool",
        NodeKind::String => "a string",
        NodeKind::Unit => "unit",
        NodeKind::Variable { .. } => "anything",
        NodeKind::Array(_) => "an array",
        NodeKind::Ref(_) => "a ref",
        NodeKind::Task(_) => "a task",
        NodeKind::Function { .. } => "a function",
        NodeKind::Record { .. } => "a record",
        NodeKind::Variant { .. } => "a variant",
    }
}
