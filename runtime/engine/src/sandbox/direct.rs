//! Commands without confinement, where the manifest declares it (06b B3.2).

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};

use super::start::{Streams, VerifiedFile};
use super::{Start, StartError, Started};
use crate::sys::{Launch, Limit, descriptor, launcher};

/// What a direct start needs beside its streams.
#[derive(Debug)]
pub struct DirectCommand<'a> {
    /// The verified target.
    pub target: &'a VerifiedFile,
    /// It begins with `#!`: its interpreter opens it through the descriptor.
    pub script: bool,
    /// Argument vector with `argv[0]`.
    pub argv: Vec<CString>,
    /// `NAME=VALUE` strings.
    pub env: Vec<CString>,
    /// Verified working directory.
    pub cwd: OwnedFd,
    /// The runtime's `privilege_change`.
    pub privilege_change: bool,
    /// Resource limits.
    pub limits: Vec<Limit>,
}

/// Starts a command directly: the inode that was verified, by its descriptor.
pub async fn start_direct(
    command: DirectCommand<'_>,
    streams: Streams,
) -> Result<Started, StartError> {
    let program = descriptor::duplicate(command.target.held.as_fd()).map_err(StartError::spawn)?;
    let launch = Launch {
        program,
        keep_program: command.script,
        argv: command.argv,
        env: command.env,
        cwd: Some(command.cwd),
        stdin: streams.stdin,
        stdout: streams.stdout,
        stderr: streams.stderr,
        inherit: Vec::new(),
        limits: command.limits,
        no_new_privs: !command.privilege_change,
        private_dev: false,
    };
    let process = launcher().map_err(StartError::spawn)?.start(launch).await?;
    Ok(Started {
        process,
        side: None,
        hold: Start::Running,
        filter: None,
    })
}
