//! What a script is called with.

use super::schema::Record;
use crate::value::data::Data;

/// A resolved program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// As the command names it.
    pub requested: String,
    /// Where it was found.
    pub path: String,
    /// After symbolic links.
    pub canonical_path: String,
    /// Digest of its bytes, hexadecimal.
    pub sha256: String,
    /// Whether its place is trusted.
    pub trusted: bool,
}

/// What the runtime allows at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Folders that may be read.
    pub read_roots: Vec<String>,
    /// Folders that may be written.
    pub write_roots: Vec<String>,
    /// The network.
    pub network: bool,
    /// Starting other programs.
    pub child_processes: bool,
    /// Running code that nobody has seen.
    pub arbitrary_code: bool,
    /// Changing privileges.
    pub privilege_change: bool,
    /// `required`, `preferred` or `direct_unsafe`.
    pub sandbox: String,
}

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyMatch {
    /// The rule.
    pub rule_id: String,
    /// `allow`, `ask` or `deny`.
    pub action: String,
    /// The rule's reason.
    pub reason: Option<String>,
}

/// What the policy decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// `allow`, `ask` or `deny`.
    pub action: String,
    /// Why.
    pub reason: String,
    /// Every rule that matched.
    pub matches: Vec<PolicyMatch>,
}

/// The event of matchers, reviewers, before-interceptors and analyzers (`shell-context-v1`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // Spec 05b section 4.1 has one row for each field.
pub struct ShellContext {
    pub phase: String,
    pub request_id: String,
    pub runtime_id: String,
    pub manifest_sha256: String,
    pub argv: Vec<String>,
    pub executable: Executable,
    pub cwd: String,
    pub origin: String,
    pub request_kind: String,
    pub stdin_kind: String,
    pub stdin_sha256: Option<String>,
    pub stdin_bytes: u64,
    pub script_sha256: Option<String>,
    pub script_preview: Option<String>,
    pub effects: Vec<String>,
    pub capabilities: Capabilities,
    pub session_id: Option<String>,
    pub policy: Option<Policy>,
}

/// The event of after-interceptors (`shell-result-v1`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // Spec 05b section 4.3.
pub struct CommandResult {
    pub argv: Vec<String>,
    /// `exited` or `signaled`.
    pub status_kind: String,
    pub status_code: i64,
    pub stdout: String,
    pub stderr: String,
    pub stdout_truncated: bool,
    pub stderr_truncated: bool,
    pub intercepted_by: Option<String>,
    pub untrusted_output: bool,
}

/// A mutable field of an audit event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditField {
    /// Its name.
    pub name: String,
    /// Its value as text, redacted.
    pub value: String,
}

/// The event of audit filters (`shell-audit-v1`).
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // Spec 05b section 4.4.
pub struct AuditEvent {
    pub sequence: u64,
    /// Seconds since the epoch.
    pub timestamp: f64,
    pub session_id: Option<String>,
    pub runtime_id: String,
    pub manifest_sha256: String,
    pub request_id: String,
    pub plan_id: Option<String>,
    pub event: String,
    pub fields: Vec<AuditField>,
}

fn text(value: &str) -> Data {
    Data::string(value)
}

fn texts(values: &[String]) -> Data {
    Data::strings(values.iter().map(String::as_str))
}

fn optional(value: Option<&String>) -> Data {
    Data::option(value.map(|value| text(value)))
}

impl Policy {
    /// The record a script sees.
    pub fn to_data(&self) -> Data {
        let matches = self.matches.iter().map(|found| {
            Data::record([
                ("rule_id", text(&found.rule_id)),
                ("action", text(&found.action)),
                ("reason", optional(found.reason.as_ref())),
            ])
        });
        Data::record([
            ("version", text(Record::Policy.version())),
            ("action", text(&self.action)),
            ("reason", text(&self.reason)),
            ("matches", Data::Array(matches.collect())),
        ])
    }
}

impl ShellContext {
    /// The record a script sees.
    pub fn to_data(&self) -> Data {
        let executable = &self.executable;
        let allowed = &self.capabilities;
        Data::record([
            ("version", text(Record::Context.version())),
            ("phase", text(&self.phase)),
            ("request_id", text(&self.request_id)),
            ("runtime_id", text(&self.runtime_id)),
            ("manifest_sha256", text(&self.manifest_sha256)),
            ("argv", texts(&self.argv)),
            (
                "executable",
                Data::record([
                    ("requested", text(&executable.requested)),
                    ("path", text(&executable.path)),
                    ("canonical_path", text(&executable.canonical_path)),
                    ("sha256", text(&executable.sha256)),
                    ("trusted", Data::Bool(executable.trusted)),
                ]),
            ),
            ("cwd", text(&self.cwd)),
            ("origin", text(&self.origin)),
            ("request_kind", text(&self.request_kind)),
            ("stdin_kind", text(&self.stdin_kind)),
            ("stdin_sha256", optional(self.stdin_sha256.as_ref())),
            (
                "stdin_bytes",
                Data::Int(i64::try_from(self.stdin_bytes).unwrap_or(i64::MAX)),
            ),
            ("script_sha256", optional(self.script_sha256.as_ref())),
            ("script_preview", optional(self.script_preview.as_ref())),
            ("effects", texts(&self.effects)),
            (
                "capabilities",
                Data::record([
                    ("read_roots", texts(&allowed.read_roots)),
                    ("write_roots", texts(&allowed.write_roots)),
                    ("network", Data::Bool(allowed.network)),
                    ("child_processes", Data::Bool(allowed.child_processes)),
                    ("arbitrary_code", Data::Bool(allowed.arbitrary_code)),
                    ("privilege_change", Data::Bool(allowed.privilege_change)),
                    ("sandbox", text(&allowed.sandbox)),
                ]),
            ),
            ("session_id", optional(self.session_id.as_ref())),
            (
                "policy",
                Data::option(self.policy.as_ref().map(Policy::to_data)),
            ),
        ])
    }
}

impl CommandResult {
    /// The record a script sees.
    pub fn to_data(&self) -> Data {
        Data::record([
            ("version", text(Record::Result.version())),
            ("phase", text("shell_after")),
            ("argv", texts(&self.argv)),
            ("status_kind", text(&self.status_kind)),
            ("status_code", Data::Int(self.status_code)),
            ("stdout", text(&self.stdout)),
            ("stderr", text(&self.stderr)),
            ("stdout_truncated", Data::Bool(self.stdout_truncated)),
            ("stderr_truncated", Data::Bool(self.stderr_truncated)),
            ("intercepted_by", optional(self.intercepted_by.as_ref())),
            ("untrusted_output", Data::Bool(self.untrusted_output)),
        ])
    }
}

impl AuditEvent {
    /// The record a script sees.
    pub fn to_data(&self) -> Data {
        let fields = self.fields.iter().map(|field| {
            Data::record([("name", text(&field.name)), ("value", text(&field.value))])
        });
        Data::record([
            ("version", text(Record::Audit.version())),
            ("phase", text("shell_audit")),
            ("sequence", text(&self.sequence.to_string())),
            ("timestamp", Data::Float(self.timestamp)),
            ("session_id", optional(self.session_id.as_ref())),
            ("runtime_id", text(&self.runtime_id)),
            ("manifest_sha256", text(&self.manifest_sha256)),
            ("request_id", text(&self.request_id)),
            ("plan_id", optional(self.plan_id.as_ref())),
            ("event", text(&self.event)),
            ("fields", Data::Array(fields.collect())),
        ])
    }
}
