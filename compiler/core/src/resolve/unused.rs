//! Declarations that nothing reaches (spec 04 section 7, spec 01 sections 10.4 and 11).

use super::context::Context;
use super::inherit::written;
use super::input::ExpandedItem;
use super::registry::field_place;
use super::report::{Fill, place, quote, warning};
use crate::decl::{Decl, Field, ToolForm};
use crate::manifest::ScriptKind;

/// Warns about unused runtimes, scripts and an unused moderator binding. A document with parts that
/// could not be read gives none of them: the missing part may be the user.
pub(crate) fn report(cx: &mut Context<'_>) {
    if !cx.expanded.missing.is_empty() || cx.expanded.items.iter().any(may_use) {
        return;
    }
    for node in &cx.registry.runtimes {
        if node.used || !node.registered {
            continue;
        }
        let message = format!("nothing uses runtime {}", quote(&node.id));
        cx.sink.push(
            warning(
                "shell.unused_runtime",
                field_place(node.item, &node.decl.id),
                message,
            )
            .label("no tool, moderator, hook or other runtime refers to it")
            .hint("refer to it, or remove it")
            .path(["shell_access", written(&node.decl.id)])
            .runtime(&node.id),
        );
    }
    for script in &cx.registry.scripts {
        if script.referenced
            || script
                .decl
                .kind
                .is_none_or(|kind| kind == ScriptKind::Moderator)
        {
            continue;
        }
        let message = format!("no runtime uses script {}", quote(&script.id));
        cx.sink.push(
            warning(
                "chatmd.unused_script",
                field_place(script.item, &script.decl.id),
                message,
            )
            .label("it is not part of the manifest")
            .hint("refer to it, or remove it")
            .path(["script", written(&script.decl.id)]),
        );
    }
    if let Some((item, _)) = cx.registry.moderator
        && !cx.registry.moderator_script
    {
        let at = place(item, item.decl.start_tag);
        cx.sink.push(
            warning(
                "chatmd.unused_moderator_runtime",
                at,
                "the document has no moderator script that could use this runtime",
            )
            .label("has no effect yet")
            .hint("declare `<script kind=\"moderator\" …>`, or remove the binding"),
        );
    }
}

/// Whether what the declaration refers to is unknown: all that is left of it is its name.
fn may_use(item: &ExpandedItem) -> bool {
    match &item.decl.decl {
        Some(Decl::Runtime(runtime)) => {
            item.decl.broken && matches!(runtime.id, Field::Poisoned { .. })
        }
        Some(Decl::Tool(tool)) => {
            item.decl.broken
                && matches!(tool.form, ToolForm::Invalid)
                && matches!(tool.name, Field::Poisoned { .. })
        }
        _ => false,
    }
}
