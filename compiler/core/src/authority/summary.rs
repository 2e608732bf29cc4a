//! Object form of the authority summary: complete, one entry per runtime.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::findings::{self, Finding, Level};
use super::show::Places;
use crate::manifest::{
    Action, Approvals, AuditContent, AuditFailure, AuditFormat, Backend, Confinement, EnvOp,
    Extension, Inherit, Limits, Manifest, ManifestError, Matcher, Mode, Phase, Reviewer,
    ReviewerMode, Runtime, Sandbox, digest, requested_sha256,
};
use crate::policy_lowering::confines;

/// The summary of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Highest level of the findings.
    pub level: Level,
    /// Digest of the bound manifest; `None` when it is not bound.
    pub manifest_sha256: Option<String>,
    /// Digest of the requested manifest.
    pub requested_sha256: String,
    /// Findings, most important first.
    pub findings: Vec<Finding>,
    /// Runtimes in id order.
    pub runtimes: Vec<RuntimeSummary>,
    /// For the text form.
    #[serde(skip)]
    pub(super) rest: Rest,
}

/// What the text form shows beside the object form (item 5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) tools: usize,
    pub(super) moderator: Option<String>,
    /// Path, role, digest.
    pub(super) sources: Vec<(String, &'static str, String)>,
    /// Requested and resolved profile names, each pair once.
    pub(super) profiles: Vec<(String, String)>,
}

/// What one runtime permits. Paths are resolved when the manifest is bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RuntimeSummary {
    pub id: String,
    /// Resolved profile.
    pub profile: Option<String>,
    pub sandbox: Sandbox,
    /// Eligible backends in the order in which they are tried.
    pub backends: Vec<BackendSummary>,
    pub read: Vec<String>,
    pub write: Vec<String>,
    pub network: bool,
    pub child_processes: bool,
    pub arbitrary_code: bool,
    pub privilege_change: bool,
    pub environment: EnvironmentSummary,
    /// Descriptors, never values.
    pub secrets: Vec<String>,
    pub policy: PolicySummary,
    pub approvals: Approvals,
    pub reviewers: ReviewersSummary,
    pub extensions: Vec<ExtensionSummary>,
    pub limits: Limits,
    pub audit: AuditSummary,
    pub tools: Vec<ToolSummary>,
}

/// A backend that may be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct BackendSummary {
    pub id: Option<String>,
    pub kind: String,
    /// `verified`: built in and checked at start; `declared`: claimed and accepted; `none`.
    pub confinement: Confinement,
}

/// Names only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct EnvironmentSummary {
    pub inherit: Inherit,
    pub set: Vec<String>,
    pub passed: Vec<String>,
    pub secret: Vec<String>,
}

/// Default action and number of rules by action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct PolicySummary {
    pub default: Action,
    pub allow: usize,
    pub ask: usize,
    pub deny: usize,
}

/// Reviewer chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ReviewersSummary {
    pub mode: ReviewerMode,
    pub entries: Vec<ReviewerSummary>,
}

/// One reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ReviewerSummary {
    pub id: String,
    pub kind: String,
}

/// One use of a script, program, model or person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ExtensionSummary {
    /// `matcher`, `reviewer`, `before`, `after`, `analyzer` or `audit_filter`.
    pub point: String,
    pub id: Option<String>,
    /// `chatml`, `executable`, `model` or `ui`.
    pub mechanism: String,
    pub script: Option<String>,
    pub worker: Option<String>,
    /// Whether the program is pinned; `None` when there is no program.
    pub pinned: Option<bool>,
}

/// Audit settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct AuditSummary {
    pub format: AuditFormat,
    pub path: Option<String>,
    pub content: AuditContent,
    pub failure: AuditFailure,
    pub filter: bool,
}

/// A tool of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ToolSummary {
    pub name: String,
    pub mode: String,
}

/// Summarises a manifest, bound or not.
///
/// Fails only when the manifest has no canonical form (see [`fn@digest`]).
pub fn summarise(manifest: &Manifest) -> Result<Summary, ManifestError> {
    summarise_here(manifest, None)
}

/// The summary on a host whose home directory is known: a manifest that does not name `${home}` has
/// no trace of it, and its roots may cover it all the same.
///
/// # Errors
/// The manifest can not be encoded.
pub fn summarise_here(manifest: &Manifest, home: Option<&str>) -> Result<Summary, ManifestError> {
    let places = Places::new(manifest, home);
    let findings = findings::of(manifest, &places);
    let mut tools: HashMap<&str, Vec<ToolSummary>> = HashMap::new();
    for tool in &manifest.tools {
        let mode = mode(&tool.mode).to_owned();
        tools.entry(&tool.runtime).or_default().push(ToolSummary {
            name: tool.name.clone(),
            mode,
        });
    }
    let mut runtimes: Vec<RuntimeSummary> = Vec::with_capacity(manifest.runtimes.len());
    for declared in &manifest.runtimes {
        let tools = tools.remove(declared.id.as_str()).unwrap_or_default();
        runtimes.push(runtime(declared, tools, &places));
    }
    let manifest_sha256 = match manifest.binding {
        Some(_) => Some(digest(manifest)?),
        None => None,
    };
    Ok(Summary {
        level: findings
            .iter()
            .map(|finding| finding.level)
            .max()
            .unwrap_or(Level::Normal),
        manifest_sha256,
        requested_sha256: requested_sha256(manifest)?,
        findings,
        runtimes,
        rest: rest(manifest),
    })
}

fn rest(manifest: &Manifest) -> Rest {
    let mut profiles: Vec<(String, String)> = manifest
        .runtimes
        .iter()
        .filter_map(|runtime| runtime.profile.as_ref())
        .map(|profile| (profile.requested.clone(), profile.resolved.clone()))
        .collect();
    profiles.sort();
    profiles.dedup();
    let sources = manifest.sources.iter();
    Rest {
        tools: manifest.tools.len(),
        moderator: manifest.moderator_runtime.clone(),
        sources: sources
            .map(|source| {
                (
                    source.path.clone(),
                    source.role.as_str(),
                    source.sha256.clone(),
                )
            })
            .collect(),
        profiles,
    }
}

fn mode(mode: &Mode) -> &'static str {
    match mode {
        Mode::Fixed { .. } => "fixed",
        Mode::Structured {} => "structured",
        Mode::Chain {} => "chain",
        Mode::Raw { .. } => "raw",
        Mode::Script { .. } => "script",
    }
}

fn runtime(runtime: &Runtime, tools: Vec<ToolSummary>, places: &Places<'_>) -> RuntimeSummary {
    let (read, write) = places.roots(runtime);
    let powers = &runtime.capabilities;
    let count = |action| {
        runtime
            .policy
            .rules
            .iter()
            .filter(|rule| rule.action == action)
            .count()
    };
    let audit = &runtime.audit;
    RuntimeSummary {
        id: runtime.id.clone(),
        profile: runtime
            .profile
            .as_ref()
            .map(|profile| profile.resolved.clone()),
        sandbox: powers.sandbox,
        backends: backends(runtime),
        read,
        write,
        network: powers.network,
        child_processes: powers.child_processes,
        arbitrary_code: powers.arbitrary_code,
        privilege_change: powers.privilege_change,
        environment: environment(runtime),
        secrets: runtime
            .secrets
            .sources
            .iter()
            .map(|secret| places.secret(secret))
            .collect(),
        policy: PolicySummary {
            default: runtime.policy.default,
            allow: count(Action::Allow),
            ask: count(Action::Ask),
            deny: count(Action::Deny),
        },
        approvals: runtime.approvals.clone(),
        reviewers: ReviewersSummary {
            mode: runtime.reviewers.mode,
            entries: runtime.reviewers.entries.iter().map(reviewer).collect(),
        },
        extensions: extensions(runtime),
        limits: runtime.limits.clone(),
        audit: AuditSummary {
            format: audit.format,
            path: audit.path.as_ref().map(|path| places.path(path)),
            content: audit.content,
            failure: audit.failure,
            filter: audit.filter.is_some(),
        },
        tools,
    }
}

/// Eligible backends (spec 02 section 10); under `preferred` confining ones are tried first.
fn backends(runtime: &Runtime) -> Vec<BackendSummary> {
    let accepted = runtime.backends.accept_declared_confinement;
    let sandbox = runtime.capabilities.sandbox;
    let eligible = runtime
        .backends
        .entries
        .iter()
        .filter(|backend| crate::resolve::eligible(backend, sandbox, accepted));
    let mut backends: Vec<&Backend> = eligible.collect();
    backends.sort_by_key(|backend| !confines(backend, accepted));
    backends
        .into_iter()
        .map(|backend| backend_summary(backend, accepted))
        .collect()
}

fn backend_summary(backend: &Backend, accepted: bool) -> BackendSummary {
    let (id, kind, confinement) = match backend {
        Backend::Seatbelt { id, .. } => (id, "seatbelt", Confinement::Verified),
        Backend::Bubblewrap { id, .. } => (id, "bubblewrap", Confinement::Verified),
        Backend::Direct { id, .. } => (id, "direct", Confinement::None),
        Backend::External { id, .. } if confines(backend, accepted) => {
            (id, "external", Confinement::Declared)
        }
        Backend::External { id, .. } => (id, "external", Confinement::None),
    };
    BackendSummary {
        id: id.clone(),
        kind: kind.to_owned(),
        confinement,
    }
}

fn environment(runtime: &Runtime) -> EnvironmentSummary {
    let mut summary = EnvironmentSummary {
        inherit: runtime.environment.inherit,
        set: Vec::new(),
        passed: Vec::new(),
        secret: Vec::new(),
    };
    for operation in &runtime.environment.operations {
        match operation {
            EnvOp::Set { name, .. } => summary.set.push(name.clone()),
            EnvOp::Pass { name, secret, .. } => {
                summary.passed.push(name.clone());
                if *secret {
                    summary.secret.push(name.clone());
                }
            }
            EnvOp::Path { .. } => summary.set.push("PATH".to_owned()),
            EnvOp::PathEnv { name, .. } => summary.passed.push(name.clone()),
            EnvOp::Unset { .. } | EnvOp::UnsetPrefix { .. } => {}
        }
    }
    for names in [&mut summary.set, &mut summary.passed, &mut summary.secret] {
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
    }
    summary
}

fn reviewer(reviewer: &Reviewer) -> ReviewerSummary {
    let (id, kind) = match reviewer {
        Reviewer::Ui { id } => (id, "ui"),
        Reviewer::Chatml { id, .. } => (id, "chatml"),
        Reviewer::Model { id, .. } => (id, "model"),
        Reviewer::Executable { id, .. } => (id, "executable"),
    };
    ReviewerSummary {
        id: id.clone(),
        kind: kind.to_owned(),
    }
}

fn extensions(runtime: &Runtime) -> Vec<ExtensionSummary> {
    let mut found = Vec::new();
    for rule in &runtime.policy.rules {
        matcher_scripts(&rule.id, &rule.matcher, &mut found);
    }
    for reviewer in &runtime.reviewers.entries {
        found.push(match reviewer {
            Reviewer::Ui { id } => bare("reviewer", id, "ui"),
            Reviewer::Model { id, .. } => bare("reviewer", id, "model"),
            Reviewer::Chatml { id, script, .. } => ExtensionSummary {
                script: Some(script.clone()),
                ..bare("reviewer", id, "chatml")
            },
            Reviewer::Executable { id, hook, .. } => ExtensionSummary {
                worker: Some(hook.runtime.clone()),
                pinned: Some(hook.sha256.is_some()),
                ..bare("reviewer", id, "executable")
            },
        });
    }
    for interceptor in &runtime.interceptors {
        if let Some(matcher) = &interceptor.matcher {
            matcher_scripts(&interceptor.id, matcher, &mut found);
        }
        let point = match interceptor.phase {
            Phase::Before => "before",
            Phase::After => "after",
        };
        found.push(extension(
            point,
            Some(&interceptor.id),
            &interceptor.extension,
        ));
    }
    for analyzer in &runtime.effect_analyzers {
        found.push(extension(
            "analyzer",
            Some(&analyzer.id),
            &analyzer.extension,
        ));
    }
    if let Some(filter) = &runtime.audit.filter {
        found.push(extension("audit_filter", None, filter));
    }
    found
}

fn bare(point: &str, id: &str, mechanism: &str) -> ExtensionSummary {
    ExtensionSummary {
        point: point.to_owned(),
        id: Some(id.to_owned()),
        mechanism: mechanism.to_owned(),
        script: None,
        worker: None,
        pinned: None,
    }
}

fn extension(point: &str, id: Option<&str>, extension: &Extension) -> ExtensionSummary {
    let mut summary = bare(point, id.unwrap_or_default(), "chatml");
    summary.id = id.map(str::to_owned);
    match extension {
        Extension::Chatml { script, .. } => summary.script = Some(script.clone()),
        Extension::Executable { hook } => {
            summary.mechanism = "executable".to_owned();
            summary.worker = Some(hook.runtime.clone());
            summary.pinned = Some(hook.sha256.is_some());
        }
    }
    summary
}

/// Scripts of a matcher in document order.
fn matcher_scripts(id: &str, matcher: &Matcher, found: &mut Vec<ExtensionSummary>) {
    found.extend(matcher.scripts().map(|script| ExtensionSummary {
        script: Some(script.to_owned()),
        ..bare("matcher", id, "chatml")
    }));
}
