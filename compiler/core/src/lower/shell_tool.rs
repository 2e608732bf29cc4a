//! Shell tools in all modes, and the legacy command form (spec 03).

use chatmd_syntax::{Attribute as Written, Element};

use super::command::{self, Compact};
use super::context::Context;
use super::reader::{self, Attributes};
use crate::decl::{
    CommandDecl, Field, FixedArgDecl, ModeDecl, PathExpr, ShellToolDecl, Sp, ToolDecl, ToolForm,
};
use crate::diagnostics::{Diagnostic, quote};
use crate::manifest::{ModelArguments, Nonzero, PathBase, Presence, ResultForm, Stream};
use crate::schema::{Element as Schema, tools};

const MAX_COUNT: u64 = 4096;
const MAX_ITEM: u64 = 131_071;

/// Lowers a tool with `type="shell"` or `runtime`.
pub(super) fn shell<'t>(context: &mut Context<'t>, element: &'t Element) -> ToolDecl {
    context.named_by(element, "name");
    let attributes = reader::attributes(context, element, &tools::SHELL_TOOL);
    let name = attributes.field("name");
    let mode_word = match attributes.word("mode", |word| Some(word.to_owned())) {
        Some(word) => Some(word.value),
        None if attributes.has("mode") => None,
        None => Some("fixed".to_owned()),
    };
    let children = children(context, element, mode_word.as_deref());
    let mut compact_command = None;
    let mode = match mode_word.as_deref() {
        Some("fixed") => fixed(
            context,
            element,
            &attributes,
            &children,
            &mut compact_command,
        ),
        Some("structured") => Some(ModeDecl::Structured),
        Some("chain") => Some(ModeDecl::Chain),
        Some("raw") => raw(&attributes),
        Some(_) => script(context, element, &attributes),
        None => None,
    };
    let rationale = if mode_word.as_deref() == Some("fixed") {
        Presence::None
    } else {
        Presence::Optional
    };
    let span = context.relative(element.name_span);
    let tool = ShellToolDecl {
        runtime: match attributes.field("runtime") {
            Field::Absent => Field::Poisoned { raw: None, span },
            field => field,
        },
        description: description(context, &attributes),
        stdin: attributes
            .word("stdin", Presence::from_word)
            .map_or(Presence::None, |word| word.value),
        rationale: attributes
            .word("rationale", Presence::from_word)
            .map_or(rationale, |word| word.value),
        result: attributes
            .word("result", ResultForm::from_word)
            .map_or(ResultForm::Combined, |word| word.value),
        stream: attributes.word("stream", Stream::from_word).unwrap_or(Sp {
            value: Stream::Finalized,
            span,
        }),
        nonzero: attributes
            .word("nonzero", Nonzero::from_word)
            .map_or(Nonzero::Result, |word| word.value),
        mode,
        compact_command,
    };
    status_hidden(context, element, &attributes, &tool, mode_word.as_deref());
    visible(name, ToolForm::Shell(Box::new(tool)))
}

fn visible(name: Field<String>, form: ToolForm) -> ToolDecl {
    let model_names = name.value().cloned().into_iter().collect();
    ToolDecl {
        name,
        model_names,
        form,
    }
}

/// Lowers the old command form.
pub(super) fn legacy<'t>(context: &mut Context<'t>, element: &'t Element) -> ToolDecl {
    context.named_by(element, "name");
    let attributes = reader::attributes_with(
        context,
        element,
        &tools::LEGACY,
        &mut |context, name, written| legacy_attribute(context, name, written),
    );
    let name = attributes.field("name");
    reader::children(context, element, &tools::LEGACY);
    let finding = context
        .finding("shell.legacy_tool", element.name_span, "this tool runs without a sandbox, with every capability")
        .hint("declare a runtime and write `<tool name=\"…\" type=\"shell\" runtime=\"…\" command=\"…\"/>`");
    context.report(finding);
    let compact = command::compact(context, &attributes);
    let span = context.relative(element.name_span);
    let source = compact.as_ref().map(|compact| compact.source.clone());
    let tool = ShellToolDecl {
        runtime: Field::Absent,
        description: description(context, &attributes),
        stdin: Presence::None,
        rationale: Presence::Optional,
        result: ResultForm::Combined,
        stream: Sp {
            value: Stream::Finalized,
            span,
        },
        nonzero: Nonzero::Result,
        mode: compact.map(|compact| ModeDecl::Fixed {
            command: compact.command,
            arguments: compact.arguments,
            model_arguments: any_arguments(Presence::Optional),
        }),
        compact_command: source,
    };
    visible(name, ToolForm::Legacy(Box::new(tool)))
}

fn legacy_attribute(context: &mut Context<'_>, name: &str, written: &Written) -> bool {
    if tools::SHELL_TOOL.rows(name).next().is_none() {
        return false;
    }
    let finding = context
        .finding(
            "shell.legacy_attribute",
            written.name,
            format!("`{name}` needs a shell tool; this is the old command form"),
        )
        .hint("add `runtime=\"…\"` to make it a shell tool");
    context.report(finding);
    true
}

/// Trimmed description without control characters; `None` when blank.
fn description(context: &mut Context<'_>, attributes: &Attributes<'_>) -> Option<String> {
    let text = attributes
        .text("description")
        .filter(|text| !text.value.is_empty())?;
    let bad = text.value.char_indices().find(|(at, c)| {
        let line_end =
            *c == '\n' || (*c == '\r' && text.value.as_bytes().get(at + 1) == Some(&b'\n'));
        c.is_control() && !line_end && *c != '\t'
    });
    let Some((_, c)) = bad else {
        return Some(text.value);
    };
    let finding = Diagnostic::new(
        "shell.tool_invalid_attribute",
        context.place_of(text.span),
        format!(
            "the description contains the control character {}",
            quote(&c.to_string())
        ),
    )
    .hint("only line ends and tabs are permitted");
    context.report_below(finding, &["description"]);
    None
}

fn status_hidden(
    context: &mut Context<'_>,
    element: &Element,
    attributes: &Attributes<'_>,
    tool: &ShellToolDecl,
    mode: Option<&str>,
) {
    let hidden = tool.nonzero == Nonzero::Result && tool.result != ResultForm::Structured;
    let poisoned = attributes.is_poisoned("nonzero") || attributes.is_poisoned("result");
    if hidden && !poisoned && matches!(mode, Some("structured" | "chain" | "raw")) {
        let finding = context
            .finding(
                "shell.tool_status_hidden",
                element.name_span,
                "the model cannot tell a failed command from a successful one",
            )
            .hint("write result=\"structured\" or nonzero=\"error\"");
        context.report(finding);
    }
}

/// `<command>` and `<arguments>`; in other modes they are refused.
fn children<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    mode: Option<&str>,
) -> Vec<(&'t Element, &'static Schema)> {
    let children = reader::children(context, element, &tools::SHELL_TOOL);
    match mode {
        Some("fixed") => children,
        None => Vec::new(),
        Some(mode) => {
            for (child, schema) in children {
                let finding = context
                    .finding(
                        "shell.tool_mode_child",
                        child.start_tag,
                        format!("a tool of mode `{mode}` takes no `<{}>`", schema.name),
                    )
                    .label("only with mode `fixed`")
                    .hint("remove it, or use mode=\"fixed\"");
                context.report(finding);
            }
            Vec::new()
        }
    }
}

fn fixed<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    attributes: &Attributes<'t>,
    children: &[(&'t Element, &'static Schema)],
    source: &mut Option<String>,
) -> Option<ModeDecl> {
    let child = |name: &str| {
        children
            .iter()
            .find(|(_, schema)| schema.name == name)
            .map(|(child, _)| *child)
    };
    let (command_child, arguments_child) = (child("command"), child("arguments"));
    let model_arguments = match arguments_child {
        Some(child) => context.within(&["arguments"], |context| model_arguments(context, child)),
        None => Some(any_arguments(Presence::Optional)),
    };
    let lowered = command_child
        .map(|child| context.within(&["command"], |context| long_command(context, child)));
    if !one_source(context, element, attributes, command_child) {
        return None;
    }
    let (command, arguments) = if let Some(lowered) = lowered {
        lowered?
    } else if attributes.has("command") {
        let Compact {
            command,
            arguments,
            source: text,
        } = command::compact(context, attributes)?;
        *source = Some(text);
        (command, arguments)
    } else {
        (
            CommandDecl::ExecutableRef(attributes.text("executable_ref")?),
            Vec::new(),
        )
    };
    Some(ModeDecl::Fixed {
        command,
        arguments,
        model_arguments: model_arguments?,
    })
}

/// Whether the command is given at most once; giving it twice or never is reported.
fn one_source<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    attributes: &Attributes<'t>,
    command_child: Option<&'t Element>,
) -> bool {
    let mut given: Vec<(&str, chatmd_syntax::Span)> = Vec::new();
    given.extend(
        attributes
            .written("command")
            .map(|written| ("`command`", written.name)),
    );
    given.extend(
        attributes
            .written("executable_ref")
            .map(|written| ("`executable_ref`", written.name)),
    );
    given.extend(command_child.map(|child| ("`<command>`", child.start_tag)));
    // A `<command>` with a broken start tag was reported by the parser and still counts.
    let broken = command_child.is_none() && has_child(context, element, "command");
    match given.as_slice() {
        [] if !broken => {
            let finding = context
                .finding(
                    "shell.tool_missing_command",
                    element.name_span,
                    "the tool does not say what to run",
                )
                .hint("add `command=\"…\"`, `executable_ref=\"…\"` or a `<command>` element");
            context.report(finding);
        }
        [_, _, ..] => {
            let mut finding = context
                .finding(
                    "shell.tool_conflicting_command",
                    element.name_span,
                    format!("the command is given {} times", given.len()),
                )
                .hint("keep one");
            for (name, span) in &given {
                finding = finding.related(context.place(*span), *name);
            }
            context.report(finding);
            return false;
        }
        _ => {}
    }
    true
}

fn has_child(context: &Context<'_>, element: &Element, name: &str) -> bool {
    element
        .children
        .iter()
        .filter_map(|id| context.element(*id))
        .any(|child| context.name_of(child) == name)
}

fn any_arguments(mode: Presence) -> ModelArguments {
    ModelArguments {
        mode,
        min_count: 0,
        max_count: MAX_COUNT,
        max_item_bytes: MAX_ITEM,
    }
}

fn long_command<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
) -> Option<(CommandDecl, Vec<FixedArgDecl>)> {
    let attributes = reader::attributes(context, element, &tools::COMMAND);
    let mut arguments = Vec::new();
    let mut complete = true;
    for (child, schema) in reader::children(context, element, &tools::COMMAND) {
        match context.within(&[schema.name], |context| argument(context, child, schema)) {
            Some(argument) => arguments.push(argument),
            None => complete = false,
        }
    }
    let (program, reference) = (attributes.has("program"), attributes.has("executable_ref"));
    if program == reference {
        let (code, message) = if program {
            (
                "shell.tool_conflicting_command",
                "`<command>` has both `program` and `executable_ref`",
            )
        } else {
            (
                "shell.tool_missing_command",
                "`<command>` has neither `program` nor `executable_ref`",
            )
        };
        let finding = context
            .finding(code, element.name_span, message)
            .hint("write exactly one of the two");
        context.report(finding);
        return None;
    }
    let command = if program {
        CommandDecl::Program(attributes.text("program")?)
    } else {
        CommandDecl::ExecutableRef(attributes.text("executable_ref")?)
    };
    complete.then_some((command, arguments))
}

fn argument<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> Option<FixedArgDecl> {
    let attributes = reader::attributes(context, element, schema);
    reader::children(context, element, schema);
    match schema.name {
        "arg" => Some(FixedArgDecl::Literal(attributes.text("value")?.value)),
        "secret_arg" => Some(FixedArgDecl::SecretEnv {
            name: attributes.text("env")?,
            prefix: match attributes.has("prefix") {
                true => attributes.text("prefix")?.value,
                false => String::new(),
            },
        }),
        _ => path_argument(context, &attributes),
    }
}

fn path_argument(context: &mut Context<'_>, attributes: &Attributes<'_>) -> Option<FixedArgDecl> {
    let path = attributes.path("path")?;
    if !attributes.has("base") {
        return Some(FixedArgDecl::Path(path));
    }
    if !path.value.relative_literal {
        let finding = Diagnostic::new(
            "shell.invalid_path",
            context.place_of(path.span),
            "with `base` the path must be relative",
        )
        .hint("remove `base`, or the start of the path");
        context.report_below(finding, &["path"]);
        return None;
    }
    let base: Sp<PathBase> = attributes.word("base", super::value::base_of)?;
    let value = PathExpr {
        base: base.value,
        path: path.value.path,
        relative_literal: false,
    };
    Some(FixedArgDecl::Path(Sp {
        value,
        span: path.span,
    }))
}

fn model_arguments<'t>(context: &mut Context<'t>, element: &'t Element) -> Option<ModelArguments> {
    let errors = context.error_count();
    let attributes = reader::attributes(context, element, &tools::ARGUMENTS);
    reader::children(context, element, &tools::ARGUMENTS);
    let mode = attributes.word("mode", Presence::from_word)?.value;
    if context.error_count() > errors {
        return None;
    }
    let min = attributes.number("min_count").map(|number| number.value);
    let max = attributes.number("max_count").map(|number| number.value);
    let item = attributes
        .number("max_item_bytes")
        .map(|number| number.value);
    let bounded = ["min_count", "max_count", "max_item_bytes"]
        .iter()
        .any(|name| attributes.has(name));
    let least = min.unwrap_or(u64::from(mode == Presence::Required));
    let most = max.unwrap_or(MAX_COUNT);
    let wrong = match mode {
        Presence::None if bounded => {
            Some("no arguments are taken, so bounds have no meaning".to_owned())
        }
        Presence::Required if min == Some(0) || max == Some(0) => {
            Some("arguments are required, so neither bound can be 0".to_owned())
        }
        _ if least > most => Some(format!(
            "at least {least} and at most {most} arguments contradict each other"
        )),
        _ => None,
    };
    if let Some(message) = wrong {
        let finding = context
            .finding("shell.invalid_argument_bounds", element.name_span, message)
            .hint("change the mode or the bounds");
        context.report(finding);
        return None;
    }
    Some(match mode {
        Presence::None => ModelArguments {
            mode,
            min_count: 0,
            max_count: 0,
            max_item_bytes: 0,
        },
        _ => ModelArguments {
            mode,
            min_count: least,
            max_count: most,
            max_item_bytes: item.unwrap_or(MAX_ITEM),
        },
    })
}

fn raw(attributes: &Attributes<'_>) -> Option<ModeDecl> {
    let arguments_before_script = match attributes.has("arguments_before_script") {
        true => attributes.items("arguments_before_script")?.value,
        false => vec!["-c".to_owned()],
    };
    Some(ModeDecl::Raw {
        executable: attributes.path("executable")?,
        arguments_before_script,
    })
}

fn script(
    context: &mut Context<'_>,
    element: &Element,
    attributes: &Attributes<'_>,
) -> Option<ModeDecl> {
    let span = context.relative(element.name_span);
    let interpreter = attributes.path("interpreter");
    let executable = attributes.boolean("executable");
    match (
        attributes.has("interpreter"),
        executable.as_ref().map(|flag| flag.value),
    ) {
        (true, Some(true)) => {
            let mut finding = context
                .finding(
                    "shell.tool_conflicting_script",
                    element.name_span,
                    "the script runs either by its interpreter or by itself",
                )
                .hint("remove `interpreter` or executable=\"true\"");
            for name in ["interpreter", "executable"] {
                if let Some(written) = attributes.written(name) {
                    finding = finding.related(context.place(written.name), format!("`{name}`"));
                }
            }
            context.report(finding);
            return None;
        }
        (false, Some(false)) => {
            let at = executable.map_or(span, |flag| flag.span);
            let finding = Diagnostic::new(
                "shell.script_not_executable",
                context.place_of(at),
                "nothing can run the script: it has no interpreter and is not executable",
            )
            .hint("add `interpreter=\"/bin/sh\"`, or remove executable=\"false\"");
            context.report_below(finding, &["executable"]);
            return None;
        }
        _ => {}
    }
    if attributes.is_poisoned("interpreter") {
        return None;
    }
    let fixed_arguments = match attributes.has("fixed_arguments") {
        true => attributes.items("fixed_arguments")?.value,
        false => Vec::new(),
    };
    Some(ModeDecl::Script {
        script: attributes.path("script")?,
        interpreter,
        fixed_arguments,
        max_source_bytes: attributes
            .number("max_source_bytes")
            .map_or(1 << 20, |bytes| bytes.value),
    })
}
