//! Members of JSON objects and paths into JSON values.

use super::{argument, known, parts};
use crate::eval::Trouble;
use crate::library::{Context, NONE, items, text, unexpected};
use crate::value::{Items, Text, Value};

/// The members of an object; nothing for other values.
fn object(context: &Context<'_, '_>, json: Value) -> Result<Option<Items>, Trouble> {
    let (case, at) = parts(json)?;
    match context.heap.get(at) {
        Some(Value::Array(items)) if case == known::JSON_OBJECT => Ok(Some(items)),
        _ => Ok(None),
    }
}

fn key(context: &Context<'_, '_>, member: Value) -> Result<Text, Trouble> {
    match context.field(member, known::KEY)? {
        Value::String(key) => Ok(key),
        other => Err(unexpected("a string", other)),
    }
}

pub(super) fn object_keys(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
) -> Result<Value, Trouble> {
    let Some(members) = object(context, argument(arguments, 0))? else {
        return Ok(Value::EMPTY);
    };
    context.visit(members)?;
    let mut keys = Vec::with_capacity(members.len as usize);
    for member in context.heap.items(members) {
        keys.push(Value::String(key(context, *member)?));
    }
    Ok(context.heap.array(&keys)?)
}

/// The value of the first member of that name.
fn member(
    context: &mut Context<'_, '_>,
    json: Value,
    name: Text,
) -> Result<Option<Value>, Trouble> {
    let Some(members) = object(context, json)? else {
        return Ok(None);
    };
    context.budget.data(u64::from(name.len))?;
    for offset in 0..members.len {
        context.budget.step()?;
        let member = context
            .heap
            .get(members.start + offset)
            .unwrap_or(Value::Unit);
        if context.str(key(context, member)?) == context.str(name) {
            return context.field(member, known::VALUE).map(Some);
        }
    }
    Ok(None)
}

fn option(context: &mut Context<'_, '_>, value: Option<Value>) -> Result<Value, Trouble> {
    match value {
        Some(value) => context.some(value),
        None => Ok(NONE),
    }
}

pub(super) fn get_field(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
) -> Result<Value, Trouble> {
    let found = member(context, argument(arguments, 0), text(arguments, 1)?)?;
    option(context, found)
}

pub(super) fn get_path(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
) -> Result<Value, Trouble> {
    let path = items(arguments, 1)?;
    let mut current = argument(arguments, 0);
    for offset in 0..path.len {
        context.budget.step()?;
        let Some(Value::String(name)) = context.heap.get(path.start + offset) else {
            return Err(unexpected("a string", Value::Unit));
        };
        let (case, at) = parts(current)?;
        let next = match context.heap.get(at) {
            Some(Value::Array(list)) if case == known::JSON_ARRAY => item_index(context.str(name))
                .filter(|index| *index < list.len)
                .and_then(|index| context.heap.get(list.start + index)),
            _ => member(context, current, name)?,
        };
        match next {
            Some(next) => current = next,
            None => return Ok(NONE),
        }
    }
    context.some(current)
}

/// A decimal index; no sign and no superfluous zeros.
fn item_index(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    text.parse().ok()
}

/// The members without those of a name, and where the first of them stood.
fn without(
    context: &mut Context<'_, '_>,
    function: &'static str,
    arguments: &[Value],
) -> Result<(Vec<Value>, Option<usize>), Trouble> {
    let Some(members) = object(context, argument(arguments, 0))? else {
        return Err(Trouble::argument(function, "the value is not an object"));
    };
    let name = text(arguments, 1)?;
    context.visit(members)?;
    let mut first = None;
    let mut kept = Vec::with_capacity(members.len as usize);
    for member in context.heap.items(members) {
        if context.str(key(context, *member)?) == context.str(name) {
            first = first.or(Some(kept.len()));
        } else {
            kept.push(*member);
        }
    }
    Ok((kept, first))
}

pub(super) fn set_field(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
) -> Result<Value, Trouble> {
    let (mut members, first) = without(context, "Json.set_field", arguments)?;
    let pair = [argument(arguments, 1), argument(arguments, 2)];
    let member = context.heap.record(known::ENTRY, &pair)?;
    members.insert(first.unwrap_or(members.len()), member);
    object_of(context, &members)
}

pub(super) fn remove_field(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
) -> Result<Value, Trouble> {
    let (members, _) = without(context, "Json.remove_field", arguments)?;
    object_of(context, &members)
}

fn object_of(context: &mut Context<'_, '_>, members: &[Value]) -> Result<Value, Trouble> {
    let array = context.heap.array(members)?;
    Ok(context.heap.variant(known::JSON_OBJECT, &[array])?)
}
