//! Functions that build task values (spec 05b section 2.5 and 5). Nothing is performed here.

use super::{Context, Native};
use crate::eval::Trouble;
use crate::value::{TaskNode, Value};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("Task.pure", |context, arguments| {
        Ok(context.heap.task(TaskNode::Pure, arguments)?)
    }),
    ("Task.bind", |context, arguments| {
        Ok(context.heap.task(TaskNode::Bind, arguments)?)
    }),
    ("Task.map", |context, arguments| {
        Ok(context.heap.task(TaskNode::Map, arguments)?)
    }),
    ("Task.fail", |context, arguments| {
        Ok(context.heap.task(TaskNode::Fail, arguments)?)
    }),
    ("Task.catch", |context, arguments| {
        Ok(context.heap.task(TaskNode::Catch, arguments)?)
    }),
];

/// A task that performs or starts an operation of the host.
pub(super) fn operation(
    context: &mut Context<'_, '_>,
    builtin: u16,
    arguments: &[Value],
) -> Result<Value, Trouble> {
    let arguments = context.heap.array(arguments)?;
    let operands = [Value::Int(i64::from(builtin)), arguments];
    Ok(context.heap.task(TaskNode::Perform, &operands)?)
}
