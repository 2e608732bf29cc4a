//! Global functions (spec 05b section 1).

use super::{Context, Native, argument, arrays, cell, md5, strings, text, unexpected};
use crate::eval::Trouble;
use crate::value::{Printer, Value, to_string};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("to_string", print_value),
    ("length", arrays::length),
    ("string_length", strings::length),
    ("string_is_empty", strings::is_empty),
    ("array_copy", arrays::copy),
    ("record_keys", record_keys),
    ("variant_tag", variant_tag),
    ("swap_ref", swap_ref),
    ("fail", fail),
    ("hash_md5", hash_md5),
    ("print", print),
];

fn printed(context: &mut Context<'_, '_>, value: Value) -> Result<String, Trouble> {
    let program = context.program;
    let mut printer = Printer {
        heap: context.heap,
        symbols: context.symbols,
        budget: context.budget,
        is_library: &|function| program.is_library(function),
        allowance: context.heap.allowance(),
    };
    Ok(to_string(&mut printer, value)?)
}

fn print_value(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let value = argument(arguments, 0);
    if let Value::String(_) = value {
        return Ok(value);
    }
    let text = printed(context, value)?;
    Ok(context.heap.string(&text)?)
}

fn record_keys(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let Value::Record { shape, .. } = argument(arguments, 0) else {
        return Err(unexpected("a record", argument(arguments, 0)));
    };
    let Some(shape) = context.symbols.shape_of(shape).cloned() else {
        return Ok(Value::EMPTY);
    };
    let mut keys = Vec::with_capacity(shape.labels().len());
    for label in shape.labels() {
        context.budget.step()?;
        keys.push(context.heap.string(context.symbols.text(*label))?);
    }
    Ok(context.heap.array(&keys)?)
}

fn variant_tag(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let Value::Variant { case, .. } = argument(arguments, 0) else {
        return Err(unexpected("a variant", argument(arguments, 0)));
    };
    Ok(context.heap.string(context.symbols.tag(case))?)
}

fn swap_ref(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let at = cell(arguments, 0)?;
    let old = context.heap.get(at).unwrap_or(Value::Unit);
    context.heap.set(at, argument(arguments, 1));
    Ok(old)
}

fn fail(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let message = context.str(text(arguments, 0)?).to_owned();
    Err(Trouble::run("chatml.run.fail", message))
}

fn hash_md5(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let input = text(arguments, 0)?;
    context.budget.data(u64::from(input.len))?;
    let digest = md5::hex(context.str(input).as_bytes());
    Ok(context.heap.string(&digest)?)
}

fn print(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let text = printed(context, argument(arguments, 0))?;
    context.heap.charge(text.len() as u64 + 1)?;
    context.output.push_str(&text);
    context.output.push('\n');
    Ok(Value::Unit)
}
