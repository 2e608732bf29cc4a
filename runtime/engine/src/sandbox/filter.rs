//! Seeing the system call filter on the running command (06b B1.3).
//!
//! bubblewrap installs it after the hold, directly before the command, so the check of the held
//! sandbox can not see it. A command that ends before it could be looked at stays unseen.

use std::convert::Infallible;
use std::fs;
use std::future::pending;
use std::time::Duration;

use tokio::time::sleep;

use super::StartError;

/// Waits between looks, doubled from the first to the last.
const FIRST_WAIT: Duration = Duration::from_micros(500);
const LAST_WAIT: Duration = Duration::from_millis(50);

/// The first process of a sandbox, whose only child becomes the command.
#[derive(Debug)]
pub struct FilterWatch {
    first: i32,
}

/// What one look shows.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// bubblewrap has not executed the command yet.
    Busy,
    Filtered,
    Unfiltered,
    /// Nothing is left to look at.
    Gone,
}

impl FilterWatch {
    /// For the process that bubblewrap reports.
    pub(super) fn of(first: i32) -> Self {
        Self { first }
    }

    /// Ends only when the command runs without a filter.
    pub async fn unfiltered(self) -> StartError {
        let Err(error) = self.watch().await;
        error
    }

    async fn watch(self) -> Result<Infallible, StartError> {
        let mut wait = FIRST_WAIT;
        loop {
            sleep(wait).await;
            match self.look() {
                Look::Busy => wait = (wait * 2).min(LAST_WAIT),
                Look::Filtered | Look::Gone => pending().await,
                Look::Unfiltered => {
                    return Err(StartError::sandbox(
                        "the command ran without its system call filter and was killed",
                    ));
                }
            }
        }
    }

    fn look(&self) -> Look {
        let first = self.first;
        let Some(outer) = Status::of(first) else {
            return Look::Gone;
        };
        let children = fs::read_to_string(format!("/proc/{first}/task/{first}/children"));
        // Kernels without this file show nothing.
        let Ok(children) = children else {
            return Look::Gone;
        };
        let Some(command) = children.split_whitespace().next() else {
            return Look::Busy;
        };
        match command.parse().ok().and_then(Status::of) {
            None => Look::Gone,
            Some(command) => judge(&outer.name, &command),
        }
    }
}

/// The filter is installed before the command gets its own name by being executed.
fn judge(wrapper: &str, command: &Status) -> Look {
    if command.filtered {
        Look::Filtered
    } else if command.name == wrapper {
        Look::Busy
    } else {
        Look::Unfiltered
    }
}

struct Status {
    name: String,
    filtered: bool,
}

impl Status {
    /// Both fields as they were at one moment; `None` when the process has ended.
    fn of(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
                .map(str::trim)
        };
        if field("State").is_none_or(|state| state.starts_with('Z')) {
            return None;
        }
        Some(Self {
            name: field("Name")?.to_owned(),
            filtered: field("Seccomp")? == "2",
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_a_look_means() {
        let status = |name: &str, state: &str, seccomp: &str| {
            Status::parse(&format!(
                "Name:\t{name}\nState:\t{state}\nNoNewPrivs:\t1\nSeccomp:\t{seccomp}\n"
            ))
        };
        let judged = |name, seccomp| judge("8", &status(name, "S (sleeping)", seccomp).unwrap());
        assert_eq!(judged("8", "0"), Look::Busy);
        assert_eq!(judged("8", "2"), Look::Filtered);
        assert_eq!(judged("sh", "2"), Look::Filtered);
        assert_eq!(judged("sh", "0"), Look::Unfiltered);
        assert_eq!(judged("sh", "1"), Look::Unfiltered);
        assert!(status("sh", "Z (zombie)", "0").is_none());
        assert!(Status::parse("").is_none());
    }
}
