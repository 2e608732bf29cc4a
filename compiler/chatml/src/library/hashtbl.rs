//! `Hashtbl` (spec 05b section 2.4): an array of entries in a cell, in order of insertion.

use super::{Context, NONE, Native, argument, cell, known, text, unexpected};
use crate::eval::Trouble;
use crate::value::{Items, Value};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("Hashtbl.create", create),
    ("Hashtbl.set", set),
    ("Hashtbl.get", get),
    ("Hashtbl.mem", mem),
    ("Hashtbl.remove", remove),
];

fn create(context: &mut Context<'_, '_>, _: &[Value]) -> Result<Value, Trouble> {
    Ok(Value::Ref(context.heap.store(&[Value::EMPTY])?))
}

/// The entries of the table, and the position of the key among them.
fn search(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
) -> Result<(Items, Option<usize>), Trouble> {
    let at = cell(arguments, 0)?;
    let entries = match context.heap.get(at) {
        Some(Value::Array(items)) => items,
        other => return Err(unexpected("a table", other.unwrap_or(Value::Unit))),
    };
    let key = text(arguments, 1)?;
    context.budget.data(u64::from(key.len))?;
    for position in 0..entries.len {
        context.budget.step()?;
        let entry = context.heap.get(entries.start + position);
        let found = context.field(entry.unwrap_or(Value::Unit), known::KEY)?;
        if let Value::String(found) = found
            && context.str(found) == context.str(key)
        {
            return Ok((entries, Some(position as usize)));
        }
    }
    Ok((entries, None))
}

fn set(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (entries, position) = search(context, arguments)?;
    let pair = [argument(arguments, 1), argument(arguments, 2)];
    let entry = context.heap.record(known::ENTRY, &pair)?;
    let mut items = context.heap.items(entries).to_vec();
    match position.and_then(|position| items.get_mut(position)) {
        Some(slot) => *slot = entry,
        None => items.push(entry),
    }
    replace(context, arguments, &items)
}

fn remove(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (entries, position) = search(context, arguments)?;
    let mut items = context.heap.items(entries).to_vec();
    if let Some(position) = position {
        items.remove(position);
    }
    replace(context, arguments, &items)
}

/// Puts a new array into the table's cell.
fn replace(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
    items: &[Value],
) -> Result<Value, Trouble> {
    let array = context.heap.array(items)?;
    context.heap.set(cell(arguments, 0)?, array);
    Ok(Value::Unit)
}

fn get(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (entries, position) = search(context, arguments)?;
    let entry = position.and_then(|position| context.heap.items(entries).get(position).copied());
    match entry {
        Some(entry) => {
            let value = context.field(entry, known::VALUE)?;
            context.some(value)
        }
        None => Ok(NONE),
    }
}

fn mem(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (_, position) = search(context, arguments)?;
    Ok(Value::Bool(position.is_some()))
}
