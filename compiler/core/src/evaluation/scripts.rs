//! Evaluation where no script runs: every answer that a script might give is tried (spec 12
//! section 2.4).

use chatmd_policy::trace::{Outcome, Step};
use chatmd_policy::{DynamicMatch, DynamicMatchers, DynamicOutcome};

use super::{Detail, Evaluation, FormFault, Request, Scope, evaluate};

/// Most script matchers whose answers are combined; beyond that they are taken as maybe.
pub const MAX_COMBINED_SCRIPTS: usize = 3;

/// Answers that are tried for each script matcher.
const ANSWERS: [DynamicOutcome; 3] = [
    DynamicOutcome::Match,
    DynamicOutcome::NotRun,
    DynamicOutcome::NoMatch,
];

/// An evaluation, and how it would be for each combination of answers.
#[derive(Clone, Debug)]
pub struct WithoutScripts {
    /// With every script as maybe.
    pub evaluation: Evaluation,
    /// One for each combination; empty when no script is reached, or too many are.
    pub variants: Vec<Evaluation>,
    /// Scripts that were reached, in order of first use.
    pub scripts: Vec<DynamicMatch>,
}

impl WithoutScripts {
    /// Marks the evaluation `indeterminate` when its outcome hangs on an answer.
    pub fn settle(mut self) -> Evaluation {
        let outcome = self.evaluation.outcome;
        let open = self.scripts.len() > MAX_COMBINED_SCRIPTS
            || self
                .variants
                .iter()
                .any(|variant| variant.outcome != outcome);
        if open && let Some(script) = self.scripts.first() {
            self.evaluation.outcome = Outcome::Indeterminate;
            self.evaluation.step = Step::Policy;
            self.evaluation.code = None;
            self.evaluation.reason = Some(format!("script {} was not run", script.script));
        }
        self.evaluation
    }
}

/// Evaluates a request without running scripts.
///
/// # Errors
/// Those of [`evaluate`].
pub fn evaluate_without_scripts(
    scope: &Scope<'_>,
    request: &Request,
    detail: Detail,
) -> Result<WithoutScripts, FormFault> {
    let mut asked = Asked::default();
    let evaluation = evaluate(scope, request.clone(), &mut asked, detail)?;
    let scripts = asked.0;
    let mut variants = Vec::new();
    if (1..=MAX_COMBINED_SCRIPTS).contains(&scripts.len()) {
        let plain = Detail {
            rules: false,
            ..detail
        };
        let count = ANSWERS.len().pow(u32::try_from(scripts.len()).unwrap_or(0));
        for number in 0..count {
            let mut fixed = Fixed {
                scripts: &scripts,
                number,
            };
            variants.push(evaluate(scope, request.clone(), &mut fixed, plain)?);
        }
    }
    Ok(WithoutScripts {
        evaluation,
        variants,
        scripts,
    })
}

/// Remembers which matchers are asked.
#[derive(Default)]
struct Asked(Vec<DynamicMatch>);

impl DynamicMatchers for Asked {
    fn run(&mut self, matcher: &DynamicMatch) -> DynamicOutcome {
        // More than that are never combined.
        if self.0.len() <= MAX_COMBINED_SCRIPTS && !self.0.contains(matcher) {
            self.0.push(matcher.clone());
        }
        DynamicOutcome::NotRun
    }
}

/// One combination: digit N of `number`, to the base of the answers, is the answer of script N.
struct Fixed<'a> {
    scripts: &'a [DynamicMatch],
    number: usize,
}

impl DynamicMatchers for Fixed<'_> {
    fn run(&mut self, matcher: &DynamicMatch) -> DynamicOutcome {
        let Some(position) = self.scripts.iter().position(|known| known == matcher) else {
            return DynamicOutcome::NotRun;
        };
        let digit = (0..position).fold(self.number, |rest, _| rest / ANSWERS.len());
        ANSWERS
            .get(digit % ANSWERS.len())
            .copied()
            .unwrap_or(DynamicOutcome::NotRun)
    }
}
