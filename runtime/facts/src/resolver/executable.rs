//! A resolved executable: facts plus the open descriptor that is hashed, verified and executed.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use chatmd_plan::facts::{Link, Target};

use super::cache::DigestCache;
use super::error::{IdentityError, ResolveError};
use super::fingerprint::{
    Fingerprint, MAX_BYTES, Opened, Sha256Digest, hash_through, open_regular,
};
use super::format::{self, Format, InterpreterLine};
use super::trust::{Claim, Ground, Standing, TrustConditions};
use crate::canonical::{CanonicalPath, canonical_with_links};

/// A file with its fingerprint and the descriptor through which it was read (close-on-exec,
/// read-only).
#[derive(Debug)]
pub struct VerifiedFile {
    path: CanonicalPath,
    fingerprint: Fingerprint,
    file: File,
}

impl VerifiedFile {
    /// Canonical path.
    pub fn path(&self) -> &CanonicalPath {
        &self.path
    }

    /// Identity.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The held descriptor: the spawn uses it and never the name. It must not be inherited by a
    /// confined process.
    pub fn descriptor(&self) -> &File {
        &self.file
    }

    /// Hands the content to `sink` while it is hashed again; fails unless the bytes are exactly
    /// those of the fingerprint. For sealed copies (level G1).
    pub fn copy_verified(&self, sink: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match hash_through(&self.file, MAX_BYTES, sink)? {
            Some(digest) if digest == self.fingerprint.sha256 => Ok(()),
            _ => Err(io::Error::other("the content is not what was approved")),
        }
    }

    pub(crate) fn from_parts(
        path: CanonicalPath,
        fingerprint: Fingerprint,
        opened: Opened,
    ) -> Self {
        Self {
            path,
            fingerprint,
            file: opened.file,
        }
    }

    /// Opens the path anew and compares everything but the content, without reading it. For files
    /// that only root may write, whose change time nobody can set back. The held descriptor stays.
    pub(crate) fn unchanged(&self) -> Result<(), IdentityError> {
        let opened = open_regular(&self.path)?;
        if opened.with_digest(self.fingerprint.sha256) != self.fingerprint {
            return Err(IdentityError::Different(opened.name));
        }
        Ok(())
    }

    /// Opens the path anew and compares every field; on success the new descriptor is held.
    pub(crate) fn verify(&mut self, cache: Option<&DigestCache>) -> Result<(), IdentityError> {
        let opened = open_regular(&self.path)?;
        let now = opened.fingerprint(cache)?;
        if now != self.fingerprint {
            return Err(IdentityError::Different(opened.name));
        }
        self.file = opened.file;
        Ok(())
    }
}

/// The interpreter of a `#!` file.
#[derive(Debug)]
pub struct Interpreter {
    /// Path as the line has it.
    pub written: PathBuf,
    /// Rest of the line.
    pub argument: Option<OsString>,
    /// It is `env`: the program that runs in the end is looked up again and is not pinned.
    pub looks_up: bool,
    /// Stable in the sense of spec 06 section 3.3.
    pub stable: bool,
    file: VerifiedFile,
    links: Vec<(PathBuf, bool)>,
}

impl Interpreter {
    /// The verified file.
    pub fn file(&self) -> &VerifiedFile {
        &self.file
    }

    /// Facts for the plan.
    pub fn target(&self) -> Target {
        target(&self.written, &self.file, self.stable, &self.links)
    }
}

/// A program that was found, judged and fingerprinted (spec 06 section 3.4).
#[derive(Debug)]
pub struct ResolvedExecutable {
    requested: String,
    located: PathBuf,
    links: Vec<(PathBuf, bool)>,
    file: VerifiedFile,
    standing: Standing,
    in_trusted_root: bool,
    alias: bool,
    interpreter: Option<Interpreter>,
}

/// What was found by name, before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Program text.
    pub requested: String,
    /// Absolute path as located.
    pub located: PathBuf,
    /// Id of the declared executable, when the text is one.
    pub alias: Option<String>,
}

impl ResolvedExecutable {
    /// Program text as requested.
    pub fn requested(&self) -> &str {
        &self.requested
    }

    /// Path as located, before links: this is `argv[0]` (spec 06 section 3.6).
    pub fn located(&self) -> &std::path::Path {
        &self.located
    }

    /// Canonical path.
    pub fn canonical(&self) -> &CanonicalPath {
        &self.file.path
    }

    /// Identity.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.file.fingerprint
    }

    /// The verified file with its descriptor.
    pub fn file(&self) -> &VerifiedFile {
        &self.file
    }

    /// Trust of spec 06 section 3.2.
    pub fn trusted(&self) -> bool {
        self.standing.trusted
    }

    /// What trust is made of.
    pub fn trust_conditions(&self) -> TrustConditions {
        self.standing.conditions
    }

    /// Stability of spec 06 section 3.3.
    pub fn stable(&self) -> bool {
        self.standing.stable
    }

    /// Modifiable in the sense of T5.
    pub fn modifiable(&self) -> bool {
        self.standing.modifiable
    }

    /// Set-id bits or file capabilities.
    pub fn set_id(&self) -> bool {
        self.standing.set_id
    }

    /// The located path lies in a declared trusted root.
    pub fn in_trusted_root(&self) -> bool {
        self.in_trusted_root
    }

    /// The program text is a declared executable id.
    pub fn is_alias(&self) -> bool {
        self.alias
    }

    /// Interpreter of its `#!` line.
    pub fn interpreter(&self) -> Option<&Interpreter> {
        self.interpreter.as_ref()
    }

    /// Facts for the plan.
    pub fn target(&self) -> Target {
        target(&self.located, &self.file, self.standing.stable, &self.links)
    }

    /// Verifies executable and interpreter directly before a spawn (spec 06 section 3.5). On success
    /// the descriptors are those of this verification; nothing may be awaited between it and the
    /// spawn.
    pub fn verify(&mut self, cache: &DigestCache) -> Result<(), IdentityError> {
        moved(&self.located, &self.file.path)?;
        self.file.verify(self.standing.stable.then_some(cache))?;
        if let Some(interpreter) = &mut self.interpreter {
            moved(&interpreter.written, &interpreter.file.path)?;
            interpreter
                .file
                .verify(interpreter.stable.then_some(cache))?;
        }
        Ok(())
    }
}

/// The name must still lead where it led.
fn moved(name: &std::path::Path, expected: &CanonicalPath) -> Result<(), IdentityError> {
    match crate::canonical::canonical(name) {
        Ok(now) if now == *expected => Ok(()),
        _ => Err(IdentityError::Moved(name.display().to_string())),
    }
}

fn target(
    located: &std::path::Path,
    file: &VerifiedFile,
    stable: bool,
    links: &[(PathBuf, bool)],
) -> Target {
    let links = links.iter().map(|(path, stable)| Link {
        path: path.clone(),
        stable: *stable,
    });
    Target {
        located: located.to_path_buf(),
        canonical: file.path.as_path().to_path_buf(),
        stable,
        size: file.fingerprint.size,
        links: links.collect(),
    }
}

/// Opens, judges and fingerprints what a search found.
pub(crate) fn resolve(
    candidate: Candidate,
    claim: Claim,
    digest: Option<Sha256Digest>,
    ground: &Ground,
    cache: &DigestCache,
) -> Result<ResolvedExecutable, ResolveError> {
    let shown = || candidate.located.display().to_string();
    if candidate.located.to_str().is_none() {
        return Err(ResolveError::NotUtf8);
    }
    let (path, links) =
        canonical_with_links(&candidate.located).map_err(|error| ResolveError::Unreadable {
            path: shown(),
            source: io::Error::other(error.to_string()),
        })?;
    if path.to_str().is_none() {
        return Err(ResolveError::NotUtf8);
    }
    let opened = open_executable(&path)?;
    let standing = ground.judge(&path, &opened.file, &opened.meta, claim);
    let line = supported(&opened)?;
    let fingerprint = opened.fingerprint(standing.stable.then_some(cache))?;
    if let (Some(digest), Some(id)) = (digest, &candidate.alias)
        && digest != fingerprint.sha256
    {
        return Err(ResolveError::DigestMismatch(id.clone()));
    }
    let interpreter = match line {
        Some(line) => Some(interpreter(&opened.name, line, ground, cache)?),
        None => None,
    };
    Ok(ResolvedExecutable {
        in_trusted_root: ground.in_trusted_root(&candidate.located),
        requested: candidate.requested,
        located: candidate.located,
        links: ground.judge_links(&links),
        file: VerifiedFile {
            path,
            fingerprint,
            file: opened.file,
        },
        standing,
        alias: candidate.alias.is_some(),
        interpreter,
    })
}

/// Opens and fingerprints a sandbox wrapper: a program for this machine, never a script.
pub(crate) fn open_wrapper(path: CanonicalPath) -> Result<VerifiedFile, ResolveError> {
    let opened = open_executable(&path)?;
    if supported(&opened)?.is_some() {
        return Err(ResolveError::Format(opened.name));
    }
    let fingerprint = opened.fingerprint(None)?;
    Ok(VerifiedFile::from_parts(path, fingerprint, opened))
}

fn open_executable(path: &CanonicalPath) -> Result<Opened, ResolveError> {
    let opened = open_regular(path)?;
    if opened.meta.mode() & 0o111 == 0 {
        return Err(ResolveError::NotRegular(opened.name));
    }
    Ok(opened)
}

/// The `#!` line of a script, `None` for a program of this machine.
fn supported(opened: &Opened) -> Result<Option<InterpreterLine>, ResolveError> {
    match format::detect(&opened.file) {
        Ok(Ok(Format::Elf)) => Ok(None),
        Ok(Ok(Format::Script(line))) => Ok(Some(line)),
        Ok(Ok(Format::Unsupported)) => Err(ResolveError::Format(opened.name.clone())),
        Ok(Err(error)) => Err(ResolveError::Interpreter {
            path: opened.name.clone(),
            reason: error.to_string(),
        }),
        Err(source) => Err(ResolveError::Unreadable {
            path: opened.name.clone(),
            source,
        }),
    }
}

/// Fingerprints the interpreter, one level deep.
fn interpreter(
    script: &str,
    line: InterpreterLine,
    ground: &Ground,
    cache: &DigestCache,
) -> Result<Interpreter, ResolveError> {
    let refused = |reason: String| ResolveError::Interpreter {
        path: script.to_owned(),
        reason,
    };
    let (path, links) =
        canonical_with_links(&line.path).map_err(|error| refused(error.to_string()))?;
    let opened = open_executable(&path).map_err(|error| refused(error.to_string()))?;
    match supported(&opened) {
        Ok(None) => {}
        Ok(Some(_)) => return Err(refused(format!("{} is a script itself", opened.name))),
        Err(error) => return Err(refused(error.to_string())),
    }
    let standing = ground.judge(&path, &opened.file, &opened.meta, Claim::default());
    let fingerprint = opened
        .fingerprint(standing.stable.then_some(cache))
        .map_err(|error| refused(error.to_string()))?;
    let is_env = |path: &std::path::Path| path.file_name().is_some_and(|name| name == "env");
    Ok(Interpreter {
        looks_up: is_env(&line.path) || is_env(path.as_path()),
        written: line.path,
        argument: line.argument,
        stable: standing.stable,
        file: VerifiedFile {
            path,
            fingerprint,
            file: opened.file,
        },
        links: ground.judge_links(&links),
    })
}
