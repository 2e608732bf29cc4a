//! Files of the state directory: opened and judged, created private, locked, replaced atomically
//! (spec 08 section 1, rules P2, P3, P5, P6).

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait for a lock.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a state file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// `shell.state_insecure_file`.
    #[error("{}: {reason}", path.display())]
    Insecure {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The lock was held for the whole of [`LOCK_TIMEOUT`].
    #[error("{}: another process held the lock for {} s", path.display(), LOCK_TIMEOUT.as_secs())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Its answer.
        #[source]
        error: io::Error,
    },
}

impl FileError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            error,
        }
    }

    /// Whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

/// What to do with a file that others may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readable {
    /// Repair the mode to 0600 and warn (`shell.state_permissions_repaired`).
    Repair,
    /// Refuse: its content may be known already (the integrity key).
    Refuse,
    /// Leave it: reading a log writes nothing.
    Leave,
}

/// An opened and judged file.
#[derive(Debug)]
pub struct SecureFile {
    /// The descriptor; the judgement is about this one, not about the path.
    pub file: File,
    /// Whether the mode was repaired.
    pub repaired: bool,
}

/// Options for a state file: never follows a link, never blocks on a FIFO, never inherited.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC);
    options
}

/// Opens `path` with `options` (made by [`options`]) and judges what was opened.
pub fn open(
    path: &Path,
    options: &OpenOptions,
    readable: Readable,
) -> Result<SecureFile, FileError> {
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return Err(insecure(path, "it is a symbolic link"));
        }
        // A FIFO without a reader.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
            return Err(insecure(path, "it is not a regular file"));
        }
        Err(error) => return Err(FileError::io(path, error)),
    };
    let repaired = judge(path, &file, readable)?;
    Ok(SecureFile { file, repaired })
}

fn insecure(path: &Path, reason: &'static str) -> FileError {
    FileError::Insecure {
        path: path.to_owned(),
        reason,
    }
}

fn judge(path: &Path, file: &File, readable: Readable) -> Result<bool, FileError> {
    let facts = file
        .metadata()
        .map_err(|error| FileError::io(path, error))?;
    let reason = if !facts.is_file() {
        Some("it is not a regular file")
    } else if facts.nlink() != 1 {
        Some("it has another hard link (or was just removed)")
    } else if facts.uid() != nix::unistd::geteuid().as_raw() {
        Some("it belongs to another user")
    } else if facts.mode() & 0o022 != 0 {
        Some("its group or others may write it")
    } else if facts.mode() & 0o055 != 0 && readable == Readable::Refuse {
        Some("its group or others may read it")
    } else {
        None
    };
    if let Some(reason) = reason {
        return Err(insecure(path, reason));
    }
    if facts.mode() & 0o077 == 0 || readable != Readable::Repair {
        return Ok(false);
    }
    let tightened = file.set_permissions(Permissions::from_mode(0o600));
    tightened.map_err(|error| FileError::io(path, error))?;
    Ok(true)
}

/// Creates the missing parent directories of `path` with mode 0700. Existing ones keep their mode.
pub fn create_parents(path: &Path) -> Result<(), FileError> {
    let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    else {
        return Ok(());
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(parent)
        .map_err(|error| FileError::io(parent, error))
}

/// `path` with `suffix` appended to its last component.
pub fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes renames and creations beside `path` durable.
pub fn flush_directory(path: &Path) -> Result<(), FileError> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let flushed = File::open(parent).and_then(|directory| directory.sync_all());
    flushed.map_err(|error| FileError::io(parent, error))
}

/// An exclusive advisory lock on `NAME.lock`, released when dropped or when the process dies. The
/// lock file is never deleted: deleting it would let two holders in.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    file: File,
}

/// A held lock.
#[derive(Debug)]
pub struct LockGuard<'a>(&'a File);

impl LockFile {
    /// Opens, or creates, the lock file of `path`.
    pub fn of(path: &Path) -> Result<Self, FileError> {
        let path = sibling(path, ".lock");
        let mut how = options();
        how.read(true).write(true).create(true);
        let file = open(&path, &how, Readable::Repair)?.file;
        Ok(Self { path, file })
    }

    /// Takes the lock if nobody holds it.
    pub fn try_lock(&self) -> Result<Option<LockGuard<'_>>, FileError> {
        match self.file.try_lock() {
            Ok(()) => Ok(Some(LockGuard(&self.file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(FileError::io(&self.path, error)),
        }
    }

    /// Waits for the lock, at most [`LOCK_TIMEOUT`].
    pub fn lock(&self) -> Result<LockGuard<'_>, FileError> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(LockGuard(&self.file)),
                Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_TIMEOUT => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(FileError::Locked {
                        path: self.path.clone(),
                    });
                }
                Err(TryLockError::Error(error)) => return Err(FileError::io(&self.path, error)),
            }
        }
    }
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        // Closing the descriptor would release it too; nothing is lost when this fails.
        let _ = self.0.unlock();
    }
}

/// Replaces `path` by `bytes`: temporary sibling, flush, rename, flush of the directory. On failure
/// the former content stays and the temporary is removed.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(|error| FileError::io(path, io::Error::other(error)))?;
    let suffix = format!(
        ".tmp.{}.{}",
        std::process::id(),
        crate::identity::hex(&random)
    );
    let temporary = sibling(path, &suffix);
    let written = (|| {
        let mut file = options().write(true).create_new(true).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    })();
    if let Err(error) = written {
        let _ = std::fs::remove_file(&temporary);
        return Err(FileError::io(path, error));
    }
    flush_directory(path)
}
