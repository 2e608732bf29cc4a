//! The evaluator's state and the parts of a call that are not on its hot path.

use std::sync::Arc;

use super::fault::{Fault, MAX_CALL_SITES, Trouble};
use super::instr::Reg;
use super::program::Program;
use super::run;
use crate::library;
use crate::limits::{Budget, Limits, Stop};
use crate::span::Span;
use crate::value::heap::Heap;
use crate::value::{ShapeId, Symbols, Value};

/// A caller that waits for its callee.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) function: u32,
    /// The instruction after the call.
    pub(crate) pc: u32,
    /// First register.
    pub(crate) base: u32,
    /// First captured value.
    pub(crate) captures: u32,
    /// Where the result goes.
    pub(crate) dst: Reg,
}

/// The call that is running.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Current {
    pub(crate) function: u32,
    pub(crate) pc: u32,
    pub(crate) base: u32,
    pub(crate) captures: u32,
}

/// How to copy a record of one shape with changes.
#[derive(Debug, Clone)]
pub(crate) struct UpdatePlan {
    pub(crate) from: ShapeId,
    pub(crate) to: ShapeId,
    /// For each label of the result: the position in the source, or the changed field.
    pub(crate) parts: Box<[Part]>,
}

/// Where one field of an updated record comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Old(u32),
    New(u16),
}

/// The value of a register.
#[inline(always)]
pub(super) fn read(registers: &[Value], register: Reg) -> Value {
    match registers.get(register as usize) {
        Some(value) => *value,
        None => Value::Unit,
    }
}

/// Sets a register.
#[inline(always)]
pub(super) fn write(registers: &mut [Value], register: Reg, value: Value) {
    if let Some(slot) = registers.get_mut(register as usize) {
        *slot = value;
    }
}

/// One instance's evaluator. It evaluates; it performs nothing and reads nothing from outside.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) program: Arc<Program>,
    pub(crate) symbols: Symbols,
    pub(crate) heap: Heap,
    pub(crate) globals: Vec<Value>,
    pub(crate) stack: Vec<Value>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) current: Current,
    /// The last shape each field access met and the label's position in it.
    pub(crate) fields: Vec<(ShapeId, u32)>,
    pub(crate) updates: Vec<Option<UpdatePlan>>,
    /// Registers that all calls together may take.
    pub(crate) max_stack: usize,
    /// What `print` wrote.
    pub(crate) output: String,
}

impl Machine {
    /// A machine that has evaluated nothing yet.
    pub(crate) fn new(program: Arc<Program>) -> Self {
        let mut machine = Self {
            symbols: program.symbols.clone(),
            heap: Heap::new(),
            globals: vec![Value::Unit; program.globals as usize],
            stack: Vec::new(),
            frames: Vec::new(),
            current: Current::default(),
            fields: vec![(ShapeId(u32::MAX), 0); program.fields.len()],
            updates: vec![None; program.updates.len()],
            max_stack: 0,
            output: String::new(),
            program,
        };
        machine.reset();
        machine
    }

    /// Forgets every value.
    pub(crate) fn reset(&mut self) {
        self.heap.clear();
        self.heap.allow(u64::MAX);
        // Constants are no allocation of the script; the text of a program is at most 1 MiB.
        let _ = self.heap.string(&self.program.text);
        self.globals.fill(Value::Unit);
        self.heap.allow(0);
    }

    /// Sets the allocation bound of what runs next.
    pub(crate) fn prepare(&mut self, limits: &Limits) {
        let bytes = limits.allocation();
        self.heap.allow(bytes);
        self.max_stack = usize::try_from(bytes / size_of::<Value>() as u64).unwrap_or(usize::MAX);
    }

    /// Runs the statements; the value of the last one.
    pub(crate) fn run_main(
        &mut self,
        limits: &Limits,
        budget: &mut Budget<'_>,
    ) -> Result<Value, Fault> {
        let main = Value::Closure {
            function: self.program.main,
            at: 0,
        };
        self.call(main, &[], limits, budget)
    }

    /// Calls a function from outside of the script.
    pub(crate) fn call(
        &mut self,
        callee: Value,
        arguments: &[Value],
        limits: &Limits,
        budget: &mut Budget<'_>,
    ) -> Result<Value, Fault> {
        self.frames.clear();
        self.current = Current::default();
        match self.enter(callee, arguments, budget) {
            Ok(value) => Ok(value),
            Err(trouble) => Err(self.fault(trouble, limits)),
        }
    }

    fn enter(
        &mut self,
        callee: Value,
        arguments: &[Value],
        budget: &mut Budget<'_>,
    ) -> Result<Value, Trouble> {
        match callee {
            Value::Closure { function, at } => {
                let program = Arc::clone(&self.program);
                let Some(target) = program.functions.get(function as usize) else {
                    return Err(Trouble::internal("the function does not exist"));
                };
                if usize::from(target.parameters) != arguments.len() {
                    return Err(Trouble::internal("wrong number of arguments"));
                }
                budget.step()?;
                self.room(target.registers as usize)?;
                for (register, argument) in self.stack.iter_mut().zip(arguments) {
                    *register = *argument;
                }
                self.current = Current {
                    function,
                    pc: 0,
                    base: 0,
                    captures: at,
                };
                run::run(self, budget)
            }
            Value::Builtin(builtin) => {
                budget.step()?;
                call_builtin(self, budget, builtin, arguments)
            }
            other => Err(Trouble::internal(format!(
                "{} can not be called",
                other.kind()
            ))),
        }
    }

    /// Makes sure that the stack has registers up to `end`.
    #[inline]
    pub(crate) fn room(&mut self, end: usize) -> Result<(), Stop> {
        if end <= self.stack.len() {
            return Ok(());
        }
        self.grow(end)
    }

    #[cold]
    fn grow(&mut self, end: usize) -> Result<(), Stop> {
        if end > self.max_stack {
            return Err(Stop::Memory);
        }
        self.stack.resize(end, Value::Unit);
        Ok(())
    }

    /// The place of a trouble: the innermost expression of the script, and the calls that led there.
    fn fault(&self, trouble: Trouble, limits: &Limits) -> Fault {
        let here = (self.current.function, self.current.pc);
        let callers = self
            .frames
            .iter()
            .rev()
            .map(|frame| (frame.function, frame.pc));
        let mut spans = std::iter::once(here)
            .chain(callers)
            .filter_map(|(function, pc)| self.span(function, pc));
        let span = spans.next().unwrap_or_default();
        let calls = spans.take(MAX_CALL_SITES).collect();
        trouble.at(span, calls, limits)
    }

    fn span(&self, function: u32, pc: u32) -> Option<Span> {
        let function = self.program.functions.get(function as usize)?;
        function.spans.get((pc as usize).checked_sub(1)?).copied()
    }
}

/// Calls a library function that is passed as a value to the host.
fn call_builtin(
    machine: &mut Machine,
    budget: &mut Budget<'_>,
    builtin: u16,
    arguments: &[Value],
) -> Result<Value, Trouble> {
    let program = Arc::clone(&machine.program);
    let mut context = library::Context {
        heap: &mut machine.heap,
        symbols: &mut machine.symbols,
        budget,
        program: &program,
        output: &mut machine.output,
    };
    library::call(builtin, &mut context, arguments)
}
