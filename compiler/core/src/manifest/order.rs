//! The canonical order of the collections that are sets (spec 04 section 8.1).

use super::{Executable, Manifest, Path, writer};

/// Canonical bytes of a path: the sort key of trusted roots.
fn path_key(path: &Path) -> Vec<u8> {
    // A path has strings and null only, so it always has a canonical form.
    writer::canonical(path).unwrap_or_default()
}

/// Sorts trusted roots and drops repetitions.
pub(crate) fn trusted_roots(roots: &mut Vec<Path>) {
    roots.sort_by_cached_key(path_key);
    roots.dedup();
}

/// Sorts declared executables by id.
pub(crate) fn executables(executables: &mut [Executable]) {
    executables.sort_by(|left, right| left.id.cmp(&right.id));
}

/// Sorts and deduplicates every set of the payload.
pub(crate) fn normalise(manifest: &mut Manifest) {
    manifest.sources.sort();
    manifest.sources.dedup();
    manifest
        .runtimes
        .sort_by(|left, right| left.id.cmp(&right.id));
    for runtime in &mut manifest.runtimes {
        trusted_roots(&mut runtime.resolver.trusted_roots);
        executables(&mut runtime.resolver.executables);
        runtime.approvals.scopes.sort();
        runtime.approvals.scopes.dedup();
    }
    manifest
        .tools
        .sort_by(|left, right| left.name.cmp(&right.name));
    manifest
        .scripts
        .sort_by(|left, right| left.id.cmp(&right.id));
    for script in &mut manifest.scripts {
        script.entrypoints.sort();
        script.entrypoints.dedup();
    }
    manifest
        .dependencies
        .sort_by(|left, right| dependency_key(left).cmp(&dependency_key(right)));
    manifest.dependencies.dedup();
    manifest.features.sort();
    manifest.features.dedup();
    if let Some(binding) = &mut manifest.binding {
        binding
            .roots
            .sort_by(|left, right| left.runtime.cmp(&right.runtime));
        binding
            .files
            .sort_by(|left, right| file_key(left).cmp(&file_key(right)));
        binding.files.dedup();
    }
}

fn dependency_key(edge: &super::Dependency) -> (&str, &str, &'static str, Option<&str>) {
    (
        &edge.from,
        &edge.to,
        edge.kind.as_str(),
        edge.via.as_deref(),
    )
}

fn file_key(file: &super::BoundFile) -> (&str, &'static str, &str) {
    (&file.owner, file.role.as_str(), &file.path)
}

/// Names the first collection that is not in canonical order.
pub(crate) fn check(manifest: &Manifest) -> Result<(), &'static str> {
    let mut sorted = manifest.clone();
    normalise(&mut sorted);
    let same: [(&'static str, bool); 6] = [
        ("sources", sorted.sources == manifest.sources),
        ("runtimes", sorted.runtimes == manifest.runtimes),
        ("tools", sorted.tools == manifest.tools),
        ("scripts", sorted.scripts == manifest.scripts),
        ("dependencies", sorted.dependencies == manifest.dependencies),
        ("features", sorted.features == manifest.features),
    ];
    if let Some((name, _)) = same.iter().find(|(_, equal)| !equal) {
        return Err(name);
    }
    if sorted.binding == manifest.binding {
        Ok(())
    } else {
        Err("binding")
    }
}
