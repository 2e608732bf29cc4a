//! Structural equality (spec 05 section 6).

use super::heap::Heap;
use super::symbols::Symbols;
use super::{Items, Value};
use crate::limits::{Budget, Stop};

/// Why two values could not be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Incomparable {
    /// The kind of value that equality met.
    Kind(&'static str),
    Stop(Stop),
}

impl From<Stop> for Incomparable {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// Whether two values are equal. Walks with a stack of its own; every pair of compound parts after
/// the first counts one step, because values that share their parts may unfold exponentially.
pub(crate) fn equal(
    heap: &Heap,
    symbols: &Symbols,
    budget: &mut Budget<'_>,
    left: Value,
    right: Value,
) -> Result<bool, Incomparable> {
    let mut pending: Vec<(Items, Items)> = Vec::new();
    if !parts(heap, symbols, budget, left, right, &mut pending)? {
        return Ok(false);
    }
    let mut first = true;
    while let Some((left, right)) = pending.pop() {
        if !first {
            budget.step()?;
        }
        first = false;
        // Later parts are pushed last and so compared first; the answer does not depend on the order.
        for (left, right) in heap.items(left).iter().zip(heap.items(right)) {
            if !parts(heap, symbols, budget, *left, *right, &mut pending)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Compares the outsides of two values and puts what they hold on the stack.
fn parts(
    heap: &Heap,
    symbols: &Symbols,
    budget: &mut Budget<'_>,
    left: Value,
    right: Value,
    pending: &mut Vec<(Items, Items)>,
) -> Result<bool, Incomparable> {
    let same = match (left, right) {
        (Value::Unit, Value::Unit) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left), Value::Int(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::String(left), Value::String(right)) => {
            if left.len == right.len {
                budget.data(u64::from(left.len))?;
            }
            heap.str(left) == heap.str(right)
        }
        (
            Value::Record {
                shape: left,
                at: left_at,
            },
            Value::Record {
                shape: right,
                at: right_at,
            },
        ) => {
            if left == right {
                push(symbols.width(left), left_at, right_at, pending);
            }
            left == right
        }
        (
            Value::Variant {
                case: left,
                at: left_at,
            },
            Value::Variant {
                case: right,
                at: right_at,
            },
        ) => {
            if left == right {
                push(symbols.arguments(left), left_at, right_at, pending);
            }
            left == right
        }
        (left, right) => {
            for value in [left, right] {
                if matches!(
                    value,
                    Value::Array(_)
                        | Value::Ref(_)
                        | Value::Closure { .. }
                        | Value::Builtin(_)
                        | Value::Task { .. }
                ) {
                    return Err(Incomparable::Kind(value.kind()));
                }
            }
            false
        }
    };
    Ok(same)
}

fn push(len: u32, left: u32, right: u32, pending: &mut Vec<(Items, Items)>) {
    if len > 0 {
        pending.push((Items { start: left, len }, Items { start: right, len }));
    }
}
