//! Where the inputs of earlier sessions are kept: a private file in the state directory.

use std::io;
use std::path::{Path, PathBuf};

/// Most inputs that are kept.
pub const MAX_ENTRIES: usize = 1_000;

/// The file, or nothing when the environment names no state directory (spec 08 section 1).
pub fn file() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let root = absolute("CHATMD_SHELL_STATE_DIR")
        .or_else(|| Some(absolute("XDG_STATE_HOME")?.join("chatmd")))
        .or_else(|| Some(absolute("HOME")?.join(".local/state/chatmd")))?;
    Some(root.join("chatml-history"))
}

/// Makes the directory of the file, for its owner alone.
///
/// # Errors
/// What the operating system said.
pub fn prepare(file: &Path) -> io::Result<()> {
    let Some(directory) = file.parent() else {
        return Ok(());
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(directory)
}
