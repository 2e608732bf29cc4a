//! One simple command: resolution, effects, ceilings, rules, and what follows from them.

use chatmd_policy::facts::StdinKind;
use chatmd_policy::trace::{MayChange, Outcome, PolicyTrace, RuleRecorder, Step};
use chatmd_policy::{
    Action, Capabilities, CapabilityFailure, CommandFacts, CompiledPolicy, Decision,
    DynamicMatchers, Effects, ExecutableFacts, MatcherPath, NoObserver, PolicySource, RequestKind,
    RuleSource, ScriptsNotRun, check_capabilities, decide, infer_effects,
};

use super::request::Command;
use super::{Detail, Scope};
use crate::manifest::{ApprovalProvider, Interceptor, Phase, Reviewer, Unavailable};
use crate::policy_lowering;

/// What came of one simple command.
#[derive(Clone, Debug)]
pub struct CommandEvaluation {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Kind of request.
    pub kind: RequestKind,
    /// Where stdin comes from.
    pub stdin: StdinKind,
    /// The program, or why there is none. Evaluation continues on the name, untrusted.
    pub executable: Result<ExecutableFacts, String>,
    /// What it would do.
    pub effects: Effects,
    /// Every effect beyond the ceilings.
    pub failures: Vec<CapabilityFailure>,
    /// The rules' answer, also after a refusal of the ceilings.
    pub decision: Decision,
    /// Value and tree of every rule, where asked for.
    pub rules: Option<PolicyTrace>,
    /// Extensions that would run and were not run.
    pub may_change: Vec<MayChange>,
    /// What would become of it.
    pub outcome: Outcome,
    /// What decided that.
    pub step: Step,
    /// Code of the refusal.
    pub code: Option<&'static str>,
    /// Its reason.
    pub reason: Option<String>,
}

impl CommandEvaluation {
    /// Whether the rule fired.
    pub fn fired(&self, rule: &str) -> bool {
        self.decision.fired.iter().any(|id| id == rule)
    }

    /// Whether a step before the rules refuses it.
    pub fn rejected(&self) -> bool {
        self.executable.is_err() || !self.failures.is_empty()
    }
}

/// Judges one command.
pub(super) fn evaluate(
    scope: &Scope<'_>,
    command: Command,
    scripts: &mut dyn DynamicMatchers,
    detail: Detail,
) -> CommandEvaluation {
    let host = scope.host;
    let policy = host.policy();
    let executable = match command.argv.first() {
        Some(program) => host.resolve(program),
        None => Err("the command is empty".to_owned()),
    };
    let facts = CommandFacts {
        executable: executable.as_ref().ok().cloned(),
        cwd: host.cwd().to_owned(),
        kind: command.kind,
        script: command.script,
        stdin: command.stdin,
        stdin_bytes: command.stdin_bytes,
        environment: host.effect_variables().clone(),
        argv: command.argv,
    };
    let mut effects = infer_effects(&facts, host.paths(), host.direct());
    for analyzer in &scope.runtime.effect_analyzers {
        effects.fail(&analyzer.id, "not run");
    }
    let failures = check_capabilities(policy.capabilities(), &effects, host.paths());
    let (decision, rules) = if detail.rules {
        let mut recorder = RuleRecorder::new(policy);
        let decision = decide(
            policy,
            &facts,
            &effects,
            host.paths(),
            scripts,
            &mut recorder,
        );
        let rules = recorder.finish(&decision);
        (decision, Some(rules))
    } else {
        let observer = &mut NoObserver;
        let decision = decide(policy, &facts, &effects, host.paths(), scripts, observer);
        (decision, None)
    };
    let mut result = CommandEvaluation {
        kind: facts.kind,
        stdin: facts.stdin,
        may_change: may_change(scope, &facts, &effects),
        argv: facts.argv,
        executable,
        effects,
        failures,
        decision,
        rules,
        outcome: Outcome::WouldRun,
        step: Step::Policy,
        code: None,
        reason: None,
    };
    conclude(scope, &mut result, detail);
    result
}

/// The first step that refuses, in the order of a call.
fn conclude(scope: &Scope<'_>, result: &mut CommandEvaluation, detail: Detail) {
    let mut end = |outcome, step, code, reason: Option<String>| {
        result.outcome = outcome;
        result.step = step;
        result.code = code;
        result.reason = reason;
    };
    if let Err(reason) = &result.executable {
        let reason = reason.clone();
        return end(
            Outcome::Unresolvable,
            Step::Resolution,
            Some("resolution_error"),
            Some(reason),
        );
    }
    if let Some(failure) = result.failures.first() {
        let reason = failure.to_string();
        return end(
            Outcome::WouldReject,
            Step::Capability,
            Some("capability_violation"),
            Some(reason),
        );
    }
    let reason = result.decision.reason.clone();
    match result.decision.action {
        Action::Deny => end(
            Outcome::WouldDeny,
            Step::Policy,
            Some("denied"),
            Some(reason),
        ),
        Action::Ask if detail.granted => end(Outcome::WouldRun, Step::Approval, None, None),
        Action::Ask if nobody_answers(scope) => {
            let code = match scope.runtime.approvals.unavailable {
                Unavailable::Error if !scope.runtime.reviewers.is_empty_chain() => {
                    "permission_required"
                }
                Unavailable::Deny | Unavailable::Error => "denied",
            };
            let reason = format!("{reason}: nobody can be asked");
            end(Outcome::WouldDeny, Step::Approval, Some(code), Some(reason));
        }
        Action::Ask => end(Outcome::WouldAsk, Step::Approval, None, Some(reason)),
        Action::Allow => end(Outcome::WouldRun, Step::Policy, None, None),
    }
    // An interceptor that was not run can still refuse what would run or ask.
    let intercepted = result.may_change.iter().find(|it| it.kind == "interceptor");
    if !detail.extensions_pass
        && matches!(result.outcome, Outcome::WouldRun | Outcome::WouldAsk)
        && let Some(extension) = intercepted
    {
        let reason = format!("interceptor {} was not run", extension.id);
        result.outcome = Outcome::Indeterminate;
        result.reason = Some(reason);
    }
}

/// Whether an `ask` meets nobody.
pub(super) fn nobody_answers(scope: &Scope<'_>) -> bool {
    let reviewers = &scope.runtime.reviewers;
    let no_person = scope.runtime.approvals.provider == ApprovalProvider::None;
    reviewers.is_empty_chain() || no_person && reviewers.only_people()
}

fn may_change(scope: &Scope<'_>, facts: &CommandFacts, effects: &Effects) -> Vec<MayChange> {
    let change = |kind: &str, id: &str, when: &str| MayChange {
        kind: kind.to_owned(),
        id: id.to_owned(),
        when: when.to_owned(),
    };
    let analyzers = scope.runtime.effect_analyzers.iter();
    let mut found: Vec<MayChange> = analyzers
        .map(|analyzer| change("analyzer", &analyzer.id, "effects"))
        .collect();
    for interceptor in &scope.runtime.interceptors {
        match interceptor.phase {
            Phase::Before if applies(scope, interceptor, facts, effects) => {
                found.push(change("interceptor", &interceptor.id, "before"));
            }
            Phase::Before | Phase::After => {}
        }
    }
    found
}

/// Whether an interceptor may see the command: its matcher is yes or maybe.
fn applies(
    scope: &Scope<'_>,
    interceptor: &Interceptor,
    facts: &CommandFacts,
    effects: &Effects,
) -> bool {
    let Some(matcher) = &interceptor.matcher else {
        return true;
    };
    let host = scope.host;
    let mut locate = |path: &crate::manifest::Path| match host.path(path) {
        Ok(path) => match host.paths().canonical_or_parent(&path) {
            Ok(path) => MatcherPath::Canonical(path),
            Err(_) => MatcherPath::Unresolved(path),
        },
        Err(_) => MatcherPath::Unresolved(String::new()),
    };
    let source = PolicySource {
        default: Action::Allow,
        rules: vec![RuleSource {
            id: interceptor.id.clone(),
            // A restrictive rule fires on yes and on maybe.
            action: Action::Ask,
            matcher: policy_lowering::matcher(matcher, &mut locate),
        }],
        capabilities: Capabilities::default(),
        direct: host.direct(),
    };
    let Ok(policy) = CompiledPolicy::compile(source) else {
        return true;
    };
    let mut scripts = ScriptsNotRun;
    let decision = decide(
        &policy,
        facts,
        effects,
        host.paths(),
        &mut scripts,
        &mut NoObserver,
    );
    !decision.fired.is_empty()
}

/// Word of a reviewer's kind, its id, and what became of it.
pub(super) fn reviewer(reviewer: &Reviewer) -> (&str, &'static str, &'static str) {
    match reviewer {
        Reviewer::Ui { id } => (id, "ui", "would be asked"),
        Reviewer::Chatml { id, .. } => (id, "chatml", "not run"),
        Reviewer::Model { id, .. } => (id, "model", "not run"),
        Reviewer::Executable { id, .. } => (id, "executable", "not run"),
    }
}
