//! Sections whose entries refer to scripts, programs or agents.

use super::super::convert::Local;
use super::super::effective::Effective;
use super::super::tools;
use super::lists::{Section, named, set};
use crate::decl::{
    AnalyzersDecl, AuditDecl, InterceptorsDecl, PolicyDecl, ReviewerKindDecl, ReviewersDecl,
};
use crate::manifest::{Analyzer, Interceptor, Phase, Reviewer, ReviewerMode, Rule, ScriptKind};

pub(super) fn policy(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &PolicyDecl) {
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

pub(super) fn reviewers(
    local: &mut Local<'_, '_>,
    effective: &mut Effective,
    decl: &ReviewersDecl,
) {
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
            } => tools::reviewer_agent(local, &reviewer.id.value, agent).then(|| Reviewer::Model {
                id,
                agent: agent.value.clone(),
                model: model.clone(),
                failure: *failure,
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

pub(super) fn interceptors(
    local: &mut Local<'_, '_>,
    effective: &mut Effective,
    decl: &InterceptorsDecl,
) {
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

pub(super) fn analyzers(
    local: &mut Local<'_, '_>,
    effective: &mut Effective,
    decl: &AnalyzersDecl,
) {
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

pub(super) fn audit(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &AuditDecl) {
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
