//! Why no plan can be made.

use std::path::PathBuf;

/// A plan that can not be built. At an invocation every variant is reported as
/// `sandbox_unavailable` (spec 06 section 12.1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A write root and its parent directory are both missing.
    #[error("write root is unavailable: {}", .0.display())]
    WriteRootUnavailable(PathBuf),
    /// A kernel file system was declared writable; as uid 0 that would be control of the host.
    #[error("a kernel file system can not be a write root: {}", .0.display())]
    KernelWriteRoot(PathBuf),
    /// The working directory is in no declared root, so the command could not start there.
    #[error("the working directory lies in no read or write root: {}", .0.display())]
    CwdUnreachable(PathBuf),
    /// A text that would end an option early.
    #[error("a sandbox option holds a NUL byte")]
    Nul,
    /// More options than bubblewrap accepts.
    #[error("the sandbox needs {0} options and bubblewrap takes at most {1}")]
    TooManyOptions(usize, usize),
    /// The installed bubblewrap lacks an option every plan needs.
    #[error("the installed bubblewrap does not know {0}")]
    MissingFeature(&'static str),
    /// The engine supplied fewer descriptors than the plan names.
    #[error("the sandbox plan names {needed} descriptors and {given} were opened")]
    Descriptors {
        /// Slots in the plan.
        needed: usize,
        /// Numbers supplied.
        given: usize,
    },
    /// A path that a Seatbelt profile can not hold.
    #[error("a path can not be written in a sandbox profile")]
    UnprintablePath,
    /// The seccomp program could not be built.
    #[error("the system call filter can not be built: {0}")]
    Seccomp(String),
}

impl PlanError {
    /// Executor code.
    pub const fn code(&self) -> &'static str {
        "sandbox_unavailable"
    }
}
