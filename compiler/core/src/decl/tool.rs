//! `<tool>` as written (spec 01 section 13, spec 03).

use super::{Field, PathExpr, Sp};
use crate::manifest::{ModelArguments, Nonzero, Presence, ResultForm, Stream};

/// A tool of any form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ToolDecl {
    /// Declared name; for `read_dir`, `get_contents` see [`ToolDecl::model_names`].
    pub name: Field<String>,
    /// Model-visible names known at compile time, each with its place.
    pub model_names: Vec<Sp<String>>,
    pub form: ToolForm,
}

/// Which form a tool takes (spec 01 section 13.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ToolForm {
    Shell(Box<ShellToolDecl>),
    /// `command` without `type` and `runtime`; bound to `legacy:custom`.
    Legacy(Box<ShellToolDecl>),
    ReadFile,
    Agent,
    Mcp,
    Builtin,
    /// Contradictory; reported.
    Invalid,
}

/// A shell or legacy tool; attribute defaults applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ShellToolDecl {
    /// Reference as written; absent for legacy tools.
    pub runtime: Field<String>,
    /// Trimmed; `None` when absent or blank.
    pub description: Option<String>,
    pub stdin: Presence,
    pub rationale: Presence,
    pub result: ResultForm,
    pub stream: Sp<Stream>,
    pub nonzero: Nonzero,
    /// `None` when the mode or its required parts were unusable (reported).
    pub mode: Option<ModeDecl>,
    /// Source text of a compact `command`, for the published description.
    pub compact_command: Option<String>,
}

/// Mode with its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ModeDecl {
    Fixed {
        command: CommandDecl,
        arguments: Vec<FixedArgDecl>,
        model_arguments: ModelArguments,
    },
    Structured,
    Chain,
    Raw {
        executable: Sp<PathExpr>,
        arguments_before_script: Vec<String>,
    },
    Script {
        script: Sp<PathExpr>,
        interpreter: Option<Sp<PathExpr>>,
        fixed_arguments: Vec<String>,
        max_source_bytes: u64,
    },
}

/// Program of a fixed tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CommandDecl {
    Program(Sp<String>),
    ExecutableRef(Sp<String>),
}

/// Declared argument of a fixed tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FixedArgDecl {
    Literal(String),
    SecretEnv { name: Sp<String>, prefix: String },
    Path(Sp<PathExpr>),
}
