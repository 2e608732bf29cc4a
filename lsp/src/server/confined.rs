//! The file system of a workspace that is not trusted: nothing outside its folders is read.

use std::sync::{Arc, PoisonError, RwLock};

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::db::{FileSystem, LoadError, Located, OsFileSystem};

/// The files of this machine, or of some folders of it.
#[derive(Clone, Default)]
pub struct Confined {
    system: OsFileSystem,
    /// Canonical folders; `None`: no restriction.
    folders: Arc<RwLock<Option<Vec<Utf8PathBuf>>>>,
}

impl Confined {
    /// Restricts to some folders, or lifts the restriction. Folders that do not exist allow
    /// nothing.
    pub fn restrict(&self, folders: Option<&[Utf8PathBuf]>) {
        let canonical = |folder: &Utf8PathBuf| folder.canonicalize_utf8().ok();
        let folders = folders.map(|all| all.iter().filter_map(canonical).collect());
        *self.folders.write().unwrap_or_else(PoisonError::into_inner) = folders;
    }

    fn allows(&self, canonical: &Utf8Path) -> bool {
        let folders = self.folders.read().unwrap_or_else(PoisonError::into_inner);
        match &*folders {
            None => true,
            Some(folders) => folders.iter().any(|folder| canonical.starts_with(folder)),
        }
    }
}

impl FileSystem for Confined {
    fn locate(&self, path: &Utf8Path) -> Result<Located, LoadError> {
        let located = match self.system.locate(path) {
            Ok(located) => located,
            // Whether a file exists outside is nobody's business either.
            Err(_) if !self.allows(path) => return Err(LoadError::Restricted),
            Err(error) => return Err(error),
        };
        if self.allows(&located.canonical) {
            Ok(located)
        } else {
            Err(LoadError::Restricted)
        }
    }

    fn read(&self, canonical: &Utf8Path) -> Result<Arc<[u8]>, LoadError> {
        if self.allows(canonical) {
            self.system.read(canonical)
        } else {
            Err(LoadError::Restricted)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn links_and_dots_lead_nowhere_outside() {
        let dir = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(dir.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        std::fs::create_dir(base.join("in")).unwrap();
        std::fs::write(base.join("out"), "x").unwrap();
        std::fs::write(base.join("in/f"), "x").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(base.join("out"), base.join("in/link")).unwrap();
        let system = Confined::default();
        assert!(system.locate(&base.join("out")).is_ok());
        system.restrict(Some(&[base.join("in")]));
        assert!(system.locate(&base.join("in/f")).is_ok());
        for path in ["out", "in/../out", "in/link", "none"] {
            assert_eq!(
                system.locate(&base.join(path)),
                Err(LoadError::Restricted),
                "{path}"
            );
        }
        assert_eq!(
            system.locate(&base.join("in/none")),
            Err(LoadError::NotFound)
        );
        assert_eq!(system.read(&base.join("out")), Err(LoadError::Restricted));
        system.restrict(Some(&[]));
        assert_eq!(
            system.locate(&base.join("in/f")),
            Err(LoadError::Restricted)
        );
        system.restrict(None);
        assert!(system.locate(&base.join("out")).is_ok());
    }
}
