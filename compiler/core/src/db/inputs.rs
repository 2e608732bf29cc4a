//! What comes from outside.
// The accessors that salsa generates carry no documentation of their own.
#![allow(missing_docs)]

use std::sync::Arc;

use camino::Utf8PathBuf;

use super::{FileIdentity, LoadError};

/// A file by its canonical path.
#[salsa::input(debug)]
pub struct FileInput {
    /// Canonical path; for a root without a file the path it would have.
    #[returns(ref)]
    pub path: Utf8PathBuf,
    /// Its bytes as loaded, or why there are none.
    #[returns(ref)]
    pub content: Result<Arc<[u8]>, LoadError>,
}

/// What an absolute, normalised path leads to.
#[salsa::input(debug)]
pub struct PathInput {
    /// The file behind the path, or why there is none.
    #[returns(ref)]
    pub target: Result<Target, LoadError>,
}

/// A file behind a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The file.
    pub file: FileInput,
    /// Device and inode, where available.
    pub identity: Option<FileIdentity>,
}

/// A document to compile.
#[salsa::input(debug)]
pub struct Root {
    /// Display path: as the caller gave it, `<stdin>` or `<prompt>` (spec 01 section 15.1).
    #[returns(ref)]
    pub name: String,
    /// Path in manifests: the file name of the document.
    #[returns(ref)]
    pub manifest_name: String,
    /// Absolute, normalised directory of the document.
    #[returns(ref)]
    pub directory: Utf8PathBuf,
    /// The document.
    #[returns(copy)]
    pub file: FileInput,
    /// Identity for cycle detection. `None`: only the name counts.
    #[returns(copy)]
    pub identity: Option<FileIdentity>,
}
