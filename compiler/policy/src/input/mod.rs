//! Tool input: the model's JSON text becomes a request (spec 03 section 6, 06 sections 4.1 to 4.5).

mod json;
pub mod schema;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounds::{
    MAX_ARGUMENT_BYTES, MAX_ARGUMENTS, MAX_ARGV_AND_ENVIRONMENT_BYTES, MAX_CHAIN_BYTES,
    MAX_RATIONALE_BYTES, MAX_SCRIPT_BYTES,
};
use crate::chain::{self, Chain, ChainBound, ChainFault};

use json::Member;

/// Bytes that the input may have on top of `max_stdin`.
pub const INPUT_SLACK_BYTES: u64 = 1 << 20;

/// Whether a field is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Refused.
    #[default]
    None,
    /// May be given.
    Optional,
    /// Must be given.
    Required,
}

/// Effective constraints on model arguments of a fixed tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentRule {
    /// Whether `arguments` is taken.
    pub mode: Presence,
    /// Fewest arguments.
    pub min_count: u64,
    /// Most arguments.
    pub max_count: u64,
    /// Most bytes of one argument.
    pub max_item_bytes: u64,
}

impl Default for ArgumentRule {
    /// `mode="optional"` with the hard ceilings: also the rule of script tools.
    fn default() -> Self {
        Self {
            mode: Presence::Optional,
            min_count: 0,
            max_count: MAX_ARGUMENTS as u64,
            max_item_bytes: MAX_ARGUMENT_BYTES as u64,
        }
    }
}

/// Tool mode as far as input is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum InputMode {
    Fixed(ArgumentRule),
    Structured,
    Chain,
    Raw,
    Script,
}

/// What a tool takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputShape {
    /// Mode and argument constraints.
    pub mode: InputMode,
    /// The `stdin` field.
    pub stdin: Presence,
    /// The `rationale` field.
    pub rationale: Presence,
    /// `max_stdin` of the runtime, in bytes.
    pub max_stdin_bytes: u64,
    /// Declared arguments that precede those of the model.
    pub declared_arguments: usize,
    /// Bytes of the environment and of declared argv elements.
    pub reserved_bytes: usize,
}

/// A valid tool input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolInput {
    /// What is to run.
    pub request: InputRequest,
    /// Supplied stdin; the empty string counts as none.
    pub stdin: Option<String>,
    /// Rationale as given. Sanitise and redact it, then cut it with [`cut_rationale`]: cutting
    /// first could split a secret and so hide it from redaction.
    pub rationale: Option<String>,
}

/// The mode-specific part of a valid input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum InputRequest {
    Fixed { arguments: Vec<String> },
    Structured { argv: Vec<String> },
    Chain { command: String, chain: Chain },
    Raw { script: String },
    Script { arguments: Vec<String> },
}

/// Why an input is refused. `Display` prints the message for the model; names in it come from the
/// input and still need sanitising.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum InputFault {
    TooLarge { limit: u64 },
    Syntax { offset: usize, what: &'static str },
    NotAnObject,
    Duplicate(String),
    Unknown(String),
    WrongType(Field),
    StdinForbidden,
    StdinRequired,
    StdinTooLarge,
    RationaleForbidden,
    RationaleRequired,
    Forbidden(Field),
    ProgramRequired,
    ArgumentsRequired,
    CommandRequired,
    ScriptRequired,
    ArgumentsForbidden,
    TooFewArguments,
    TooManyArguments,
    ArgumentTooLarge,
    Nul(Field),
    ScriptTooLarge,
    Chain(ChainFault),
}

/// A field of the input, in the order of the published schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Field {
    Program,
    Command,
    Script,
    Arguments,
    Stdin,
    Rationale,
}

impl Field {
    /// Every field in schema order.
    pub const ALL: [Self; 6] = [
        Self::Program,
        Self::Command,
        Self::Script,
        Self::Arguments,
        Self::Stdin,
        Self::Rationale,
    ];

    /// Member name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Command => "command",
            Self::Script => "script",
            Self::Arguments => "arguments",
            Self::Stdin => "stdin",
            Self::Rationale => "rationale",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.as_str() == name)
    }
}

impl InputFault {
    /// Invocation code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "shell.tool_input_too_large",
            Self::Syntax { .. } | Self::NotAnObject | Self::WrongType(_) => {
                "shell.tool_invalid_input"
            }
            Self::Duplicate(_) => "shell.tool_duplicate_input",
            Self::Unknown(_) => "shell.tool_unknown_input",
            Self::StdinForbidden => "shell.tool_stdin_forbidden",
            Self::StdinRequired => "shell.tool_stdin_required",
            Self::StdinTooLarge => "shell.tool_stdin_too_large",
            Self::RationaleForbidden => "shell.tool_rationale_forbidden",
            Self::RationaleRequired => "shell.tool_rationale_required",
            Self::Forbidden(_) => "shell.tool_field_forbidden",
            Self::ProgramRequired => "shell.tool_program_required",
            Self::ArgumentsRequired => "shell.tool_arguments_required",
            Self::CommandRequired => "shell.tool_command_required",
            Self::ScriptRequired => "shell.tool_script_required",
            Self::ArgumentsForbidden => "shell.tool_arguments_forbidden",
            Self::TooFewArguments => "shell.tool_too_few_arguments",
            Self::TooManyArguments => "shell.tool_too_many_arguments",
            Self::ArgumentTooLarge => "shell.tool_argument_too_large",
            Self::Nul(_) => "shell.tool_nul_byte",
            Self::ScriptTooLarge => "shell.tool_script_too_large",
            Self::Chain(fault) => fault.code(),
        }
    }

    /// The field at fault, where there is one.
    pub fn field(&self) -> Option<&str> {
        Some(match self {
            Self::Duplicate(name) | Self::Unknown(name) => name,
            Self::WrongType(field) | Self::Forbidden(field) | Self::Nul(field) => field.as_str(),
            Self::StdinForbidden | Self::StdinRequired | Self::StdinTooLarge => "stdin",
            Self::RationaleForbidden | Self::RationaleRequired => "rationale",
            Self::ProgramRequired => "program",
            Self::CommandRequired | Self::Chain(_) => "command",
            Self::ScriptRequired | Self::ScriptTooLarge => "script",
            Self::ArgumentsRequired
            | Self::ArgumentsForbidden
            | Self::TooFewArguments
            | Self::TooManyArguments
            | Self::ArgumentTooLarge => "arguments",
            Self::TooLarge { .. } | Self::Syntax { .. } | Self::NotAnObject => return None,
        })
    }
}

impl fmt::Display for InputFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => write!(out, "tool input is larger than {limit} bytes"),
            Self::Syntax { offset, what } => {
                write!(out, "tool input is not valid JSON at byte {offset}: {what}")
            }
            Self::NotAnObject => out.write_str("tool input must be one JSON object"),
            Self::Duplicate(name) => write!(out, "duplicate input field: {}", cut(name, 64)),
            Self::Unknown(name) => {
                write!(out, "unknown shell tool input field: {}", cut(name, 64))
            }
            Self::WrongType(Field::Arguments) => {
                out.write_str("arguments must be an array of strings")
            }
            Self::WrongType(field) => write!(out, "{} must be a string", field.as_str()),
            Self::StdinForbidden => out.write_str("stdin is disabled"),
            Self::StdinRequired => out.write_str("stdin is required"),
            Self::StdinTooLarge => out.write_str("stdin exceeds the runtime limit"),
            Self::RationaleForbidden => out.write_str("rationale is disabled"),
            Self::RationaleRequired => out.write_str("rationale is required"),
            Self::Forbidden(field) => write!(out, "{} is not valid for this mode", field.as_str()),
            Self::ProgramRequired => out.write_str("program is required"),
            Self::ArgumentsRequired => out.write_str("arguments are required"),
            Self::CommandRequired => out.write_str("command is required"),
            Self::ScriptRequired => out.write_str("script is required"),
            Self::ArgumentsForbidden => out.write_str("arguments are disabled"),
            Self::TooFewArguments => out.write_str("too few arguments were supplied"),
            Self::TooManyArguments => out.write_str("too many arguments were supplied"),
            Self::ArgumentTooLarge => out.write_str("an argument exceeds the configured limit"),
            Self::Nul(field) => write!(out, "{} must not contain a NUL byte", field.as_str()),
            Self::ScriptTooLarge => {
                write!(out, "script is larger than {MAX_SCRIPT_BYTES} bytes")
            }
            Self::Chain(fault) => fault.fmt(out),
        }
    }
}

impl std::error::Error for InputFault {}

/// Validates the model's input. The first failing check, in the order of the specification, is
/// the result.
pub fn validate(payload: &[u8], shape: &InputShape) -> Result<ToolInput, InputFault> {
    let limit = shape.max_stdin_bytes.saturating_add(INPUT_SLACK_BYTES);
    if payload.len() as u64 > limit {
        return Err(InputFault::TooLarge { limit });
    }
    let fields = Fields::read(payload)?;
    check_stdin(&fields, shape)?;
    check_rationale(&fields, shape)?;
    check_mode(&fields, shape)?;
    check_arguments(&fields, shape)?;
    check_nul(&fields)?;
    check_sizes(&fields)?;
    fields.into_input(shape)
}

/// Cuts a sanitised and redacted rationale to 4,096 bytes at a character boundary.
pub fn cut_rationale(text: &str) -> &str {
    cut(text, MAX_RATIONALE_BYTES)
}

fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

#[derive(Default)]
struct Fields {
    program: Option<String>,
    command: Option<String>,
    script: Option<String>,
    arguments: Option<Vec<String>>,
    stdin: Option<String>,
    rationale: Option<String>,
}

impl Fields {
    fn read(payload: &[u8]) -> Result<Self, InputFault> {
        let document = json::read(payload).map_err(|fault| InputFault::Syntax {
            offset: fault.offset,
            what: fault.what,
        })?;
        let members = document.members.ok_or(InputFault::NotAnObject)?;
        if let Some(name) = document.duplicate {
            return Err(InputFault::Duplicate(name));
        }
        if let Some((name, _)) = members
            .iter()
            .find(|(name, _)| Field::from_name(name).is_none())
        {
            return Err(InputFault::Unknown(name.clone()));
        }
        let mut fields = Self::default();
        for (name, value) in members {
            let Some(field) = Field::from_name(&name) else {
                continue;
            };
            match (field, value) {
                (Field::Program, Member::Text(text)) => fields.program = Some(text),
                (Field::Command, Member::Text(text)) => fields.command = Some(text),
                (Field::Script, Member::Text(text)) => fields.script = Some(text),
                (Field::Stdin, Member::Text(text)) => fields.stdin = Some(text),
                (Field::Rationale, Member::Text(text)) => fields.rationale = Some(text),
                (Field::Arguments, Member::Texts(texts)) => fields.arguments = Some(texts),
                (field, _) => return Err(InputFault::WrongType(field)),
            }
        }
        Ok(fields)
    }

    const fn has(&self, field: Field) -> bool {
        match field {
            Field::Program => self.program.is_some(),
            Field::Command => self.command.is_some(),
            Field::Script => self.script.is_some(),
            Field::Arguments => self.arguments.is_some(),
            Field::Stdin => self.stdin.is_some(),
            Field::Rationale => self.rationale.is_some(),
        }
    }

    fn arguments(&self) -> &[String] {
        self.arguments.as_deref().unwrap_or_default()
    }

    fn into_input(self, shape: &InputShape) -> Result<ToolInput, InputFault> {
        let arguments = self.arguments.unwrap_or_default();
        let request = match shape.mode {
            InputMode::Fixed(_) => InputRequest::Fixed { arguments },
            InputMode::Script => InputRequest::Script { arguments },
            InputMode::Structured => {
                let mut argv = vec![self.program.ok_or(InputFault::ProgramRequired)?];
                argv.extend(arguments);
                InputRequest::Structured { argv }
            }
            InputMode::Chain => {
                let command = self.command.ok_or(InputFault::CommandRequired)?;
                let chain = chain::parse(&command).map_err(InputFault::Chain)?;
                InputRequest::Chain { command, chain }
            }
            InputMode::Raw => InputRequest::Raw {
                script: self.script.ok_or(InputFault::ScriptRequired)?,
            },
        };
        Ok(ToolInput {
            request,
            stdin: self.stdin.filter(|text| !text.is_empty()),
            rationale: self.rationale,
        })
    }
}

fn check_stdin(fields: &Fields, shape: &InputShape) -> Result<(), InputFault> {
    match (shape.stdin, &fields.stdin) {
        (Presence::None, Some(_)) => Err(InputFault::StdinForbidden),
        (Presence::Required, None) => Err(InputFault::StdinRequired),
        (_, Some(text)) if text.len() as u64 > shape.max_stdin_bytes => {
            Err(InputFault::StdinTooLarge)
        }
        _ => Ok(()),
    }
}

fn check_rationale(fields: &Fields, shape: &InputShape) -> Result<(), InputFault> {
    let blank = fields
        .rationale
        .as_deref()
        .is_none_or(|text| text.trim().is_empty());
    match (shape.rationale, &fields.rationale) {
        (Presence::None, Some(_)) => Err(InputFault::RationaleForbidden),
        (Presence::Required, _) if blank => Err(InputFault::RationaleRequired),
        _ => Ok(()),
    }
}

/// Fields of another mode, then missing ones.
fn check_mode(fields: &Fields, shape: &InputShape) -> Result<(), InputFault> {
    let foreign: &[Field] = match shape.mode {
        InputMode::Fixed(_) | InputMode::Script => &[Field::Program, Field::Command, Field::Script],
        InputMode::Structured => &[Field::Command, Field::Script],
        InputMode::Chain => &[Field::Program, Field::Script, Field::Arguments],
        InputMode::Raw => &[Field::Program, Field::Command, Field::Arguments],
    };
    if let Some(field) = foreign.iter().find(|field| fields.has(**field)) {
        return Err(InputFault::Forbidden(*field));
    }
    match shape.mode {
        InputMode::Structured if fields.program.as_deref().unwrap_or_default().is_empty() => {
            Err(InputFault::ProgramRequired)
        }
        InputMode::Structured if fields.arguments.is_none() => Err(InputFault::ArgumentsRequired),
        InputMode::Chain if fields.command.is_none() => Err(InputFault::CommandRequired),
        InputMode::Raw
            if fields
                .script
                .as_deref()
                .unwrap_or_default()
                .trim()
                .is_empty() =>
        {
            Err(InputFault::ScriptRequired)
        }
        _ => Ok(()),
    }
}

fn check_arguments(fields: &Fields, shape: &InputShape) -> Result<(), InputFault> {
    let rule = match shape.mode {
        InputMode::Fixed(rule) => rule,
        _ => ArgumentRule::default(),
    };
    let arguments = fields.arguments();
    let count = arguments.len() as u64;
    if rule.mode == Presence::None {
        return match fields.arguments {
            Some(_) => Err(InputFault::ArgumentsForbidden),
            None => Ok(()),
        };
    }
    let least = match rule.mode {
        Presence::Required => rule.min_count.max(1),
        _ => rule.min_count,
    };
    if count < least {
        return Err(InputFault::TooFewArguments);
    }
    if count > rule.max_count || arguments.len() + shape.declared_arguments > MAX_ARGUMENTS {
        return Err(InputFault::TooManyArguments);
    }
    let longest = arguments.iter().map(String::len).max().unwrap_or(0);
    if longest as u64 > rule.max_item_bytes || longest > MAX_ARGUMENT_BYTES {
        return Err(InputFault::ArgumentTooLarge);
    }
    let program = fields.program.as_ref().map_or(0, String::len);
    let total = arguments
        .iter()
        .fold(shape.reserved_bytes.saturating_add(program), |sum, text| {
            sum.saturating_add(text.len())
        });
    if total > MAX_ARGV_AND_ENVIRONMENT_BYTES {
        return Err(InputFault::ArgumentTooLarge);
    }
    Ok(())
}

fn check_nul(fields: &Fields) -> Result<(), InputFault> {
    let nul = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains('\0'));
    for (field, found) in [
        (Field::Program, nul(&fields.program)),
        (
            Field::Arguments,
            fields.arguments().iter().any(|text| text.contains('\0')),
        ),
        (Field::Script, nul(&fields.script)),
        (Field::Command, nul(&fields.command)),
    ] {
        if found {
            return Err(InputFault::Nul(field));
        }
    }
    Ok(())
}

fn check_sizes(fields: &Fields) -> Result<(), InputFault> {
    if fields
        .script
        .as_ref()
        .is_some_and(|script| script.len() > MAX_SCRIPT_BYTES)
    {
        return Err(InputFault::ScriptTooLarge);
    }
    if fields
        .command
        .as_ref()
        .is_some_and(|command| command.len() > MAX_CHAIN_BYTES)
    {
        return Err(InputFault::Chain(ChainFault::TooLarge(ChainBound::Bytes)));
    }
    Ok(())
}
