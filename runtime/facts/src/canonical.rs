//! Canonical paths (spec 06 section 2.3).
//!
//! Everything that decides about files compares canonical paths, so the only way to get a
//! [`CanonicalPath`] is to walk the file system here.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Symbolic links followed in one resolution before it fails.
pub const MAX_SYMLINKS: usize = 40;

/// Longest path text that is looked at, in bytes. Twice the kernel's own bound leaves room for a
/// working directory and a relative rest that are each acceptable alone.
pub const MAX_PATH_BYTES: usize = 8192;

/// An absolute path without `.`, `..`, repeated slashes or symbolic links.
///
/// Made only by [`canonical`] and [`canonical_or_parent`]; with the latter a tail of components may
/// not exist yet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalPath(PathBuf);

impl CanonicalPath {
    /// The root directory, which is canonical by definition.
    pub fn root() -> Self {
        Self(PathBuf::from("/"))
    }

    /// The path for file operations.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The raw bytes, always starting with `/`.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_os_str().as_bytes()
    }

    /// The text, when it is valid UTF-8.
    pub fn to_str(&self) -> Option<&str> {
        self.0.to_str()
    }

    /// Whether `other` is this path or lies beneath it, by whole components and byte for byte.
    pub fn contains(&self, other: &CanonicalPath) -> bool {
        is_within(self.as_bytes(), other.as_bytes())
    }

    /// The directory that holds this path; `None` for `/`. A prefix of a canonical path is
    /// canonical.
    pub fn parent(&self) -> Option<CanonicalPath> {
        self.0.parent().map(|parent| Self(parent.to_path_buf()))
    }

    /// This path and every directory above it, the longest first.
    pub fn ancestors(&self) -> impl Iterator<Item = &Path> {
        self.0.ancestors()
    }

    /// Number of components below `/`.
    pub fn depth(&self) -> usize {
        self.as_bytes()
            .split(|byte| *byte == b'/')
            .filter(|part| !part.is_empty())
            .count()
    }
}

impl AsRef<Path> for CanonicalPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Debug for CanonicalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether the canonical path `path` is `root` or lies beneath it (both as bytes).
pub fn is_within(root: &[u8], path: &[u8]) -> bool {
    if root == b"/" {
        return path.first() == Some(&b'/');
    }
    match path.strip_prefix(root) {
        Some(rest) => rest.is_empty() || rest.first() == Some(&b'/'),
        None => false,
    }
}

/// Why a path has no canonical form. Such a path is outside every root.
#[derive(Debug, thiserror::Error)]
pub enum CanonicalError {
    /// Only absolute paths can be resolved.
    #[error("the path is not absolute")]
    Relative,
    /// A path can not hold a NUL byte.
    #[error("the path holds a NUL byte")]
    Nul,
    /// Longer than [`MAX_PATH_BYTES`].
    #[error("the path is longer than {MAX_PATH_BYTES} bytes")]
    TooLong,
    /// More than [`MAX_SYMLINKS`] links, a loop included.
    #[error("too many symbolic links")]
    TooManyLinks,
    /// A component does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// Something that is not a directory stands where one is needed.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The host refused to say (no permission, for instance).
    #[error("{} can not be examined: {source}", path.display())]
    Io {
        /// The component that was looked at.
        path: PathBuf,
        /// The host's answer.
        source: io::Error,
    },
}

/// A canonical path together with whether it exists now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The canonical path.
    pub path: CanonicalPath,
    /// False when a tail of components is missing.
    pub exists: bool,
}

/// The canonical form of an existing path, as `realpath(3)` finds it.
pub fn canonical(path: impl AsRef<Path>) -> Result<CanonicalPath, CanonicalError> {
    walk(path.as_ref(), Tail::MustExist).map(|located| located.path)
}

/// The canonical form of a path of which a tail may be missing.
///
/// A dangling link counts as existing: its target is followed, so that a file that a write through
/// the link would create is judged where it would appear. `..` is applied after resolution.
pub fn canonical_or_parent(path: impl AsRef<Path>) -> Result<CanonicalPath, CanonicalError> {
    locate(path).map(|located| located.path)
}

/// [`canonical_or_parent`], saying whether the whole path exists.
pub fn locate(path: impl AsRef<Path>) -> Result<Located, CanonicalError> {
    walk(path.as_ref(), Tail::MayBeMissing)
}

/// The canonical form of an existing path and every symbolic link that led to it, in the order met.
/// Each link is named by the canonical path of its folder and its own name.
pub fn canonical_with_links(
    path: impl AsRef<Path>,
) -> Result<(CanonicalPath, Vec<PathBuf>), CanonicalError> {
    let mut walk = Walk::new(path.as_ref())?;
    walk.run(Tail::MustExist)?;
    Ok((CanonicalPath(walk.resolved), walk.links))
}

/// Whether `path` lies in `root` once both are resolved. A path that can not be resolved is in no
/// root.
pub fn contains(root: impl AsRef<Path>, path: impl AsRef<Path>) -> bool {
    match (canonical_or_parent(root), canonical_or_parent(path)) {
        (Ok(root), Ok(path)) => root.contains(&path),
        _ => false,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    MustExist,
    MayBeMissing,
}

/// State of one resolution.
struct Walk {
    /// Resolved so far; never ends with a slash except as `/`.
    resolved: PathBuf,
    /// Components still to be applied, next first. An empty one is a doubled or trailing slash.
    pending: VecDeque<OsString>,
    /// How many components at the end of `resolved` do not exist.
    missing: usize,
    /// The last component is known not to be a directory.
    not_a_directory: bool,
    /// Links followed so far.
    links: Vec<PathBuf>,
}

fn walk(path: &Path, tail: Tail) -> Result<Located, CanonicalError> {
    let mut walk = Walk::new(path)?;
    walk.run(tail)?;
    Ok(Located {
        exists: walk.missing == 0,
        path: CanonicalPath(walk.resolved),
    })
}

impl Walk {
    fn new(path: &Path) -> Result<Self, CanonicalError> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.first() != Some(&b'/') {
            return Err(CanonicalError::Relative);
        }
        if bytes.contains(&0) {
            return Err(CanonicalError::Nul);
        }
        if bytes.len() > MAX_PATH_BYTES {
            return Err(CanonicalError::TooLong);
        }
        Ok(Self {
            resolved: PathBuf::from("/"),
            pending: components(bytes).collect(),
            missing: 0,
            not_a_directory: false,
            links: Vec::new(),
        })
    }

    fn run(&mut self, tail: Tail) -> Result<(), CanonicalError> {
        while let Some(component) = self.pending.pop_front() {
            self.step(&component, tail)?;
        }
        Ok(())
    }

    fn step(&mut self, component: &OsStr, tail: Tail) -> Result<(), CanonicalError> {
        // Anything behind a plain file, a trailing slash included, can only be missing.
        if self.not_a_directory && tail == Tail::MustExist {
            return Err(CanonicalError::NotADirectory(self.resolved.clone()));
        }
        match component.as_bytes() {
            b"" | b"." => Ok(()),
            b".." => {
                self.resolved.pop();
                self.missing = self.missing.saturating_sub(1);
                self.not_a_directory = false;
                Ok(())
            }
            _ => self.descend(component, tail),
        }
    }

    fn descend(&mut self, name: &OsStr, tail: Tail) -> Result<(), CanonicalError> {
        let below_nothing = self.missing > 0 || self.not_a_directory;
        self.resolved.push(name);
        if below_nothing {
            self.missing += 1;
            self.not_a_directory = false;
            return Ok(());
        }
        match std::fs::symlink_metadata(&self.resolved) {
            Ok(meta) if meta.file_type().is_symlink() => self.follow(),
            Ok(meta) => {
                self.not_a_directory = !meta.is_dir();
                Ok(())
            }
            Err(error) => self.absent(error, tail),
        }
    }

    fn absent(&mut self, source: io::Error, tail: Tail) -> Result<(), CanonicalError> {
        let path = || self.resolved.clone();
        match (source.kind(), tail) {
            (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, Tail::MayBeMissing) => {
                self.missing = 1;
                Ok(())
            }
            (io::ErrorKind::NotFound, Tail::MustExist) => Err(CanonicalError::Missing(path())),
            (io::ErrorKind::NotADirectory, Tail::MustExist) => {
                Err(CanonicalError::NotADirectory(path()))
            }
            _ => Err(CanonicalError::Io {
                path: path(),
                source,
            }),
        }
    }

    /// Replaces the link at the end of `resolved` by its target.
    fn follow(&mut self) -> Result<(), CanonicalError> {
        if self.links.len() == MAX_SYMLINKS {
            return Err(CanonicalError::TooManyLinks);
        }
        self.links.push(self.resolved.clone());
        let target = match std::fs::read_link(&self.resolved) {
            Ok(target) => target.into_os_string().into_vec(),
            Err(source) => {
                return Err(CanonicalError::Io {
                    path: self.resolved.clone(),
                    source,
                });
            }
        };
        if target.first() == Some(&b'/') {
            self.resolved = PathBuf::from("/");
        } else {
            self.resolved.pop();
        }
        for component in components(&target).collect::<Vec<_>>().into_iter().rev() {
            self.pending.push_front(component);
        }
        Ok(())
    }
}

/// The text between slashes, empty pieces included (a leading slash gives none).
fn components(bytes: &[u8]) -> impl Iterator<Item = OsString> + '_ {
    bytes
        .strip_prefix(b"/")
        .unwrap_or(bytes)
        .split(|byte| *byte == b'/')
        .map(|part| OsStr::from_bytes(part).to_os_string())
}

#[cfg(test)]
#[path = "canonical_tests.rs"]
mod tests;
