//! The incremental ChatMD compiler.
//!
//! Bytes become a tree (`chatmd-syntax`), the tree becomes declarations ([`decl`]), declarations of
//! all imported files are resolved into one [`manifest::Manifest`]. Everything here is pure: files
//! come only through the source database.

pub mod authority;
pub mod compile;
pub mod db;
pub mod decl;
pub mod diagnostics;
pub mod evaluation;
pub mod expand;
pub mod expectations;
pub mod graph;
pub mod lower;
pub mod manifest;
pub mod policy_lowering;
pub mod published;
pub mod resolve;
pub mod safe_text;
pub mod schema;
pub mod symbolic;

pub use compile::{Compilation, CompileOptions, compile, compile_or_read};
pub use safe_text::SafeText;
