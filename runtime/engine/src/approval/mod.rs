//! Asking a person (spec 06 section 10).

mod terminal;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

pub use terminal::TerminalApprovals;

use crate::output::SafeText;

/// What a person is shown before a command runs (section 10.5). All text is redacted, and what can not be
/// seen is escaped in it.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// Id of this question, for as long as the program runs.
    pub approval_id: String,
    /// Request id.
    pub request_id: String,
    /// Qualified runtime id.
    pub runtime_id: String,
    /// Bound manifest digest.
    pub manifest_sha256: String,
    /// Who made the request: `tool`.
    pub origin: &'static str,
    /// Tool that asks.
    pub tool: String,
    /// `structured`, `script_file` or `raw_shell`.
    pub kind: &'static str,
    /// Display form of the command, cut when it is long.
    pub command: SafeText,
    /// Its elements in the same form, whole.
    pub argv: Vec<SafeText>,
    /// Canonical executable.
    pub executable: SafeText,
    /// Its digest.
    pub executable_sha256: String,
    /// Whether the resolver trusts it.
    pub trusted: bool,
    /// Working directory.
    pub cwd: SafeText,
    /// Effects as text.
    pub effects: Vec<SafeText>,
    /// Why the policy asks.
    pub reason: SafeText,
    /// Rationale of the model.
    pub rationale: Option<SafeText>,
    /// Bytes of standard input.
    pub stdin_bytes: u64,
    /// Digest of standard input.
    pub stdin_sha256: Option<String>,
    /// Backend that would run it, and its confinement class.
    pub backend: String,
    /// Confinement was wanted and is not to be had.
    pub unconfined_fallback: bool,
    /// Offered scopes.
    pub scopes: Vec<&'static str>,
}

/// A person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This command, now.
    Once,
    /// This exact command for the rest of the session.
    ExactSession,
    /// No.
    Deny,
    /// Nobody answered in time.
    TimedOut,
}

/// The future of an answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Somebody who can be asked.
pub trait ApprovalProvider: Send + Sync {
    /// Whether there is anybody.
    fn available(&self) -> bool;

    /// Asks. Dropping the future withdraws the question.
    fn ask(&self, request: ApprovalRequest, bound: Duration) -> Answering<'_>;
}

/// Nobody: every `ask` ends as the manifest's `unavailable` says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl ApprovalProvider for Nobody {
    fn available(&self) -> bool {
        false
    }

    fn ask(&self, _: ApprovalRequest, _: Duration) -> Answering<'_> {
        Box::pin(std::future::ready(Answer::Deny))
    }
}
