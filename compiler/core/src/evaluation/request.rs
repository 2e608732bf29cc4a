//! From the text of a request to its simple commands (spec 06 sections 4 and 5, spec 12 section 2.2).

use chatmd_policy::chain::{self, Chain, ChainFault};
use chatmd_policy::facts::StdinKind;
use chatmd_policy::input::{self, InputFault, InputRequest, Presence};
use chatmd_policy::trace::ParseTrace;
use chatmd_policy::{RequestKind, bounds};
use serde_json::{Value as Json, json};

use super::{InputRefusal, Scope};
use crate::manifest::{FixedArg, Mode, Path, Tool};
use crate::published;

/// Who asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The model, through a tool.
    #[default]
    Tool,
    /// A moderator script.
    Moderator,
}

impl Origin {
    /// Word in requests and audit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Moderator => "moderator",
        }
    }
}

/// A request as somebody writes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// What is asked for.
    pub text: RequestText,
    /// Who asks.
    pub origin: Origin,
    /// Bytes of stdin; an input object says it itself.
    pub stdin_bytes: u64,
}

impl Request {
    /// A request of a tool without stdin.
    pub fn new(text: RequestText) -> Self {
        Self {
            text,
            origin: Origin::Tool,
            stdin_bytes: 0,
        }
    }
}

/// The text of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestText {
    /// A command line in the chain grammar; the model's extra arguments for a fixed or script tool.
    Command(String),
    /// Program and arguments; arguments only for a fixed or script tool.
    Argv(Vec<String>),
    /// Shell source for a raw tool.
    Script(String),
    /// The tool input object.
    Json(String),
}

/// Name of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Form {
    Command,
    Argv,
    Script,
    Json,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 4] = [Self::Command, Self::Argv, Self::Json, Self::Script];

    /// The word of option `as`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Argv => "argv",
            Self::Script => "script",
            Self::Json => "json",
        }
    }
}

impl RequestText {
    /// Its form.
    pub const fn form(&self) -> Form {
        match self {
            Self::Command(_) => Form::Command,
            Self::Argv(_) => Form::Argv,
            Self::Script(_) => Form::Script,
            Self::Json(_) => Form::Json,
        }
    }

    /// As a JSON value, for traces.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Command(text) | Self::Script(text) => json!(text),
            Self::Argv(words) => json!(words),
            Self::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        }
    }
}

/// A text whose form does not fit its target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormFault {
    /// The target never takes this form.
    #[error("a {target} does not take `{}`", .form.as_str())]
    NotTaken {
        /// The form.
        form: Form,
        /// `runtime` or the mode of the tool with the word `tool`.
        target: String,
    },
    /// More than one command where one fits.
    #[error("one command is expected, this is a chain")]
    Several,
}

/// One simple command before it is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) argv: Vec<String>,
    pub(super) kind: RequestKind,
    pub(super) script: Option<String>,
    pub(super) stdin: StdinKind,
    pub(super) stdin_bytes: u64,
}

/// What was read.
pub(super) struct Read {
    pub(super) parse: Option<ParseTrace>,
    pub(super) commands: Result<Vec<Command>, InputRefusal>,
}

/// Reads a request; a refusal is the one that a call would meet.
pub(super) fn read(scope: &Scope<'_>, request: &Request) -> Result<Read, FormFault> {
    match scope.tool {
        Some(tool) => Reader { scope, tool }.read(request),
        None => of_runtime(scope, request),
    }
}

fn of_runtime(scope: &Scope<'_>, request: &Request) -> Result<Read, FormFault> {
    let mut stdin = Stdin::of_bytes(request.stdin_bytes);
    let limit = scope.runtime.limits.max_stdin_bytes;
    if request.stdin_bytes > limit {
        return Ok(refused(&InputFault::StdinTooLarge));
    }
    match &request.text {
        RequestText::Command(text) => Ok(of_chain(chain::parse(text), &mut stdin)),
        RequestText::Argv(argv) => {
            let bytes = scope.host.environment_bytes();
            Ok(match bounds::check_argv(argv, bytes) {
                Ok(()) => one(argv.clone(), RequestKind::Structured, None, &mut stdin),
                Err(fault) => Read {
                    parse: None,
                    commands: Err(InputRefusal {
                        code: fault.code().to_owned(),
                        field: None,
                        reason: fault.to_string(),
                        offset: None,
                    }),
                },
            })
        }
        RequestText::Script(_) | RequestText::Json(_) => Err(FormFault::NotTaken {
            form: request.text.form(),
            target: "runtime".to_owned(),
        }),
    }
}

/// Stdin of a request: it goes to the first command.
struct Stdin {
    kind: StdinKind,
    bytes: u64,
}

impl Stdin {
    fn of_bytes(bytes: u64) -> Self {
        let kind = if bytes == 0 {
            StdinKind::Empty
        } else {
            StdinKind::Supplied
        };
        Self { kind, bytes }
    }

    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::of_bytes(0))
    }
}

fn one(argv: Vec<String>, kind: RequestKind, script: Option<String>, stdin: &mut Stdin) -> Read {
    let stdin = stdin.take();
    Read {
        parse: None,
        commands: Ok(vec![Command {
            argv,
            kind,
            script,
            stdin: stdin.kind,
            stdin_bytes: stdin.bytes,
        }]),
    }
}

fn refused(fault: &InputFault) -> Read {
    let offset = match fault {
        InputFault::Chain(ChainFault::Syntax { offset, .. }) => Some(*offset),
        _ => None,
    };
    let parse = matches!(fault, InputFault::Chain(_)).then(|| ParseTrace {
        ok: false,
        offset,
        reason: Some(fault.to_string()),
        pipelines: Vec::new(),
        operators: Vec::new(),
    });
    Read {
        parse,
        commands: Err(InputRefusal {
            code: fault.code().to_owned(),
            field: fault.field().map(str::to_owned),
            reason: fault.to_string(),
            offset,
        }),
    }
}

/// Commands of a chain. A single command is a structured request.
fn of_chain(parsed: Result<Chain, ChainFault>, stdin: &mut Stdin) -> Read {
    let chain = match parsed {
        Ok(chain) => chain,
        Err(fault) => return refused(&InputFault::Chain(fault)),
    };
    let mut pipelines = Vec::with_capacity(chain.pipelines.len());
    let mut commands = Vec::new();
    for pipeline in chain.pipelines {
        let mut numbers = Vec::with_capacity(pipeline.stages.len());
        for (position, argv) in pipeline.stages.into_iter().enumerate() {
            let own = stdin.take();
            numbers.push(commands.len());
            commands.push(Command {
                argv,
                kind: RequestKind::Structured,
                script: None,
                stdin: if position > 0 {
                    StdinKind::Pipeline
                } else {
                    own.kind
                },
                stdin_bytes: own.bytes,
            });
        }
        pipelines.push(numbers);
    }
    let operators = chain.operators.iter().map(|it| it.as_str().to_owned());
    let parse = ParseTrace {
        ok: true,
        offset: None,
        reason: None,
        pipelines,
        operators: operators.collect(),
    };
    Read {
        parse: Some(parse),
        commands: Ok(commands),
    }
}

/// Reads the input of a tool.
struct Reader<'a> {
    scope: &'a Scope<'a>,
    tool: &'a Tool,
}

impl Reader<'_> {
    fn read(&self, request: &Request) -> Result<Read, FormFault> {
        let stdin = request.stdin_bytes;
        Ok(match (&self.tool.mode, &request.text) {
            (_, RequestText::Json(text)) => self.validated(text.as_bytes(), None),
            (Mode::Structured {}, RequestText::Argv(argv)) => self.structured(argv, stdin),
            (Mode::Structured {}, RequestText::Command(text)) => match chain::parse(text) {
                Ok(chain) => self.structured(chain.single().ok_or(FormFault::Several)?, stdin),
                Err(fault) => refused(&InputFault::Chain(fault)),
            },
            (Mode::Chain {}, RequestText::Command(text)) => {
                self.composed(json!({"command": text}), stdin)
            }
            (Mode::Chain {}, RequestText::Argv(argv)) => {
                self.composed(json!({"command": quoted(argv)}), stdin)
            }
            (Mode::Raw { .. }, RequestText::Script(text)) => {
                self.composed(json!({"script": text}), stdin)
            }
            (Mode::Fixed { .. } | Mode::Script { .. }, RequestText::Argv(words)) => {
                self.arguments(words, stdin)
            }
            (Mode::Fixed { .. } | Mode::Script { .. }, RequestText::Command(text)) => {
                match extra_arguments(text) {
                    Ok(words) => self.arguments(&words.ok_or(FormFault::Several)?, stdin),
                    Err(fault) => refused(&InputFault::Chain(fault)),
                }
            }
            (mode, text) => {
                return Err(FormFault::NotTaken {
                    form: text.form(),
                    target: format!("{} tool", published::mode_word(mode)),
                });
            }
        })
    }

    fn structured(&self, argv: &[String], stdin: u64) -> Read {
        let (program, arguments) = match argv.split_first() {
            Some((program, arguments)) => (program.as_str(), arguments),
            None => ("", argv),
        };
        self.composed(json!({"program": program, "arguments": arguments}), stdin)
    }

    fn arguments(&self, words: &[String], stdin: u64) -> Read {
        let input = if words.is_empty() {
            json!({})
        } else {
            json!({"arguments": words})
        };
        self.composed(input, stdin)
    }

    /// Validates an input made from a text; stdin is known by its size only, and a rationale that
    /// must be there is supplied.
    fn composed(&self, mut input: Json, stdin: u64) -> Read {
        if self.tool.rationale == crate::manifest::Presence::Required {
            input["rationale"] = json!("test");
        }
        self.validated(input.to_string().as_bytes(), Some(stdin))
    }

    fn validated(&self, payload: &[u8], stdin: Option<u64>) -> Read {
        let limit = self.scope.runtime.limits.max_stdin_bytes;
        let mut shape = published::input_shape(self.tool, limit);
        shape.reserved_bytes = self.scope.host.environment_bytes();
        let declared = match self.declared() {
            Ok(declared) => declared,
            Err(refusal) => {
                return Read {
                    parse: None,
                    commands: Err(refusal),
                };
            }
        };
        if let Some((program, arguments)) = &declared {
            let bytes: usize = arguments.iter().map(String::len).sum();
            shape.declared_arguments = arguments.len();
            shape.reserved_bytes += program.len() + bytes;
        }
        if let Some(bytes) = stdin {
            let fault = match shape.stdin {
                Presence::None if bytes > 0 => Some(InputFault::StdinForbidden),
                Presence::Required if bytes == 0 => Some(InputFault::StdinRequired),
                _ if bytes > limit => Some(InputFault::StdinTooLarge),
                _ => None,
            };
            if let Some(fault) = fault {
                return refused(&fault);
            }
            shape.stdin = Presence::None;
        }
        match input::validate(payload, &shape) {
            Ok(input) => {
                let given = input.stdin.as_ref().map_or(0, |text| text.len() as u64);
                let stdin = Stdin::of_bytes(stdin.unwrap_or(given));
                self.commands(input.request, declared, stdin)
            }
            Err(fault) => refused(&fault),
        }
    }

    /// Program and declared arguments of a tool that names its program itself.
    #[allow(clippy::type_complexity)]
    fn declared(&self) -> Result<Option<(String, Vec<String>)>, InputRefusal> {
        Ok(Some(match &self.tool.mode {
            Mode::Structured {} | Mode::Chain {} => return Ok(None),
            Mode::Fixed {
                program,
                executable_ref,
                arguments,
                ..
            } => {
                let program = program.clone().or_else(|| executable_ref.clone());
                let arguments = arguments.iter().map(|argument| self.argument(argument));
                (
                    program.unwrap_or_default(),
                    arguments.collect::<Result<_, _>>()?,
                )
            }
            Mode::Raw {
                executable,
                arguments_before_script,
            } => (self.path(executable)?, arguments_before_script.clone()),
            Mode::Script {
                script,
                interpreter,
                fixed_arguments,
                ..
            } => {
                let script = self.path(script)?;
                match interpreter {
                    Some(interpreter) => {
                        let mut arguments = vec![script];
                        arguments.extend(fixed_arguments.iter().cloned());
                        (self.path(interpreter)?, arguments)
                    }
                    None => (script, fixed_arguments.clone()),
                }
            }
        }))
    }

    fn argument(&self, argument: &FixedArg) -> Result<String, InputRefusal> {
        match argument {
            FixedArg::Literal { value } => Ok(value.clone()),
            FixedArg::Path { path } => {
                let path = self.path(path)?;
                Ok(self
                    .scope
                    .host
                    .paths()
                    .canonical_or_parent(&path)
                    .unwrap_or(path))
            }
            FixedArg::SecretEnv { name, prefix } => match self.scope.host.secret(name) {
                Some(value) => Ok(format!("{prefix}{value}")),
                None => Err(InputRefusal {
                    code: "shell.tool_secret_missing".to_owned(),
                    field: None,
                    reason: format!("the secret variable {name} is not set for this runtime"),
                    offset: None,
                }),
            },
        }
    }

    fn path(&self, path: &Path) -> Result<String, InputRefusal> {
        self.scope
            .host
            .path(path)
            .map_err(|(code, reason)| InputRefusal {
                code: code.to_owned(),
                field: None,
                reason,
                offset: None,
            })
    }

    fn commands(
        &self,
        request: InputRequest,
        declared: Option<(String, Vec<String>)>,
        mut stdin: Stdin,
    ) -> Read {
        let (program, mut arguments) = declared.unwrap_or_default();
        let structured = RequestKind::Structured;
        match request {
            InputRequest::Chain { chain, .. } => of_chain(Ok(chain), &mut stdin),
            InputRequest::Structured { argv } => one(argv, structured, None, &mut stdin),
            InputRequest::Raw { script } => {
                let mut argv = vec![program];
                argv.append(&mut arguments);
                argv.push(script.clone());
                one(argv, RequestKind::RawShell, Some(script), &mut stdin)
            }
            InputRequest::Fixed { arguments: own } | InputRequest::Script { arguments: own } => {
                let mut argv = vec![program];
                argv.append(&mut arguments);
                argv.extend(own);
                let kind = match self.tool.mode {
                    Mode::Script { .. } => RequestKind::ScriptFile,
                    _ => structured,
                };
                one(argv, kind, None, &mut stdin)
            }
        }
    }
}

/// Words of the model's extra arguments; `None` when they are several commands.
fn extra_arguments(text: &str) -> Result<Option<Vec<String>>, ChainFault> {
    if text.trim_matches([' ', '\t', '\n', '\r']).is_empty() {
        return Ok(Some(Vec::new()));
    }
    // The first word of a command may not be empty, a keyword or an assignment; an argument may.
    const BEFORE: &str = "x ";
    let parsed = chain::parse(&format!("{BEFORE}{text}")).map_err(|fault| match fault {
        ChainFault::Syntax { offset, reason } => ChainFault::Syntax {
            offset: offset.saturating_sub(BEFORE.len()),
            reason,
        },
        other => other,
    })?;
    Ok(parsed
        .single()
        .map(|words| words.get(1..).unwrap_or_default().to_vec()))
}

/// An argv in the chain grammar, each word in single quotes.
fn quoted(argv: &[String]) -> String {
    let words = argv.iter().map(|word| {
        let plain = !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_./:-".contains(&byte));
        if plain {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
