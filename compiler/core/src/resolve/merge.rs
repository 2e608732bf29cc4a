//! Merging a declared runtime into what it inherits (spec 04 section 4).

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use super::convert::Local;
use super::effective::{At, Effective, Entry, Secret};
use super::report::{Fill, error, quote, warning};
use super::taint::Taint;
use crate::decl::{
    AnalyzersDecl, ApprovalsDecl, AuditDecl, BackendKindDecl, BackendsDecl, CapabilitiesDecl,
    EnvOpDecl, EnvironmentDecl, InterceptorsDecl, LimitsDecl, Merge, PathExpr, PolicyDecl,
    ResolverDecl, ReviewerKindDecl, ReviewersDecl, RootDecl, RuntimeDecl, SecretDecl, SecretsDecl,
    Sp,
};
use crate::manifest::{
    Analyzer, Backend, EnvOp, Executable, Interceptor, Phase, Reviewer, ReviewerMode, Rule,
    ScriptKind, SecretSource, When,
};

/// Merges every section of a declaration.
pub(crate) fn runtime(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &RuntimeDecl) {
    if let Some(cwd) = &decl.cwd {
        effective.cwd = At {
            value: local.path(&cwd.value),
            at: Some(local.place(cwd.span)),
        };
    }
    set(&mut effective.pipefail, &decl.pipefail);
    if let Some(section) = &decl.capabilities {
        capabilities(local, effective, section);
    }
    if let Some(section) = &decl.resolver {
        resolver(local, effective, section);
    }
    if let Some(section) = &decl.environment {
        environment(local, effective, section);
    }
    if let Some(section) = &decl.limits {
        limits(effective, section);
    }
    if let Some(section) = &decl.backends {
        backends(local, effective, section);
    }
    if let Some(section) = &decl.policy {
        policy(local, effective, section);
    }
    if let Some(section) = &decl.approvals {
        approvals(local, effective, section);
    }
    if let Some(section) = &decl.reviewers {
        reviewers(local, effective, section);
    }
    if let Some(section) = &decl.interceptors {
        interceptors(local, effective, section);
    }
    if let Some(section) = &decl.effect_analysis {
        analyzers(local, effective, section);
    }
    if let Some(section) = &decl.secrets {
        secrets(local, effective, section);
    }
    if let Some(section) = &decl.audit {
        audit(local, effective, section);
    }
}

fn set<T: Clone>(target: &mut T, declared: &Option<Sp<T>>) {
    if let Some(declared) = declared {
        *target = declared.value.clone();
    }
}

/// Adds to a list whose first occurrences are kept.
fn union<T: Eq + Hash>(list: &mut Vec<Arc<T>>, merge: Merge, declared: Vec<T>) {
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
struct Section {
    /// Section element.
    section: &'static str,
    /// Entry element.
    entry: &'static str,
    overridable: bool,
}

/// Adds named entries. `declared` holds each entry with its `override` flag.
fn named<T>(
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
    fn id(&self) -> String {
        let id = &self.cx.registry.runtimes[self.runtime].id;
        if id.is_empty() {
            self.written.to_owned()
        } else {
            id.clone()
        }
    }

    fn tainted(&self, sections: Taint) -> bool {
        self.cx.registry.runtimes[self.runtime]
            .taint
            .touches(sections)
    }

    fn entry<T>(&self, id: &Sp<String>, value: Option<T>) -> Entry<T> {
        Entry {
            id: Some(id.value.as_str().into()),
            at: Some(self.place(id.span)),
            worker_at: None,
            value: value.map(Arc::new),
        }
    }
}

fn capabilities(local: &Local<'_, '_>, effective: &mut Effective, decl: &CapabilitiesDecl) {
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

fn resolver(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &ResolverDecl) {
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
fn relative_paths(local: &mut Local<'_, '_>, allowed: bool, decl: &ResolverDecl) {
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

fn environment(local: &Local<'_, '_>, effective: &mut Effective, decl: &EnvironmentDecl) {
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

fn limits(effective: &mut Effective, decl: &LimitsDecl) {
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

fn backends(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &BackendsDecl) {
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

fn policy(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &PolicyDecl) {
    set(&mut effective.policy, &decl.default);
    let mut rules = Vec::with_capacity(decl.rules.len());
    for rule in &decl.rules {
        let trail = ["policy", "rule", rule.id.value.as_str()];
        let matcher = rule
            .matcher
            .as_ref()
            .and_then(|matcher| local.matcher(matcher, 1, &trail));
        let value = matcher.map(|matcher| Rule {
            id: rule.id.value.clone(),
            action: rule.action,
            matcher,
        });
        rules.push((local.entry(&rule.id, value), rule.overrides));
    }
    let section = Section {
        section: "policy",
        entry: "rule",
        overridable: true,
    };
    named(local, &mut effective.rules, decl.merge, rules, &section);
}

fn approvals(local: &Local<'_, '_>, effective: &mut Effective, decl: &ApprovalsDecl) {
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

fn reviewers(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &ReviewersDecl) {
    effective.reviewer_mode = ReviewerMode::Chain;
    set(&mut effective.strategy, &decl.strategy);
    let mut entries = Vec::with_capacity(decl.entries.len());
    for reviewer in &decl.entries {
        let id = reviewer.id.value.clone();
        let via = format!("reviewer {id}");
        let trail = ["reviewers", "reviewer", reviewer.id.value.as_str()];
        let mut worker_at = None;
        let value = match &reviewer.kind {
            ReviewerKindDecl::Ui => Some(Reviewer::Ui { id }),
            ReviewerKindDecl::Chatml {
                script,
                lifecycle,
                failure,
            } => local
                .script(script, ScriptKind::Reviewer, &trail)
                .map(|script| Reviewer::Chatml {
                    id,
                    script,
                    lifecycle: *lifecycle,
                    failure: *failure,
                }),
            ReviewerKindDecl::Model {
                agent,
                model,
                failure,
            } => super::tools::reviewer_agent(local, &reviewer.id.value, agent).then(|| {
                Reviewer::Model {
                    id,
                    agent: agent.value.clone(),
                    model: model.clone(),
                    failure: *failure,
                }
            }),
            ReviewerKindDecl::Executable { hook, failure } => {
                local.hook(hook, &via, &trail).map(|(hook, at)| {
                    worker_at = at;
                    Reviewer::Executable {
                        id,
                        hook,
                        failure: *failure,
                    }
                })
            }
        };
        let mut entry = local.entry(&reviewer.id, value);
        entry.worker_at = worker_at;
        entries.push((entry, false));
    }
    let section = Section {
        section: "reviewers",
        entry: "reviewer",
        overridable: false,
    };
    named(
        local,
        &mut effective.reviewers,
        decl.merge,
        entries,
        &section,
    );
}

fn interceptors(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &InterceptorsDecl) {
    let mut entries = Vec::with_capacity(decl.entries.len());
    for interceptor in &decl.entries {
        let id = interceptor.id.value.clone();
        let via = format!("interceptor {id}");
        let trail = ["interceptors", "interceptor", interceptor.id.value.as_str()];
        let kind = match interceptor.phase {
            Phase::Before => ScriptKind::BeforeInterceptor,
            Phase::After => ScriptKind::AfterInterceptor,
        };
        let matcher = interceptor
            .matcher
            .as_ref()
            .map(|matcher| local.matcher(matcher, 1, &trail));
        let extension = local.extension(&interceptor.extension, kind, &via, &trail);
        let worker_at = extension.as_ref().and_then(|(_, at)| *at);
        // A broken matcher must not turn into "every command".
        let value = match (matcher, extension) {
            (Some(None), _) | (_, None) => None,
            (matcher, Some((extension, _))) => Some(Interceptor {
                id,
                phase: interceptor.phase,
                matcher: matcher.flatten(),
                failure: interceptor.failure,
                extension,
            }),
        };
        let mut entry = local.entry(&interceptor.id, value);
        entry.worker_at = worker_at;
        entries.push((entry, false));
    }
    let section = Section {
        section: "interceptors",
        entry: "interceptor",
        overridable: false,
    };
    named(
        local,
        &mut effective.interceptors,
        decl.merge,
        entries,
        &section,
    );
}

fn analyzers(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &AnalyzersDecl) {
    let mut entries = Vec::with_capacity(decl.entries.len());
    for analyzer in &decl.entries {
        let id = analyzer.id.value.clone();
        let via = format!("analyzer {id}");
        let trail = ["effect_analysis", "analyzer", analyzer.id.value.as_str()];
        let extension = local.extension(
            &analyzer.extension,
            ScriptKind::EffectAnalyzer,
            &via,
            &trail,
        );
        let worker_at = extension.as_ref().and_then(|(_, at)| *at);
        let value = extension.map(|(extension, _)| Analyzer {
            id,
            replace: analyzer.replace,
            failure: analyzer.failure,
            extension,
        });
        let mut entry = local.entry(&analyzer.id, value);
        entry.worker_at = worker_at;
        entries.push((entry, false));
    }
    let section = Section {
        section: "effect_analysis",
        entry: "analyzer",
        overridable: false,
    };
    named(
        local,
        &mut effective.analyzers,
        decl.merge,
        entries,
        &section,
    );
}

fn secrets(local: &Local<'_, '_>, effective: &mut Effective, decl: &SecretsDecl) {
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

fn audit(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &AuditDecl) {
    if let Some(format) = &decl.format {
        effective.audit.format = format.value;
        effective.audit.path = decl.path.as_ref().map(|path| local.path(&path.value));
    }
    set(&mut effective.audit.content, &decl.content);
    set(&mut effective.audit.failure, &decl.failure);
    if let Some(filter) = &decl.filter {
        let trail = ["audit", "filter"];
        let extension = local.extension(
            &filter.value,
            ScriptKind::AuditFilter,
            "audit filter",
            &trail,
        );
        effective.filter_at = Some(local.place(filter.span));
        effective.filter_worker_at = extension.as_ref().and_then(|(_, at)| *at);
        effective.audit.filter = extension.map(|(extension, _)| extension);
    }
}
