//! The sandbox wrapper: where it is and whether it may be trusted (spec 06b B1.3).

use std::path::{Path, PathBuf};

use chatmd_plan::bubblewrap::{Features, WRAPPER_PLACES};

use crate::canonical::{CanonicalPath, canonical};
use crate::resolver::{Fingerprint, IdentityError, ResolveError, VerifiedFile, open_wrapper};

/// Bits that let others than the owner write.
const SHARED_WRITE: u32 = 0o022;
/// Largest wrapper that is read for what it can do, in bytes; a larger one is asked.
pub const MAX_READ: u64 = 1024 * 1024;
/// Set-user-id and set-group-id.
const SET_ID: u32 = 0o6000;

/// The wrapper with its held descriptor.
#[derive(Debug)]
pub struct Wrapper {
    file: VerifiedFile,
}

/// Why there is no usable wrapper.
#[derive(Debug, thiserror::Error)]
pub enum WrapperError {
    /// None of the fixed places holds one.
    #[error(
        "bubblewrap is not installed (looked at /usr/bin/bwrap, /bin/bwrap, /usr/local/bin/bwrap)"
    )]
    NotInstalled,
    /// The declared path can not be resolved.
    #[error("{path} can not be used as the sandbox wrapper: {reason}", path = .path.display())]
    Unresolved {
        /// Path looked at.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Somebody else than root could change it.
    #[error("{path} can not be used as the sandbox wrapper: {reason}", path = .path.display())]
    Unsafe {
        /// Canonical path.
        path: PathBuf,
        /// What is wrong.
        reason: &'static str,
    },
    /// It can not be fingerprinted.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
}

/// Finds bubblewrap: the declared path, else the first fixed place; never by `PATH`. It must be a
/// regular executable of root that nobody else may write.
pub fn find_wrapper(declared: Option<&Path>) -> Result<Wrapper, WrapperError> {
    let path = match declared {
        Some(path) => resolve(path)?,
        None => {
            let places = WRAPPER_PLACES.iter().map(Path::new);
            let mut existing = places.filter(|place| place.symlink_metadata().is_ok());
            resolve(existing.next().ok_or(WrapperError::NotInstalled)?)?
        }
    };
    check(path)
}

fn resolve(path: &Path) -> Result<CanonicalPath, WrapperError> {
    canonical(path).map_err(|error| WrapperError::Unresolved {
        path: path.to_path_buf(),
        reason: error.to_string(),
    })
}

fn check(path: CanonicalPath) -> Result<Wrapper, WrapperError> {
    let file = open_wrapper(path)?;
    let print = file.fingerprint();
    let reason = if print.mode & SET_ID != 0 {
        "a set-user-id bubblewrap is not supported"
    } else if print.uid != 0 {
        "it does not belong to root"
    } else if print.mode & SHARED_WRITE != 0 {
        "others than root may write it"
    } else {
        return Ok(Wrapper { file });
    };
    Err(WrapperError::Unsafe {
        path: file.path().as_path().to_path_buf(),
        reason,
    })
}

impl Wrapper {
    /// Canonical path.
    pub fn path(&self) -> &CanonicalPath {
        self.file.path()
    }

    /// Identity.
    pub fn fingerprint(&self) -> &Fingerprint {
        self.file.fingerprint()
    }

    /// What its own bytes say that it can do, without running it; `None` when they do not tell, or
    /// when there are more of them than [`MAX_READ`].
    ///
    /// # Errors
    /// It can not be read, or its bytes are not those that were fingerprinted.
    pub fn features(&self) -> std::io::Result<Option<Features>> {
        if self.fingerprint().size > MAX_READ {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        self.file.copy_verified(|chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(Features::from_program(&bytes))
    }

    /// The verified file with the descriptor that is executed.
    pub fn file(&self) -> &VerifiedFile {
        &self.file
    }

    /// Verifies it directly before a spawn. The file is root's alone, so equal metadata (change time
    /// included) stand for an equal digest.
    ///
    /// # Errors
    /// Another file stands at the path, or this one was changed.
    pub fn verify(&self) -> Result<(), IdentityError> {
        self.file.unchanged()
    }
}
