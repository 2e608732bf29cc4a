//! The document as a whole: rows "hook, script digest, script limits, entry points", "sources
//! digest only, namespaces, dependencies", "features", "moderator_runtime", "platform".

use super::class::Class;
use super::lists::pair;
use super::record::{Record, value};
use crate::manifest::{Dependency, Manifest, Script, Source};

pub(super) fn compare(old: &Manifest, new: &Manifest, record: &mut Record) {
    let Manifest {
        encoding,
        platform,
        sources,
        runtimes: _,
        tools: _,
        moderator_runtime,
        scripts,
        dependencies,
        features,
        binding: _,
    } = old;
    let mut encoding_scope = record.document("encoding");
    encoding_scope.changed("", encoding, &new.encoding, Class::Mixed);
    let mut platform_scope = record.document("platform");
    platform_scope.changed("", platform, &new.platform, Class::Mixed);
    self::sources(sources, &new.sources, record);
    moderator(
        moderator_runtime.as_ref(),
        new.moderator_runtime.as_ref(),
        record,
    );
    self::scripts(scripts, &new.scripts, record);
    self::dependencies(dependencies, &new.dependencies, record);
    let pairs = pair(features, &new.features, String::clone);
    for (key, feature) in pairs.added {
        record
            .document("features")
            .added(&key, feature, Class::Neutral);
    }
    for (key, feature) in pairs.removed {
        record
            .document("features")
            .removed(&key, feature, Class::Neutral);
    }
}

fn sources(old: &[Source], new: &[Source], record: &mut Record) {
    let key = |source: &Source| match &source.namespace {
        Some(namespace) => format!("{} as {namespace} ({})", source.path, source.role.as_str()),
        None => format!("{} ({})", source.path, source.role.as_str()),
    };
    let pairs = pair(old, new, key);
    let mut scope = record.document("sources");
    for (key, source) in pairs.added {
        scope.added(&key, source, Class::Neutral);
    }
    for (key, source) in pairs.removed {
        scope.removed(&key, source, Class::Neutral);
    }
    for (key, old, new) in pairs.kept {
        let Source {
            path: _,
            namespace: _,
            role: _,
            sha256,
        } = old;
        scope
            .at(&key)
            .changed("sha256", sha256, &new.sha256, Class::Neutral);
    }
}

fn moderator(old: Option<&String>, new: Option<&String>, record: &mut Record) {
    let mut scope = record.document("moderator_runtime");
    match (old, new) {
        (None, Some(id)) => scope.added("", id, Class::Widening),
        (Some(id), None) => scope.removed("", id, Class::Narrowing),
        _ => scope.changed("", &old, &new, Class::Mixed),
    }
}

/// A script comes and goes with what refers to it, which says what that means.
fn scripts(old: &[Script], new: &[Script], record: &mut Record) {
    let pairs = pair(old, new, |script| script.id.clone());
    let mut all = record.document("scripts");
    for (id, script) in pairs.added {
        all.added(&id, script, Class::Neutral);
    }
    for (id, script) in pairs.removed {
        all.removed(&id, script, Class::Neutral);
    }
    for (id, old, new) in pairs.kept {
        let Script {
            id: _,
            kind,
            language,
            source,
            sha256,
            surface,
            entrypoints,
            limits,
        } = old;
        let mut scope = all.at(&id);
        scope.changed("kind", kind, &new.kind, Class::Mixed);
        scope.changed("language", language, &new.language, Class::Mixed);
        scope.changed("source", source, &new.source, Class::Neutral);
        scope.changed("sha256", sha256, &new.sha256, Class::Mixed);
        scope.changed("surface", surface, &new.surface, Class::Mixed);
        scope.changed("entrypoints", entrypoints, &new.entrypoints, Class::Mixed);
        scope.changed("limits", limits, &new.limits, Class::Mixed);
    }
}

fn dependencies(old: &[Dependency], new: &[Dependency], record: &mut Record) {
    let key = |edge: &Dependency| {
        let mut key = format!("{} -> {} ({}", edge.from, edge.to, edge.kind.as_str());
        if let Some(via) = &edge.via {
            key.push_str(", ");
            key.push_str(via);
        }
        key.push(')');
        key
    };
    let pairs = pair(old, new, key);
    let mut scope = record.document("dependencies");
    for (key, edge) in pairs.added {
        scope.added(&key, &value(edge), Class::Neutral);
    }
    for (key, edge) in pairs.removed {
        scope.removed(&key, &value(edge), Class::Neutral);
    }
}
