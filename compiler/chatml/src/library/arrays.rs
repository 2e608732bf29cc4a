//! `Array` functions without callbacks (spec 05b section 2.2).

use super::{Context, Native, argument, int, items};
use crate::eval::Trouble;
use crate::value::{Items, Value};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("Array.length", length),
    ("Array.copy", copy),
    ("Array.get", get),
    ("Array.set", set),
    ("Array.make", make),
    ("Array.append", append),
    ("Array.sub", sub),
    ("Array.reverse", reverse),
    ("Array.reverse_in_place", reverse_in_place),
    ("Array.swap", swap),
    ("Array.fill", fill),
];

pub(super) fn length(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    Ok(Value::Int(i64::from(items(arguments, 0)?.len)))
}

pub(super) fn copy(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let array = items(arguments, 0)?;
    context.visit(array)?;
    let start = context.heap.store_copy(array)?;
    Ok(Value::Array(Items {
        start,
        len: array.len,
    }))
}

/// The slot of an index.
fn slot(function: &str, array: Items, index: i64) -> Result<u32, Trouble> {
    match u32::try_from(index) {
        Ok(offset) if offset < array.len => Ok(array.start + offset),
        _ => Err(Trouble::argument(
            function,
            format_args!("index {index} is outside of 0..{}", array.len),
        )),
    }
}

fn get(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let at = slot("Array.get", items(arguments, 0)?, int(arguments, 1)?)?;
    Ok(context.heap.get(at).unwrap_or(Value::Unit))
}

fn set(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let at = slot("Array.set", items(arguments, 0)?, int(arguments, 1)?)?;
    context.heap.set(at, argument(arguments, 2));
    Ok(Value::Unit)
}

fn make(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let count = int(arguments, 0)?;
    let Ok(wanted) = u64::try_from(count) else {
        return Err(Trouble::argument("Array.make", "the count is negative"));
    };
    if wanted == 0 {
        return Ok(Value::EMPTY);
    }
    context.budget.steps(wanted)?;
    let len = u32::try_from(wanted).map_err(|_| crate::limits::Stop::Memory)?;
    let start = context.heap.store_repeated(argument(arguments, 1), len)?;
    Ok(Value::Array(Items { start, len }))
}

fn append(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (left, right) = (items(arguments, 0)?, items(arguments, 1)?);
    context.visit(left)?;
    context.visit(right)?;
    let start = context.heap.store_copy(left)?;
    context.heap.store_copy(right)?;
    // The two copies stand one behind the other.
    Ok(Value::Array(Items {
        start,
        len: left.len + right.len,
    }))
}

fn sub(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let array = items(arguments, 0)?;
    let (start, len) = range(
        "Array.sub",
        array.len,
        int(arguments, 1)?,
        int(arguments, 2)?,
    )?;
    let part = Items {
        start: array.start + start,
        len,
    };
    context.visit(part)?;
    let start = context.heap.store_copy(part)?;
    Ok(Value::Array(Items { start, len }))
}

/// A start and a length inside of `total`.
pub(super) fn range(
    function: &str,
    total: u32,
    start: i64,
    len: i64,
) -> Result<(u32, u32), Trouble> {
    let inside = u32::try_from(start).ok().zip(u32::try_from(len).ok());
    match inside {
        Some((start, len)) if u64::from(start) + u64::from(len) <= u64::from(total) => {
            Ok((start, len))
        }
        _ => Err(Trouble::argument(
            function,
            format_args!("start {start} and length {len} are outside of 0..{total}"),
        )),
    }
}

fn reverse(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let array = items(arguments, 0)?;
    context.visit(array)?;
    let mut reversed = context.heap.items(array).to_vec();
    reversed.reverse();
    Ok(context.heap.array(&reversed)?)
}

fn reverse_in_place(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let array = items(arguments, 0)?;
    context.visit(array)?;
    for offset in 0..array.len / 2 {
        exchange(
            context,
            array.start + offset,
            array.start + array.len - 1 - offset,
        );
    }
    Ok(Value::Unit)
}

fn exchange(context: &mut Context<'_, '_>, left: u32, right: u32) {
    if let (Some(first), Some(second)) = (context.heap.get(left), context.heap.get(right)) {
        context.heap.set(left, second);
        context.heap.set(right, first);
    }
}

fn swap(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let array = items(arguments, 0)?;
    let left = slot("Array.swap", array, int(arguments, 1)?)?;
    let right = slot("Array.swap", array, int(arguments, 2)?)?;
    exchange(context, left, right);
    Ok(Value::Unit)
}

fn fill(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let array = items(arguments, 0)?;
    context.visit(array)?;
    for offset in 0..array.len {
        context
            .heap
            .set(array.start + offset, argument(arguments, 1));
    }
    Ok(Value::Unit)
}
