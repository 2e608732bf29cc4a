//! From the expanded document to one manifest (spec 04 sections 2 to 8 and 10).
//!
//! Pure: equal input gives equal bytes. Every error of every declaration is reported; a
//! declaration that another pass already reported causes no further error.

mod checks;
mod context;
mod convert;
pub(crate) mod cycles;
mod effective;
mod entrypoints;
pub mod features;
mod graph;
mod inherit;
pub mod input;
mod merge;
mod output;
mod places;
pub(crate) mod profiles;
pub(crate) mod reference;
mod registry;
mod report;
mod rule_lints;
mod taint;
#[cfg(test)]
mod tests;
mod tools;
mod unused;
mod workers;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(crate) use checks::eligible;
pub(crate) use convert::path as manifest_path;
pub(crate) use entrypoints::surface;
pub use features::Features;
pub use input::{Expanded, ExpandedItem, LoadedScript, SourceFile, SourceUse};
pub use places::{Places, RulePlace};

use context::{Context, Referrer};

use crate::decl::{LiteralSecret, ScriptSourceDecl};
use crate::diagnostics::{Diagnostic, FileIndex};
use crate::manifest::{Manifest, Platform, ScriptKind};

/// What resolution gives back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// The requested manifest (`binding` is `None`). `None` when resolution found an error or an
    /// item of the input is [`crate::decl::Item::broken`]. Errors of import expansion are not known
    /// here: the caller must drop the manifest when there are any.
    pub manifest: Option<Arc<Manifest>>,
    /// Findings of resolution alone, in order of discovery; the diagnostics of the items are not
    /// repeated. Places name real files.
    pub diagnostics: Vec<Diagnostic>,
    /// What a run needs beside the manifest.
    pub material: Arc<Material>,
    /// Where the declarations of the manifest stand. Empty when there is no manifest.
    pub places: Arc<Places>,
    /// The programs of the document, to be checked against the surface of their kind.
    pub programs: Vec<Program>,
}

/// A program with what the document asks of it. Present whether or not there is a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Written id, for the declaration path.
    pub id: String,
    /// Its text.
    pub text: Arc<str>,
    /// Where its first byte is.
    pub origin: Origin,
    /// Its kind.
    pub kind: ScriptKind,
    /// Names of the functions that are called, sorted; none when nothing refers to the script.
    pub entrypoints: Vec<String>,
}

/// Where the text of a program begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In a document.
    Inline {
        /// The document.
        file: FileIndex,
        /// Its item.
        item: u32,
        /// Offset of the text relative to the item.
        start: u32,
    },
    /// A file of its own.
    File(FileIndex),
}

/// Texts and values that never enter the manifest themselves. Empty when there is no manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Material {
    /// Program text by qualified script id, for the scripts of the manifest.
    pub scripts: BTreeMap<String, Arc<str>>,
    /// Source text of compact `command` attributes by tool name (spec 03 section 5).
    pub commands: BTreeMap<String, String>,
    /// What to say when rules refuse, by runtime and rule: see
    /// [`crate::expectations::Annotations::beside_refusals`].
    pub rationales: BTreeMap<String, BTreeMap<String, String>>,
    /// Literal secrets by runtime id and `index` (spec 04 section 8.6).
    pub literals: BTreeMap<(String, u64), LiteralSecret>,
}

/// Resolves a document for one platform (spec 04 section 1, steps 3 to 8).
///
/// `supported` is the set of features that the consumer of the manifest has; a document that needs
/// another one is refused with `shell.unsupported_feature`.
pub fn resolve(expanded: &Expanded, platform: Platform, supported: &Features) -> Resolution {
    let mut sink = report::Sink::new(expanded);
    let registry = registry::collect(expanded, &mut sink);
    let mut cx = Context {
        expanded,
        platform,
        sink,
        registry,
        hooks: Vec::new(),
        executables: HashMap::new(),
    };
    inherit::parents(&mut cx);
    inherit::effective(&mut cx);
    graph::report(&mut cx);
    let tools = tools::resolve(&mut cx);
    let moderator = moderator(&mut cx);
    checks::runtimes(&mut cx);
    workers::check(&mut cx);
    unused::report(&mut cx);

    // Only a document without errors has a manifest; its runtimes are then all complete.
    let programs = programs(&cx);
    let broken = expanded.items.iter().any(|item| item.decl.broken);
    if broken || cx.sink.failed {
        return Resolution {
            diagnostics: cx.sink.diagnostics,
            programs,
            ..Resolution::default()
        };
    }
    Resolution {
        programs,
        ..output::build(cx, tools, moderator, supported)
    }
}

/// The programs whose text and kind are known.
fn programs(cx: &Context<'_>) -> Vec<Program> {
    let scripts = cx.registry.scripts.iter();
    scripts
        .filter_map(|script| {
            let ExpandedItem { file, item, .. } = *script.item;
            let origin = match script.decl.source.as_ref()? {
                ScriptSourceDecl::Inline(text) => Origin::Inline {
                    file,
                    item,
                    start: text.span.start,
                },
                ScriptSourceDecl::File(_) => {
                    Origin::File(cx.expanded.scripts.get(&(file, item))?.file)
                }
            };
            Some(Program {
                id: script
                    .decl
                    .id
                    .value()
                    .map_or("main", |id| id.value.as_str())
                    .to_owned(),
                text: script.text.clone()?,
                origin,
                kind: script.decl.kind?,
                entrypoints: script.entrypoints.iter().cloned().collect(),
            })
        })
        .collect()
}

/// The runtime of the moderator (spec 01 section 11).
fn moderator(cx: &mut Context<'_>) -> Option<usize> {
    let (item, decl) = cx.registry.moderator?;
    let reference = decl.shell_runtime.value()?;
    let path = ["moderator_runtime", "shell_runtime"];
    let runtime = cx.runtime(item, reference, Referrer::Runtime, &path)?;
    cx.registry.runtimes[runtime].used = true;
    Some(runtime)
}
