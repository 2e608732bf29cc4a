//! The versioned records as data: names, fields, types and the words an action may be.

use crate::surface::Kind;

/// A record that crosses the boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Record {
    /// The event of matchers, reviewers, before-interceptors and analyzers.
    Context,
    /// What the policy decided.
    Policy,
    /// A reviewer's answer.
    Approval,
    /// A before-interceptor's answer.
    Interceptor,
    /// An analyzer's answer.
    Effect,
    /// The event of after-interceptors.
    Result,
    /// An after-interceptor's answer.
    ResultResponse,
    /// The event of audit filters.
    Audit,
    /// An audit filter's answer.
    AuditResponse,
}

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field {
    Text,
    Texts,
    Int,
    Float,
    Bool,
    OptionText,
    /// `approve_for` and `deny` have a text here, `rewrite` an array, the others nothing.
    Argument,
    /// A record without a version.
    Part(&'static [(&'static str, Field)]),
    Parts(&'static [(&'static str, Field)]),
    OptionPolicy,
    /// A decimal number of 64 bits without sign and superfluous zeros.
    Sequence,
    /// Names must not repeat.
    AuditFields,
    /// One of the words.
    Word(&'static [&'static str]),
}

type Fields = &'static [(&'static str, Field)];

const EXECUTABLE: Fields = &[
    ("canonical_path", Field::Text),
    ("path", Field::Text),
    ("requested", Field::Text),
    ("sha256", Field::Text),
    ("trusted", Field::Bool),
];

const CAPABILITIES: Fields = &[
    ("arbitrary_code", Field::Bool),
    ("child_processes", Field::Bool),
    ("network", Field::Bool),
    ("privilege_change", Field::Bool),
    ("read_roots", Field::Texts),
    ("sandbox", Field::Text),
    ("write_roots", Field::Texts),
];

const MATCH: Fields = &[
    ("action", Field::Text),
    ("reason", Field::OptionText),
    ("rule_id", Field::Text),
];

const NAME_VALUE: Fields = &[("name", Field::Text), ("value", Field::Text)];

const CONTEXT: Fields = &[
    ("argv", Field::Texts),
    ("capabilities", Field::Part(CAPABILITIES)),
    ("cwd", Field::Text),
    ("effects", Field::Texts),
    ("executable", Field::Part(EXECUTABLE)),
    ("manifest_sha256", Field::Text),
    ("origin", Field::Text),
    ("phase", Field::Text),
    ("policy", Field::OptionPolicy),
    ("request_id", Field::Text),
    ("request_kind", Field::Text),
    ("runtime_id", Field::Text),
    ("script_preview", Field::OptionText),
    ("script_sha256", Field::OptionText),
    ("session_id", Field::OptionText),
    ("stdin_bytes", Field::Int),
    ("stdin_kind", Field::Text),
    ("stdin_sha256", Field::OptionText),
];

const POLICY: Fields = &[
    ("action", Field::Word(&["allow", "ask", "deny"])),
    ("matches", Field::Parts(MATCH)),
    ("reason", Field::Text),
];

const APPROVAL: Fields = &[
    (
        "action",
        Field::Word(&["approve", "approve_for", "deny", "rewrite", "defer"]),
    ),
    ("argument", Field::Argument),
];

const EFFECT: Fields = &[
    ("action", Field::Word(&["add", "replace"])),
    ("effects", Field::Texts),
];

const RESULT: Fields = &[
    ("argv", Field::Texts),
    ("intercepted_by", Field::OptionText),
    ("phase", Field::Text),
    ("status_code", Field::Int),
    ("status_kind", Field::Word(&["exited", "signaled"])),
    ("stderr", Field::Text),
    ("stderr_truncated", Field::Bool),
    ("stdout", Field::Text),
    ("stdout_truncated", Field::Bool),
    ("untrusted_output", Field::Bool),
];

const AUDIT: Fields = &[
    ("event", Field::Text),
    ("fields", Field::AuditFields),
    ("manifest_sha256", Field::Text),
    ("phase", Field::Text),
    ("plan_id", Field::OptionText),
    ("request_id", Field::Text),
    ("runtime_id", Field::Text),
    ("sequence", Field::Sequence),
    ("session_id", Field::OptionText),
    ("timestamp", Field::Float),
];

/// The fields of each action beside `version` and `action`.
type Actions = &'static [(&'static str, Fields)];

const INTERCEPTOR: Actions = &[
    ("continue", &[]),
    ("rewrite", &[("argv", Field::Texts)]),
    (
        "respond",
        &[("stderr", Field::Text), ("stdout", Field::Text)],
    ),
    ("reject", &[("reason", Field::Text)]),
];

const RESULT_RESPONSE: Actions = &[
    ("keep", &[]),
    (
        "replace",
        &[("stderr", Field::Text), ("stdout", Field::Text)],
    ),
    ("reject_disclosure", &[("reason", Field::Text)]),
];

const AUDIT_RESPONSE: Actions = &[
    ("keep", &[]),
    ("drop_field", &[("field", Field::Text)]),
    ("replace", &[("fields", Field::AuditFields)]),
];

/// The fields of a record beside its version.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// Always the same.
    Fixed(Fields),
    /// By the value of `action`.
    ByAction(Actions),
}

impl Record {
    /// All records.
    pub const ALL: [Self; 9] = [
        Self::Context,
        Self::Policy,
        Self::Approval,
        Self::Interceptor,
        Self::Effect,
        Self::Result,
        Self::ResultResponse,
        Self::Audit,
        Self::AuditResponse,
    ];

    /// The version that the record states.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Context => "shell-context-v1",
            Self::Policy => "shell-policy-v1",
            Self::Approval => "shell-approval-v1",
            Self::Interceptor => "shell-interceptor-v1",
            Self::Effect => "shell-effect-v1",
            Self::Result => "shell-result-v1",
            Self::ResultResponse => "shell-result-response-v1",
            Self::Audit => "shell-audit-v1",
            Self::AuditResponse => "shell-audit-response-v1",
        }
    }

    /// The name at the beginning of paths in errors.
    pub const fn root(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Policy => "policy",
            Self::Approval => "approval",
            Self::Interceptor => "interceptor",
            Self::Effect => "effect",
            Self::Result => "result",
            Self::ResultResponse => "result_response",
            Self::Audit => "audit",
            Self::AuditResponse => "audit_response",
        }
    }

    /// What scripts of a kind are called with.
    pub fn event_of(kind: Kind) -> Option<Self> {
        match kind.contract()?.event {
            "shell_context" => Some(Self::Context),
            "shell_result" => Some(Self::Result),
            "shell_audit" => Some(Self::Audit),
            _ => None,
        }
    }

    pub(super) const fn shape(self) -> Shape {
        match self {
            Self::Context => Shape::Fixed(CONTEXT),
            Self::Policy => Shape::Fixed(POLICY),
            Self::Approval => Shape::Fixed(APPROVAL),
            Self::Interceptor => Shape::ByAction(INTERCEPTOR),
            Self::Effect => Shape::Fixed(EFFECT),
            Self::Result => Shape::Fixed(RESULT),
            Self::ResultResponse => Shape::ByAction(RESULT_RESPONSE),
            Self::Audit => Shape::Fixed(AUDIT),
            Self::AuditResponse => Shape::ByAction(AUDIT_RESPONSE),
        }
    }
}

/// The fields of an audit field.
pub(super) const AUDIT_FIELD: Fields = NAME_VALUE;
