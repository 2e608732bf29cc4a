//! Facts about the host that a sandbox plan depends on (spec 06b B1.3, B2.2, B2.4).

mod control;
mod namespaces;
mod state;
mod wrapper;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chatmd_plan::facts::{Mask, NodeKind, SystemFacts, SystemRoot, SystemRootKind};

use crate::canonical::canonical;

pub(crate) use control::git_directories;
pub use control::{ControlInput, control_paths};
pub use namespaces::namespace_obstacle;
pub use state::{audit_file, state_path};
pub use wrapper::{MAX_READ, Wrapper, WrapperError, find_wrapper};

/// System folders in the order of row 10.
const SYSTEM_ROOTS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc"];
/// Package stores that are shown when the executable lies in one.
const STORES: [&str; 2] = ["/nix/store", "/gnu/store"];
/// Files that are masked for every uid, where they exist (row 11).
const MASKED_FILES: [&str; 6] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/krb5.keytab",
];
/// Folders that are masked for every uid, where they exist.
const MASKED_FOLDERS: [&str; 2] = ["/etc/sudoers.d", "/etc/ssl/private"];

/// Most entries of `/etc` that are looked at, and most that are masked. A host beyond that is
/// refused rather than half masked.
const MAX_ENTRIES: usize = 200_000;
const MAX_MASKS: usize = 1_500;

/// Facts that can not be collected.
#[derive(Debug, thiserror::Error)]
pub enum SandboxFactsError {
    /// `/etc` can not be walked.
    #[error("{path} can not be listed: {source}", path = .path.display())]
    Unreadable {
        /// Folder.
        path: PathBuf,
        /// The host's answer.
        source: io::Error,
    },
    /// More private files than a plan can mask.
    #[error("/etc holds more private files than a sandbox can cover")]
    TooMany,
}

/// Collects what is the same for every runtime of this process.
pub fn system_facts() -> Result<SystemFacts, SandboxFactsError> {
    facts_for(nix::unistd::geteuid().is_root(), Path::new("/etc"))
}

fn facts_for(uid_zero: bool, etc: &Path) -> Result<SystemFacts, SandboxFactsError> {
    Ok(SystemFacts {
        system_roots: SYSTEM_ROOTS
            .iter()
            .filter_map(|path| system_root(Path::new(path)))
            .collect(),
        stores: STORES
            .iter()
            .map(PathBuf::from)
            .filter(|path| path.is_dir())
            .collect(),
        masks: masks(uid_zero, etc)?,
        resolv_conf: resolv_conf(Path::new("/etc/resolv.conf")),
        uid_zero,
    })
}

fn system_root(path: &Path) -> Option<SystemRoot> {
    let meta = fs::symlink_metadata(path).ok()?;
    let kind = if meta.file_type().is_symlink() {
        SystemRootKind::Symlink(fs::read_link(path).ok()?)
    } else if meta.is_dir() {
        SystemRootKind::Directory
    } else {
        return None;
    };
    Some(SystemRoot {
        path: path.to_path_buf(),
        kind,
    })
}

/// Target of the resolver configuration when a bind of `/etc` does not already show it.
fn resolv_conf(path: &Path) -> Option<PathBuf> {
    let target = canonical(path).ok()?;
    (!target.as_path().starts_with("/etc")).then(|| target.as_path().to_path_buf())
}

/// The fixed list, and for uid 0 every entry that others may not read: inside, uid 0 passes the
/// modes that protect it on the host.
fn masks(uid_zero: bool, etc: &Path) -> Result<Vec<Mask>, SandboxFactsError> {
    let mut found = Vec::new();
    let fixed = MASKED_FILES.iter().chain(&MASKED_FOLDERS).map(Path::new);
    for path in fixed {
        // A link in the place of one is judged at its target, by the walk or by its own entry.
        if let Ok(meta) = fs::symlink_metadata(path)
            && !meta.file_type().is_symlink()
        {
            found.push(mask(path.to_path_buf(), meta.is_dir()));
        }
    }
    if uid_zero {
        private_entries(etc, &mut found)?;
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    // What lies in a masked folder is masked already.
    let mut outermost: Vec<Mask> = Vec::with_capacity(found.len());
    for mask in found {
        let inside = outermost.last().is_some_and(|above| {
            above.kind == NodeKind::Directory && mask.path.starts_with(&above.path)
        });
        if !inside {
            outermost.push(mask);
        }
    }
    if outermost.len() > MAX_MASKS {
        return Err(SandboxFactsError::TooMany);
    }
    Ok(outermost)
}

fn mask(path: PathBuf, is_folder: bool) -> Mask {
    Mask {
        path,
        kind: if is_folder {
            NodeKind::Directory
        } else {
            NodeKind::File
        },
    }
}

/// Walks without following links and without entering what is masked.
fn private_entries(top: &Path, found: &mut Vec<Mask>) -> Result<(), SandboxFactsError> {
    let mut folders = vec![top.to_path_buf()];
    let mut seen = 0_usize;
    while let Some(folder) = folders.pop() {
        let unreadable = |source| SandboxFactsError::Unreadable {
            path: folder.clone(),
            source,
        };
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            seen += 1;
            if seen > MAX_ENTRIES {
                return Err(SandboxFactsError::TooMany);
            }
            // The listing itself says what is a link; only where it does not is the entry asked.
            if entry.file_type().map_err(unreadable)?.is_symlink() {
                continue;
            }
            // Relative to the open folder, so its path is not walked once for every entry.
            let meta = match entry.metadata() {
                Ok(meta) => meta,
                // Removed between the two looks.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => {
                    let path = entry.path();
                    return Err(SandboxFactsError::Unreadable { path, source });
                }
            };
            let others = meta.permissions().mode() & 0o007;
            if meta.is_dir() {
                if others & 0o005 == 0o005 {
                    folders.push(entry.path());
                } else {
                    found.push(mask(entry.path(), true));
                }
            } else if !meta.file_type().is_symlink() && others & 0o004 == 0 {
                found.push(mask(entry.path(), false));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
