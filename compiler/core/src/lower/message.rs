//! Conversation elements and the content of their bodies (spec 01 sections 5, 6 and 8.2).

use chatmd_syntax::{Attribute as Written, Element, Name, NodeId, Tag};

use super::context::Context;
use super::reader::{self, Attributes};
use super::script::import_fields;
use crate::decl::{Field, ImportDecl, MessageDecl, Sp};
use crate::diagnostics::{Severity, quote};
use crate::schema::{BodyClass, Children, Element as Schema, document};

/// Schema of a conversation element.
pub(super) fn schema_of(tag: Tag) -> Option<&'static Schema> {
    document::TOP_LEVEL
        .iter()
        .copied()
        .find(|schema| schema.name == tag.as_str() && matches!(schema.children, Children::Body(_)))
}

/// Lowers a message, tool call, tool response or reasoning item.
pub(super) fn message<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    schema: &'static Schema,
) -> MessageDecl {
    context.within(&[schema.name], |context| {
        let attributes =
            reader::attributes_with(context, element, schema, &mut |context, name, written| {
                unlisted(context, schema, name, written)
            });
        checks(context, element, schema, &attributes);
        let class = body_class(schema, &attributes);
        let history_id = history(context, &attributes);
        let content_imports = body(context, &element.children, class);
        MessageDecl {
            history_id,
            content_imports,
        }
    })
}

/// Attributes with a meaning of their own although no table lists them.
fn unlisted(
    context: &mut Context<'_>,
    schema: &'static Schema,
    name: &str,
    written: &Written,
) -> bool {
    if name.starts_with("ochat-") {
        let finding = context
            .finding(
                "chatmd.reserved_attribute",
                written.name,
                format!("the attribute {} is reserved", quote(name)),
            )
            .hint("remove it: names starting with `ochat-` belong to the host")
            .fix("remove the attribute", context.place(written.span), "");
        context.report(finding);
        return true;
    }
    if name == "role" {
        let finding = context
            .finding(
                "chatmd.role_conflict",
                written.name,
                format!("`<{}>` already says who speaks", schema.name),
            )
            .hint("remove `role`, or write `<msg role=\"…\">`")
            .fix("remove `role`", context.place(written.span), "");
        context.report(finding);
        return true;
    }
    false
}

fn checks(
    context: &mut Context<'_>,
    element: &Element,
    schema: &'static Schema,
    attributes: &Attributes<'_>,
) {
    if let Some(written) = attributes.written("function_call") {
        let finding = context
            .finding(
                "chatmd.deprecated_attribute",
                written.name,
                "`function_call` is obsolete and ignored",
            )
            .hint("remove it; write `<tool_call>` for a call");
        context.report(finding);
    }
    if schema.name == "assistant" && attributes.has("status") && !attributes.has("id") {
        let at = attributes
            .written("status")
            .map_or(element.name_span, |written| written.name);
        let finding = context
            .finding(
                "chatmd.assistant_status_without_id",
                at,
                "a stored reply with a status needs the `id` that the provider gave it",
            )
            .hint("add `id`, or remove `status`");
        context.report(finding);
    }
    if schema.name != "msg" {
        return;
    }
    let is_tool = attributes
        .word("role", |word| Some(word == "tool"))
        .is_some_and(|is| is.value);
    if is_tool {
        demand(context, element, attributes, "tool_call_id");
        if attributes.boolean_or("tool_call", false) {
            demand(context, element, attributes, "function_name");
        }
    }
}

fn demand(context: &mut Context<'_>, element: &Element, attributes: &Attributes<'_>, name: &str) {
    if attributes.is_poisoned(name)
        || attributes
            .text(name)
            .is_some_and(|text| !text.value.is_empty())
    {
        return;
    }
    let at = attributes
        .written(name)
        .and_then(|written| written.value)
        .unwrap_or(element.name_span);
    let finding = context
        .finding(
            "chatmd.missing_attribute",
            at,
            format!("a tool message needs the attribute `{name}`"),
        )
        .hint("add it");
    context.report_below(finding, &[name]);
}

fn body_class(schema: &'static Schema, attributes: &Attributes<'_>) -> BodyClass {
    if schema.name == "msg" {
        return match attributes.word("role", |word| {
            Some(matches!(word, "user" | "system" | "developer"))
        }) {
            Some(Sp { value: true, .. }) => BodyClass::Authored,
            _ => BodyClass::Transcript,
        };
    }
    match schema.children {
        Children::Body(class) => class,
        _ => BodyClass::Transcript,
    }
}

/// A well-formed `ochat-history-id`.
fn history(context: &mut Context<'_>, attributes: &Attributes<'_>) -> Option<Sp<String>> {
    let id = attributes.text("ochat-history-id")?;
    if is_history_id(&id.value) {
        return Some(id);
    }
    let finding = crate::diagnostics::Diagnostic::new(
        "chatmd.invalid_history_id",
        context.place_of(id.span),
        format!("{} is not a history id", quote(&id.value)),
    )
    .hint("the form is LENGTH:NAMESPACE:NUMBER, for example `4:sess:12`");
    context.report_below(finding, &["ochat-history-id"]);
    None
}

fn is_history_id(text: &str) -> bool {
    let canonical = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        plain && (digits == "0" || !digits.starts_with('0'))
    };
    let Some((length, rest)) = text.split_once(':') else {
        return false;
    };
    let Ok(bytes) = length.parse::<usize>() else {
        return false;
    };
    let (Some(namespace), Some(tail)) = (rest.get(..bytes), rest.get(bytes..)) else {
        return false;
    };
    canonical(length) && !namespace.is_empty() && tail.strip_prefix(':').is_some_and(canonical)
}

/// Checks the content of a body and collects its content imports.
pub(super) fn body<'t>(
    context: &mut Context<'t>,
    children: &[NodeId],
    class: BodyClass,
) -> Vec<ImportDecl> {
    let mut imports = Vec::new();
    let mut stack: Vec<NodeId> = children.iter().rev().copied().collect();
    while let Some(id) = stack.pop() {
        let Some(element) = context.element(id) else {
            continue;
        };
        if element.broken_start {
            continue;
        }
        let Name::Known(tag) = element.name else {
            continue;
        };
        match (tag, class) {
            (Tag::Summary, BodyClass::Reasoning) => {
                context.within(&["summary"], |context| {
                    reader::attributes(context, element, &document::SUMMARY);
                });
            }
            (_, BodyClass::Reasoning) => {}
            (Tag::Img, _) => helper(context, element, &document::IMG),
            (Tag::Doc, _) => helper(context, element, &document::DOC),
            (Tag::Agent, _) => {
                helper(context, element, &document::AGENT);
                stack.extend(element.children.iter().rev().copied());
            }
            (Tag::Import, BodyClass::Authored) => imports.extend(content_import(context, element)),
            (_, BodyClass::Authored) => literal(context, element, tag),
            (_, BodyClass::Transcript) => {}
        }
    }
    imports
}

fn helper<'t>(context: &mut Context<'t>, element: &'t Element, schema: &'static Schema) {
    context.within(&[schema.name], |context| {
        let attributes = reader::attributes(context, element, schema);
        if schema.name == "doc"
            && attributes.boolean_or("strip", false)
            && attributes.boolean_or("markdown", false)
            && let Some(written) = attributes.written("markdown")
        {
            let finding = context
                .finding(
                    "chatmd.attribute_ignored",
                    written.name,
                    "`markdown` has no effect together with `strip`",
                )
                .hint("keep one of the two");
            context.report(finding);
        }
        if matches!(schema.children, Children::Empty) {
            reader::children(context, element, schema);
        }
    });
}

fn content_import<'t>(context: &mut Context<'t>, element: &'t Element) -> Option<ImportDecl> {
    context.within(&["import"], |context| {
        let attributes = reader::attributes(context, element, &document::IMPORT);
        reader::children(context, element, &document::IMPORT);
        if let Some(written) = attributes.written("namespace") {
            let finding = context
                .finding(
                    "chatmd.import_namespace_in_content",
                    written.name,
                    "text taken into a message declares nothing, so it has no namespace",
                )
                .hint("remove `namespace`, or move the import to top level")
                .fix("remove `namespace`", context.place(written.span), "");
            context.report(finding);
        }
        let (src, _) = import_fields(context, &attributes);
        src.value()?;
        Some(ImportDecl {
            start_tag: context.relative(element.start_tag),
            src,
            namespace: Field::Absent,
            namespace_name: None,
        })
    })
}

fn literal(context: &mut Context<'_>, element: &Element, tag: Tag) {
    let name = tag.as_str();
    let finding = context
        .finding(
            "chatmd.literal_element",
            element.start_tag,
            format!("`<{name}>` has no effect inside a message; the model sees it as text"),
        )
        .with_severity(Severity::Warning)
        .hint("wrap it in `RAW|…|RAW` when it is meant as text, or move it to top level");
    context.report(finding);
}

#[cfg(test)]
mod tests {
    use super::is_history_id;

    #[test]
    fn history_ids() {
        for (text, ok) in [
            ("4:sess:12", true),
            ("4:sess:0", true),
            ("3:a:b:7", true),
            ("04:sess:1", false),
            ("4:sess:01", false),
            ("5:sess:1", false),
            ("0::1", false),
            ("4:sess", false),
            ("4:sess:", false),
            ("+4:sess:1", false),
            ("2:é:1", true),
            ("1:é:1", false),
            ("99999999999999999999:x:1", false),
        ] {
            assert_eq!(is_history_id(text), ok, "{text}");
        }
    }
}
