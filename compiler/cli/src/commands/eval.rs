//! `chatmdc eval` (spec 10 section 2.8): what would become of one invocation on this machine.

mod request;
mod show;

use camino::Utf8PathBuf;
use chatmd_compiler::Compilation;
use chatmd_compiler::evaluation::{
    Detail, Evaluation, Origin, Request, Scope, evaluate_without_scripts,
};
use chatmd_compiler::manifest::Runtime;
use chatmd_facts::environment;
use chatmd_facts::secret_forms::needles;
use chatmd_policy::trace::{Outcome, Trace};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{JsonError, complain, findings, print_human, refuse, to_json};
use crate::administration;
use crate::args::{Common, Reading};
use crate::documents::{Documents, compilation};
use crate::exit;
use crate::live::{self, Live};
use crate::live_host::{LiveEvaluation, secret_values};
use crate::output::Output;
use crate::report::Summary;
use crate::report::json::{self, JsonDiagnostic};

const EVAL_END: &str = "\
Nothing is started: scripts, hooks and reviewers are told as `not run`.

Exit codes:
  0  a trace was produced (with --expect: and the outcome is the expected one)
  1  the document has errors, the input is invalid, or --expect names another outcome
  2  usage error    3  administrative policy that this version can not evaluate
  4  the document cannot be read

Examples:
  chatmdc eval agent.chatmd -- git push
  chatmdc eval --tool sh --input '{\"program\":\"git\",\"arguments\":[\"push\"]}' agent.chatmd";

/// Arguments of `eval`.
#[derive(Args, Debug)]
#[command(after_help = EVAL_END)]
pub struct EvalArgs {
    /// The tool that is called
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// The runtime whose rules judge the command, instead of a tool
    #[arg(long, value_name = "ID", conflicts_with = "tool")]
    pub runtime: Option<String>,
    /// The input object of the tool, as the model would send it
    #[arg(long, value_name = "JSON", conflicts_with = "argv")]
    pub input: Option<String>,
    /// Who asks
    #[arg(long, value_name = "ORIGIN", default_value = "tool")]
    pub origin: OriginChoice,
    /// Take an approval of this scope as given
    #[arg(long, value_name = "SCOPE")]
    pub assume_grant: Option<String>,
    /// Show the effects only, without ceilings and rules
    #[arg(long, overrides_with = "effects_only")]
    pub effects_only: bool,
    /// Fail unless this is the outcome
    #[arg(long, value_name = "OUTCOME")]
    pub expect: Option<OutcomeChoice>,
    /// Form of the trace
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: EvalFormat,
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// The document; `-` is standard input
    #[arg(value_name = "DOC")]
    pub document: Utf8PathBuf,
    /// Program and arguments; arguments only for a fixed or script tool, the command for a chain
    /// tool, the script for a raw tool
    #[arg(last = true, value_name = "ARGV")]
    pub argv: Vec<String>,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EvalFormat {
    /// For reading
    Human,
    /// One JSON object
    Json,
}

/// `--origin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OriginChoice {
    /// A model, through a tool
    Tool,
    /// A moderator script
    Moderator,
}

/// `--expect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum OutcomeChoice {
    WouldRun,
    WouldAsk,
    WouldDeny,
    WouldReject,
    Unresolvable,
    Indeterminate,
}

impl OutcomeChoice {
    const fn outcome(self) -> Outcome {
        match self {
            Self::WouldRun => Outcome::WouldRun,
            Self::WouldAsk => Outcome::WouldAsk,
            Self::WouldDeny => Outcome::WouldDeny,
            Self::WouldReject => Outcome::WouldReject,
            Self::Unresolvable => Outcome::Unresolvable,
            Self::Indeterminate => Outcome::Indeterminate,
        }
    }
}

/// Why there is no trace.
enum Stop {
    /// Exit code and sentence.
    Because(u8, String),
}

impl Stop {
    fn usage(message: impl Into<String>) -> Self {
        Self::Because(exit::USAGE, message.into())
    }

    fn failed(message: impl Into<String>) -> Self {
        Self::Because(exit::FAILED, message.into())
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    version: u32,
    command: &'static str,
    ok: bool,
    outcome: Option<Outcome>,
    trace: Option<&'a Trace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Vec<JsonDiagnostic>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
}

/// Runs the command.
pub fn run(args: &EvalArgs, common: Common, output: &mut Output) -> u8 {
    let opened = Documents::new(&args.reading).and_then(|mut documents| {
        let root = documents.open(&args.document, &args.reading, None)?;
        Ok((documents, root))
    });
    let (documents, root) = match opened {
        Ok(opened) => opened,
        Err(why) => {
            complain(output, &why.to_string());
            return exit::IO;
        }
    };
    let compilation = match compilation(&documents.db, root, &args.reading, documents.cwd()) {
        Ok(compilation) => compilation,
        Err(why) if args.format == EvalFormat::Json => {
            output.result(super::refused("eval", &why));
            return exit::FAILED;
        }
        Err(why) => return refuse(&args.document, &why, output),
    };
    match answer(args, &documents, &compilation) {
        Ok((trace, code)) => {
            let text = match args.format {
                EvalFormat::Human if args.effects_only => show::effects(&trace),
                EvalFormat::Human => show::trace(&trace, common.verbose),
                EvalFormat::Json => to_json(&Answer {
                    version: 1,
                    command: "eval",
                    ok: code == exit::OK,
                    outcome: Some(trace.outcome),
                    trace: Some(&trace),
                    error: None,
                    diagnostics: None,
                    summary: None,
                }),
            };
            output.result(text);
            if let Some(expected) = args.expect.filter(|_| code != exit::OK) {
                let (expected, got) = (expected.outcome().as_str(), trace.outcome.as_str());
                if expected != got {
                    complain(output, &format!("expected {expected}, got {got}"));
                }
            }
            code
        }
        Err(Stop::Because(code, message)) => {
            stopped(args, common, &compilation, code, message, output);
            code
        }
    }
}

fn stopped(
    args: &EvalArgs,
    common: Common,
    compilation: &Compilation,
    code: u8,
    message: String,
    output: &mut Output,
) {
    if args.format == EvalFormat::Json && code != exit::USAGE {
        let shown = [findings(compilation, false)];
        output.result(to_json(&Answer {
            version: 1,
            command: "eval",
            ok: false,
            outcome: None,
            trace: None,
            error: Some(JsonError {
                code: None,
                message,
            }),
            diagnostics: Some(json::diagnostics(&shown)),
            summary: Some(Summary::of(&shown)),
        }));
        return;
    }
    if compilation.manifest.is_none() {
        print_human(&findings(compilation, common.quiet), output);
    }
    complain(output, &message);
}

/// The trace and the exit code.
fn answer(
    args: &EvalArgs,
    documents: &Documents,
    compilation: &Compilation,
) -> Result<(Trace, u8), Stop> {
    let manifest = compilation
        .manifest
        .as_ref()
        .ok_or_else(|| Stop::failed("the document has errors; nothing was evaluated"))?;
    let target = request::target(args, manifest)?;
    let text = request::text(args, target.tool)?;
    offered(args, target.runtime)?;
    administration::nothing_configured()
        .map_err(|refusal| Stop::Because(exit::REFUSED, refusal))?;
    let variables = live::environment(&args.reading).map_err(|why| Stop::Because(exit::IO, why))?;
    let live = live::bind(&args.reading, variables, compilation, documents)
        .map_err(|why| Stop::failed(format!("this machine: {}", why.reason)))?;
    let runtime = bound_runtime(&live, &target.runtime.id)?;
    let host = LiveEvaluation::of(&live, runtime, compilation)
        .map_err(|errors| Stop::failed(errors.join("; ")))?;
    let scope = Scope {
        manifest_sha256: &live.sha256,
        runtime,
        tool: target
            .tool
            .and_then(|tool| live.manifest.tools.iter().find(|it| it.name == tool.name)),
        host: &host,
        compilation: Some(compilation),
    };
    let request = Request {
        origin: match args.origin {
            OriginChoice::Tool => Origin::Tool,
            OriginChoice::Moderator => Origin::Moderator,
        },
        ..Request::new(text)
    };
    let detail = Detail {
        rules: !args.effects_only,
        extensions_pass: false,
        granted: args.assume_grant.is_some(),
    };
    let evaluation = evaluate_without_scripts(&scope, &request, detail)
        .map_err(|fault| Stop::usage(fault.to_string()))?
        .settle();
    let code = exit_code(args, &evaluation);
    let mut trace = evaluation.trace(&scope);
    let secrets = secrets_of(&live, runtime);
    hide(&mut trace, &secrets, &runtime.secrets.replacement);
    Ok((trace, code))
}

/// An approval can be taken as given only if the runtime would offer its scope.
fn offered(args: &EvalArgs, runtime: &Runtime) -> Result<(), Stop> {
    let Some(scope) = &args.assume_grant else {
        return Ok(());
    };
    let scopes: Vec<&str> = runtime
        .approvals
        .scopes
        .iter()
        .map(|it| it.as_str())
        .collect();
    if scopes.contains(&scope.as_str()) {
        return Ok(());
    }
    Err(Stop::usage(format!(
        "runtime {} offers no approval of scope `{scope}`; it offers {}",
        runtime.id,
        scopes.join(", ")
    )))
}

fn bound_runtime<'a>(live: &'a Live, id: &str) -> Result<&'a Runtime, Stop> {
    let mut runtimes = live.manifest.runtimes.iter();
    runtimes
        .find(|runtime| runtime.id == id)
        .ok_or_else(|| Stop::failed(format!("there is no runtime {id} on this machine")))
}

fn exit_code(args: &EvalArgs, evaluation: &Evaluation) -> u8 {
    match args.expect {
        Some(expected) if expected.outcome() == evaluation.outcome => exit::OK,
        Some(_) => exit::FAILED,
        None if evaluation.refused.is_some() => exit::FAILED,
        None => exit::OK,
    }
}

fn secrets_of(live: &Live, runtime: &Runtime) -> Vec<String> {
    let relative = runtime.resolver.allow_relative_search_path;
    match environment::build(&live.host, &runtime.environment, relative) {
        Ok(built) => secret_values(&live.host, runtime, &built, &live.manifest.tools),
        Err(_) => Vec::new(),
    }
}

/// Replaces secret values in every text of the request, in all forms that a run hides in output.
fn hide(trace: &mut Trace, secrets: &[String], replacement: &str) {
    let forms = secrets.iter().flat_map(|secret| needles(secret.as_bytes()));
    let mut forms: Vec<String> = forms
        .filter_map(|form| std::str::from_utf8(&form).ok().map(str::to_owned))
        .collect();
    // A form that is part of another one must not break it first.
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.dedup();
    trace.visit_strings(&mut |text| {
        for form in &forms {
            if text.contains(form.as_str()) {
                *text = text.replace(form.as_str(), replacement);
            }
        }
    });
}
