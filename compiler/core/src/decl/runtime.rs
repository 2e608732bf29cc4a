//! `<shell_access>` as written (spec 02).

use chatmd_syntax::Span;

use super::{Field, PathExpr, Sp};
use crate::manifest::{
    Action, ApprovalProvider, AuditContent, AuditFailure, AuditFormat, Confinement, DevMode,
    EffectName, Failure, Inherit, Lifecycle, MatcherFailure, Phase, Position, Sandbox, Scope,
    Strategy, Unavailable, When,
};

/// `merge` of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// Inherited entries first.
    #[default]
    Append,
    /// Only the entries of this section.
    Replace,
}

/// One `<shell_access>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RuntimeDecl {
    pub id: Field<String>,
    pub extends: Field<String>,
    pub cwd: Option<Sp<PathExpr>>,
    pub pipefail: Option<Sp<bool>>,
    pub capabilities: Option<CapabilitiesDecl>,
    pub resolver: Option<ResolverDecl>,
    pub environment: Option<EnvironmentDecl>,
    pub limits: Option<LimitsDecl>,
    pub backends: Option<BackendsDecl>,
    pub policy: Option<PolicyDecl>,
    pub approvals: Option<ApprovalsDecl>,
    pub reviewers: Option<ReviewersDecl>,
    pub interceptors: Option<InterceptorsDecl>,
    pub effect_analysis: Option<AnalyzersDecl>,
    pub secrets: Option<SecretsDecl>,
    pub audit: Option<AuditDecl>,
}

/// `<capabilities>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CapabilitiesDecl {
    pub name: Span,
    pub merge: Merge,
    pub sandbox: Option<Sp<Sandbox>>,
    pub network: Option<Sp<bool>>,
    pub child_processes: Option<Sp<bool>>,
    pub arbitrary_code: Option<Sp<bool>>,
    pub privilege_change: Option<Sp<bool>>,
    pub read: Vec<Sp<RootDecl>>,
    pub write: Vec<Sp<RootDecl>>,
}

/// A capability root.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RootDecl {
    Path(PathExpr),
    PathEnv { name: String, optional: bool },
}

/// `<resolver>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ResolverDecl {
    pub name: Span,
    pub merge: Merge,
    pub allow_relative_search_path: Option<Sp<bool>>,
    pub search_path: Vec<Sp<PathExpr>>,
    pub trusted_roots: Vec<Sp<PathExpr>>,
    pub executables: Vec<ExecutableDecl>,
}

/// `<executable>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ExecutableDecl {
    pub id: Sp<String>,
    pub path: Sp<PathExpr>,
    pub sha256: Option<Sp<String>>,
    pub trusted: bool,
    pub overrides: bool,
}

/// `<environment>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct EnvironmentDecl {
    pub name: Span,
    pub merge: Merge,
    pub inherit: Option<Sp<Inherit>>,
    pub operations: Vec<Sp<EnvOpDecl>>,
}

/// One environment operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum EnvOpDecl {
    Set {
        name: String,
        value: String,
    },
    Pass {
        name: String,
        required: bool,
        secret: bool,
    },
    Unset {
        name: String,
    },
    UnsetPrefix {
        prefix: String,
    },
    Path {
        position: Position,
        path: PathExpr,
    },
    PathEnv {
        name: String,
        suffix: Option<String>,
        position: Position,
        required: bool,
    },
}

/// `<limits>`; `Some(None)` = `none`. Times in milliseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LimitsDecl {
    pub name: Span,
    pub wall_time: Option<Sp<u64>>,
    pub idle_time: Option<Sp<Option<u64>>>,
    pub max_stdin: Option<Sp<u64>>,
    pub stdout: Option<Sp<u64>>,
    pub stderr: Option<Sp<u64>>,
    pub total_output: Option<Sp<u64>>,
    pub cpu_time: Option<Sp<Option<u64>>>,
    pub memory: Option<Sp<Option<u64>>>,
    pub file_size: Option<Sp<Option<u64>>>,
    pub open_files: Option<Sp<Option<u64>>>,
}

/// `<backends>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct BackendsDecl {
    pub name: Span,
    pub merge: Merge,
    pub accept_declared_confinement: Option<Sp<bool>>,
    pub entries: Vec<BackendDecl>,
}

/// One backend; `when` is effective (defaulted).
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct BackendDecl {
    pub name: Span,
    pub id: Option<Sp<String>>,
    pub when: When,
    pub kind: BackendKindDecl,
}

/// What kind of backend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BackendKindDecl {
    Seatbelt {
        executable: Option<Sp<PathExpr>>,
        allow_system_reads: bool,
    },
    Bubblewrap {
        executable: Option<Sp<PathExpr>>,
        private_tmp: bool,
        proc: bool,
        dev: DevMode,
    },
    Direct,
    External {
        executable: Sp<PathExpr>,
        sha256: Option<Sp<String>>,
        confinement: Confinement,
        atoms: Vec<crate::manifest::Atom>,
    },
}

/// `<policy>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PolicyDecl {
    pub name: Span,
    pub merge: Merge,
    pub default: Option<Sp<Action>>,
    pub rules: Vec<RuleDecl>,
}

/// `<rule>`. `matcher` is `None` when it was unusable (reported).
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RuleDecl {
    pub name: Span,
    pub id: Sp<String>,
    pub action: Action,
    pub overrides: bool,
    pub matcher: Option<MatcherDecl>,
}

/// A matcher element.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct MatcherDecl {
    /// Element name in the start tag.
    pub name: Span,
    /// The whole element.
    pub element: Span,
    pub kind: MatcherKindDecl,
}

/// What a matcher tests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MatcherKindDecl {
    AnyCommand,
    TrustedExecutable,
    NoUnknownEffects,
    RawShell,
    Program(Sp<String>),
    Basename(Sp<String>),
    Argument(Sp<String>),
    ArgumentContains(Sp<String>),
    ProgramRegex(Sp<String>),
    ResolvedPath(Sp<PathExpr>),
    ArgvPrefix(Sp<Vec<String>>),
    Effect {
        effect: EffectName,
        under: Option<Sp<PathExpr>>,
    },
    ChatmlMatch {
        script: Sp<String>,
        function: Option<Sp<String>>,
        failure: MatcherFailure,
    },
    All(Vec<MatcherDecl>),
    Any(Vec<MatcherDecl>),
    Not(Box<MatcherDecl>),
}

/// `<approvals>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ApprovalsDecl {
    pub name: Span,
    pub provider: Option<Sp<ApprovalProvider>>,
    pub unavailable: Option<Sp<Unavailable>>,
    /// In the fixed order of [`Scope`].
    pub scopes: Option<Sp<Vec<Scope>>>,
    pub durable: Option<Sp<bool>>,
}

/// `<reviewers>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ReviewersDecl {
    pub name: Span,
    pub merge: Merge,
    pub strategy: Option<Sp<Strategy>>,
    pub entries: Vec<ReviewerDecl>,
}

/// `<reviewer>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ReviewerDecl {
    pub name: Span,
    pub id: Sp<String>,
    pub kind: ReviewerKindDecl,
}

/// Reviewer kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ReviewerKindDecl {
    Ui,
    Chatml {
        script: Sp<String>,
        lifecycle: Lifecycle,
        failure: Failure,
    },
    Model {
        agent: Sp<String>,
        model: Option<String>,
        failure: Failure,
    },
    Executable {
        hook: HookDecl,
        failure: Failure,
    },
}

/// Attributes of an executable extension (spec 02 section 14), defaults applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct HookDecl {
    pub executable: Sp<PathExpr>,
    pub sha256: Option<Sp<String>>,
    pub runtime: Field<String>,
    pub timeout_ms: Option<Sp<u64>>,
    pub max_input_bytes: u64,
    pub max_input_span: Option<Span>,
    pub max_output_bytes: u64,
}

/// Script or hook.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ExtensionDecl {
    Chatml {
        script: Sp<String>,
        lifecycle: Lifecycle,
    },
    Executable(HookDecl),
}

/// `<interceptors>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct InterceptorsDecl {
    pub name: Span,
    pub merge: Merge,
    pub entries: Vec<InterceptorDecl>,
}

/// `<interceptor>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct InterceptorDecl {
    pub name: Span,
    pub id: Sp<String>,
    pub phase: Phase,
    pub matcher: Option<MatcherDecl>,
    pub failure: Failure,
    pub extension: ExtensionDecl,
}

/// `<effect_analysis>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct AnalyzersDecl {
    pub name: Span,
    pub merge: Merge,
    pub entries: Vec<AnalyzerDecl>,
}

/// `<analyzer>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct AnalyzerDecl {
    pub name: Span,
    pub id: Sp<String>,
    pub replace: bool,
    pub failure: Failure,
    pub extension: ExtensionDecl,
}

/// `<secrets>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct SecretsDecl {
    pub name: Span,
    pub merge: Merge,
    pub replacement: Option<Sp<String>>,
    pub sources: Vec<Sp<SecretDecl>>,
}

/// One secret source. A literal's value stays in the tree: the host reads it through the span.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SecretDecl {
    FromEnv {
        name: String,
        optional: bool,
    },
    FromFile {
        path: PathExpr,
        optional: bool,
        strip: bool,
    },
    Literal {
        value: LiteralSecret,
    },
}

/// The decoded value of `<literal>`; its `Debug` form shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct LiteralSecret(pub String);

impl core::fmt::Debug for LiteralSecret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("LiteralSecret(…)")
    }
}

/// `<audit>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct AuditDecl {
    pub name: Span,
    pub format: Option<Sp<AuditFormat>>,
    pub path: Option<Sp<PathExpr>>,
    pub content: Option<Sp<AuditContent>>,
    pub failure: Option<Sp<AuditFailure>>,
    pub filter: Option<Sp<ExtensionDecl>>,
}
