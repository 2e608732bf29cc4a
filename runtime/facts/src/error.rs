//! Failures while facts are collected for a runtime (spec 06 section 13).

use std::path::PathBuf;

/// A fact that a runtime needs and the host can not give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactsError {
    /// A base directory of a path expression is not known or does not exist.
    #[error("{variable} is not available: {reason}")]
    DirectoryVariable {
        /// Variable name, or the source file for `source_dir`.
        variable: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The working directory is missing or not a directory.
    #[error("the working directory {} is not an existing directory", .0.display())]
    WorkingDirectory(PathBuf),
    /// A required variable of a capability root is not set.
    #[error("the capability root variable {0} is not set")]
    CapabilityMissing(String),
    /// A capability root that can not be used.
    #[error("capability root {name}: {reason}")]
    CapabilityInvalid {
        /// Variable or path.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A capability root leads elsewhere than when the manifest was bound.
    #[error("a capability root leads to {}, which is not where the authorised manifest has it", .0.display())]
    RootChanged(PathBuf),
    /// A required variable is not set.
    #[error("the variable {0} is not set")]
    EnvironmentMissing(String),
    /// A value that no process environment can hold.
    #[error("the value of {0} holds a NUL byte")]
    EnvironmentNul(String),
    /// A `PATH` entry that can not be one.
    #[error("{name}: {reason}")]
    EnvironmentPath {
        /// Variable or expression.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The environment is larger than its bounds.
    #[error("the environment is too large: {0}")]
    EnvironmentTooLarge(String),
    /// A secret file is missing.
    #[error("the secret file {} does not exist", .0.display())]
    SecretFileMissing(PathBuf),
    /// A secret can not be loaded.
    #[error("{name} can not be loaded: {reason}")]
    SecretLoad {
        /// Which one, without its value.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A secret argument names a variable that the runtime's environment lacks.
    #[error("the secret argument variable {0} is not set in the runtime's environment")]
    ToolSecretMissing(String),
    /// A declared executable can not be resolved.
    #[error("executable {id} is not available: {reason}")]
    ExecutableUnavailable {
        /// Declared id.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A declared executable has other bytes than declared.
    #[error("executable {0} does not have the declared digest")]
    ExecutableDigest(String),
}

impl FactsError {
    /// Diagnostic code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::DirectoryVariable { .. } => "shell.source_dir_unavailable",
            Self::WorkingDirectory(_) => "shell.directory_unavailable",
            Self::CapabilityMissing(_) => "shell.capability_path_missing",
            Self::CapabilityInvalid { .. } => "shell.capability_path_invalid",
            Self::RootChanged(_) => "shell.manifest_grant_mismatch",
            Self::EnvironmentMissing(_) => "shell.environment_missing",
            Self::EnvironmentNul(_) => "shell.environment_nul",
            Self::EnvironmentPath { .. } => "shell.environment_path_invalid",
            Self::EnvironmentTooLarge(_) => "shell.environment_too_large",
            Self::SecretFileMissing(_) => "shell.secret_file_missing",
            Self::SecretLoad { .. } => "shell.secret_load_failed",
            Self::ToolSecretMissing(_) => "shell.tool_secret_missing",
            Self::ExecutableUnavailable { .. } => "shell.executable_unavailable",
            Self::ExecutableDigest(_) => "shell.executable_digest_mismatch",
        }
    }
}
