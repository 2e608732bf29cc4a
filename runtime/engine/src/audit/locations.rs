//! Where state lives, and who owns a session (spec 08 section 1).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::secure_file::{self, FileError, LockFile};

/// Why a location cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LocationError {
    /// `shell.session_invalid_id` (P1): any other id could leave the state directory.
    #[error(
        "a session id has 1 to 128 letters, digits, `_`, `.` or `-` and starts with a letter or digit"
    )]
    InvalidSessionId,
    /// `shell.session_in_use` (P7).
    #[error("another host is running this session")]
    SessionInUse,
    /// Neither an override nor a home directory is known.
    #[error(
        "no state directory: set CHATMD_SHELL_STATE_DIR, XDG_STATE_HOME or HOME to an absolute path"
    )]
    NoStateRoot,
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}

impl LocationError {
    /// The diagnostic code, where there is one.
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::InvalidSessionId => Some("shell.session_invalid_id"),
            Self::SessionInUse => Some("shell.session_in_use"),
            Self::File(FileError::Insecure { .. }) => Some("shell.state_insecure_file"),
            Self::NoStateRoot | Self::File(_) => None,
        }
    }
}

/// Paths of the state of one user. Nothing is created by asking for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locations {
    root: PathBuf,
    grants: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl Locations {
    /// The locations after the environment, read through `variable`. Relative values are ignored.
    pub fn from_environment(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, LocationError> {
        let absolute = |name| {
            variable(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let root = absolute("CHATMD_SHELL_STATE_DIR")
            .or_else(|| absolute("XDG_STATE_HOME").map(|base| base.join("chatmd")))
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state/chatmd")))
            .ok_or(LocationError::NoStateRoot)?;
        Ok(Self {
            root,
            grants: absolute("CHATMD_SHELL_GRANTS_FILE"),
            key: absolute("CHATMD_SHELL_INTEGRITY_KEY_FILE"),
        })
    }

    /// The state root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The integrity key.
    pub fn integrity_key(&self) -> PathBuf {
        self.key
            .clone()
            .unwrap_or_else(|| self.root.join("integrity.key"))
    }

    /// The durable grants.
    pub fn grants(&self) -> PathBuf {
        self.grants
            .clone()
            .unwrap_or_else(|| self.root.join("grants.json"))
    }

    /// The management audit of the durable grants.
    pub fn management_audit(&self) -> PathBuf {
        self.root.join("management-audit.jsonl")
    }

    /// The directory of a session.
    pub fn session(&self, session_id: &str) -> Result<PathBuf, LocationError> {
        if is_session_id(session_id) {
            Ok(self.root.join("sessions").join(session_id))
        } else {
            Err(LocationError::InvalidSessionId)
        }
    }
}

/// The session audit below a session directory.
pub fn session_audit(session_dir: &Path) -> PathBuf {
    session_dir.join(".chatmd/shell-audit.jsonl")
}

/// The session shell state below a session directory.
pub fn session_state(session_dir: &Path) -> PathBuf {
    session_dir.join(".chatmd/shell-state.json")
}

/// Whether `id` matches `[A-Za-z0-9][A-Za-z0-9_.-]{0,127}`.
pub fn is_session_id(id: &str) -> bool {
    let bytes = id.as_bytes();
    bytes.len() <= 128
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte))
}

/// The right to execute commands in a session, held for the life of the host. The kernel releases
/// it when the process dies.
#[derive(Debug)]
pub struct SessionOwner(#[allow(dead_code)] LockFile);

impl SessionOwner {
    /// Takes the session below `session_dir`, creating its state directory.
    pub fn acquire(session_dir: &Path) -> Result<Self, LocationError> {
        let name = session_dir.join(".chatmd/owner");
        secure_file::create_parents(&name)?;
        let lock = LockFile::of(&name)?;
        match lock.try_lock()? {
            // The lock belongs to the open file: it is kept by not unlocking it.
            Some(guard) => std::mem::forget(guard),
            None => return Err(LocationError::SessionInUse),
        }
        Ok(Self(lock))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn locations(pairs: &[(&str, &str)]) -> Result<Locations, LocationError> {
        Locations::from_environment(|name| {
            pairs
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_environment_decides_in_order() {
        let all = [
            ("CHATMD_SHELL_STATE_DIR", "/s"),
            ("XDG_STATE_HOME", "/x"),
            ("HOME", "/h"),
        ];
        for (from, root) in [(0, "/s"), (1, "/x/chatmd"), (2, "/h/.local/state/chatmd")] {
            assert_eq!(locations(&all[from..]).unwrap().root(), Path::new(root));
        }
        assert!(matches!(
            locations(&[("HOME", "relative")]),
            Err(LocationError::NoStateRoot)
        ));
        let plain = locations(&all).unwrap();
        assert_eq!(plain.integrity_key(), Path::new("/s/integrity.key"));
        assert_eq!(plain.grants(), Path::new("/s/grants.json"));
        assert_eq!(
            plain.management_audit(),
            Path::new("/s/management-audit.jsonl")
        );
        let session = plain.session("a.B-1").unwrap();
        assert_eq!(
            session_audit(&session),
            Path::new("/s/sessions/a.B-1/.chatmd/shell-audit.jsonl")
        );
        assert_eq!(
            session_state(&session),
            Path::new("/s/sessions/a.B-1/.chatmd/shell-state.json")
        );
        let overridden = [
            ("HOME", "/h"),
            ("CHATMD_SHELL_INTEGRITY_KEY_FILE", "/k"),
            ("CHATMD_SHELL_GRANTS_FILE", "/g"),
        ];
        let overridden = locations(&overridden).unwrap();
        assert_eq!(
            (overridden.integrity_key(), overridden.grants()),
            ("/k".into(), "/g".into())
        );
    }

    #[test]
    fn session_ids_stay_below_the_root() {
        let long = "a".repeat(129);
        let locations = locations(&[("HOME", "/h")]).unwrap();
        for id in [
            "", ".", "..", "../x", "a/b", "-a", "_a", "a b", "é", "a\0", &long,
        ] {
            let error = locations.session(id).unwrap_err();
            assert_eq!(error.code(), Some("shell.session_invalid_id"), "{id:?}");
        }
        assert!(locations.session(&long[1..]).is_ok());
    }

    #[test]
    fn a_session_has_one_owner() {
        let directory = tempfile::tempdir().unwrap();
        let owner = SessionOwner::acquire(directory.path()).unwrap();
        let second = SessionOwner::acquire(directory.path()).unwrap_err();
        assert_eq!(second.code(), Some("shell.session_in_use"));
        drop(owner);
        SessionOwner::acquire(directory.path()).unwrap();
    }
}
