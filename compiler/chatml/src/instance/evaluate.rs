//! Evaluation of a program for its own sake: no event, no state, no action.

use std::sync::Arc;

use crate::eval::machine::Machine;
use crate::eval::{Fault, Program};
use crate::limits::{Budget, Limits, Stopwatch};
use crate::surface::{self, BuiltinId};
use crate::types::TypeGraph;
use crate::value::{Printer, Value, misfit, to_string};

/// A program that was evaluated.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// The value of the last statement as `to_string` prints it (spec 05 section 6.2); nothing when
    /// the last statement has none.
    pub text: Option<String>,
    /// What `print` wrote.
    pub output: String,
    /// Steps that were used.
    pub fuel: u64,
    value: Option<Value>,
    machine: Machine,
}

impl Evaluation {
    /// What part of the value does not have this type, or nothing. It looks inside of records,
    /// variants, arrays and refs; functions are compared by their parameter count.
    pub fn misfit(&self, ty: &TypeGraph) -> Option<String> {
        let machine = &self.machine;
        let arity = |value: Value| match value {
            Value::Closure { function, .. } => machine
                .program
                .functions
                .get(function as usize)
                .map(|function| usize::from(function.parameters)),
            Value::Builtin(builtin) => {
                surface::builtin_at(BuiltinId(builtin)).map(|builtin| builtin.arity)
            }
            _ => None,
        };
        misfit(&machine.heap, &machine.symbols, &arity, self.value?, ty)
    }
}

/// Evaluates a program once.
///
/// # Errors
/// The fault that ended the evaluation.
pub fn evaluate(
    program: &Arc<Program>,
    limits: &Limits,
    stopwatch: &dyn Stopwatch,
) -> Result<Evaluation, Fault> {
    let mut machine = Machine::new(Arc::clone(program));
    machine.prepare(limits);
    let mut budget = Budget::new(limits, stopwatch);
    let value = machine.run_main(limits, &mut budget)?;
    let fuel = limits.fuel - budget.fuel();
    let value = program.has_value.then_some(value);
    let text = match value {
        None => None,
        Some(value) => {
            let mut printer = Printer {
                heap: &machine.heap,
                symbols: &machine.symbols,
                budget: &mut budget,
                is_library: &|function| program.is_library(function),
                allowance: machine.heap.allowance(),
            };
            let text = to_string(&mut printer, value)
                .map_err(|stop| Fault::outside(stop.code(), stop.message(limits)))?;
            Some(text)
        }
    };
    Ok(Evaluation {
        text,
        output: std::mem::take(&mut machine.output),
        fuel,
        value,
        machine,
    })
}
