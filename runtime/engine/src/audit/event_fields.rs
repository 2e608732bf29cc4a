//! The members of each event body. Their order and levels are those of [`super::schema`].

use super::event::{EventBody, TerminationKind};
use super::value::{Member, Value};
use crate::output::ExitStatus;

/// Bound of `stdout` and `stderr` in an event, in bytes.
const OUTPUT_MAX: usize = 64 * 1024;

/// Bound of `diagnostic`, in bytes.
const DIAGNOSTIC_MAX: usize = 4 * 1024;

/// Builds the list of members from `name => value` rows; a value of `None` is left out.
macro_rules! members {
    ($($name:literal => $value:expr),* $(,)?) => {
        [$(Row::row($name, $value)),*].into_iter().flatten().collect()
    };
}

/// A value, or an optional one that is left out when absent.
trait Row {
    fn row(name: &'static str, value: Self) -> Option<Member>;
}

impl Row for Value {
    fn row(name: &'static str, value: Self) -> Option<Member> {
        Some(Member::new(name, value))
    }
}

impl Row for Option<Value> {
    fn row(name: &'static str, value: Self) -> Option<Member> {
        value.map(|value| Member::new(name, value))
    }
}

fn word(text: &str) -> Value {
    Value::word(text.to_owned())
}

fn words(list: &[&'static str]) -> Value {
    Value::Words(list.iter().map(|word| (*word).into()).collect())
}

/// Text that is left out when absent.
fn shown(text: Option<&String>, limit: usize) -> Option<Value> {
    text.map(|text| Value::text(&text[..text.floor_char_boundary(limit)]))
}

/// Name and members of an event.
type Fields = (&'static str, Vec<Member>);

impl EventBody {
    /// The name and the members of the event.
    pub(crate) fn fields(&self) -> Fields {
        let groups: [fn(&Self) -> Option<Fields>; 8] = [
            Self::log_fields,
            Self::manifest_fields,
            Self::decision_fields,
            Self::extension_fields,
            Self::approval_fields,
            Self::grant_fields,
            Self::process_fields,
            Self::completion_fields,
        ];
        let found = groups.iter().find_map(|group| group(self));
        // Every body is in one of the groups; a test emits them all.
        found.unwrap_or(("unknown", Vec::new()))
    }

    fn log_fields(&self) -> Option<Fields> {
        Some(match self {
            Self::LogOpened {
                content,
                continues_file,
                lost,
            } => (
                "log_opened",
                members! {
                    "writer" => Value::word("chatmd"),
                    "writer_version" => Value::word(env!("CARGO_PKG_VERSION")),
                    "pid" => Value::Int(u64::from(std::process::id())),
                    "content" => Value::word(*content),
                    "continues_file" => Value::Bool(*continues_file),
                    "lost_sequence" => lost.as_ref().map(|(sequence, _)| Value::Int(*sequence)),
                    "lost_event_sha256" => lost.as_ref().map(|(_, digest)| Value::word(digest.clone())),
                },
            ),
            Self::LogRecovered {
                discarded_bytes,
                discarded_sha256,
                last_valid_sequence,
            } => (
                "log_recovered",
                members! {
                    "discarded_bytes" => Value::Int(*discarded_bytes),
                    "discarded_sha256" => word(discarded_sha256),
                    "last_valid_sequence" => Value::optional_int(*last_valid_sequence),
                },
            ),
            Self::AuditRecovered {
                lost_events,
                first_failure_micros,
            } => (
                "audit_recovered",
                members! {
                    "lost_events" => Value::Int(*lost_events),
                    "first_failure_timestamp" => Value::Micros(*first_failure_micros),
                },
            ),
            _ => return None,
        })
    }

    fn manifest_fields(&self) -> Option<Fields> {
        Some(match self {
            Self::ManifestAuthorized {
                authorization,
                grant_id,
                signature_key_id,
                trusted_source_ids,
                admin_policy_sha256,
            } => (
                "manifest_authorized",
                members! {
                    "authorization" => Value::word(authorization.as_str()),
                    "grant_id" => Value::optional_word(grant_id.as_deref()),
                    "signature_key_id" => Value::optional_text(signature_key_id.as_deref()),
                    "trusted_source_ids" => Value::Texts(trusted_source_ids.clone()),
                    "admin_policy_sha256" => Value::optional_word(admin_policy_sha256.as_deref()),
                },
            ),
            Self::ManifestRejected { code, reason } => (
                "manifest_rejected",
                members! {
                    "code" => word(code),
                    "reason" => Value::text(reason),
                },
            ),
            Self::RuntimeStarted {
                backend_names,
                confinement,
                tool_count,
            } => (
                "runtime_started",
                members! {
                    "backend_names" => Value::Texts(backend_names.clone()),
                    "confinement" => Value::text(confinement),
                    "tool_count" => Value::Int(*tool_count),
                },
            ),
            Self::RuntimeStopped { cause } => (
                "runtime_stopped",
                members! {
                    "cause" => Value::text(cause),
                },
            ),
            _ => return None,
        })
    }

    fn decision_fields(&self) -> Option<Fields> {
        Some(match self {
            Self::RequestReceived {
                tool_name,
                origin,
                stdin_kind,
                stdin_bytes,
                stdin_sha256,
            } => (
                "request_received",
                members! {
                    "tool_name" => Value::text(tool_name),
                    "origin" => Value::text(origin),
                    "stdin_kind" => Value::word(*stdin_kind),
                    "stdin_bytes" => Value::Int(*stdin_bytes),
                    "stdin_sha256" => Value::optional_word(stdin_sha256.as_deref()),
                },
            ),
            Self::Resolved {
                executable_sha256,
                trusted,
                command_index,
                rewrite_depth,
                analyzers,
            } => (
                "resolved",
                members! {
                    "executable_sha256" => word(executable_sha256),
                    "trusted" => Value::Bool(*trusted),
                    "command_index" => Value::Int(*command_index),
                    "rewrite_depth" => Value::Int(*rewrite_depth),
                    "analyzers" => Value::Outcomes(analyzers.clone()),
                },
            ),
            Self::PolicyDecided {
                action,
                matches,
                reason,
            } => (
                "policy_decided",
                members! {
                    "policy_action" => Value::word(*action),
                    "policy_matches" => Value::Texts(matches.clone()),
                    "policy_reason" => shown(reason.as_ref(), usize::MAX),
                },
            ),
            Self::Rejected {
                code,
                stage,
                subject,
                reason,
            } => (
                "rejected",
                members! {
                    "code" => word(code),
                    "stage" => Value::word(stage.as_str()),
                    "subject" => subject.map(Value::word),
                    "reason" => Value::text(reason),
                },
            ),
            _ => return None,
        })
    }

    fn extension_fields(&self) -> Option<Fields> {
        Some(match self {
            Self::ExtensionInvoked {
                extension_id,
                extension_kind,
                mechanism,
                hook_request_id,
            } => (
                "extension_invoked",
                members! {
                    "extension_id" => Value::text(extension_id),
                    "extension_kind" => Value::text(extension_kind),
                    "mechanism" => Value::word(mechanism.as_str()),
                    "hook_request_id" => Value::optional_word(hook_request_id.as_deref()),
                },
            ),
            Self::ExtensionCompleted {
                extension_id,
                outcome,
                code,
                latency_ms,
                diagnostic,
            } => (
                "extension_completed",
                members! {
                    "extension_id" => Value::text(extension_id),
                    "outcome" => Value::text(outcome),
                    "code" => Value::optional_word(code.as_deref()),
                    "latency_ms" => Value::Int(*latency_ms),
                    "diagnostic" => shown(diagnostic.as_ref(), DIAGNOSTIC_MAX),
                },
            ),
            Self::Intercepted {
                interceptor,
                action,
                rewrite_depth,
                previous_command_sha256,
            } => (
                "intercepted",
                members! {
                    "interceptor" => Value::text(interceptor),
                    "action" => Value::word(action.as_str()),
                    "rewrite_depth" => Value::Int(*rewrite_depth),
                    "previous_command_sha256" => previous_command_sha256.as_deref().map(word),
                },
            ),
            _ => return None,
        })
    }

    fn approval_fields(&self) -> Option<Fields> {
        Some(match self {
            Self::ApprovalRequested {
                offered_scopes,
                rationale,
            } => (
                "approval_requested",
                members! {
                    "offered_scopes" => words(offered_scopes),
                    "rationale" => shown(rationale.as_ref(), usize::MAX),
                },
            ),
            Self::ReviewerCompleted {
                reviewer_id,
                reviewer_kind,
                model,
                response_action,
                input_tokens,
                output_tokens,
                latency_ms,
                reason,
                prompt,
                response,
            } => (
                "reviewer_completed",
                members! {
                    "reviewer_id" => Value::optional_text(reviewer_id.as_deref()),
                    "reviewer_kind" => Value::text(reviewer_kind),
                    "model" => Value::optional_text(model.as_deref()),
                    "response_action" => Value::text(response_action),
                    "input_tokens" => Value::optional_int(*input_tokens),
                    "output_tokens" => Value::optional_int(*output_tokens),
                    "latency_ms" => Value::Int(*latency_ms),
                    "reason" => shown(reason.as_ref(), usize::MAX),
                    "prompt" => shown(prompt.as_ref(), usize::MAX),
                    "response" => shown(response.as_ref(), usize::MAX),
                },
            ),
            Self::ApprovalAnswered {
                answer,
                reviewer_id,
                scope,
                expires_at,
                grant_id,
            } => (
                "approval_answered",
                members! {
                    "approval_answer" => Value::word(answer.as_str()),
                    "reviewer_id" => Value::optional_text(reviewer_id.as_deref()),
                    "scope" => Value::optional_word(*scope),
                    "expires_at" => Value::optional_int(*expires_at),
                    "grant_id" => Value::optional_word(grant_id.as_deref()),
                },
            ),
            _ => return None,
        })
    }

    fn grant_fields(&self) -> Option<Fields> {
        Some(match self {
            Self::GrantCreated {
                grant_id,
                scope,
                expires_at_ns,
                store,
            } => (
                "grant_created",
                members! {
                    "grant_id" => word(grant_id),
                    "scope" => Value::word(*scope),
                    "expires_at_ns" => Value::optional_word(expires_at_ns.as_deref()),
                    "store" => Value::text(store),
                },
            ),
            Self::GrantRevoked {
                grant_id,
                scope,
                reason,
            } => (
                "grant_revoked",
                members! {
                    "grant_id" => word(grant_id),
                    "scope" => Value::word(*scope),
                    "reason" => Value::text(reason),
                },
            ),
            Self::ManifestGrantCreated { grant_id, reason } => (
                "manifest_grant_created",
                members! {
                    "grant_id" => word(grant_id),
                    "reason" => shown(reason.as_ref(), usize::MAX),
                },
            ),
            Self::ManifestGrantRevoked { grant_id, reason } => (
                "manifest_grant_revoked",
                members! {
                    "grant_id" => word(grant_id),
                    "reason" => Value::text(reason),
                },
            ),
            _ => return None,
        })
    }

    fn process_fields(&self) -> Option<Fields> {
        Some(match self {
            Self::PlanCreated {
                backend,
                confinement,
                created_roots,
            } => (
                "plan_created",
                members! {
                    "backend" => Value::text(backend),
                    "confinement" => Value::text(confinement),
                    "created_roots" => (!created_roots.is_empty())
                        .then(|| Value::Texts(created_roots.clone())),
                },
            ),
            Self::Started { backend, pid } => (
                "started",
                members! {
                    "backend" => Value::text(backend),
                    "pid" => Value::optional_int(pid.map(u64::from)),
                },
            ),
            Self::Output {
                channel,
                bytes,
                last,
            } => (
                "output",
                members! {
                    "channel" => Value::word(channel.as_str()),
                    "bytes" => Value::Int(*bytes),
                    "final" => Value::Bool(*last),
                },
            ),
            Self::Finished {
                status: ExitStatus::Exited(code),
            } => (
                "finished",
                members! {
                    "exit_kind" => Value::word("exited"),
                    "exit_code" => Value::Signed(i64::from(*code)),
                },
            ),
            Self::Finished {
                status: ExitStatus::Signaled(signal),
            } => (
                "finished",
                members! {
                    "exit_kind" => Value::word("signaled"),
                    "signal" => Value::Signed(i64::from(*signal)),
                },
            ),
            Self::Terminated { kind } => ("terminated", terminated(*kind)),
            _ => return None,
        })
    }

    fn completion_fields(&self) -> Option<Fields> {
        Some(match self {
            Self::RequestCompleted {
                outcome,
                code,
                commands,
                stdout_bytes,
                stderr_bytes,
                duration_ms,
                stdout,
                stderr,
            } => (
                "request_completed",
                members! {
                    "outcome" => Value::word(outcome.as_str()),
                    "code" => Value::optional_word(code.as_deref()),
                    "commands" => Value::Int(*commands),
                    "stdout_bytes" => Value::Int(*stdout_bytes),
                    "stderr_bytes" => Value::Int(*stderr_bytes),
                    "duration_ms" => Value::Int(*duration_ms),
                    "stdout" => shown(stdout.as_ref(), OUTPUT_MAX),
                    "stderr" => shown(stderr.as_ref(), OUTPUT_MAX),
                },
            ),
            Self::RequestInterrupted {
                last_event,
                interrupted_sequence,
            } => (
                "request_interrupted",
                members! {
                    "last_event" => Value::text(last_event),
                    "interrupted_sequence" => Value::Int(*interrupted_sequence),
                },
            ),
            _ => return None,
        })
    }
}

fn terminated(kind: TerminationKind) -> Vec<Member> {
    let (name, time, bytes) = match kind {
        TerminationKind::TimedOut(ms) => ("timed_out", Some(ms), None),
        TerminationKind::IdleTimedOut(ms) => ("idle_timed_out", Some(ms), None),
        TerminationKind::OutputLimitExceeded(bytes) => ("output_limit_exceeded", None, Some(bytes)),
        TerminationKind::Cancelled => ("cancelled", None, None),
        TerminationKind::AuditFailure => ("audit_failure", None, None),
    };
    members! {
        "exit_kind" => Value::word(name),
        "timeout_seconds" => time.map(Value::Seconds),
        "limit_bytes" => bytes.map(Value::Int),
    }
}
