//! The decision trace (spec 12 section 3): data types in their published member order, and the
//! observer that records rules. Recording never influences a decision.
//!
//! Absent values are `null`, never omitted. Strings of the request (argv, paths, inner texts) are
//! as evaluated; whoever shows a trace passes them through its redactor with
//! [`Trace::visit_strings`] first.

mod build;
mod record;
mod text;

use serde::Serialize;
use serde_json::{Map, Value as Json};

pub use build::{capability_trace, effects_trace, inner_trace};
pub use record::RuleRecorder;

use crate::facts::RequestKind;
use crate::value::{Action, Value};

/// A place in a source file, 1-based.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct TraceSpan {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// Trace of one request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Trace {
    /// Always 1.
    pub version: u32,
    pub manifest_sha256: String,
    pub host: HostKind,
    pub runtime: String,
    pub tool: Option<String>,
    pub origin: String,
    pub request: RequestTrace,
    pub input: InputTrace,
    /// Chain requests only.
    pub parse: Option<ParseTrace>,
    /// One per simple command.
    pub stages: Vec<StageTrace>,
    /// Outcome of spec 10 section 2.8.
    pub outcome: Outcome,
    pub code: Option<String>,
    pub reason: Option<String>,
    pub decided_by: DecidedBy,
    /// Extensions that were not run.
    pub may_change: Vec<MayChange>,
    /// Facts taken rather than observed.
    pub assumptions: Vec<String>,
}

/// Which host answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum HostKind {
    Symbolic,
    Live,
}

/// Predicted outcome; the order is from best to worst for chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Outcome {
    WouldRun,
    WouldAsk,
    WouldDeny,
    WouldReject,
    Unresolvable,
    Indeterminate,
}

impl Outcome {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WouldRun => "would_run",
            Self::WouldAsk => "would_ask",
            Self::WouldDeny => "would_deny",
            Self::WouldReject => "would_reject",
            Self::Unresolvable => "unresolvable",
            Self::Indeterminate => "indeterminate",
        }
    }
}

/// The request as given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct RequestTrace {
    pub kind: RequestKind,
    pub input: Json,
    pub cwd: String,
    pub stdin_bytes: u64,
    pub environment_names: Vec<String>,
}

/// Tool input validation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct InputTrace {
    pub ok: bool,
    pub code: Option<String>,
    pub field: Option<String>,
    pub reason: Option<String>,
}

/// Chain parse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct ParseTrace {
    pub ok: bool,
    pub offset: Option<usize>,
    pub reason: Option<String>,
    /// Stage numbers of each pipeline.
    pub pipelines: Vec<Vec<usize>>,
    pub operators: Vec<String>,
}

/// What decided, and on which stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct DecidedBy {
    pub stage: Option<usize>,
    pub step: Step,
}

/// Step that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Step {
    Input,
    Parse,
    Resolution,
    Admin,
    Capability,
    Policy,
    Approval,
    Sandbox,
}

/// An extension that was not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct MayChange {
    pub kind: String,
    pub id: String,
    pub when: String,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct StageTrace {
    pub index: usize,
    pub argv: Vec<String>,
    pub resolution: ResolutionTrace,
    pub effects: Vec<EffectTrace>,
    pub inner: Vec<InnerTrace>,
    pub admin: AdminTrace,
    pub capability: CapabilityTrace,
    pub policy: PolicyTrace,
    pub approval: Option<ApprovalTrace>,
    pub backend: Option<BackendTrace>,
    /// Effective limits by name.
    pub limits: Map<String, Json>,
    pub outcome: Outcome,
}

/// How the program was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct ResolutionTrace {
    pub program: String,
    pub alias: Option<String>,
    /// `null` at level `summary`.
    pub search: Option<Vec<SearchTrace>>,
    pub located: Option<String>,
    pub canonical: Option<String>,
    pub class: Option<String>,
    pub trusted: bool,
    pub trust: TrustTrace,
    pub stable: bool,
    pub sha256: Option<String>,
    pub interpreter: Option<String>,
    pub error: Option<String>,
}

/// One directory that was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct SearchTrace {
    pub dir: String,
    pub found: bool,
}

/// Conditions of trust (spec 06 section 3.2): `yes`, `no` or `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)]
pub struct TrustTrace {
    pub t1: Known,
    pub t2: Known,
    pub t3: Known,
    pub t4: Known,
    pub t5: Known,
    pub t6: Known,
}

/// A fact that may not be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Known {
    Yes,
    No,
    Unknown,
}

/// One effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct EffectTrace {
    pub effect: String,
    pub path: Option<String>,
    pub source: String,
    pub rule: String,
}

/// One inner command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct InnerTrace {
    /// `null` for opaque text.
    pub argv: Option<Vec<String>>,
    pub opaque_bytes: Option<usize>,
    pub via: String,
    pub depth: u8,
}

/// Administrative hits; empty in tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct AdminTrace {
    pub hits: Vec<AdminHit>,
}

/// One administrative hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct AdminHit {
    pub code: String,
    pub value: String,
}

/// Capability check with every failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct CapabilityTrace {
    pub ok: bool,
    pub failures: Vec<CapabilityFailureTrace>,
}

/// One effect that exceeds the capabilities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct CapabilityFailureTrace {
    pub kind: String,
    pub path: Option<String>,
    pub reason: String,
    pub nearest_root: Option<String>,
    pub span: Option<TraceSpan>,
}

/// Policy evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct PolicyTrace {
    pub evaluated: bool,
    pub action: Option<Action>,
    pub default_used: bool,
    pub deciding: Vec<String>,
    pub rules: Vec<RuleTrace>,
    /// Number of rules with value no that level `summary` leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmatched: Option<usize>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct RuleTrace {
    pub id: String,
    pub action: Action,
    pub value: Value,
    pub fired: bool,
    pub deciding: bool,
    pub declared_in: Option<DeclaredIn>,
    /// `null` at level `summary`.
    pub tree: Option<MatchTrace>,
}

/// Where a rule is declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct DeclaredIn {
    /// Runtime id; a built-in profile has `profile` instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    pub file: Option<String>,
    pub span: Option<TraceSpan>,
}

/// One matcher.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct MatchTrace {
    pub kind: &'static str,
    pub attributes: Map<String, Json>,
    pub value: Value,
    /// `outer` or `inner:N`.
    pub on: String,
    /// Fixed reason word.
    pub why: Option<String>,
    pub span: Option<TraceSpan>,
    /// Part of the minimal explanation.
    pub decisive: bool,
    pub children: Vec<MatchTrace>,
}

/// Approval that would be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct ApprovalTrace {
    pub needed: bool,
    pub provider: String,
    pub reviewers: Vec<ReviewerTrace>,
    pub scopes: Vec<String>,
    pub unavailable: String,
}

/// One reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct ReviewerTrace {
    pub id: String,
    pub kind: String,
    pub state: String,
}

/// Backend that would run the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct BackendTrace {
    pub id: Option<String>,
    pub kind: String,
    pub confinement: String,
    pub argv: Vec<String>,
}

/// How much of a trace is kept (spec 12 section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// No matcher trees, no search, rules with value no only counted.
    Summary,
    /// Everything.
    Full,
}

impl Trace {
    /// Reduces the trace to a level.
    pub fn reduce(&mut self, level: Level) {
        if level == Level::Full {
            return;
        }
        for stage in &mut self.stages {
            stage.resolution.search = None;
            let before = stage.policy.rules.len();
            stage.policy.rules.retain(|rule| rule.value != Value::No);
            stage.policy.unmatched = Some(before - stage.policy.rules.len());
            for rule in &mut stage.policy.rules {
                rule.tree = None;
            }
        }
    }

    /// Passes every text that comes from the request through `edit`, for redaction and sanitising.
    pub fn visit_strings(&mut self, edit: &mut dyn FnMut(&mut String)) {
        visit_json(&mut self.request.input, edit);
        edit(&mut self.request.cwd);
        self.reason.iter_mut().for_each(&mut *edit);
        self.input.field.iter_mut().for_each(&mut *edit);
        self.input.reason.iter_mut().for_each(&mut *edit);
        for stage in &mut self.stages {
            stage.argv.iter_mut().for_each(&mut *edit);
            let resolution = &mut stage.resolution;
            edit(&mut resolution.program);
            for text in [
                &mut resolution.located,
                &mut resolution.canonical,
                &mut resolution.interpreter,
                &mut resolution.error,
            ] {
                text.iter_mut().for_each(&mut *edit);
            }
            for effect in &mut stage.effects {
                edit(&mut effect.effect);
                effect.path.iter_mut().for_each(&mut *edit);
            }
            for inner in &mut stage.inner {
                edit(&mut inner.via);
                inner.argv.iter_mut().flatten().for_each(&mut *edit);
            }
            for hit in &mut stage.admin.hits {
                edit(&mut hit.value);
            }
            for failure in &mut stage.capability.failures {
                failure.path.iter_mut().for_each(&mut *edit);
                edit(&mut failure.reason);
            }
            if let Some(backend) = &mut stage.backend {
                backend.argv.iter_mut().for_each(&mut *edit);
            }
        }
    }
}

/// Edits every string and member name of a JSON value; the reader of tool input bounds its nesting
/// to nothing, so this keeps its own stack.
fn visit_json(value: &mut Json, edit: &mut dyn FnMut(&mut String)) {
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        match value {
            Json::String(text) => edit(text),
            Json::Array(items) => work.extend(items),
            Json::Object(members) => {
                for (index, (mut name, member)) in std::mem::take(members).into_iter().enumerate() {
                    edit(&mut name);
                    // Two names may have become one.
                    if members.contains_key(&name) {
                        name = format!("{name}#{index}");
                    }
                    members.insert(name, member);
                }
                work.extend(members.values_mut());
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
