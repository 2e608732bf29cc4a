//! The generic checks of the content of an element against its schema row.

use chatmd_syntax::{Element, Name, Node, NodeId, Span};

use super::context::{Context, is_layout};
use super::reader::is_secret;
use crate::diagnostics::{Diagnostic, nearest, quote};
use crate::schema::{Child, Children, Element as Schema, policy};

/// Children of `element` that its schema permits, in source order; everything else is reported.
pub(super) fn children<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> Vec<(&'t Element, &'static Schema)> {
    if matches!(schema.children, Children::Body(_) | Children::Script) {
        return Vec::new();
    }
    // An element that was never closed has swallowed what follows it; the parser has said so.
    let unclosed = !element.self_closing && element.end_tag.is_none();
    if unclosed && matches!(schema.children, Children::Empty) {
        return Vec::new();
    }
    let mut permitted = Vec::new();
    let mut firsts: Vec<(&'static str, Span)> = Vec::new();
    for id in &element.children {
        let Some(child) = element_or_text(context, *id, element, schema) else {
            continue;
        };
        let name = context.name_of(child);
        let entry = match child.name {
            Name::Known(_) => listed(schema).find(|entry| entry.element.name == name),
            Name::Unknown => None,
        };
        let Some(entry) = entry else {
            if unclosed && matches!(child.name, Name::Known(_)) {
                continue;
            }
            stranger(context, schema, child, name);
            continue;
        };
        if entry.once {
            if let Some((_, first)) = firsts
                .iter()
                .find(|(known, _)| *known == entry.element.name)
            {
                let finding = context
                    .finding(
                        "shell.duplicate_section",
                        child.start_tag,
                        format!("`<{name}>` may occur only once below `<{}>`", schema.name),
                    )
                    .label("second occurrence")
                    .related(context.place(*first), "first here")
                    .hint("merge the two");
                context.report_below(finding, &[name]);
                continue;
            }
            firsts.push((entry.element.name, child.start_tag));
        }
        if !child.broken_start {
            permitted.push((child, entry.element));
        }
    }
    permitted
}

/// The elements that the schema lists.
fn listed(schema: &'static Schema) -> impl Iterator<Item = Child> {
    let (list, matchers) = match schema.children {
        Children::List(list) => (list, &[][..]),
        Children::Matchers { .. } => (&[][..], policy::MATCHERS),
        Children::Empty | Children::Body(_) | Children::Script => (&[][..], &[][..]),
    };
    let matchers = matchers.iter().map(|element| Child {
        element,
        once: false,
    });
    list.iter().copied().chain(matchers)
}

/// The child element; text and RAW are reported, layout is skipped.
fn element_or_text<'t>(
    context: &mut Context<'t>,
    id: NodeId,
    parent: &Element,
    schema: &'static Schema,
) -> Option<&'t Element> {
    let node = context.tree.node(id);
    match node {
        Node::Element(element) => Some(element),
        Node::Text { span } if context.tree.slice(*span).chars().all(is_layout) => None,
        Node::Text { .. } | Node::Raw { .. } => {
            let place = context.text_place(node);
            let text = match is_secret(schema) {
                true => String::new(),
                false => format!(" {}", quote(context.tree.slice(place))),
            };
            let finding = context
                .finding(
                    schema.codes.text,
                    place,
                    format!("unexpected text{text} in `<{}>`", schema.name),
                )
                .label("text has no meaning here")
                .related(context.place(parent.start_tag), "in this element")
                .hint("write attributes or elements; put remarks in `<!-- … -->`");
            context.report(finding);
            None
        }
        _ => None,
    }
}

/// Reports a child element that is not permitted.
fn stranger(context: &mut Context<'_>, schema: &'static Schema, child: &Element, name: &str) {
    let names: Vec<&'static str> = listed(schema).map(|entry| entry.element.name).collect();
    let must_be_empty = matches!(schema.children, Children::Empty);
    let code = if must_be_empty {
        schema.codes.child_of_empty
    } else {
        schema.codes.unknown_child
    };
    let message = if must_be_empty {
        format!(
            "`<{}>` must be empty, but contains `<{}>`",
            schema.name,
            crate::diagnostics::clip(name)
        )
    } else if matches!(schema.children, Children::Matchers { .. }) {
        format!("`<{}>` is not a matcher", crate::diagnostics::clip(name))
    } else {
        format!(
            "`<{}>` is not permitted in `<{}>`",
            crate::diagnostics::clip(name),
            schema.name
        )
    };
    let mut finding: Diagnostic = context
        .finding(code, child.start_tag, message)
        .label("not permitted here");
    if let Some(meant) = nearest(name, names.iter().copied()) {
        finding = finding.hint(format!("did you mean `<{meant}>`?")).fix(
            format!("rename to `{meant}`"),
            context.place(child.name_span),
            meant,
        );
        if let (Some(end), Some(fix)) = (child.end_tag, finding.fixes.first_mut()) {
            let start = end.start + 2;
            let span = Span::new(start, start + child.name_span.len());
            // The end tag may be the one that is spelt well.
            let written = context.tree.slice(Span::new(start, end.end));
            if written.trim_end_matches('>').trim_end() == name {
                fix.edits.push(crate::diagnostics::Edit {
                    place: context.place(span),
                    text: meant.to_owned(),
                });
            }
        }
    }
    let matcher = matches!(schema.children, Children::Matchers { .. });
    if let Some(hint) = super::habits::element(schema.name, matcher, name) {
        // The list of all names would only push this out of sight.
        context.report(finding.hint(hint));
        return;
    }
    if !names.is_empty() && finding.fixes.is_empty() {
        let list = names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ");
        finding = finding.hint(format!("`<{}>` may contain {list}", schema.name));
    }
    context.report(finding);
}
