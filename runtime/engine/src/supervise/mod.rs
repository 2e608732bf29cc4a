//! Watching started stages: output, limits, ends (06b B5.2 to B5.6).
//!
//! The stages of one pipeline are started by their backend and then handed to [`fn@run`]. Dropping the
//! future of [`fn@run`] kills everything: each stage sits in a [`Guarded`].

mod capture;
mod feed;

mod run;

use std::os::fd::OwnedFd;
use std::time::Duration;

use tokio::time::Instant;

pub use capture::{Captured, EDGE_BYTES};
pub(crate) use feed::read_some;
pub use run::run;

use crate::sys::Guarded;
pub use crate::sys::launch::WaitStatus;

/// Output channel of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How a stage is asked to end when a time limit passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// SIGTERM to its process group, SIGKILL after half a second.
    Graceful,
    /// SIGKILL at once: the PID namespace dies with it.
    Immediate,
}

/// A stage whose program runs.
#[derive(Debug)]
pub struct Stage {
    /// The process and its guard.
    pub process: Guarded,
    /// Read end of its standard output; only for the last stage of a pipeline.
    pub stdout: Option<OwnedFd>,
    /// Read end of its standard error.
    pub stderr: OwnedFd,
    /// Side channel of the sandbox: bytes already read from it, and its read end.
    pub side: Option<(Vec<u8>, OwnedFd)>,
    /// How it is ended.
    pub termination: Termination,
}

/// Standard input of the first stage.
#[derive(Debug)]
pub struct Feed {
    /// Write end of its pipe.
    pub pipe: OwnedFd,
    /// What is written; the pipe is closed afterwards.
    pub bytes: Vec<u8>,
}

/// Bounds that one request shares among its pipelines.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// When the wall time of the request ends.
    pub deadline: Instant,
    /// Longest time without a byte read or written.
    pub idle: Option<Duration>,
    /// Captured bytes of standard output, slack for redaction included.
    pub stdout_bytes: usize,
    /// Captured bytes of standard error, slack for redaction included.
    pub stderr_bytes: usize,
    /// Bound of `total_used`.
    pub total_bytes: u64,
    /// Bytes read so far from all channels of the request.
    pub total_used: u64,
}

/// How one stage ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// Its status; `None` when it could not be determined.
    pub status: Option<WaitStatus>,
    /// Its standard output, for the last stage.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// Everything on the side channel (at most 64 KiB).
    pub side: Vec<u8>,
}

/// Why a run was broken off. All its processes are gone.
#[derive(Debug)]
pub enum Stop<E> {
    /// Wall time.
    WallTime,
    /// Idle time.
    IdleTime,
    /// Total output, with the count that passed the limit.
    TotalOutput(u64),
    /// The observer asked for it.
    Observer(E),
    /// A pipe could not be watched.
    Io(std::io::Error),
}

/// Learns of output while a pipeline runs: at most once per stage and channel in 250 ms, and once
/// more at the end of each channel with `last`, also when the run is broken off or dropped. An error
/// breaks the run off.
pub trait Observer {
    /// What breaks a run off.
    type Error;

    /// `bytes` were read since the previous call for this stage and channel.
    fn output(
        &mut self,
        stage: usize,
        channel: Channel,
        bytes: u64,
        last: bool,
    ) -> Result<(), Self::Error>;
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    type Error = std::convert::Infallible;

    fn output(&mut self, _: usize, _: Channel, _: u64, _: bool) -> Result<(), Self::Error> {
        Ok(())
    }
}
