//! A compiled program: functions, constants and the tables their instructions refer to.

use std::collections::HashMap;
use std::sync::Arc;

use super::instr::{Instr, Reg};
use crate::span::Span;
use crate::value::{Name, ShapeId, Symbols, Value};

/// Where a new closure finds a value it captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A register of the function that builds the closure.
    Register(Reg),
    /// A value which that function captured itself.
    Captured(u16),
}

/// One function.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) code: Box<[Instr]>,
    /// The expression each instruction belongs to; empty for the library.
    pub(crate) spans: Box<[Span]>,
    /// Parameters; they are the first registers.
    pub(crate) parameters: u16,
    /// Registers of one call.
    pub(crate) registers: u32,
    /// What a closure over it captures.
    pub(crate) captures: Box<[Source]>,
    /// Whether it belongs to the library.
    pub(crate) library: bool,
}

/// A record expression: its shape and which register holds each label's value.
#[derive(Debug, Clone)]
pub(crate) struct RecordSite {
    pub(crate) shape: ShapeId,
    pub(crate) order: Box<[u16]>,
}

/// A program ready to run. It is immutable and can be shared between instances.
#[derive(Debug, Clone)]
pub struct Program {
    /// The library first, then the script.
    pub(crate) functions: Arc<[Function]>,
    pub(crate) constants: Vec<Value>,
    /// What string constants refer to: the beginning of every instance's text.
    pub(crate) text: String,
    pub(crate) symbols: Symbols,
    /// Labels of field accesses, one a site.
    pub(crate) fields: Vec<Name>,
    pub(crate) records: Vec<RecordSite>,
    /// Labels of updates in source order, one list a site.
    pub(crate) updates: Vec<Box<[Name]>>,
    /// Number of top-level values.
    pub(crate) globals: u32,
    /// The last definition of each top-level name.
    pub(crate) names: HashMap<Arc<str>, u32>,
    /// The function that runs the statements.
    pub(crate) main: u32,
    /// Whether the last statement has a value.
    pub(crate) has_value: bool,
}

impl Program {
    /// Whether a function belongs to the library.
    pub(crate) fn is_library(&self, function: u32) -> bool {
        self.functions
            .get(function as usize)
            .is_some_and(|function| function.library)
    }

    /// How many values a function captures.
    pub(crate) fn captures(&self, function: u32) -> u32 {
        self.functions.get(function as usize).map_or(0, |function| {
            u32::try_from(function.captures.len()).unwrap_or(u32::MAX)
        })
    }
}
