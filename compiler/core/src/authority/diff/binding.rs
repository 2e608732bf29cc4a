//! Values of this machine: row "binding variables, source_dirs, path_env, files digests".

use std::collections::BTreeMap;

use serde::Serialize;

use super::class::Class;
use super::lists::pair;
use super::record::{Record, Scope};
use crate::manifest::{Binding, BoundFile, Manifest};

pub(super) fn compare(old: &Manifest, new: &Manifest, record: &mut Record) {
    let (Some(old), Some(new)) = (&old.binding, &new.binding) else {
        return;
    };
    let Binding {
        variables,
        source_dirs,
        path_env,
        roots: _,
        files,
    } = old;
    let mut scope = record.document("binding");
    map(variables, &new.variables, &mut scope.at("variables"));
    map(source_dirs, &new.source_dirs, &mut scope.at("source_dirs"));
    map(path_env, &new.path_env, &mut scope.at("path_env"));
    let key = |file: &BoundFile| format!("{} {}", file.owner, file.role.as_str());
    let pairs = pair(files, &new.files, key);
    let mut scope = scope.at("files");
    for (key, file) in pairs.added {
        scope.added(&key, file, Class::Neutral);
    }
    for (key, file) in pairs.removed {
        scope.removed(&key, file, Class::Neutral);
    }
    for (key, old, new) in pairs.kept {
        let BoundFile {
            owner: _,
            role: _,
            path,
            sha256,
        } = old;
        let mut scope = scope.at(&key);
        scope.changed("path", path, &new.path, Class::Mixed);
        scope.changed("sha256", sha256, &new.sha256, Class::Mixed);
    }
}

/// What is bound comes and goes with the declaration that uses it; only another value is news.
fn map<T: Serialize + PartialEq>(
    old: &BTreeMap<String, T>,
    new: &BTreeMap<String, T>,
    scope: &mut Scope<'_>,
) {
    for (name, value) in old {
        match new.get(name) {
            Some(other) => scope.changed(name, value, other, Class::Mixed),
            None => scope.removed(name, value, Class::Neutral),
        }
    }
    for (name, value) in new {
        if !old.contains_key(name) {
            scope.added(name, value, Class::Neutral);
        }
    }
}
