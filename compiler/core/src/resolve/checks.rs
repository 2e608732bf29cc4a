//! What only the merged runtime shows (spec 02 sections 10 to 13, spec 04 section 7).
//!
//! A finding is reported at the runtime that declares one of the sections it is about, so that a
//! child does not repeat what its parent was told.

use std::sync::Arc;

use super::context::Context;
use super::effective::{Effective, Entry};
use super::inherit::written;
use super::input::ExpandedItem;
use super::registry::{Parent, field_place};
use super::report::{Fill, error, note, place, quote, warning};
use super::rule_lints::{evadable, never_matches};
use super::taint::Taint;
use crate::decl::{MatcherDecl, MatcherKindDecl, RuleDecl, RuntimeDecl};
use crate::diagnostics::{Diagnostic, Place};
use crate::manifest::{
    Action, ApprovalProvider, AuditFormat, Backend, Confinement, Matcher, MatcherFailure, Platform,
    Reviewer, ReviewerMode, Sandbox, Scope,
};

/// Most matcher nodes of a runtime (spec 02 section 11.1).
const MAX_MATCHER_NODES: usize = 4096;

/// Checks every runtime.
pub(crate) fn runtimes(cx: &mut Context<'_>) {
    for index in 0..cx.registry.runtimes.len() {
        let node = &cx.registry.runtimes[index];
        let Some(effective) = node.effective.clone() else {
            continue;
        };
        let taint = node.taint;
        let parent = match node.parent {
            Parent::Runtime(parent) => cx.registry.runtimes[parent].effective.clone(),
            _ => None,
        };
        let check = Check {
            item: node.item,
            decl: node.decl,
            id: node.id.clone(),
            written: written(&node.decl.id),
            effective,
            parent,
            platform: cx.platform,
        };
        for finding in check.all(taint) {
            cx.sink.push(finding);
        }
    }
}

struct Check<'a> {
    item: &'a ExpandedItem,
    decl: &'a RuntimeDecl,
    id: String,
    written: &'a str,
    effective: Arc<Effective>,
    /// The parent, when it is a runtime of the document.
    parent: Option<Arc<Effective>>,
    platform: Platform,
}

impl Check<'_> {
    fn all(&self, taint: Taint) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let clean = |sections| !taint.touches(sections);
        if clean(Taint::CAPABILITIES.and(Taint::BACKENDS)) {
            self.backends(&mut findings);
        }
        if clean(Taint::APPROVALS) {
            self.approvals(&mut findings);
        }
        if clean(Taint::APPROVALS.and(Taint::REVIEWERS)) {
            self.reviewers(&mut findings);
        }
        if clean(Taint::AUDIT) {
            self.audit(&mut findings);
        }
        if clean(Taint::POLICY.and(Taint::INTERCEPTORS)) {
            self.matchers(&mut findings);
        }
        if clean(Taint::POLICY.and(Taint::CAPABILITIES)) {
            self.rules(&mut findings);
        }
        findings
    }

    fn at(&self, span: chatmd_syntax::Span) -> Place {
        place(self.item, span)
    }

    /// Place of the id: where a finding about the whole runtime points.
    fn id_at(&self) -> Place {
        field_place(self.item, &self.decl.id)
    }

    fn finish(&self, finding: Diagnostic, section: &str) -> Diagnostic {
        finding
            .path(["shell_access", self.written, section])
            .runtime(&self.id)
    }

    fn backends(&self, findings: &mut Vec<Diagnostic>) {
        let decl = self.decl;
        if self.parent.is_some() && decl.capabilities.is_none() && decl.backends.is_none() {
            return;
        }
        let effective = &self.effective;
        let sandbox = effective.sandbox.value;
        let accepted = effective.accept_declared_confinement;
        let mut kept = effective.kept(self.platform);
        if kept.any(|entry| {
            entry
                .value
                .as_deref()
                .is_none_or(|backend| eligible(backend, sandbox, accepted))
        }) {
            return;
        }
        let message = format!(
            "runtime {} has no backend for sandbox mode `{}` on {}",
            quote(&self.id),
            sandbox.as_str(),
            self.platform.as_str()
        );
        let at = match (&decl.capabilities, &decl.backends) {
            (_, Some(backends)) => self.at(backends.name),
            (Some(capabilities), None) => capabilities
                .sandbox
                .as_ref()
                .map_or(self.at(capabilities.name), |s| self.at(s.span)),
            (None, None) => self.id_at(),
        };
        let mut finding =
            error("shell.incompatible_backend", at, message).label("nothing could run a command");
        if effective.sandbox.at != Some(at) {
            finding = finding.also(effective.sandbox.at, "the sandbox mode is set here");
        }
        for entry in effective.backends.iter().take(8) {
            finding = finding.hint(self.excluded(entry, sandbox));
        }
        findings.push(self.finish(
            finding.hint("add a backend that fits, or change `sandbox`"),
            "backends",
        ));
    }

    fn excluded(&self, entry: &Entry<Backend>, sandbox: Sandbox) -> String {
        let Some(backend) = entry.value.as_deref() else {
            return String::new();
        };
        let name = match &entry.id {
            Some(id) => format!("{} {}", kind(backend), quote(id)),
            None => kind(backend).to_owned(),
        };
        if !super::effective::runs_on(backend, self.platform) {
            return format!("{name} is left out: it is for another platform");
        }
        match (backend, sandbox) {
            (
                Backend::External {
                    confinement: Confinement::Declared,
                    ..
                },
                Sandbox::Required,
            ) => {
                format!(
                    "{name} is not eligible: set `accept_declared_confinement=\"true\"` to trust it"
                )
            }
            (_, Sandbox::Required) => format!("{name} is not eligible: it does not confine"),
            _ => format!("{name} is not eligible: it confines, and `direct_unsafe` asks for none"),
        }
    }

    fn approvals(&self, findings: &mut Vec<Diagnostic>) {
        let Some(section) = &self.decl.approvals else {
            return;
        };
        let effective = &self.effective;
        let offered = effective.scopes.value.contains(&Scope::DurableExact);
        let name = self.at(section.name);
        if offered && !effective.durable.value {
            let own = section.scopes.as_ref().map(|scopes| self.at(scopes.span));
            let at = own
                .or(section.durable.as_ref().map(|d| self.at(d.span)))
                .unwrap_or(name);
            let mut finding = error(
                "shell.durable_scope_disabled",
                at,
                format!(
                    "runtime {} offers `durable_exact`, but storing durable grants is off",
                    quote(&self.id)
                ),
            )
            .label("offers a scope that can not be stored")
            .hint("set `durable=\"true\"`, or drop `durable_exact` from `scopes`");
            if own.is_none() {
                finding = finding.also(effective.scopes.at, "the scope is offered here");
            }
            findings.push(self.finish(finding, "approvals"));
        }
        if !offered && effective.durable.value {
            let at = section
                .durable
                .as_ref()
                .map_or(name, |durable| self.at(durable.span));
            let message = format!(
                "runtime {} may store durable grants, but never offers the scope `durable_exact`",
                quote(&self.id)
            );
            let finding = warning("shell.durable_scope_unused", at, message)
                .label("has no effect")
                .hint("add `durable_exact` to `scopes`, or drop `durable`");
            findings.push(self.finish(finding, "approvals"));
        }
    }

    fn reviewers(&self, findings: &mut Vec<Diagnostic>) {
        let effective = &self.effective;
        if let Some(section) = &self.decl.reviewers
            && effective.reviewer_mode == ReviewerMode::Chain
            && effective.reviewers.is_empty()
        {
            let finding = warning(
                "shell.empty_reviewers",
                self.at(section.name),
                format!(
                    "runtime {} has an empty reviewer chain: every question is denied",
                    quote(&self.id)
                ),
            )
            .label("nobody can answer")
            .hint("add a `reviewer`, or remove the section to ask the user");
            findings.push(self.finish(finding, "reviewers"));
        }
        if self.decl.reviewers.is_none() && self.decl.approvals.is_none() {
            return;
        }
        if effective.provider != ApprovalProvider::None {
            return;
        }
        for entry in &effective.reviewers {
            let Some(Reviewer::Ui { id }) = entry.value.as_deref() else {
                continue;
            };
            let own = entry
                .at
                .filter(|at| at.file == self.item.file && at.item == Some(self.item.item));
            let declared = self.decl.approvals.as_ref().map(|section| {
                self.at(section
                    .provider
                    .as_ref()
                    .map_or(section.name, |provider| provider.span))
            });
            let Some(at) = own.or(declared) else { continue };
            let finding = warning(
                "shell.ui_reviewer_without_provider",
                at,
                format!(
                    "reviewer {} asks the user, but `provider` is `none`",
                    quote(id)
                ),
            )
            .label("can never answer")
            .hint("set `provider=\"ui\"` on `approvals`, or remove the reviewer");
            findings.push(self.finish(finding, "reviewers"));
        }
    }

    fn audit(&self, findings: &mut Vec<Diagnostic>) {
        let Some(section) = &self.decl.audit else {
            return;
        };
        let audit = &self.effective.audit;
        if audit.format == AuditFormat::None
            && let Some(filter) = self.effective.filter_at
        {
            let at = section
                .filter
                .as_ref()
                .map_or(self.at(section.name), |f| self.at(f.span));
            let finding = warning(
                "shell.audit_filter_unused",
                at,
                format!(
                    "runtime {} filters an audit stream that it does not write",
                    quote(&self.id)
                ),
            )
            .label("has no effect with format `none`")
            .also((filter != at).then_some(filter), "the filter")
            .hint("choose another `format`, or remove the filter");
            findings.push(self.finish(finding, "audit"));
        }
    }

    fn matchers(&self, findings: &mut Vec<Diagnostic>) {
        if nodes(&self.effective) <= MAX_MATCHER_NODES {
            return;
        }
        if self
            .parent
            .as_deref()
            .is_some_and(|parent| nodes(parent) > MAX_MATCHER_NODES)
        {
            return;
        }
        let at = self
            .decl
            .policy
            .as_ref()
            .map_or(self.id_at(), |section| self.at(section.name));
        let message = format!(
            "runtime {} has more than {MAX_MATCHER_NODES} matchers",
            quote(&self.id)
        );
        let finding = error("shell.matcher_too_deep", at, message)
            .label("too many matchers, inherited ones included")
            .hint("merge rules, or replace lists of names by one `program_regex`");
        findings.push(self.finish(finding, "policy"));
    }

    fn rules(&self, findings: &mut Vec<Diagnostic>) {
        let effective = &self.effective;
        for rule in self.decl.policy.iter().flat_map(|section| &section.rules) {
            let Some(matcher) = &rule.matcher else {
                continue;
            };
            let id = quote(&rule.id.value);
            let by_name = rule.action == Action::Allow
                && !effective.write.is_empty()
                && by_name_only(matcher);
            if by_name {
                let finding = note(
                    "shell.untrusted_allow",
                    self.at(rule.id.span),
                    format!(
                        "rule {id} allows a program by its name, in a runtime that can write files"
                    ),
                )
                .label("a file of that name could be planted")
                .hint("add `<trusted_executable/>` in an `all`, or use `resolved_path`");
                findings.push(
                    finding
                        .path(self.rule_path(&rule.id.value))
                        .runtime(&self.id),
                );
            }
            // Lowering knows a default that the same section writes, and `deny` anyhow.
            let inherited_allow = rule.action == Action::Ask
                && effective.policy == Action::Allow
                && self
                    .decl
                    .policy
                    .as_ref()
                    .is_some_and(|section| section.default.is_none());
            if inherited_allow {
                self.clamped(matcher, &rule.id.value, findings);
            }
            self.lints(rule, matcher, findings);
        }
    }

    /// What a rule says that its author can not have meant (spec 12 section 4.2).
    fn lints(&self, rule: &RuleDecl, matcher: &MatcherDecl, findings: &mut Vec<Diagnostic>) {
        let id = quote(&rule.id.value);
        let finish = |finding: Diagnostic| {
            finding
                .path(self.rule_path(&rule.id.value))
                .runtime(&self.id)
        };
        if let Some(found) = never_matches(matcher, rule.action) {
            // A rule that asks or denies also looks into wrappers and shell text.
            let (message, hint) = match rule.action {
                Action::Allow => (
                    format!("rule {id} never matches: no command has both of these"),
                    "use `any` where one of them is enough, or delete the rule",
                ),
                Action::Ask | Action::Deny => (
                    format!("rule {id} matches no command by itself: none has both of these"),
                    "use `any` where one of them is enough",
                ),
            };
            let mut finding = warning(
                "chatmd.lint.rule_never_matches",
                self.at(found.second),
                message,
            )
            .label(format!("{} excludes the other one", found.shown))
            .hint(hint);
            if found.first != found.second {
                finding = finding.related(self.at(found.first), "the other one");
            }
            let restricts = rule.action != Action::Allow;
            let through = match (restricts, found.only_through_link) {
                (true, true) => Some(
                    "a wrapper or shell text that names both, or a link that gives a program another name",
                ),
                (true, false) => Some("a wrapper or shell text that holds both"),
                (false, true) => Some("a link that gives a program another name"),
                (false, false) => None,
            };
            if let Some(through) = through {
                finding = finding.note(format!("only {through} could bring them together"));
            }
            findings.push(finish(finding));
            return;
        }
        if rule.action == Action::Allow {
            return;
        }
        for found in evadable(matcher, rule.action, &self.effective) {
            let does = match rule.action {
                Action::Ask => "ask about",
                _ => "deny",
            };
            let message = format!(
                "rule {id} does not {does} this where an option stands before the subcommand"
            );
            let witnesses = found.witnesses.iter().map(|words| format!("`{words}`"));
            let witnesses: Vec<String> = witnesses.collect();
            let finding = warning(
                "chatmd.lint.deny_prefix_global_options",
                self.at(found.at),
                message,
            )
            .label(format!("it does not see {}", witnesses.join(", ")))
            .hint("match the program and the subcommand, wherever it stands")
            .fix(
                "match the program and the subcommand instead",
                self.at(found.element),
                found.instead,
            );
            findings.push(finish(finding));
        }
    }

    fn rule_path(&self, id: &str) -> [String; 5] {
        ["shell_access", self.written, "policy", "rule", id].map(str::to_owned)
    }

    /// `failure="no_match"` where it could be read as dropping the restriction.
    fn clamped(&self, matcher: &MatcherDecl, id: &str, findings: &mut Vec<Diagnostic>) {
        let mut open = vec![matcher];
        while let Some(matcher) = open.pop() {
            match &matcher.kind {
                MatcherKindDecl::All(of) | MatcherKindDecl::Any(of) => open.extend(of),
                MatcherKindDecl::Not(of) => open.push(of),
                MatcherKindDecl::ChatmlMatch {
                    failure: MatcherFailure::NoMatch,
                    ..
                } => {
                    let finding = warning(
                        "shell.matcher_failure_clamped",
                        self.at(matcher.name),
                        format!(
                            "a failing script does not switch rule {} off: it counts as a match",
                            quote(id)
                        ),
                    )
                    .label("`failure=\"no_match\"` has no effect here")
                    .hint("drop `failure`");
                    findings.push(finding.path(self.rule_path(id)).runtime(&self.id));
                }
                _ => {}
            }
        }
    }
}

fn kind(backend: &Backend) -> &'static str {
    match backend {
        Backend::Seatbelt { .. } => "seatbelt",
        Backend::Bubblewrap { .. } => "bubblewrap",
        Backend::Direct { .. } => "direct",
        Backend::External { .. } => "external backend",
    }
}

/// Eligibility of a backend of the target platform (spec 02 section 10).
pub(crate) fn eligible(backend: &Backend, sandbox: Sandbox, accepted: bool) -> bool {
    let confines = match backend {
        Backend::Seatbelt { .. } | Backend::Bubblewrap { .. } => true,
        Backend::Direct { .. } => false,
        Backend::External { confinement, .. } => accepted && *confinement == Confinement::Declared,
    };
    match sandbox {
        Sandbox::Required => confines,
        Sandbox::Preferred => true,
        Sandbox::DirectUnsafe => match backend {
            Backend::Seatbelt { .. } | Backend::Bubblewrap { .. } => false,
            Backend::Direct { .. } => true,
            Backend::External { .. } => !confines,
        },
    }
}

/// Matcher nodes of the rules and interceptors.
fn nodes(effective: &Effective) -> usize {
    let rules = effective
        .rules
        .iter()
        .filter_map(|entry| entry.value.as_deref());
    let interceptors = effective
        .interceptors
        .iter()
        .filter_map(|entry| entry.value.as_deref());
    let mut open: Vec<&Matcher> = rules.map(|rule| &rule.matcher).collect();
    open.extend(interceptors.filter_map(|interceptor| interceptor.matcher.as_ref()));
    let mut count = 0;
    while let Some(matcher) = open.pop() {
        count += 1;
        match matcher {
            Matcher::All { of } | Matcher::Any { of } => open.extend(of),
            Matcher::Not { of } => open.push(of),
            _ => {}
        }
    }
    count
}

/// Whether a matcher names programs and neither trust nor a path.
fn by_name_only(matcher: &MatcherDecl) -> bool {
    let (mut named, mut open) = (false, vec![matcher]);
    while let Some(matcher) = open.pop() {
        match &matcher.kind {
            MatcherKindDecl::TrustedExecutable | MatcherKindDecl::ResolvedPath(_) => return false,
            MatcherKindDecl::Basename(_) | MatcherKindDecl::Program(_) => named = true,
            MatcherKindDecl::All(of) | MatcherKindDecl::Any(of) => open.extend(of),
            // What is excluded does not make a program trusted.
            _ => {}
        }
    }
    named
}
