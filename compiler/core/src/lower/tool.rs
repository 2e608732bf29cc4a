//! `<tool>`: which form it takes, and the forms that are no shell tools (spec 01 section 13).

use chatmd_syntax::{Attribute as Written, Element, Span};

use std::collections::{HashMap, HashSet};

use super::context::{Context, trim};
use super::reader::{self, Attributes};
use super::{shell_tool, value};
use crate::decl::{Field, Sp, ToolDecl, ToolForm};
use crate::diagnostics::{Diagnostic, nearest, quote};
use crate::manifest::PathBase;
use crate::schema::{self, Attribute, Type, tools};

/// Lowers a tool of any form.
pub(super) fn tool<'t>(context: &mut Context<'t>, element: &'t Element) -> ToolDecl {
    context.within(&["tool"], |context| {
        let head = Head::of(context, element);
        if head.runtime || head.kind == Some("shell") {
            return shell_tool::shell(context, element);
        }
        if let Some(kind) = head.kind {
            return invalid_type(context, element, &head, kind);
        }
        if head.sources.len() > 1 {
            return conflicting(context, element, &head);
        }
        match head.sources.first().map(|(name, _)| *name) {
            Some("command") => shell_tool::legacy(context, element),
            Some("agent") => agent(context, element),
            Some("mcp_server") => mcp(context, element),
            _ if matches!(
                head.name.as_deref().map(trim),
                Some("read_file" | "get_contents")
            ) =>
            {
                read_file(context, element)
            }
            _ => builtin(context, element),
        }
    })
}

/// The attributes that select the form: first occurrences, decoded.
struct Head<'t> {
    kind: Option<&'t str>,
    kind_at: Span,
    /// `type` has no value at all.
    kind_bare: bool,
    runtime: bool,
    name: Option<String>,
    sources: Vec<(&'static str, Span)>,
}

impl<'t> Head<'t> {
    fn of(context: &Context<'t>, element: &'t Element) -> Self {
        let first = |name: &str| -> Option<&'t Written> {
            element
                .attributes
                .iter()
                .find(|written| context.tree.slice(written.name) == name)
        };
        let kind = first("type").filter(|written| !written.poisoned);
        let sources = ["command", "agent", "mcp_server"]
            .into_iter()
            .filter_map(|name| first(name).map(|written| (name, written.name)))
            .collect();
        Self {
            kind: kind.map(|written| written.value.map_or("", |value| context.tree.slice(value))),
            kind_at: kind.map_or(element.name_span, |written| {
                written.value.unwrap_or(written.name)
            }),
            kind_bare: kind.is_some_and(|written| written.value.is_none()),
            runtime: first("runtime").is_some(),
            name: first("name")
                .and_then(|written| context.tree.value(written))
                .map(|name| name.into_owned()),
            sources,
        }
    }
}

fn invalid_type<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    head: &Head<'_>,
    kind: &str,
) -> ToolDecl {
    let (message, at, text) = if head.kind_bare {
        let behind = Span::empty(head.kind_at.end);
        ("`type` needs a value".to_owned(), behind, "=\"shell\"")
    } else {
        let message = match kind.is_empty() {
            true => "`type` of `<tool>` must not be empty".to_owned(),
            false => format!("there is no tool type {}", quote(kind)),
        };
        (message, head.kind_at, "shell")
    };
    let finding = context
        .finding("shell.tool_invalid_type", head.kind_at, message)
        .label("expected `shell`")
        .hint("write type=\"shell\", or leave `type` out for other tools")
        .fix("change to `shell`", context.place(at), text);
    context.report_below(finding, &["type"]);
    unclassified(context, element)
}

fn conflicting<'t>(context: &mut Context<'t>, element: &'t Element, head: &Head<'_>) -> ToolDecl {
    let names: Vec<&str> = head.sources.iter().map(|(name, _)| *name).collect();
    let mut finding = context
        .finding(
            "chatmd.tool_conflicting_source",
            element.name_span,
            format!(
                "the tool has {} at once",
                names
                    .iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(" and ")
            ),
        )
        .hint("keep one; split the element when both tools are wanted");
    for (name, span) in &head.sources {
        finding = finding.related(context.place(*span), format!("`{name}`"));
    }
    context.report(finding);
    unclassified(context, element)
}

/// A tool whose form is contradictory: nothing but its name can be used.
fn unclassified<'t>(context: &mut Context<'t>, element: &'t Element) -> ToolDecl {
    let name = element
        .attributes
        .iter()
        .find(|written| context.tree.slice(written.name) == "name");
    let field = match name {
        Some(written) => Field::Poisoned {
            raw: context.tree.value(written).map(|text| text.into_owned()),
            span: context.relative(written.value.unwrap_or(written.name)),
        },
        None => Field::Absent,
    };
    ToolDecl {
        name: field,
        model_names: Vec::new(),
        form: ToolForm::Invalid,
    }
}

fn agent<'t>(context: &mut Context<'t>, element: &'t Element) -> ToolDecl {
    let attributes = reader::attributes(context, element, &tools::AGENT_TOOL);
    reader::children(context, element, &tools::AGENT_TOOL);
    if let Some(address) = attributes.text("agent") {
        agent_address(context, &attributes, &address);
    }
    named(&attributes, ToolForm::Agent, |name| name.to_owned())
}

fn agent_address(context: &mut Context<'_>, attributes: &Attributes<'_>, address: &Sp<String>) {
    if attributes.is_poisoned("local") {
        return;
    }
    if !attributes.boolean_or("local", false) {
        if !is_http(&address.value) {
            let finding = Diagnostic::new(
                "chatmd.tool_invalid_agent",
                context.place_of(address.span),
                format!("{} is no http or https address", quote(&address.value)),
            )
            .hint("add local when it is a path");
            context.report_below(finding, &["agent"]);
        }
        return;
    }
    let row: Attribute = schema::attr("agent", Type::Path, "");
    match value::read(&row, &address.value, &mut 0) {
        Ok((_, warnings)) => {
            for fault in warnings {
                let finding = Diagnostic::new(
                    fault.code.unwrap_or("shell.path_escapes_base"),
                    context.place_of(address.span),
                    fault.message,
                );
                context.report_below(finding, &["agent"]);
            }
        }
        Err(fault) => {
            let mut finding = Diagnostic::new(
                "chatmd.tool_invalid_agent",
                context.place_of(address.span),
                fault.message,
            );
            finding.hints.extend(fault.hint);
            context.report_below(finding, &["agent"]);
        }
    }
}

fn is_http(text: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| text.len() > scheme.len() && text.starts_with(scheme))
}

fn mcp<'t>(context: &mut Context<'t>, element: &'t Element) -> ToolDecl {
    let attributes = reader::attributes(context, element, &tools::MCP);
    reader::children(context, element, &tools::MCP);
    if let Some(server) = attributes.text("mcp_server") {
        if server.value.starts_with("stdio:") {
            let finding = Diagnostic::new(
                "chatmd.mcp_stdio_unmanaged",
                context.place_of(server.span),
                "this server runs as a process that no shell policy governs",
            )
            .hint("prefer an https server, or a shell tool");
            context.report_below(finding, &["mcp_server"]);
        } else if !is_http(&server.value) {
            let finding = Diagnostic::new(
                "chatmd.tool_invalid_mcp_server",
                context.place_of(server.span),
                format!("{} is no address of an MCP server", quote(&server.value)),
            )
            .hint("use `https://…`, `http://…` or `stdio:COMMAND`");
            context.report_below(finding, &["mcp_server"]);
        }
    }
    let name = attributes
        .text("name")
        .filter(|name| !name.value.is_empty());
    let include = include(context, &attributes, "include");
    let includes = include_alias(context, &attributes, name.is_some(), &include);
    if name.is_some() {
        ignored(context, &attributes, "include", "`name` selects one tool");
    }
    let model_names = match (&name, include.or(includes)) {
        (Some(name), _) => vec![name.clone()],
        (None, Some(list)) => list,
        (None, None) => Vec::new(),
    };
    ToolDecl {
        name: attributes.field("name"),
        model_names,
        form: ToolForm::Mcp,
    }
}

fn include_alias(
    context: &mut Context<'_>,
    attributes: &Attributes<'_>,
    named: bool,
    include: &Option<Vec<Sp<String>>>,
) -> Option<Vec<Sp<String>>> {
    let list = self::include(context, attributes, "includes");
    if named {
        ignored(context, attributes, "includes", "`name` selects one tool");
    } else if include.is_some() {
        ignored(context, attributes, "includes", "`include` is used instead");
    }
    list
}

fn ignored(context: &mut Context<'_>, attributes: &Attributes<'_>, name: &str, reason: &str) {
    let Some(written) = attributes.written(name) else {
        return;
    };
    let finding = context
        .finding(
            "chatmd.attribute_ignored",
            written.name,
            format!("`{name}` has no effect: {reason}"),
        )
        .hint(format!("remove `{name}`"));
    context.report(finding);
}

/// Entries of an include list; an empty one is an error, a repeated one a warning.
fn include(
    context: &mut Context<'_>,
    attributes: &Attributes<'_>,
    name: &str,
) -> Option<Vec<Sp<String>>> {
    let text = attributes.text(name)?;
    let decoded = context.tree.decoded(attributes.written(name)?)?;
    let mut entries: Vec<Sp<String>> = Vec::new();
    let mut seen = HashSet::new();
    for (range, item) in value::items(&text.value) {
        let span = decoded.source_span(range);
        if item.is_empty() {
            let finding = context
                .finding(
                    "chatmd.tool_invalid_include",
                    span,
                    format!("`{name}` has an empty entry"),
                )
                .hint("remove the extra comma");
            context.report_below(finding, &[name]);
        } else if !seen.insert(item.to_owned()) {
            let finding = context
                .finding(
                    "chatmd.tool_invalid_include",
                    span,
                    format!("{} is listed twice", quote(item)),
                )
                .with_severity(crate::diagnostics::Severity::Warning)
                .hint("keep one");
            context.report_below(finding, &[name]);
        } else {
            entries.push(Sp {
                value: item.to_owned(),
                span: context.relative(span),
            });
        }
    }
    Some(entries)
}

fn builtin<'t>(context: &mut Context<'t>, element: &'t Element) -> ToolDecl {
    let attributes = reader::attributes(context, element, &tools::BUILTIN);
    reader::children(context, element, &tools::BUILTIN);
    ignored(
        context,
        &attributes,
        "description",
        "built-in tools describe themselves",
    );
    let mut decl = named(&attributes, ToolForm::Builtin, |name| match name {
        "read_dir" => "read_directory".to_owned(),
        other => other.to_owned(),
    });
    let Some(name) = attributes.text("name") else {
        return decl;
    };
    if name.value == "fork" {
        let finding = Diagnostic::new(
            "chatmd.tool_reserved",
            context.place_of(name.span),
            "`fork` is a placeholder without function",
        )
        .hint("remove the tool");
        context.report_below(finding, &["name"]);
    }
    if !tools::BUILTINS.contains(&name.value.as_str()) {
        unknown_builtin(context, &name);
        decl.model_names.clear();
        decl.name = Field::Poisoned {
            raw: Some(name.value),
            span: name.span,
        };
    }
    decl
}

fn unknown_builtin(context: &mut Context<'_>, name: &Sp<String>) {
    let mut finding = Diagnostic::new(
        "chatmd.tool_unknown_builtin",
        context.place_of(name.span),
        format!("there is no built-in tool {}", quote(&name.value)),
    );
    let known = tools::BUILTINS
        .iter()
        .copied()
        .chain(["read_file", "get_contents"]);
    if let Some(meant) = nearest(&name.value, known) {
        finding = finding
            .label(format!("did you mean `{meant}`?"))
            .hint(format!("did you mean `{meant}`?"))
            .fix(
                format!("rename to `{meant}`"),
                context.place_of(name.span),
                meant,
            );
    }
    finding = finding.hint("a tool that runs commands needs type=\"shell\" and `runtime`");
    context.report_below(finding, &["name"]);
}

/// A tool that is visible under its own name.
fn named(
    attributes: &Attributes<'_>,
    form: ToolForm,
    visible: impl Fn(&str) -> String,
) -> ToolDecl {
    let name = attributes.field("name");
    let model_names = name
        .value()
        .map(|name| Sp {
            value: visible(&name.value),
            span: name.span,
        })
        .into_iter()
        .collect();
    ToolDecl {
        name,
        model_names,
        form,
    }
}

fn read_file<'t>(context: &mut Context<'t>, element: &'t Element) -> ToolDecl {
    let attributes = reader::attributes(context, element, &tools::READ_FILE);
    let mut decl = named(&attributes, ToolForm::ReadFile, |_| "read_file".to_owned());
    if let Some(name) = attributes.text("name")
        && trim(&name.value) != name.value
    {
        let finding = Diagnostic::new(
            "read_file.invalid_name",
            context.place_of(name.span),
            "the tool name has spaces around it",
        )
        .hint("remove them")
        .fix(
            "remove the spaces",
            context.place_of(name.span),
            trim(&name.value),
        );
        context.report_below(finding, &["name"]);
        decl.model_names.clear();
    }
    let mut ids: HashMap<String, Span> = HashMap::new();
    let positions = positions(context, element);
    for (child, _) in reader::children(context, element, &tools::READ_FILE) {
        let position = positions.partition_point(|start| *start < child.start_tag.start);
        context.within(&["read"], |context| {
            context.within(&[&position.to_string()], |context| {
                read_root(context, child, &mut ids)
            });
        });
    }
    decl
}

/// Starts of the children that are no layout, to number them.
fn positions(context: &Context<'_>, element: &Element) -> Vec<u32> {
    use chatmd_syntax::Node;
    let counted = element
        .children
        .iter()
        .map(|id| context.tree.node(*id))
        .filter(|node| match node {
            Node::Element(_) | Node::Raw { .. } => true,
            Node::Text { span } => !trim(context.tree.slice(*span)).is_empty(),
            _ => false,
        });
    counted.map(|node| node.span().start).collect()
}

fn read_root<'t>(context: &mut Context<'t>, element: &'t Element, ids: &mut HashMap<String, Span>) {
    let attributes = reader::attributes(context, element, &tools::READ_FILE_ROOT);
    reader::children(context, element, &tools::READ_FILE_ROOT);
    if let Some(id) = attributes.text("id") {
        root_id(context, &id, ids);
    }
    if let Some(path) = attributes.path("path")
        && path.value.base == PathBase::Absolute
        && path.value.path == "/"
    {
        let finding = Diagnostic::new(
            "read_file.host_wide_root",
            context.place_of(path.span),
            "this root lets the model read the whole host",
        )
        .hint("name the directory that the model needs");
        context.report_below(finding, &["path"]);
    }
}

fn root_id(context: &mut Context<'_>, id: &Sp<String>, ids: &mut HashMap<String, Span>) {
    let trimmed = id.value.trim();
    let bad = if trimmed.is_empty() {
        Some("is blank")
    } else if trimmed.len() > 128 {
        Some("is longer than 128 bytes")
    } else if trimmed.chars().any(char::is_control) {
        Some("contains control characters")
    } else {
        None
    };
    if let Some(bad) = bad {
        let finding = Diagnostic::new(
            "read_file.invalid_root_id",
            context.place_of(id.span),
            format!("the id of the root {bad}"),
        )
        .hint("give the root a short name");
        context.report_below(finding, &["id"]);
    } else if let Some(first) = ids.get(trimmed) {
        let mut finding = Diagnostic::new(
            "read_file.duplicate_root",
            context.place_of(id.span),
            format!("{} is already the id of another root", quote(trimmed)),
        )
        .label("repeated here")
        .related(context.place_of(*first), "first here")
        .hint("rename one of the two");
        finding.path.clear();
        context.report_at_parent(finding, 1);
    } else {
        ids.insert(trimmed.to_owned(), id.span);
    }
}
