//! Payload types of `chatmd.shell.manifest.v1` (spec 04 section 8).
//!
//! Field names are the member names of the canonical JSON. Every member is always present; absence
//! is `null` or `[]`; unknown members are refused on reading.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::policy::*;
use super::words::*;

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
