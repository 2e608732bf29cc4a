//! How lists are merged: unions, and named entries with `override`.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use super::super::convert::Local;
use super::super::effective::Entry;
use super::super::report::{Fill, error, quote, warning};
use super::super::taint::Taint;
use crate::decl::{Merge, Sp};

pub(super) fn set<T: Clone>(target: &mut T, declared: &Option<Sp<T>>) {
    if let Some(declared) = declared {
        *target = declared.value.clone();
    }
}

/// Adds to a list whose first occurrences are kept.
pub(super) fn union<T: Eq + Hash>(list: &mut Vec<Arc<T>>, merge: Merge, declared: Vec<T>) {
    if merge == Merge::Replace {
        list.clear();
    }
    let mut seen: HashSet<Arc<T>> = list.iter().cloned().collect();
    for value in declared {
        let value = Arc::new(value);
        if seen.insert(value.clone()) {
            list.push(value);
        }
    }
}

/// What the list is called, and whether an entry may replace an inherited one.
pub(super) struct Section {
    /// Section element.
    pub(super) section: &'static str,
    /// Entry element.
    pub(super) entry: &'static str,
    pub(super) overridable: bool,
}

/// Adds named entries. `declared` holds each entry with its `override` flag.
pub(super) fn named<T>(
    local: &mut Local<'_, '_>,
    list: &mut Vec<Entry<T>>,
    merge: Merge,
    declared: Vec<(Entry<T>, bool)>,
    section: &Section,
) {
    if merge == Merge::Replace {
        list.clear();
    }
    // Position of each id and whether the entry is inherited.
    let mut known: HashMap<Arc<str>, (usize, bool)> = list
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| Some((entry.id.clone()?, (index, true))))
        .collect();
    for (entry, overrides) in declared {
        let Some(id) = entry.id.clone() else {
            list.push(entry);
            continue;
        };
        match known.get(&id).copied() {
            Some((index, true)) if overrides && section.overridable => {
                known.insert(id, (index, false));
                list[index] = entry;
            }
            Some((index, inherited)) => {
                collision(local, &entry, &list[index], inherited, section);
            }
            None => {
                if overrides {
                    nothing_to_override(local, &entry, &id, section);
                }
                known.insert(id, (list.len(), false));
                list.push(entry);
            }
        }
    }
}

fn collision<T>(
    local: &mut Local<'_, '_>,
    entry: &Entry<T>,
    earlier: &Entry<T>,
    inherited: bool,
    section: &Section,
) {
    let (Some(at), Some(id)) = (entry.at, &entry.id) else {
        return;
    };
    let message = format!(
        "{} {} exists already in this list",
        section.entry,
        quote(id)
    );
    let mut finding = error("shell.duplicate_named_entry", at, message).label("id used again here");
    finding = match (inherited, earlier.at) {
        (true, Some(place)) => finding.also(Some(place), "inherited from here"),
        (true, None) => finding.hint("the other one comes from a built-in profile or default"),
        (false, place) => finding.also(place, "first used here"),
    };
    finding = match (inherited, section.overridable) {
        (true, true) => finding.hint("add `override=\"true\"` to replace the inherited entry"),
        (true, false) => finding.hint(format!(
            "rename it, or write `merge=\"replace\"` on `{}` to drop the inherited entries",
            section.section
        )),
        (false, _) => finding.hint("rename one of them"),
    };
    let path = [
        "shell_access",
        local.written,
        section.section,
        section.entry,
        id,
    ];
    let finding = finding.path(path).runtime(local.id());
    local.cx.sink.push(finding);
}

fn nothing_to_override<T>(
    local: &mut Local<'_, '_>,
    entry: &Entry<T>,
    id: &str,
    section: &Section,
) {
    let Some(at) = entry.at else { return };
    // Only entries of `resolver` and `policy` have `override`.
    if local.tainted(Taint::RESOLVER.and(Taint::POLICY)) {
        return;
    }
    let message = format!("no inherited {} has the id {}", section.entry, quote(id));
    let finding = warning("shell.override_without_target", at, message)
        .label("nothing to override")
        .hint("remove `override`, or correct the id")
        .path([
            "shell_access",
            local.written,
            section.section,
            section.entry,
            id,
        ])
        .runtime(local.id());
    local.cx.sink.push(finding);
}

impl Local<'_, '_> {
    /// Qualified id of the runtime; the id as written when that is unusable.
    pub(super) fn id(&self) -> String {
        let id = &self.cx.registry.runtimes[self.runtime].id;
        if id.is_empty() {
            self.written.to_owned()
        } else {
            id.clone()
        }
    }

    pub(super) fn tainted(&self, sections: Taint) -> bool {
        self.cx.registry.runtimes[self.runtime]
            .taint
            .touches(sections)
    }

    pub(super) fn entry<T>(&self, id: &Sp<String>, value: Option<T>) -> Entry<T> {
        Entry {
            id: Some(id.value.as_str().into()),
            at: Some(self.place(id.span)),
            worker_at: None,
            value: value.map(Arc::new),
        }
    }
}
