//! Sessions: where a run keeps its files, and that only one process owns them (spec 08 section 1).

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chatmd_facts::Snapshot;

use crate::audit::secure_file::{self, FileError, Readable};

/// Folder of this product below a state directory.
const PRODUCT: &str = "chatmd";

/// Longest session id, in bytes.
const MAX_ID: usize = 128;

/// A session can not be used.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Its id could leave the sessions folder, or is empty or too long.
    #[error(
        "a session id starts with a letter or digit and holds at most 128 letters, digits, `_`, `.` and `-`"
    )]
    InvalidId,
    /// Another process runs commands for it.
    #[error("session {0} is in use by another process")]
    InUse(String),
    /// No place for state is known.
    #[error("no state directory: give --state-dir, or set XDG_STATE_HOME or HOME")]
    NoStateRoot,
    /// A folder or file of it could be changed by others (spec 08 section 1, P3).
    #[error("{path}: {reason}", path = .path.display())]
    Insecure {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file system refused.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// What was accessed.
        path: PathBuf,
        /// The answer.
        source: io::Error,
    },
}

impl SessionError {
    /// Diagnostic code, where one exists.
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::InvalidId => Some("shell.session_invalid_id"),
            Self::InUse(_) => Some("shell.session_in_use"),
            Self::Insecure { .. } => Some("shell.state_insecure_file"),
            Self::NoStateRoot | Self::Io { .. } => None,
        }
    }
}

/// Name of the integrity key below the state root.
const INTEGRITY_KEY: &str = "integrity.key";

/// Where the state of one user lives (spec 08 section 1). Nothing is created by asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePlaces {
    /// The state root.
    pub root: PathBuf,
    /// The integrity key.
    pub integrity_key: PathBuf,
}

impl StatePlaces {
    /// The root as given, else by `CHATMD_SHELL_STATE_DIR`, else below the user's state folder; the
    /// key in it, or where `CHATMD_SHELL_INTEGRITY_KEY_FILE` says. Relative values of variables do
    /// not count.
    ///
    /// # Errors
    /// No variable names a folder.
    pub fn find(given: Option<&Path>, environment: &Snapshot) -> Result<Self, SessionError> {
        let absolute = |name: &str| {
            let value = environment.get(name).filter(|value| !value.is_empty())?;
            Some(PathBuf::from(value)).filter(|path| path.is_absolute())
        };
        let root = match given {
            Some(given) => std::path::absolute(given).map_err(|source| SessionError::Io {
                path: given.to_path_buf(),
                source,
            })?,
            None => absolute("CHATMD_SHELL_STATE_DIR")
                .or_else(|| absolute("XDG_STATE_HOME").map(|base| base.join(PRODUCT)))
                .or_else(|| absolute("HOME").map(|home| home.join(".local/state").join(PRODUCT)))
                .ok_or(SessionError::NoStateRoot)?,
        };
        Ok(Self {
            integrity_key: absolute("CHATMD_SHELL_INTEGRITY_KEY_FILE")
                .unwrap_or_else(|| root.join(INTEGRITY_KEY)),
            root,
        })
    }
}

/// An open session. Dropping it gives it up; an ephemeral one is removed.
#[derive(Debug)]
pub struct Session {
    id: String,
    directory: PathBuf,
    _owner: Option<File>,
    _ephemeral: Option<tempfile::TempDir>,
}

/// Names of ephemeral sessions begin so.
const EPHEMERAL_PREFIX: &str = "chatmd-session-";
/// A host takes possession of its session long before this.
const ABANDONED_AFTER: Duration = Duration::from_mins(1);
/// Most entries of the folder for temporary files that one start looks at.
const MAX_SWEPT: usize = 4096;

impl Session {
    /// Opens a named session below the state root, or in `directory`, and takes possession of it.
    pub fn open(
        state_root: &Path,
        id: &str,
        directory: Option<&Path>,
    ) -> Result<Self, SessionError> {
        check_id(id)?;
        let directory = match directory {
            Some(directory) => {
                std::path::absolute(directory).map_err(|source| SessionError::Io {
                    path: directory.to_path_buf(),
                    source,
                })?
            }
            None => state_root.join("sessions").join(id),
        };
        let own = directory.join(".chatmd");
        create_private(&own)?;
        judge_folder(&own)?;
        let lock = own.join("owner.lock");
        let io = |source: io::Error| SessionError::Io {
            path: lock.clone(),
            source,
        };
        let mut how = secure_file::options();
        how.read(true).write(true).create(true).truncate(false);
        let file = match secure_file::open(&lock, &how, Readable::Repair) {
            Ok(opened) => opened.file,
            Err(FileError::Insecure { path, reason }) => {
                return Err(SessionError::Insecure { path, reason });
            }
            Err(FileError::Io { path, error }) => {
                return Err(SessionError::Io {
                    path,
                    source: error,
                });
            }
            Err(FileError::Locked { .. }) => return Err(SessionError::InUse(id.to_owned())),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(SessionError::InUse(id.to_owned())),
            Err(fs::TryLockError::Error(error)) => return Err(io(error)),
        }
        Ok(Self {
            id: id.to_owned(),
            directory,
            _owner: Some(file),
            _ephemeral: None,
        })
    }

    /// A session that lives as long as this value.
    pub fn ephemeral() -> Result<Self, SessionError> {
        let at = std::env::temp_dir();
        sweep(&at);
        Self::ephemeral_in(&at)
    }

    fn ephemeral_in(at: &Path) -> Result<Self, SessionError> {
        let io = |source: io::Error| SessionError::Io {
            path: at.to_path_buf(),
            source,
        };
        let folder = tempfile::Builder::new()
            .prefix(EPHEMERAL_PREFIX)
            .tempdir_in(at)
            .map_err(io)?;
        let directory = folder.path().canonicalize().map_err(io)?;
        let own = directory.join(".chatmd");
        create_private(&own)?;
        let owner = File::create_new(own.join("owner.lock")).map_err(io)?;
        owner.lock().map_err(io)?;
        let name = directory.file_name().unwrap_or(OsStr::new("ephemeral"));
        let id = name.to_string_lossy().into_owned();
        Ok(Self {
            id,
            directory,
            _owner: Some(owner),
            _ephemeral: Some(folder),
        })
    }

    /// Session id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// `${session_dir}`.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// Removes the ephemeral sessions that killed hosts of this user left behind.
fn sweep(at: &Path) {
    let Ok(entries) = fs::read_dir(at) else {
        return;
    };
    let uid = nix::unistd::geteuid().as_raw();
    for entry in entries.flatten().take(MAX_SWEPT) {
        if !entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(EPHEMERAL_PREFIX.as_bytes())
        {
            continue;
        }
        let abandoned = entry.metadata().is_ok_and(|facts| {
            let old = facts
                .modified()
                .is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= ABANDONED_AFTER));
            facts.is_dir() && facts.uid() == uid && old
        }) && File::open(entry.path().join(".chatmd/owner.lock"))
            .is_ok_and(|lock| lock.try_lock().is_ok());
        if abandoned {
            // What can not be removed now is looked at again by the next host.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn check_id(id: &str) -> Result<(), SessionError> {
    let mut bytes = id.bytes();
    let first = bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest = bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    if first && rest && id.len() <= MAX_ID {
        Ok(())
    } else {
        Err(SessionError::InvalidId)
    }
}

/// Creates a folder and its missing parents with mode 0700; existing ones keep their mode.
fn create_private(path: &Path) -> Result<(), SessionError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| SessionError::Io {
            path: path.to_path_buf(),
            source,
        })
}

/// Whoever may write the folder of the state files can exchange all of them at once.
fn judge_folder(path: &Path) -> Result<(), SessionError> {
    let facts = path.symlink_metadata().map_err(|source| SessionError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    let reason = if facts.is_symlink() {
        "it is a symbolic link"
    } else if facts.uid() != nix::unistd::geteuid().as_raw() {
        "it belongs to another user"
    } else if facts.mode() & 0o022 != 0 {
        "its group or others may write it"
    } else {
        return Ok(());
    };
    Err(SessionError::Insecure {
        path: path.to_path_buf(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn ids_can_not_leave_their_folder() {
        for good in ["a", "0", "demo", "A-1_b.c", &"x".repeat(128)] {
            assert!(check_id(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            ".a",
            "-a",
            "a/b",
            "a b",
            "ä",
            "a\n",
            &"x".repeat(129),
        ] {
            assert!(
                matches!(check_id(bad), Err(SessionError::InvalidId)),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn what_killed_hosts_left_is_removed_and_nothing_else() {
        let at = tempfile::tempdir().unwrap();
        let old = |path: &Path| {
            let time = std::time::SystemTime::now() - 2 * ABANDONED_AFTER;
            File::open(path).unwrap().set_modified(time).unwrap();
        };
        let live = Session::ephemeral_in(at.path()).unwrap();
        let killed = Session::ephemeral_in(at.path()).unwrap();
        let fresh = Session::ephemeral_in(at.path()).unwrap();
        let (gone, young) = (killed.directory.clone(), fresh.directory.clone());
        // Their locks are free, as after a kill, and their folders remain.
        for mut session in [killed, fresh] {
            session._owner = None;
            session._ephemeral.take().map(tempfile::TempDir::keep);
        }
        let stranger = at.path().join("chatmd-session-of-somebody");
        fs::create_dir(&stranger).unwrap();
        for path in [&gone, &live.directory, &stranger] {
            old(path);
        }
        sweep(at.path());
        assert!(!gone.exists());
        assert!(young.exists() && live.directory.exists() && stranger.exists());
    }

    #[test]
    fn one_owner_at_a_time_and_private_folders() {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("state");
        let first = Session::open(&state, "demo", None).unwrap();
        assert!(matches!(
            Session::open(&state, "demo", None),
            Err(SessionError::InUse(_))
        ));
        assert!(Session::open(&state, "other", None).is_ok());
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        assert_eq!(mode(first.directory()), 0o700);
        assert_eq!(mode(&state), 0o700);
        assert_eq!(mode(&first.directory().join(".chatmd/owner.lock")), 0o600);
        drop(first);
        assert!(Session::open(&state, "demo", None).is_ok());
    }

    #[test]
    fn what_others_could_exchange_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let root = tempfile::tempdir().unwrap();
        let elsewhere = root.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("file"), "mine").unwrap();
        type Attack = (&'static str, fn(&Path, &Path));
        let attacks: [Attack; 5] = [
            ("writable folder", |own, _| {
                fs::set_permissions(own, fs::Permissions::from_mode(0o770)).unwrap();
            }),
            ("linked folder", |own, elsewhere| {
                fs::remove_dir(own).unwrap();
                symlink(elsewhere, own).unwrap();
            }),
            ("linked lock", |own, elsewhere| {
                symlink(elsewhere.join("file"), own.join("owner.lock")).unwrap();
            }),
            ("hard-linked lock", |own, elsewhere| {
                fs::hard_link(elsewhere.join("file"), own.join("owner.lock")).unwrap();
            }),
            ("FIFO as lock", |own, _| {
                nix::unistd::mkfifo(&own.join("owner.lock"), nix::sys::stat::Mode::S_IRWXU)
                    .unwrap();
            }),
        ];
        for (name, attack) in attacks {
            let state = root.path().join(name);
            let own = state.join("sessions/demo/.chatmd");
            create_private(&own).unwrap();
            attack(&own, &elsewhere);
            let error = Session::open(&state, "demo", None).unwrap_err();
            assert_eq!(error.code(), Some("shell.state_insecure_file"), "{name}");
        }
    }

    #[test]
    fn an_ephemeral_session_leaves_nothing() {
        let session = Session::ephemeral().unwrap();
        let directory = session.directory().to_path_buf();
        assert!(directory.join(".chatmd").is_dir());
        drop(session);
        assert!(!directory.exists());
    }

    #[test]
    fn places_of_state() {
        let environment = |list: &[&str]| Snapshot::from_entries(list);
        let all = ["CHATMD_SHELL_STATE_DIR=/a", "XDG_STATE_HOME=/b", "HOME=/c"];
        let find = |given: Option<&str>, list: &[&str]| {
            StatePlaces::find(given.map(Path::new), &environment(list))
        };
        let root = |from: usize| find(None, all.get(from..).unwrap()).map(|found| found.root);
        assert_eq!(find(Some("/x"), &all).unwrap().root, Path::new("/x"));
        assert_eq!(root(0).unwrap(), Path::new("/a"));
        assert_eq!(root(1).unwrap(), Path::new("/b/chatmd"));
        assert_eq!(root(2).unwrap(), Path::new("/c/.local/state/chatmd"));
        assert!(root(3).is_err());
        let empty = ["CHATMD_SHELL_STATE_DIR=", "XDG_STATE_HOME=rel", "HOME=/c"];
        let root = find(None, &empty).unwrap().root;
        assert_eq!(root, Path::new("/c/.local/state/chatmd"));
        let key = |given: Option<&str>, value: &str| {
            let variable = format!("CHATMD_SHELL_INTEGRITY_KEY_FILE={value}");
            find(given, &[&variable, "HOME=/c"]).unwrap().integrity_key
        };
        assert_eq!(key(Some("/x"), ""), Path::new("/x/integrity.key"));
        assert_eq!(key(Some("/x"), "rel"), Path::new("/x/integrity.key"));
        assert_eq!(key(Some("/x"), "/k/key"), Path::new("/k/key"));
        assert_eq!(key(None, "/k/key"), Path::new("/k/key"));
    }
}
