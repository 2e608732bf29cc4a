//! Preparing the tools of a runtime (06 sections 4.6 and 4.7).

use chatmd_compiler::manifest::{FixedArg, Mode, Tool};
use chatmd_compiler::published;
use chatmd_facts::{CanonicalPath, Host, canonical_or_parent};
use chatmd_policy::input::InputShape;

use super::{Problem, Runtime};

/// One element of a declared argv.
#[derive(Clone, PartialEq, Eq)]
pub enum Argument {
    /// Written in the document.
    Plain(String),
    /// From a variable; registered with the redactor.
    Secret(String),
}

impl Argument {
    /// The text handed to the command.
    pub fn expose(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Secret(text) => text,
        }
    }
}

impl std::fmt::Debug for Argument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plain(text) => text.fmt(f),
            Self::Secret(_) => f.write_str("(secret)"),
        }
    }
}

/// A tool that can be called.
#[derive(Debug)]
pub struct PreparedTool {
    /// The declaration.
    pub declared: Tool,
    /// What its input may be.
    pub shape: InputShape,
    /// What it runs.
    pub mode: PreparedMode,
}

/// The prepared form of a mode.
#[derive(Debug)]
pub enum PreparedMode {
    /// Program and declared arguments; those of the model follow.
    Fixed {
        /// Program text or executable id.
        program: String,
        /// Declared arguments in order.
        arguments: Vec<Argument>,
    },
    /// The model names program and arguments.
    Structured,
    /// The model writes a chain.
    Chain,
}

/// Prepares one tool; its runtime is materialised.
pub(super) fn prepare(
    host: &Host,
    tool: &Tool,
    runtime: &Runtime,
) -> Result<PreparedTool, Vec<Problem>> {
    let mode = match &tool.mode {
        Mode::Fixed {
            program,
            executable_ref,
            arguments,
            ..
        } => {
            let program = program
                .as_ref()
                .or(executable_ref.as_ref())
                .ok_or_else(|| {
                    vec![Problem::new(
                        "shell.tool_missing_program",
                        "the tool names no program",
                    )]
                })?;
            let arguments = fixed_arguments(host, arguments, runtime)?;
            PreparedMode::Fixed {
                program: program.clone(),
                arguments,
            }
        }
        Mode::Structured {} => PreparedMode::Structured,
        Mode::Chain {} => PreparedMode::Chain,
        Mode::Raw { .. } | Mode::Script { .. } => {
            let mode = published::mode_word(&tool.mode);
            let message = format!("this version does not run tools of mode {mode}");
            return Err(vec![Problem::new(
                "shell.runtime_instantiation_failed",
                message,
            )]);
        }
    };
    let mut shape = published::input_shape(tool, runtime.limits.supervision.max_stdin);
    shape.reserved_bytes = runtime.environment_bytes();
    if let PreparedMode::Fixed { program, arguments } = &mode {
        shape.declared_arguments = arguments.len();
        let declared: usize = arguments
            .iter()
            .map(|argument| argument.expose().len())
            .sum();
        shape.reserved_bytes += program.len() + declared;
    }
    Ok(PreparedTool {
        declared: tool.clone(),
        shape,
        mode,
    })
}

fn fixed_arguments(
    host: &Host,
    declared: &[FixedArg],
    runtime: &Runtime,
) -> Result<Vec<Argument>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut arguments = Vec::with_capacity(declared.len());
    for argument in declared {
        match one(host, argument, runtime) {
            Ok(argument) => arguments.push(argument),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(arguments)
    } else {
        Err(problems)
    }
}

fn one(host: &Host, argument: &FixedArg, runtime: &Runtime) -> Result<Argument, Problem> {
    match argument {
        FixedArg::Literal { value } => Ok(Argument::Plain(value.clone())),
        FixedArg::SecretEnv { name, prefix } => {
            let value = runtime
                .environment
                .get(name)
                .and_then(|value| value.to_str());
            let value = value.ok_or_else(|| {
                let message = format!("the secret variable {name} is not set for this runtime");
                Problem::new("shell.tool_secret_missing", message)
            })?;
            Ok(Argument::Secret(format!("{prefix}{value}")))
        }
        FixedArg::Path { path } => {
            let resolved = host
                .resolve(path)
                .map_err(|error| Problem::new(error.code(), error.to_string()))?;
            let canonical = canonical_or_parent(&resolved).map_err(|error| {
                let message = format!("{}: {error}", resolved.display());
                Problem::new("shell.directory_unavailable", message)
            })?;
            let text = CanonicalPath::to_str(&canonical).ok_or_else(|| {
                Problem::new("shell.path_not_utf8", "an argument path is not valid UTF-8")
            })?;
            Ok(Argument::Plain(text.to_owned()))
        }
    }
}
