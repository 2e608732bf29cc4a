//! A runtime with inheritance, defaults and merging applied, before platform selection.
//!
//! Entries are shared with the parent by `Arc`: a chain of runtimes costs one pointer per
//! inherited entry.

use std::sync::Arc;

use super::profiles::{BuiltinBackend, BuiltinMatcher, Place as BuiltinPlace, Settings};
use crate::decl::LiteralSecret;
use crate::diagnostics::Place;
use crate::manifest::{
    Action, Analyzer, ApprovalProvider, Approvals, Audit, AuditContent, AuditFailure, AuditFormat,
    Backend, Backends, Capabilities, DevMode, EnvOp, Environment, Executable, Inherit, Interceptor,
    Limits, Matcher, Path, PathBase, Platform, Policy, Profile, Resolver, Reviewer, ReviewerMode,
    Reviewers, Root, Rule, Runtime, Sandbox, Scope, SecretSource, Secrets, Strategy, Unavailable,
    When,
};

/// A value with the place where a document wrote it; `None` for a built-in one.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) at: Option<Place>,
}

impl<T> At<T> {
    pub(crate) fn builtin(value: T) -> Self {
        Self { value, at: None }
    }
}

/// A named entry of an ordered list. `value` is `None` when something in it was reported: its id
/// still takes part in collisions.
#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    pub(crate) id: Option<Arc<str>>,
    /// Place of the id, or of the element when there is no id.
    pub(crate) at: Option<Place>,
    /// The `runtime` value of an executable extension.
    pub(crate) worker_at: Option<Place>,
    pub(crate) value: Option<Arc<T>>,
}

impl<T> Entry<T> {
    fn builtin(id: &str, value: T) -> Self {
        Self {
            id: Some(id.into()),
            at: None,
            worker_at: None,
            value: Some(Arc::new(value)),
        }
    }
}

/// A secret source; the index of a literal is assigned when the manifest is made.
#[derive(Clone, Debug)]
pub(crate) enum Secret {
    Source(SecretSource),
    Literal(LiteralSecret),
}

/// An effective runtime.
#[derive(Clone, Debug)]
pub(crate) struct Effective {
    pub(crate) extends: Vec<Arc<str>>,
    pub(crate) profile: Option<Profile>,
    pub(crate) cwd: At<Path>,
    pub(crate) pipefail: bool,
    pub(crate) sandbox: At<Sandbox>,
    pub(crate) network: bool,
    pub(crate) child_processes: bool,
    pub(crate) arbitrary_code: bool,
    pub(crate) privilege_change: bool,
    pub(crate) read: Vec<Arc<Root>>,
    pub(crate) write: Vec<Arc<Root>>,
    pub(crate) search_path: Vec<Arc<Path>>,
    pub(crate) trusted_roots: Vec<Arc<Path>>,
    pub(crate) executables: Vec<Entry<Executable>>,
    pub(crate) allow_relative_search_path: bool,
    pub(crate) inherit: Inherit,
    pub(crate) operations: Vec<Arc<EnvOp>>,
    pub(crate) limits: Limits,
    pub(crate) accept_declared_confinement: bool,
    pub(crate) backends: Vec<Entry<Backend>>,
    pub(crate) policy: Action,
    pub(crate) rules: Vec<Entry<Rule>>,
    pub(crate) provider: ApprovalProvider,
    pub(crate) unavailable: Unavailable,
    pub(crate) scopes: At<Vec<Scope>>,
    pub(crate) durable: At<bool>,
    pub(crate) reviewer_mode: ReviewerMode,
    pub(crate) strategy: Strategy,
    pub(crate) reviewers: Vec<Entry<Reviewer>>,
    pub(crate) interceptors: Vec<Entry<Interceptor>>,
    pub(crate) analyzers: Vec<Entry<Analyzer>>,
    pub(crate) replacement: String,
    pub(crate) secrets: Vec<Arc<Secret>>,
    pub(crate) audit: Audit,
    /// The `runtime` value of the audit filter's hook.
    pub(crate) filter_worker_at: Option<Place>,
    pub(crate) filter_at: Option<Place>,
}

/// `Path` of a variable or an absolute path; `file` is the `source` of a `source_dir`.
fn base_path(base: PathBase, file: &str) -> Path {
    let source = (base == PathBase::SourceDir).then(|| file.to_owned());
    Path {
        base,
        path: String::new(),
        source,
    }
}

fn absolute(path: &str) -> Path {
    Path {
        base: PathBase::Absolute,
        path: path.to_owned(),
        source: None,
    }
}

fn root(place: BuiltinPlace, file: &str) -> Arc<Root> {
    let path = match place {
        BuiltinPlace::Base(base) => base_path(base, file),
        BuiltinPlace::Absolute(path) => absolute(path),
    };
    Arc::new(Root::Path { path })
}

fn backend(backend: BuiltinBackend) -> Entry<Backend> {
    let (id, value) = match backend {
        BuiltinBackend::Seatbelt(id) => {
            let when = When::Macos;
            let id_member = Some(id.to_owned());
            let value = Backend::Seatbelt {
                id: id_member,
                when,
                executable: None,
                allow_system_reads: true,
            };
            (id, value)
        }
        BuiltinBackend::Bubblewrap(id) => (
            id,
            Backend::Bubblewrap {
                id: Some(id.to_owned()),
                when: When::Linux,
                executable: None,
                private_tmp: true,
                proc: true,
                dev: DevMode::Minimal,
            },
        ),
        BuiltinBackend::Direct(id, when) => (
            id,
            Backend::Direct {
                id: Some(id.to_owned()),
                when,
            },
        ),
    };
    Entry::builtin(id, value)
}

/// Built-in matchers are at most three deep.
fn matcher(data: &BuiltinMatcher) -> Matcher {
    match data {
        BuiltinMatcher::Trusted => Matcher::TrustedExecutable {},
        BuiltinMatcher::Basename(name) => Matcher::Basename {
            value: (*name).to_owned(),
        },
        BuiltinMatcher::All(of) => Matcher::All {
            of: of.iter().map(matcher).collect(),
        },
        BuiltinMatcher::Any(of) => Matcher::Any {
            of: of.iter().map(matcher).collect(),
        },
    }
}

impl Effective {
    /// The built-in values; `file` is the document that asks for them.
    pub(crate) fn builtin(settings: &Settings, file: &str) -> Self {
        let roots = |places: &[BuiltinPlace]| -> Vec<Arc<Root>> {
            places.iter().map(|place| root(*place, file)).collect()
        };
        let paths = |paths: &[&str]| -> Vec<Arc<Path>> {
            paths.iter().map(|path| Arc::new(absolute(path))).collect()
        };
        let rules = settings.rules.iter().map(|rule| {
            let value = Rule {
                id: rule.id.to_owned(),
                action: rule.action,
                matcher: matcher(&rule.matcher),
            };
            Entry::builtin(rule.id, value)
        });
        Self {
            extends: Vec::new(),
            profile: None,
            cwd: At::builtin(base_path(settings.cwd, file)),
            pipefail: false,
            sandbox: At::builtin(settings.sandbox),
            network: settings.network,
            child_processes: settings.child_processes,
            arbitrary_code: settings.arbitrary_code,
            privilege_change: settings.privilege_change,
            read: roots(settings.read),
            write: roots(settings.write),
            search_path: paths(settings.search_path),
            trusted_roots: paths(settings.trusted_roots),
            executables: Vec::new(),
            allow_relative_search_path: false,
            inherit: settings.inherit,
            operations: Vec::new(),
            limits: settings.limits.clone(),
            accept_declared_confinement: false,
            backends: settings
                .backends
                .iter()
                .map(|entry| backend(*entry))
                .collect(),
            policy: settings.policy,
            rules: rules.collect(),
            provider: settings.provider,
            unavailable: settings.unavailable,
            scopes: At::builtin(settings.scopes.to_vec()),
            durable: At::builtin(settings.durable),
            reviewer_mode: ReviewerMode::ImplicitUi,
            strategy: Strategy::FirstTerminal,
            reviewers: Vec::new(),
            interceptors: Vec::new(),
            analyzers: Vec::new(),
            replacement: "[REDACTED]".to_owned(),
            secrets: Vec::new(),
            audit: Audit {
                format: AuditFormat::None,
                path: None,
                content: AuditContent::Redacted,
                failure: AuditFailure::Continue,
                filter: None,
            },
            filter_worker_at: None,
            filter_at: None,
        }
    }

    /// Backends of the target platform, in order (spec 04 section 7).
    pub(crate) fn kept(&self, platform: Platform) -> impl Iterator<Item = &Entry<Backend>> {
        self.backends
            .iter()
            .filter(move |entry| entry.value.as_deref().is_none_or(|b| runs_on(b, platform)))
    }

    /// The manifest form, and the literal secrets by index.
    pub(crate) fn finish(
        &self,
        id: &str,
        source: &str,
        platform: Platform,
    ) -> (Runtime, Vec<LiteralSecret>) {
        let (sources, literals) = self.number_secrets();
        let runtime = Runtime {
            id: id.to_owned(),
            source: source.to_owned(),
            extends: self.extends.iter().map(|name| name.to_string()).collect(),
            profile: self.profile.clone(),
            cwd: self.cwd.value.clone(),
            pipefail: self.pipefail,
            capabilities: Capabilities {
                sandbox: self.sandbox.value,
                network: self.network,
                child_processes: self.child_processes,
                arbitrary_code: self.arbitrary_code,
                privilege_change: self.privilege_change,
                read: owned(&self.read),
                write: owned(&self.write),
            },
            resolver: Resolver {
                search_path: owned(&self.search_path),
                trusted_roots: owned(&self.trusted_roots),
                executables: values(&self.executables),
                allow_relative_search_path: self.allow_relative_search_path,
            },
            environment: Environment {
                inherit: self.inherit,
                operations: owned(&self.operations),
            },
            limits: self.limits.clone(),
            backends: Backends {
                accept_declared_confinement: self.accept_declared_confinement,
                entries: self
                    .kept(platform)
                    .filter_map(|entry| entry.value.as_deref().cloned())
                    .collect(),
            },
            policy: Policy {
                default: self.policy,
                rules: self
                    .rules
                    .iter()
                    .filter_map(|entry| entry.value.clone())
                    .collect(),
            },
            approvals: Approvals {
                provider: self.provider,
                unavailable: self.unavailable,
                scopes: self.scopes.value.clone(),
                durable: self.durable.value,
            },
            reviewers: Reviewers {
                mode: self.reviewer_mode,
                strategy: self.strategy,
                entries: values(&self.reviewers),
            },
            interceptors: values(&self.interceptors),
            effect_analyzers: values(&self.analyzers),
            secrets: Secrets {
                replacement: self.replacement.clone(),
                sources,
            },
            audit: self.audit.clone(),
        };
        (runtime, literals)
    }

    fn number_secrets(&self) -> (Vec<SecretSource>, Vec<LiteralSecret>) {
        let mut literals = Vec::new();
        let mut sources = Vec::with_capacity(self.secrets.len());
        for secret in &self.secrets {
            sources.push(match secret.as_ref() {
                Secret::Source(source) => source.clone(),
                Secret::Literal(value) => {
                    literals.push(value.clone());
                    SecretSource::Literal {
                        index: literals.len() as u64 - 1,
                    }
                }
            });
        }
        (sources, literals)
    }
}

fn owned<T: Clone>(list: &[Arc<T>]) -> Vec<T> {
    list.iter().map(|value| value.as_ref().clone()).collect()
}

fn values<T: Clone>(list: &[Entry<T>]) -> Vec<T> {
    list.iter()
        .filter_map(|entry| entry.value.as_deref().cloned())
        .collect()
}

/// Whether a backend belongs to a platform.
pub(crate) fn runs_on(backend: &Backend, platform: Platform) -> bool {
    match when(backend) {
        When::Any => true,
        When::Linux => platform == Platform::Linux,
        When::Macos => platform == Platform::Macos,
        When::Windows => platform == Platform::Windows,
    }
}

fn when(backend: &Backend) -> When {
    match backend {
        Backend::Seatbelt { when, .. }
        | Backend::Bubblewrap { when, .. }
        | Backend::Direct { when, .. }
        | Backend::External { when, .. } => *when,
    }
}
