//! One live script: its values, its state and the transaction of a call (spec 05 section 8.2, spec 07
//! sections 2.2 to 2.4).

mod call;
mod evaluate;

use std::sync::Arc;

pub use call::{CallError, Host, Outcome, Performance};
pub use evaluate::{Evaluation, evaluate};

use crate::eval::machine::Machine;
use crate::eval::{Fault, Program};
use crate::limits::{Budget, Limits, Stopwatch};
use crate::surface::Kind;
use crate::value::data::Data;
use crate::value::{Value, export, keep_only};

/// How long the values of a script live (spec 07 section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lifecycle {
    /// Every call starts anew.
    Invocation,
    /// As long as the agent session.
    Session,
    /// As long as the registry of runtimes.
    Runtime,
}

impl Lifecycle {
    /// The word of documents and snapshots.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invocation => "invocation",
            Self::Session => "session",
            Self::Runtime => "runtime",
        }
    }

    /// The lifecycle of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Invocation, Self::Session, Self::Runtime]
            .into_iter()
            .find(|lifecycle| lifecycle.as_str() == name)
    }
}

/// What to run: a compiled program with the name of its entry function.
#[derive(Debug, Clone)]
pub struct Script {
    /// The program.
    pub program: Arc<Program>,
    /// Its kind.
    pub kind: Kind,
    /// The entry function.
    pub entry: Arc<str>,
    /// The bounds of its calls.
    pub limits: Limits,
}

/// A live script. Calls to one instance run one at a time; it can move between threads.
#[derive(Debug, Clone)]
pub struct Instance {
    script: Script,
    lifecycle: Lifecycle,
    machine: Machine,
    /// The committed state.
    state: Data,
    /// Whether a call has ended and is neither committed nor rolled back.
    pending: bool,
}

impl Instance {
    /// Makes an instance. For `session` and `runtime` the top level is evaluated now, once, under a
    /// budget of its own; for `invocation` every call does it.
    ///
    /// # Errors
    /// `shell.chatml_instantiate` with the fault of the evaluation, or `chatml.limit.value` or
    /// `chatml.task.invalid_state` when `initial_state` can not be a state.
    pub fn start(
        script: Script,
        lifecycle: Lifecycle,
        stopwatch: &dyn Stopwatch,
    ) -> Result<Self, CallError> {
        let machine = Machine::new(Arc::clone(&script.program));
        let mut instance = Self {
            script,
            lifecycle,
            machine,
            state: Data::Unit,
            pending: false,
        };
        if lifecycle != Lifecycle::Invocation {
            let limits = instance.script.limits.clone();
            let mut budget = Budget::new(&limits, stopwatch);
            instance.evaluate(&mut budget)?;
        }
        Ok(instance)
    }

    /// Evaluates the top level and takes `initial_state`.
    fn evaluate(&mut self, budget: &mut Budget<'_>) -> Result<(), CallError> {
        let limits = &self.script.limits;
        self.machine.prepare(limits);
        self.machine
            .run_main(limits, budget)
            .map_err(CallError::instantiate)?;
        let initial = self.global("initial_state").ok_or_else(|| {
            CallError::instantiate(Fault::outside(
                "chatml.entry.missing_state",
                "`initial_state` is not defined",
            ))
        })?;
        self.state = export(
            &self.machine.heap,
            &self.machine.symbols,
            limits,
            initial,
            "root",
        )
        .map_err(|cause| CallError::instantiate(call::invalid_state(&cause)))?;
        self.machine.heap.set_mark();
        Ok(())
    }

    fn global(&self, name: &str) -> Option<Value> {
        let index = self.script.program.names.get(name)?;
        self.machine.globals.get(*index as usize).copied()
    }

    /// The lifecycle.
    pub fn lifecycle(&self) -> Lifecycle {
        self.lifecycle
    }

    /// The script.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// The committed state. For `invocation` it is the initial state of the last call.
    pub fn state(&self) -> &Data {
        &self.state
    }

    /// Replaces the state by one that was restored and checked.
    pub fn restore(&mut self, state: Data) {
        self.roll_back();
        self.state = state;
    }

    /// Makes the effects of the last call permanent: its state, and what it wrote to top-level
    /// arrays and refs.
    ///
    /// # Errors
    /// `chatml.limit.memory` when the top-level values have grown beyond the allocation limit. The
    /// call is rolled back then.
    pub fn commit(&mut self, state: Data) -> Result<(), CallError> {
        if !self.pending {
            return Ok(());
        }
        if self.lifecycle == Lifecycle::Invocation {
            self.pending = false;
            return Ok(());
        }
        if self.machine.heap.escaped() {
            self.relocate()?;
        } else {
            self.machine.heap.commit();
        }
        self.pending = false;
        self.state = state;
        Ok(())
    }

    /// Forgets the last call.
    pub fn roll_back(&mut self) {
        if self.pending && self.lifecycle != Lifecycle::Invocation {
            self.machine.heap.roll_back();
        }
        self.pending = false;
    }

    /// Moves what top-level values reach into a fresh heap.
    fn relocate(&mut self) -> Result<(), CallError> {
        let program = Arc::clone(&self.script.program);
        let limits = &self.script.limits;
        let mut globals = self.machine.globals.clone();
        let kept = keep_only(
            &self.machine.heap,
            &self.machine.symbols,
            &|function| program.captures(function),
            u32::try_from(program.text.len()).unwrap_or(u32::MAX),
            limits.allocation(),
            &mut globals,
        );
        match kept {
            Ok(heap) => {
                self.machine.heap = heap;
                self.machine.heap.set_mark();
                self.machine.globals = globals;
                Ok(())
            }
            Err(stop) => {
                let message = stop.message(limits);
                self.roll_back();
                Err(CallError::runtime(Fault::outside(stop.code(), message)))
            }
        }
    }
}
