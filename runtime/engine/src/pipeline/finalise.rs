//! From what commands wrote to what may be read (spec 06b B7, B8).

use super::execute::Executed;
use crate::materialise::Runtime;
use crate::output::{CommandResult, ExitStatus, Finalised};
use crate::supervise::Captured;

/// Bytes that a capture holds beyond limit and longest pattern, and one more, so that the finaliser
/// sees that something was cut.
const SLACK: usize = 64 + 1;

/// Captured bytes for a channel of `limit` bytes.
pub(super) fn capture_bound(runtime: &Runtime, limit: u64) -> usize {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    limit
        .saturating_add(runtime.redactor.max_pattern_len())
        .saturating_add(SLACK)
}

/// What a request has used so far, for its last record: started commands that ran, and raw bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) commands: u64,
    pub(super) stdout_bytes: u64,
    pub(super) stderr_bytes: u64,
}

/// A command's part of the result.
pub(super) struct Finished {
    pub(super) command: CommandResult,
    pub(super) status: ExitStatus,
    pub(super) stdout: Finalised,
    pub(super) stderr: Finalised,
}

/// Finalises one command.
pub(super) fn finalise(runtime: &Runtime, executed: Executed) -> Finished {
    let limits = &runtime.limits.supervision;
    let stdout = channel(runtime, &executed.stdout, limits.stdout);
    let stderr = channel(runtime, &executed.stderr, limits.stderr);
    let resolved = executed.context.resolved.as_ref();
    let digest = resolved.map(|found| found.fingerprint().sha256.to_string());
    let executable = resolved
        .zip(digest.as_deref())
        .map(|(found, digest)| (found.canonical().as_bytes(), digest));
    let command = CommandResult::new(
        &runtime.redactor,
        &executed.context.argv,
        executable,
        executed.status,
        None,
    )
    .with_channels(&stdout, &stderr);
    Finished {
        command,
        status: executed.status,
        stdout,
        stderr,
    }
}

fn channel(runtime: &Runtime, captured: &Captured, limit: u64) -> Finalised {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut finaliser = runtime.redactor.finaliser(limit);
    finaliser.push(&captured.bytes);
    finaliser.finish()
}

/// Status of a pipeline: the last stage, or with `pipefail` the rightmost that did not succeed.
pub(super) fn pipeline_status(stages: &[Finished], pipefail: bool) -> ExitStatus {
    let statuses = stages.iter().map(|stage| stage.status);
    let failed = statuses
        .clone()
        .rev()
        .find(|status| pipefail && !status.is_success());
    failed
        .or_else(|| stages.last().map(|stage| stage.status))
        .unwrap_or(ExitStatus::Exited(0))
}
