//! Capability roots: frozen when a runtime is made, asked again at each check
//! (spec 06 section 2.4).

use std::path::Path;

use chatmd_compiler::manifest::{BoundRoots, Capabilities, PathBase, Root};
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

/// Resolves and freezes the roots. Every failure is reported, not the first alone. Runtimes that
/// will run get their roots from [`freeze_bound`] alone.
pub(crate) fn freeze(
    host: &Host,
    capabilities: &Capabilities,
) -> Result<FrozenRoots, Vec<FactsError>> {
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

/// The same for a runtime that will run: every root must be where its binding says
/// (spec 04 section 9, rule 8). A folder that was replaced by a link between the binding and this
/// moment would otherwise lead to a place that nobody authorised.
pub fn freeze_bound(
    host: &Host,
    capabilities: &Capabilities,
    bound: &BoundRoots,
) -> Result<FrozenRoots, Vec<FactsError>> {
    let frozen = freeze(host, capabilities)?;
    let session = host.directory(PathBase::SessionDir, None).ok();
    let sides = [(&frozen.read, &bound.read), (&frozen.write, &bound.write)];
    let strays = sides.into_iter().flat_map(|(now, bound)| {
        let allowed: std::collections::HashSet<&Path> = bound.iter().map(Path::new).collect();
        now.iter()
            .filter(move |root| !allowed.contains(root.as_path()))
    });
    // Session folders are not bound; they belong to the running session wherever it lies.
    let errors: Vec<FactsError> = strays
        .filter(|root| !session.as_ref().is_some_and(|own| own.contains(root)))
        .map(|root| FactsError::RootChanged(root.as_path().to_path_buf()))
        .collect();
    if errors.is_empty() {
        Ok(frozen)
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
        Root::PathEnv { name, optional } => match host.path_variables().get(name) {
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
    fn a_root_that_leads_elsewhere_than_its_binding_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        for name in ["read", "write", "secret", "session"] {
            fs::create_dir(base.join(name)).unwrap();
        }
        let host = Host::new(HostInput {
            directories: [(PathBase::SessionDir, base.join("session"))].into(),
            ..HostInput::default()
        });
        let session = Root::Path {
            path: manifest::Path {
                base: PathBase::SessionDir,
                path: "scratch".to_owned(),
                source: None,
            },
        };
        let declared = capabilities(
            vec![absolute(&base.join("read"))],
            vec![absolute(&base.join("write")), session],
        );
        let text = |name: &str| base.join(name).to_str().unwrap().to_owned();
        let bound = BoundRoots {
            runtime: "r".to_owned(),
            read: vec![text("read")],
            write: vec![text("write"), "${session_dir}/scratch".to_owned()],
        };
        let frozen = freeze_bound(&host, &declared, &bound).unwrap();
        assert_eq!(frozen.write[1].as_path(), base.join("session/scratch"));
        for name in ["read", "write"] {
            fs::remove_dir(base.join(name)).unwrap();
            symlink("secret", base.join(name)).unwrap();
            let errors = freeze_bound(&host, &declared, &bound).unwrap_err();
            assert_eq!(
                errors,
                [FactsError::RootChanged(base.join("secret"))],
                "{name}"
            );
            assert_eq!(errors[0].code(), "shell.manifest_grant_mismatch");
            fs::remove_file(base.join(name)).unwrap();
            fs::create_dir(base.join(name)).unwrap();
        }
        // A place that is a root of the other kind is no excuse.
        fs::remove_dir(base.join("write")).unwrap();
        symlink("read", base.join("write")).unwrap();
        assert!(freeze_bound(&host, &declared, &bound).is_err());
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
