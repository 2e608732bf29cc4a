//! Evaluation (spec 05 section 6): from the syntax tree to instructions, and their execution.
//!
//! [`compile()`] resolves every name of a checked program once and yields a [`Program`];
//! `machine::Machine` runs it under a [`crate::limits::Budget`]. Neither recurses over data or calls.

mod compile;
mod fault;
mod instr;
pub(crate) mod machine;
mod operate;
mod program;
mod run;
#[cfg(test)]
pub(crate) mod tests;

pub use compile::{CompileError, compile};
pub use fault::{Fault, MAX_CALL_SITES};
pub use program::Program;

pub(crate) use fault::Trouble;
pub(crate) use instr::{Instr, Reg};
pub(crate) use machine::Part;
pub(crate) use operate::captured;
pub(crate) use program::{Function, Source};
