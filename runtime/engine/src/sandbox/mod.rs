//! Carrying out sandbox plans (06b B1.3, B2).
//!
//! `chatmd-plan` says what the sandbox is; this module opens the descriptors that the plan names,
//! starts bubblewrap under a guard, checks the finished sandbox from outside while its start is
//! held, and tells a failed set-up from a failed command.

mod direct;
mod filter;
mod held;
mod start;
mod verdict;
mod wrapper;

pub use direct::{DirectCommand, start_direct};
pub use filter::FilterWatch;
pub use held::{Expectation, HeldRoot};
pub use start::{
    BubblewrapStart, Files, Start, Started, Streams, VerifiedFile, create_roots, start_bubblewrap,
};
pub use verdict::{Verdict, judge, judge_direct};
pub use wrapper::Wrapper;

use crate::sys::LaunchError;

/// A command that was not started. Nothing of it is left running.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The sandbox could not be made, or is not what was planned. `sandbox_unavailable`.
    #[error("{0}")]
    Sandbox(String),
    /// A process or pipe could not be made. `spawn_error`.
    #[error("{0}")]
    Spawn(String),
}

impl StartError {
    fn sandbox(reason: impl std::fmt::Display) -> Self {
        Self::Sandbox(reason.to_string())
    }

    fn spawn(reason: impl std::fmt::Display) -> Self {
        Self::Spawn(reason.to_string())
    }
}

impl From<LaunchError> for StartError {
    fn from(error: LaunchError) -> Self {
        Self::spawn(error)
    }
}
