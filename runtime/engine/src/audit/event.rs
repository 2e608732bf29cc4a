//! Audit events (spec 08 section 6.3).

use std::sync::Arc;

use super::command::CommandFacts;
use crate::output::ExitStatus;

macro_rules! words {
    ($($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $name {
                $(
                    #[doc = concat!("`", $word, "`")]
                    $variant,
                )+
            }

            impl $name {
                /// The word as written in the log.
                pub const fn as_str(self) -> &'static str {
                    match self {
                        $(Self::$variant => $word),+
                    }
                }
            }
        )+
    };
}

words! {
    /// Why a manifest may run.
    Authorization {
        Grant = "grant", Process = "process", Embedder = "embedder", NoneRequired = "none_required",
    }
    /// How an extension runs.
    Mechanism { Chatml = "chatml", Executable = "executable" }
    /// What an interceptor did.
    InterceptAction {
        Rewrite = "rewrite", Respond = "respond", Replace = "replace", Reject = "reject",
    }
    /// Answer to an `ask`.
    AnswerKind {
        Grant = "grant", ApproveOnce = "approve_once", ApproveScoped = "approve_scoped",
        Deny = "deny", Rewrite = "rewrite",
    }
    /// Output channel.
    Channel { Stdout = "stdout", Stderr = "stderr" }
    /// Where a command was refused.
    RejectStage {
        Input = "input", Resolution = "resolution", Administration = "administration",
        Capability = "capability", Policy = "policy", Interceptor = "interceptor",
        Approval = "approval", Backend = "backend", Verification = "verification", Spawn = "spawn",
    }
    /// How a request ended.
    CompletionOutcome {
        Result = "result", Synthetic = "synthetic", Error = "error", Cancelled = "cancelled",
    }
}

/// Why a started process was ended by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminationKind {
    /// Wall time, in milliseconds.
    TimedOut(u64),
    /// Idle time, in milliseconds.
    IdleTimedOut(u64),
    /// Total output, in bytes.
    OutputLimitExceeded(u64),
    /// The invocation was cancelled.
    Cancelled,
    /// An audit write failed under `terminate`.
    AuditFailure,
}

/// One event. Session, manifest digest, sequence and time come from the sink.
#[derive(Clone, Debug)]
pub struct Event {
    /// Qualified runtime id, `manifest` for events of the document.
    pub runtime_id: String,
    /// Request id, or one of the other forms of section 6.1.
    pub request_id: String,
    /// Plan id, from `plan_created` on.
    pub plan_id: Option<String>,
    /// Facts of the command that the event is about.
    pub command: Option<Arc<CommandFacts>>,
    /// Whose event it is, when it is not the sink's own session and manifest.
    pub origin: Option<Origin>,
    /// What happened.
    pub body: EventBody,
}

/// Session and manifest of an event that is written on behalf of another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Session of that host.
    pub session_id: Option<String>,
    /// Bound digest of its manifest.
    pub manifest_sha256: String,
}

impl Event {
    /// An event of a request without a command.
    pub fn request(runtime_id: &str, request_id: &str, body: EventBody) -> Self {
        Self {
            runtime_id: runtime_id.to_owned(),
            request_id: request_id.to_owned(),
            plan_id: None,
            command: None,
            origin: None,
            body,
        }
    }

    /// An event of the document as a whole.
    pub fn document(request_id: &str, body: EventBody) -> Self {
        Self::request("manifest", request_id, body)
    }

    /// Adds the facts of the command.
    #[must_use]
    pub fn with_command(mut self, command: &Arc<CommandFacts>) -> Self {
        self.command = Some(Arc::clone(command));
        self
    }

    /// Adds the plan.
    #[must_use]
    pub fn with_plan(mut self, plan_id: &str) -> Self {
        self.plan_id = Some(plan_id.to_owned());
        self
    }
}

/// What happened, with the members of its own. Text may be raw: the sink redacts and sanitises it.
/// A member that the sink's content level does not show is left out there.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The members are those of the specification, by the same names.
pub enum EventBody {
    ManifestAuthorized {
        authorization: Authorization,
        grant_id: Option<String>,
        signature_key_id: Option<String>,
        trusted_source_ids: Vec<String>,
        admin_policy_sha256: Option<String>,
    },
    ManifestRejected {
        code: String,
        reason: String,
    },
    RuntimeStarted {
        backend_names: Vec<String>,
        confinement: String,
        tool_count: u64,
    },
    RuntimeStopped {
        cause: String,
    },
    RequestReceived {
        tool_name: String,
        origin: String,
        stdin_kind: &'static str,
        stdin_bytes: u64,
        stdin_sha256: Option<String>,
    },
    Resolved {
        executable_sha256: String,
        trusted: bool,
        command_index: u64,
        rewrite_depth: u64,
        /// Analyzer ids and their outcomes.
        analyzers: Vec<(String, String)>,
    },
    PolicyDecided {
        action: &'static str,
        matches: Vec<String>,
        reason: Option<String>,
    },
    ExtensionInvoked {
        extension_id: String,
        extension_kind: String,
        mechanism: Mechanism,
        hook_request_id: Option<String>,
    },
    ExtensionCompleted {
        extension_id: String,
        outcome: String,
        code: Option<String>,
        latency_ms: u64,
        diagnostic: Option<String>,
    },
    Intercepted {
        interceptor: String,
        action: InterceptAction,
        rewrite_depth: u64,
        /// Only for a rewrite.
        previous_command_sha256: Option<String>,
    },
    ApprovalRequested {
        offered_scopes: Vec<&'static str>,
        rationale: Option<String>,
    },
    ReviewerCompleted {
        reviewer_id: Option<String>,
        reviewer_kind: String,
        model: Option<String>,
        response_action: String,
        input_tokens: Option<u64>,
        output_tokens: Option<u64>,
        latency_ms: u64,
        reason: Option<String>,
        prompt: Option<String>,
        response: Option<String>,
    },
    ApprovalAnswered {
        answer: AnswerKind,
        reviewer_id: Option<String>,
        scope: Option<&'static str>,
        /// Unix seconds.
        expires_at: Option<u64>,
        grant_id: Option<String>,
    },
    GrantCreated {
        grant_id: String,
        scope: &'static str,
        /// Decimal text (section 2.3).
        expires_at_ns: Option<String>,
        store: String,
    },
    /// `created_roots`: missing write roots that were made for this plan (06b B2.4 rule 3).
    PlanCreated {
        backend: String,
        confinement: String,
        created_roots: Vec<String>,
    },
    /// `pid` is absent for a simulated command.
    Started {
        backend: String,
        pid: Option<u32>,
    },
    /// `bytes` since the previous event of this plan and channel.
    Output {
        channel: Channel,
        bytes: u64,
        last: bool,
    },
    Finished {
        status: ExitStatus,
    },
    Terminated {
        kind: TerminationKind,
    },
    Rejected {
        code: String,
        stage: RejectStage,
        /// Only at the stage `verification`.
        subject: Option<&'static str>,
        reason: String,
    },
    RequestCompleted {
        outcome: CompletionOutcome,
        code: Option<String>,
        commands: u64,
        stdout_bytes: u64,
        stderr_bytes: u64,
        duration_ms: u64,
        /// Finalised; cut to 64 KiB here.
        stdout: Option<String>,
        /// Finalised; cut to 64 KiB here.
        stderr: Option<String>,
    },
    RequestInterrupted {
        last_event: String,
        interrupted_sequence: u64,
    },
    GrantRevoked {
        grant_id: String,
        scope: &'static str,
        reason: String,
    },
    ManifestGrantCreated {
        grant_id: String,
        reason: Option<String>,
    },
    ManifestGrantRevoked {
        grant_id: String,
        reason: String,
    },
    /// Written by the sink itself when it opens a log.
    LogOpened {
        content: &'static str,
        continues_file: bool,
        /// Sequence and digest of the last event of a log that stood here and is gone.
        lost: Option<(u64, String)>,
    },
    /// Written by the sink itself after a torn tail.
    LogRecovered {
        discarded_bytes: u64,
        discarded_sha256: String,
        last_valid_sequence: Option<u64>,
    },
    /// Written by the sink itself before the first event after a failure.
    AuditRecovered {
        lost_events: u64,
        /// Microseconds since the Unix epoch.
        first_failure_micros: u64,
    },
}
