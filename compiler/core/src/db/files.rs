//! Where file contents come from: the real file system, a map in memory, or either of them below
//! the unsaved buffers of an editor.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// Largest document or script file that is read, in bytes (spec 01 section 20).
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Why a file has no content. A value like any other: it is cached, compared and reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LoadError {
    /// Nothing exists at that path.
    #[error("the file does not exist")]
    NotFound,
    /// The process may not read it.
    #[error("permission denied")]
    PermissionDenied,
    /// A directory.
    #[error("it is a directory")]
    Directory,
    /// A device, socket, pipe or another thing without fixed content.
    #[error("it is not a regular file")]
    NotRegular,
    /// Symbolic links that lead back to themselves.
    #[error("its symbolic links form a loop")]
    LinkLoop,
    /// The canonical path is not UTF-8.
    #[error("its real path is not valid UTF-8")]
    PathNotUtf8,
    /// More bytes than the limit of the file system in use.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The file system in use does not look there: an editor's workspace is not trusted.
    #[error("it lies outside the folders of a workspace that is not trusted")]
    Restricted,
    /// Any other failure of the operating system.
    #[error("it cannot be read ({0})")]
    Other(std::io::ErrorKind),
}

impl LoadError {
    /// The error for what the operating system said.
    pub fn from_io(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Self::NotFound,
            std::io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            std::io::ErrorKind::IsADirectory => Self::Directory,
            kind if format!("{kind:?}") == "FilesystemLoop" => Self::LinkLoop,
            kind => Self::Other(kind),
        }
    }
}

/// Identity of a file beyond its name, where the system has one: two names of one file share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileIdentity {
    /// Device number.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
}

/// A file that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Absolute path without symbolic links.
    pub canonical: Utf8PathBuf,
    /// Device and inode, where available.
    pub identity: Option<FileIdentity>,
}

/// The only way in for file contents.
///
/// Paths are absolute and lexically normalised. Implementations never write, never execute, and
/// answer the same question with the same answer until the database is told of a change.
pub trait FileSystem: Send + Sync + 'static {
    /// Finds a regular file, following symbolic links.
    fn locate(&self, path: &Utf8Path) -> Result<Located, LoadError>;

    /// All bytes of a file found by [`FileSystem::locate`].
    fn read(&self, canonical: &Utf8Path) -> Result<Arc<[u8]>, LoadError>;
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug)]
pub struct OsFileSystem {
    max_bytes: u64,
}

impl Default for OsFileSystem {
    fn default() -> Self {
        Self {
            max_bytes: MAX_FILE_BYTES,
        }
    }
}

impl OsFileSystem {
    /// Refuses files above `max_bytes`; values above [`MAX_FILE_BYTES`] mean that limit.
    pub fn with_limit(max_bytes: u64) -> Self {
        Self {
            max_bytes: max_bytes.min(MAX_FILE_BYTES),
        }
    }
}

fn regular(metadata: &std::fs::Metadata) -> Result<(), LoadError> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(LoadError::Directory)
    } else {
        Err(LoadError::NotRegular)
    }
}

#[cfg(unix)]
fn identity(metadata: &std::fs::Metadata) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt as _;
    Some(FileIdentity {
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}

#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> Option<FileIdentity> {
    None
}

impl FileSystem for OsFileSystem {
    fn locate(&self, path: &Utf8Path) -> Result<Located, LoadError> {
        let io = |error: std::io::Error| LoadError::from_io(&error);
        let canonical = std::fs::canonicalize(path).map_err(io)?;
        let metadata = std::fs::metadata(&canonical).map_err(io)?;
        regular(&metadata)?;
        let canonical =
            Utf8PathBuf::from_path_buf(canonical).map_err(|_| LoadError::PathNotUtf8)?;
        Ok(Located {
            canonical,
            identity: identity(&metadata),
        })
    }

    fn read(&self, canonical: &Utf8Path) -> Result<Arc<[u8]>, LoadError> {
        let io = |error: std::io::Error| LoadError::from_io(&error);
        // Looked at before opening as well: opening a pipe would wait for a writer.
        regular(&std::fs::metadata(canonical).map_err(io)?)?;
        let file = std::fs::File::open(canonical).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        regular(&metadata)?;
        let too_large = LoadError::TooLarge {
            limit: self.max_bytes,
        };
        if metadata.len() > self.max_bytes {
            return Err(too_large);
        }
        let mut file = file.take(self.max_bytes + 1);
        let bytes = read_whole(&mut file, metadata.len()).map_err(io)?;
        if bytes.len() as u64 > self.max_bytes {
            return Err(too_large);
        }
        Ok(bytes)
    }
}

/// Reads to the end, straight into shared memory when `length` turns out to be right: no second
/// copy of a large file.
fn read_whole(file: &mut impl std::io::Read, length: u64) -> std::io::Result<Arc<[u8]>> {
    let length = usize::try_from(length).unwrap_or(0);
    let mut shared: Arc<[u8]> = std::iter::repeat_n(0, length).collect();
    let mut read = 0;
    if let Some(place) = Arc::get_mut(&mut shared) {
        while let Some(rest) = place.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match file.read(rest) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    let mut more = Vec::new();
    file.read_to_end(&mut more)?;
    if read == length && more.is_empty() {
        return Ok(shared);
    }
    let mut bytes = shared.get(..read).unwrap_or_default().to_vec();
    bytes.extend_from_slice(&more);
    Ok(bytes.into())
}

/// Files in memory, for tests and for callers that hold their sources already.
#[derive(Clone, Debug, Default)]
pub struct MemoryFileSystem {
    files: BTreeMap<Utf8PathBuf, Arc<[u8]>>,
}

impl MemoryFileSystem {
    /// Adds or replaces a file. The path is normalised; it should be absolute.
    pub fn insert(&mut self, path: impl AsRef<Utf8Path>, bytes: impl Into<Arc<[u8]>>) {
        self.files.insert(normalize(path.as_ref()), bytes.into());
    }
}

impl<P: AsRef<Utf8Path>, B: Into<Arc<[u8]>>> FromIterator<(P, B)> for MemoryFileSystem {
    fn from_iter<I: IntoIterator<Item = (P, B)>>(files: I) -> Self {
        let mut memory = Self::default();
        for (path, bytes) in files {
            memory.insert(path, bytes);
        }
        memory
    }
}

impl FileSystem for MemoryFileSystem {
    fn locate(&self, path: &Utf8Path) -> Result<Located, LoadError> {
        let canonical = normalize(path);
        if self.files.contains_key(&canonical) {
            return Ok(Located {
                canonical,
                identity: None,
            });
        }
        let below = self.files.keys().any(|file| file.starts_with(&canonical));
        Err(if below {
            LoadError::Directory
        } else {
            LoadError::NotFound
        })
    }

    fn read(&self, canonical: &Utf8Path) -> Result<Arc<[u8]>, LoadError> {
        let bytes = self.files.get(canonical).ok_or(LoadError::NotFound)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(LoadError::TooLarge {
                limit: MAX_FILE_BYTES,
            });
        }
        Ok(Arc::clone(bytes))
    }
}

/// Removes `.` and resolves `..` by name alone; `..` at the root of an absolute path vanishes, at
/// the start of a relative one it stays.
pub fn normalize(path: &Utf8Path) -> Utf8PathBuf {
    let mut parts: Vec<Utf8Component<'_>> = Vec::new();
    for component in path.components() {
        match component {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => match parts.last() {
                Some(Utf8Component::Normal(_)) => {
                    parts.pop();
                }
                Some(Utf8Component::RootDir | Utf8Component::Prefix(_)) => {}
                _ => parts.push(component),
            },
            _ => parts.push(component),
        }
    }
    parts.iter().collect()
}

/// `path` as seen from the directory `base`, with `/` separators. Both absolute and normalised.
pub fn relative_to(path: &Utf8Path, base: &Utf8Path) -> String {
    let path_parts: Vec<_> = path.components().collect();
    let base_parts: Vec<_> = base.components().collect();
    let common = path_parts
        .iter()
        .zip(&base_parts)
        .take_while(|(a, b)| a == b)
        .count();
    if common == 0 {
        return path.as_str().to_owned();
    }
    let up = std::iter::repeat_n("..", base_parts.len() - common);
    let down = path_parts.iter().skip(common).map(|part| part.as_str());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn normalises_by_name() {
        for (given, expected) in [
            ("/a/./b//c", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("../a/../b", "../b"),
            ("../../x", "../../x"),
            ("/", "/"),
        ] {
            assert_eq!(normalize(Utf8Path::new(given)), expected, "{given}");
        }
    }

    #[test]
    fn relative_paths_go_up_and_down() {
        for (path, base, expected) in [
            ("/w/agents/x", "/w/agents", "x"),
            ("/w/lib/x", "/w/agents", "../lib/x"),
            ("/x", "/w/agents", "../../x"),
            ("/w/agents/d/x", "/w/agents", "d/x"),
        ] {
            assert_eq!(
                relative_to(Utf8Path::new(path), Utf8Path::new(base)),
                expected
            );
        }
    }

    #[test]
    fn a_file_that_changed_its_length_is_read_as_it_is() {
        for length in [0, 3, 5, 9] {
            let read = read_whole(&mut &b"12345"[..], length).unwrap();
            assert_eq!(&*read, b"12345", "{length}");
        }
    }

    #[test]
    fn memory_tells_a_directory_from_nothing() {
        let memory: MemoryFileSystem = [("/d/a", &b"x"[..])].into_iter().collect();
        assert_eq!(memory.locate("/d".into()), Err(LoadError::Directory));
        assert_eq!(memory.locate("/e".into()), Err(LoadError::NotFound));
        assert_eq!(&*memory.read("/d/a".into()).unwrap(), b"x");
    }

    #[cfg(unix)]
    #[test]
    fn the_real_file_system_refuses_what_has_no_fixed_content() {
        let dir = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(dir.path()).unwrap();
        let system = OsFileSystem::default();
        assert_eq!(system.locate(base), Err(LoadError::Directory));
        assert_eq!(
            system.locate("/dev/null".into()),
            Err(LoadError::NotRegular)
        );
        assert_eq!(system.locate(&base.join("none")), Err(LoadError::NotFound));
        std::os::unix::fs::symlink(base.join("b"), base.join("a")).unwrap();
        std::os::unix::fs::symlink(base.join("a"), base.join("b")).unwrap();
        assert!(system.locate(&base.join("a")).is_err());
        std::fs::write(base.join("f"), "12345").unwrap();
        std::os::unix::fs::symlink(base.join("f"), base.join("g")).unwrap();
        let located = system.locate(&base.join("g")).unwrap();
        assert_eq!(located, system.locate(&base.join("f")).unwrap());
        assert!(located.identity.is_some());
        assert_eq!(&*system.read(&located.canonical).unwrap(), b"12345");
        let small = OsFileSystem::with_limit(4);
        assert_eq!(
            small.read(&located.canonical),
            Err(LoadError::TooLarge { limit: 4 })
        );
    }
}
