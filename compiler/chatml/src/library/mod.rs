//! The functions of spec 05b sections 1 and 2, the accessors of section 4.2 and the actions of
//! section 5.
//!
//! Names, types and numbers come from [`crate::surface`]; here is what the functions do. Most are
//! native. Those that call back into the script are instructions ([`loops`]), so that a callback is
//! an ordinary call of the evaluator.

mod arrays;
mod globals;
mod hashtbl;
mod json;
pub(crate) mod known;
pub(crate) mod loops;
mod md5;
mod options;
mod strings;
mod tasks;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::eval::{Program, Trouble};
use crate::limits::Budget;
use crate::surface::{self, Operation};
use crate::value::heap::Heap;
use crate::value::{Items, Name, Symbols, Text, Value};

/// What a native function may use.
pub(crate) struct Context<'a, 'b> {
    pub(crate) heap: &'a mut Heap,
    pub(crate) symbols: &'a mut Symbols,
    pub(crate) budget: &'a mut Budget<'b>,
    pub(crate) program: &'a Program,
    /// What `print` wrote.
    pub(crate) output: &'a mut String,
}

type Native = fn(&mut Context<'_, '_>, &[Value]) -> Result<Value, Trouble>;

/// How a function of the library is carried out.
#[derive(Clone, Copy)]
enum Body {
    Native(Native),
    /// Instructions: the index of the function in every program.
    Loop(u32),
    /// Reads the field of the event that has the function's name.
    Accessor(&'static str),
    /// Builds a task node.
    Operation,
    /// Known to the checker alone.
    Absent,
}

static BODIES: LazyLock<Vec<Body>> = LazyLock::new(|| {
    let natives: HashMap<&str, Native> = [
        globals::FUNCTIONS,
        strings::FUNCTIONS,
        arrays::FUNCTIONS,
        options::FUNCTIONS,
        hashtbl::FUNCTIONS,
        tasks::FUNCTIONS,
        json::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
    .copied()
    .collect();
    surface::builtins()
        .iter()
        .map(|builtin| {
            if builtin.operation != Operation::Pure {
                Body::Operation
            } else if let Some(native) = natives.get(builtin.qualified.as_str()) {
                Body::Native(*native)
            } else if let Some(index) = loops::index(&builtin.qualified) {
                Body::Loop(index)
            } else if builtin.module == Some("Shell") {
                Body::Accessor(builtin.name)
            } else {
                Body::Absent
            }
        })
        .collect()
});

static TASK_FUNCTIONS: LazyLock<(u16, u16)> = LazyLock::new(|| {
    let number = |name| {
        surface::module("Task")
            .and_then(|module| module.function(name))
            .map_or(u16::MAX, |builtin| builtin.id.0)
    };
    (number("bind"), number("map"))
});

/// The number of `Task.bind` or `Task.map`.
pub(crate) fn task_function(bind: bool) -> u16 {
    if bind {
        TASK_FUNCTIONS.0
    } else {
        TASK_FUNCTIONS.1
    }
}

/// The instructions of a function that calls back into the script.
pub(crate) fn loop_function(builtin: u16) -> Option<u32> {
    match BODIES.get(usize::from(builtin)) {
        Some(Body::Loop(index)) => Some(*index),
        _ => None,
    }
}

/// Calls a function that is not made of instructions.
pub(crate) fn call(
    builtin: u16,
    context: &mut Context<'_, '_>,
    arguments: &[Value],
) -> Result<Value, Trouble> {
    match BODIES.get(usize::from(builtin)) {
        Some(Body::Native(native)) => native(context, arguments),
        Some(Body::Accessor(label)) => accessor(context, label, arguments),
        Some(Body::Operation) => tasks::operation(context, builtin, arguments),
        Some(Body::Loop(_) | Body::Absent) | None => {
            let name = surface::builtin_at(surface::BuiltinId(builtin))
                .map_or("function", |builtin| &builtin.qualified);
            Err(Trouble::argument(name, "is not configured"))
        }
    }
}

fn accessor(
    context: &mut Context<'_, '_>,
    label: &str,
    arguments: &[Value],
) -> Result<Value, Trouble> {
    let label = context.symbols.name(label);
    context.field(argument(arguments, 0), label)
}

/// `Array.init` of a negative count.
pub(crate) fn negative_count(function: u32) -> Trouble {
    Trouble::argument(loops::name(function), "the count is negative")
}

/// An argument; calls pass as many as the checker counted.
fn argument(arguments: &[Value], index: usize) -> Value {
    arguments.get(index).copied().unwrap_or(Value::Unit)
}

fn text(arguments: &[Value], index: usize) -> Result<Text, Trouble> {
    match argument(arguments, index) {
        Value::String(text) => Ok(text),
        other => Err(unexpected("a string", other)),
    }
}

fn int(arguments: &[Value], index: usize) -> Result<i64, Trouble> {
    match argument(arguments, index) {
        Value::Int(value) => Ok(value),
        other => Err(unexpected("an int", other)),
    }
}

fn items(arguments: &[Value], index: usize) -> Result<Items, Trouble> {
    match argument(arguments, index) {
        Value::Array(items) => Ok(items),
        other => Err(unexpected("an array", other)),
    }
}

fn cell(arguments: &[Value], index: usize) -> Result<u32, Trouble> {
    match argument(arguments, index) {
        Value::Ref(at) => Ok(at),
        other => Err(unexpected("a ref", other)),
    }
}

#[cold]
fn unexpected(expected: &str, found: Value) -> Trouble {
    Trouble::internal(format!("expected {expected}, found {}", found.kind()))
}

impl Context<'_, '_> {
    /// A field of a record, whatever other fields it has.
    fn field(&self, record: Value, label: Name) -> Result<Value, Trouble> {
        let Value::Record { shape, at } = record else {
            return Err(unexpected("a record", record));
        };
        self.symbols
            .shape_of(shape)
            .and_then(|shape| shape.position(label))
            .and_then(|position| self.heap.get(at.saturating_add(position)))
            .ok_or_else(|| {
                let label = self.symbols.text(label);
                Trouble::internal(format!("the record has no field `{label}`"))
            })
    }

    /// `` `Some(value) ``.
    fn some(&mut self, value: Value) -> Result<Value, Trouble> {
        Ok(self.heap.variant(known::SOME, &[value])?)
    }

    fn str(&self, text: Text) -> &str {
        self.heap.str(text)
    }

    /// Counts the array items a function visits.
    fn visit(&mut self, items: Items) -> Result<(), Trouble> {
        if items.len > 0 {
            self.budget.steps(u64::from(items.len))?;
        }
        Ok(())
    }
}

/// `` `None ``.
const NONE: Value = Value::Variant {
    case: known::NONE,
    at: 0,
};
