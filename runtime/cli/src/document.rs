//! From a document on the command line to a compiled, bound and authorised manifest.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmd_compiler::db::{Database, LoadError, OsFileSystem};
use chatmd_compiler::diagnostics::Severity;
use chatmd_compiler::manifest::Manifest;
use chatmd_compiler::resolve::Material;
use chatmd_compiler::{Compilation, CompileOptions, compile_or_read};
use chatmd_facts::bind::HostDirs;
use chatmd_facts::{Host, HostInput, Snapshot};
use chatmd_runtime::session::{Session, SessionError, StatePlaces};
use chatmdc::args::Common;
use chatmdc::output::style_of_stderr;
use chatmdc::report::Findings;
use chatmdc::report::human;

use crate::args::Reading;
use crate::exit::{self, Stop};
use crate::show;

/// A compiled document.
pub struct Document {
    compilation: Arc<Compilation>,
    manifest: Arc<Manifest>,
}

/// Why there is no document to work with.
pub struct Failed {
    /// What to say and to exit with.
    pub stop: Stop,
    /// What the compiler found, where it came so far.
    pub compilation: Option<Arc<Compilation>>,
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        Self {
            stop,
            compilation: None,
        }
    }
}

impl Document {
    /// Compiles a document; its findings go to standard error.
    pub fn compile(path: &Path, reading: &Reading, common: Common) -> Result<Self, Stop> {
        let read = Self::read(path, reading);
        let compilation = match &read {
            Ok(document) => Some(&document.compilation),
            Err(failed) => failed.compilation.as_ref(),
        };
        if let Some(compilation) = compilation {
            report(compilation, common);
        }
        read.map_err(|failed| match &failed.compilation {
            // The findings say it.
            Some(found) if found.manifest.is_none() => Stop::new(exit::FAILED, ""),
            _ => failed.stop,
        })
    }

    /// Compiles a document and shows nothing.
    pub fn read(path: &Path, reading: &Reading) -> Result<Self, Failed> {
        let compilation = Self::compilation(path, reading).map_err(Failed::from)?;
        let failed = |message: String| Failed {
            stop: Stop::new(exit::FAILED, message),
            compilation: Some(Arc::clone(&compilation)),
        };
        let Some(manifest) = compilation.manifest.clone() else {
            return Err(failed("chatmd: the document has errors".to_owned()));
        };
        // A bundle keeps the platform that it was compiled for.
        let here = CompileOptions::for_this_machine().platform;
        if manifest.platform != here {
            let (wanted, here) = (manifest.platform.as_str(), here.as_str());
            let what = format!("chatmd: the bundle is for {wanted}, this machine is {here}");
            return Err(failed(what));
        }
        Ok(Self {
            compilation,
            manifest,
        })
    }

    fn compilation(path: &Path, reading: &Reading) -> Result<Arc<Compilation>, Stop> {
        let io = |what: String| Stop::new(exit::IO, format!("chatmd: {what}"));
        let cwd = std::env::current_dir()
            .map_err(|error| io(format!("the current directory cannot be used: {error}")))?;
        let cwd = utf8(cwd)?;
        let mut db = Database::new(OsFileSystem::with_limit(reading.max_source));
        let root = if path == Path::new("-") {
            let mut bytes = Vec::new();
            let stdin = std::io::stdin().lock();
            stdin
                .take(reading.max_source + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| io(format!("cannot read standard input: {error}")))?;
            let directory = match &reading.source_dir {
                Some(directory) => cwd.join(utf8(directory.clone())?),
                None => cwd.clone(),
            };
            let limit = reading.max_source;
            let content = if bytes.len() as u64 > limit {
                Err(LoadError::TooLarge { limit })
            } else {
                Ok(bytes.into())
            };
            db.root_from_content("<stdin>", &directory, content, None)
        } else {
            let named = utf8(path.to_path_buf())?;
            db.root_from_path(&named, &cwd)
                .map_err(|error| io(format!("cannot read {named}: {error}")))?
        };
        let source_dir = match &reading.source_dir {
            Some(directory) => Some(cwd.join(utf8(directory.clone())?)),
            None => None,
        };
        let options = CompileOptions::for_this_machine();
        let compilation = compile_or_read(&db, root, &options, source_dir.as_deref())
            .map_err(|why| Stop::new(exit::FAILED, format!("error[{}]: {why}", why.code)))?;
        Ok(compilation)
    }

    /// Everything the compiler found.
    pub fn compiled(&self) -> &Compilation {
        &self.compilation
    }

    /// The requested manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its digest.
    pub fn requested_sha256(&self) -> &str {
        self.compilation
            .requested_sha256
            .as_deref()
            .unwrap_or_default()
    }

    /// What a run needs beside the manifest.
    pub fn material(&self) -> &Material {
        &self.compilation.material
    }

    /// The host's values for this document.
    pub fn host(&self, reading: &Reading, session: Option<&Session>) -> Result<Host, Stop> {
        let environment = Snapshot::of_process();
        let working = std::env::current_dir()
            .map_err(|error| Stop::new(exit::IO, format!("chatmd: {error}")))?;
        let prompt = self.compilation.directory.as_std_path();
        let mut dirs = HostDirs::defaults(&working, prompt, &environment);
        for (given, slot) in [
            (&reading.workspace, &mut dirs.workspace),
            (&reading.tool_dir, &mut dirs.tool_dir),
            (&reading.cache_dir, &mut dirs.cache_dir),
            (&reading.home, &mut dirs.home),
        ] {
            if let Some(given) = given {
                *slot = Some(working.join(given));
            }
        }
        let variables = match &reading.env_file {
            Some(file) => Some(
                chatmdc::env_file::read(file)
                    .map_err(|why| Stop::new(exit::IO, format!("chatmd: {why}")))?,
            ),
            None => None,
        };
        dirs.session_dir = session.map(|session| session.directory().to_path_buf());
        let host = Host::new(HostInput {
            directories: dirs.directories(),
            source_dirs: dirs.source_dirs(&self.manifest),
            environment,
            session_id: session.map(|session| session.id().to_owned()),
        });
        Ok(match variables {
            Some(variables) => host.with_path_variables(variables),
            None => host,
        })
    }

    /// The document's own files.
    pub fn sources(&self) -> Vec<PathBuf> {
        self.compilation
            .files
            .iter()
            .map(|file| file.path.clone().into_std_path_buf())
            .collect()
    }
}

fn utf8(path: PathBuf) -> Result<camino::Utf8PathBuf, Stop> {
    camino::Utf8PathBuf::from_path_buf(path).map_err(|path| {
        let shown = path.display();
        Stop::new(
            exit::IO,
            format!("chatmd: the path {shown} is not valid UTF-8"),
        )
    })
}

/// Errors and warnings in full, as `chatmdc check` shows them; notes are left to it.
fn report(compilation: &Compilation, common: Common) {
    let shown = compilation.diagnostics.iter();
    let shown: Vec<_> = shown
        .filter(|found| match found.severity {
            Severity::Error => true,
            Severity::Warning => !common.quiet,
            Severity::Note => common.verbose && !common.quiet,
        })
        .cloned()
        .collect();
    if shown.is_empty() {
        return;
    }
    let style = style_of_stderr(common.color);
    // The renderer escapes everything that comes from the document.
    show::message(&human::render(&Findings { compilation, shown }, style));
}

/// Opens the session of a run, and says where state lives.
pub fn open_session(reading: &Reading) -> Result<(StatePlaces, Session), Stop> {
    let environment = Snapshot::of_process();
    let stop = |error: SessionError| {
        let code = match error {
            SessionError::InUse(_) | SessionError::Insecure { .. } => exit::REFUSED,
            SessionError::InvalidId => exit::USAGE,
            _ => exit::IO,
        };
        let shown = match error.code() {
            Some(name) => format!("error[{name}]: {error}"),
            None => format!("chatmd: {error}"),
        };
        Stop::new(code, shown)
    };
    let state = StatePlaces::find(reading.state_dir.as_deref(), &environment).map_err(stop)?;
    let session = match &reading.session {
        Some(id) => Session::open(&state.root, id, reading.session_dir.as_deref()).map_err(stop)?,
        None => Session::ephemeral().map_err(stop)?,
    };
    Ok((state, session))
}
