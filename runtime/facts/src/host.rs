//! The host snapshot and path expressions (spec 06 sections 1, 2.2).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use chatmd_compiler::manifest::{self, PathBase};

use crate::canonical::{CanonicalPath, canonical};
use crate::error::FactsError;

/// What a host program knows before it builds a [`Host`].
#[derive(Clone, Debug, Default)]
pub struct HostInput {
    /// Directory of each base variable. One that is absent or does not exist is an error only where
    /// an expression uses it.
    pub directories: BTreeMap<PathBase, PathBuf>,
    /// Directory of each source file, by the file's path in the manifest.
    pub source_dirs: BTreeMap<String, PathBuf>,
    /// Process environment.
    pub environment: Snapshot,
    /// Session id, when there is a session.
    pub session_id: Option<String>,
}

/// Everything about the host that is fixed for the life of a registry.
#[derive(Debug)]
pub struct Host {
    directories: BTreeMap<PathBase, Result<CanonicalPath, String>>,
    source_dirs: BTreeMap<String, Result<CanonicalPath, String>>,
    environment: Snapshot,
    path_variables: Option<Snapshot>,
    uid: u32,
    session_id: Option<String>,
}

impl Host {
    /// Canonicalises every directory once.
    pub fn new(input: HostInput) -> Self {
        let resolve = |path: &PathBuf| canonical(path).map_err(|error| error.to_string());
        Self {
            directories: input
                .directories
                .iter()
                .map(|(base, path)| (*base, resolve(path)))
                .collect(),
            source_dirs: input
                .source_dirs
                .iter()
                .map(|(source, path)| (source.clone(), resolve(path)))
                .collect(),
            environment: input.environment,
            path_variables: None,
            uid: nix::unistd::geteuid().as_raw(),
            session_id: input.session_id,
        }
    }

    /// Effective uid of this process.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// The environment as it was when the host was built.
    pub fn environment(&self) -> &Snapshot {
        &self.environment
    }

    /// Takes the values of `path_env` from elsewhere than the environment (`--env-file`).
    #[must_use]
    pub fn with_path_variables(mut self, variables: Snapshot) -> Self {
        self.path_variables = Some(variables);
        self
    }

    /// The variables that `path_env` names.
    pub fn path_variables(&self) -> &Snapshot {
        self.path_variables.as_ref().unwrap_or(&self.environment)
    }

    /// Session id, when there is a session.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// Canonical directory of a base variable. `source` is the manifest path of the declaring file
    /// and counts for `source_dir` only.
    pub fn directory(
        &self,
        base: PathBase,
        source: Option<&str>,
    ) -> Result<CanonicalPath, FactsError> {
        let unavailable = |variable: &str, reason: &str| FactsError::DirectoryVariable {
            variable: variable.to_owned(),
            reason: reason.to_owned(),
        };
        let (name, entry) = match base {
            PathBase::Absolute => return Ok(CanonicalPath::root()),
            PathBase::SourceDir => {
                let source = source.unwrap_or("");
                (
                    format!("source_dir of {source}"),
                    self.source_dirs.get(source),
                )
            }
            other => (other.as_str().to_owned(), self.directories.get(&other)),
        };
        match entry {
            Some(Ok(path)) => Ok(path.clone()),
            Some(Err(reason)) => Err(unavailable(&name, reason)),
            None => Err(unavailable(&name, "the host names no such directory")),
        }
    }

    /// The absolute path of an expression. `..` stays in it and is resolved by canonicalisation;
    /// nothing is substituted, expanded or globbed.
    pub fn resolve(&self, path: &manifest::Path) -> Result<PathBuf, FactsError> {
        if path.base == PathBase::Absolute {
            return Ok(PathBuf::from(&path.path));
        }
        let base = self.directory(path.base, path.source.as_deref())?;
        let mut text = base.as_bytes().to_vec();
        for part in path
            .path
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
        {
            if text.last() != Some(&b'/') {
                text.push(b'/');
            }
            text.extend_from_slice(part.as_bytes());
        }
        Ok(PathBuf::from(OsString::from_vec(text)))
    }

    /// Canonical working directory of a runtime; it must exist.
    pub fn working_directory(&self, path: &manifest::Path) -> Result<CanonicalPath, FactsError> {
        let wanted = self.resolve(path)?;
        match canonical(&wanted) {
            Ok(found) if found.as_path().is_dir() => Ok(found),
            _ => Err(FactsError::WorkingDirectory(wanted)),
        }
    }

    /// Directories whose content a session may change: nothing in them is stable
    /// (spec 06 section 3.3).
    pub fn session_directories(&self) -> Vec<CanonicalPath> {
        let own = self.directories.values().chain(self.source_dirs.values());
        let mut found: Vec<CanonicalPath> = own
            .filter_map(|entry| entry.as_ref().ok().cloned())
            .collect();
        for shared in ["/tmp", "/var/tmp", "/dev/shm"] {
            found.extend(canonical(shared).ok());
        }
        found.sort();
        found.dedup();
        found
    }
}

/// A process environment, parsed: names are distinct and not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<OsString, OsString>);

impl Snapshot {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Self(
            std::env::vars_os()
                .filter(|(name, _)| !name.is_empty())
                .collect(),
        )
    }

    /// Parses `NAME=VALUE` entries. One without `=` or without a name is dropped; of two with the
    /// same name the later counts.
    pub fn from_entries<E: AsRef<OsStr>>(entries: impl IntoIterator<Item = E>) -> Self {
        let mut found = BTreeMap::new();
        for entry in entries {
            let bytes = entry.as_ref().as_bytes();
            let Some(at) = bytes.iter().position(|byte| *byte == b'=') else {
                continue;
            };
            let (name, rest) = bytes.split_at(at);
            if !name.is_empty() {
                let value = rest.get(1..).unwrap_or_default();
                found.insert(
                    OsStr::from_bytes(name).to_owned(),
                    OsStr::from_bytes(value).to_owned(),
                );
            }
        }
        Self(found)
    }

    /// Value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Variables in byte order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Whether a text taken from a variable can serve as an absolute path.
pub(crate) fn absolute_text(value: &OsStr) -> Result<&Path, &'static str> {
    let bytes = value.as_bytes();
    if bytes.is_empty() {
        Err("the value is empty")
    } else if bytes.iter().any(|byte| matches!(byte, 0 | b'\n')) {
        Err("the value holds a NUL byte or a line end")
    } else if bytes.first() != Some(&b'/') {
        Err("the value is not an absolute path")
    } else {
        Ok(Path::new(value))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn expression(base: PathBase, path: &str, source: Option<&str>) -> manifest::Path {
        manifest::Path {
            base,
            path: path.to_owned(),
            source: source.map(str::to_owned),
        }
    }

    #[test]
    fn expressions() {
        let dir = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir(base.join("real")).unwrap();
        std::os::unix::fs::symlink("real", base.join("link")).unwrap();
        let host = Host::new(HostInput {
            directories: BTreeMap::from([
                (PathBase::Workspace, base.join("link")),
                (PathBase::Home, base.join("gone")),
            ]),
            source_dirs: BTreeMap::from([("lib/a.chatmd".to_owned(), base.clone())]),
            ..HostInput::default()
        });
        let real = base.join("real");
        for (path, expected) in [
            (expression(PathBase::Workspace, "", None), real.clone()),
            (
                expression(PathBase::Workspace, "a//./b", None),
                real.join("a/b"),
            ),
            // `..` is kept for canonicalisation.
            (
                expression(PathBase::Workspace, "../x", None),
                PathBuf::from(format!("{}/../x", real.display())),
            ),
            (
                expression(PathBase::Workspace, "${home}/~/*", None),
                real.join("${home}/~/*"),
            ),
            (
                expression(PathBase::Absolute, "/usr/bin", None),
                "/usr/bin".into(),
            ),
            (
                expression(PathBase::SourceDir, "s", Some("lib/a.chatmd")),
                base.join("s"),
            ),
        ] {
            assert_eq!(
                host.resolve(&path).unwrap().as_os_str(),
                expected.as_os_str(),
                "{path:?}"
            );
        }
        for path in [
            expression(PathBase::SourceDir, "s", Some("lib/b.chatmd")),
            expression(PathBase::Home, "s", None),
            expression(PathBase::CacheDir, "", None),
        ] {
            assert_eq!(
                host.resolve(&path).unwrap_err().code(),
                "shell.source_dir_unavailable"
            );
        }
        assert_eq!(
            host.working_directory(&expression(PathBase::Workspace, "", None))
                .unwrap()
                .as_path(),
            real
        );
        let missing = host.working_directory(&expression(PathBase::Workspace, "no", None));
        assert_eq!(missing.unwrap_err().code(), "shell.directory_unavailable");
        assert!(
            host.session_directories()
                .iter()
                .any(|d| d.as_path() == Path::new("/tmp"))
        );
    }

    #[test]
    fn snapshot_parsing() {
        let found = Snapshot::from_entries(["A=1", "B", "=x", "A=2=3", "C="]);
        let list: Vec<_> = found
            .iter()
            .map(|(n, v)| format!("{}:{}", n.display(), v.display()))
            .collect();
        assert_eq!(list, ["A:2=3", "C:"]);
        assert_eq!(
            Snapshot::of_process().get("PATH"),
            std::env::var_os("PATH").as_deref()
        );
    }
}
