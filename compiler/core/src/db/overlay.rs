//! Unsaved buffers over another file system.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use camino::{Utf8Path, Utf8PathBuf};

use super::{FileSystem, LoadError, Located, normalize};

type Buffers = HashMap<Utf8PathBuf, Arc<[u8]>>;

/// A file system in which some files have other bytes than below, or exist here alone.
///
/// A clone is a handle on the same buffers. The database must be told of each change:
/// [`super::Database::refresh`].
#[derive(Clone)]
pub struct OverlayFileSystem {
    below: Arc<dyn FileSystem>,
    /// By canonical path; by normalised path where nothing exists below.
    buffers: Arc<RwLock<Buffers>>,
}

impl OverlayFileSystem {
    /// Over a file system, without buffers yet.
    pub fn new(below: impl FileSystem) -> Self {
        Self {
            below: Arc::new(below),
            buffers: Arc::default(),
        }
    }

    /// Adds or replaces the buffer of a file and gives the path it goes by.
    pub fn set(&self, path: &Utf8Path, bytes: Arc<[u8]>) -> Utf8PathBuf {
        let key = self.key(path);
        self.write().insert(key.clone(), bytes);
        key
    }

    /// Removes a buffer by the path that [`OverlayFileSystem::set`] gave: the bytes below show
    /// again.
    pub fn remove(&self, key: &Utf8Path) {
        self.write().remove(key);
    }

    fn key(&self, path: &Utf8Path) -> Utf8PathBuf {
        match self.below.locate(path) {
            Ok(located) => located.canonical,
            Err(_) => normalize(path),
        }
    }

    fn read_buffers(&self) -> RwLockReadGuard<'_, Buffers> {
        self.buffers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Buffers> {
        self.buffers.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileSystem for OverlayFileSystem {
    fn locate(&self, path: &Utf8Path) -> Result<Located, LoadError> {
        let error = match self.below.locate(path) {
            Ok(located) => return Ok(located),
            Err(error) => error,
        };
        let canonical = normalize(path);
        if self.read_buffers().contains_key(&canonical) {
            return Ok(Located {
                canonical,
                identity: None,
            });
        }
        Err(error)
    }

    fn read(&self, canonical: &Utf8Path) -> Result<Arc<[u8]>, LoadError> {
        if let Some(bytes) = self.read_buffers().get(canonical) {
            if bytes.len() as u64 > super::MAX_FILE_BYTES {
                return Err(LoadError::TooLarge {
                    limit: super::MAX_FILE_BYTES,
                });
            }
            return Ok(Arc::clone(bytes));
        }
        self.below.read(canonical)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::super::MemoryFileSystem;
    use super::*;

    #[test]
    fn buffers_hide_what_is_below_until_they_go() {
        let below: MemoryFileSystem = [("/w/a", &b"disk"[..])].into_iter().collect();
        let overlay = OverlayFileSystem::new(below);
        let key = overlay.set("/w/./a".into(), b"buffer"[..].into());
        assert_eq!(key, "/w/a");
        assert_eq!(&*overlay.read("/w/a".into()).unwrap(), b"buffer");
        overlay.remove(&key);
        assert_eq!(&*overlay.read("/w/a".into()).unwrap(), b"disk");

        assert_eq!(overlay.locate("/w/b".into()), Err(LoadError::NotFound));
        let key = overlay.set("/w/b".into(), b"new"[..].into());
        assert_eq!(
            overlay.locate("/w/c/../b".into()).unwrap().canonical,
            "/w/b"
        );
        overlay.remove(&key);
        assert_eq!(overlay.locate("/w/b".into()), Err(LoadError::NotFound));
    }
}
