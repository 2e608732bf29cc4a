//! Trust and stability of a located file (spec 06 sections 3.2, 3.3).

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};

use crate::canonical::CanonicalPath;

/// Bits that let others than the owner write.
const SHARED_WRITE: u32 = 0o022;
/// Set-user-id and set-group-id.
const SET_ID: u32 = 0o6000;

/// Whether this process, with its effective ids, may access a path.
pub(crate) fn may(path: &Path, access: AccessFlags) -> bool {
    faccessat(AT_FDCWD, path, access, AtFlags::AT_EACCESS).is_ok()
}

/// Directories and ids that trust is judged by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ground {
    /// Effective uid of the runtime.
    pub(crate) uid: u32,
    /// Canonical declared trusted roots.
    pub(crate) trusted_roots: Vec<CanonicalPath>,
    /// Canonical write roots of the runtime.
    pub(crate) write_roots: Vec<CanonicalPath>,
    /// Directories that a session may change.
    pub(crate) session: Vec<CanonicalPath>,
}

/// The conditions of trust one by one (spec 06 section 3.2). T6 has no place here: a wrong digest is
/// a failure and never merely "not trusted".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustConditions {
    /// T1: a trusted alias, or inside a declared trusted root.
    pub named: bool,
    /// T2: only its owner may write it.
    pub owner_writes: bool,
    /// T3: the owner is root or the runtime's user.
    pub owned: bool,
    /// T4: no set-id bits and no file capabilities.
    pub plain: bool,
    /// T5: not modifiable, or pinned.
    pub fixed: bool,
}

impl TrustConditions {
    /// Whether all hold.
    pub const fn all(self) -> bool {
        self.named && self.owner_writes && self.owned && self.plain && self.fixed
    }
}

/// Facts that trust and stability are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) trusted: bool,
    pub(crate) conditions: TrustConditions,
    pub(crate) stable: bool,
    pub(crate) modifiable: bool,
    pub(crate) set_id: bool,
}

/// What a declaration says about the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Alias with `trusted="true"`.
    pub(crate) trusted: bool,
    /// Alias with a digest.
    pub(crate) pinned: bool,
}

impl Ground {
    /// Judges an open file. A wrong digest (T6) is an error elsewhere, never merely "not trusted".
    pub(crate) fn judge(
        &self,
        path: &CanonicalPath,
        file: &File,
        meta: &Metadata,
        claim: Claim,
    ) -> Standing {
        let mode = meta.mode();
        let set_id = mode & SET_ID != 0 || has_capabilities(file);
        let modifiable = self.modifiable(path);
        let named = claim.trusted || self.in_trusted_root(path.as_path());
        let conditions = TrustConditions {
            named,
            owner_writes: mode & SHARED_WRITE == 0,
            owned: meta.uid() == 0 || meta.uid() == self.uid,
            plain: !set_id,
            fixed: !modifiable || claim.pinned,
        };
        let trusted = conditions.all();
        let fixed = meta.uid() == 0 && mode & SHARED_WRITE == 0 && !modifiable;
        let stable = trusted || (fixed && self.fixed_folder(path.as_path().parent()));
        Standing {
            trusted,
            conditions,
            stable,
            modifiable,
            set_id,
        }
    }

    /// Whether a located path lies in a declared trusted root.
    pub(crate) fn in_trusted_root(&self, path: &Path) -> bool {
        self.trusted_roots
            .iter()
            .any(|root| path.starts_with(root.as_path()))
    }

    /// T5: it lies in a write root and the runtime may write it or a folder between.
    pub(crate) fn modifiable(&self, path: &CanonicalPath) -> bool {
        let mut roots = self.write_roots.iter().filter(|root| root.contains(path));
        roots.any(|root| {
            let between = path
                .ancestors()
                .take_while(|above| above.starts_with(root.as_path()));
            between
                .into_iter()
                .any(|above| may(above, AccessFlags::W_OK))
        })
    }

    /// Whether only root can change what stands in a folder, and it is not one of the session's.
    pub(crate) fn fixed_folder(&self, folder: Option<&Path>) -> bool {
        let Some(folder) = folder else { return true };
        let own = self
            .session
            .iter()
            .any(|dir| folder.starts_with(dir.as_path()));
        let writable_root = self.write_roots.iter().any(|root| {
            folder.starts_with(root.as_path())
                && folder
                    .ancestors()
                    .take_while(|above| above.starts_with(root.as_path()))
                    .any(|above| may(above, AccessFlags::W_OK))
        });
        !own && !writable_root && folder.ancestors().all(only_root_writes)
    }

    /// Whether the folder of each symbolic link is fixed.
    pub(crate) fn judge_links(&self, links: &[PathBuf]) -> Vec<(PathBuf, bool)> {
        let judged = links
            .iter()
            .map(|link| (link.clone(), self.fixed_folder(link.parent())));
        judged.collect()
    }
}

fn only_root_writes(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder)
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == 0 && meta.mode() & SHARED_WRITE == 0)
}

/// File capabilities, asked through the held descriptor. A host that can not say counts as having
/// them, unless its file system has no attributes at all.
fn has_capabilities(file: &File) -> bool {
    use xattr::FileExt as _;
    match file.get_xattr("security.capability") {
        Ok(found) => found.is_some(),
        Err(error) => error.kind() != std::io::ErrorKind::Unsupported,
    }
}
