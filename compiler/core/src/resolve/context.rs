//! What every step of resolution shares.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::input::{Expanded, ExpandedItem};
use super::profiles;
use super::reference::{BUILTIN, Lookup, Names, candidates, qualify};
use super::registry::Registry;
use super::report::{Fill, Sink, error, list, nearest, place, quote};
use crate::decl::{Field, Sp};
use crate::diagnostics::{Diagnostic, Place};
use crate::manifest::{Hook, Platform, ScriptKind};

/// A use of an executable extension, once per declaration.
pub(crate) struct HookUse {
    /// Declaring runtime (index).
    pub(crate) owner: usize,
    /// `reviewer ID`, `interceptor ID`, `analyzer ID` or `audit filter`.
    pub(crate) via: String,
    /// Worker runtime (index).
    pub(crate) worker: usize,
    /// The `runtime` value.
    pub(crate) worker_at: Place,
    /// The `timeout` value, when written.
    pub(crate) timeout_at: Option<Place>,
    /// The `max_input` value, when written.
    pub(crate) max_input_at: Option<Place>,
    pub(crate) hook: Hook,
}

/// State of one resolution.
pub(crate) struct Context<'a> {
    pub(crate) expanded: &'a Expanded,
    pub(crate) platform: Platform,
    pub(crate) sink: Sink,
    pub(crate) registry: Registry<'a>,
    pub(crate) hooks: Vec<HookUse>,
    /// Executable ids by runtime, for the runtimes that a tool asked about.
    pub(crate) executables: HashMap<usize, HashSet<Arc<str>>>,
}

/// Which reference is looked up: decides the code and the words of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Referrer {
    Extends,
    Runtime,
    Worker,
}

impl<'a> Context<'a> {
    /// The manifest path of a file.
    pub(crate) fn file(&self, item: &ExpandedItem) -> &'a str {
        let index = item.file.0 as usize;
        self.expanded
            .files
            .get(index)
            .map_or("", |file| file.path.as_str())
    }

    /// Resolves a runtime reference that is not a built-in profile; failures are reported.
    pub(crate) fn runtime(
        &mut self,
        item: &ExpandedItem,
        reference: &Sp<String>,
        referrer: Referrer,
        path: &[&str],
    ) -> Option<usize> {
        let at = place(item, reference.span);
        if reference.value.starts_with(BUILTIN) {
            let message = format!(
                "{} is a built-in profile; only `extends` can name one",
                quote(&reference.value)
            );
            self.sink.push(
                error("shell.invalid_reference", at, message)
                    .label("not a declared runtime")
                    .hint(format!(
                        "declare `<shell_access id=\"…\" extends=\"{}\"/>` and refer to that id",
                        reference.value
                    ))
                    .path(path.iter().copied()),
            );
            return None;
        }
        let namespace = item.namespace.as_deref();
        let unread = &self.registry.unread_runtimes;
        match self
            .registry
            .runtime_names
            .look_up(namespace, &reference.value, unread)
        {
            Lookup::Found(index) => return Some(index),
            Lookup::Poisoned => {}
            Lookup::Ambiguous(first, second) => {
                let declared = [first, second].map(|index| {
                    let node = &self.registry.runtimes[index];
                    (
                        node.id.clone(),
                        super::registry::field_place(node.item, &node.decl.id),
                    )
                });
                let finding = ambiguous(at, &reference.value, declared);
                self.sink.push(finding.path(path.iter().copied()));
            }
            Lookup::Unknown => {
                let (code, what) = match referrer {
                    Referrer::Worker => ("shell.unknown_worker_runtime", "worker runtime"),
                    Referrer::Extends | Referrer::Runtime => ("shell.unknown_runtime", "runtime"),
                };
                // A runtime can be neither its own parent nor its own worker.
                let own = match path {
                    ["shell_access", id, ..] => qualify(namespace, id),
                    _ => String::new(),
                };
                // Written without prefix or version; a declared name that is nearer goes first.
                let profile = match referrer {
                    Referrer::Extends => profiles::named(&reference.value).or_else(|| {
                        let mut tried = candidates(namespace, &reference.value).into_iter();
                        let near = |name: String| {
                            nearest(&name, self.registry.runtime_names.offered(&own)).is_some()
                        };
                        match self.sink.suggests() && !tried.any(near) {
                            true => profiles::meant(&reference.value),
                            false => None,
                        }
                    }),
                    _ => None,
                };
                let below = |name: &str| referrer == Referrer::Extends && self.is_below(name, &own);
                let (finding, meant) = unknown(
                    code,
                    what,
                    (namespace, reference, at),
                    (&self.registry.runtime_names, &own, &below),
                    self.sink.suggests() && profile.is_none(),
                );
                // What was meant is not unused as well.
                if let Some(index) = meant
                    && let Some(node) = self.registry.runtimes.get_mut(index)
                {
                    node.used = true;
                }
                let finding = match profile {
                    Some(profile) => finding
                        .hint(format!("did you mean the built-in profile `{profile}`?"))
                        .fix(format!("extend `{profile}`"), at, profile),
                    None => finding,
                };
                let finding = if referrer == Referrer::Worker {
                    finding.hint("declare a separate runtime for the hook, for example from `builtin:hook-worker@1`")
                } else {
                    finding
                };
                self.sink.push(finding.path(path.iter().copied()));
            }
        }
        None
    }

    /// Whether the runtime `name` inherits, as far as one looks, from the runtime `own`: extending it
    /// would close a cycle.
    fn is_below(&self, name: &str, own: &str) -> bool {
        const FAR: usize = 256;
        let names = &self.registry.runtime_names;
        let mut at = match names.look_up(None, name, &[]) {
            Lookup::Found(index) => self.registry.runtimes.get(index),
            _ => None,
        };
        for _ in 0..FAR {
            let Some(node) = at else { return false };
            if node.id == own {
                return true;
            }
            let Field::Value(parent) = &node.decl.extends else {
                return false;
            };
            let namespace = node.item.namespace.as_deref();
            at = match names.look_up(namespace, &parent.value, &[]) {
                Lookup::Found(index) => self.registry.runtimes.get(index),
                _ => None,
            };
        }
        true
    }

    /// Resolves a script reference and checks its kind; failures are reported. The script counts as
    /// referenced in any case.
    pub(crate) fn script(
        &mut self,
        item: &ExpandedItem,
        reference: &Sp<String>,
        kind: ScriptKind,
        path: &[&str],
    ) -> Option<usize> {
        let at = place(item, reference.span);
        let namespace = item.namespace.as_deref();
        let unread = &self.registry.unread_scripts;
        match self
            .registry
            .script_names
            .look_up(namespace, &reference.value, unread)
        {
            Lookup::Found(index) => {
                let script = self.registry.scripts.get_mut(index)?;
                script.referenced = true;
                let found = script.decl.kind?;
                if found == kind {
                    return Some(index);
                }
                let message = format!(
                    "script {} has kind `{}`; this place needs `{}`",
                    quote(&script.id),
                    found.as_str(),
                    kind.as_str()
                );
                let declared = super::registry::field_place(script.item, &script.decl.id);
                self.sink.push(
                    error("shell.script_kind_mismatch", at, message)
                        .label(format!("needs a script of kind `{}`", kind.as_str()))
                        .also(
                            Some(declared),
                            format!("declared with kind `{}`", found.as_str()),
                        )
                        .hint("change the kind of the script or refer to another one")
                        .path(path.iter().copied()),
                );
            }
            Lookup::Poisoned => {}
            Lookup::Ambiguous(first, second) => {
                let declared = [first, second].map(|index| {
                    let node = &self.registry.scripts[index];
                    (
                        node.id.clone(),
                        super::registry::field_place(node.item, &node.decl.id),
                    )
                });
                for index in [first, second] {
                    self.registry.scripts[index].referenced = true;
                }
                let finding = ambiguous(at, &reference.value, declared);
                self.sink.push(finding.path(path.iter().copied()));
            }
            Lookup::Unknown => {
                let (finding, meant) = unknown(
                    "shell.unknown_script",
                    "script",
                    (namespace, reference, at),
                    (&self.registry.script_names, "", &|_| false),
                    self.sink.suggests(),
                );
                if let Some(index) = meant
                    && let Some(node) = self.registry.scripts.get_mut(index)
                {
                    node.referenced = true;
                }
                self.sink.push(finding.path(path.iter().copied()));
            }
        }
        None
    }
}

fn ambiguous(at: Place, reference: &str, declared: [(String, Place); 2]) -> Diagnostic {
    let [(first, first_at), (second, second_at)] = declared;
    error(
        "shell.ambiguous_reference",
        at,
        format!(
            "{} may mean {} or {}",
            quote(reference),
            quote(&first),
            quote(&second)
        ),
    )
    .label("two declarations fit")
    .also(Some(first_at), format!("declares {}", quote(&first)))
    .also(Some(second_at), format!("declares {}", quote(&second)))
    .hint("rename one of the two declarations, or change the namespace of one import")
}

/// Tells of a declared name whether it can not be what was meant.
type Unfit<'a> = &'a dyn Fn(&str) -> bool;

/// Reports a name that nothing bears, with the declaration that was most likely meant.
fn unknown(
    code: &'static str,
    what: &str,
    (namespace, reference, at): (Option<&str>, &Sp<String>, Place),
    (names, own, unfit): (&Names, &str, Unfit<'_>),
    suggest: bool,
) -> (Diagnostic, Option<usize>) {
    let tried = candidates(namespace, &reference.value);
    let mut message = format!("no {what} is named {}", quote(&tried[0]));
    if let Some(other) = tried.get(1) {
        message.push_str(&format!(" or {}", quote(other)));
    }
    let mut finding = error(code, at, message).label("not declared");
    if !suggest {
        return (finding, None);
    }
    let near = tried
        .iter()
        .find_map(|name| nearest(name, names.offered(own)))
        .filter(|near| !unfit(near));
    let Some(near) = near else {
        let hint = match names.all().next() {
            Some(_) => format!("declared: {}", list(names.all().take(50))),
            None => format!("the document declares no {what}: add one or import it"),
        };
        return (finding.hint(hint), None);
    };
    // Written from inside its namespace, the name is shorter.
    let prefix = namespace.map(|namespace| format!("{namespace}:"));
    let short = prefix
        .and_then(|prefix| near.strip_prefix(prefix.as_str()))
        .unwrap_or(near);
    finding = finding.hint(format!("did you mean {}?", quote(short))).fix(
        format!("refer to {}", quote(short)),
        at,
        short,
    );
    let meant = match names.look_up(None, near, &[]) {
        Lookup::Found(index) => Some(index),
        _ => None,
    };
    (finding, meant)
}
