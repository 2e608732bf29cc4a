//! From a document on the command line to a compiled, bound and authorised manifest.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmd_compiler::db::{Database, OsFileSystem};
use chatmd_compiler::diagnostics::Severity;
use chatmd_compiler::manifest::Manifest;
use chatmd_compiler::resolve::Material;
use chatmd_compiler::{Compilation, CompileOptions, compile_or_read};
use chatmd_facts::bind::HostDirs;
use chatmd_facts::{Host, HostInput, Snapshot};
use chatmd_runtime::session::{self, Session, SessionError};
use chatmdc::report::Findings;
use chatmdc::report::human::{self, Style};

use crate::args::Reading;
use crate::exit::{self, Stop};
use crate::show;

/// Largest source file, in bytes.
const MAX_SOURCE: u64 = 64 << 20;

/// A compiled document.
pub struct Document {
    compilation: Arc<Compilation>,
    manifest: Arc<Manifest>,
}

impl Document {
    /// Compiles a document; its findings go to standard error.
    pub fn compile(path: &Path, reading: &Reading) -> Result<Self, Stop> {
        let io = |what: String| Stop::new(exit::IO, format!("chatmd: {what}"));
        let cwd = std::env::current_dir()
            .map_err(|error| io(format!("the current directory cannot be used: {error}")))?;
        let cwd = utf8(cwd)?;
        let mut db = Database::new(OsFileSystem::with_limit(MAX_SOURCE));
        let root = if path == Path::new("-") {
            let mut bytes = Vec::new();
            let stdin = std::io::stdin().lock();
            stdin
                .take(MAX_SOURCE + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| io(format!("cannot read standard input: {error}")))?;
            let directory = match &reading.source_dir {
                Some(directory) => cwd.join(utf8(directory.clone())?),
                None => cwd.clone(),
            };
            db.root_from_content("<stdin>", &directory, Ok(bytes.into()), None)
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
        report(&compilation);
        let Some(manifest) = compilation.manifest.clone() else {
            return Err(Stop::new(exit::FAILED, ""));
        };
        // A bundle keeps the platform that it was compiled for.
        if manifest.platform != options.platform {
            let (wanted, here) = (manifest.platform.as_str(), options.platform.as_str());
            let what = format!("chatmd: the bundle is for {wanted}, this machine is {here}");
            return Err(Stop::new(exit::FAILED, what));
        }
        Ok(Self {
            compilation,
            manifest,
        })
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
        dirs.session_dir = session.map(|session| session.directory().to_path_buf());
        Ok(Host::new(HostInput {
            directories: dirs.directories(),
            source_dirs: dirs.source_dirs(&self.manifest),
            environment,
            session_id: session.map(|session| session.id().to_owned()),
        }))
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
fn report(compilation: &Compilation) {
    let shown = compilation.diagnostics.iter();
    let shown: Vec<_> = shown
        .filter(|found| found.severity != Severity::Note)
        .cloned()
        .collect();
    if shown.is_empty() {
        return;
    }
    let terminal = std::io::stderr().is_terminal();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let style = Style {
        color: terminal && !no_color,
        unicode: terminal,
        width: chatmdc::report::wrap::DEFAULT_WIDTH,
    };
    // The renderer escapes everything that comes from the document.
    show::message(&human::render(&Findings { compilation, shown }, style));
}

/// Opens the session of a run, and says where state lives.
pub fn open_session(reading: &Reading) -> Result<(PathBuf, Session), Stop> {
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
    let root = session::state_root(reading.state_dir.as_deref(), &environment).map_err(stop)?;
    let session = match &reading.session {
        Some(id) => Session::open(&root, id, reading.session_dir.as_deref()).map_err(stop)?,
        None => Session::ephemeral().map_err(stop)?,
    };
    Ok((root, session))
}
