//! Runtimes: identity, capabilities, resolver, limits.

use std::collections::HashMap;

use super::class::Class;
use super::lists::pair;
use super::record::{Record, Scope, path_text};
use super::{backends, environment, extensions, policy, roots, safeguards};
use crate::manifest::{
    BoundRoots, Capabilities, Executable, Limits, Manifest, Profile, Resolver, Runtime, Sandbox,
};

pub(super) fn compare(old: &Manifest, new: &Manifest, bound: bool, record: &mut Record) {
    let resolved = |manifest: &'_ Manifest| -> HashMap<String, BoundRoots> {
        let binding = manifest.binding.as_ref().filter(|_| bound);
        let all = binding.map(roots::by_runtime).unwrap_or_default();
        all.into_iter()
            .map(|(id, roots)| (id.to_owned(), roots.clone()))
            .collect()
    };
    let (old_roots, new_roots) = (resolved(old), resolved(new));
    let pairs = pair(&old.runtimes, &new.runtimes, |runtime| runtime.id.clone());
    for (id, runtime) in pairs.removed {
        record.runtime(&id).removed("", runtime, Class::Narrowing);
    }
    for (id, runtime) in pairs.added {
        record.runtime(&id).added("", runtime, Class::Widening);
    }
    for (id, old, new_runtime) in pairs.kept {
        let binding = new.binding.as_ref();
        let bound = match (old_roots.get(&id), new_roots.get(&id), binding) {
            (Some(before), Some(after), Some(binding)) => Some((before, after, binding)),
            _ => None,
        };
        let mut scope = record.runtime(&id);
        roots::compare(
            &old.capabilities,
            &new_runtime.capabilities,
            bound,
            &mut scope.at("capabilities"),
        );
        one(old, new_runtime, &mut scope);
    }
}

fn one(old: &Runtime, new: &Runtime, scope: &mut Scope<'_>) {
    let Runtime {
        id: _,
        source,
        extends,
        profile,
        cwd,
        pipefail,
        capabilities,
        resolver,
        environment,
        limits,
        backends,
        policy,
        approvals,
        reviewers,
        interceptors,
        effect_analyzers,
        secrets,
        audit,
    } = old;
    scope.changed("source", source, &new.source, Class::Neutral);
    // Effective values are compared, so what they were inherited from is identity.
    scope.changed("extends", extends, &new.extends, Class::Neutral);
    self::profile(profile.as_ref(), new.profile.as_ref(), scope);
    scope.changed("cwd", cwd, &new.cwd, Class::Mixed);
    scope.changed("pipefail", pipefail, &new.pipefail, Class::Mixed);
    powers(
        capabilities,
        &new.capabilities,
        &mut scope.at("capabilities"),
    );
    self::resolver(resolver, &new.resolver, &mut scope.at("resolver"));
    environment::compare(environment, &new.environment, &mut scope.at("environment"));
    self::limits(limits, &new.limits, &mut scope.at("limits"));
    backends::compare(
        backends,
        &new.backends,
        new.capabilities.sandbox,
        &mut scope.at("backends"),
    );
    policy::compare(policy, &new.policy, &mut scope.at("policy"));
    policy::approvals(approvals, &new.approvals, &mut scope.at("approvals"));
    extensions::reviewers(reviewers, &new.reviewers, &mut scope.at("reviewers"));
    extensions::interceptors(
        interceptors,
        &new.interceptors,
        &mut scope.at("interceptors"),
    );
    extensions::analyzers(
        effect_analyzers,
        &new.effect_analyzers,
        &mut scope.at("effect_analyzers"),
    );
    safeguards::secrets(secrets, &new.secrets, &mut scope.at("secrets"));
    safeguards::audit(audit, &new.audit, &mut scope.at("audit"));
}

/// Row "profile resolved version".
fn profile(old: Option<&Profile>, new: Option<&Profile>, scope: &mut Scope<'_>) {
    let resolved = |profile: Option<&Profile>| profile.map(|profile| profile.resolved.clone());
    let requested = |profile: Option<&Profile>| profile.map(|profile| profile.requested.clone());
    let mut scope = scope.at("profile");
    scope.changed("resolved", &resolved(old), &resolved(new), Class::Mixed);
    scope.changed(
        "requested",
        &requested(old),
        &requested(new),
        Class::Neutral,
    );
}

/// Rows "sandbox" and "network, child_processes, arbitrary_code, privilege_change". The roots are
/// compared in [`roots`].
fn powers(old: &Capabilities, new: &Capabilities, scope: &mut Scope<'_>) {
    let Capabilities {
        sandbox,
        network,
        child_processes,
        arbitrary_code,
        privilege_change,
        read: _,
        write: _,
    } = old;
    scope.stepped("sandbox", sandbox, &new.sandbox, |mode| match mode {
        Sandbox::Required => 0,
        Sandbox::Preferred => 1,
        Sandbox::DirectUnsafe => 2,
    });
    for (member, old, new) in [
        ("network", network, &new.network),
        ("child_processes", child_processes, &new.child_processes),
        ("arbitrary_code", arbitrary_code, &new.arbitrary_code),
        ("privilege_change", privilege_change, &new.privilege_change),
    ] {
        scope.stepped(member, old, new, |allowed| *allowed);
    }
}

/// Rows "search_path", "trusted_roots", "executables", "allow_relative_search_path".
fn resolver(old: &Resolver, new: &Resolver, scope: &mut Scope<'_>) {
    let Resolver {
        search_path,
        trusted_roots,
        executables,
        allow_relative_search_path,
    } = old;
    scope.changed("search_path", search_path, &new.search_path, Class::Mixed);
    let pairs = pair(trusted_roots, &new.trusted_roots, path_text);
    for (key, path) in pairs.added {
        scope.at("trusted_roots").added(&key, path, Class::Widening);
    }
    for (key, path) in pairs.removed {
        scope
            .at("trusted_roots")
            .removed(&key, path, Class::Narrowing);
    }
    let pairs = pair(executables, &new.executables, |entry| entry.id.clone());
    for (id, entry) in pairs.added {
        scope.at("executables").added(&id, entry, Class::Widening);
    }
    for (id, entry) in pairs.removed {
        scope
            .at("executables")
            .removed(&id, entry, Class::Narrowing);
    }
    for (id, old, new) in pairs.kept {
        executable(old, new, &mut scope.at("executables").at(&id));
    }
    scope.stepped(
        "allow_relative_search_path",
        allow_relative_search_path,
        &new.allow_relative_search_path,
        |allowed| *allowed,
    );
}

fn executable(old: &Executable, new: &Executable, scope: &mut Scope<'_>) {
    let Executable {
        id: _,
        path,
        sha256,
        trusted,
    } = old;
    scope.changed("path", path, &new.path, Class::Mixed);
    pin("sha256", sha256.as_ref(), new.sha256.as_ref(), scope);
    scope.stepped("trusted", trusted, &new.trusted, |trusted| *trusted);
}

/// A digest that a file must have.
pub(super) fn pin(member: &str, old: Option<&String>, new: Option<&String>, scope: &mut Scope<'_>) {
    let class = match (old, new) {
        (Some(_), None) => Class::Widening,
        (None, Some(_)) => Class::Narrowing,
        _ => Class::Mixed,
    };
    scope.changed(member, &old, &new, class);
}

/// Row "limits": absence is unlimited, so it is more than any number.
fn limits(old: &Limits, new: &Limits, scope: &mut Scope<'_>) {
    let Limits {
        wall_time_ms,
        idle_time_ms,
        max_stdin_bytes,
        stdout_bytes,
        stderr_bytes,
        total_output_bytes,
        cpu_time_ms,
        memory_bytes,
        file_size_bytes,
        open_files,
    } = old;
    for (member, old, new) in [
        ("wall_time_ms", wall_time_ms, new.wall_time_ms),
        ("max_stdin_bytes", max_stdin_bytes, new.max_stdin_bytes),
        ("stdout_bytes", stdout_bytes, new.stdout_bytes),
        ("stderr_bytes", stderr_bytes, new.stderr_bytes),
        (
            "total_output_bytes",
            total_output_bytes,
            new.total_output_bytes,
        ),
    ] {
        scope.stepped(member, old, &new, |limit| *limit);
    }
    for (member, old, new) in [
        ("idle_time_ms", idle_time_ms, new.idle_time_ms),
        ("cpu_time_ms", cpu_time_ms, new.cpu_time_ms),
        ("memory_bytes", memory_bytes, new.memory_bytes),
        ("file_size_bytes", file_size_bytes, new.file_size_bytes),
        ("open_files", open_files, new.open_files),
    ] {
        scope.stepped(member, old, &new, |limit| (limit.is_none(), *limit));
    }
}
