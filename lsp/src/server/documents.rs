//! The documents that the client holds open.

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::db::{Database, FileInput, Root, normalize};
use tower_lsp::ls_types::Uri;

use super::convert;
use crate::ide::recognise::Class;

/// An open document.
pub struct Document {
    /// The URI that the client uses.
    pub uri: Uri,
    /// The client's version.
    pub version: i32,
    /// Grows with every edit, whatever versions the client sends.
    pub serial: u64,
    /// Language id.
    pub language: String,
    /// The text, without a byte order mark.
    pub text: String,
    /// Whether the file on disk begins with a byte order mark: then the analysed bytes do too.
    pub bom: bool,
    /// What it is.
    pub class: Class,
    /// Absolute, normalised path.
    pub path: Utf8PathBuf,
    /// Path by which the database knows the file.
    pub key: Utf8PathBuf,
    /// The text is newer than the database.
    pub dirty: bool,
    /// Checking it panicked; it is left alone until something changes.
    pub skip: bool,
    /// Its file in the database.
    pub file: Option<FileInput>,
    /// As a document to compile.
    pub root: Option<Root>,
}

impl Document {
    /// Name of the file, for recognition and display.
    pub fn file_name(&self) -> &str {
        self.path.file_name().unwrap_or(self.path.as_str())
    }

    /// The bytes to analyse.
    pub fn bytes(&self) -> std::sync::Arc<[u8]> {
        if self.bom {
            format!("\u{feff}{}", self.text).into_bytes().into()
        } else {
            self.text.as_bytes().into()
        }
    }

    /// Finds the file and the root of the document in a database that knows its buffer.
    ///
    /// No other handle of the database may be alive.
    pub fn enter(&mut self, db: &mut Database) {
        use chatmd_compiler::db::Db as _;
        let target = *db.path_input(&self.path).target(db);
        self.file = target.ok().map(|target| target.file);
        if let Some(file) = self.file {
            db.expect_edits(file, true);
        }
        self.find_root(db);
    }

    /// Finds the root of the document; there is none if it is no ChatMD.
    pub fn find_root(&mut self, db: &mut Database) {
        self.root = None;
        if self.class == Class::Document {
            let directory = self.path.parent().unwrap_or(&self.path).to_owned();
            let name = Utf8PathBuf::from(self.file_name());
            self.root = db.root_from_path(&name, &directory).ok();
        }
    }
}

/// The path of a URI. Documents without a file get one below a folder that no file system has, so
/// that relative imports find open documents of the same scheme and authority alone.
pub fn path_of(uri: &Uri) -> Utf8PathBuf {
    if let Some(path) = convert::file_path(uri) {
        return normalize(&path);
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let folder = format!(
        "/<{}:{authority}>",
        uri.scheme().as_str().to_ascii_lowercase()
    );
    let path = uri.path().decode().to_string_lossy().into_owned();
    let inside = normalize(
        Utf8Path::new("/")
            .join(path.trim_start_matches('/'))
            .as_path(),
    );
    Utf8PathBuf::from(folder).join(inside.as_str().trim_start_matches('/'))
}
