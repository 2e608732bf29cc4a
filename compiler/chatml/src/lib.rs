//! ChatML, the script language of ChatMD (spec 05 and 05b).
//!
//! Pure: no clock, no files, no processes. Names and types of the library come from the one table
//! in [`surface`]. A script goes through [`parse`](parse()), [`check`](check()) and, when it is of a kind,
//! [`check_entries`].
//!
//! Maps whose keys are names of a script use the standard hasher: a script must not be able to
//! choose names that all fall into one place. Fast hashing is for numbers that are given here.

pub mod ast;
pub mod bridge;
pub mod check;
pub mod diagnostic;
pub mod eval;
pub mod instance;
mod json;
pub mod lex;
mod library;
pub mod limits;
pub mod parse;
pub mod session;
pub mod snapshot;
pub mod span;
pub mod surface;
mod task;
pub mod types;
pub mod value;

pub use check::{
    Checked, EntryPoint, EntryReport, EntryRequest, check, check_entries, default_entry,
};
pub use lex::{Lexed, lex};
pub use parse::{Parsed, parse, parse_pieces};
