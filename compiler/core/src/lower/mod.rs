//! From the tree of one file to its declarations (spec 01 sections 5 to 13, 02, 03).
//!
//! Each top-level item is lowered by itself. The generic checks follow the tables of
//! [`crate::schema`]; what remains here is what an element means. Every error of an element is
//! reported, a broken element never hides its siblings, and nothing is said about an attribute
//! that is already reported.

mod absent;
mod attributes;
mod backends;
mod children;
mod command;
mod context;
mod extensions;
mod habits;
mod message;
mod policy;
mod reader;
mod runtime;
mod script;
mod shell_tool;
#[cfg(test)]
mod tests;
mod tool;
mod value;

use std::sync::Arc;

use chatmd_syntax::{Element, Name, Node, NodeId, Parse, Tag, Tree};

use crate::decl::{
    Decl, Field, FileDeclarations, ImportDecl, Item, RuntimeDecl, ScriptDecl, ToolDecl, ToolForm,
};
use crate::diagnostics::{Diagnostic, nearest};
use crate::schema::{BodyClass, document};
use context::{Budget, Context, Reported, is_layout};
pub(crate) use reader::escape;
pub(crate) use value::{is_strict, path_expression};

/// Lowers every top-level item. A parse that must not be lowered gives no items.
pub fn lower(parse: &Parse) -> FileDeclarations {
    if !parse.lowerable {
        return FileDeclarations::default();
    }
    let reported = Reported::new(parse);
    let mut budget = Budget::default();
    let items = top_level(&parse.tree)
        .enumerate()
        .map(|(index, id)| Arc::new(item(&parse.tree, &reported, id, index as u32, &mut budget)))
        .collect();
    FileDeclarations { items }
}

/// Offset of the `<` (or first byte) of each item of [`lower`], to make its places absolute.
pub fn item_starts(parse: &Parse) -> Vec<u32> {
    if !parse.lowerable {
        return Vec::new();
    }
    top_level(&parse.tree)
        .map(|id| parse.tree.node(id).span().start)
        .collect()
}

/// Checks a file that was parsed as the content of a message of that class: its findings, whose
/// places count from the start of the file, and the content imports in it.
pub fn lower_content(parse: &Parse, class: BodyClass) -> (Vec<Diagnostic>, Vec<ImportDecl>) {
    if !parse.lowerable {
        return (Vec::new(), Vec::new());
    }
    let reported = Reported::new(parse);
    let mut budget = Budget::default();
    let mut context = Context::new(&parse.tree, &reported, 0, None, &mut budget);
    let imports = message::body(&mut context, &parse.tree.top, class);
    (context.into_findings(), imports)
}

/// Top-level nodes that are no layout.
fn top_level(tree: &Tree) -> impl Iterator<Item = NodeId> {
    tree.top.iter().copied().filter(|id| is_item(tree, *id))
}

/// Whether a top-level node is an item: anything but layout.
pub(crate) fn is_item(tree: &Tree, id: NodeId) -> bool {
    match tree.node(id) {
        Node::Comment { .. } => false,
        Node::Text { span } => !tree.slice(*span).chars().all(is_layout),
        _ => true,
    }
}

fn item(tree: &Tree, reported: &Reported, id: NodeId, index: u32, budget: &mut Budget) -> Item {
    let node = tree.node(id);
    let base = node.span().start;
    let mut context = Context::new(tree, reported, base, Some(index), budget);
    let mut item = Item {
        tag: None,
        start_tag: context.relative(node.span()),
        name: context.relative(node.span()),
        decl: None,
        broken: true,
        diagnostics: Vec::new(),
    };
    if let Node::Element(element) = node {
        item.start_tag = context.relative(element.start_tag);
        item.name = context.relative(element.name_span);
        match element.name {
            Name::Known(tag) => {
                item.tag = Some(tag);
                item.decl = match element.broken_start {
                    false => known(&mut context, element, tag),
                    true => remains(&context, element, tag),
                };
            }
            // What is declared under a misspelt name is referred to all the same.
            Name::Unknown => {
                let name = tree.slice(element.name_span);
                let declare = [Tag::ShellAccess, Tag::Script, Tag::Tool];
                item.decl = nearest(name, declare.iter().map(|tag| tag.as_str()))
                    .and_then(Tag::from_name)
                    .and_then(|tag| remains(&context, element, tag));
            }
        }
        item.broken = item.tag.is_none()
            || element.broken_start
            || item.decl.is_none()
            || context.parser_error_in(element.span);
    }
    item.broken |= context.error_count() > 0;
    item.diagnostics = context.into_findings();
    item
}

fn known<'t>(context: &mut Context<'t>, element: &'t Element, tag: Tag) -> Option<Decl> {
    if let Some(schema) = message::schema_of(tag) {
        return Some(Decl::Message(message::message(context, element, schema)));
    }
    match tag {
        Tag::Config => {
            context.within(&["config"], |context| {
                reader::attributes(context, element, &document::CONFIG);
                reader::children(context, element, &document::CONFIG);
            });
            Some(Decl::Config)
        }
        Tag::Import => Some(Decl::Import(import(context, element))),
        Tag::Script => Some(Decl::Script(script::script(context, element))),
        Tag::ModeratorRuntime => Some(Decl::Moderator(script::moderator(context, element))),
        Tag::ShellAccess => Some(Decl::Runtime(Box::new(runtime::shell_access(
            context, element,
        )))),
        Tag::Tool => Some(Decl::Tool(Box::new(tool::tool(context, element)))),
        _ => None,
    }
}

fn import<'t>(context: &mut Context<'t>, element: &'t Element) -> ImportDecl {
    context.within(&["import"], |context| {
        let attributes = reader::attributes(context, element, &document::IMPORT);
        reader::children(context, element, &document::IMPORT);
        let (src, namespace) = script::import_fields(context, &attributes);
        let written = attributes.written("namespace");
        ImportDecl {
            start_tag: context.relative(element.start_tag),
            src,
            namespace,
            namespace_name: written.map(|written| context.relative(written.name)),
        }
    })
}

/// What a declaration whose start tag is broken still declares: its id, so that references to it
/// give no second error.
fn remains(context: &Context<'_>, element: &Element, tag: Tag) -> Option<Decl> {
    let named = |name: &str| match element.attribute(context.tree, name) {
        Some(written) => Field::Poisoned {
            raw: Some(written)
                .filter(|written| !written.poisoned)
                .and_then(|written| context.tree.value(written))
                .map(|text| text.into_owned()),
            span: context.relative(written.value.unwrap_or(written.name)),
        },
        None => Field::Absent,
    };
    match tag {
        Tag::ShellAccess => {
            let runtime = RuntimeDecl {
                id: named("id"),
                ..RuntimeDecl::default()
            };
            Some(Decl::Runtime(Box::new(runtime)))
        }
        Tag::Script => Some(Decl::Script(ScriptDecl {
            id: named("id"),
            kind: None,
            source: None,
            limits: script::DEFAULT_LIMITS,
        })),
        Tag::Tool => Some(Decl::Tool(Box::new(ToolDecl {
            name: named("name"),
            model_names: Vec::new(),
            form: ToolForm::Invalid,
        }))),
        _ => None,
    }
}
