//! What resolution needs: one document with all imports expanded, as plain data.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::decl::Item;
use crate::diagnostics::FileIndex;
use crate::manifest::SourceRole;

/// A document after import expansion (spec 01 section 8, spec 04 section 1 step 2).
///
/// Pure data: nothing in it depends on the machine, and [`super::resolve`] reads nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    /// Every file that was read, indexed by [`FileIndex`], root first. A file that several imports
    /// name is listed once, with one [`SourceUse`] per way of reading it.
    pub files: Vec<SourceFile>,
    /// Top-level items of all documents in expanded order: the items of an imported document stand
    /// where its `import` stood. The `import` item itself may be left in; it is ignored.
    pub items: Vec<ExpandedItem>,
    /// The program of each `<script src=…>` that could be read, by the file and item index of its
    /// declaration. A script that is missing here was reported by expansion; it still counts as
    /// declared, so that references to it give no second error.
    pub scripts: BTreeMap<(FileIndex, u32), LoadedScript>,
    /// Effective namespaces of imports that could not be expanded (reported by expansion). A
    /// reference that may lead into one of them gives no second error.
    pub missing: Vec<Option<String>>,
}

/// A file that was read: root, document import, content import or script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path that enters the manifest (spec 04 section 8.2): relative to the directory of the
    /// root document and normalised, the root is its file name. Unique per file.
    pub path: String,
    /// SHA-256 of the bytes as loaded, lower-case hexadecimal.
    pub sha256: String,
    /// How it was read, without repetitions. Never empty.
    pub uses: Vec<SourceUse>,
}

/// One way of reading a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceUse {
    /// Effective namespace (spec 01 section 8.3), `a:b` when nested; `None` when empty. A script
    /// file has the namespace of the file that declares the script.
    pub namespace: Option<String>,
    /// Root, import (content imports too) or script.
    pub role: SourceRole,
}

/// One top-level item in the expanded document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandedItem {
    /// Declaring file.
    pub file: FileIndex,
    /// Index of the item in its file: [`crate::diagnostics::Place::item`].
    pub item: u32,
    /// Effective namespace of this reading of the file.
    pub namespace: Option<String>,
    /// The item as lowered.
    pub decl: Arc<Item>,
}

/// The program of a `<script src=…>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedScript {
    /// The script file. The digest of the program is the digest of this file.
    pub file: FileIndex,
    /// Its text, a leading byte order mark included.
    pub text: Arc<str>,
}
