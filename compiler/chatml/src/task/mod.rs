//! The interpreter of tasks (spec 05 section 7).
//!
//! It keeps a stack of frames and a log of performed operations and uses no native stack, however
//! tasks nest. It performs nothing itself: an operation of a shell script is logged and answered with
//! unit, any other is a request for the host.

use crate::eval::machine::Machine;
use crate::eval::{Fault, Trouble};
use crate::limits::{Budget, Limits};
use crate::span::Span;
use crate::surface::{self, BuiltinId, Kind};
use crate::value::{Items, TaskNode, Value};

/// An operation that a task performed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Performed {
    /// The operation.
    pub(crate) operation: BuiltinId,
    /// Its arguments.
    pub(crate) arguments: Items,
}

/// How far interpretation came.
#[derive(Debug)]
pub(crate) enum Progress {
    /// The task delivered a value.
    Done(Value),
    /// The host has to answer the last operation of the log.
    Request(Performed),
}

/// What a finished part of a task is delivered to.
#[derive(Debug, Clone, Copy)]
enum Frame {
    Bind(Value),
    Map(Value),
    Catch { handler: Value, logged: usize },
}

#[derive(Debug, Clone, Copy)]
enum State {
    Interpret(Value),
    Deliver(Value),
    /// The message is a string.
    Fail(Value),
    /// Until the host answers.
    Waiting,
}

/// One task being interpreted.
#[derive(Debug)]
pub(crate) struct Interpreter {
    kind: Kind,
    state: State,
    frames: Vec<Frame>,
    log: Vec<Performed>,
}

impl Interpreter {
    /// Starts with a task that a script of this kind returned.
    pub(crate) fn new(kind: Kind, task: Value) -> Self {
        Self {
            kind,
            state: State::Interpret(task),
            frames: Vec::new(),
            log: Vec::new(),
        }
    }

    /// Operations performed so far, without those of failed parts.
    pub(crate) fn log(&self) -> &[Performed] {
        &self.log
    }

    /// Answers the request that [`Self::run`] returned: a value, or the message of a failure.
    pub(crate) fn answer(&mut self, answer: Result<Value, Value>) {
        if let State::Waiting = self.state {
            self.state = match answer {
                Ok(value) => State::Deliver(value),
                Err(message) => State::Fail(message),
            };
        }
    }

    /// Interprets until the task ends or the host is needed.
    pub(crate) fn run(
        &mut self,
        machine: &mut Machine,
        limits: &Limits,
        budget: &mut Budget<'_>,
    ) -> Result<Progress, Fault> {
        loop {
            self.state = match self.state {
                State::Interpret(task) => self
                    .interpret(task, machine, budget)
                    .map_err(|trouble| trouble.at(Span::default(), Vec::new(), limits))?,
                State::Deliver(value) => match self.frames.pop() {
                    None => return Ok(Progress::Done(value)),
                    Some(Frame::Catch { .. }) => State::Deliver(value),
                    Some(Frame::Bind(function)) => {
                        State::Interpret(machine.call(function, &[value], limits, budget)?)
                    }
                    Some(Frame::Map(function)) => {
                        State::Deliver(machine.call(function, &[value], limits, budget)?)
                    }
                },
                State::Fail(message) => match self.frames.pop() {
                    None => return Err(failed(machine, message)),
                    Some(Frame::Bind(_) | Frame::Map(_)) => State::Fail(message),
                    Some(Frame::Catch { handler, logged }) => {
                        self.log.truncate(logged);
                        State::Interpret(machine.call(handler, &[message], limits, budget)?)
                    }
                },
                State::Waiting => match self.log.last() {
                    Some(request) => return Ok(Progress::Request(*request)),
                    None => State::Deliver(Value::Unit),
                },
            };
        }
    }

    /// One step into a task.
    fn interpret(
        &mut self,
        task: Value,
        machine: &mut Machine,
        budget: &mut Budget<'_>,
    ) -> Result<State, Trouble> {
        let Value::Task { node, at } = task else {
            return Err(Trouble::internal(format!(
                "expected a task, found {}",
                task.kind()
            )));
        };
        budget.step()?;
        let operand = |index: u32| {
            let value = machine.heap.get(at.saturating_add(index));
            value.unwrap_or(Value::Unit)
        };
        let (first, second) = (operand(0), operand(1));
        Ok(match node {
            TaskNode::Pure => State::Deliver(first),
            TaskNode::Fail => State::Fail(first),
            TaskNode::Bind => self.push(Frame::Bind(second), first),
            TaskNode::Map => self.push(Frame::Map(second), first),
            TaskNode::Catch => {
                let logged = self.log.len();
                let handler = second;
                self.push(Frame::Catch { handler, logged }, first)
            }
            TaskNode::Perform => {
                budget.operation()?;
                self.perform(machine, first, second)?
            }
        })
    }

    fn push(&mut self, frame: Frame, task: Value) -> State {
        self.frames.push(frame);
        State::Interpret(task)
    }

    fn perform(
        &mut self,
        machine: &mut Machine,
        operation: Value,
        arguments: Value,
    ) -> Result<State, Trouble> {
        let (Value::Int(number), Value::Array(arguments)) = (operation, arguments) else {
            return Err(Trouble::internal("the operation is malformed"));
        };
        let operation = u16::try_from(number)
            .ok()
            .map(BuiltinId)
            .and_then(surface::builtin_at)
            .ok_or_else(|| Trouble::internal("the operation does not exist"))?;
        if !operation.kinds.contains(self.kind) {
            let message = format!("{} is not configured", operation.qualified);
            return Ok(State::Fail(machine.heap.string(&message)?));
        }
        self.log.push(Performed {
            operation: operation.id,
            arguments,
        });
        Ok(match self.kind {
            Kind::Moderator => State::Waiting,
            _ => State::Deliver(Value::Unit),
        })
    }
}

/// The fault of a failure that nothing caught.
fn failed(machine: &Machine, message: Value) -> Fault {
    let text = match message {
        Value::String(text) => machine.heap.str(text),
        _ => "",
    };
    Fault::outside("chatml.task.failed", text)
}
