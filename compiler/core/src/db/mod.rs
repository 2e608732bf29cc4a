//! The salsa database: files in, everything else derived.
//!
//! Inputs are the bytes of files (or why there are none) and what a path leads to. All else is a
//! tracked query, so that after an edit only what the edit touches runs again:
//!
//! ```text
//! content(file) ─► parse ─► declarations ─► expand ─► resolve ─► compile
//!             └─► digest ──────────────────────────────────────────┘
//! ```
//!
//! `declarations` holds spans relative to their top-level item, so it stays equal when prose
//! changes, and nothing below `expand` wakes up; `compile` alone knows absolute positions and
//! digests of documents.

mod files;
mod frontend;
mod inputs;
mod overlay;
mod queries;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use salsa::{Durability, Setter as _};

pub use files::{
    FileIdentity, FileSystem, LoadError, Located, MAX_FILE_BYTES, MemoryFileSystem, OsFileSystem,
    normalize, relative_to,
};
pub use frontend::ContentDeclarations;
pub use inputs::{FileInput, PathInput, Root, Target};
pub use overlay::OverlayFileSystem;
pub use queries::{
    Source, content_declarations, content_directives, content_parse, content_source, declarations,
    digest, directives, load_error, parse, size, size_kib, source,
};

/// What queries may ask of the database.
#[salsa::db]
pub trait Db: salsa::Database {
    /// The input of an absolute path, made on first use.
    fn path_input(&self, path: &Utf8Path) -> PathInput;
}

#[derive(Default)]
struct Known {
    paths: HashMap<Utf8PathBuf, PathInput>,
    files: HashMap<Utf8PathBuf, FileInput>,
    /// Files that are expected to be edited.
    edited: HashSet<FileInput>,
}

/// A file with its content, unless that is known already.
struct Found {
    located: Located,
    content: Option<Result<Arc<[u8]>, LoadError>>,
}

/// The database. Cloning gives a handle for another thread; drop it before the next change.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    system: Arc<dyn FileSystem>,
    known: Arc<Mutex<Known>>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn path_input(&self, path: &Utf8Path) -> PathInput {
        if let Some(input) = self.known().paths.get(path) {
            return *input;
        }
        // Without the lock: other threads look for other files meanwhile.
        let found = self.find(path);
        let mut known = self.known();
        if let Some(input) = known.paths.get(path) {
            return *input;
        }
        let target = found.map(|found| self.target(&mut known, found));
        let input = PathInput::builder(target).durability(UNEDITED).new(self);
        known.paths.insert(path.to_owned(), input);
        input
    }
}

impl Default for Database {
    fn default() -> Self {
        Self::new(OsFileSystem::default())
    }
}

impl Database {
    /// A database over a file system.
    pub fn new(system: impl FileSystem) -> Self {
        Self::with_events(system, None)
    }

    /// A database that reports what it does; for tests and measurements.
    pub fn with_events(
        system: impl FileSystem,
        events: Option<Box<dyn Fn(salsa::Event) + Send + Sync + 'static>>,
    ) -> Self {
        Self {
            storage: salsa::Storage::new(events),
            system: Arc::new(system),
            known: Arc::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds a file, and reads it when it was not read before.
    fn find(&self, path: &Utf8Path) -> Result<Found, LoadError> {
        let located = self.system.locate(path)?;
        let read = self.known().files.contains_key(&located.canonical);
        let content = (!read).then(|| self.system.read(&located.canonical));
        Ok(Found { located, content })
    }

    /// Where a path leads; the first content that was read of a file is the one that stays.
    fn target(&self, known: &mut Known, found: Found) -> Target {
        let Found { located, content } = found;
        let file = match known.files.get(&located.canonical) {
            Some(file) => *file,
            None => {
                let content = content.unwrap_or_else(|| self.system.read(&located.canonical));
                let file = new_file(self, located.canonical.clone(), content);
                known.files.insert(located.canonical, file);
                file
            }
        };
        Target {
            file,
            identity: located.identity,
        }
    }

    /// The document at a path, which is taken from `cwd` when relative.
    ///
    /// # Errors
    /// Why the file cannot be read, except for its size, which is a diagnostic of the document.
    pub fn root_from_path(&mut self, path: &Utf8Path, cwd: &Utf8Path) -> Result<Root, LoadError> {
        let absolute = normalize(&cwd.join(path));
        let input = self.path_input(&absolute);
        let target = match input.target(self) {
            Ok(target) => *target,
            Err(error) => return Err(*error),
        };
        match target.file.content(self) {
            Ok(_) | Err(LoadError::TooLarge { .. }) => {}
            Err(error) => return Err(*error),
        }
        let directory = absolute.parent().unwrap_or(&absolute).to_owned();
        let name = path.as_str().to_owned();
        let file_name = absolute.file_name().unwrap_or(&name).to_owned();
        Ok(
            Root::builder(name, file_name, directory, target.file, target.identity)
                .durability(Durability::HIGH)
                .new(self),
        )
    }

    /// A document that the caller holds, such as standard input; an error of reading it becomes a
    /// finding. `name` is both its display path
    /// and its path in the manifest; imports are found from `directory`.
    ///
    /// `file` says which file the text stands for, if any: an import of that file is a cycle.
    pub fn root_from_content(
        &mut self,
        name: &str,
        directory: &Utf8Path,
        content: Result<Arc<[u8]>, LoadError>,
        file: Option<&Utf8Path>,
    ) -> Root {
        let directory = normalize(directory);
        let located = file.and_then(|file| self.system.locate(&normalize(file)).ok());
        let canonical = match (&located, file) {
            (Some(located), _) => located.canonical.clone(),
            (None, Some(file)) => normalize(file),
            (None, None) => Utf8PathBuf::from(name),
        };
        let input = new_file(self, canonical, content);
        let manifest_name = Utf8Path::new(name).file_name().unwrap_or(name).to_owned();
        let identity = located.and_then(|located| located.identity);
        Root::builder(name.to_owned(), manifest_name, directory, input, identity)
            .durability(Durability::HIGH)
            .new(self)
    }

    /// Says whether a file will be edited, because an editor has it open. After an edit of such a
    /// file only documents that read one are looked at; after any other change every document is.
    /// Correct either way: this is about speed.
    ///
    /// Must not run while another handle of this database is alive.
    pub fn expect_edits(&mut self, file: FileInput, expected: bool) {
        let news = if expected {
            self.known().edited.insert(file)
        } else {
            self.known().edited.remove(&file)
        };
        if news {
            let content = file.content(self).clone();
            let _ = file
                .set_content(self)
                .with_durability(if expected { Durability::LOW } else { UNEDITED })
                .to(content);
        }
    }

    /// Replaces the bytes of a document or of any file read before. Equal bytes change nothing.
    pub fn set_content(&mut self, file: FileInput, bytes: Arc<[u8]>) {
        let content = Ok(bytes);
        if *file.content(self) != content {
            let _ = file.set_content(self).to(content);
        }
    }

    /// Looks again at every path and file that was asked for; only what differs is changed.
    ///
    /// Must not run while another handle of this database is alive.
    pub fn reload(&mut self) {
        self.look_again(|_| true);
    }

    /// Looks again at what a path leads to, by the name it was asked for or its canonical one;
    /// only what differs is changed. Gives the canonical path if there is a file now.
    ///
    /// Must not run while another handle of this database is alive.
    pub fn refresh(&mut self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let path = normalize(path);
        let canonical = self.system.locate(&path).ok().map(|found| found.canonical);
        self.look_again(|known| known == path || Some(known) == canonical.as_deref());
        canonical
    }

    fn look_again(&mut self, which: impl Fn(&Utf8Path) -> bool) {
        let (paths, files) = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            (
                selected(&known.paths, &which),
                selected(&known.files, &which),
            )
        };
        for (path, file) in files {
            let content = self.system.read(&path);
            if *file.content(self) != content {
                let _ = file.set_content(self).to(content);
            }
        }
        for (path, input) in paths {
            let found = self.find(&path);
            let known = Arc::clone(&self.known);
            let target = {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                found.map(|found| self.target(&mut known, found))
            };
            if *input.target(self) != target {
                let _ = input.set_target(self).to(target);
            }
        }
    }
}

/// How seldom files change that no editor has open.
const UNEDITED: Durability = Durability::MEDIUM;

fn new_file(db: &Database, path: Utf8PathBuf, content: Result<Arc<[u8]>, LoadError>) -> FileInput {
    FileInput::builder(path, content)
        .durability(UNEDITED)
        .path_durability(Durability::HIGH)
        .new(db)
}

/// The inputs of some paths, in the order of the paths.
fn selected<T: Copy>(
    known: &HashMap<Utf8PathBuf, T>,
    which: &impl Fn(&Utf8Path) -> bool,
) -> Vec<(Utf8PathBuf, T)> {
    let wanted = known.iter().filter(|(path, _)| which(path));
    let mut found: Vec<_> = wanted.map(|(path, input)| (path.clone(), *input)).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
