//! Capability roots: frozen when a runtime is made, asked again at each check
//! (spec 06 section 2.4).

use std::path::Path;

use chatmd_compiler::manifest::{Capabilities, Root};
use chatmd_plan::facts::{Access, Presence, Root as PlanRoot};

use crate::canonical::{CanonicalPath, canonical_or_parent};
use crate::error::FactsError;
use crate::host::{Host, absolute_text};

/// One root with its frozen canonical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrozenRoot {
    /// Canonical path at materialisation.
    pub path: CanonicalPath,
    /// Read or write.
    pub access: Access,
}

/// Roots of one runtime, without duplicates, in declared order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrozenRoots {
    /// Read roots.
    pub read: Vec<CanonicalPath>,
    /// Write roots.
    pub write: Vec<CanonicalPath>,
}

/// What the roots are at the moment of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CurrentRoots {
    /// Roots that still lead where they led, with what stands there.
    pub usable: Vec<PlanRoot>,
    /// Roots that lead elsewhere now and therefore grant nothing ("capability root changed").
    pub changed: Vec<CanonicalPath>,
}

/// Resolves and freezes the roots. Every failure is reported, not the first alone.
pub fn freeze(host: &Host, capabilities: &Capabilities) -> Result<FrozenRoots, Vec<FactsError>> {
    let mut errors = Vec::new();
    let mut side = |declared: &[Root]| {
        let mut found: Vec<CanonicalPath> = Vec::with_capacity(declared.len());
        let mut seen = std::collections::HashSet::new();
        for root in declared {
            match resolve(host, root) {
                Ok(Some(path)) => {
                    if seen.insert(path.clone()) {
                        found.push(path);
                    }
                }
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        found
    };
    let read = side(&capabilities.read);
    let write = side(&capabilities.write);
    if errors.is_empty() {
        Ok(FrozenRoots { read, write })
    } else {
        Err(errors)
    }
}

/// One root; `None` for an optional variable that is not set.
fn resolve(host: &Host, root: &Root) -> Result<Option<CanonicalPath>, FactsError> {
    let invalid = |name: String, reason: String| FactsError::CapabilityInvalid { name, reason };
    let (name, path) = match root {
        Root::Path { path } => {
            let path = host.resolve(path)?;
            (path.display().to_string(), path)
        }
        Root::PathEnv { name, optional } => match host.environment().get(name) {
            None if *optional => return Ok(None),
            None => return Err(FactsError::CapabilityMissing(name.clone())),
            Some(value) => match absolute_text(value) {
                Ok(path) => (name.clone(), path.to_path_buf()),
                Err(reason) => return Err(invalid(name.clone(), reason.to_owned())),
            },
        },
    };
    match canonical_or_parent(&path) {
        Ok(found) if found.to_str().is_none() => {
            Err(invalid(name, "the path is not valid UTF-8".to_owned()))
        }
        Ok(found) => Ok(Some(found)),
        Err(error) => Err(invalid(name, error.to_string())),
    }
}

impl FrozenRoots {
    /// Asks the file system again. A root that was replaced by a link, or that can not be resolved
    /// any more, grants nothing.
    pub fn current(&self) -> CurrentRoots {
        let mut current = CurrentRoots::default();
        let sides = [(Access::Read, &self.read), (Access::Write, &self.write)];
        for (access, path) in sides
            .into_iter()
            .flat_map(|(access, list)| list.iter().map(move |p| (access, p)))
        {
            match canonical_or_parent(path.as_path()) {
                Ok(now) if now == *path => current.usable.push(PlanRoot {
                    path: path.as_path().to_path_buf(),
                    access,
                    presence: presence(path),
                }),
                _ => current.changed.push(path.clone()),
            }
        }
        current
    }

    /// The ceilings of a runtime for the capability check. Roots are valid UTF-8: others are not
    /// frozen.
    pub fn ceilings(&self, declared: &Capabilities) -> chatmd_policy::Capabilities {
        let texts = |list: &[CanonicalPath]| {
            list.iter()
                .filter_map(|path| path.to_str().map(str::to_owned))
                .collect()
        };
        chatmd_policy::Capabilities {
            read: texts(&self.read),
            write: texts(&self.write),
            network: declared.network,
            child_processes: declared.child_processes,
            arbitrary_code: declared.arbitrary_code,
            privilege_change: declared.privilege_change,
        }
    }

    /// All roots, read roots first.
    pub fn iter(&self) -> impl Iterator<Item = FrozenRoot> + '_ {
        let read = self.read.iter().map(|path| (path, Access::Read));
        let write = self.write.iter().map(|path| (path, Access::Write));
        read.chain(write).map(|(path, access)| FrozenRoot {
            path: path.clone(),
            access,
        })
    }
}

/// What stands at a canonical path now.
pub fn presence(path: &CanonicalPath) -> Presence {
    match std::fs::symlink_metadata(path.as_path()) {
        Ok(meta) if meta.is_dir() => Presence::Directory,
        Ok(_) => Presence::File,
        Err(_) if path.as_path().parent().is_some_and(Path::is_dir) => Presence::MissingLeaf,
        Err(_) => Presence::MissingParent,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use chatmd_compiler::manifest::{self, PathBase, Sandbox};

    use super::*;
    use crate::host::{HostInput, Snapshot};

    fn capabilities(read: Vec<Root>, write: Vec<Root>) -> Capabilities {
        Capabilities {
            sandbox: Sandbox::Required,
            network: false,
            child_processes: false,
            arbitrary_code: false,
            privilege_change: false,
            read,
            write,
        }
    }

    fn absolute(path: &Path) -> Root {
        let path = path.to_str().unwrap().to_owned();
        Root::Path {
            path: manifest::Path {
                base: PathBase::Absolute,
                path,
                source: None,
            },
        }
    }

    fn variable(name: &str, optional: bool) -> Root {
        Root::PathEnv {
            name: name.to_owned(),
            optional,
        }
    }

    fn host(entries: &[&str]) -> Host {
        Host::new(HostInput {
            environment: Snapshot::from_entries(entries),
            ..HostInput::default()
        })
    }

    #[test]
    fn variables() {
        let host = host(&["GOOD=/usr/../usr/bin", "EMPTY=", "REL=a/b", "LINE=/a\nb"]);
        let found = freeze(
            &host,
            &capabilities(
                vec![
                    variable("GOOD", false),
                    variable("NONE", true),
                    variable("GOOD", true),
                ],
                vec![],
            ),
        )
        .unwrap();
        assert_eq!(found.read.len(), 1);
        assert_eq!(found.read[0].to_str(), Some("/usr/bin"));
        let declared = Capabilities {
            network: true,
            ..capabilities(vec![], vec![])
        };
        let ceilings = found.ceilings(&declared);
        assert_eq!(
            (ceilings.read, ceilings.network),
            (vec!["/usr/bin".to_owned()], true)
        );
        assert!(ceilings.write.is_empty() && !ceilings.privilege_change);
        let bad = ["EMPTY", "REL", "LINE", "NONE"].map(|name| variable(name, false));
        let errors = freeze(&host, &capabilities(bad.to_vec(), vec![])).unwrap_err();
        let codes: Vec<_> = errors.iter().map(FactsError::code).collect();
        let invalid = "shell.capability_path_invalid";
        assert_eq!(
            codes,
            [invalid, invalid, invalid, "shell.capability_path_missing"]
        );
    }

    #[test]
    fn a_root_that_became_a_link_grants_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(base.join("root")).unwrap();
        fs::create_dir_all(base.join("other")).unwrap();
        fs::write(base.join("file"), "x").unwrap();
        let roots = capabilities(
            vec![
                absolute(&base.join("file")),
                absolute(&base.join("new")),
                absolute(&base.join("no/way")),
            ],
            vec![absolute(&base.join("root"))],
        );
        let frozen = freeze(&host(&[]), &roots).unwrap();
        let now = frozen.current();
        assert!(now.changed.is_empty());
        let seen: Vec<_> = now
            .usable
            .iter()
            .map(|root| (root.access, root.presence))
            .collect();
        assert_eq!(
            seen,
            [
                (Access::Read, Presence::File),
                (Access::Read, Presence::MissingLeaf),
                (Access::Read, Presence::MissingParent),
                (Access::Write, Presence::Directory),
            ]
        );
        fs::remove_dir(base.join("root")).unwrap();
        symlink("other", base.join("root")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        symlink(base.join("loop"), base.join("new")).unwrap();
        let now = frozen.current();
        let changed: Vec<_> = now.changed.iter().map(CanonicalPath::as_path).collect();
        assert_eq!(changed, [base.join("new"), base.join("root")]);
        assert_eq!(now.usable.len(), 2);
    }
}
