//! What an editor wants to know, without protocol types: byte offsets in, plain data out.

pub mod diagnostics;
pub mod recognise;
pub mod syntax_tree;

pub use diagnostics::{Analysis, Edit, Finding, Related, Repair, Tag, analyse};
