//! Findings of an authority summary: what deserves a second look before agreeing.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::show::{Places, list, safe};
use crate::manifest::{
    Action, AuditContent, AuditFormat, Backend, Confinement, Extension, Hook, Inherit, Manifest,
    Mode, Reviewer, Runtime, Sandbox, Scope,
};
use crate::policy_lowering::{confines, may_run_unconfined};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Ordinary authority.
    Normal,
    /// More than reading.
    Elevated,
    /// A guard is weakened.
    High,
    /// The runtime may do whatever the user may.
    Critical,
}

impl Level {
    /// The word of the level.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Elevated => "elevated",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// `authority.…`
    pub code: String,
    /// Runtime that it is about.
    pub runtime: Option<String>,
    /// One sentence, safe for a terminal.
    pub text: String,
}

/// Codes with their levels, in the order of the specification. `authority.legacy` and the other
/// critical ones come first: the order within a level is the order here.
const CODES: &[(&str, Level)] = &[
    ("authority.yolo", Level::Critical),
    ("authority.unrestricted", Level::Critical),
    ("authority.write_everything", Level::Critical),
    ("authority.direct", Level::Critical),
    ("authority.legacy", Level::Critical),
    ("authority.direct_fallback", Level::High),
    ("authority.declared_confinement", Level::High),
    ("authority.privilege_change", Level::High),
    ("authority.raw_shell", Level::High),
    ("authority.effect_replacement", Level::High),
    ("authority.raw_environment", Level::High),
    ("authority.durable_approvals", Level::High),
    ("authority.full_audit", Level::High),
    ("authority.network", Level::Elevated),
    ("authority.arbitrary_code", Level::Elevated),
    ("authority.child_processes", Level::Elevated),
    ("authority.write", Level::Elevated),
    ("authority.unpinned_hook", Level::Elevated),
    ("authority.model_reviewer", Level::Elevated),
    ("authority.moderator_process", Level::Elevated),
    ("authority.prefix_scope", Level::Elevated),
    ("authority.no_audit", Level::Elevated),
    ("authority.allow_default", Level::Elevated),
    ("authority.read", Level::Normal),
];

/// Every finding of a manifest: by level, then in the order of [`CODES`], then by runtime.
pub(crate) fn of(manifest: &Manifest, places: &Places<'_>) -> Vec<Finding> {
    let mut raw_tools: HashMap<&str, Vec<&str>> = HashMap::new();
    for tool in &manifest.tools {
        if matches!(tool.mode, Mode::Raw { .. }) {
            raw_tools.entry(&tool.runtime).or_default().push(&tool.name);
        }
    }
    let mut found = Found::default();
    for runtime in &manifest.runtimes {
        found.runtime = Some(runtime.id.clone());
        found.capabilities(runtime, places);
        found.confinement(runtime);
        found.decisions(runtime);
        found.extensions(runtime);
        if let Some(tools) = raw_tools.get(runtime.id.as_str()) {
            let text = format!("raw shell source may run through {}", list(tools));
            found.add("authority.raw_shell", text);
        }
    }
    if let Some(id) = &manifest.moderator_runtime {
        found.runtime = Some(id.clone());
        found.add(
            "authority.moderator_process",
            "the moderator script may start processes",
        );
    }
    let mut findings = found.findings;
    findings.sort_by_key(|(order, finding)| (std::cmp::Reverse(finding.level), *order));
    findings.into_iter().map(|(_, finding)| finding).collect()
}

#[derive(Default)]
struct Found {
    runtime: Option<String>,
    findings: Vec<(usize, Finding)>,
}

impl Found {
    fn add(&mut self, code: &str, text: impl Into<String>) {
        let Some(order) = CODES.iter().position(|(known, _)| *known == code) else {
            return;
        };
        let finding = Finding {
            level: CODES[order].1,
            code: code.to_owned(),
            runtime: self.runtime.clone(),
            text: text.into(),
        };
        self.findings.push((order, finding));
    }

    fn when(&mut self, condition: bool, code: &str, text: &str) {
        if condition {
            self.add(code, text);
        }
    }

    fn capabilities(&mut self, runtime: &Runtime, places: &Places<'_>) {
        let powers = &runtime.capabilities;
        self.when(
            powers.privilege_change,
            "authority.privilege_change",
            "may change privileges",
        );
        self.when(powers.network, "authority.network", "may use the network");
        let code = "may run code that was not declared";
        self.when(powers.arbitrary_code, "authority.arbitrary_code", code);
        self.when(
            powers.child_processes,
            "authority.child_processes",
            "may start other processes",
        );
        let (read, write) = places.roots(runtime);
        if !write.is_empty() {
            self.add(
                "authority.write",
                format!("may write below {}", list(write)),
            );
        }
        if !read.is_empty() {
            self.add("authority.read", format!("may read below {}", list(read)));
        }
        let unaudited =
            runtime.audit.format == AuditFormat::None && (powers.arbitrary_code || powers.network);
        self.when(
            unaudited,
            "authority.no_audit",
            "nothing of what it runs is recorded",
        );
        let everything =
            runtime.policy.default == Action::Allow && places.writes_everything(runtime);
        let text = "may change every file of the user without a question";
        self.when(everything, "authority.write_everything", text);
    }

    fn confinement(&mut self, runtime: &Runtime) {
        let yolo = runtime
            .profile
            .as_ref()
            .is_some_and(|p| p.resolved == "builtin:yolo@1");
        let text =
            "full local process authority: commands run as the user, without sandbox or question";
        self.when(yolo, "authority.yolo", text);
        let unrestricted = may_run_unconfined(runtime)
            && runtime.policy.default == Action::Allow
            && runtime.capabilities.arbitrary_code;
        let text = "may run any code outside a sandbox without a question";
        self.when(unrestricted, "authority.unrestricted", text);
        let sandbox = runtime.capabilities.sandbox;
        let direct = sandbox == Sandbox::DirectUnsafe;
        self.when(direct, "authority.direct", "commands run outside a sandbox");
        let legacy = runtime.id == "legacy:custom";
        let text = "legacy tools run outside a sandbox with the authority of the user";
        self.when(legacy, "authority.legacy", text);

        let accepted = runtime.backends.accept_declared_confinement;
        let backends = &runtime.backends.entries;
        let fallback = sandbox == Sandbox::Preferred
            && backends.iter().any(|backend| !confines(backend, accepted));
        let text = "commands run outside a sandbox when none is available";
        self.when(fallback, "authority.direct_fallback", text);
        let declared = accepted
            && backends.iter().any(|backend| {
                matches!(
                    backend,
                    Backend::External {
                        confinement: Confinement::Declared,
                        ..
                    }
                )
            });
        let text = "an external program is trusted to confine commands";
        self.when(declared, "authority.declared_confinement", text);
        let raw = runtime.environment.inherit == Inherit::Raw;
        let text = "commands see the complete environment of the host";
        self.when(raw, "authority.raw_environment", text);
    }

    fn decisions(&mut self, runtime: &Runtime) {
        let scopes = &runtime.approvals.scopes;
        let durable = scopes.contains(&Scope::DurableExact);
        let text = "an approval may be stored for later sessions";
        self.when(durable, "authority.durable_approvals", text);
        let prefix = scopes.contains(&Scope::PrefixSession);
        let text = "one approval may cover every command with the same beginning";
        self.when(prefix, "authority.prefix_scope", text);
        let allow = runtime.policy.default == Action::Allow;
        let text = "commands that no rule mentions run without a question";
        self.when(allow, "authority.allow_default", text);
        let full = runtime.audit.content == AuditContent::Full;
        let text = "the audit records complete commands and output";
        self.when(full, "authority.full_audit", text);
    }

    fn extensions(&mut self, runtime: &Runtime) {
        for analyzer in runtime
            .effect_analyzers
            .iter()
            .filter(|analyzer| analyzer.replace)
        {
            let text = format!(
                "analyzer {} may replace what is known of a command",
                safe(&analyzer.id)
            );
            self.add("authority.effect_replacement", text);
        }
        for reviewer in &runtime.reviewers.entries {
            if let Reviewer::Model {
                id, agent, model, ..
            } = reviewer
            {
                let model = model
                    .as_deref()
                    .map_or_else(String::new, |m| format!(", model {}", safe(m)));
                let text = format!(
                    "reviewer {} lets agent {}{model} decide",
                    safe(id),
                    safe(agent)
                );
                self.add("authority.model_reviewer", text);
            }
        }
        for (name, hook) in hooks(runtime) {
            if hook.sha256.is_none() {
                let text = format!("{name} runs a program whose content is not pinned");
                self.add("authority.unpinned_hook", text);
            }
        }
    }
}

/// Executable extensions with a name for people.
fn hooks(runtime: &Runtime) -> Vec<(String, &Hook)> {
    let mut hooks = Vec::new();
    for reviewer in &runtime.reviewers.entries {
        if let Reviewer::Executable { id, hook, .. } = reviewer {
            hooks.push((format!("reviewer {}", safe(id)), hook));
        }
    }
    for interceptor in &runtime.interceptors {
        if let Extension::Executable { hook } = &interceptor.extension {
            hooks.push((format!("interceptor {}", safe(&interceptor.id)), hook));
        }
    }
    for analyzer in &runtime.effect_analyzers {
        if let Extension::Executable { hook } = &analyzer.extension {
            hooks.push((format!("analyzer {}", safe(&analyzer.id)), hook));
        }
    }
    if let Some(Extension::Executable { hook }) = &runtime.audit.filter {
        hooks.push(("the audit filter".to_owned(), hook));
    }
    hooks
}
