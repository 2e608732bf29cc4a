//! ChatMD documents from bytes to a lossless tree (spec 01, sections 2 to 5, 15 and 16).
//!
//! The crate is pure: bytes in, tree and diagnostics out. It knows which names exist and where
//! they nest, not what an attribute means; that is the business of `chatmd-compiler`.

mod attributes;
mod builder;
mod context;
mod encoding;
pub mod fmt;
mod item;
mod landmarks;
mod lexer;
pub mod line_index;
pub mod names;
pub mod nearest;
mod parse;
mod quoted;
mod report;
pub mod span;
mod text;
pub mod token;
pub mod tree;
pub mod value;
pub mod write;

pub use builder::MAX_ATTRIBUTES;
pub use encoding::{MAX_DOCUMENT_BYTES, Replacement};
pub use lexer::is_blank;
pub use line_index::{LineIndex, Position, Utf16Position};
pub use names::Tag;
pub use parse::{parse, parse_content};
pub use span::Span;
pub use tree::{
    Attribute, Element, MAX_DIAGNOSTICS, Name, Node, NodeId, Parse, Quote, SyntaxDiagnostic,
    SyntaxSeverity, Tree,
};
pub use value::Decoded;
