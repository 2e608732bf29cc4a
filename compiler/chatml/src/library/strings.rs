//! `String` (spec 05b section 2.1). Positions count bytes; parts share the text they come from.

use super::arrays::range;
use super::{Context, NONE, Native, int, text};
use crate::eval::Trouble;
use crate::limits::Stop;
use crate::value::{Text, Value};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("String.length", length),
    ("String.is_empty", is_empty),
    ("String.concat", concat),
    ("String.equal", |context, arguments| {
        compare(context, arguments, |left, right| left == right)
    }),
    ("String.contains", |context, arguments| {
        compare(context, arguments, |text, part| text.contains(part))
    }),
    ("String.starts_with", |context, arguments| {
        compare(context, arguments, |text, affix| text.starts_with(affix))
    }),
    ("String.ends_with", |context, arguments| {
        compare(context, arguments, |text, affix| text.ends_with(affix))
    }),
    ("String.trim", trim),
    ("String.slice", slice),
    ("String.find", find),
    ("String.split", split),
    ("String.to_upper", |context, arguments| {
        map_case(context, arguments, str::to_ascii_uppercase)
    }),
    ("String.to_lower", |context, arguments| {
        map_case(context, arguments, str::to_ascii_lowercase)
    }),
    ("String.replace_all", replace_all),
];

pub(super) fn length(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    Ok(Value::Int(i64::from(text(arguments, 0)?.len)))
}

pub(super) fn is_empty(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    Ok(Value::Bool(text(arguments, 0)?.len == 0))
}

fn concat(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (left, right) = (text(arguments, 0)?, text(arguments, 1)?);
    look(context, &[left, right])?;
    Ok(context.heap.concat(left, right)?)
}

/// Looks at the time before work on these texts.
fn look(context: &mut Context<'_, '_>, texts: &[Text]) -> Result<(), Stop> {
    let bytes = texts.iter().map(|text| u64::from(text.len)).sum();
    context.budget.data(bytes)
}

fn compare(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
    holds: fn(&str, &str) -> bool,
) -> Result<Value, Trouble> {
    let (left, right) = (text(arguments, 0)?, text(arguments, 1)?);
    look(context, &[left, right])?;
    Ok(Value::Bool(holds(context.str(left), context.str(right))))
}

fn trim(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    const BLANKS: &[char] = &[' ', '\t', '\n', '\u{b}', '\u{c}', '\r'];
    let whole = text(arguments, 0)?;
    look(context, &[whole])?;
    let content = context.str(whole);
    let from = offset(content.len() - content.trim_start_matches(BLANKS).len());
    let len = offset(content.trim_matches(BLANKS).len());
    Ok(context.heap.substring(whole, from, len)?)
}

/// An offset into a text; texts are shorter than 4 GiB.
fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn slice(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let whole = text(arguments, 0)?;
    let (start, len) = range(
        "String.slice",
        whole.len,
        int(arguments, 1)?,
        int(arguments, 2)?,
    )?;
    let content = context.str(whole);
    for position in [start, start + len] {
        if !content.is_char_boundary(position as usize) {
            return Err(Trouble::run(
                "chatml.run.string_boundary",
                format!("String.slice: byte {position} is inside of a character"),
            ));
        }
    }
    Ok(context.heap.substring(whole, start, len)?)
}

fn find(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (whole, part) = (text(arguments, 0)?, text(arguments, 1)?);
    look(context, &[whole, part])?;
    match context.str(whole).find(context.str(part)) {
        Some(position) => context.some(Value::Int(i64::from(offset(position)))),
        None => Ok(NONE),
    }
}

fn split(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (whole, separator) = (text(arguments, 0)?, text(arguments, 1)?);
    if separator.len == 0 {
        return Err(Trouble::argument("String.split", "the separator is empty"));
    }
    look(context, &[whole, separator])?;
    let mut parts = Vec::new();
    let mut from = 0;
    loop {
        context.budget.step()?;
        let rest = context.str(whole).get(from as usize..).unwrap_or_default();
        let found = rest.find(context.str(separator));
        let len = offset(found.unwrap_or(rest.len()));
        parts.push(context.heap.substring(whole, from, len)?);
        if found.is_none() {
            break;
        }
        from += len + separator.len;
    }
    Ok(context.heap.array(&parts)?)
}

fn map_case(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
    map: fn(&str) -> String,
) -> Result<Value, Trouble> {
    let whole = text(arguments, 0)?;
    look(context, &[whole])?;
    let mapped = map(context.str(whole));
    Ok(context.heap.string(&mapped)?)
}

fn replace_all(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (whole, pattern, replacement) = (
        text(arguments, 0)?,
        text(arguments, 1)?,
        text(arguments, 2)?,
    );
    if pattern.len == 0 {
        return Err(Trouble::argument(
            "String.replace_all",
            "the pattern is empty",
        ));
    }
    look(context, &[whole, pattern])?;
    let found = context.str(whole).matches(context.str(pattern)).count() as u64;
    let len = u64::from(whole.len) - found * u64::from(pattern.len)
        + found.saturating_mul(u64::from(replacement.len));
    if len > context.heap.allowance() {
        return Err(Stop::Memory.into());
    }
    context.budget.data(len)?;
    let replaced = context
        .str(whole)
        .replace(context.str(pattern), context.str(replacement));
    Ok(context.heap.string(&replaced)?)
}
