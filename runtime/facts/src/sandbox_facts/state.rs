//! The runtime's own files, which no sandbox may show (spec 06b B2.4 rule 6).

use std::path::Path;

use chatmd_plan::facts::{NodeKind, StatePath, StateProtection};

use crate::canonical::locate;

/// A path to cover. `None` when nothing exists there: there is nothing to hide.
pub fn state_path(path: &Path) -> Option<StatePath> {
    let (path, folder) = existing(path)?;
    let kind = if folder {
        NodeKind::Directory
    } else {
        NodeKind::File
    };
    Some(StatePath {
        path,
        protection: StateProtection::Mask(kind),
    })
}

/// An audit file below a root: readable, never writable.
pub fn audit_file(path: &Path) -> Option<StatePath> {
    let (path, _) = existing(path)?;
    Some(StatePath {
        path,
        protection: StateProtection::ReadOnly,
    })
}

fn existing(path: &Path) -> Option<(std::path::PathBuf, bool)> {
    let located = locate(path).ok().filter(|located| located.exists)?;
    let path = located.path.as_path().to_path_buf();
    let folder = path.is_dir();
    Some((path, folder))
}
