//! Whether an evaluation is what a test expects (spec 12 section 2.4).

use chatmd_policy::trace::Outcome;
use chatmd_policy::{Action, Decision};

use super::options::Options;
use super::verb::Verb;
use crate::diagnostics::quote;
use crate::evaluation::{CommandEvaluation, Evaluation, EvaluationHost};
use crate::manifest::Path;

/// What a test asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expectation<'a> {
    pub verb: Verb,
    pub options: &'a Options,
    /// The rule that `match` and `no_match` speak of.
    pub rule: Option<&'a str>,
    /// Paths of [`Options::effects`] in manifest form, in the same order.
    pub effect_paths: &'a [Option<Path>],
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub passed: bool,
    /// Outcome of what was looked at.
    pub outcome: Outcome,
    /// The word for what came out.
    pub got: &'static str,
    /// Why it came out so, or which option is not met.
    pub reason: String,
}

/// Compares an evaluation with an expectation.
pub(super) fn judge(
    expected: &Expectation<'_>,
    evaluation: &Evaluation,
    host: &dyn EvaluationHost,
) -> Verdict {
    let options = expected.options;
    let looked_at: Vec<&CommandEvaluation> = match options.stage {
        None => evaluation.commands.iter().collect(),
        Some(stage) => match evaluation.commands.get(stage - 1) {
            Some(command) => vec![command],
            None if evaluation.refused.is_some() => Vec::new(),
            None => {
                return Verdict {
                    passed: false,
                    outcome: evaluation.outcome,
                    got: evaluation.outcome.as_str(),
                    reason: format!(
                        "there is no stage {stage}, the request has {}",
                        evaluation.commands.len()
                    ),
                };
            }
        },
    };
    let outcome = outcome(options, evaluation, &looked_at);
    let (holds, got) = holds(expected, evaluation, &looked_at, outcome);
    let why = || reason(options, evaluation, &looked_at, outcome);
    let unmet = unmet(expected, evaluation, &looked_at, host);
    Verdict {
        passed: holds && unmet.is_none(),
        outcome,
        got,
        reason: match (holds, unmet) {
            (true, Some(unmet)) => unmet,
            _ => why(),
        },
    }
}

/// The outcome of the commands that count.
fn outcome(
    options: &Options,
    evaluation: &Evaluation,
    looked_at: &[&CommandEvaluation],
) -> Outcome {
    let of = |command: &&CommandEvaluation| match (options.policy_only, command.decision.action) {
        (false, _) => command.outcome,
        (true, Action::Allow) => Outcome::WouldRun,
        (true, Action::Ask) => Outcome::WouldAsk,
        (true, Action::Deny) => Outcome::WouldDeny,
    };
    match looked_at.iter().map(of).max() {
        Some(outcome) => outcome,
        None => evaluation.outcome,
    }
}

fn holds(
    expected: &Expectation<'_>,
    evaluation: &Evaluation,
    looked_at: &[&CommandEvaluation],
    outcome: Outcome,
) -> (bool, &'static str) {
    let any = |test: fn(&CommandEvaluation) -> bool| looked_at.iter().any(|it| test(it));
    let denied = any(|command| command.decision.action == Action::Deny);
    let rejected = evaluation.refused.is_some() || any(CommandEvaluation::rejected);
    let fired = expected
        .rule
        .is_some_and(|rule| looked_at.iter().any(|command| command.fired(rule)));
    let holds = match expected.verb {
        Verb::Allow => outcome == Outcome::WouldRun,
        Verb::Ask => outcome == Outcome::WouldAsk,
        Verb::Deny => denied,
        Verb::Reject => rejected,
        Verb::Blocked => denied || rejected,
        Verb::Guarded => !matches!(outcome, Outcome::WouldRun | Outcome::Indeterminate),
        Verb::Match => fired,
        Verb::NoMatch => !fired,
    };
    let got = match (expected.verb.needs_rule(), fired) {
        (false, _) => outcome.as_str(),
        (true, true) => "match",
        (true, false) => "no_match",
    };
    (holds, got)
}

/// The first option that is not met.
fn unmet(
    expected: &Expectation<'_>,
    evaluation: &Evaluation,
    looked_at: &[&CommandEvaluation],
    host: &dyn EvaluationHost,
) -> Option<String> {
    let options = expected.options;
    let decisions = || looked_at.iter().map(|command| &command.decision);
    if !expected.verb.needs_rule() {
        let missing = options.rules.iter().find(|rule| {
            !decisions().any(|decision| decision.deciding.iter().any(|id| id == *rule))
        });
        if let Some(rule) = missing {
            let deciding: Vec<&str> = decisions()
                .flat_map(|decision| &decision.deciding)
                .map(String::as_str)
                .collect();
            return Some(match deciding.as_slice() {
                [] => format!("no rule decides, {} included", quote(rule)),
                known => format!("decided by {}, not by {}", names(known), quote(rule)),
            });
        }
    }
    if options.default {
        let fired: Vec<&str> = decisions()
            .flat_map(|decision| &decision.fired)
            .map(String::as_str)
            .collect();
        if !fired.is_empty() {
            return Some(format!("{} fired, not the default alone", names(&fired)));
        }
        if looked_at.is_empty() {
            return Some("the request did not reach the policy".to_owned());
        }
    }
    if let Some(code) = &options.code {
        let found = match (options.stage, looked_at) {
            (Some(_), [command]) => command.code,
            _ => evaluation.code.as_deref(),
        };
        if found != Some(code.as_str()) {
            return Some(match found {
                Some(found) => format!("the code is `{found}`, not {}", quote(code)),
                None => format!("there is no refusal with the code {}", quote(code)),
            });
        }
    }
    if let Some(kind) = options.capability {
        let failures = || looked_at.iter().flat_map(|command| &command.failures);
        if !failures().any(|failure| failure.kind == kind) {
            return Some(match failures().next() {
                Some(other) => format!(
                    "the ceiling of `{}` refuses, not that of `{}`",
                    other.kind.as_str(),
                    kind.as_str()
                ),
                None => format!("no ceiling refuses, that of `{}` included", kind.as_str()),
            });
        }
    }
    effects(expected, looked_at, host)
}

/// What `effects` and `only_effects` miss.
fn effects(
    expected: &Expectation<'_>,
    looked_at: &[&CommandEvaluation],
    host: &dyn EvaluationHost,
) -> Option<String> {
    let options = expected.options;
    let all = || looked_at.iter().flat_map(|command| command.effects.iter());
    for (effect, path) in options.effects.iter().zip(expected.effect_paths) {
        let wanted = path.as_ref().map(|path| {
            let absolute = host.path(path).unwrap_or_default();
            host.paths()
                .canonical_or_parent(&absolute)
                .unwrap_or(absolute)
        });
        let found = all().any(|known| {
            known.kind() == effect.kind && (wanted.is_none() || known.path() == wanted.as_deref())
        });
        if !found {
            let kind = effect.kind.as_str();
            return Some(match wanted {
                Some(path) => format!("there is no effect `{kind}` of {}", quote(&path)),
                None => format!("there is no effect `{kind}`"),
            });
        }
    }
    let wanted = options.only_effects.as_ref()?;
    let mut found: Vec<_> = all().map(|effect| effect.kind()).collect();
    found.sort_unstable();
    found.dedup();
    if found == *wanted {
        return None;
    }
    let words: Vec<&str> = found.iter().map(|kind| kind.as_str()).collect();
    Some(match words.as_slice() {
        [] => "there are no effects".to_owned(),
        words => format!("the effects are {}", names(words)),
    })
}

/// Why the outcome is what it is.
fn reason(
    options: &Options,
    evaluation: &Evaluation,
    looked_at: &[&CommandEvaluation],
    outcome: Outcome,
) -> String {
    if let Some(refused) = &evaluation.refused {
        return format!("{}: {}", refused.code, refused.reason);
    }
    let decisive = looked_at
        .iter()
        .find(|command| options.policy_only || command.outcome == outcome);
    let Some(command) = decisive.or(looked_at.first()) else {
        return evaluation.reason.clone().unwrap_or_default();
    };
    match (options.policy_only, command.code, &command.reason) {
        (false, Some(code), Some(reason)) if command.rejected() => format!("{code}: {reason}"),
        (false, Some(_), Some(reason)) if command.decision.action == Action::Ask => {
            // Nobody is there to be asked.
            reason.clone()
        }
        _ => policy(&command.decision),
    }
}

/// The policy's answer in words.
pub(super) fn policy(decision: &Decision) -> String {
    let action = decision.action.as_str();
    if decision.refused_by_script.is_some() {
        return decision.reason.clone();
    }
    if decision.default_used {
        return format!("no rule fired, and the default is `{action}`");
    }
    let rules: Vec<&str> = decision.deciding.iter().map(String::as_str).collect();
    let noun = if rules.len() == 1 { "rule" } else { "rules" };
    format!("`{action}` by {noun} {}", names(&rules))
}

/// At most four names in backquotes.
fn names(all: &[&str]) -> String {
    let mut shown: Vec<String> = Vec::new();
    for name in all {
        let name = quote(name);
        if !shown.contains(&name) {
            shown.push(name);
        }
    }
    let more = shown.len().saturating_sub(4);
    shown.truncate(4);
    let list = shown.join(", ");
    match more {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}
