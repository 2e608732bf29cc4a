//! Queries over one file.

use std::sync::Arc;

use chatmd_syntax::{Parse, SyntaxDiagnostic};

use super::frontend::{self, ContentDeclarations};
use super::{Db, FileInput, LoadError};
use crate::decl::FileDeclarations;
use crate::expectations::{self, FileDirectives};
use crate::manifest::sha256_hex;

fn bytes(db: &dyn Db, file: FileInput) -> &[u8] {
    file.content(db)
        .as_ref()
        .map(|bytes| &**bytes)
        .unwrap_or_default()
}

/// Why a file has no content: a firewall in front of the content itself.
#[salsa::tracked(returns(copy))]
pub fn load_error(db: &dyn Db, file: FileInput) -> Option<LoadError> {
    file.content(db).as_ref().err().copied()
}

/// The syntax tree of a document. An unreadable file parses as an empty one.
///
/// Trees are the only values that are dropped when many files are open.
#[salsa::tracked(returns(clone), no_eq, lru = 512)]
pub fn parse(db: &dyn Db, file: FileInput) -> Arc<Parse> {
    Arc::new(frontend::parse_document(bytes(db, file)))
}

/// The syntax tree of a file that is imported into a message.
#[salsa::tracked(returns(clone), no_eq, lru = 512)]
pub fn content_parse(db: &dyn Db, file: FileInput) -> Arc<Parse> {
    Arc::new(frontend::parse_content(bytes(db, file)))
}

/// What is kept of a tree. Trees go when many files are open; whoever shows the findings of many
/// files must not have to parse them again.
#[derive(Debug)]
pub struct Source {
    /// The text that spans refer to; invalid UTF-8 is replaced.
    pub text: Arc<str>,
    /// Byte offset of each top-level item of a document: `Place::item` to position.
    pub item_starts: Arc<[u32]>,
    /// What the parser found.
    pub diagnostics: Box<[SyntaxDiagnostic]>,
}

impl Source {
    fn new(parse: &Parse, item_starts: Vec<u32>) -> Arc<Self> {
        Arc::new(Self {
            text: Arc::clone(&parse.tree.text),
            item_starts: item_starts.into(),
            diagnostics: parse.diagnostics.as_slice().into(),
        })
    }
}

/// Text, item offsets and syntax findings of a document.
#[salsa::tracked(returns(clone), no_eq)]
pub fn source(db: &dyn Db, file: FileInput) -> Arc<Source> {
    let parse = parse(db, file);
    Source::new(&parse, frontend::item_starts(&parse))
}

/// Text and syntax findings of a file that is imported into a message. It has no items.
#[salsa::tracked(returns(clone), no_eq)]
pub fn content_source(db: &dyn Db, file: FileInput) -> Arc<Source> {
    Source::new(&content_parse(db, file), Vec::new())
}

/// What a document declares, by top-level item; equal after an edit that only moves items.
#[salsa::tracked(returns(clone))]
pub fn declarations(db: &dyn Db, file: FileInput) -> Arc<FileDeclarations> {
    Arc::new(frontend::lower_document(&parse(db, file)))
}

/// What a file contributes that is imported into a message.
#[salsa::tracked(returns(clone))]
pub fn content_declarations(db: &dyn Db, file: FileInput) -> Arc<ContentDeclarations> {
    Arc::new(frontend::lower_content(&content_parse(db, file)))
}

/// The comment directives of a document; equal after an edit that only moves them.
#[salsa::tracked(returns(clone))]
pub fn directives(db: &dyn Db, file: FileInput) -> Arc<FileDirectives> {
    Arc::new(frontend::directives(&parse(db, file)))
}

/// Comments of a file that is imported into a message which would be tests elsewhere.
#[salsa::tracked(returns(clone))]
pub fn content_directives(db: &dyn Db, file: FileInput) -> Arc<FileDirectives> {
    Arc::new(expectations::of_content(&content_parse(db, file)))
}

/// SHA-256 of the bytes as loaded, lower-case hexadecimal.
#[salsa::tracked(returns(clone))]
pub fn digest(db: &dyn Db, file: FileInput) -> Arc<str> {
    sha256_hex(bytes(db, file)).into()
}

/// Size in bytes. Changes with nearly every edit: use [`size_kib`] where it is enough.
pub fn size(db: &dyn Db, file: FileInput) -> u64 {
    bytes(db, file).len() as u64
}

/// Size in whole KiB, rounded up: a firewall, so that only an edit that crosses such a bound wakes
/// the check of the total size.
#[salsa::tracked(returns(copy))]
pub fn size_kib(db: &dyn Db, file: FileInput) -> u64 {
    (bytes(db, file).len() as u64).div_ceil(1 << 10)
}
