//! Payload types of `chatmd.shell.manifest.v1` (spec 04 section 8).
//!
//! Field names are the member names of the canonical JSON. Every member is always present; absence
//! is `null` or `[]`; unknown members are refused on reading.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $(
                #[doc = concat!("`", $word, "`")]
                #[serde(rename = $word)]
                $variant,
            )+
        }

        impl $name {
            /// Every word, in the order of the specification.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word as written in documents and manifests.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            /// The value of exactly that word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

words! {
    /// Target platform.
    Platform { Macos = "macos", Linux = "linux", Windows = "windows" }
}
words! {
    /// Role of a source file.
    SourceRole { Root = "root", Import = "import", Script = "script" }
}
words! {
    /// Base of a path expression (spec 02 section 3).
    PathBase {
        Absolute = "absolute", PromptDir = "prompt_dir", SourceDir = "source_dir",
        ToolDir = "tool_dir", Workspace = "workspace", CacheDir = "cache_dir",
        Home = "home", SessionDir = "session_dir",
    }
}
words! {
    /// Sandbox requirement.
    Sandbox { Required = "required", Preferred = "preferred", DirectUnsafe = "direct_unsafe" }
}
words! {
    /// Environment inheritance.
    Inherit {
        None = "none", Safe = "safe", Selected = "selected",
        AllSanitized = "all_sanitized", Raw = "raw",
    }
}
words! {
    /// Platform predicate of a backend.
    When { Macos = "macos", Linux = "linux", Windows = "windows", Any = "any" }
}
words! {
    /// `/dev` of a bubblewrap backend.
    DevMode { Minimal = "minimal", None = "none" }
}
words! {
    /// Confinement class that an external wrapper claims; `verified` is never accepted.
    Confinement { Verified = "verified", Declared = "declared", None = "none" }
}
words! {
    /// Policy action.
    Action { Allow = "allow", Ask = "ask", Deny = "deny" }
}
words! {
    /// Effect kinds as matchers name them.
    EffectName {
        ReadPath = "read_path", WritePath = "write_path", Network = "network",
        ChildProcesses = "child_processes", ArbitraryCode = "arbitrary_code",
        PrivilegeChange = "privilege_change", Unknown = "unknown",
    }
}
words! {
    /// Failure word of a dynamic matcher; `conservative` stands for an absent attribute.
    MatcherFailure { Conservative = "conservative", NoMatch = "no_match", Deny = "deny", Error = "error" }
}
words! {
    /// Failure word of reviewers, interceptors and analyzers.
    Failure { Deny = "deny", Error = "error", Unknown = "unknown", Keep = "keep" }
}
words! {
    /// Who answers an `ask`.
    ApprovalProvider { Ui = "ui", None = "none" }
}
words! {
    /// Outcome when nobody can answer.
    Unavailable { Deny = "deny", Error = "error" }
}
words! {
    /// Approval scopes in their fixed order.
    Scope {
        Once = "once", ExactSession = "exact_session",
        PrefixSession = "prefix_session", DurableExact = "durable_exact",
    }
}
words! {
    /// How reviewers are configured.
    ReviewerMode { ImplicitUi = "implicit_ui", Chain = "chain" }
}
words! {
    /// Reviewer strategy.
    Strategy { FirstTerminal = "first_terminal" }
}
words! {
    /// State lifetime of a script extension.
    Lifecycle { Invocation = "invocation", Session = "session", Runtime = "runtime" }
}
words! {
    /// Interceptor phase.
    Phase { Before = "before", After = "after" }
}
words! {
    /// Audit sink.
    AuditFormat { None = "none", Stderr = "stderr", Jsonl = "jsonl", Session = "session" }
}
words! {
    /// Audit content level.
    AuditContent { Metadata = "metadata", Redacted = "redacted", Full = "full" }
}
words! {
    /// Audit failure policy.
    AuditFailure { Continue = "continue", DenyStart = "deny_start", Terminate = "terminate" }
}
words! {
    /// `PATH` position.
    Position { Prepend = "prepend", Append = "append" }
}
words! {
    /// Presence of a model input field (`stdin`, `rationale`) or of model arguments.
    Presence { None = "none", Optional = "optional", Required = "required" }
}
words! {
    /// Result form of a tool.
    ResultForm { Combined = "combined", Stdout = "stdout", Structured = "structured" }
}
words! {
    /// Progress form of a tool.
    Stream { Finalized = "finalized", Sanitized = "sanitized" }
}
words! {
    /// Treatment of an unsuccessful exit.
    Nonzero { Result = "result", Error = "error" }
}
words! {
    /// Script kinds.
    ScriptKind {
        Moderator = "moderator", Matcher = "shell_matcher", Reviewer = "shell_reviewer",
        BeforeInterceptor = "shell_before_interceptor", AfterInterceptor = "shell_after_interceptor",
        EffectAnalyzer = "shell_effect_analyzer", AuditFilter = "shell_audit_filter",
    }
}
words! {
    /// Dependency edge kinds (section 10.2).
    DependencyKind {
        Extends = "extends", ToolRuntime = "tool_runtime", ModeratorRuntime = "moderator_runtime",
        ChatmlExtension = "chatml_extension", WorkerRuntime = "worker_runtime",
        ModelReviewer = "model_reviewer", AgentTool = "agent_tool", ExecutableRef = "executable_ref",
    }
}
words! {
    /// What a bound file is (section 9).
    FileRole {
        Executable = "executable", Hook = "hook", ExternalBackend = "external_backend",
        RawShell = "raw_shell", Interpreter = "interpreter", Script = "script",
        FixedProgram = "fixed_program",
    }
}

/// The payload (section 8.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Manifest {
    pub encoding: String,
    pub platform: Platform,
    pub sources: Vec<Source>,
    pub runtimes: Vec<Runtime>,
    pub tools: Vec<Tool>,
    pub moderator_runtime: Option<String>,
    pub scripts: Vec<Script>,
    pub dependencies: Vec<Dependency>,
    pub features: Vec<String>,
    pub binding: Option<Binding>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Source {
    pub path: String,
    pub namespace: Option<String>,
    pub role: SourceRole,
    pub sha256: String,
}

/// A symbolic path (section 8.3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Base variable, or `absolute`.
    pub base: PathBase,
    /// Normalised rest; starts with `/` only when absolute; empty for the base itself.
    pub path: String,
    /// Source path of the declaring file when the base is `source_dir`.
    pub source: Option<String>,
}

/// A capability root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Root {
    Path { path: Path },
    PathEnv { name: String, optional: bool },
}

/// An effective runtime (section 8.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Runtime {
    pub id: String,
    pub source: String,
    pub extends: Vec<String>,
    pub profile: Option<Profile>,
    pub cwd: Path,
    pub pipefail: bool,
    pub capabilities: Capabilities,
    pub resolver: Resolver,
    pub environment: Environment,
    pub limits: Limits,
    pub backends: Backends,
    pub policy: Policy,
    pub approvals: Approvals,
    pub reviewers: Reviewers,
    pub interceptors: Vec<Interceptor>,
    pub effect_analyzers: Vec<Analyzer>,
    pub secrets: Secrets,
    pub audit: Audit,
}

/// Requested and concrete profile name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Profile {
    pub requested: String,
    pub resolved: String,
}

/// Ceilings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Capabilities {
    pub sandbox: Sandbox,
    pub network: bool,
    pub child_processes: bool,
    pub arbitrary_code: bool,
    pub privilege_change: bool,
    pub read: Vec<Root>,
    pub write: Vec<Root>,
}

/// Executable search and trust.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Resolver {
    pub search_path: Vec<Path>,
    pub trusted_roots: Vec<Path>,
    pub executables: Vec<Executable>,
    pub allow_relative_search_path: bool,
}

/// A declared executable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Executable {
    pub id: String,
    pub path: Path,
    pub sha256: Option<String>,
    pub trusted: bool,
}

/// Environment policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Environment {
    pub inherit: Inherit,
    pub operations: Vec<EnvOp>,
}

/// One environment operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum EnvOp {
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
        path: Path,
    },
    PathEnv {
        name: String,
        suffix: Option<String>,
        position: Position,
        required: bool,
    },
}

/// Limits; times in milliseconds, sizes in bytes, `None` = unlimited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Limits {
    pub wall_time_ms: u64,
    pub idle_time_ms: Option<u64>,
    pub max_stdin_bytes: u64,
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub total_output_bytes: u64,
    pub cpu_time_ms: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub file_size_bytes: Option<u64>,
    pub open_files: Option<u64>,
}

/// Ordered backends of the target platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Backends {
    pub accept_declared_confinement: bool,
    pub entries: Vec<Backend>,
}

/// One backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Backend {
    Seatbelt {
        id: Option<String>,
        when: When,
        executable: Option<Path>,
        allow_system_reads: bool,
    },
    Bubblewrap {
        id: Option<String>,
        when: When,
        executable: Option<Path>,
        private_tmp: bool,
        proc: bool,
        dev: DevMode,
    },
    Direct {
        id: Option<String>,
        when: When,
    },
    External {
        id: Option<String>,
        when: When,
        executable: Path,
        sha256: Option<String>,
        confinement: Confinement,
        atoms: Vec<Atom>,
    },
}

/// One element of an external backend's argv template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Atom {
    Arg { value: String },
    CwdValue {},
    TargetExecutable {},
    CommandArgv {},
    ResourceLimitArgs {},
    ReadRoots { flag: String },
    WriteRoots { flag: String },
    NetworkFlag { value: String },
}

/// Policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Policy {
    pub default: Action,
    /// Shared with the runtimes that inherit them.
    pub rules: Vec<Arc<Rule>>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Rule {
    pub id: String,
    pub action: Action,
    pub matcher: Matcher,
}

/// Matcher tree; at most 64 deep (spec 02 section 11.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Matcher {
    AnyCommand {},
    TrustedExecutable {},
    NoUnknownEffects {},
    RawShell {},
    Program {
        value: String,
    },
    Basename {
        value: String,
    },
    Argument {
        value: String,
    },
    ArgumentContains {
        value: String,
    },
    ProgramRegex {
        pattern: String,
    },
    ResolvedPath {
        path: Path,
    },
    ArgvPrefix {
        values: Vec<String>,
    },
    Effect {
        effect: EffectName,
        under: Option<Path>,
    },
    ChatmlMatch {
        script: String,
        function: String,
        failure: MatcherFailure,
    },
    All {
        of: Vec<Matcher>,
    },
    Any {
        of: Vec<Matcher>,
    },
    Not {
        of: Box<Matcher>,
    },
}

impl Matcher {
    /// Every matcher within this one that is no combination of others, in document order.
    pub fn leaves(&self) -> impl Iterator<Item = &Matcher> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            loop {
                match open.pop()? {
                    Matcher::All { of } | Matcher::Any { of } => open.extend(of.iter().rev()),
                    Matcher::Not { of } => open.push(of),
                    leaf => return Some(leaf),
                }
            }
        })
    }

    /// Ids of the scripts that it asks, in document order.
    pub fn scripts(&self) -> impl Iterator<Item = &str> {
        self.leaves().filter_map(|leaf| match leaf {
            Matcher::ChatmlMatch { script, .. } => Some(script.as_str()),
            _ => None,
        })
    }
}

/// Approval settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Approvals {
    pub provider: ApprovalProvider,
    pub unavailable: Unavailable,
    pub scopes: Vec<Scope>,
    pub durable: bool,
}

/// Reviewer chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Reviewers {
    pub mode: ReviewerMode,
    pub strategy: Strategy,
    pub entries: Vec<Reviewer>,
}

/// One reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Reviewer {
    Ui {
        id: String,
    },
    Chatml {
        id: String,
        script: String,
        lifecycle: Lifecycle,
        failure: Failure,
    },
    Model {
        id: String,
        agent: String,
        model: Option<String>,
        failure: Failure,
    },
    Executable {
        id: String,
        hook: Hook,
        failure: Failure,
    },
}

/// A script or hook of an extension point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Extension {
    Chatml {
        script: String,
        lifecycle: Lifecycle,
    },
    Executable {
        hook: Hook,
    },
}

impl Extension {
    /// Id of its script, if it is one.
    pub fn script(&self) -> Option<&str> {
        match self {
            Extension::Chatml { script, .. } => Some(script),
            Extension::Executable { .. } => None,
        }
    }
}

/// An executable extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Hook {
    pub executable: Path,
    pub sha256: Option<String>,
    pub runtime: String,
    pub protocol: String,
    pub timeout_ms: Option<u64>,
    pub max_input_bytes: u64,
    pub max_output_bytes: u64,
}

/// One interceptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Interceptor {
    pub id: String,
    pub phase: Phase,
    pub matcher: Option<Matcher>,
    pub failure: Failure,
    pub extension: Extension,
}

/// One effect analyzer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Analyzer {
    pub id: String,
    pub replace: bool,
    pub failure: Failure,
    pub extension: Extension,
}

/// Redaction sources; never a value (section 8.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Secrets {
    pub replacement: String,
    pub sources: Vec<SecretSource>,
}

/// Where a secret comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum SecretSource {
    FromEnv {
        name: String,
        optional: bool,
    },
    FromFile {
        path: Path,
        optional: bool,
        strip: bool,
    },
    Literal {
        index: u64,
    },
}

/// Audit settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Audit {
    pub format: AuditFormat,
    pub path: Option<Path>,
    pub content: AuditContent,
    pub failure: AuditFailure,
    pub filter: Option<Extension>,
}

/// A shell tool (section 8.7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Tool {
    pub name: String,
    pub description: Option<String>,
    pub runtime: String,
    pub source: String,
    pub stdin: Presence,
    pub rationale: Presence,
    pub result: ResultForm,
    pub stream: Stream,
    pub nonzero: Nonzero,
    pub mode: Mode,
}

/// Tool mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Mode {
    Fixed {
        program: Option<String>,
        executable_ref: Option<String>,
        arguments: Vec<FixedArg>,
        model_arguments: ModelArguments,
    },
    Structured {},
    Chain {},
    Raw {
        executable: Path,
        arguments_before_script: Vec<String>,
    },
    Script {
        script: Path,
        interpreter: Option<Path>,
        fixed_arguments: Vec<String>,
        verification: String,
        max_source_bytes: u64,
    },
}

/// A declared argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum FixedArg {
    Literal { value: String },
    SecretEnv { name: String, prefix: String },
    Path { path: Path },
}

/// Constraints on model-supplied arguments, effective values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ModelArguments {
    pub mode: Presence,
    pub min_count: u64,
    pub max_count: u64,
    pub max_item_bytes: u64,
}

/// Dependency edge (section 8.8).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Dependency {
    pub from: String,
    pub to: String,
    pub kind: DependencyKind,
    pub via: Option<String>,
}

/// A referenced script (section 8.9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Script {
    pub id: String,
    pub kind: ScriptKind,
    pub language: String,
    pub source: ScriptSource,
    pub sha256: String,
    pub surface: String,
    pub entrypoints: Vec<String>,
    pub limits: ScriptLimits,
}

/// Where the program text stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum ScriptSource {
    Inline { file: String },
    File { file: String },
}

/// Script limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ScriptLimits {
    pub wall_time_ms: u64,
    pub fuel: u64,
    pub max_tasks: u64,
    pub max_value_bytes: u64,
    pub max_output_bytes: u64,
    pub max_array_items: u64,
    pub max_depth: u64,
}

/// Host-dependent values (section 9).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Binding {
    pub variables: BTreeMap<String, String>,
    pub source_dirs: BTreeMap<String, String>,
    pub path_env: BTreeMap<String, Option<String>>,
    pub roots: Vec<BoundRoots>,
    pub files: Vec<BoundFile>,
}

/// Resolved capability roots of one runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct BoundRoots {
    pub runtime: String,
    pub read: Vec<String>,
    pub write: Vec<String>,
}

/// Identity of a file that a declaration names by path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct BoundFile {
    pub owner: String,
    pub role: FileRole,
    pub path: String,
    pub sha256: Option<String>,
}
