//! Binding: the values that a manifest has on this host (spec 04 section 9).
//!
//! [`bind_values`] is pure: it asks a [`Values`] for everything that only a host knows. [`bind`]
//! asks the real one. Nothing is run, nothing is written.

mod directories;
mod files;
mod hash;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use chatmd_compiler::manifest::{
    Binding, BoundFile, BoundRoots, EnvOp, Manifest, Path, PathBase, Root, Runtime,
};

pub use directories::HostDirs;
pub use files::Identity;

use crate::canonical::CanonicalError;
use crate::host::{Host, absolute_text};
use crate::{canonical, canonical_or_parent};

/// Why a manifest is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To show it or to ask for authority: a missing file is a warning and part of the digest.
    Compile,
    /// To run it: a missing file is an error.
    Start,
}

/// What binding has to say about a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BindFinding {
    /// Stable code, for example `shell.file_absent`.
    pub code: &'static str,
    /// Whether there is no bound manifest because of it.
    pub error: bool,
    /// One sentence; names symbolic paths and variables, never a value of the environment.
    pub message: String,
    /// Owner of the file (`runtime:ID/EXEC`, `tool:NAME`) or `runtime:ID`, when there is one.
    pub owner: Option<String>,
}

impl BindFinding {
    fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            error: true,
            message: message.into(),
            owner: None,
        }
    }

    fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            error: false,
            message: message.into(),
            owner: None,
        }
    }

    fn of(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }
}

/// A bound manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The manifest with its `binding`.
    pub manifest: Manifest,
    /// Warnings.
    pub findings: Vec<BindFinding>,
}

/// Why a value is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The host has no such thing, and why.
    Unavailable(String),
    /// Its name is no UTF-8 text.
    NotUtf8,
}

/// What only a host knows.
pub trait Values {
    /// Canonical directory of a variable; `source` for `source_dir`.
    fn directory(&mut self, base: PathBase, source: Option<&str>) -> Result<String, Unknown>;
    /// Value of a host variable; `None` when it is not set.
    fn variable(&mut self, name: &str) -> Result<Option<String>, Unknown>;
    /// Canonical form of an absolute path of which a tail may be missing.
    fn root(&mut self, path: &str) -> Result<String, Unknown>;
    /// Identity of the file at an absolute path; `None` when there is none.
    fn file(&mut self, path: &str) -> Result<Option<Identity>, files::FileFault>;
}

/// Binds a manifest to this host. Every failure is reported, not the first alone.
pub fn bind(manifest: &Manifest, host: &Host, purpose: Purpose) -> Result<Bound, Vec<BindFinding>> {
    bind_values(manifest, &mut HostValues { host }, purpose)
}

/// Binds a manifest to the values that `values` gives.
pub fn bind_values(
    manifest: &Manifest,
    values: &mut dyn Values,
    purpose: Purpose,
) -> Result<Bound, Vec<BindFinding>> {
    let mut binder = Binder {
        values,
        purpose,
        binding: Binding::default(),
        unavailable: BTreeSet::new(),
        findings: Vec::new(),
    };
    binder.directories(manifest);
    binder.variables(manifest);
    for runtime in &manifest.runtimes {
        binder.roots(runtime);
    }
    files::bind(&mut binder, manifest);
    let Binder {
        mut binding,
        findings,
        ..
    } = binder;
    if findings.iter().any(|finding| finding.error) {
        return Err(findings);
    }
    binding
        .roots
        .sort_by(|left, right| left.runtime.cmp(&right.runtime));
    binding
        .files
        .sort_by(|left, right| file_key(left).cmp(&file_key(right)));
    binding.files.dedup();
    let manifest = Manifest {
        binding: Some(binding),
        ..manifest.clone()
    };
    Ok(Bound { manifest, findings })
}

fn file_key(file: &BoundFile) -> (&str, &'static str, &str) {
    (&file.owner, file.role.as_str(), &file.path)
}

struct Binder<'a> {
    values: &'a mut dyn Values,
    purpose: Purpose,
    binding: Binding,
    /// Variables and sources without a directory, reported once.
    unavailable: BTreeSet<(PathBase, Option<String>)>,
    findings: Vec<BindFinding>,
}

/// `${workspace}/x` as in a document.
fn symbolic(path: &Path) -> String {
    match (path.base, path.path.is_empty()) {
        (PathBase::Absolute, _) => path.path.clone(),
        (base, true) => format!("${{{}}}", base.as_str()),
        (base, false) => format!("${{{}}}/{}", base.as_str(), path.path),
    }
}

/// `directory/rest`, with `..` kept.
fn join(directory: &str, rest: &str) -> String {
    let directory = directory.trim_end_matches('/');
    match (directory.is_empty(), rest.is_empty()) {
        (true, true) => "/".to_owned(),
        (_, true) => directory.to_owned(),
        _ => format!("{directory}/{rest}"),
    }
}

fn not_utf8(what: &str) -> BindFinding {
    BindFinding::error(
        "shell.path_not_utf8",
        format!("{what} leads to a path that is not UTF-8"),
    )
}

impl Binder<'_> {
    /// Directories of every variable that a path uses (rules 1 and 5).
    fn directories(&mut self, manifest: &Manifest) {
        let mut used: BTreeSet<(PathBase, Option<&str>)> = BTreeSet::new();
        for path in manifest.paths() {
            used.insert((path.base, path.source.as_deref()));
        }
        for (base, source) in used {
            if matches!(base, PathBase::Absolute | PathBase::SessionDir) {
                continue;
            }
            let name = base.as_str().to_owned();
            let subject = match source {
                Some(source) => format!("the directory of {source}"),
                None => format!("${{{name}}}"),
            };
            match self.values.directory(base, source) {
                Ok(directory) => {
                    match source {
                        Some(source) => self
                            .binding
                            .source_dirs
                            .insert(source.to_owned(), directory),
                        None => self.binding.variables.insert(name, directory),
                    };
                }
                Err(unknown) => {
                    self.unavailable.insert((base, source.map(str::to_owned)));
                    self.findings.push(match unknown {
                        Unknown::NotUtf8 => not_utf8(&subject),
                        Unknown::Unavailable(reason) => {
                            let code = if source.is_some() {
                                "shell.source_dir_unavailable"
                            } else {
                                "shell.directory_unavailable"
                            };
                            BindFinding::error(
                                code,
                                format!("{subject} is not available: {reason}"),
                            )
                        }
                    });
                }
            }
        }
    }

    /// Host variables that roots and `PATH` operations name.
    fn variables(&mut self, manifest: &Manifest) {
        let mut named: BTreeMap<&str, &str> = BTreeMap::new();
        for runtime in &manifest.runtimes {
            let capabilities = &runtime.capabilities;
            for root in capabilities.read.iter().chain(&capabilities.write) {
                if let Root::PathEnv { name, .. } = root {
                    named.entry(name).or_insert(&runtime.id);
                }
            }
            for operation in &runtime.environment.operations {
                if let EnvOp::PathEnv { name, .. } = operation {
                    named.entry(name).or_insert(&runtime.id);
                }
            }
        }
        for (name, runtime) in named {
            match self.values.variable(name) {
                Ok(value) => {
                    self.binding.path_env.insert(name.to_owned(), value);
                }
                Err(_) => {
                    let finding = not_utf8(&format!("variable {name}"));
                    self.findings.push(finding.of(format!("runtime:{runtime}")));
                }
            }
        }
    }

    fn roots(&mut self, runtime: &Runtime) {
        let read = self.side(runtime, &runtime.capabilities.read);
        let write = self.side(runtime, &runtime.capabilities.write);
        self.binding.roots.push(BoundRoots {
            runtime: runtime.id.clone(),
            read,
            write,
        });
    }

    fn side(&mut self, runtime: &Runtime, roots: &[Root]) -> Vec<String> {
        let owner = format!("runtime:{}", runtime.id);
        let mut seen = HashSet::new();
        let mut found = Vec::with_capacity(roots.len());
        for root in roots {
            match self.one_root(root) {
                Ok(Some(path)) => {
                    if seen.insert(path.clone()) {
                        found.push(path);
                    }
                }
                Ok(None) => {}
                Err(finding) => self.findings.push(finding.of(&owner)),
            }
        }
        found
    }

    /// `None`: an optional variable that is not set, or something that was reported already.
    fn one_root(&mut self, root: &Root) -> Result<Option<String>, BindFinding> {
        let (subject, path) = match root {
            Root::Path { path } if path.base == PathBase::SessionDir => {
                return Ok(Some(symbolic(path)));
            }
            Root::Path { path } => match self.absolute(path) {
                Some(absolute) => (symbolic(path), absolute),
                None => return Ok(None),
            },
            Root::PathEnv { name, optional } => match self.root_variable(name, *optional)? {
                Some(value) => (format!("variable {name}"), value),
                None => return Ok(None),
            },
        };
        match self.values.root(&path) {
            Ok(canonical) => Ok(Some(canonical)),
            Err(Unknown::NotUtf8) => Err(not_utf8(&subject)),
            Err(Unknown::Unavailable(reason)) => Err(BindFinding::error(
                "shell.capability_path_invalid",
                format!("the root {subject} can not be used: {reason}"),
            )),
        }
    }

    fn root_variable(&self, name: &str, optional: bool) -> Result<Option<String>, BindFinding> {
        let Some(value) = self.binding.path_env.get(name) else {
            return Ok(None);
        };
        let Some(value) = value else {
            if optional {
                return Ok(None);
            }
            return Err(BindFinding::error(
                "shell.capability_path_missing",
                format!("the variable {name} of a capability root is not set"),
            ));
        };
        match absolute_text(value.as_ref()) {
            Ok(_) => Ok(Some(value.clone())),
            Err(reason) => Err(BindFinding::error(
                "shell.capability_path_invalid",
                format!("the variable {name} is no usable root: {reason}"),
            )),
        }
    }

    /// The joined absolute path; `None` when its variable is not available (reported), or belongs
    /// to the session.
    fn absolute(&self, path: &Path) -> Option<String> {
        match path.base {
            PathBase::Absolute => Some(path.path.clone()),
            PathBase::SessionDir => None,
            PathBase::SourceDir => {
                let source = path.source.as_deref().unwrap_or_default();
                Some(join(self.binding.source_dirs.get(source)?, &path.path))
            }
            base => Some(join(self.binding.variables.get(base.as_str())?, &path.path)),
        }
    }
}

struct HostValues<'a> {
    host: &'a Host,
}

impl Values for HostValues<'_> {
    fn directory(&mut self, base: PathBase, source: Option<&str>) -> Result<String, Unknown> {
        match self.host.directory(base, source) {
            Ok(path) => path.to_str().map(str::to_owned).ok_or(Unknown::NotUtf8),
            Err(crate::FactsError::DirectoryVariable { reason, .. }) => {
                Err(Unknown::Unavailable(reason))
            }
            Err(other) => Err(Unknown::Unavailable(other.to_string())),
        }
    }

    fn variable(&mut self, name: &str) -> Result<Option<String>, Unknown> {
        match self.host.path_variables().get(name) {
            None => Ok(None),
            Some(value) => value
                .to_str()
                .map(|v| Some(v.to_owned()))
                .ok_or(Unknown::NotUtf8),
        }
    }

    fn root(&mut self, path: &str) -> Result<String, Unknown> {
        match canonical_or_parent(path) {
            Ok(found) => found.to_str().map(str::to_owned).ok_or(Unknown::NotUtf8),
            Err(error) => Err(Unknown::Unavailable(error.to_string())),
        }
    }

    fn file(&mut self, path: &str) -> Result<Option<Identity>, files::FileFault> {
        let found = match canonical(path) {
            Ok(found) => found,
            Err(CanonicalError::Missing(_) | CanonicalError::NotADirectory(_)) => return Ok(None),
            Err(error) => return Err(files::FileFault::Unusable(error.to_string())),
        };
        let text = found.to_str().ok_or(files::FileFault::NotUtf8)?;
        let (sha256, size) = hash::file(found.as_path())?;
        Ok(Some(Identity {
            path: text.to_owned(),
            sha256,
            size,
        }))
    }
}

#[cfg(test)]
mod tests;
