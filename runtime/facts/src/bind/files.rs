//! Files that declarations name by path (spec 04 section 9, table of roles).

use std::collections::HashMap;

use chatmd_compiler::manifest::{
    Backend, BoundFile, Extension, FileRole, Hook, Manifest, Mode, Path, PathBase, Reviewer,
    Runtime, Tool,
};

use super::{BindFinding, Binder, Purpose, symbolic};

/// A file that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Canonical path.
    pub path: String,
    /// SHA-256 of its bytes, lower-case hexadecimal.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

/// Why an existing file has no identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// Not regular, not readable, or not reachable.
    Unusable(String),
    /// Its canonical path is no UTF-8 text.
    NotUtf8,
    /// It changed while it was read.
    Changed,
}

/// A file that a declaration names.
struct Named {
    owner: String,
    role: FileRole,
    path: Path,
    pin: Option<String>,
    /// Largest permitted size.
    max_bytes: Option<u64>,
}

/// Binds every named file.
pub(super) fn bind(binder: &mut Binder<'_>, manifest: &Manifest) {
    let mut named = Vec::new();
    for runtime in &manifest.runtimes {
        of_runtime(runtime, &mut named);
    }
    for tool in &manifest.tools {
        of_tool(tool, &mut named);
    }
    // One file may serve many runtimes: it is read once.
    let mut known: HashMap<String, Result<Option<Identity>, FileFault>> = HashMap::new();
    for file in named {
        let Some(absolute) = binder.absolute(&file.path) else {
            continue;
        };
        let found = match known.get(&absolute) {
            Some(found) => found.clone(),
            None => {
                let found = binder.values.file(&absolute);
                known.insert(absolute.clone(), found.clone());
                found
            }
        };
        one(binder, file, absolute, found);
    }
}

fn one(
    binder: &mut Binder<'_>,
    file: Named,
    absolute: String,
    found: Result<Option<Identity>, FileFault>,
) {
    let shown = symbolic(&file.path);
    let owner = file.owner.clone();
    let identity = match found {
        Ok(identity) => identity,
        Err(fault) => {
            let finding = match fault {
                FileFault::Unusable(reason) => BindFinding::error(
                    unavailable(file.role),
                    format!("{shown} can not be used: {reason}"),
                ),
                FileFault::NotUtf8 => super::not_utf8(&shown),
                FileFault::Changed => BindFinding::error(
                    "shell.file_changed",
                    format!("{shown} changed while it was read; try again"),
                ),
            };
            binder.findings.push(finding.of(owner));
            return;
        }
    };
    let Some(identity) = identity else {
        let finding = match binder.purpose {
            Purpose::Compile => BindFinding::warning(
                "shell.file_absent",
                format!("{shown} does not exist; create it before running"),
            ),
            Purpose::Start => {
                BindFinding::error(unavailable(file.role), format!("{shown} does not exist"))
            }
        };
        binder.findings.push(finding.of(owner));
        let Named { owner, role, .. } = file;
        binder.binding.files.push(BoundFile {
            owner,
            role,
            path: absolute,
            sha256: None,
        });
        return;
    };
    if let Some(pin) = file.pin.as_ref().filter(|pin| **pin != identity.sha256) {
        let message = format!(
            "{shown} has SHA-256 {}, the document pins {pin}",
            identity.sha256
        );
        binder
            .findings
            .push(BindFinding::error(mismatch(file.role), message).of(&owner));
    }
    if let Some(max) = file.max_bytes.filter(|max| identity.size > *max) {
        let message = format!("{shown} has {} bytes, more than {max}", identity.size);
        let finding = match binder.purpose {
            Purpose::Compile => BindFinding::warning("shell.script_too_large", message),
            Purpose::Start => BindFinding::error("shell.script_too_large", message),
        };
        binder.findings.push(finding.of(&owner));
    }
    let (path, sha256) = (identity.path, Some(identity.sha256));
    binder.binding.files.push(BoundFile {
        owner,
        role: file.role,
        path,
        sha256,
    });
}

fn unavailable(role: FileRole) -> &'static str {
    match role {
        FileRole::Executable | FileRole::RawShell | FileRole::FixedProgram => {
            "shell.executable_unavailable"
        }
        FileRole::Hook => "shell.hook_executable_unavailable",
        FileRole::ExternalBackend => "shell.external_backend_unavailable",
        FileRole::Interpreter => "shell.script_executable_unavailable",
        FileRole::Script => "shell.script_unavailable",
    }
}

fn mismatch(role: FileRole) -> &'static str {
    match role {
        FileRole::Hook => "shell.hook_digest_mismatch",
        FileRole::ExternalBackend => "shell.external_backend_digest_mismatch",
        _ => "shell.executable_digest_mismatch",
    }
}

fn of_runtime(runtime: &Runtime, named: &mut Vec<Named>) {
    let owner = |name: &str| format!("runtime:{}/{name}", runtime.id);
    for executable in &runtime.resolver.executables {
        named.push(Named {
            owner: owner(&executable.id),
            role: FileRole::Executable,
            path: executable.path.clone(),
            pin: executable.sha256.clone(),
            max_bytes: None,
        });
    }
    let mut hook = |name: &str, hook: &Hook| {
        named.push(Named {
            owner: owner(name),
            role: FileRole::Hook,
            path: hook.executable.clone(),
            pin: hook.sha256.clone(),
            max_bytes: None,
        });
    };
    for reviewer in &runtime.reviewers.entries {
        if let Reviewer::Executable { id, hook: used, .. } = reviewer {
            hook(id, used);
        }
    }
    let interceptors = runtime
        .interceptors
        .iter()
        .map(|entry| (&entry.id, &entry.extension));
    let analyzers = runtime
        .effect_analyzers
        .iter()
        .map(|entry| (&entry.id, &entry.extension));
    for (id, extension) in interceptors.chain(analyzers) {
        if let Extension::Executable { hook: used } = extension {
            hook(id, used);
        }
    }
    if let Some(Extension::Executable { hook: used }) = &runtime.audit.filter {
        hook("audit-filter", used);
    }
    for backend in &runtime.backends.entries {
        if let Backend::External {
            id,
            executable,
            sha256,
            ..
        } = backend
        {
            named.push(Named {
                owner: owner(id.as_deref().unwrap_or("external")),
                role: FileRole::ExternalBackend,
                path: executable.clone(),
                pin: sha256.clone(),
                max_bytes: None,
            });
        }
    }
}

fn of_tool(tool: &Tool, named: &mut Vec<Named>) {
    let mut add = |role, path: &Path, max_bytes| {
        named.push(Named {
            owner: format!("tool:{}", tool.name),
            role,
            path: path.clone(),
            pin: None,
            max_bytes,
        });
    };
    match &tool.mode {
        Mode::Fixed {
            program: Some(program),
            ..
        } if program.starts_with('/') => {
            let path = Path {
                base: PathBase::Absolute,
                path: program.clone(),
                source: None,
            };
            add(FileRole::FixedProgram, &path, None);
        }
        Mode::Raw { executable, .. } => add(FileRole::RawShell, executable, None),
        Mode::Script {
            script,
            interpreter,
            max_source_bytes,
            ..
        } => {
            add(FileRole::Script, script, Some(*max_source_bytes));
            if let Some(interpreter) = interpreter {
                add(FileRole::Interpreter, interpreter, None);
            }
        }
        Mode::Fixed { .. } | Mode::Structured {} | Mode::Chain {} => {}
    }
}
