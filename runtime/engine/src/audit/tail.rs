//! The end of an existing file: where the chain goes on (spec 08 sections 7.1 and 7.4).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::load::{Record, StoredDigest};
use chatmd_policy::strict_json::Json;

/// How far back the last two lines are looked for, in bytes: a line is at most 1 MiB, a torn one
/// too.
const LOOK_BACK_MAX: u64 = 4 * 1024 * 1024;

/// The newest event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Last {
    pub(crate) sequence: u64,
    pub(crate) event_sha256: String,
}

/// The end of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// No event.
    Empty,
    /// A whole event.
    Whole(Last),
    /// Bytes from `keep` on are the rest of an interrupted write; before them stands `last`.
    Torn { keep: u64, last: Option<Last> },
}

/// Why the chain cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TailError {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

fn invalid(message: &str) -> TailError {
    TailError {
        code: "shell.audit_chain_invalid_tail",
        message: message.to_owned(),
    }
}

/// Judges the end of `file`, which has `size` bytes.
pub(crate) fn read(file: &File, size: u64) -> Result<Tail, TailError> {
    let failed = |error: io::Error| TailError {
        code: "shell.audit_chain_read_failed",
        message: format!("the end of the audit file cannot be read: {error}"),
    };
    let mut span = 64 * 1024;
    loop {
        let start = size.saturating_sub(span);
        let mut bytes = vec![0u8; (size - start) as usize];
        file.read_exact_at(&mut bytes, start).map_err(failed)?;
        if let Some(tail) = judge(&bytes, start) {
            return tail;
        }
        if start == 0 || span >= LOOK_BACK_MAX {
            return Err(invalid("the last lines are longer than any event"));
        }
        span *= 8;
    }
}

/// `None` when the span does not hold the lines that are needed.
fn judge(bytes: &[u8], start: u64) -> Option<Result<Tail, TailError>> {
    let complete = start == 0;
    let terminated = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    if terminated < bytes.len() {
        // No LF at the end: whatever it holds, it was never acknowledged.
        return before(&bytes[..terminated], start, complete);
    }
    let Some((begin, line)) = last_line(bytes, complete)? else {
        return Some(Ok(Tail::Empty));
    };
    match event(line) {
        Ok(last) => Some(Ok(Tail::Whole(last))),
        Err(Bad::Refused(error)) => Some(Err(error)),
        Err(Bad::Line) => before(&bytes[..begin], start, complete),
    }
}

/// The last line of `bytes` must be a whole event, or there must be none: then what follows it is
/// torn.
fn before(bytes: &[u8], start: u64, complete: bool) -> Option<Result<Tail, TailError>> {
    let keep = start + bytes.len() as u64;
    let Some((_, line)) = last_line(bytes, complete)? else {
        return Some(Ok(Tail::Torn { keep, last: None }));
    };
    Some(match event(line) {
        Ok(last) => Ok(Tail::Torn {
            keep,
            last: Some(last),
        }),
        Err(Bad::Refused(error)) => Err(error),
        Err(Bad::Line) => Err(invalid("more than the last line is damaged")),
    })
}

/// Start and content of the last line that is not empty; `None` outside when it may begin before
/// the span.
#[allow(clippy::option_option)]
fn last_line(bytes: &[u8], complete: bool) -> Option<Option<(usize, &[u8])>> {
    let end = bytes
        .iter()
        .rposition(|byte| *byte != b'\n')
        .map(|at| at + 1);
    let Some(end) = end else {
        return complete.then_some(None);
    };
    match bytes[..end].iter().rposition(|byte| *byte == b'\n') {
        Some(at) => Some(Some((at + 1, &bytes[at + 1..end]))),
        None => complete.then_some(Some((0, &bytes[..end]))),
    }
}

enum Bad {
    /// Not an event: the rest of an interrupted write looks like this.
    Line,
    /// An event that no interrupted write leaves behind.
    Refused(TailError),
}

fn event(line: &[u8]) -> Result<Last, Bad> {
    let refused = |code, message: &str| {
        Err(Bad::Refused(TailError {
            code,
            message: message.to_owned(),
        }))
    };
    let record = match Record::parse(line) {
        Ok(record) => record,
        Err(_) => {
            let Ok(Json::Object(members)) = Json::parse(line) else {
                return Err(Bad::Line);
            };
            return match members.iter().find(|(name, _)| name == "sequence") {
                None => refused(
                    "shell.audit_sequence_missing",
                    "the last audit line has no `sequence`",
                ),
                Some((_, Json::Int(_))) => Err(Bad::Line),
                Some(_) => refused(
                    "shell.audit_sequence_invalid_tail",
                    "the `sequence` of the last audit line is not usable",
                ),
            };
        }
    };
    match record.digest {
        StoredDigest::Good(event_sha256) => Ok(Last {
            sequence: record.sequence,
            event_sha256,
        }),
        StoredDigest::Missing => refused(
            "shell.audit_chain_missing_digest",
            "the last audit line has no digest, so the chain cannot be continued",
        ),
        StoredDigest::Bad(_) => refused(
            "shell.audit_chain_invalid_tail",
            "the digest of the last audit line is wrong: the file was changed",
        ),
    }
}
