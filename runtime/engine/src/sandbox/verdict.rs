//! Set-up failure or command failure (06b B2.6).

use crate::supervise::{Ended, WaitStatus};

/// What the end of a stage means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The command exited with this code.
    Exited(i32),
    /// A signal that the runtime did not send ended the stage.
    Signaled(i32),
    /// The sandbox was ready and could not execute the command. `spawn_error`.
    NotExecuted(String),
    /// The sandbox could not be made. `sandbox_unavailable`.
    SetupFailed(String),
}

/// Exit code of a stage whose status is unknown (B5.7).
const UNKNOWN_STATUS: i32 = 127;

/// The verdict on a bubblewrap stage. Its standard error is looked at only where the command never
/// ran, so a command can not forge a failed set-up.
pub fn judge(ended: &Ended) -> Verdict {
    let code = match ended.status {
        Some(WaitStatus::Signaled(signal)) => return Verdict::Signaled(signal),
        Some(WaitStatus::Exited(code)) => code,
        None => UNKNOWN_STATUS,
    };
    if has_exit_record(&ended.side) {
        return Verdict::Exited(code);
    }
    let last = last_line(&ended.stderr.last);
    if last.starts_with("bwrap: execvp ") {
        let reason = last.rsplit(": ").next().unwrap_or_default();
        return Verdict::NotExecuted(reason.to_owned());
    }
    let first = first_line(&ended.stderr.first);
    if first.is_empty() {
        return Verdict::SetupFailed(format!("exit status {code}"));
    }
    Verdict::SetupFailed(first)
}

/// The verdict on a stage that ran without a sandbox.
pub fn judge_direct(ended: &Ended) -> Verdict {
    match ended.status {
        Some(WaitStatus::Signaled(signal)) => Verdict::Signaled(signal),
        Some(WaitStatus::Exited(code)) => Verdict::Exited(code),
        None => Verdict::Exited(UNKNOWN_STATUS),
    }
}

/// Whether bubblewrap wrote that the command was executed and has ended.
fn has_exit_record(side: &[u8]) -> bool {
    records(side).any(|record| record.get("exit-code").is_some())
}

/// Process number of the sandbox's first process, as bubblewrap reports it.
pub(super) fn child_pid(side: &[u8]) -> Option<i32> {
    let number = records(side).find_map(|record| record.get("child-pid")?.as_i64())?;
    i32::try_from(number).ok()
}

fn records(side: &[u8]) -> impl Iterator<Item = serde_json::Value> + '_ {
    serde_json::Deserializer::from_slice(side)
        .into_iter()
        .map_while(Result::ok)
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned()
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::Captured;

    fn ended(status: Option<WaitStatus>, side: &str, stderr: &str) -> Ended {
        let stderr = Captured {
            first: stderr.as_bytes().to_vec(),
            last: stderr.as_bytes().to_vec(),
            ..Captured::default()
        };
        Ended {
            status,
            stdout: Captured::default(),
            stderr,
            side: side.as_bytes().to_vec(),
        }
    }

    #[test]
    fn every_row_of_the_table() {
        let ran = "{ \"child-pid\": 7, \"x\": 1 }\n{ \"exit-code\": 3 }\n";
        let held = "{ \"child-pid\": 7 }\n";
        let exited = |code| Some(WaitStatus::Exited(code));
        let exec = "bwrap: execvp /usr/bin/x: No such file or directory\n";
        let mount = "bwrap: Can't find source path /x: No such file\nsecond\n";
        let no = |reason: &str| Verdict::SetupFailed(reason.into());
        for (status, side, stderr, expected) in [
            (exited(3), ran, "", Verdict::Exited(3)),
            // A forged line proves nothing where the command ran.
            (exited(1), ran, exec, Verdict::Exited(1)),
            (exited(137), ran, "", Verdict::Exited(137)),
            (
                exited(1),
                held,
                exec,
                Verdict::NotExecuted("No such file or directory".into()),
            ),
            (
                exited(1),
                held,
                mount,
                no("bwrap: Can't find source path /x: No such file"),
            ),
            (exited(1), "", "", no("exit status 1")),
            (exited(0), held, "", no("exit status 0")),
            (Some(WaitStatus::Signaled(9)), ran, "", Verdict::Signaled(9)),
            (
                Some(WaitStatus::Signaled(11)),
                "",
                mount,
                Verdict::Signaled(11),
            ),
            (None, ran, "", Verdict::Exited(127)),
        ] {
            assert_eq!(
                judge(&ended(status, side, stderr)),
                expected,
                "{side} {stderr}"
            );
        }
        assert_eq!(judge_direct(&ended(None, "", "")), Verdict::Exited(127));
    }

    #[test]
    fn the_child_number_is_read_from_a_partial_stream() {
        assert_eq!(child_pid(b"{ \"child-pid\": 41"), None);
        assert_eq!(
            child_pid(b"{ \"child-pid\": 41, \"pid-namespace\": 4026 }\n"),
            Some(41)
        );
    }
}
