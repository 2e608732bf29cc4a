//! From a program text to an identified executable (spec 06 section 3).

mod cache;
mod error;
mod executable;
mod fingerprint;
mod format;
mod script;
mod trust;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chatmd_compiler::manifest;
use nix::unistd::AccessFlags;

pub use cache::DigestCache;
pub use error::{IdentityError, ResolveError};
pub(crate) use executable::open_wrapper;
pub use executable::{Candidate, Interpreter, ResolvedExecutable, VerifiedFile};
pub use fingerprint::{Fingerprint, MAX_BYTES, Sha256Digest};
pub use format::{Format, InterpreterLine, LineError, MAX_INTERPRETER_LINE, classify};
pub use script::{MAX_SCRIPT_BYTES, ScriptError, ScriptFile};

use crate::canonical::{CanonicalPath, canonical_or_parent};
use crate::environment::{BuiltEnvironment, DEFAULT_PATH};
use crate::error::FactsError;
use crate::host::Host;
use crate::roots::FrozenRoots;
pub use trust::TrustConditions;
use trust::{Claim, Ground};

/// Longest program text, in bytes.
pub const MAX_PROGRAM_BYTES: usize = 4096;

/// A declared executable, resolved to a path.
#[derive(Clone, Debug)]
struct Alias {
    path: PathBuf,
    trusted: bool,
    digest: Option<Sha256Digest>,
}

/// Finds, judges and fingerprints the programs of one runtime.
#[derive(Debug)]
pub struct Resolver {
    cwd: CanonicalPath,
    /// Directories as written, in order; relative ones only where they are allowed.
    search_path: Vec<PathBuf>,
    aliases: BTreeMap<String, Alias>,
    ground: Ground,
    cache: DigestCache,
}

impl Resolver {
    /// Builds the resolver of a runtime. Every failure is reported, not the first alone.
    pub fn new(
        host: &Host,
        declared: &manifest::Resolver,
        cwd: &CanonicalPath,
        environment: &BuiltEnvironment,
        roots: &FrozenRoots,
    ) -> Result<Self, Vec<FactsError>> {
        let mut errors = Vec::new();
        let mut resolve =
            |path: &manifest::Path| host.resolve(path).map_err(|error| errors.push(error)).ok();
        let declared_path: Vec<PathBuf> = declared
            .search_path
            .iter()
            .filter_map(&mut resolve)
            .collect();
        // A trusted root that can not be resolved lends trust to nothing.
        let trusted_roots = declared.trusted_roots.iter().filter_map(&mut resolve);
        let trusted_roots = trusted_roots
            .filter_map(|path| canonical_or_parent(path).ok())
            .collect();
        let mut aliases = BTreeMap::new();
        for entry in &declared.executables {
            if let Some(path) = resolve(&entry.path) {
                let digest = entry.sha256.as_deref().map(parse_digest);
                let alias = Alias {
                    path,
                    trusted: entry.trusted,
                    digest,
                };
                aliases.insert(entry.id.clone(), alias);
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let search_path = if declared.search_path.is_empty() {
            split_path(environment.get("PATH"), declared.allow_relative_search_path)
        } else {
            declared_path
        };
        let ground = Ground {
            uid: host.uid(),
            trusted_roots,
            write_roots: roots.write.clone(),
            session: host.session_directories(),
        };
        Ok(Self {
            cwd: cwd.clone(),
            search_path,
            aliases,
            ground,
            cache: DigestCache::default(),
        })
    }

    /// Digests of stable executables, for [`ResolvedExecutable::verify`].
    pub fn cache(&self) -> &DigestCache {
        &self.cache
    }

    /// Finds a program by name from the runtime's working directory. Nothing is opened.
    pub fn search(&self, program: &str) -> Result<Candidate, ResolveError> {
        self.search_from(program, self.cwd.as_path())
    }

    /// Finds a program by name from a working directory (spec 06 section 3.1).
    pub fn search_from(&self, program: &str, cwd: &Path) -> Result<Candidate, ResolveError> {
        let candidate = |located: PathBuf, alias: Option<String>| Candidate {
            requested: program.to_owned(),
            located,
            alias,
        };
        if let Some(alias) = self.aliases.get(program) {
            return match usable(&alias.path) {
                Usable::Yes => Ok(candidate(alias.path.clone(), Some(program.to_owned()))),
                other => Err(other.error(program)),
            };
        }
        if program.len() > MAX_PROGRAM_BYTES {
            return Err(ResolveError::ProgramTooLong);
        }
        if program.is_empty()
            || matches!(program, "." | "..")
            || program.ends_with('/')
            || program.contains('\0')
        {
            return Err(ResolveError::BadProgram(program.to_owned()));
        }
        if program.contains('/') {
            let located = joined(cwd, Path::new(program));
            return match usable(&located) {
                Usable::Yes => Ok(candidate(located, None)),
                other => Err(other.error(program)),
            };
        }
        let mut worst = Usable::Missing;
        for folder in &self.search_path {
            let located = joined(cwd, &folder.join(program));
            match usable(&located) {
                Usable::Yes => return Ok(candidate(located, None)),
                Usable::No => worst = Usable::No,
                Usable::Missing => {}
            }
        }
        Err(worst.error(program))
    }

    /// Finds, judges and fingerprints a program. Blocking: hashes up to 512 MiB.
    pub fn resolve(&self, program: &str) -> Result<ResolvedExecutable, ResolveError> {
        let candidate = self.search(program)?;
        let alias = candidate.alias.as_ref().and_then(|id| self.aliases.get(id));
        let claim = alias.map_or(Claim::default(), |alias| Claim {
            trusted: alias.trusted,
            pinned: alias.digest.is_some(),
        });
        let digest = alias.and_then(|alias| alias.digest);
        executable::resolve(candidate, claim, digest, &self.ground, &self.cache)
    }

    /// Fingerprints every declared executable and compares its digest
    /// (spec 06 section 2.1 step 7).
    pub fn check_declared(&self) -> Vec<FactsError> {
        let mut errors = Vec::new();
        for id in self.aliases.keys() {
            match self.resolve(id) {
                Ok(_) => {}
                Err(ResolveError::DigestMismatch(id)) => {
                    errors.push(FactsError::ExecutableDigest(id))
                }
                Err(error) => errors.push(FactsError::ExecutableUnavailable {
                    id: id.clone(),
                    reason: error.to_string(),
                }),
            }
        }
        errors
    }

    /// Whether a located or canonical path lies in a declared trusted root.
    pub fn in_trusted_root(&self, path: &Path) -> bool {
        self.ground.in_trusted_root(path)
    }
}

/// A digest that is not 64 hexadecimal digits (the compiler admits none) equals no file.
fn parse_digest(text: &str) -> Sha256Digest {
    let mut bytes = [0_u8; 32];
    let mut valid = text.len() == 64;
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(pair).ok();
        match digits.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(value) => *byte = value,
            None => valid = false,
        }
    }
    if valid {
        Sha256Digest(bytes)
    } else {
        Sha256Digest([0; 32])
    }
}

fn split_path(path: Option<&OsStr>, allow_relative: bool) -> Vec<PathBuf> {
    let path = path
        .filter(|text| !text.is_empty())
        .unwrap_or(OsStr::new(DEFAULT_PATH));
    let entries = path.as_bytes().split(|byte| *byte == b':');
    let kept = entries.filter(|entry| entry.first() == Some(&b'/') || allow_relative);
    kept.map(|entry| PathBuf::from(OsStr::from_bytes(entry)))
        .collect()
}

/// Joins as path expressions do: `.` and empty components vanish, `..` stays.
fn joined(cwd: &Path, path: &Path) -> PathBuf {
    cwd.join(path).components().collect()
}

/// Whether a path counts as a candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Usable {
    Yes,
    No,
    Missing,
}

impl Usable {
    fn error(self, program: &str) -> ResolveError {
        match self {
            Self::Missing => ResolveError::NotFound(program.to_owned()),
            Self::Yes | Self::No => ResolveError::NotExecutable(program.to_owned()),
        }
    }
}

fn usable(path: &Path) -> Usable {
    match std::fs::metadata(path) {
        Ok(meta)
            if meta.is_file()
                && meta.mode() & 0o111 != 0
                && trust::may(path, AccessFlags::X_OK) =>
        {
            Usable::Yes
        }
        Ok(_) => Usable::No,
        Err(_) => Usable::Missing,
    }
}

#[cfg(test)]
mod tests;
