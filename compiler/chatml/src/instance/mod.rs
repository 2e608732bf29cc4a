//! One live script: its values, its state and the transaction of a call (spec 05 section 8.2, spec 07
//! sections 2.2 to 2.4).

mod call;
mod evaluate;
mod prepare;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use call::{CallError, Host, Outcome, Performance};
pub use evaluate::{Evaluation, evaluate};
pub use prepare::prepare;

use crate::eval::machine::Machine;
use crate::eval::{Fault, Program};
use crate::limits::{Budget, Limits, Stopwatch};
use crate::snapshot::{self, RestoreError};
use crate::surface::Kind;
use crate::types::TypeGraph;
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
    /// The type of its state, where it is known. States are cut to it: fields that a join hides from
    /// the checker do not stay.
    pub state: Option<Arc<TypeGraph>>,
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
        let limits = self.script.limits.clone();
        let limits = &limits;
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
        self.state = self
            .export_state(initial, limits)
            .map_err(CallError::instantiate)?;
        self.machine.heap.set_mark();
        Ok(())
    }

    /// A value as a state of the script's type.
    fn export_state(&self, value: Value, limits: &Limits) -> Result<Data, Fault> {
        let machine = &self.machine;
        let state = export(&machine.heap, &machine.symbols, limits, value, "root")
            .map_err(|cause| Fault::outside("chatml.task.invalid_state", cause.to_string()))?;
        match &self.script.state {
            None => Ok(state),
            Some(ty) => snapshot::project(state, ty).map_err(|mismatch| {
                Fault::outside("chatml.task.invalid_state", mismatch.to_string())
            }),
        }
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

    /// The committed state in its stored form.
    pub fn snapshot(&self) -> String {
        snapshot::encode(&self.state)
    }

    /// Replaces the state by a stored one.
    ///
    /// # Errors
    /// When the stored state does not fit the limits or the type of the script's state; the outer code
    /// is `shell.chatml_restore`. The instance is unchanged then.
    pub fn restore(&mut self, stored: &str) -> Result<(), RestoreError> {
        if self.lifecycle == Lifecycle::Invocation {
            return Err(RestoreError {
                message: "an invocation has no snapshot".to_owned(),
            });
        }
        let limits = &self.script.limits;
        let state = match &self.script.state {
            Some(ty) => snapshot::restore(stored, limits, ty)?,
            None => snapshot::decode(stored, limits.max_depth)?,
        };
        self.roll_back();
        self.state = state;
        Ok(())
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
