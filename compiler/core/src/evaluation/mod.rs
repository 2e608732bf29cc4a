//! What would become of one request: the same reading of input, effects, ceilings and rules as when
//! it runs, without running it (spec 12 sections 2.4 and 3, spec 10 section 2.8).
//!
//! A [`Scope`] says on which host and under which runtime; [`evaluate`] takes a [`Request`] through
//! the steps of a call up to the decision; [`Evaluation::trace`] tells the way for people and
//! programs. Tests in documents use the symbolic host, `chatmdc eval` the live one.

mod command;
mod host;
mod outcome;
mod request;
mod scripts;
mod symbolic;
mod trace;

use chatmd_policy::DynamicMatchers;
use chatmd_policy::trace::{Outcome, ParseTrace, Step};

use crate::compile::Compilation;
use crate::manifest::{Runtime, Tool};

pub use command::CommandEvaluation;
pub use host::{EvaluationHost, ResolutionDetails};
pub use request::{Form, FormFault, Origin, Request, RequestText};
pub use scripts::{MAX_COMBINED_SCRIPTS, WithoutScripts, evaluate_without_scripts};
pub use symbolic::SymbolicEvaluation;

/// Where and under what a request is evaluated.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// Digest of the manifest, for the trace.
    pub manifest_sha256: &'a str,
    /// The runtime.
    pub runtime: &'a Runtime,
    /// The tool whose input it is; `None` for a bare command of the runtime.
    pub tool: Option<&'a Tool>,
    /// Answers questions about paths and programs.
    pub host: &'a dyn EvaluationHost,
    /// The compilation, for the places of what decides; `None` for a manifest without its sources.
    pub compilation: Option<&'a Compilation>,
}

/// How much an evaluation finds out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// Keep the value and the matcher tree of every rule.
    pub rules: bool,
    /// Interceptors, reviewers and hooks are assumed to let the command pass, as tests assume;
    /// otherwise one that applies makes the outcome `indeterminate`.
    pub extensions_pass: bool,
    /// A stored approval is assumed (`--assume-grant`): `ask` counts as answered.
    pub granted: bool,
}

/// A refusal before any command was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRefusal {
    /// Invocation code.
    pub code: String,
    /// Field of the input, where it is one field's fault.
    pub field: Option<String>,
    /// One sentence; may quote the input.
    pub reason: String,
    /// Byte of a chain at which it is refused.
    pub offset: Option<usize>,
}

/// The result for one request.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The request as it was read.
    pub request: Request,
    /// Why the input is no request.
    pub refused: Option<InputRefusal>,
    /// Pipelines of a chain.
    pub parse: Option<ParseTrace>,
    /// Every simple command, in order, as if every pipeline were selected.
    pub commands: Vec<CommandEvaluation>,
    /// Worst outcome of all commands.
    pub outcome: Outcome,
    /// Number of the command that has it; `None`: the input decides.
    pub deciding: Option<usize>,
    /// What decided.
    pub step: Step,
    /// Code of a refusal.
    pub code: Option<String>,
    /// Its reason.
    pub reason: Option<String>,
}

/// Evaluates one request. `scripts` answers `chatml_match` matchers.
///
/// # Errors
/// [`FormFault`] when the text has a form that the target does not take, which is a mistake of the
/// one who asks and not an outcome.
pub fn evaluate(
    scope: &Scope<'_>,
    request: Request,
    scripts: &mut dyn DynamicMatchers,
    detail: Detail,
) -> Result<Evaluation, FormFault> {
    let read = request::read(scope, &request)?;
    let mut evaluation = Evaluation {
        request,
        refused: None,
        parse: read.parse,
        commands: Vec::new(),
        outcome: Outcome::WouldReject,
        deciding: None,
        step: Step::Input,
        code: None,
        reason: None,
    };
    match read.commands {
        Ok(commands) => {
            let one = |command| command::evaluate(scope, command, scripts, detail);
            evaluation.commands = commands.into_iter().map(one).collect();
            outcome::combine(&mut evaluation);
        }
        Err(refused) => {
            if evaluation.parse.is_some() {
                evaluation.step = Step::Parse;
            }
            evaluation.code = Some(refused.code.clone());
            evaluation.reason = Some(refused.reason.clone());
            evaluation.refused = Some(refused);
        }
    }
    Ok(evaluation)
}
