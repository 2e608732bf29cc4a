//! The decision: which rules fire and what follows (spec 06 sections 8.2 and 8.3).
//!
//! One function decides for the runtime, `chatmdc eval`, tests and editors.

mod containment;
pub(crate) mod index;
mod leaf;
mod opaque;
mod subject;
mod tree;

use crate::effect::Effects;
use crate::facts::{CommandFacts, PolicyHost};
use crate::matcher::DynamicMatchers;
use crate::policy::{CompiledPolicy, CompiledRule};
use crate::value::{Action, Value};

use containment::PathEffects;
pub use leaf::{Outcome, Why};
pub use opaque::dequote;
use subject::Subject;
use tree::RuleScripts;

/// The result of policy for one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Strongest action of the fired rules, else the default.
    pub action: Action,
    /// Ids of all fired rules in declaration order (`policy_matches`).
    pub fired: Vec<String>,
    /// Ids of the fired rules whose action won.
    pub deciding: Vec<String>,
    /// No rule fired.
    pub default_used: bool,
    /// Ids of the deciding rules joined with `; `, or `default policy: ACTION`.
    pub reason: String,
    /// A failed script that denies the command whatever the rules say; reason
    /// `matcher SCRIPT failed`. The action is then `deny`.
    pub refused_by_script: Option<String>,
}

/// What was evaluated for a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleEvaluation<'a> {
    /// Position of the rule.
    pub number: usize,
    /// The rule.
    pub rule: &'a CompiledRule,
    /// Value of the rule, inner commands included.
    pub value: Value,
    /// Whether it fired.
    pub fired: bool,
    /// Number of the inner command that raised the value; `None`: the outer command decided.
    pub inner: Option<usize>,
    /// Outcome of every node, in document order, for the command that decided.
    pub outcomes: &'a [Outcome],
}

/// Sees evaluations; cannot influence them.
pub trait Observer {
    /// Whether every rule is to be shown, also those that an index rules out.
    fn wants_rules(&self) -> bool {
        false
    }

    /// One evaluated rule, in declaration order.
    fn rule(&mut self, _evaluation: RuleEvaluation<'_>) {}
}

/// Observes nothing; the runtime's choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// Decides one command under `policy`.
///
/// `effects` are those of [`crate::effects::infer_effects`] after all analyzers. Scripts are asked
/// in document order; pass [`crate::matcher::ScriptsNotRun`] where they are not run.
pub fn decide(
    policy: &CompiledPolicy,
    facts: &CommandFacts,
    effects: &Effects,
    host: &dyn PolicyHost,
    scripts: &mut dyn DynamicMatchers,
    observer: &mut dyn Observer,
) -> Decision {
    let everything = observer.wants_rules();
    let run = Run::new(policy, facts, effects, host);
    let numbers: Vec<usize> = if everything {
        (0..policy.rules.len()).collect()
    } else {
        run.candidates().iter().collect()
    };
    let mut outcomes = Vec::new();
    let mut fired: Vec<&CompiledRule> = Vec::new();
    let mut refusal: Option<String> = None;
    for number in numbers {
        let Some(rule) = policy.rules.get(number) else {
            continue;
        };
        let result = run.rule(rule, scripts, &mut outcomes);
        refusal = refusal.or(result.refusal);
        let fires = rule.action.fires_on(result.value);
        if fires {
            fired.push(rule);
        }
        observer.rule(RuleEvaluation {
            number,
            rule,
            value: result.value,
            fired: fires,
            inner: result.inner,
            outcomes: &outcomes,
        });
    }
    conclude(policy, &fired, refusal)
}

fn conclude(policy: &CompiledPolicy, fired: &[&CompiledRule], refusal: Option<String>) -> Decision {
    let strongest = fired.iter().map(|rule| rule.action).max();
    let action = strongest.unwrap_or(policy.default);
    let deciding: Vec<String> = fired
        .iter()
        .filter(|rule| Some(rule.action) == strongest)
        .map(|rule| rule.id.clone())
        .collect();
    let (action, reason) = match &refusal {
        Some(script) => (Action::Deny, format!("matcher {script} failed")),
        None if deciding.is_empty() => (action, format!("default policy: {}", action.as_str())),
        None => (action, deciding.join("; ")),
    };
    Decision {
        action,
        fired: fired.iter().map(|rule| rule.id.clone()).collect(),
        deciding,
        default_used: fired.is_empty(),
        reason,
        refused_by_script: refusal,
    }
}

/// Everything that stays the same for all rules of one decision.
struct Run<'a> {
    policy: &'a CompiledPolicy,
    effects: &'a Effects,
    paths: PathEffects<'a>,
    outer: Subject<'a>,
    inner: Vec<Subject<'a>>,
}

struct RuleResult {
    value: Value,
    inner: Option<usize>,
    refusal: Option<String>,
}

impl<'a> Run<'a> {
    fn new(
        policy: &'a CompiledPolicy,
        facts: &'a CommandFacts,
        effects: &'a Effects,
        host: &'a dyn PolicyHost,
    ) -> Self {
        Self {
            policy,
            effects,
            paths: PathEffects::new(effects, host),
            outer: Subject::outer(facts, &policy.regexes),
            inner: effects
                .inner()
                .iter()
                .map(|command| Subject::inner(command, host, &policy.regexes))
                .collect(),
        }
    }

    fn candidates(&self) -> index::Candidates {
        let index = &self.policy.index;
        let mut candidates = index.start(self.policy.rules.len());
        for subject in std::iter::once(&self.outer).chain(&self.inner) {
            index.add(subject, &mut candidates);
        }
        candidates
    }

    /// Leaves the outcomes of the deciding command in `outcomes`.
    fn rule(
        &self,
        rule: &CompiledRule,
        scripts: &mut dyn DynamicMatchers,
        outcomes: &mut Vec<Outcome>,
    ) -> RuleResult {
        let tree = &rule.tree;
        let mut scripts = RuleScripts::new(scripts);
        let value = tree::evaluate(
            tree,
            outcomes,
            |_, op| leaf::leaf(op, &self.outer, self.effects, &self.paths, None),
            |_, dynamic| scripts.answer(dynamic),
        );
        let refusal = scripts.refusal.map(|dynamic| dynamic.script.clone());
        if value != Value::No || !rule.action.is_restrictive() {
            return RuleResult {
                value,
                inner: None,
                refusal,
            };
        }
        let mut inner_outcomes = Vec::new();
        for (number, subject) in self.inner.iter().enumerate() {
            let kept = |index: usize| outcomes.get(index).copied();
            let inner = tree::evaluate(
                tree,
                &mut inner_outcomes,
                |index, op| leaf::leaf(op, subject, self.effects, &self.paths, kept(index)),
                |index, _| {
                    kept(index).unwrap_or(Outcome {
                        value: Value::Maybe,
                        why: None,
                    })
                },
            );
            if inner != Value::No {
                *outcomes = inner_outcomes;
                return RuleResult {
                    value: Value::Maybe,
                    inner: Some(number),
                    refusal,
                };
            }
        }
        RuleResult {
            value,
            inner: None,
            refusal,
        }
    }
}
