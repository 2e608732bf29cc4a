//! Evaluation of a flat matcher tree with an explicit stack.

use crate::matcher::{DynamicMatch, DynamicMatchers, DynamicOutcome, MatcherFailure};
use crate::policy::{Op, Tree};
use crate::value::Value;

use super::leaf::{Outcome, Why};

/// Scripts of one rule: each script and function runs at most once.
pub(crate) struct RuleScripts<'a> {
    scripts: &'a mut dyn DynamicMatchers,
    answers: Vec<(&'a DynamicMatch, DynamicOutcome)>,
    /// First script whose failure denies the command.
    pub(crate) refusal: Option<&'a DynamicMatch>,
}

impl<'a> RuleScripts<'a> {
    pub(crate) fn new(scripts: &'a mut dyn DynamicMatchers) -> Self {
        Self {
            scripts,
            answers: Vec::new(),
            refusal: None,
        }
    }

    pub(crate) fn answer(&mut self, matcher: &'a DynamicMatch) -> Outcome {
        let known = self.answers.iter().find(|(asked, _)| {
            asked.script == matcher.script && asked.function == matcher.function
        });
        let outcome = match known {
            Some((_, outcome)) => *outcome,
            None => {
                let outcome = self.scripts.run(matcher);
                self.answers.push((matcher, outcome));
                outcome
            }
        };
        match outcome {
            DynamicOutcome::Match => Outcome::new(Value::Yes, Why::Equal),
            DynamicOutcome::NoMatch => Outcome::new(Value::No, Why::Different),
            DynamicOutcome::NotRun => Outcome::new(Value::Maybe, Why::ScriptNotRun),
            DynamicOutcome::Failed => {
                if matcher.failure == MatcherFailure::Deny && self.refusal.is_none() {
                    self.refusal = Some(matcher);
                }
                Outcome::new(Value::Maybe, Why::ScriptFailed)
            }
        }
    }
}

struct Frame {
    index: usize,
    end: usize,
    op: Composite,
    value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Composite {
    All,
    Any,
    Not,
}

impl Frame {
    /// Whether a further child can no longer change the value.
    fn settled(&self) -> bool {
        match self.op {
            Composite::All => self.value == Value::No,
            Composite::Any => self.value == Value::Yes,
            Composite::Not => false,
        }
    }

    fn merge(&mut self, child: Value) {
        self.value = match self.op {
            Composite::All => self.value.min(child),
            Composite::Any => self.value.max(child),
            Composite::Not => child.negate(),
        };
    }
}

/// Evaluates `tree`, writing the outcome of every node to `outcomes` (same order as the nodes).
/// `leaf` answers everything but scripts; `script` answers those that still matter.
pub(crate) fn evaluate<'t>(
    tree: &'t Tree,
    outcomes: &mut Vec<Outcome>,
    mut leaf: impl FnMut(usize, &'t Op) -> Outcome,
    mut script: impl FnMut(usize, &'t DynamicMatch) -> Outcome,
) -> Value {
    outcomes.clear();
    let mut frames: Vec<Frame> = Vec::new();
    let mut result = Value::No;
    for (index, node) in tree.nodes.iter().enumerate() {
        let (op, value) = match &node.op {
            Op::All => (Composite::All, Value::Yes),
            Op::Any => (Composite::Any, Value::No),
            Op::Not => (Composite::Not, Value::Maybe),
            other => {
                let outcome = match other {
                    Op::Dynamic(_) if frames.last().is_some_and(Frame::settled) => {
                        Outcome::new(Value::Maybe, Why::ScriptNotRun)
                    }
                    Op::Dynamic(dynamic) => script(index, dynamic),
                    other => leaf(index, other),
                };
                outcomes.push(outcome);
                result = close(&mut frames, outcomes, index + 1, outcome.value);
                continue;
            }
        };
        outcomes.push(Outcome { value, why: None });
        frames.push(Frame {
            index,
            end: node.end,
            op,
            value,
        });
    }
    result
}

/// Merges a finished child into its parents, closing every subtree that ends at `end`.
fn close(frames: &mut Vec<Frame>, outcomes: &mut [Outcome], end: usize, mut value: Value) -> Value {
    while let Some(frame) = frames.last_mut() {
        frame.merge(value);
        value = frame.value;
        if frame.end != end {
            break;
        }
        if let Some(outcome) = outcomes.get_mut(frame.index) {
            outcome.value = value;
        }
        frames.pop();
    }
    value
}
