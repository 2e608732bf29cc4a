//! An evaluation as the published trace object (spec 12 section 3.2).

use chatmd_policy::Action;
use chatmd_policy::facts::RequestKind;
use chatmd_policy::trace::{
    AdminTrace, ApprovalTrace, DecidedBy, DeclaredIn, InputTrace, Known, MayChange, PolicyTrace,
    RequestTrace, ResolutionTrace, ReviewerTrace, StageTrace, Trace, TraceSpan, TrustTrace,
    capability_trace, effects_trace, inner_trace,
};
use serde_json::{Map, Value as Json};

use super::command::{CommandEvaluation, nobody_answers, reviewer};
use super::{Evaluation, Scope};
use crate::compile::Compilation;
use crate::diagnostics::Place;
use crate::manifest::Mode;
use crate::resolve::RulePlace;

impl Evaluation {
    /// The trace. Texts of the request are in it as they are: redact and sanitise them with
    /// [`Trace::visit_strings`] before they are shown.
    pub fn trace(&self, scope: &Scope<'_>) -> Trace {
        let stages = self.commands.iter().enumerate();
        let stages = stages
            .map(|(index, command)| stage(scope, index, command))
            .collect();
        let mut may_change: Vec<MayChange> = Vec::new();
        for change in self.commands.iter().flat_map(|it| &it.may_change) {
            if !may_change.contains(change) {
                may_change.push(change.clone());
            }
        }
        Trace {
            version: 1,
            manifest_sha256: scope.manifest_sha256.to_owned(),
            host: scope.host.kind(),
            runtime: scope.runtime.id.clone(),
            tool: scope.tool.map(|tool| tool.name.clone()),
            origin: self.request.origin.as_str().to_owned(),
            request: RequestTrace {
                kind: self.kind(scope),
                input: self.request.text.to_json(),
                cwd: scope.host.cwd().to_owned(),
                stdin_bytes: self.request.stdin_bytes,
                environment_names: scope.host.environment_names(),
            },
            input: self.input(),
            parse: self.parse.clone(),
            stages,
            outcome: self.outcome,
            code: self.code.clone(),
            reason: self.reason.clone(),
            decided_by: DecidedBy {
                stage: self.deciding,
                step: self.step,
            },
            may_change,
            assumptions: scope.host.assumptions(),
        }
    }

    fn kind(&self, scope: &Scope<'_>) -> RequestKind {
        match (self.commands.first(), scope.tool.map(|tool| &tool.mode)) {
            (Some(command), _) => command.kind,
            (None, Some(Mode::Raw { .. })) => RequestKind::RawShell,
            (None, Some(Mode::Script { .. })) => RequestKind::ScriptFile,
            (None, _) => RequestKind::Structured,
        }
    }

    fn input(&self) -> InputTrace {
        // A chain that does not parse is told by `parse`.
        let refused = self.refused.as_ref().filter(|_| self.parse.is_none());
        InputTrace {
            ok: refused.is_none(),
            code: refused.map(|it| it.code.clone()),
            field: refused.and_then(|it| it.field.clone()),
            reason: refused.map(|it| it.reason.clone()),
        }
    }
}

fn stage(scope: &Scope<'_>, index: usize, command: &CommandEvaluation) -> StageTrace {
    StageTrace {
        index,
        argv: command.argv.clone(),
        resolution: resolution(scope, command),
        effects: effects_trace(&command.effects),
        inner: inner_trace(&command.effects),
        admin: AdminTrace::default(),
        capability: {
            let mut trace = capability_trace(&command.failures);
            for (shown, failure) in trace.failures.iter_mut().zip(&command.failures) {
                shown.span = scope.compilation.and_then(|compilation| {
                    let places = &compilation.places;
                    span(
                        compilation,
                        places.ceiling(&scope.runtime.id, failure.kind)?,
                    )
                });
            }
            trace
        },
        policy: policy(scope, command),
        approval: approval(scope, command),
        backend: scope.host.backend(&command.argv),
        limits: limits(scope),
        outcome: command.outcome,
    }
}

/// A place in the document as lines and columns.
fn span(compilation: &Compilation, place: Place) -> Option<TraceSpan> {
    let location = compilation.locate(place)?;
    Some(TraceSpan {
        file: location.file.display.clone(),
        line: location.start.line,
        column: location.start.column,
    })
}

fn resolution(scope: &Scope<'_>, command: &CommandEvaluation) -> ResolutionTrace {
    let program = command.argv.first().cloned().unwrap_or_default();
    let details = scope.host.describe(&program);
    let found = command.executable.as_ref().ok();
    let unknown = TrustTrace {
        t1: Known::Unknown,
        t2: Known::Unknown,
        t3: Known::Unknown,
        t4: Known::Unknown,
        t5: Known::Unknown,
        t6: Known::Unknown,
    };
    ResolutionTrace {
        alias: details.alias,
        search: Some(details.search),
        located: found.map(|it| it.located.clone()),
        canonical: found.map(|it| it.canonical.clone()),
        class: details.class,
        trusted: found.is_some_and(|it| it.trusted),
        trust: details.trust.unwrap_or(unknown),
        stable: found.is_some_and(|it| it.stable),
        sha256: details.sha256,
        interpreter: details.interpreter,
        error: command.executable.as_ref().err().cloned(),
        program,
    }
}

fn policy(scope: &Scope<'_>, command: &CommandEvaluation) -> PolicyTrace {
    let mut trace = command.rules.clone().unwrap_or_else(|| PolicyTrace {
        evaluated: true,
        action: Some(command.decision.action),
        default_used: command.decision.default_used,
        deciding: command.decision.deciding.clone(),
        rules: Vec::new(),
        unmatched: None,
    });
    for rule in &mut trace.rules {
        rule.declared_in = declared_in(scope, &rule.id);
    }
    trace
}

fn declared_in(scope: &Scope<'_>, rule: &str) -> Option<DeclaredIn> {
    let compilation = scope.compilation?;
    Some(match compilation.places.rule(&scope.runtime.id, rule)? {
        RulePlace::Document { runtime, at } => {
            let span = span(compilation, at);
            DeclaredIn {
                runtime: Some(runtime),
                profile: None,
                file: span.as_ref().map(|span| span.file.clone()),
                span,
            }
        }
        RulePlace::Profile(profile) => DeclaredIn {
            runtime: None,
            profile: Some(profile),
            file: None,
            span: None,
        },
    })
}

fn approval(scope: &Scope<'_>, command: &CommandEvaluation) -> Option<ApprovalTrace> {
    if command.decision.action != Action::Ask {
        return None;
    }
    let approvals = &scope.runtime.approvals;
    let reviewers = scope.runtime.reviewers.entries.iter().map(|entry| {
        let (id, kind, state) = reviewer(entry);
        ReviewerTrace {
            id: id.to_owned(),
            kind: kind.to_owned(),
            state: state.to_owned(),
        }
    });
    Some(ApprovalTrace {
        needed: !nobody_answers(scope),
        provider: approvals.provider.as_str().to_owned(),
        reviewers: reviewers.collect(),
        scopes: approvals
            .scopes
            .iter()
            .map(|scope| scope.as_str().to_owned())
            .collect(),
        unavailable: approvals.unavailable.as_str().to_owned(),
    })
}

/// Effective limits under their manifest names.
fn limits(scope: &Scope<'_>) -> Map<String, Json> {
    match serde_json::to_value(&scope.runtime.limits) {
        Ok(Json::Object(limits)) => limits,
        _ => Map::new(),
    }
}
