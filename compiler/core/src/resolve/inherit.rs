//! Parents and the order in which runtimes are merged (spec 04 sections 3 and 1 step 6).

use std::sync::Arc;

use super::context::{Context, Referrer};
use super::convert::Local;
use super::effective::Effective;
use super::merge;
use super::profiles::{self, CONSERVATIVE};
use super::reference::BUILTIN;
use super::registry::Parent;
use super::report::{Fill, error, list, nearest, place, quote};
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
        let names = profiles::PROFILES
            .iter()
            .flat_map(|known| [known.name, known.versioned]);
        if let Some(near) = nearest(&reference.value, names) {
            finding = finding.hint(format!("did you mean {}?", quote(near))).fix(
                format!("extend {}", quote(near)),
                at,
                near,
            );
        }
        let finding = finding
            .hint(format!("known profiles: {}", list(known())))
            .path(path);
        cx.sink.push(finding);
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

/// Merges every runtime, parents first. A runtime whose parent is unavailable or part of an
/// `extends` cycle is merged with the defaults, so that its own entries are checked; nothing is
/// concluded from the result.
pub(crate) fn effective(cx: &mut Context<'_>) {
    let count = cx.registry.runtimes.len();
    // 0: not seen, 1: on the current chain, 2: done.
    let mut state = vec![0_u8; count];
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
            merge_one(cx, index);
            state[index] = 2;
        }
    }
}

fn merge_one(cx: &mut Context<'_>, index: usize) {
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
