//! Backends: row "backends".

use std::cell::RefCell;
use std::collections::HashMap;

use super::class::Class;
use super::lists::pair;
use super::record::Scope;
use super::runtime::pin;
use crate::manifest::{Backend, Backends, Confinement, DevMode, Sandbox, When};

/// Compares backends; `sandbox` is the requirement of the new manifest.
pub(super) fn compare(old: &Backends, new: &Backends, sandbox: Sandbox, scope: &mut Scope<'_>) {
    let Backends {
        accept_declared_confinement,
        entries,
    } = old;
    scope.stepped(
        "accept_declared_confinement",
        accept_declared_confinement,
        &new.accept_declared_confinement,
        |accepted| *accepted,
    );
    let (old_keys, new_keys) = (Keys::default(), Keys::default());
    let old_entries: Vec<Keyed<'_>> = entries.iter().map(|entry| old_keys.key(entry)).collect();
    let new_entries: Vec<Keyed<'_>> = new
        .entries
        .iter()
        .map(|entry| new_keys.key(entry))
        .collect();
    let pairs = pair(&old_entries, &new_entries, |entry| entry.key.clone());
    let mut scope = scope.at("entries");
    for (key, entry) in pairs.added {
        let class = if confines(entry.backend) {
            Class::Neutral
        } else {
            Class::Widening
        };
        scope.added(&key, entry.backend, class);
    }
    for (key, entry) in pairs.removed {
        scope.removed(&key, entry.backend, removed(entry.backend, sandbox));
    }
    for (key, old, new) in pairs.kept {
        one(old.backend, new.backend, &mut scope.at(&key));
    }
    if pairs.reordered {
        scope.changed("order", entries, &new.entries, Class::Mixed);
    }
}

/// Whether it is a sandbox that this toolchain drives itself.
fn confines(backend: &Backend) -> bool {
    matches!(
        backend,
        Backend::Seatbelt { .. } | Backend::Bubblewrap { .. }
    )
}

fn removed(backend: &Backend, sandbox: Sandbox) -> Class {
    match backend {
        Backend::Direct { .. } => Class::Narrowing,
        // Where a sandbox is only preferred, what ran confined may now run without.
        _ if sandbox != Sandbox::Required => Class::Mixed,
        Backend::External { .. } => Class::Narrowing,
        Backend::Seatbelt { .. } | Backend::Bubblewrap { .. } => Class::Neutral,
    }
}

struct Keyed<'a> {
    key: String,
    backend: &'a Backend,
}

/// Keys of entries: kind and id, or kind and number among those without id. Content would not do:
/// an unnamed sandbox with a looser option would be one sandbox less and one more.
#[derive(Default)]
struct Keys {
    unnamed: RefCell<HashMap<&'static str, usize>>,
}

impl Keys {
    fn key<'a>(&self, backend: &'a Backend) -> Keyed<'a> {
        let (kind, id) = match backend {
            Backend::Seatbelt { id, .. } => ("seatbelt", id),
            Backend::Bubblewrap { id, .. } => ("bubblewrap", id),
            Backend::Direct { id, .. } => ("direct", id),
            Backend::External { id, .. } => ("external", id),
        };
        let key = match id {
            Some(id) => format!("{kind} {id}"),
            None => {
                let mut unnamed = self.unnamed.borrow_mut();
                let count = unnamed.entry(kind).or_insert(0);
                *count += 1;
                format!("{kind} number {count}")
            }
        };
        Keyed { key, backend }
    }
}

fn one(old: &Backend, new: &Backend, scope: &mut Scope<'_>) {
    match (old, new) {
        (
            Backend::Seatbelt {
                id: _,
                when,
                executable,
                allow_system_reads,
            },
            Backend::Seatbelt {
                when: new_when,
                executable: new_executable,
                allow_system_reads: new_reads,
                ..
            },
        ) => {
            self::when(*when, *new_when, scope);
            scope.changed("executable", executable, new_executable, Class::Mixed);
            scope.stepped("allow_system_reads", allow_system_reads, new_reads, |on| {
                *on
            });
        }
        (
            Backend::Bubblewrap {
                id: _,
                when,
                executable,
                private_tmp,
                proc,
                dev,
            },
            Backend::Bubblewrap {
                when: new_when,
                executable: new_executable,
                private_tmp: new_tmp,
                proc: new_proc,
                dev: new_dev,
                ..
            },
        ) => {
            self::when(*when, *new_when, scope);
            scope.changed("executable", executable, new_executable, Class::Mixed);
            scope.stepped("private_tmp", private_tmp, new_tmp, |on| !on);
            scope.stepped("proc", proc, new_proc, |on| *on);
            scope.stepped("dev", dev, new_dev, |mode| match mode {
                DevMode::None => 0,
                DevMode::Minimal => 1,
            });
        }
        (Backend::Direct { id: _, when }, Backend::Direct { when: new_when, .. }) => {
            self::when(*when, *new_when, scope);
        }
        (Backend::External { .. }, Backend::External { .. }) => external(old, new, scope),
        // The key names the kind, so both are of one kind.
        _ => scope.changed("", old, new, Class::Mixed),
    }
}

fn external(old: &Backend, new: &Backend, scope: &mut Scope<'_>) {
    let (
        Backend::External {
            id: _,
            when,
            executable,
            sha256,
            confinement,
            atoms,
        },
        Backend::External {
            when: new_when,
            executable: new_executable,
            sha256: new_sha256,
            confinement: new_confinement,
            atoms: new_atoms,
            ..
        },
    ) = (old, new)
    else {
        return;
    };
    self::when(*when, *new_when, scope);
    scope.changed("executable", executable, new_executable, Class::Mixed);
    pin("sha256", sha256.as_ref(), new_sha256.as_ref(), scope);
    let claim: (&Confinement, &Confinement) = (confinement, new_confinement);
    scope.changed("confinement", claim.0, claim.1, Class::Mixed);
    scope.changed("atoms", atoms, new_atoms, Class::Mixed);
}

/// Only backends of the target platform are in a manifest: the word has no further effect.
fn when(old: When, new: When, scope: &mut Scope<'_>) {
    scope.changed("when", &old, &new, Class::Neutral);
}
