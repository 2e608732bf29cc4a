//! `Json` (spec 05b section 2.6).
//!
//! `` [ `Null | `Bool(bool) | `Number(float) | `String(string) | `Array(json array)
//! | `Object({ key; value } array) ] ``, members in order and possibly repeated.

mod members;
mod read;
mod write;

use super::{Context, NONE, Native, argument, known, text, unexpected};
use crate::eval::Trouble;
use crate::json::JsonError;
use crate::limits::Stop;
use crate::value::{CaseId, Value};

/// Deepest nesting of arrays and objects in JSON text.
const MAX_DEPTH: u32 = 128;

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("Json.parse", parse),
    ("Json.parse_opt", parse_opt),
    ("Json.validate", validate),
    ("Json.stringify", |context, arguments| {
        write::text(context, "Json.stringify", argument(arguments, 0), false)
    }),
    ("Json.pretty", |context, arguments| {
        write::text(context, "Json.pretty", argument(arguments, 0), true)
    }),
    ("Json.tag", tag),
    ("Json.as_bool", |context, arguments| {
        content(context, arguments, known::JSON_BOOL)
    }),
    ("Json.as_number", |context, arguments| {
        content(context, arguments, known::JSON_NUMBER)
    }),
    ("Json.as_string", |context, arguments| {
        content(context, arguments, known::JSON_STRING)
    }),
    ("Json.as_array", |context, arguments| {
        content(context, arguments, known::JSON_ARRAY)
    }),
    ("Json.as_object", |context, arguments| {
        content(context, arguments, known::JSON_OBJECT)
    }),
    ("Json.object_keys", members::object_keys),
    ("Json.get_field", members::get_field),
    ("Json.get_path", members::get_path),
    ("Json.set_field", members::set_field),
    ("Json.remove_field", members::remove_field),
];

/// Why a text has no value.
#[derive(Debug)]
enum Failure {
    Invalid(JsonError),
    Stop(Stop),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

fn parse(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    match read::value(context, text(arguments, 0)?) {
        Ok(value) => Ok(value),
        Err(Failure::Stop(stop)) => Err(stop.into()),
        Err(Failure::Invalid(error)) => Err(Trouble::run(
            "chatml.run.json",
            format!("Json.parse: {error}"),
        )),
    }
}

fn parse_opt(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    match read::value(context, text(arguments, 0)?) {
        Ok(value) => context.some(value),
        Err(Failure::Stop(stop)) => Err(stop.into()),
        Err(Failure::Invalid(_)) => Ok(NONE),
    }
}

fn validate(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    match read::value(context, text(arguments, 0)?) {
        Ok(_) => Ok(Value::Bool(true)),
        Err(Failure::Stop(stop)) => Err(stop.into()),
        Err(Failure::Invalid(_)) => Ok(Value::Bool(false)),
    }
}

/// Case and first argument of a JSON value.
fn parts(json: Value) -> Result<(CaseId, u32), Trouble> {
    match json {
        Value::Variant { case, at } => Ok((case, at)),
        other => Err(unexpected("a JSON value", other)),
    }
}

fn tag(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    let (case, _) = parts(argument(arguments, 0))?;
    Ok(context.heap.string(context.symbols.tag(case))?)
}

/// What a value of one case holds.
fn content(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
    wanted: CaseId,
) -> Result<Value, Trouble> {
    let (case, at) = parts(argument(arguments, 0))?;
    match context.heap.get(at) {
        Some(content) if case == wanted => context.some(content),
        _ => Ok(NONE),
    }
}
