//! Attribute text to typed values (spec 02 section 2).

mod ident;
mod list;
mod number;
mod path;
mod pattern;

use core::ops::Range;

use crate::decl::PathExpr;
use crate::diagnostics::{nearest, quote};
use crate::schema::{Attribute, Type};

pub(crate) use ident::is_strict;
pub(super) use list::items;
pub(super) use path::base_of;
pub(crate) use path::path_expression;

/// A valid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Bool(bool),
    Word(&'static str),
    Words(Vec<&'static str>),
    Number(u64),
    /// `none` of a limit.
    Unlimited,
    Text(String),
    Items(Vec<String>),
    Path(PathExpr),
}

/// What is wrong with a value, or worth a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Overrides the code of the attribute row.
    pub(super) code: Option<&'static str>,
    /// Bytes of the decoded value; `None`: all of it.
    pub(super) range: Option<Range<usize>>,
    /// One sentence.
    pub(super) message: String,
    /// What to do.
    pub(super) hint: Option<String>,
    /// Replacement of `range`.
    pub(super) replacement: Option<String>,
}

impl Fault {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            code: None,
            range: None,
            message: message.into(),
            hint: None,
            replacement: None,
        }
    }

    pub(super) fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub(super) fn at(mut self, range: Range<usize>) -> Self {
        self.range = Some(range);
        self
    }

    pub(super) fn hint(mut self, text: impl Into<String>) -> Self {
        self.hint = Some(text.into());
        self
    }

    pub(super) fn replace(mut self, text: impl Into<String>) -> Self {
        self.replacement = Some(text.into());
        self
    }
}

/// A value with its warnings.
pub(super) type Parsed = Result<(Value, Vec<Fault>), Fault>;

/// Code of a bad value of that type, where the row names none.
pub(super) fn code_of(ty: Type) -> &'static str {
    match ty {
        Type::Flag => "chatmd.invalid_flag",
        Type::Duration | Type::DurationOrNone => "shell.invalid_duration",
        Type::Bytes | Type::BytesOrNone => "shell.invalid_bytes",
        Type::Uint | Type::UintOrNone => "shell.invalid_integer",
        Type::Sha256 => "shell.invalid_sha256",
        Type::Path | Type::ToolPath | Type::Suffix | Type::Variable => "shell.invalid_path",
        Type::Env => "shell.invalid_env_name",
        Type::RuntimeId => "shell.invalid_runtime_id",
        Type::ScriptId => "chatmd.script_invalid_id",
        Type::EntryId | Type::ExecutableId | Type::EntryRef => "shell.invalid_identifier",
        Type::Reference | Type::ParentReference => "shell.invalid_reference",
        Type::WordList(_) => "shell.invalid_list",
        Type::ArgvPrefix => "shell.invalid_argv_prefix",
        Type::Regex => "shell.invalid_program_regex",
        Type::FixedCommand => "shell.tool_invalid_fixed_command",
        Type::ToolName => "shell.tool_invalid_name",
        Type::JsonArray => "shell.tool_invalid_attribute",
        Type::Namespace => "chatmd.import_invalid_namespace",
        Type::Temperature => "chatmd.config_invalid_value",
        Type::Bool
        | Type::Words(_)
        | Type::Function
        | Type::Text(_)
        | Type::Literal(_)
        | Type::Any => "shell.invalid_attribute",
    }
}

/// Reads a non-empty value; `budget` holds the bytes left for compiled patterns.
pub(super) fn read(row: &Attribute, text: &str, budget: &mut usize) -> Parsed {
    if let Some(at) = text.find('\0') {
        return Err(Fault::new("the value contains a NUL character").at(at..at + 1));
    }
    let plain = |value| Ok((value, Vec::new()));
    match row.ty {
        Type::Flag | Type::Bool => boolean(text).and_then(plain),
        Type::Words(words) => word(text, words).map(Value::Word).and_then(plain),
        Type::WordList(words) => list::words(text, words).and_then(plain),
        Type::Duration => number::duration(text, false).and_then(plain),
        Type::DurationOrNone => number::duration(text, true).and_then(plain),
        Type::Bytes => number::bytes(text, false).and_then(plain),
        Type::BytesOrNone => number::bytes(text, true).and_then(plain),
        Type::Uint => number::uint(text, false).and_then(plain),
        Type::UintOrNone => number::uint(text, true).and_then(plain),
        Type::Temperature => number::temperature(text).and_then(plain),
        Type::Sha256 => number::sha256(text).and_then(plain),
        Type::Path => path::read(text, crate::manifest::PathBase::SourceDir),
        Type::ToolPath => path::read(text, crate::manifest::PathBase::ToolDir),
        Type::Suffix => path::suffix(text).and_then(plain),
        Type::Variable => path::variable(text).and_then(plain),
        Type::Env => ident::environment(text).and_then(plain),
        Type::RuntimeId | Type::ScriptId => ident::declared(text).and_then(plain),
        Type::EntryId => ident::entry(text, true),
        Type::ExecutableId => ident::executable(text),
        Type::EntryRef => ident::entry(text, false),
        Type::Reference => ident::reference(text, false).and_then(plain),
        Type::ParentReference => ident::reference(text, true).and_then(plain),
        Type::Function => ident::function(text).and_then(plain),
        Type::ToolName => ident::tool_name(text).and_then(plain),
        Type::Namespace => ident::namespace(text).and_then(plain),
        Type::ArgvPrefix => list::argv_prefix(text).and_then(plain),
        Type::JsonArray => list::json(text).and_then(plain),
        Type::Regex => pattern::read(text, budget).and_then(plain),
        Type::Text(most) => bounded(text, most).and_then(plain),
        Type::Literal(most) => {
            let value = bounded(text, most)?;
            Ok((value, path::unexpanded(text)))
        }
        Type::FixedCommand | Type::Any => plain(Value::Text(text.to_owned())),
    }
}

fn bounded(text: &str, most: u32) -> Result<Value, Fault> {
    if text.len() > most as usize {
        return Err(Fault::new(format!(
            "the text is {} bytes long; at most {most} are permitted",
            text.len()
        )));
    }
    Ok(Value::Text(text.to_owned()))
}

fn boolean(text: &str) -> Result<Value, Fault> {
    let meant = || match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" | "y" | "t" => Some("true"),
        "false" | "no" | "off" | "0" | "n" | "f" => Some("false"),
        _ => None,
    };
    match text {
        "true" => Ok(Value::Bool(true)),
        "false" => Ok(Value::Bool(false)),
        _ => {
            let fault = Fault::new(format!("{} is neither `true` nor `false`", quote(text)))
                .hint("write `true` or `false`");
            Err(match meant().or_else(|| nearest(text, ["true", "false"])) {
                Some(meant) => fault.replace(meant),
                None => fault,
            })
        }
    }
}

/// The word of a closed set.
pub(super) fn word(text: &str, words: &'static [&'static str]) -> Result<&'static str, Fault> {
    if let Some(word) = words.iter().find(|word| **word == text) {
        return Ok(word);
    }
    let listed = one_of(words);
    let fault = Fault::new(format!(
        "{} is not permitted here; expected {listed}",
        quote(text)
    ));
    Err(match nearest(text.trim(), words.iter().copied()) {
        Some(meant) => fault
            .hint(format!("did you mean `{meant}`?"))
            .replace(meant),
        None => fault,
    })
}

/// "`a`, `b` or `c`".
pub(super) fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [init @ .., last] => {
            let init: Vec<String> = init.iter().map(|word| format!("`{word}`")).collect();
            format!("{} or `{last}`", init.join(", "))
        }
    }
}
