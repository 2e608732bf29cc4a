//! Run-time values (spec 05 sections 5.1 and 6).
//!
//! A [`Value`] is a small copyable word. What does not fit in it lives in the [`heap::Heap`] of one
//! instance and is named by an offset, so that copying a value costs nothing, dropping deep or cyclic
//! data is the drop of two vectors, and a failed call is undone by cutting the heap back.
//!
//! [`data::Data`] is the form that crosses the boundary to the host: a plain tree that owns its parts.

pub mod data;
mod equal;
pub mod heap;
mod print;
mod relocate;
pub mod symbols;
mod transfer;
mod typed;

pub(crate) use equal::{Incomparable, equal};
pub(crate) use print::{Printer, to_string};
pub(crate) use relocate::keep_only;
pub(crate) use transfer::{export, import};
pub(crate) use typed::misfit;

pub use symbols::{CaseId, Name, ShapeId, Symbols};

/// A run of items in the heap's slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Items {
    /// First slot.
    pub start: u32,
    /// How many slots.
    pub len: u32,
}

/// A run of bytes in one of the heap's texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text {
    /// First byte; the highest bit says in which of the texts.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

/// One value of a running script.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// `()`.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// An IEEE 754 double.
    Float(f64),
    /// Immutable UTF-8.
    String(Text),
    /// Mutable, shared by reference: two arrays are the same when they start at one slot.
    Array(Items),
    /// Immutable; the shape names the labels of the slots from `at`.
    Record {
        /// Labels of the slots.
        shape: ShapeId,
        /// First slot.
        at: u32,
    },
    /// A tag with as many arguments as its case says.
    Variant {
        /// Tag and argument count.
        case: CaseId,
        /// First argument.
        at: u32,
    },
    /// A mutable cell.
    Ref(u32),
    /// A function of the program with its captured values from `at`.
    Closure {
        /// Index of the function.
        function: u32,
        /// First captured value.
        at: u32,
    },
    /// A library function that is not written in instructions.
    Builtin(u16),
    /// An inert computation.
    Task {
        /// What the slots from `at` mean.
        node: TaskNode,
        /// First operand.
        at: u32,
    },
}

/// The kinds of task values (spec 05 section 7) and what their slots hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskNode {
    /// The value.
    Pure,
    /// The first task and the continuation.
    Bind,
    /// The first task and the function.
    Map,
    /// The message.
    Fail,
    /// The guarded task and the handler.
    Catch,
    /// The number of the operation and an array of its arguments.
    Perform,
}

impl TaskNode {
    /// Number of slots a node takes.
    pub(crate) fn operands(self) -> u32 {
        match self {
            Self::Pure | Self::Fail => 1,
            Self::Bind | Self::Map | Self::Catch | Self::Perform => 2,
        }
    }
}

impl Value {
    /// The empty array.
    pub(crate) const EMPTY: Self = Self::Array(Items { start: 0, len: 0 });

    /// A word for messages about confusions that the checker rules out.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an int",
            Self::Float(_) => "a float",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Record { .. } => "a record",
            Self::Variant { .. } => "a variant",
            Self::Ref(_) => "a ref",
            Self::Closure { .. } | Self::Builtin(_) => "a function",
            Self::Task { .. } => "a task",
        }
    }
}
