//! What instructions do that is not a line of the loop.

use super::fault::Trouble;
use super::instr::Reg;
use super::machine::{Part, UpdatePlan};
use super::program::{Program, Source};
use crate::value::heap::Heap;
use crate::value::{Items, ShapeId, Symbols, Value};

/// Integer and float arithmetic that can fail (spec 05 section 6).
pub(crate) mod arithmetic {
    use super::ArithmeticError;

    pub(crate) fn divide(left: i64, right: i64) -> Result<i64, ArithmeticError> {
        if right == 0 {
            return Err(ArithmeticError::DivisionByZero);
        }
        left.checked_div(right).ok_or(ArithmeticError::Overflow)
    }

    pub(crate) fn divide_float(left: f64, right: f64) -> Result<f64, ArithmeticError> {
        if right == 0.0 {
            return Err(ArithmeticError::DivisionByZero);
        }
        Ok(left / right)
    }
}

/// Why arithmetic failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArithmeticError {
    Overflow,
    DivisionByZero,
}

impl From<ArithmeticError> for Trouble {
    fn from(error: ArithmeticError) -> Self {
        match error {
            ArithmeticError::Overflow => {
                Self::run("chatml.run.int_overflow", "the result does not fit 64 bits")
            }
            ArithmeticError::DivisionByZero => {
                Self::run("chatml.run.division_by_zero", "division by zero")
            }
        }
    }
}

/// A value of another kind than the instruction works on.
#[cold]
pub(crate) fn other_kind(expected: &str, found: Value) -> Trouble {
    Trouble::internal(format!("expected {expected}, found {}", found.kind()))
}

/// The slot of an item.
#[inline]
pub(crate) fn index(items: Items, index: i64) -> Result<u32, Trouble> {
    match u32::try_from(index) {
        Ok(index) if index < items.len => Ok(items.start + index),
        _ => Err(out_of_bounds(items.len, index)),
    }
}

#[cold]
fn out_of_bounds(len: u32, index: i64) -> Trouble {
    let items = match len {
        1 => "1 item".to_owned(),
        len => format!("{len} items"),
    };
    Trouble::run(
        "chatml.run.index_out_of_bounds",
        format!("index {index} is outside of an array with {items}"),
    )
}

/// Where a shape has the label of a field access.
#[cold]
pub(crate) fn position(
    program: &Program,
    symbols: &Symbols,
    shape: ShapeId,
    site: u32,
) -> Result<u32, Trouble> {
    let label = program
        .fields
        .get(site as usize)
        .copied()
        .ok_or_else(|| Trouble::internal("the field access does not exist"))?;
    symbols
        .shape_of(shape)
        .and_then(|shape| shape.position(label))
        .ok_or_else(|| {
            Trouble::internal(format!("the record has no field `{}`", symbols.text(label)))
        })
}

/// Builds a record from registers in source order.
#[inline]
pub(crate) fn record(
    program: &Program,
    heap: &mut Heap,
    registers: &[Value],
    first: Reg,
    site: u32,
) -> Result<Value, Trouble> {
    let site = program
        .records
        .get(site as usize)
        .ok_or_else(|| Trouble::internal("the record expression does not exist"))?;
    let values = registers.get(first as usize..).unwrap_or_default();
    let at = heap.store_from(site.order.len(), |position| {
        site.order
            .get(position)
            .and_then(|source| values.get(*source as usize))
            .copied()
            .unwrap_or(Value::Unit)
    })?;
    Ok(Value::Record {
        shape: site.shape,
        at,
    })
}

/// Copies a record with changes.
#[allow(clippy::too_many_arguments)] // The parts of the machine, borrowed one by one.
pub(crate) fn update(
    program: &Program,
    heap: &mut Heap,
    symbols: &mut Symbols,
    plans: &mut [Option<UpdatePlan>],
    registers: &[Value],
    old: Value,
    first: Reg,
    site: u32,
) -> Result<Value, Trouble> {
    let Value::Record { shape, at } = old else {
        return Err(Trouble::internal(format!(
            "expected a record, found {}",
            old.kind()
        )));
    };
    let slot = plans
        .get_mut(site as usize)
        .ok_or_else(|| Trouble::internal("the record update does not exist"))?;
    let plan = match slot {
        Some(plan) if plan.from == shape => plan,
        _ => slot.insert(plan_update(program, heap, symbols, shape, site)?),
    };
    let values = registers.get(first as usize..).unwrap_or_default();
    let to = plan.to;
    let start = heap.store_parts(at, values, &plan.parts)?;
    Ok(Value::Record {
        shape: to,
        at: start,
    })
}

#[cold]
fn plan_update(
    program: &Program,
    heap: &mut Heap,
    symbols: &mut Symbols,
    from: ShapeId,
    site: u32,
) -> Result<UpdatePlan, Trouble> {
    let missing = || Trouble::internal("the record update does not exist");
    let changes = program.updates.get(site as usize).ok_or_else(missing)?;
    let source = symbols.shape_of(from).cloned().ok_or_else(missing)?;
    let mut labels = source.labels().to_vec();
    for label in changes.iter() {
        if source.position(*label).is_none() {
            labels.push(*label);
        }
    }
    let (to, new) = symbols.shape(&labels);
    if new {
        // Shapes stay for the life of the instance; a program that makes ever new ones pays for them.
        heap.charge(labels.len() as u64 * 32)?;
    }
    let result = symbols.shape_of(to).cloned().ok_or_else(missing)?;
    let mut parts = vec![Part::Old(0); result.labels().len()];
    for (part, label) in parts.iter_mut().zip(result.labels()) {
        if let Some(position) = source.position(*label) {
            *part = Part::Old(position);
        }
    }
    for (change, label) in changes.iter().enumerate() {
        let slot = result
            .position(*label)
            .and_then(|position| parts.get_mut(position as usize));
        if let Some(part) = slot {
            *part = Part::New(u16::try_from(change).unwrap_or(u16::MAX));
        }
    }
    Ok(UpdatePlan {
        from,
        to,
        parts: parts.into(),
    })
}

/// A closure over what the function captures now.
pub(crate) fn closure(
    program: &Program,
    heap: &mut Heap,
    registers: &[Value],
    captures: u32,
    function: u32,
) -> Result<Value, Trouble> {
    let target = program
        .functions
        .get(function as usize)
        .ok_or_else(|| Trouble::internal("the function does not exist"))?;
    if target.captures.is_empty() {
        return Ok(Value::Closure { function, at: 0 });
    }
    let at = heap.store_captures(captures, registers, &target.captures)?;
    Ok(Value::Closure { function, at })
}

/// A call through a value passes as many arguments as the function has parameters.
#[inline]
pub(crate) fn arity(program: &Program, function: u32, count: u16) -> Result<(), Trouble> {
    match program.functions.get(function as usize) {
        Some(target) if target.parameters == count => Ok(()),
        _ => Err(Trouble::internal("wrong number of arguments")),
    }
}

/// The value that a new closure captures.
pub(crate) fn captured(
    slots: &[Value],
    captures: u32,
    registers: &[Value],
    source: Source,
) -> Value {
    let value = match source {
        Source::Register(register) => registers.get(register as usize),
        Source::Captured(index) => slots.get(captures as usize + index as usize),
    };
    value.copied().unwrap_or(Value::Unit)
}
