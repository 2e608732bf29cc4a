//! `<script>` and `<moderator_runtime>` (spec 01 sections 10 and 11).

use std::sync::Arc;

use chatmd_syntax::{Element, Node, Span};

use super::context::{Context, trim};
use super::reader::{self, Attributes};
use crate::decl::{Field, ModeratorDecl, ScriptDecl, ScriptSourceDecl, Sp};
use crate::manifest::{ScriptKind, ScriptLimits};
use crate::schema::document;

/// Largest program in bytes.
const LARGEST: usize = 1 << 20;

/// Limits of a script that declares none (spec 01 section 10.1).
pub(super) const DEFAULT_LIMITS: ScriptLimits = ScriptLimits {
    wall_time_ms: 2_000,
    fuel: 100_000,
    max_tasks: 256,
    max_value_bytes: 256 << 10,
    max_output_bytes: 16 << 10,
    max_array_items: 256,
    max_depth: 32,
};

/// Lowers `<script>`.
pub(super) fn script<'t>(context: &mut Context<'t>, element: &'t Element) -> ScriptDecl {
    context.within(&["script"], |context| {
        context.named_by(element, "id");
        let attributes = reader::attributes(context, element, &document::SCRIPT);
        let number = |name, default| attributes.number(name).map_or(default, |sp| sp.value);
        let unset = DEFAULT_LIMITS;
        ScriptDecl {
            id: attributes.field("id"),
            kind: attributes
                .word("kind", ScriptKind::from_word)
                .map(|kind| kind.value),
            // Text in another language says nothing to the checker of this one.
            source: source(context, element, &attributes)
                .filter(|_| !attributes.is_poisoned("language")),
            limits: ScriptLimits {
                wall_time_ms: number("wall_time", unset.wall_time_ms),
                fuel: number("fuel", unset.fuel),
                max_tasks: number("max_tasks", unset.max_tasks),
                max_value_bytes: number("max_value", unset.max_value_bytes),
                max_output_bytes: number("max_output", unset.max_output_bytes),
                max_array_items: number("max_array_items", unset.max_array_items),
                max_depth: number("max_depth", unset.max_depth),
            },
        }
    })
}

fn source<'t>(
    context: &mut Context<'t>,
    element: &'t Element,
    attributes: &Attributes<'t>,
) -> Option<ScriptSourceDecl> {
    let body = element
        .children
        .iter()
        .find_map(|id| match context.tree.node(*id) {
            Node::ScriptBody { content, .. } => Some(*content),
            _ => None,
        });
    let program = body.filter(|content| !trim(context.tree.slice(*content)).is_empty());
    if !attributes.has("src") {
        return match program {
            Some(content) => inline(context, content),
            None => {
                let finding = context
                    .finding(
                        "chatmd.script_empty_source",
                        element.name_span,
                        "the script has no program",
                    )
                    .hint("write the program between the tags, or name a file with `src`");
                context.report(finding);
                None
            }
        };
    }
    if let (Some(content), Some(written)) = (program, attributes.written("src")) {
        let finding = context
            .finding(
                "chatmd.script_conflicting_source",
                written.name,
                "the script has both a file and a body",
            )
            .related(context.place(first_line(context, content)), "the body")
            .hint("keep one of them");
        context.report_below(finding, &["src"]);
        return None;
    }
    let src = attributes.text("src")?;
    match unusable_path(&src.value) {
        None => Some(ScriptSourceDecl::File(src)),
        Some(Unusable::Blank) => {
            let finding = local(
                context,
                "chatmd.script_empty_source",
                &src,
                "`src` names no file",
            )
            .hint("name the file of the program");
            context.report_below(finding, &["src"]);
            None
        }
        Some(Unusable::Reason(reason)) => {
            let finding = local(context, "chatmd.script_source_unavailable", &src, reason).hint(
                "write a path relative to this file; variables and addresses are not possible here",
            );
            context.report_below(finding, &["src"]);
            None
        }
    }
}

fn local(
    context: &Context<'_>,
    code: &'static str,
    at: &Sp<String>,
    message: &str,
) -> crate::diagnostics::Diagnostic {
    crate::diagnostics::Diagnostic::new(code, context.place_of(at.span), message)
}

/// Why a plain local path cannot be used.
pub(super) enum Unusable {
    Blank,
    Reason(&'static str),
}

/// Checks a path that is no path expression: `src` of scripts and imports.
pub(super) fn unusable_path(text: &str) -> Option<Unusable> {
    let scheme = text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
    });
    if trim(text).is_empty() {
        Some(Unusable::Blank)
    } else if text.contains('\0') {
        Some(Unusable::Reason("the path contains a NUL character"))
    } else if scheme {
        Some(Unusable::Reason(
            "the path is an address; only local files can be read",
        ))
    } else if text.starts_with("${") {
        Some(Unusable::Reason("path variables are not expanded here"))
    } else {
        None
    }
}

fn inline(context: &mut Context<'_>, content: Span) -> Option<ScriptSourceDecl> {
    let text = context.tree.slice(content);
    if text.len() > LARGEST {
        let finding = context
            .finding(
                "chatmd.script_source_too_large",
                first_line(context, content),
                format!(
                    "the program has {} bytes; at most {LARGEST} are permitted",
                    text.len()
                ),
            )
            .hint("split the script");
        context.report(finding);
        return None;
    }
    if let Some(at) = text.find('\0') {
        let at = content.start + at as u32;
        let finding = context
            .finding(
                "chatmd.script_invalid_encoding",
                Span::new(at, at + 1),
                "the program contains a NUL character",
            )
            .hint("remove it");
        context.report(finding);
        return None;
    }
    Some(ScriptSourceDecl::Inline(Sp {
        value: Arc::from(text),
        span: context.relative(content),
    }))
}

fn first_line(context: &Context<'_>, span: Span) -> Span {
    context.text_place(&Node::Text { span })
}

/// Lowers `<moderator_runtime>`.
pub(super) fn moderator<'t>(context: &mut Context<'t>, element: &'t Element) -> ModeratorDecl {
    context.within(&["moderator_runtime"], |context| {
        let attributes = reader::attributes(context, element, &document::MODERATOR_RUNTIME);
        reader::children(context, element, &document::MODERATOR_RUNTIME);
        ModeratorDecl {
            shell_runtime: attributes.field("shell_runtime"),
        }
    })
}

/// Lowers an `<import>`; `None` when there is no usable `src`.
pub(super) fn import_fields(
    context: &mut Context<'_>,
    attributes: &Attributes<'_>,
) -> (Field<String>, Field<String>) {
    let mut src = attributes.field("src");
    if let Field::Value(text) = &src
        && let Some(unusable) = unusable_path(&text.value)
    {
        let (code, message) = match unusable {
            Unusable::Blank => ("chatmd.import_missing_src", "`src` names no file"),
            Unusable::Reason(reason) => ("chatmd.import_invalid_src", reason),
        };
        let finding = local(context, code, text, message)
            .hint("write a path relative to this file, for example `../lib/shells.chatmd`");
        let span = text.span;
        let raw = Some(text.value.clone());
        context.report_below(finding, &["src"]);
        src = Field::Poisoned { raw, span };
    }
    (src, attributes.field("namespace"))
}
