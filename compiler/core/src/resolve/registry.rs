//! Everything the expanded document declares, by qualified name (spec 04 section 1 step 4).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::effective::Effective;
use super::entrypoints;
use super::input::{Expanded, ExpandedItem};
use super::profiles::Profile;
use super::reference::{Names, qualify};
use super::report::{Fill, Sink, error, place, quote, warning};
use super::taint::Taint;
use crate::decl::{
    Decl, Field, ModeratorDecl, RuntimeDecl, ScriptDecl, ScriptSourceDecl, ToolDecl, ToolForm,
};
use crate::diagnostics::Place;
use crate::manifest::ScriptKind;
use chatmd_syntax::{Span, Tag};

/// Where a runtime inherits from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parent {
    /// The conservative defaults.
    Defaults,
    /// A built-in profile.
    Profile(&'static Profile),
    /// Another runtime.
    Runtime(usize),
    /// Unknown, broken or part of a cycle: reported.
    Unavailable,
}

/// One `<shell_access>`.
pub(crate) struct RuntimeNode<'a> {
    /// Qualified id; empty when it is unusable.
    pub(crate) id: String,
    /// Whether it stands in the registry: its id is usable and the first of its kind.
    pub(crate) registered: bool,
    pub(crate) item: &'a ExpandedItem,
    pub(crate) decl: &'a RuntimeDecl,
    pub(crate) parent: Parent,
    pub(crate) effective: Option<Arc<Effective>>,
    /// Sections in which some value of the chain is missing because it was reported: what only
    /// the merged whole shows is not checked there.
    pub(crate) taint: Taint,
    /// A tool, the moderator, a hook or a child names it.
    pub(crate) used: bool,
}

/// One `<script>`.
pub(crate) struct ScriptNode<'a> {
    pub(crate) id: String,
    pub(crate) item: &'a ExpandedItem,
    pub(crate) decl: &'a ScriptDecl,
    /// Program text, when there is one.
    pub(crate) text: Option<Arc<str>>,
    /// Names defined at top level.
    pub(crate) definitions: HashSet<String>,
    /// Functions that extension points call.
    pub(crate) entrypoints: BTreeSet<String>,
    pub(crate) referenced: bool,
}

/// One `<tool>`.
pub(crate) struct ToolNode<'a> {
    pub(crate) item: &'a ExpandedItem,
    pub(crate) decl: &'a ToolDecl,
}

/// Registries of a document.
#[derive(Default)]
pub(crate) struct Registry<'a> {
    pub(crate) runtimes: Vec<RuntimeNode<'a>>,
    pub(crate) runtime_names: Names,
    pub(crate) scripts: Vec<ScriptNode<'a>>,
    pub(crate) script_names: Names,
    pub(crate) tools: Vec<ToolNode<'a>>,
    /// First declared tool of a model-visible name.
    pub(crate) tool_names: HashMap<String, usize>,
    pub(crate) moderator: Option<(&'a ExpandedItem, &'a ModeratorDecl)>,
    pub(crate) moderator_script: bool,
    /// Namespaces in which a runtime or a script may be declared by something that could not be
    /// read: unknown references that may lead there are not reported.
    pub(crate) unread_runtimes: Vec<Option<String>>,
    pub(crate) unread_scripts: Vec<Option<String>>,
}

/// Place of an attribute that names something, else of the element name.
pub(crate) fn field_place(item: &ExpandedItem, field: &Field<String>) -> Place {
    let span = match field {
        Field::Value(value) => value.span,
        Field::Poisoned { span, .. } => *span,
        Field::Absent => item.decl.name,
    };
    place(item, span)
}

/// Reads the whole document once.
pub(crate) fn collect<'a>(expanded: &'a Expanded, sink: &mut Sink) -> Registry<'a> {
    let mut registry = Registry {
        unread_runtimes: expanded.missing.clone(),
        unread_scripts: expanded.missing.clone(),
        ..Registry::default()
    };
    let mut history: HashMap<&str, Place> = HashMap::new();
    let mut config: Option<Place> = None;
    for item in &expanded.items {
        match &item.decl.decl {
            Some(Decl::Runtime(decl)) => registry.runtime(item, decl, sink),
            Some(Decl::Script(decl)) => registry.script(expanded, item, decl, sink),
            Some(Decl::Tool(decl)) => registry.tool(item, decl, sink),
            Some(Decl::Moderator(decl)) => registry.moderator(item, decl, sink),
            Some(Decl::Message(decl)) => {
                if let Some(id) = &decl.history_id {
                    history_id(&mut history, item, &id.value, id.span, sink);
                }
            }
            Some(Decl::Config) => second_config(&mut config, item, sink),
            Some(Decl::Import(_)) => {}
            None if item.decl.broken => registry.lost(item),
            None => {}
        }
    }
    registry
}

fn history_id<'a>(
    seen: &mut HashMap<&'a str, Place>,
    item: &ExpandedItem,
    id: &'a str,
    span: Span,
    sink: &mut Sink,
) {
    let at = place(item, span);
    if let Some(first) = seen.get(id) {
        let message = format!("history id {} is used by an earlier message", quote(id));
        sink.push(
            error("chatmd.duplicate_history_id", at, message)
                .label("used again here")
                .also(Some(*first), "first used here"),
        );
    } else {
        seen.insert(id, at);
    }
}

fn second_config(first: &mut Option<Place>, item: &ExpandedItem, sink: &mut Sink) {
    let at = place(item, item.decl.start_tag);
    if first.is_some() {
        sink.push(
            warning(
                "chatmd.duplicate_config",
                at,
                "only the first `config` takes effect",
            )
            .label("has no effect")
            .also(*first, "this one is used"),
        );
    } else {
        *first = Some(at);
    }
}

impl<'a> Registry<'a> {
    fn runtime(&mut self, item: &'a ExpandedItem, decl: &'a RuntimeDecl, sink: &mut Sink) {
        let index = self.runtimes.len();
        let namespace = item.namespace.as_deref();
        let mut node = RuntimeNode {
            id: String::new(),
            registered: false,
            item,
            decl,
            parent: Parent::Unavailable,
            effective: None,
            taint: Taint::of(&item.decl),
            used: false,
        };
        match &decl.id {
            Field::Value(id) => {
                node.id = qualify(namespace, &id.value);
                let earlier = self.runtime_names.declare(node.id.clone(), Some(index));
                node.registered = earlier.is_none();
                if let Some(earlier) = earlier {
                    let first = &self.runtimes[earlier];
                    let message = format!("runtime {} is declared twice", quote(&node.id));
                    sink.push(
                        error("shell.duplicate_runtime", place(item, id.span), message)
                            .label("declared again here")
                            .also(
                                Some(field_place(first.item, &first.decl.id)),
                                "first declared here",
                            )
                            .hint("rename one of them, or give one import its own `namespace`")
                            .path(["shell_access", id.value.as_str()])
                            .runtime(&node.id),
                    );
                }
            }
            Field::Poisoned { raw: Some(raw), .. } => {
                self.runtime_names.declare(qualify(namespace, raw), None);
            }
            Field::Poisoned { raw: None, .. } | Field::Absent => {
                unread(&mut self.unread_runtimes, item);
            }
        }
        self.runtimes.push(node);
    }

    /// A declaration that lowering gave up on may have declared anything of its kind.
    fn lost(&mut self, item: &ExpandedItem) {
        if matches!(item.decl.tag, Some(Tag::ShellAccess | Tag::Import)) {
            unread(&mut self.unread_runtimes, item);
        }
        if matches!(item.decl.tag, Some(Tag::Script | Tag::Import)) {
            unread(&mut self.unread_scripts, item);
        }
    }

    fn script(
        &mut self,
        expanded: &Expanded,
        item: &'a ExpandedItem,
        decl: &'a ScriptDecl,
        sink: &mut Sink,
    ) {
        let namespace = item.namespace.as_deref();
        if decl.kind == Some(ScriptKind::Moderator) {
            self.second_moderator(item, sink);
        }
        let written = match (&decl.id, decl.kind) {
            (Field::Value(id), _) => Some(id.value.as_str()),
            (Field::Absent, Some(ScriptKind::Moderator)) => Some("main"),
            (Field::Poisoned { raw: Some(raw), .. }, _) => {
                self.script_names.declare(qualify(namespace, raw), None);
                None
            }
            _ => {
                unread(&mut self.unread_scripts, item);
                None
            }
        };
        let Some(written) = written else { return };
        let id = qualify(namespace, written);
        let index = self.scripts.len();
        if let Some(earlier) = self.script_names.declare(id.clone(), Some(index)) {
            let first = &self.scripts[earlier];
            let at = match &decl.id {
                Field::Absent => place(item, item.decl.start_tag),
                field => field_place(item, field),
            };
            let message = format!("script {} is declared twice", quote(&id));
            sink.push(
                error("chatmd.duplicate_script", at, message)
                    .label("declared again here")
                    .also(
                        Some(field_place(first.item, &first.decl.id)),
                        "first declared here",
                    )
                    .hint("rename one of them, or give one import its own `namespace`")
                    .path(["script", written]),
            );
            return;
        }
        let text = match &decl.source {
            Some(ScriptSourceDecl::Inline(text)) => Some(text.value.clone()),
            Some(ScriptSourceDecl::File(_)) => expanded
                .scripts
                .get(&(item.file, item.item))
                .map(|loaded| loaded.text.clone()),
            None => None,
        };
        let definitions = text
            .as_deref()
            .map(entrypoints::definitions)
            .unwrap_or_default();
        self.scripts.push(ScriptNode {
            id,
            item,
            decl,
            text,
            definitions,
            entrypoints: BTreeSet::new(),
            referenced: false,
        });
    }

    fn second_moderator(&mut self, item: &ExpandedItem, sink: &mut Sink) {
        if self.moderator_script {
            let first = self
                .scripts
                .iter()
                .find(|script| script.decl.kind == Some(ScriptKind::Moderator))
                .map(|script| place(script.item, script.item.decl.start_tag));
            let at = place(item, item.decl.start_tag);
            sink.push(
                error(
                    "chatmd.multiple_moderators",
                    at,
                    "a document has one moderator script",
                )
                .label("second moderator")
                .also(first, "first moderator")
                .hint("remove one of them"),
            );
        }
        self.moderator_script = true;
    }

    fn moderator(&mut self, item: &'a ExpandedItem, decl: &'a ModeratorDecl, sink: &mut Sink) {
        if let Some((first, _)) = self.moderator {
            let at = place(item, item.decl.start_tag);
            sink.push(
                error(
                    "shell.duplicate_moderator_runtime",
                    at,
                    "a document has one `moderator_runtime`",
                )
                .label("second declaration")
                .also(
                    Some(place(first, first.decl.start_tag)),
                    "first declaration",
                )
                .hint("keep one of them"),
            );
        } else {
            self.moderator = Some((item, decl));
        }
    }

    fn tool(&mut self, item: &'a ExpandedItem, decl: &'a ToolDecl, sink: &mut Sink) {
        let index = self.tools.len();
        for name in &decl.model_names {
            let Some(earlier) = self.tool_names.get(&name.value) else {
                self.tool_names.insert(name.value.clone(), index);
                continue;
            };
            if *earlier == index {
                continue;
            }
            let first = &self.tools[*earlier];
            let code = if is_shell(decl) || is_shell(first.decl) {
                "shell.duplicate_tool"
            } else {
                "agent.duplicate_tool_name"
            };
            let first_span = first
                .decl
                .model_names
                .iter()
                .find(|other| other.value == name.value)
                .map(|other| place(first.item, other.span));
            let message = format!("the model would see two tools named {}", quote(&name.value));
            sink.push(
                error(code, place(item, name.span), message)
                    .label("name used again here")
                    .also(first_span, "first used here")
                    .hint("rename one of them: imports do not qualify tool names")
                    .path(["tool", name.value.as_str()]),
            );
        }
        self.tools.push(ToolNode { item, decl });
    }
}

/// Whether a tool runs under a shell runtime.
pub(crate) fn is_shell(decl: &ToolDecl) -> bool {
    matches!(decl.form, ToolForm::Shell(_) | ToolForm::Legacy(_))
}

fn unread(namespaces: &mut Vec<Option<String>>, item: &ExpandedItem) {
    if !namespaces.contains(&item.namespace) {
        namespaces.push(item.namespace.clone());
    }
}
