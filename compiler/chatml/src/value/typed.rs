//! Whether a run-time value has an inferred type. Nothing in an evaluation depends on it: it is how
//! the soundness of the checker is tested.

use std::collections::HashSet;

use super::Value;
use super::heap::Heap;
use super::symbols::Symbols;
use crate::types::{NodeId, NodeKind, TypeGraph};

/// What a function value looks like from outside.
pub(crate) type Arity<'a> = &'a dyn Fn(Value) -> Option<usize>;

/// The first part that does not have its type, or nothing. Records may have fields that a join hides;
/// functions are compared by their parameter count, tasks by being tasks.
pub(crate) fn misfit(
    heap: &Heap,
    symbols: &Symbols,
    arity: Arity<'_>,
    value: Value,
    ty: &TypeGraph,
) -> Option<String> {
    let mut seen: HashSet<(u8, u32, NodeId)> = HashSet::new();
    let mut pending = vec![(value, ty.root)];
    while let Some((value, node)) = pending.pop() {
        let kind = &ty.node(node)?.kind;
        let fits = match (value, kind) {
            (_, NodeKind::Variable { .. })
            | (Value::Unit, NodeKind::Unit)
            | (Value::Bool(_), NodeKind::Bool)
            | (Value::Int(_), NodeKind::Int)
            | (Value::Float(_), NodeKind::Float)
            | (Value::String(_), NodeKind::String)
            | (Value::Task { .. }, NodeKind::Task(_)) => true,
            (Value::Closure { .. } | Value::Builtin(_), NodeKind::Function { params, .. }) => {
                arity(value) == Some(params.len())
            }
            (Value::Array(items), NodeKind::Array(item)) => {
                if items.len > 0 && seen.insert((0, items.start, node)) {
                    pending.extend(heap.items(items).iter().map(|value| (*value, *item)));
                }
                true
            }
            (Value::Ref(at), NodeKind::Ref(content)) => {
                if seen.insert((1, at, node)) {
                    pending.extend(heap.get(at).map(|value| (value, *content)));
                }
                true
            }
            (Value::Record { shape, at }, NodeKind::Record { fields, .. }) => {
                let shape = symbols.shape_of(shape)?;
                fields.is_empty()
                    || !seen.insert((2, at, node))
                    || fields.iter().all(|(label, field)| {
                        let position = shape
                            .labels()
                            .iter()
                            .position(|name| symbols.text(*name) == &**label);
                        let value = position
                            .and_then(|position| u32::try_from(position).ok())
                            .and_then(|position| heap.get(at + position));
                        pending.extend(value.map(|value| (value, *field)));
                        value.is_some()
                    })
            }
            (Value::Variant { case, at }, NodeKind::Variant { cases, row }) => {
                let count = symbols.arguments(case);
                match cases.iter().find(|(tag, _)| **tag == *symbols.tag(case)) {
                    Some((_, types)) if types.len() == count as usize => {
                        if count > 0 && seen.insert((3, at, node)) {
                            let values = heap.run(at, count).iter().copied();
                            pending.extend(values.zip(types.iter().copied()));
                        }
                        true
                    }
                    Some(_) => false,
                    None => row.is_some(),
                }
            }
            _ => false,
        };
        if !fits {
            return Some(format!("{} where the type has {kind:?}", value.kind()));
        }
    }
    None
}
