//! What a plan needs to know about the host. Filled by `chatmd-facts`, read by nobody else's I/O.

use std::path::{Path, PathBuf};

/// A system folder that every sandbox shows read-only (spec 06b B2.2 row 10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemRoot {
    /// Absolute path such as `/usr`.
    pub path: PathBuf,
    /// Whether it is a folder or a link to one.
    pub kind: SystemRootKind,
}

/// How a system root stands on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemRootKind {
    /// A folder.
    Directory,
    /// A symbolic link with this target text.
    Symlink(PathBuf),
}

/// A file or folder that must not be readable inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    /// Absolute path; no symbolic link.
    pub path: PathBuf,
    /// Decides what covers it.
    pub kind: NodeKind,
}

/// File or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Anything that is not a folder.
    File,
    /// A folder.
    Directory,
}

/// Facts about the host that are the same for every runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemFacts {
    /// Existing ones of `/usr /bin /sbin /lib /lib32 /lib64 /etc`, in that order.
    pub system_roots: Vec<SystemRoot>,
    /// Existing ones of `/nix/store`, `/gnu/store`.
    pub stores: Vec<PathBuf>,
    /// Private files of `/etc` that exist (row 11).
    pub masks: Vec<Mask>,
    /// Resolved `/etc/resolv.conf`, when that lies outside `/etc` and exists (row 12).
    pub resolv_conf: Option<PathBuf>,
    /// Effective uid of the runtime is 0.
    pub uid_zero: bool,
}

/// A capability root with what is known about it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Canonical path, frozen at materialisation.
    pub path: PathBuf,
    /// Declared access.
    pub access: Access,
    /// What stands there.
    pub presence: Presence,
}

/// Declared access of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

/// What stands at a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// A folder.
    Directory,
    /// Anything else that exists.
    File,
    /// Nothing, but the folder that would hold it exists.
    MissingLeaf,
    /// Nothing, and its parent is missing too.
    MissingParent,
}

/// A path inside a root that needs more than the root's own access (B2.4 rule 6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPath {
    /// Canonical path of the thing itself.
    pub path: PathBuf,
    /// What stands there now.
    pub state: ControlState,
}

/// What stands at a control path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlState {
    /// An ordinary file or folder; it can be bound read-only.
    Present,
    /// A symbolic link: the link can be replaced inside a writable folder.
    Symlink,
    /// Missing: it can not be bound without leaving a trace.
    Missing,
}

/// The runtime's own state below roots (B2.4 rule 6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePath {
    /// Canonical path of something that exists.
    pub path: PathBuf,
    /// How it is protected.
    pub protection: StateProtection,
}

/// How runtime state is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateProtection {
    /// Covered: an empty read-only folder or an unreadable file.
    Mask(NodeKind),
    /// Shown read-only over itself (an audit log below a root).
    ReadOnly,
}

/// A file whose verified bytes must be what runs (spec 06 section 3.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Path as located, before links were resolved.
    pub located: PathBuf,
    /// Canonical path.
    pub canonical: PathBuf,
    /// Stable in the sense of spec 06 section 3.3.
    pub stable: bool,
    /// Size in bytes at fingerprinting.
    pub size: u64,
    /// Every symbolic link met on `located`, in the order met.
    pub links: Vec<Link>,
}

/// A symbolic link on the way to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where the link itself stands: canonical folder and name.
    pub path: PathBuf,
    /// The folder that holds it is stable, so nobody without root can switch it.
    pub stable: bool,
}

/// Largest unstable file that is copied into sealed memory before it runs, in bytes.
pub const SEALED_COPY_MAX: u64 = 64 * 1024 * 1024;

/// Verification level under bubblewrap (spec 06 section 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// G1: a sealed copy of the hashed bytes.
    Sealed,
    /// G2: the held descriptor of the verified inode.
    Held,
}

impl Target {
    /// Level at which this file is run under bubblewrap.
    pub fn level(&self) -> Level {
        if !self.stable && self.size <= SEALED_COPY_MAX {
            Level::Sealed
        } else {
            Level::Held
        }
    }
}

/// Whether `path` is `root` or beneath it, by whole components. Both must be normal.
pub fn within(root: &Path, path: &Path) -> bool {
    path.starts_with(root)
}
