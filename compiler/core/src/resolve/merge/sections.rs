//! Sections without scripts, programs or references.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::convert::Local;
use super::super::effective::{At, Effective, Entry, Secret};
use super::super::report::{Fill, error, quote, warning};
use super::super::taint::Taint;
use super::lists::{Section, named, set, union};
use crate::decl::{
    ApprovalsDecl, BackendKindDecl, BackendsDecl, CapabilitiesDecl, EnvOpDecl, EnvironmentDecl,
    LimitsDecl, Merge, PathExpr, ResolverDecl, RootDecl, SecretDecl, SecretsDecl, Sp,
};
use crate::manifest::{Backend, EnvOp, Executable, SecretSource, When};

pub(super) fn capabilities(
    local: &Local<'_, '_>,
    effective: &mut Effective,
    decl: &CapabilitiesDecl,
) {
    if let Some(sandbox) = &decl.sandbox {
        effective.sandbox = At {
            value: sandbox.value,
            at: Some(local.place(sandbox.span)),
        };
    }
    set(&mut effective.network, &decl.network);
    set(&mut effective.child_processes, &decl.child_processes);
    set(&mut effective.arbitrary_code, &decl.arbitrary_code);
    set(&mut effective.privilege_change, &decl.privilege_change);
    let roots = |roots: &[Sp<RootDecl>]| {
        roots
            .iter()
            .map(|root| local.root(&root.value))
            .collect::<Vec<_>>()
    };
    union(&mut effective.read, decl.merge, roots(&decl.read));
    union(&mut effective.write, decl.merge, roots(&decl.write));
}

pub(super) fn resolver(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &ResolverDecl) {
    set(
        &mut effective.allow_relative_search_path,
        &decl.allow_relative_search_path,
    );
    let paths = |paths: &[Sp<PathExpr>]| {
        paths
            .iter()
            .map(|path| local.path(&path.value))
            .collect::<Vec<_>>()
    };
    let (search_path, trusted_roots) = (paths(&decl.search_path), paths(&decl.trusted_roots));
    union(&mut effective.search_path, decl.merge, search_path);
    union(&mut effective.trusted_roots, decl.merge, trusted_roots);
    let executables = decl
        .executables
        .iter()
        .map(|executable| {
            let value = Executable {
                id: executable.id.value.clone(),
                path: local.path(&executable.path.value),
                sha256: executable.sha256.as_ref().map(|pin| pin.value.clone()),
                trusted: executable.trusted,
            };
            (
                local.entry(&executable.id, Some(value)),
                executable.overrides,
            )
        })
        .collect();
    let section = Section {
        section: "resolver",
        entry: "executable",
        overridable: true,
    };
    named(
        local,
        &mut effective.executables,
        decl.merge,
        executables,
        &section,
    );
    relative_paths(local, effective.allow_relative_search_path, decl);
    if decl.merge == Merge::Replace
        && effective.search_path.is_empty()
        && !local.tainted(Taint::RESOLVER)
    {
        let at = local.place(decl.name);
        let finding = warning(
            "shell.search_path_cleared",
            at,
            "the search path is empty now, so programs are looked up in the `PATH` of the process",
        )
        .label("replaces the inherited search path by nothing")
        .hint("list the directories with `<search_path path=\"…\"/>`")
        .path(["shell_access", local.written, "resolver"])
        .runtime(local.id());
        local.cx.sink.push(finding);
    }
}

/// Relative literals in the search path; as trusted roots they are refused by lowering.
pub(super) fn relative_paths(local: &mut Local<'_, '_>, allowed: bool, decl: &ResolverDecl) {
    if allowed {
        return;
    }
    for path in decl
        .search_path
        .iter()
        .filter(|path| path.value.relative_literal)
    {
        let message = format!("search path {} is relative", quote(&path.value.path));
        let finding = error(
            "shell.relative_search_path",
            local.place(path.span),
            message,
        )
        .label("where it leads depends on the file that declares it")
        .hint("start it with `/` or with a variable such as `${workspace}`")
        .hint("or set `allow_relative_search_path=\"true\"` on `resolver`")
        .path([
            "shell_access",
            local.written,
            "resolver",
            "search_path",
            "path",
        ])
        .runtime(local.id());
        local.cx.sink.push(finding);
    }
}

pub(super) fn environment(
    local: &Local<'_, '_>,
    effective: &mut Effective,
    decl: &EnvironmentDecl,
) {
    set(&mut effective.inherit, &decl.inherit);
    if decl.merge == Merge::Replace {
        effective.operations.clear();
    }
    for operation in &decl.operations {
        let value = match operation.value.clone() {
            EnvOpDecl::Set { name, value } => EnvOp::Set { name, value },
            EnvOpDecl::Pass {
                name,
                required,
                secret,
            } => EnvOp::Pass {
                name,
                required,
                secret,
            },
            EnvOpDecl::Unset { name } => EnvOp::Unset { name },
            EnvOpDecl::UnsetPrefix { prefix } => EnvOp::UnsetPrefix { prefix },
            EnvOpDecl::Path { position, path } => EnvOp::Path {
                position,
                path: local.path(&path),
            },
            EnvOpDecl::PathEnv {
                name,
                suffix,
                position,
                required,
            } => EnvOp::PathEnv {
                name,
                suffix,
                position,
                required,
            },
        };
        effective.operations.push(Arc::new(value));
    }
}

pub(super) fn limits(effective: &mut Effective, decl: &LimitsDecl) {
    let limits = &mut effective.limits;
    set(&mut limits.wall_time_ms, &decl.wall_time);
    set(&mut limits.idle_time_ms, &decl.idle_time);
    set(&mut limits.max_stdin_bytes, &decl.max_stdin);
    set(&mut limits.stdout_bytes, &decl.stdout);
    set(&mut limits.stderr_bytes, &decl.stderr);
    set(&mut limits.total_output_bytes, &decl.total_output);
    set(&mut limits.cpu_time_ms, &decl.cpu_time);
    set(&mut limits.memory_bytes, &decl.memory);
    set(&mut limits.file_size_bytes, &decl.file_size);
    set(&mut limits.open_files, &decl.open_files);
}

pub(super) fn backends(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &BackendsDecl) {
    set(
        &mut effective.accept_declared_confinement,
        &decl.accept_declared_confinement,
    );
    let entries = decl
        .entries
        .iter()
        .map(|backend| {
            let id = backend.id.as_ref().map(|id| id.value.clone());
            let optional =
                |path: &Option<Sp<PathExpr>>| path.as_ref().map(|path| local.path(&path.value));
            let value = match &backend.kind {
                BackendKindDecl::Seatbelt {
                    executable,
                    allow_system_reads,
                } => Backend::Seatbelt {
                    id,
                    when: When::Macos,
                    executable: optional(executable),
                    allow_system_reads: *allow_system_reads,
                },
                BackendKindDecl::Bubblewrap {
                    executable,
                    private_tmp,
                    proc,
                    dev,
                } => Backend::Bubblewrap {
                    id,
                    when: When::Linux,
                    executable: optional(executable),
                    private_tmp: *private_tmp,
                    proc: *proc,
                    dev: *dev,
                },
                BackendKindDecl::Direct => Backend::Direct {
                    id,
                    when: backend.when,
                },
                BackendKindDecl::External {
                    executable,
                    sha256,
                    confinement,
                    atoms,
                } => Backend::External {
                    id,
                    when: backend.when,
                    executable: local.path(&executable.value),
                    sha256: sha256.as_ref().map(|pin| pin.value.clone()),
                    confinement: *confinement,
                    atoms: atoms.clone(),
                },
            };
            let span = backend.id.as_ref().map_or(backend.name, |id| id.span);
            let entry = Entry {
                id: backend.id.as_ref().map(|id| id.value.as_str().into()),
                at: Some(local.place(span)),
                worker_at: None,
                value: Some(Arc::new(value)),
            };
            (entry, false)
        })
        .collect();
    let section = Section {
        section: "backends",
        entry: "backend",
        overridable: false,
    };
    named(
        local,
        &mut effective.backends,
        decl.merge,
        entries,
        &section,
    );
}

pub(super) fn approvals(local: &Local<'_, '_>, effective: &mut Effective, decl: &ApprovalsDecl) {
    set(&mut effective.provider, &decl.provider);
    set(&mut effective.unavailable, &decl.unavailable);
    if let Some(scopes) = &decl.scopes {
        effective.scopes = At {
            value: scopes.value.clone(),
            at: Some(local.place(scopes.span)),
        };
    }
    if let Some(durable) = &decl.durable {
        effective.durable = At {
            value: durable.value,
            at: Some(local.place(durable.span)),
        };
    }
}

pub(super) fn secrets(local: &Local<'_, '_>, effective: &mut Effective, decl: &SecretsDecl) {
    set(&mut effective.replacement, &decl.replacement);
    if decl.merge == Merge::Replace {
        effective.secrets.clear();
    }
    let mut seen: HashSet<SecretSource> = effective
        .secrets
        .iter()
        .filter_map(|secret| match secret.as_ref() {
            Secret::Source(source) => Some(source.clone()),
            Secret::Literal(_) => None,
        })
        .collect();
    for source in &decl.sources {
        let secret = match &source.value {
            SecretDecl::FromEnv { name, optional } => Secret::Source(SecretSource::FromEnv {
                name: name.clone(),
                optional: *optional,
            }),
            SecretDecl::FromFile {
                path,
                optional,
                strip,
            } => Secret::Source(SecretSource::FromFile {
                path: local.path(path),
                optional: *optional,
                strip: *strip,
            }),
            SecretDecl::Literal { value } => Secret::Literal(value.clone()),
        };
        if let Secret::Source(source) = &secret
            && !seen.insert(source.clone())
        {
            continue;
        }
        effective.secrets.push(Arc::new(secret));
    }
}
