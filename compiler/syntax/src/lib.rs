//! ChatMD documents from bytes to a lossless tree (spec 01, sections 2 to 5, 15 and 16).
//!
//! The crate is pure: bytes in, tree and diagnostics out. It knows which names exist and where
//! they nest, not what an attribute means; that is the business of `chatmd-compiler`.

pub mod names;
pub mod span;
pub mod tree;

pub use names::Tag;
pub use span::Span;
pub use tree::{Attribute, Element, Name, Node, NodeId, Parse, Quote, SyntaxDiagnostic, Tree};
