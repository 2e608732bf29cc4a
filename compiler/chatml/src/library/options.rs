//! `Option` (spec 05b section 2.3).

use super::{Context, NONE, Native, argument, known, unexpected};
use crate::eval::Trouble;
use crate::value::Value;

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("Option.none", |_, _| Ok(NONE)),
    ("Option.some", |context, arguments| {
        context.some(argument(arguments, 0))
    }),
    ("Option.is_none", |_, arguments| {
        Ok(Value::Bool(!is_some(argument(arguments, 0))?))
    }),
    ("Option.is_some", |_, arguments| {
        Ok(Value::Bool(is_some(argument(arguments, 0))?))
    }),
    ("Option.get_or", get_or),
];

fn is_some(option: Value) -> Result<bool, Trouble> {
    match option {
        Value::Variant { case, .. } => Ok(case == known::SOME),
        other => Err(unexpected("an option", other)),
    }
}

fn get_or(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Trouble> {
    match argument(arguments, 0) {
        Value::Variant { case, at } if case == known::SOME => {
            Ok(context.heap.get(at).unwrap_or(Value::Unit))
        }
        _ => Ok(argument(arguments, 1)),
    }
}
