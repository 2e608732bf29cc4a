//! Script files of script-mode tools (spec 06 section 4.7).

use std::io;

use chatmd_plan::facts::Target;

use super::error::ResolveError;
use super::executable::VerifiedFile;
use super::fingerprint::{Fingerprint, Opened, open_regular};
use crate::canonical::{CanonicalPath, canonical};

/// Largest script whatever its declaration says, in bytes.
pub const MAX_SCRIPT_BYTES: u64 = 16 * 1024 * 1024;

/// Why a script can not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Missing, not a regular file, or not readable.
    #[error("the script {path} is not available: {reason}")]
    Unavailable {
        /// Path as resolved.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Larger than its bound.
    #[error("the script {path} has {size} bytes, at most {limit}")]
    TooLarge {
        /// Canonical path.
        path: String,
        /// Bytes.
        size: u64,
        /// Bound in bytes.
        limit: u64,
    },
}

impl ScriptError {
    /// Diagnostic code at materialisation.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "shell.script_unavailable",
            Self::TooLarge { .. } => "shell.script_too_large",
        }
    }
}

/// A prepared script.
#[derive(Debug)]
pub struct ScriptFile {
    file: VerifiedFile,
    limit: u64,
}

impl ScriptFile {
    /// Opens and fingerprints a script of at most `max_source_bytes`.
    pub fn open(path: &std::path::Path, max_source_bytes: u64) -> Result<Self, ScriptError> {
        let unavailable = |reason: String| ScriptError::Unavailable {
            path: path.display().to_string(),
            reason,
        };
        let limit = max_source_bytes.min(MAX_SCRIPT_BYTES);
        let path = canonical(path).map_err(|error| unavailable(error.to_string()))?;
        let (opened, fingerprint) = look(&path, limit).map_err(|error| match error {
            Look::TooLarge(size) => ScriptError::TooLarge {
                path: path.as_path().display().to_string(),
                size,
                limit,
            },
            Look::Failed(error) => unavailable(error.to_string()),
        })?;
        Ok(Self {
            file: VerifiedFile::from_parts(path, fingerprint, opened),
            limit,
        })
    }

    /// The verified file.
    pub fn file(&self) -> &VerifiedFile {
        &self.file
    }

    /// Looks again at the last safe point; the reason is that of `script_changed`. On success the
    /// descriptor is that of this look.
    pub fn verify(&mut self) -> Result<(), String> {
        let name = self.file.path().as_path().display().to_string();
        match look(self.file.path(), self.limit) {
            Ok((opened, now)) if now.sha256 == self.file.fingerprint().sha256 => {
                let path = self.file.path().clone();
                self.file = VerifiedFile::from_parts(path, now, opened);
                Ok(())
            }
            Ok(_) => Err(format!("{name} is not the script that was approved")),
            Err(Look::TooLarge(_)) => Err(format!(
                "{name} is larger than the script that was approved"
            )),
            Err(Look::Failed(error)) => Err(error.to_string()),
        }
    }

    /// Facts for the plan: a script is always copied, never mounted by name.
    pub fn target(&self) -> Target {
        let canonical = self.file.path().as_path().to_path_buf();
        Target {
            located: canonical.clone(),
            canonical,
            stable: false,
            size: self.file.fingerprint().size,
            links: Vec::new(),
        }
    }

    /// The whole source text as bytes, exactly those of the fingerprint.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.copy_verified(|chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(bytes)
    }
}

enum Look {
    TooLarge(u64),
    Failed(ResolveError),
}

fn look(path: &CanonicalPath, limit: u64) -> Result<(Opened, Fingerprint), Look> {
    let opened = open_regular(path).map_err(Look::Failed)?;
    let size = opened.meta.len();
    if size > limit {
        return Err(Look::TooLarge(size));
    }
    let fingerprint = opened.fingerprint(None).map_err(Look::Failed)?;
    Ok((opened, fingerprint))
}
