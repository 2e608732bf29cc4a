//! Why an invocation did not deliver a result (spec 06 section 12).

use crate::audit::RejectStage;
use crate::output::{InvocationError, Redactor};

/// A refused or failed step. Its text may hold anything; it becomes safe in
/// [`Refusal::into_error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Executor code without prefix, or a `shell.tool_*` code.
    pub code: &'static str,
    /// The whole message.
    pub message: String,
    /// The reason in it, for audit.
    pub reason: String,
    /// Where it happened; absent where `terminated` tells it instead of `rejected`.
    pub stage: Option<RejectStage>,
    /// What differed, for stage `verification`.
    pub subject: Option<&'static str>,
}

impl Refusal {
    fn new(
        code: &'static str,
        stage: RejectStage,
        prefix: &str,
        reason: impl Into<String>,
    ) -> Self {
        let reason = reason.into();
        let message = format!("{prefix}{reason}");
        Self {
            code,
            message,
            reason,
            stage: Some(stage),
            subject: None,
        }
    }

    /// A tool input that is not acceptable; the message is the reason.
    pub fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, RejectStage::Input, "", message)
    }

    /// Adds what the document says beside the rule that refuses. For whoever asked; the audit log
    /// keeps the reason as it is.
    pub fn beside(mut self, rationale: Option<&String>) -> Self {
        if let Some(rationale) = rationale {
            self.message.push_str(rationale);
        }
        self
    }

    /// `denied`.
    pub fn denied(stage: RejectStage, reason: impl Into<String>) -> Self {
        Self::new("denied", stage, "command denied: ", reason)
    }

    /// `permission_required`; `display` is the display form of the command.
    pub fn permission_required(display: &str) -> Self {
        let prefix = "permission required for ";
        Self::new(
            "permission_required",
            RejectStage::Approval,
            prefix,
            display,
        )
    }

    /// `resolution_error`.
    pub fn resolution(reason: impl Into<String>) -> Self {
        let prefix = "executable resolution failed: ";
        Self::new("resolution_error", RejectStage::Resolution, prefix, reason)
    }

    /// `capability_violation`.
    pub fn capability(reason: impl Into<String>) -> Self {
        let prefix = "capability violation: ";
        Self::new(
            "capability_violation",
            RejectStage::Capability,
            prefix,
            reason,
        )
    }

    /// `sandbox_unavailable`.
    pub fn sandbox(reason: impl Into<String>) -> Self {
        let prefix = "sandbox unavailable: ";
        Self::new("sandbox_unavailable", RejectStage::Backend, prefix, reason)
    }

    /// `spawn_error`.
    pub fn spawn(reason: impl Into<String>) -> Self {
        let prefix = "process execution failed: ";
        Self::new("spawn_error", RejectStage::Spawn, prefix, reason)
    }

    /// `executable_changed`. `subject` is `target`, `interpreter` or `wrapper`.
    pub fn executable_changed(subject: &'static str, reason: impl Into<String>) -> Self {
        let prefix = "executable identity changed: ";
        let refusal = Self::new(
            "executable_changed",
            RejectStage::Verification,
            prefix,
            reason,
        );
        Self {
            subject: Some(subject),
            ..refusal
        }
    }

    /// `script_changed`.
    pub fn script_changed(reason: impl Into<String>) -> Self {
        let prefix = "script identity changed: ";
        let refusal = Self::new("script_changed", RejectStage::Verification, prefix, reason);
        Self {
            subject: Some("script"),
            ..refusal
        }
    }

    /// `audit_unavailable`. Not audited itself: the sink has just failed.
    pub fn audit(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let message = format!("audit unavailable: {reason}");
        Self {
            code: "audit_unavailable",
            message,
            reason,
            stage: None,
            subject: None,
        }
    }

    /// `audit_unavailable` because an earlier record was lost and the policy closes the runtime.
    pub fn closed() -> Self {
        Self::audit("the runtime was closed after a failed audit record")
    }

    /// `timed_out` with the configured wall time.
    pub fn timed_out(wall_ms: u64) -> Self {
        Self::limit(
            "timed_out",
            format!("request timed out after {}s", seconds(wall_ms)),
        )
    }

    /// `idle_timed_out` with the configured idle time.
    pub fn idle_timed_out(idle_ms: u64) -> Self {
        Self::limit(
            "idle_timed_out",
            format!("request was idle for {}s", seconds(idle_ms)),
        )
    }

    /// `output_limit_exceeded` with the count that passed the limit.
    pub fn output_limit(bytes: u64) -> Self {
        let message = format!("request exceeded total output limit at {bytes} bytes");
        Self::limit("output_limit_exceeded", message)
    }

    /// `internal_error`: the runtime found one of its own invariants broken. The detail goes to the
    /// host's log, not to the model.
    pub fn internal() -> Self {
        Self::limit("internal_error", "internal runtime error".to_owned())
    }

    fn limit(code: &'static str, message: String) -> Self {
        Self {
            code,
            reason: message.clone(),
            message,
            stage: None,
            subject: None,
        }
    }

    /// The error for the model: one redacted, sanitised, bounded line.
    pub fn into_error(self, redactor: &Redactor) -> InvocationError {
        InvocationError::new(redactor, self.code, &self.message)
    }
}

/// Milliseconds as seconds with three decimals.
fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_table() {
        for (refusal, code, message) in [
            (
                Refusal::denied(RejectStage::Policy, "no-rm"),
                "denied",
                "command denied: no-rm",
            ),
            (
                Refusal::resolution("x"),
                "resolution_error",
                "executable resolution failed: x",
            ),
            (
                Refusal::capability("x"),
                "capability_violation",
                "capability violation: x",
            ),
            (
                Refusal::sandbox("x"),
                "sandbox_unavailable",
                "sandbox unavailable: x",
            ),
            (
                Refusal::spawn("x"),
                "spawn_error",
                "process execution failed: x",
            ),
            (
                Refusal::executable_changed("target", "x"),
                "executable_changed",
                "executable identity changed: x",
            ),
            (
                Refusal::script_changed("x"),
                "script_changed",
                "script identity changed: x",
            ),
            (
                Refusal::audit("x"),
                "audit_unavailable",
                "audit unavailable: x",
            ),
            (
                Refusal::timed_out(20_000),
                "timed_out",
                "request timed out after 20.000s",
            ),
            (
                Refusal::timed_out(1_500),
                "timed_out",
                "request timed out after 1.500s",
            ),
            (
                Refusal::idle_timed_out(7),
                "idle_timed_out",
                "request was idle for 0.007s",
            ),
            (
                Refusal::output_limit(11),
                "output_limit_exceeded",
                "request exceeded total output limit at 11 bytes",
            ),
            (
                Refusal::permission_required("rm x"),
                "permission_required",
                "permission required for rm x",
            ),
        ] {
            assert_eq!((refusal.code, refusal.message.as_str()), (code, message));
        }
    }
}
