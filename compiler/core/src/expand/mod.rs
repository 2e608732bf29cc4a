//! Import expansion (spec 01 section 8): one document out of many files.
//!
//! The walk keeps its own stack, so neither a long chain nor a cycle of imports recurses; cycles
//! are found on that stack and reported once each.

mod budget;
mod qualified;
mod report;
mod scripts;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::db::{Db, FileInput, Root};
use crate::diagnostics::{Diagnostic, FileIndex, Place};
use crate::resolve::Expanded;

/// Deepest nesting of imports (spec 01 section 20).
pub const MAX_IMPORT_DEPTH: usize = 128;
/// Most imports expanded in one compilation.
pub const MAX_IMPORTS: usize = 1024;
/// Most bytes of source in one compilation.
pub const MAX_SOURCE_BYTES: u64 = 256 << 20;

/// How the bytes of a file are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reading {
    /// As a document: the root and document imports.
    Document,
    /// As content of a message.
    Content,
    /// As a program.
    Script,
}

/// A file of the expanded document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandedFile {
    /// The file.
    pub input: FileInput,
    /// The absolute path by which it was reached.
    pub path: Utf8PathBuf,
    /// Display path of spec 01 section 15.1.
    pub display: String,
    /// Imported by an absolute path, or relative to a file that was: shown as an absolute path.
    pub absolute: bool,
    /// Ways in which it was read, in order of first use.
    pub readings: Vec<Reading>,
    /// The `import` elements that lead here, outermost first; of the first way if there are
    /// several. Empty for the root.
    pub chain: Vec<Place>,
}

/// An expanded document with what expansion found. Holds no absolute position and no digest of a
/// document, so it stays equal when only prose changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// Input of resolution. The `sha256` of files that are not scripts is empty: it is filled in
    /// at the very end.
    pub document: Expanded,
    /// The same files, in the same order.
    pub files: Vec<ExpandedFile>,
    /// Findings of expansion.
    pub diagnostics: Vec<Diagnostic>,
}

/// Expands the imports of a document.
#[salsa::tracked(returns(clone))]
pub fn expand(db: &dyn Db, root: Root) -> Arc<Expansion> {
    let mut expansion = walk::walk(db, root);
    qualified::check(&mut expansion);
    Arc::new(expansion)
}

impl Expansion {
    /// The file of an index.
    pub fn file(&self, index: FileIndex) -> Option<&ExpandedFile> {
        self.files.get(index.0 as usize)
    }
}

/// Files by absolute path.
type FileTable = BTreeMap<Utf8PathBuf, FileIndex>;
