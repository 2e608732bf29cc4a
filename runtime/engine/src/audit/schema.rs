//! Which members an event has, in which order, at which content level (spec 08 sections 6.2, 6.3).

use chatmd_compiler::manifest::AuditContent;

/// The lowest content level that shows a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Metadata,
    Redacted,
    Full,
}

impl Level {
    /// The level of a declared content.
    pub(crate) const fn of(content: AuditContent) -> Self {
        match content {
            AuditContent::Metadata => Self::Metadata,
            AuditContent::Redacted => Self::Redacted,
            AuditContent::Full => Self::Full,
        }
    }
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    System,
    Manifest,
    Request,
    Management,
}

/// Members of one event, by level; `order` is the order in which they are written.
pub(crate) struct EventSchema {
    pub(crate) name: &'static str,
    pub(crate) class: Class,
    pub(crate) fields: &'static [(&'static str, Level)],
}

use Class::{Management, Manifest, Request, System};
use Level::{Full as F, Metadata as M, Redacted as R};

/// Command metadata, written before the event's own members.
pub(crate) const COMMAND: &[(&str, Level)] = &[
    ("request_kind", M),
    ("command_sha256", M),
    ("command_redacted", M),
    ("cwd_sha256", M),
    ("effects", M),
    ("command", R),
    ("argv", F),
    ("cwd", F),
    ("executable", F),
    ("effect_details", F),
];

macro_rules! events {
    ($($name:literal $class:ident [$($field:literal $level:ident),* $(,)?])+) => {
        /// Every event, in the order of the specification.
        pub(crate) const EVENTS: &[EventSchema] = &[
            $(EventSchema { name: $name, class: $class, fields: &[$(($field, $level)),*] }),+
        ];
    };
}

events! {
    "log_opened" System [
        "writer" M, "writer_version" M, "pid" M, "content" M, "continues_file" M,
        "lost_sequence" M, "lost_event_sha256" M,
    ]
    "log_recovered" System ["discarded_bytes" M, "discarded_sha256" M, "last_valid_sequence" M]
    "manifest_authorized" Manifest [
        "authorization" M, "grant_id" M, "signature_key_id" M, "trusted_source_ids" M,
        "admin_policy_sha256" M,
    ]
    "manifest_rejected" Manifest ["code" M, "reason" R]
    "runtime_started" Manifest ["backend_names" M, "confinement" M, "tool_count" M]
    "runtime_stopped" Manifest ["cause" M]
    "request_received" Request [
        "tool_name" M, "origin" M, "stdin_kind" M, "stdin_bytes" M, "stdin_sha256" M,
    ]
    "resolved" Request [
        "executable_sha256" M, "trusted" M, "command_index" M, "rewrite_depth" M, "analyzers" M,
    ]
    "policy_decided" Request ["policy_action" M, "policy_matches" M, "policy_reason" R]
    "extension_invoked" Request [
        "extension_id" M, "extension_kind" M, "mechanism" M, "hook_request_id" M,
    ]
    "extension_completed" Request [
        "extension_id" M, "outcome" M, "code" M, "latency_ms" M, "diagnostic" R,
    ]
    "intercepted" Request [
        "interceptor" M, "action" M, "rewrite_depth" M, "previous_command_sha256" M,
    ]
    "approval_requested" Request ["offered_scopes" M, "rationale" F]
    "reviewer_completed" Request [
        "reviewer_id" M, "reviewer_kind" M, "model" M, "response_action" M, "input_tokens" M,
        "output_tokens" M, "latency_ms" M, "reason" R, "prompt" F, "response" F,
    ]
    "approval_answered" Request [
        "approval_answer" M, "reviewer_id" M, "scope" M, "expires_at" M, "grant_id" M,
    ]
    "grant_created" Request ["grant_id" M, "scope" M, "expires_at_ns" M, "store" M]
    "plan_created" Request ["backend" M, "confinement" M, "created_roots" M]
    "started" Request ["backend" M, "pid" M]
    "output" Request ["channel" M, "bytes" M, "final" M]
    "finished" Request ["exit_kind" M, "exit_code" M, "signal" M]
    "terminated" Request ["exit_kind" M, "timeout_seconds" M, "limit_bytes" M]
    "rejected" Request ["code" M, "stage" M, "subject" M, "reason" R]
    "request_completed" Request [
        "outcome" M, "code" M, "commands" M, "stdout_bytes" M, "stderr_bytes" M, "duration_ms" M,
        "stdout" F, "stderr" F,
    ]
    "request_interrupted" Request ["last_event" M, "interrupted_sequence" M]
    "grant_revoked" Management ["grant_id" M, "scope" M, "reason" R]
    "manifest_grant_created" Management ["grant_id" M, "reason" R]
    "manifest_grant_revoked" Management ["grant_id" M, "reason" R]
    "audit_recovered" System ["lost_events" M, "first_failure_timestamp" M]
}

/// The schema of an event by name.
pub(crate) fn event_schema(name: &str) -> Option<&'static EventSchema> {
    EVENTS.iter().find(|schema| schema.name == name)
}
