//! Results and errors as the model reads them (spec 06b section B8, 06 section 12).

use chatmd_compiler::manifest::{Nonzero, ResultForm};
use serde::Serialize;

use super::display::{display_element, display_prose};
use super::finalise::Finalised;
use super::redactor::Redactor;
use super::safe_text::SafeText;

/// Arguments longer than this are cut when the whole object is too large, in bytes.
const LONG_ARGUMENT: usize = 1024;

/// What the encoded object may exceed twice the total output by, in bytes.
const OBJECT_SLACK: usize = 256 * 1024;

/// How a process, a command or a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExitStatus {
    /// Exit code.
    Exited(i32),
    /// Number of the signal that ended it.
    Signaled(i32),
}

impl ExitStatus {
    /// Exit 0.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Exited(0))
    }
}

/// One executed or synthesised command; members in the order of spec 03 section 7. Words and paths
/// have the form of [`display_element`], as in questions and in the log: a model that compares what
/// ran with what it asked for must see a hidden character too.
#[derive(Clone, Debug, Serialize)]
pub struct CommandResult {
    /// Program text, redacted, nothing hidden.
    program: SafeText,
    /// Arguments, redacted, nothing hidden.
    arguments: Vec<SafeText>,
    /// Program and arguments.
    argv: Vec<SafeText>,
    /// Canonical path, null when nothing ran.
    executable: Option<SafeText>,
    /// Its digest.
    executable_sha256: Option<String>,
    /// How it ended.
    status: ExitStatus,
    /// Whether its standard output was cut.
    stdout_truncated: bool,
    /// Whether its standard error was cut.
    stderr_truncated: bool,
    /// Interceptor that answered or changed it.
    intercepted_by: Option<String>,
}

impl CommandResult {
    /// The entry of a command. `argv` starts with the program, is redacted here, and its hidden
    /// characters are written as escapes; `executable` is the canonical path and its digest, absent
    /// when nothing ran.
    pub fn new<T: AsRef<[u8]>>(
        redactor: &Redactor,
        argv: &[T],
        executable: Option<(&[u8], &str)>,
        status: ExitStatus,
        intercepted_by: Option<String>,
    ) -> Self {
        let argv: Vec<SafeText> = argv
            .iter()
            .map(|element| display_element(redactor, element.as_ref()))
            .collect();
        let mut words = argv.iter().cloned();
        Self {
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
            executable: executable.map(|(path, _)| display_element(redactor, path)),
            executable_sha256: executable.map(|(_, digest)| digest.to_owned()),
            status,
            stdout_truncated: false,
            stderr_truncated: false,
            intercepted_by,
            argv,
        }
    }

    /// Sets the truncation flags from the finalised channels of this command.
    #[must_use]
    pub fn with_channels(mut self, stdout: &Finalised, stderr: &Finalised) -> Self {
        self.stdout_truncated = stdout.truncated;
        self.stderr_truncated = stderr.truncated;
        self
    }

    fn shorten(&mut self) {
        for words in [&mut self.arguments, &mut self.argv] {
            for word in words.iter_mut().filter(|word| word.len() > LONG_ARGUMENT) {
                *word = SafeText::cut(std::mem::take(word), &[], LONG_ARGUMENT, "…");
            }
        }
    }
}

/// A completed request; members in the order of spec 06b B8.2.
#[derive(Clone, Debug, Serialize)]
pub struct StructuredResult {
    /// Request id.
    pub request_id: String,
    /// Overall status; `pipefail` is applied by the caller.
    pub status: ExitStatus,
    /// Finalised standard output of all commands.
    pub stdout: SafeText,
    /// Finalised standard error of all commands.
    pub stderr: SafeText,
    /// Whether any standard output was cut.
    pub stdout_truncated: bool,
    /// Whether any standard error was cut.
    pub stderr_truncated: bool,
    /// Names of the backends, see [`join_backends`].
    pub backend: String,
    /// Qualified runtime id.
    pub runtime_id: String,
    /// Bound manifest digest.
    pub manifest_sha256: String,
    /// One per executed or synthesised command, in order.
    pub commands: Vec<CommandResult>,
}

/// The `backend` member: the distinct names of each pipeline sorted and joined with `+`, the
/// pipelines joined with `+`. A synthetic stage contributes its interceptor id.
pub fn join_backends<'a, P>(pipelines: impl IntoIterator<Item = P>) -> String
where
    P: IntoIterator<Item = &'a str>,
{
    let joined: Vec<String> = pipelines
        .into_iter()
        .map(|names| {
            let mut names: Vec<&str> = names.into_iter().collect();
            names.sort_unstable();
            names.dedup();
            names.join("+")
        })
        .collect();
    joined.join("+")
}

impl StructuredResult {
    /// The text for the model. `total_output` is the runtime's total output limit in bytes.
    pub fn render(&self, form: ResultForm, nonzero: Nonzero, total_output: usize) -> String {
        let failed = nonzero == Nonzero::Error && !self.status.is_success();
        match form {
            ResultForm::Combined | ResultForm::Stdout => {
                let mut text = self.stdout.as_str().to_owned();
                if form == ResultForm::Combined {
                    text.push_str(self.stderr.as_str());
                }
                if failed { nonzero_json(&text) } else { text }
            }
            ResultForm::Structured => {
                let object = self.bounded(total_output);
                if failed {
                    nonzero_json(&object)
                } else {
                    encode(&object)
                }
            }
        }
    }

    /// A copy whose encoding is bounded: over twice the total output and 256 KiB, long arguments
    /// are cut.
    fn bounded(&self, total_output: usize) -> Self {
        let bound = total_output.saturating_mul(2).saturating_add(OBJECT_SLACK);
        let mut object = self.clone();
        if encode(&object).len() > bound {
            object.commands.iter_mut().for_each(CommandResult::shorten);
        }
        object
    }
}

/// A refused or failed invocation (spec 06 section 12): never a host error for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvocationError {
    /// An executor code without prefix, or a `shell.tool_*` code.
    pub code: &'static str,
    /// One line of at most 4,096 bytes.
    pub message: SafeText,
}

impl InvocationError {
    /// An error with a message that may hold anything: it is redacted, bounded, and its controls
    /// and invisible characters are written as escapes here.
    pub fn new(redactor: &Redactor, code: &'static str, message: &str) -> Self {
        Self {
            code,
            message: display_prose(redactor, message.as_bytes()),
        }
    }

    /// `{"error":{"code":…,"message":…}}`.
    pub fn to_json(&self) -> String {
        error_json(self.code, &self.message)
    }
}

impl std::fmt::Display for InvocationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for InvocationError {}

#[derive(Serialize)]
struct Envelope<'a, R: Serialize> {
    error: Body<'a, R>,
}

#[derive(Serialize)]
struct Body<'a, R: Serialize> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a R>,
}

/// The text of an invocation error.
pub fn error_json(code: &str, message: &SafeText) -> String {
    encode(&Envelope::<()> {
        error: Body {
            code,
            message: message.as_str(),
            result: None,
        },
    })
}

fn nonzero_json<R: Serialize>(result: &R) -> String {
    let message = "shell command exited unsuccessfully";
    encode(&Envelope {
        error: Body {
            code: "shell.tool_nonzero",
            message,
            result: Some(result),
        },
    })
}

/// Compact JSON. These types have only strings, integers and flags, so encoding cannot fail; should
/// it ever, the model gets the internal error and no half object.
fn encode(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| {
        r#"{"error":{"code":"internal_error","message":"internal runtime error"}}"#.to_owned()
    })
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;
