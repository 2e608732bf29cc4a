//! Parents and the order in which runtimes are merged (spec 04 sections 3 and 1 step 6).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::context::{Context, Referrer};
use super::convert::Local;
use super::effective::Effective;
use super::merge;
use super::profiles::{self, CONSERVATIVE};
use super::reference::BUILTIN;
use super::registry::Parent;
use super::report::{Fill, error, list, place, quote};
use super::taint::Taint;
use crate::decl::{Field, Sp};
use crate::manifest::Profile;

/// Resolves every `extends`.
pub(crate) fn parents(cx: &mut Context<'_>) {
    for index in 0..cx.registry.runtimes.len() {
        let decl = cx.registry.runtimes[index].decl;
        let parent = match &decl.extends {
            Field::Absent => Parent::Defaults,
            Field::Poisoned { .. } => Parent::Unavailable,
            Field::Value(reference) => parent(cx, index, reference),
        };
        cx.registry.runtimes[index].parent = parent;
    }
}

fn parent(cx: &mut Context<'_>, index: usize, reference: &Sp<String>) -> Parent {
    let node = &cx.registry.runtimes[index];
    let item = node.item;
    let written = written(&node.decl.id);
    let path = ["shell_access", written, "extends"];
    if reference.value.starts_with(BUILTIN) {
        if let Some(profile) = profiles::find(&reference.value) {
            return Parent::Profile(profile);
        }
        let known = || profiles::PROFILES.iter().map(|profile| profile.versioned);
        let at = place(item, reference.span);
        let message = format!("there is no built-in profile {}", quote(&reference.value));
        let mut finding =
            error("shell.unknown_builtin_profile", at, message).label("unknown profile");
        if let Some(near) = profiles::meant(&reference.value) {
            finding = finding.hint(format!("did you mean {}?", quote(near))).fix(
                format!("extend {}", quote(near)),
                at,
                near,
            );
        }
        if finding.fixes.is_empty() {
            finding = finding.hint(format!("known profiles: {}", list(known())));
        }
        cx.sink.push(finding.path(path));
        return Parent::Unavailable;
    }
    match cx.runtime(item, reference, Referrer::Extends, &path) {
        Some(parent) => {
            cx.registry.runtimes[parent].used = true;
            Parent::Runtime(parent)
        }
        None => Parent::Unavailable,
    }
}

/// The id as written, `""` when there is none.
pub(crate) fn written(id: &Field<String>) -> &str {
    match id {
        Field::Value(id) => &id.value,
        Field::Poisoned { raw: Some(raw), .. } => raw,
        _ => "",
    }
}

/// Bytes that all runtimes together may inherit, as [`weight`] counts them. Every runtime of a
/// manifest is complete, so a chain of them repeats the first one over and over; this keeps the
/// whole in proportion to what a machine can hold.
const MAX_INHERITED: usize = 48 << 20;

/// Weight of the built-in values.
const BUILTIN_WEIGHT: usize = 1024;

/// So few runtimes that inherit stay in proportion to what was written, and are not weighed.
const FEW: usize = 8;

/// Roughly the bytes that a runtime takes in a manifest.
fn weight(effective: &Effective) -> usize {
    struct Count(usize);
    impl std::fmt::Write for Count {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = write!(count, "{effective:?}");
    count.0
}

/// What runtimes have inherited so far.
#[derive(Default)]
struct Inherited {
    total: usize,
    /// Runtimes are weighed.
    weighs: bool,
    /// The bound was passed.
    full: bool,
    /// Weights of runtimes that others extend.
    weights: HashMap<usize, usize>,
}

impl Inherited {
    /// Takes the weight of a parent into account; false when the bound is passed.
    fn take(&mut self, parent: Option<(usize, &Effective)>) -> bool {
        let weight = match parent {
            Some(_) if !self.weighs => 0,
            Some((index, effective)) => *self
                .weights
                .entry(index)
                .or_insert_with(|| weight(effective)),
            None => BUILTIN_WEIGHT,
        };
        self.total = self.total.saturating_add(weight);
        self.total <= MAX_INHERITED
    }
}

fn too_large(cx: &mut Context<'_>, index: usize) {
    let node = &cx.registry.runtimes[index];
    let at = super::registry::field_place(node.item, &node.decl.extends);
    let finding = error(
        "shell.manifest_too_large",
        at,
        format!(
            "the runtimes of the document inherit more than {} MiB",
            MAX_INHERITED >> 20
        ),
    )
    .label("this runtime no longer fits")
    .hint("declare fewer runtimes, or extend one that declares less")
    .path(["shell_access", written(&node.decl.id)]);
    cx.sink.push(finding);
}

/// Merges every runtime, parents first. A runtime whose parent is unavailable or part of an
/// `extends` cycle is merged with the defaults, so that its own entries are checked; nothing is
/// concluded from the result.
pub(crate) fn effective(cx: &mut Context<'_>) {
    let count = cx.registry.runtimes.len();
    // 0: not seen, 1: on the current chain, 2: done.
    let mut state = vec![0_u8; count];
    let inherits = cx.registry.runtimes.iter();
    let inherits = inherits.filter(|node| matches!(node.parent, Parent::Runtime(_)));
    let mut inherited = Inherited {
        weighs: inherits.count() > FEW,
        ..Inherited::default()
    };
    for start in 0..count {
        let mut chain = Vec::new();
        let mut next = Some(start);
        while let Some(index) = next {
            match state[index] {
                0 => {
                    state[index] = 1;
                    chain.push(index);
                    next = match cx.registry.runtimes[index].parent {
                        Parent::Runtime(parent) => Some(parent),
                        _ => None,
                    };
                }
                1 => {
                    // A cycle: every runtime of it loses its parent.
                    let from = chain
                        .iter()
                        .rposition(|member| *member == index)
                        .unwrap_or(0);
                    for member in &chain[from..] {
                        cx.registry.runtimes[*member].taint = Taint::ALL;
                    }
                    next = None;
                }
                _ => next = None,
            }
        }
        for index in chain.into_iter().rev() {
            merge_one(cx, index, &mut inherited);
            state[index] = 2;
        }
    }
}

fn merge_one(cx: &mut Context<'_>, index: usize, inherited: &mut Inherited) {
    let parent = match cx.registry.runtimes[index].parent {
        Parent::Runtime(parent) => {
            let node = &cx.registry.runtimes[parent];
            node.effective.clone().map(|effective| (parent, effective))
        }
        _ => None,
    };
    let fits = inherited.take(
        parent
            .as_ref()
            .map(|(index, effective)| (*index, effective.as_ref())),
    );
    if !fits {
        // Reported once; from here on nothing is merged, so nothing grows.
        if !std::mem::replace(&mut inherited.full, true) {
            too_large(cx, index);
        }
        cx.registry.runtimes[index].taint = Taint::ALL;
        return;
    }
    let node = &cx.registry.runtimes[index];
    let (item, decl) = (node.item, node.decl);
    let file = cx.file(item);
    let mut effective = match node.parent {
        Parent::Defaults => Effective::builtin(&CONSERVATIVE, file),
        Parent::Profile(profile) => {
            let mut effective = Effective::builtin(&profile.settings, file);
            effective.extends = vec![profile.versioned.into()];
            effective.profile = decl.extends.value().map(|reference| Profile {
                requested: reference.value.clone(),
                resolved: profile.versioned.to_owned(),
            });
            effective
        }
        Parent::Runtime(parent) => {
            let parent = &cx.registry.runtimes[parent];
            let inherited = parent.effective.clone();
            let (id, taint) = (Arc::<str>::from(parent.id.as_str()), parent.taint);
            let own = &mut cx.registry.runtimes[index].taint;
            *own = own.and(taint);
            match inherited {
                Some(inherited) => {
                    let mut effective = inherited.as_ref().clone();
                    effective.extends.insert(0, id);
                    effective
                }
                None => Effective::builtin(&CONSERVATIVE, file),
            }
        }
        Parent::Unavailable => {
            cx.registry.runtimes[index].taint = Taint::ALL;
            Effective::builtin(&CONSERVATIVE, file)
        }
    };
    let written = written(&decl.id);
    let mut local = Local {
        cx,
        item,
        file,
        runtime: index,
        written,
    };
    merge::runtime(&mut local, &mut effective, decl);
    cx.registry.runtimes[index].effective = Some(Arc::new(effective));
}
