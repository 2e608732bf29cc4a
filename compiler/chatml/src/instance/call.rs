//! One call: event and state in, one action and the next state out.

use super::{Instance, Lifecycle};
use crate::eval::Fault;
use crate::limits::{self, Budget, Limits, Stop, Stopwatch};
use crate::surface::{self, BuiltinId};
use crate::task::{Interpreter, Performed, Progress};
use crate::value::data::Data;
use crate::value::{Value, export, import};

/// An operation that a call performed.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// The operation.
    pub operation: BuiltinId,
    /// Its arguments.
    pub arguments: Vec<Data>,
}

impl Performance {
    /// The name of the operation, such as `Match.yes`.
    pub fn name(&self) -> &'static str {
        surface::builtin_at(self.operation).map_or("", |builtin| &builtin.qualified)
    }
}

/// Who carries out the operations of a moderator while its task is interpreted.
pub trait Host {
    /// Carries out one operation.
    ///
    /// # Errors
    /// The message with which the task fails; the script can catch it.
    fn perform(&mut self, operation: &Performance) -> Result<Data, String>;
}

/// Shell scripts only record their action; nothing is carried out while they run.
struct NoHost;

impl Host for NoHost {
    fn perform(&mut self, operation: &Performance) -> Result<Data, String> {
        Err(format!("{} is not configured", operation.name()))
    }
}

/// A call that succeeded and is not committed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The only action.
    pub action: Performance,
    /// The next state.
    pub state: Data,
    /// Steps that were used.
    pub fuel: u64,
}

/// A call, or the start of an instance, that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallError {
    /// `shell.chatml_instantiate` or `shell.chatml_runtime`.
    pub code: &'static str,
    /// The detail.
    pub fault: Fault,
}

impl CallError {
    pub(super) fn instantiate(fault: Fault) -> Self {
        Self {
            code: "shell.chatml_instantiate",
            fault,
        }
    }

    pub(super) fn runtime(fault: Fault) -> Self {
        Self {
            code: "shell.chatml_runtime",
            fault,
        }
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.code, self.fault)
    }
}

impl std::error::Error for CallError {}

impl Instance {
    /// Calls the entry function with an event and the committed state. Nothing is kept until
    /// [`Self::commit`]; the next call rolls back what was not committed.
    ///
    /// # Errors
    /// `shell.chatml_runtime` with the fault; for `invocation` also what [`Self::start`] lists.
    pub fn call(&mut self, event: &Data, stopwatch: &dyn Stopwatch) -> Result<Outcome, CallError> {
        self.roll_back();
        let limits = self.script.limits.clone();
        limits::check(event, &limits, "event").map_err(|excess| {
            CallError::runtime(Fault::outside("chatml.limit.value", excess.to_string()))
        })?;
        let mut budget = Budget::new(&limits, stopwatch);
        if self.lifecycle == Lifecycle::Invocation {
            self.machine.reset();
            self.evaluate(&mut budget)?;
        }
        self.pending = true;
        let result = self.transact(event, &limits, &mut budget);
        if result.is_err() {
            self.roll_back();
        }
        result.map_err(CallError::runtime)
    }

    fn transact(
        &mut self,
        event: &Data,
        limits: &Limits,
        budget: &mut Budget<'_>,
    ) -> Result<Outcome, Fault> {
        let current = std::mem::replace(&mut self.state, Data::Unit);
        let result = self.interpret(&[event, &current], limits, budget, &mut NoHost);
        self.state = current;
        let (state, actions) = result?;
        let Ok([action]) = <[Performance; 1]>::try_from(actions) else {
            return Err(Fault::outside(
                "chatml.task.action_count",
                "shell ChatML hook must produce exactly one terminal action",
            ));
        };
        Ok(Outcome {
            action,
            state,
            fuel: limits.fuel - budget.fuel(),
        })
    }

    /// Calls the entry function of a moderator with a context, the committed state and an event, and
    /// lets the host carry out its operations one by one. Nothing of the instance is kept until
    /// [`Self::commit`].
    ///
    /// # Errors
    /// As for [`Self::call`].
    pub fn moderate(
        &mut self,
        context: &Data,
        event: &Data,
        host: &mut dyn Host,
        stopwatch: &dyn Stopwatch,
    ) -> Result<(Data, Vec<Performance>), CallError> {
        self.roll_back();
        let limits = self.script.limits.clone();
        for (value, name) in [(context, "context"), (event, "event")] {
            limits::check(value, &limits, name).map_err(|excess| {
                CallError::runtime(Fault::outside("chatml.limit.value", excess.to_string()))
            })?;
        }
        let mut budget = Budget::new(&limits, stopwatch);
        self.pending = true;
        let current = std::mem::replace(&mut self.state, Data::Unit);
        let arguments = [context, &current, event];
        let result = self.interpret(&arguments, &limits, &mut budget, host);
        self.state = current;
        if result.is_err() {
            self.roll_back();
        }
        result.map_err(CallError::runtime)
    }

    /// Applies the entry function and interprets the task it yields; the value the task delivers and
    /// the operations in its log.
    fn interpret(
        &mut self,
        arguments: &[&Data],
        limits: &Limits,
        budget: &mut Budget<'_>,
        host: &mut dyn Host,
    ) -> Result<(Data, Vec<Performance>), Fault> {
        let entry = self.global(&self.script.entry).ok_or_else(|| {
            Fault::outside(
                "chatml.entry.missing_function",
                format!("`{}` is not defined", self.script.entry),
            )
        })?;
        let machine = &mut self.machine;
        let left = machine.heap.allowance();
        // What the host passes does not count as built by the call.
        machine.heap.allow(u64::MAX);
        let memory = |stop: Stop| Fault::outside(stop.code(), stop.message(limits));
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let value = import(&mut machine.heap, &mut machine.symbols, argument);
            values.push(value.map_err(memory)?);
        }
        machine.prepare(limits);
        if self.lifecycle == Lifecycle::Invocation {
            // The top level was evaluated under the same allowance.
            machine.heap.allow(left);
        }
        let task = machine.call(entry, &values, limits, budget)?;
        let mut interpreter = Interpreter::new(self.script.kind, task);
        let next = loop {
            match interpreter.run(&mut self.machine, limits, budget)? {
                Progress::Done(value) => break value,
                Progress::Request(request) => {
                    let request = self.performance(request, limits)?;
                    let answer = host.perform(&request);
                    let answer = self.import_answer(answer).map_err(memory)?;
                    interpreter.answer(answer);
                }
            }
        };
        let state = self.export_state(next, limits)?;
        let actions = interpreter
            .log()
            .iter()
            .map(|action| self.performance(*action, limits))
            .collect::<Result<_, _>>()?;
        Ok((state, actions))
    }

    fn import_answer(
        &mut self,
        answer: Result<Data, String>,
    ) -> Result<Result<Value, Value>, Stop> {
        let machine = &mut self.machine;
        Ok(match answer {
            Ok(data) => Ok(import(&mut machine.heap, &mut machine.symbols, &data)?),
            Err(message) => Err(machine.heap.string(&message)?),
        })
    }

    fn performance(&self, action: Performed, limits: &Limits) -> Result<Performance, Fault> {
        let name = surface::builtin_at(action.operation).map_or("", |builtin| &builtin.qualified);
        let arguments = Value::Array(action.arguments);
        let machine = &self.machine;
        let exported = export(&machine.heap, &machine.symbols, limits, arguments, name);
        match exported {
            Ok(Data::Array(arguments)) => Ok(Performance {
                operation: action.operation,
                arguments,
            }),
            Ok(_) => Err(Fault::outside(
                "chatml.task.invalid_action",
                format!("{name}: the arguments are malformed"),
            )),
            Err(cause) => Err(Fault::outside(
                "chatml.task.invalid_action",
                cause.to_string(),
            )),
        }
    }
}
