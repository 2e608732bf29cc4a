//! Capability roots as mounts (spec 06b B2.4 rules 1 to 3, 5).

use std::path::{Path, PathBuf};

use crate::error::PlanError;
use crate::facts::{Access, Presence, Root, within};

/// Roots in mounting order, shadows removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootMounts {
    /// Sorted by number of components, then bytes; `/` is not among them.
    pub mounts: Vec<(PathBuf, Access)>,
    /// Access to `/` when it is a root.
    pub slash: Option<Access>,
    /// Write roots that must be created (mode 0o755 less the umask) before the sandbox is set up.
    pub create: Vec<PathBuf>,
}

/// Collects roots: a path declared both ways is writable, a read root beneath a write root adds
/// nothing, a missing read root is left out.
pub fn collect(roots: &[Root]) -> Result<RootMounts, PlanError> {
    let mut sorted: Vec<&Root> = roots.iter().collect();
    // By path, the writable one first where both exist.
    sorted.sort_by(|a, b| a.path.cmp(&b.path).then(b.access.cmp(&a.access)));
    sorted.dedup_by(|later, first| later.path == first.path);
    let mut found = RootMounts::default();
    // Sorted by components, a folder stands before everything beneath it, so the write roots above
    // the current entry form a stack.
    let mut writable_above: Vec<&Path> = Vec::new();
    for root in sorted {
        while writable_above
            .last()
            .is_some_and(|above| !within(above, &root.path))
        {
            writable_above.pop();
        }
        if root.access == Access::Read && !writable_above.is_empty() {
            continue;
        }
        if root.access == Access::Write {
            check_writable(root)?;
            writable_above.push(&root.path);
        }
        match (root.access, root.presence) {
            (Access::Read, Presence::MissingLeaf | Presence::MissingParent) => continue,
            (Access::Write, Presence::MissingLeaf) => found.create.push(root.path.clone()),
            _ => {}
        }
        if root.path == Path::new("/") {
            found.slash = Some(root.access);
        } else {
            found.mounts.push((root.path.clone(), root.access));
        }
    }
    found.mounts.sort_by(|(a, _), (b, _)| mount_order(a, b));
    Ok(found)
}

/// Order of mounts: fewer components first, then bytes.
pub fn mount_order(a: &Path, b: &Path) -> std::cmp::Ordering {
    let depth = |path: &Path| path.components().count();
    depth(a)
        .cmp(&depth(b))
        .then_with(|| a.as_os_str().cmp(b.as_os_str()))
}

fn check_writable(root: &Root) -> Result<(), PlanError> {
    if root.presence == Presence::MissingParent {
        return Err(PlanError::WriteRootUnavailable(root.path.clone()));
    }
    for kernel in ["/proc", "/sys"] {
        if within(Path::new(kernel), &root.path) {
            return Err(PlanError::KernelWriteRoot(root.path.clone()));
        }
    }
    Ok(())
}

impl RootMounts {
    /// Access of the deepest root that holds `path`.
    pub fn access(&self, path: &Path) -> Option<Access> {
        self.covering(path).map(|(_, access)| access)
    }

    /// The deepest root that holds `path`.
    pub fn covering(&self, path: &Path) -> Option<(&Path, Access)> {
        let deepest = path.ancestors().find_map(|above| {
            let index = self.position(above)?;
            self.mounts
                .get(index)
                .map(|(root, access)| (root.as_path(), *access))
        });
        deepest.or(self.slash.map(|access| (Path::new("/"), access)))
    }

    /// Whether `path` itself is a declared root.
    pub fn is_root(&self, path: &Path) -> bool {
        self.position(path).is_some()
    }

    fn position(&self, path: &Path) -> Option<usize> {
        self.mounts
            .binary_search_by(|(root, _)| mount_order(root, path))
            .ok()
    }
}

/// Whether a working directory can be entered inside: it lies in a declared root
/// (`shell.cwd_unreachable` otherwise).
pub fn cwd_reachable(roots: &[Root], cwd: &Path) -> bool {
    roots.iter().any(|root| within(&root.path, cwd))
}

#[cfg(test)]
#[path = "roots_tests.rs"]
mod tests;
