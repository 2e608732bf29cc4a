//! Read and write roots: row "read, write roots".

use std::collections::{HashMap, HashSet};

use super::class::Class;
use super::lists::pair;
use super::record::{Scope, path_text, root_text, value};
use crate::manifest::{Binding, BoundRoots, Capabilities, PathBase, Root};

/// Compares the roots of a runtime. `bound` holds its resolved roots and the new binding, when
/// both manifests are bound: then the resolved roots decide.
pub(super) fn compare(
    old: &Capabilities,
    new: &Capabilities,
    bound: Option<(&BoundRoots, &BoundRoots, &Binding)>,
    scope: &mut Scope<'_>,
) {
    let before = Covered::symbolic(old);
    for (member, old, new, writes) in [
        ("read", &old.read, &new.read, false),
        ("write", &old.write, &new.write, true),
    ] {
        optional(member, old, new, scope);
        let Some((old_bound, new_bound, binding)) = bound else {
            symbolic(member, old, new, writes, &before, scope);
            continue;
        };
        let (old_paths, new_paths) = if writes {
            (&old_bound.write, &new_bound.write)
        } else {
            (&old_bound.read, &new_bound.read)
        };
        resolved(member, old_paths, new_paths, writes, old_bound, scope);
        unset(member, old, new, binding, scope);
        if old_paths == new_paths && value(old) != value(new) {
            // The same directories by other names.
            scope.at(member).changed("", old, new, Class::Neutral);
        }
    }
}

/// A variable that may be missing now lets a runtime start that could not.
fn optional(member: &str, old: &[Root], new: &[Root], scope: &mut Scope<'_>) {
    for (key, old, new) in pair(old, new, root_text).kept {
        if let (Root::PathEnv { optional: old, .. }, Root::PathEnv { optional: new, .. }) =
            (old, new)
        {
            scope
                .at(member)
                .stepped(&format!("{key}.optional"), old, new, |optional| *optional);
        }
    }
}

fn symbolic(
    member: &str,
    old: &[Root],
    new: &[Root],
    writes: bool,
    before: &Covered,
    scope: &mut Scope<'_>,
) {
    let pairs = pair(old, new, root_text);
    let quiet = pairs.added.is_empty() && pairs.removed.is_empty();
    let mut scope = scope.at(member);
    for (key, root) in pairs.added {
        let (area, path) = area(root);
        let class = if before.covers(&area, path, writes) {
            Class::Neutral
        } else {
            Class::Widening
        };
        scope.added(&key, root, class);
    }
    for (key, root) in pairs.removed {
        scope.removed(&key, root, Class::Narrowing);
    }
    if quiet && pairs.reordered {
        scope.changed("order", old, new, Class::Neutral);
    }
}

fn resolved(
    member: &str,
    old: &[String],
    new: &[String],
    writes: bool,
    before: &BoundRoots,
    scope: &mut Scope<'_>,
) {
    let before = Covered::resolved(before);
    let pairs = pair(old, new, String::clone);
    let quiet = pairs.added.is_empty() && pairs.removed.is_empty();
    let mut scope = scope.at(member);
    for (key, root) in pairs.added {
        let class = if before.covers("", root, writes) {
            Class::Neutral
        } else {
            Class::Widening
        };
        scope.added(&key, root, class);
    }
    for (key, root) in pairs.removed {
        scope.removed(&key, root, Class::Narrowing);
    }
    if quiet && pairs.reordered {
        scope.changed("order", old, new, Class::Neutral);
    }
}

/// A variable without a value here resolves to nothing, but is asked for all the same.
fn unset(member: &str, old: &[Root], new: &[Root], binding: &Binding, scope: &mut Scope<'_>) {
    for (key, root) in pair(old, new, root_text).added {
        if let Root::PathEnv { name, .. } = root
            && matches!(binding.path_env.get(name), None | Some(None))
        {
            scope.at(member).added(&key, root, Class::Widening);
        }
    }
}

/// Roots of the old manifest by area. Paths of one area can be compared with each other.
#[derive(Default)]
struct Covered {
    read: HashSet<(String, String)>,
    write: HashSet<(String, String)>,
}

impl Covered {
    fn symbolic(capabilities: &Capabilities) -> Self {
        let set = |roots: &[Root]| {
            roots
                .iter()
                .map(|root| {
                    let (area, path) = area(root);
                    (area, path.to_owned())
                })
                .collect()
        };
        Self {
            read: set(&capabilities.read),
            write: set(&capabilities.write),
        }
    }

    fn resolved(roots: &BoundRoots) -> Self {
        let set = |paths: &[String]| {
            paths
                .iter()
                .map(|path| (String::new(), path.clone()))
                .collect()
        };
        Self {
            read: set(&roots.read),
            write: set(&roots.write),
        }
    }

    /// Whether a root of the same or a stronger kind contains the path. A write root also permits
    /// reading.
    fn covers(&self, area: &str, path: &str, writes: bool) -> bool {
        contains(&self.write, area, path) || (!writes && contains(&self.read, area, path))
    }
}

/// The area of a root and its path there.
fn area(root: &Root) -> (String, &str) {
    match root {
        Root::PathEnv { name, .. } => (format!("env {name}"), ""),
        Root::Path { path } if path.base == PathBase::Absolute => (String::new(), &path.path),
        Root::Path { path } => {
            let mut base = path.clone();
            base.path = String::new();
            (path_text(&base), &path.path)
        }
    }
}

fn contains(roots: &HashSet<(String, String)>, area: &str, path: &str) -> bool {
    let has = |area: &str, path: &str| roots.contains(&(area.to_owned(), path.to_owned()));
    // Everything lies below the root of the file system.
    if has("", "/") || has(area, path) {
        return true;
    }
    let mut inner = path;
    while let Some((outer, step)) = inner.rsplit_once('/') {
        if step == ".." {
            // Where `..` leads is not known before links are resolved.
            return false;
        }
        if !outer.is_empty() && has(area, outer) {
            return true;
        }
        inner = outer;
    }
    inner != ".." && !inner.is_empty() && has(area, "")
}

/// Resolved roots of a binding by runtime.
pub(super) fn by_runtime(binding: &Binding) -> HashMap<&str, &BoundRoots> {
    let roots = binding.roots.iter();
    roots.map(|roots| (roots.runtime.as_str(), roots)).collect()
}
