//! Tools as a model sees them: name, description and input schema (spec 03 sections 4 and 5).

use std::fmt::Write as _;

use chatmd_policy::input::{ArgumentRule, Field, InputMode, InputShape, schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::manifest::{
    FixedArg, Mode, ModelArguments, Nonzero, Path, PathBase, Presence, ResultForm, Tool,
};

/// Default upper bounds of model arguments; only other ones are worth a sentence.
const MAX_COUNT: u64 = 4096;
const MAX_ITEM_BYTES: u64 = 131_071;

/// A tool as published to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublishedTool {
    /// Name, unique in the document.
    pub name: String,
    /// Qualified id of its runtime.
    pub runtime: String,
    /// `fixed`, `structured`, `chain`, `raw` or `script`.
    pub mode: &'static str,
    /// What the model is told.
    pub description: String,
    /// JSON Schema of the input.
    pub input_schema: InputSchema,
}

/// The strict schema of a tool's input; members serialise in the published order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSchema {
    /// Fields that the tool takes, and whether each is required.
    fields: Vec<(Field, bool)>,
}

impl Serialize for InputSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let required = self.fields.iter().filter(|(_, required)| *required);
        let required: Vec<&str> = required.map(|(field, _)| field.as_str()).collect();
        let mut schema = serializer.serialize_map(Some(4))?;
        schema.serialize_entry("type", "object")?;
        schema.serialize_entry("properties", &Properties(&self.fields))?;
        schema.serialize_entry("required", &required)?;
        schema.serialize_entry("additionalProperties", &false)?;
        schema.end()
    }
}

struct Properties<'a>(&'a [(Field, bool)]);

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut properties = serializer.serialize_map(Some(self.0.len()))?;
        for (field, _) in self.0 {
            let strings = *field == Field::Arguments;
            properties.serialize_entry(field.as_str(), &PropertyType { strings })?;
        }
        properties.end()
    }
}

struct PropertyType {
    strings: bool,
}

impl Serialize for PropertyType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut property = serializer.serialize_map(None)?;
        property.serialize_entry("type", if self.strings { "array" } else { "string" })?;
        if self.strings {
            property.serialize_entry("items", &PropertyType { strings: false })?;
        }
        property.end()
    }
}

/// The published form of a tool. `compact` is the source text of a compact `command="…"`, when the
/// document was compiled from its sources.
pub fn publish(tool: &Tool, compact: Option<&str>) -> PublishedTool {
    PublishedTool {
        name: tool.name.clone(),
        runtime: tool.runtime.clone(),
        mode: mode_word(&tool.mode),
        description: description(tool, compact),
        input_schema: input_schema(tool),
    }
}

/// Word of a mode.
pub fn mode_word(mode: &Mode) -> &'static str {
    match mode {
        Mode::Fixed { .. } => "fixed",
        Mode::Structured {} => "structured",
        Mode::Chain {} => "chain",
        Mode::Raw { .. } => "raw",
        Mode::Script { .. } => "script",
    }
}

/// The input schema of a tool.
pub fn input_schema(tool: &Tool) -> InputSchema {
    InputSchema {
        fields: schema::fields(&input_shape(tool, 0)),
    }
}

/// What a tool takes, as the input validation reads it. `max_stdin_bytes` is that of its runtime.
/// The caller adds what the declared arguments and the environment reserve.
pub fn input_shape(tool: &Tool, max_stdin_bytes: u64) -> InputShape {
    let mode = match &tool.mode {
        Mode::Fixed {
            model_arguments: rule,
            ..
        } => InputMode::Fixed(ArgumentRule {
            mode: presence(rule.mode),
            min_count: rule.min_count,
            max_count: rule.max_count,
            max_item_bytes: rule.max_item_bytes,
        }),
        Mode::Structured {} => InputMode::Structured,
        Mode::Chain {} => InputMode::Chain,
        Mode::Raw { .. } => InputMode::Raw,
        Mode::Script { .. } => InputMode::Script,
    };
    InputShape {
        mode,
        stdin: presence(tool.stdin),
        rationale: presence(tool.rationale),
        max_stdin_bytes,
        declared_arguments: 0,
        reserved_bytes: 0,
    }
}

fn presence(presence: Presence) -> chatmd_policy::input::Presence {
    match presence {
        Presence::None => chatmd_policy::input::Presence::None,
        Presence::Optional => chatmd_policy::input::Presence::Optional,
        Presence::Required => chatmd_policy::input::Presence::Required,
    }
}

/// The description of a tool: what the model needs for a right call, without argument values of the
/// long form and without host paths.
pub fn description(tool: &Tool, compact: Option<&str>) -> String {
    let mut sentences = vec![mode_sentence(&tool.mode, compact)];
    if let Mode::Fixed {
        model_arguments, ..
    } = &tool.mode
    {
        sentences.push(arguments_sentence(model_arguments));
    }
    sentences.extend(presence_sentence(
        tool.stdin,
        "stdin",
        "text for standard input",
    ));
    sentences.extend(presence_sentence(
        tool.rationale,
        "rationale",
        "why this call is needed",
    ));
    sentences.push(result_sentence(tool.result).to_owned());
    sentences.push(nonzero_sentence(tool.nonzero).to_owned());
    sentences.push(
        "Every call is subject to the runtime's command policy, approvals, sandbox, limits and \
         interceptors; output is sanitised, secrets are redacted, and calls are audited."
            .to_owned(),
    );
    let mut text = sentences.join(" ");
    if let Some(own) = tool
        .description
        .as_deref()
        .map(str::trim)
        .filter(|own| !own.is_empty())
    {
        text.push_str("\n\nAdditional tool guidance: ");
        text.push_str(own);
    }
    text
}

fn mode_sentence(mode: &Mode, compact: Option<&str>) -> String {
    match mode {
        Mode::Fixed { program, executable_ref, arguments, .. } => {
            let compact = compact.map(str::trim).filter(|_| only_literals(arguments));
            match (compact, program, executable_ref) {
                (Some(text), _, _) => {
                    format!("Runs the fixed shell command {} through its configured runtime.", quoted(text))
                }
                (None, Some(program), _) => format!(
                    "Runs the fixed executable {} with its declared arguments through its configured runtime.",
                    quoted(program)
                ),
                (None, None, reference) => format!(
                    "Runs the fixed executable reference {} with its declared arguments through its configured runtime.",
                    quoted(reference.as_deref().unwrap_or_default())
                ),
            }
        }
        Mode::Structured {} => "Runs one executable directly, without a shell: `program` names it, and each element of `arguments` is passed as one literal argument.".to_owned(),
        Mode::Chain {} => "Runs a parsed shell command chain given whole in `command`: words and quotes, pipelines with |, sequences with ;, and the conditionals && and ||. No shell is involved; any other shell syntax is an error.".to_owned(),
        Mode::Raw { .. } => "Runs raw shell source: `script` is the complete program text for the configured shell.".to_owned(),
        Mode::Script { script, .. } => format!(
            "Runs the script {}; its source and executable identities are verified before every start. Each element of `arguments` is passed to it as one literal argument.",
            quoted(&symbolic(script))
        ),
    }
}

fn only_literals(arguments: &[FixedArg]) -> bool {
    arguments
        .iter()
        .all(|argument| matches!(argument, FixedArg::Literal { .. }))
}

fn arguments_sentence(bounds: &ModelArguments) -> String {
    let mut text = match bounds.mode {
        Presence::None => return "It takes no arguments.".to_owned(),
        Presence::Optional => {
            "Further arguments may be given in `arguments`; each element is one literal argument."
        }
        Presence::Required => {
            "Further arguments must be given in `arguments`; each element is one literal argument."
        }
    }
    .to_owned();
    let least = if bounds.mode == Presence::Required {
        1
    } else {
        0
    };
    let mut limits = Vec::new();
    if bounds.min_count != least {
        limits.push(format!("at least {}", bounds.min_count));
    }
    if bounds.max_count != MAX_COUNT {
        limits.push(format!("at most {}", bounds.max_count));
    }
    if bounds.max_item_bytes != MAX_ITEM_BYTES {
        limits.push(format!("each of at most {} bytes", bounds.max_item_bytes));
    }
    if !limits.is_empty() {
        let _ = write!(text, " Bounds: {}.", limits.join(", "));
    }
    text
}

fn presence_sentence(presence: Presence, field: &str, what: &str) -> Option<String> {
    match presence {
        Presence::None => None,
        Presence::Optional => Some(format!("The optional field `{field}` holds {what}.")),
        Presence::Required => Some(format!("The required field `{field}` holds {what}.")),
    }
}

fn result_sentence(result: ResultForm) -> &'static str {
    match result {
        ResultForm::Combined => "The result is standard output followed by standard error.",
        ResultForm::Stdout => {
            "The result is standard output; standard error serves diagnostics only and is not returned."
        }
        ResultForm::Structured => {
            "The result is a JSON object with the status, both outputs, the identity of the runtime and data about each command."
        }
    }
}

fn nonzero_sentence(nonzero: Nonzero) -> &'static str {
    match nonzero {
        Nonzero::Result => "An unsuccessful exit is returned as an ordinary result.",
        Nonzero::Error => "An unsuccessful exit is returned as a tool error.",
    }
}

/// A path in symbolic form, as written in a document.
fn symbolic(path: &Path) -> String {
    match path.base {
        PathBase::Absolute => path.path.clone(),
        base if path.path.is_empty() => format!("${{{}}}", base.as_str()),
        base => format!("${{{}}}/{}", base.as_str(), path.path),
    }
}

/// Text in double quotes, with quotes, backslashes and control characters escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            character if character.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::manifest::Stream;

    fn tool(mode: Mode) -> Tool {
        Tool {
            name: "t".into(),
            description: None,
            runtime: "r".into(),
            source: "a.chatmd".into(),
            stdin: Presence::None,
            rationale: Presence::None,
            result: ResultForm::Combined,
            stream: Stream::Finalized,
            nonzero: Nonzero::Result,
            mode,
        }
    }

    fn fixed(presence: Presence) -> Mode {
        Mode::Fixed {
            program: Some("rg".into()),
            executable_ref: None,
            arguments: vec![FixedArg::Literal {
                value: "--hidden-value".into(),
            }],
            model_arguments: ModelArguments {
                mode: presence,
                min_count: u64::from(presence == Presence::Required),
                max_count: MAX_COUNT,
                max_item_bytes: MAX_ITEM_BYTES,
            },
        }
    }

    fn schema(tool: &Tool) -> String {
        serde_json::to_string(&input_schema(tool)).unwrap()
    }

    #[test]
    fn schema_of_every_mode() {
        let arguments = r#""arguments":{"type":"array","items":{"type":"string"}}"#;
        let path = || Path {
            base: PathBase::Workspace,
            path: "x".into(),
            source: None,
        };
        let raw = Mode::Raw {
            executable: path(),
            arguments_before_script: vec![],
        };
        let script = Mode::Script {
            script: path(),
            interpreter: None,
            fixed_arguments: vec![],
            verification: "sha256".into(),
            max_source_bytes: 1,
        };
        for (mode, properties, required) in [
            (fixed(Presence::None), String::new(), ""),
            (fixed(Presence::Optional), arguments.to_owned(), ""),
            (
                fixed(Presence::Required),
                arguments.to_owned(),
                r#""arguments""#,
            ),
            (
                Mode::Structured {},
                format!(r#""program":{{"type":"string"}},{arguments}"#),
                r#""program","arguments""#,
            ),
            (
                Mode::Chain {},
                r#""command":{"type":"string"}"#.into(),
                r#""command""#,
            ),
            (raw, r#""script":{"type":"string"}"#.into(), r#""script""#),
            (script, arguments.to_owned(), ""),
        ] {
            let expected = format!(
                r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
            );
            assert_eq!(schema(&tool(mode)), expected);
        }
    }

    #[test]
    fn stdin_and_rationale_come_last_and_in_order() {
        let tool = Tool {
            stdin: Presence::Optional,
            rationale: Presence::Required,
            ..tool(Mode::Structured {})
        };
        let text = schema(&tool);
        let order = ["\"program\"", "\"arguments\"", "\"stdin\"", "\"rationale\""];
        let found: Vec<_> = order.iter().map(|name| text.find(name).unwrap()).collect();
        assert!(found.is_sorted(), "{text}");
        assert!(
            text.contains(r#""required":["program","arguments","rationale"]"#),
            "{text}"
        );
    }

    #[test]
    fn key_phrases_and_nothing_that_must_stay_private() {
        let reference = Mode::Fixed {
            program: None,
            executable_ref: Some("tool-x".into()),
            arguments: vec![],
            model_arguments: ModelArguments {
                mode: Presence::None,
                min_count: 0,
                max_count: 4096,
                max_item_bytes: MAX_ITEM_BYTES,
            },
        };
        for (mode, compact, phrase) in [
            (
                fixed(Presence::Optional),
                Some("rg --json"),
                "fixed shell command \"rg --json\"",
            ),
            (fixed(Presence::Optional), None, "fixed executable \"rg\""),
            (reference, None, "fixed executable reference \"tool-x\""),
            (Mode::Structured {}, None, "one executable directly"),
            (Mode::Chain {}, None, "parsed shell command chain"),
        ] {
            let text = description(&tool(mode), compact);
            assert!(text.contains(phrase), "{text}");
            assert!(text.contains("command policy"), "{text}");
            assert!(!text.contains("hidden-value"), "{text}");
        }
    }

    #[test]
    fn declared_bounds_are_stated_and_defaults_are_not() {
        let Mode::Fixed {
            program,
            executable_ref,
            arguments,
            mut model_arguments,
        } = fixed(Presence::Required)
        else {
            panic!()
        };
        assert!(!arguments_sentence(&model_arguments).contains("Bounds"));
        model_arguments.min_count = 2;
        model_arguments.max_count = 16;
        model_arguments.max_item_bytes = 4096;
        let mode = Mode::Fixed {
            program,
            executable_ref,
            arguments,
            model_arguments,
        };
        let text = description(&tool(mode), None);
        assert!(
            text.contains("Bounds: at least 2, at most 16, each of at most 4096 bytes."),
            "{text}"
        );
    }

    /// Every part of 03 section 5, in its order.
    #[test]
    fn a_description_says_everything_that_a_call_needs() {
        let governance = "Every call is subject to the runtime's command policy, approvals, sandbox, limits and interceptors; output is sanitised, secrets are redacted, and calls are audited.";
        let script = Mode::Script {
            script: Path {
                base: PathBase::Workspace,
                path: "tools/a \"b\"".into(),
                source: None,
            },
            interpreter: None,
            fixed_arguments: vec![],
            verification: "sha256".into(),
            max_source_bytes: 1,
        };
        let asked = Tool {
            stdin: Presence::Optional,
            rationale: Presence::Required,
            result: ResultForm::Structured,
            nonzero: Nonzero::Error,
            ..tool(script)
        };
        assert_eq!(
            description(&asked, None),
            format!(
                "Runs the script \"${{workspace}}/tools/a \\\"b\\\"\"; its source and executable identities are verified before every start. Each element of `arguments` is passed to it as one literal argument. The optional field `stdin` holds text for standard input. The required field `rationale` holds why this call is needed. The result is a JSON object with the status, both outputs, the identity of the runtime and data about each command. An unsuccessful exit is returned as a tool error. {governance}"
            )
        );
        let quiet = Tool {
            stdin: Presence::Required,
            result: ResultForm::Stdout,
            ..tool(fixed(Presence::None))
        };
        assert_eq!(
            description(&quiet, Some(" rg -n\u{7} ")),
            format!(
                "Runs the fixed shell command \"rg -n\\u{{7}}\" through its configured runtime. It takes no arguments. The required field `stdin` holds text for standard input. The result is standard output; standard error serves diagnostics only and is not returned. An unsuccessful exit is returned as an ordinary result. {governance}"
            )
        );
        let plain = description(&tool(Mode::Chain {}), None);
        assert!(plain.contains(" The result is standard output followed by standard error. "));
        assert!(!plain.contains("stdin") && !plain.contains("rationale"));
    }

    #[test]
    fn published_tools_name_their_mode() {
        let words = ["fixed", "structured", "chain"];
        let modes = [fixed(Presence::None), Mode::Structured {}, Mode::Chain {}];
        for (mode, word) in modes.into_iter().zip(words) {
            assert_eq!(publish(&tool(mode), None).mode, word);
        }
    }

    #[test]
    fn guidance_is_appended_trimmed() {
        let mut with = tool(Mode::Chain {});
        with.description = Some("  Use it well.\n ".into());
        assert!(description(&with, None).ends_with("\n\nAdditional tool guidance: Use it well."));
        with.description = Some(" \n".into());
        assert!(!description(&with, None).contains("Additional"));
    }
}
