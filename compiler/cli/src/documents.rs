//! From operands of the command line to documents of the database.

use std::io::Read as _;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::compile::TestSelection;
use chatmd_compiler::db::{Database, LoadError, OsFileSystem, Root, normalize};
use chatmd_compiler::manifest::{ManifestError, Platform};
use chatmd_compiler::{Compilation, CompileOptions, compile_or_read};

use crate::args::{PlatformChoice, Reading};

/// Display name of standard input.
pub const STDIN: &str = "<stdin>";

/// The documents of one run. Cloning gives a handle for another thread.
#[derive(Clone)]
pub struct Documents {
    /// The database that all of them share.
    pub db: Database,
    cwd: Utf8PathBuf,
    max_source: u64,
}

/// Why an operand is no document.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// A directory: there is no implicit recursion.
    #[error("`{0}` is a directory; name the documents in it")]
    Directory(Utf8PathBuf),
    /// The file cannot be read.
    #[error("cannot read `{path}`: {why}")]
    File {
        /// As given.
        path: Utf8PathBuf,
        /// What is wrong.
        why: LoadError,
    },
    /// Standard input failed.
    #[error("cannot read standard input: {0}")]
    Stdin(std::io::Error),
    /// The current directory has no usable name.
    #[error("the current directory cannot be used: {0}")]
    CurrentDirectory(String),
    /// A reading option names something that is not there.
    #[error("{0}")]
    Option(String),
}

impl Documents {
    /// A database for the reading options.
    ///
    /// # Errors
    /// When the current directory is gone or its name is not UTF-8, or when an option names a
    /// directory or file that is not there.
    pub fn new(reading: &Reading) -> Result<Self, Unreadable> {
        let cwd = std::env::current_dir()
            .map_err(|error| Unreadable::CurrentDirectory(error.to_string()))?;
        let cwd = Utf8PathBuf::from_path_buf(cwd)
            .map_err(|_| Unreadable::CurrentDirectory("its path is not valid UTF-8".to_owned()))?;
        check_options(reading).map_err(Unreadable::Option)?;
        let system = OsFileSystem::with_limit(reading.max_source);
        Ok(Self {
            db: Database::new(system),
            cwd,
            max_source: reading.max_source,
        })
    }

    /// The current directory.
    pub fn cwd(&self) -> &Utf8Path {
        &self.cwd
    }

    /// Opens a document; `-` is standard input.
    ///
    /// # Errors
    /// When there are no bytes to compile.
    pub fn open(
        &mut self,
        operand: &Utf8Path,
        reading: &Reading,
        stdin_name: Option<&Utf8Path>,
    ) -> Result<Root, Unreadable> {
        if operand == "-" {
            return self.open_stdin(reading, stdin_name);
        }
        self.db
            .root_from_path(operand, &self.cwd)
            .map_err(|why| match why {
                LoadError::Directory => Unreadable::Directory(operand.to_owned()),
                why => Unreadable::File {
                    path: operand.to_owned(),
                    why,
                },
            })
    }

    fn open_stdin(
        &mut self,
        reading: &Reading,
        stdin_name: Option<&Utf8Path>,
    ) -> Result<Root, Unreadable> {
        let mut bytes = Vec::new();
        let limit = self.max_source + 1;
        std::io::stdin()
            .lock()
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(Unreadable::Stdin)?;
        let named = stdin_name.map(|name| normalize(&self.cwd.join(name)));
        let directory = match (&reading.source_dir, &named) {
            (Some(given), _) => self.cwd.join(given),
            (None, Some(path)) => path.parent().unwrap_or(&self.cwd).to_owned(),
            (None, None) => self.cwd.clone(),
        };
        let name = stdin_name.map_or(STDIN, Utf8Path::as_str);
        let content: Arc<[u8]> = bytes.into();
        let too_large = content.len() as u64 > self.max_source;
        let content = if too_large {
            Err(LoadError::TooLarge {
                limit: self.max_source,
            })
        } else {
            Ok(content)
        };
        Ok(self
            .db
            .root_from_content(name, &directory, content, named.as_deref()))
    }
}

/// What options name must be there, whether this run needs it or not: a slip of the pen in it would
/// come out as something about the document. The directories of sessions and caches may be made
/// later.
fn check_options(reading: &Reading) -> Result<(), String> {
    let directories = [
        ("--workspace", &reading.workspace),
        ("--tool-dir", &reading.tool_dir),
        ("--home", &reading.home),
        ("--source-dir", &reading.source_dir),
    ];
    for (option, given) in directories {
        let Some(path) = given else { continue };
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(format!("{option}: `{path}` is not a directory")),
            Err(error) => return Err(unusable(option, path, &error)),
        }
    }
    let Some(path) = &reading.env_file else {
        return Ok(());
    };
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(format!("--env-file: `{path}` is a directory")),
        Ok(_) => Ok(()),
        Err(error) => Err(unusable("--env-file", path, &error)),
    }
}

fn unusable(option: &str, path: &Utf8Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("{option}: `{path}` does not exist"),
        _ => format!("{option}: `{path}` cannot be used: {error}"),
    }
}

/// Compiles an opened operand, or reads it when it is a compiled bundle (spec 10 section 1).
///
/// # Errors
/// Why a bundle is refused, or that a plain manifest does not stand for a document.
pub fn compilation(
    db: &Database,
    root: Root,
    reading: &Reading,
    cwd: &Utf8Path,
) -> Result<Arc<Compilation>, ManifestError> {
    let source_dir = reading.source_dir.as_ref();
    let source_dir = source_dir.map(|given| normalize(&cwd.join(given)));
    compile_or_read(db, root, &compile_options(reading), source_dir.as_deref())
}

/// What the options say about compilation.
pub fn compile_options(reading: &Reading) -> CompileOptions {
    let named = match reading.platform {
        PlatformChoice::Current => return CompileOptions::for_this_machine(),
        PlatformChoice::Macos => Platform::Macos,
        PlatformChoice::Linux => Platform::Linux,
        PlatformChoice::Windows => Platform::Windows,
    };
    let mut options = CompileOptions::for_platform(named);
    // Tests look at a platform that was named, never at that of the machine.
    options.tests = Some(TestSelection {
        platform: named,
        ..TestSelection::default()
    });
    options
}
