//! One invocation of a tool, from the model's payload to the text for the model.

use std::sync::Arc;
use std::time::Instant;

use chatmd_policy::facts::StdinKind;
use chatmd_policy::input::{self, InputRequest, ToolInput};

use super::context::{Context, Invocation, StdinFacts};
use super::execute::execute;
use super::finalise::{Finished, Tally, capture_bound, finalise, pipeline_status};
use super::request::{Pipeline, pipelines};
use super::stages::prepare;
use crate::audit::{CompletionOutcome, EventBody};
use crate::identity::sha256_hex;
use crate::ids;
use crate::journal::{Moment, blocking};
use crate::materialise::Registry;
use crate::output::result::join_backends;
use crate::output::{
    ExitStatus, InvocationError, Redactor, StructuredResult, display_prose, join_channels,
};
use crate::refusal::Refusal;
use crate::supervise::Budget;

/// Origin of requests that come through a tool.
pub(super) const ORIGIN: &str = "tool";

/// No tool has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool of that name")]
pub struct UnknownTool;

/// What came of an invocation. Every text in it is safe to show.
#[derive(Debug)]
pub struct Invoked {
    /// The result object, or the error.
    pub result: Result<StructuredResult, InvocationError>,
    /// The text for the model.
    pub text: String,
    /// Whether `nonzero="error"` made an error of an unsuccessful exit.
    pub nonzero_error: bool,
    /// An audit record of this runtime was lost after a command had started.
    pub audit_incomplete: bool,
}

/// Invokes a tool. Dropping the future cancels: processes are killed and the audit says so.
pub async fn invoke(
    registry: &Arc<Registry>,
    tool: &str,
    payload: &[u8],
) -> Result<Invoked, UnknownTool> {
    let tool = registry.tool(tool).ok_or(UnknownTool)?;
    let runtime = registry
        .runtime(&tool.declared.runtime)
        .ok_or(UnknownTool)?;
    let redactor = runtime.redactor.clone();
    let outcome = match ids::request_id() {
        Ok(id) => {
            let (registry, runtime, tool) = (registry.clone(), runtime.clone(), tool.clone());
            request(Invocation::new(registry, runtime, tool, id), payload).await
        }
        Err(error) => Err(Refusal::spawn(error.to_string())),
    };
    let audit_incomplete = runtime.journal.incomplete();
    Ok(match outcome {
        Ok(result) => {
            let declared = &tool.declared;
            let total = runtime.limits.supervision.total_output;
            let total = usize::try_from(total).unwrap_or(usize::MAX);
            let text = result.render(declared.result, declared.nonzero, total);
            let nonzero_error = declared.nonzero == chatmd_compiler::manifest::Nonzero::Error
                && !result.status.is_success();
            Invoked {
                result: Ok(result),
                text,
                nonzero_error,
                audit_incomplete,
            }
        }
        Err(refusal) => {
            let error = refusal.into_error(&redactor);
            let text = error.to_json();
            Invoked {
                result: Err(error),
                text,
                nonzero_error: false,
                audit_incomplete,
            }
        }
    })
}

/// Everything between `request_received` and `request_completed`.
async fn request(mut invocation: Invocation, payload: &[u8]) -> Result<StructuredResult, Refusal> {
    let journal = &invocation.runtime.journal;
    journal.check_open()?;
    // Pure, so it may come before the first record, which tells what stdin was.
    let validated = blocking(|| validate(&invocation, payload));
    let stdin = validated
        .as_ref()
        .ok()
        .and_then(|(input, _)| input.stdin.as_deref());
    let stdin = stdin_facts(stdin, &invocation.runtime.redactor);
    let received = invocation.event(EventBody::RequestReceived {
        tool_name: invocation.tool.declared.name.clone(),
        origin: ORIGIN.to_owned(),
        stdin_kind: stdin_word(stdin.kind),
        stdin_bytes: stdin.bytes,
        stdin_sha256: stdin.sha256.clone(),
    });
    journal.write(&received, Moment::BeforeStart)?;
    if let Ok((input, _)) = &validated {
        invocation.rationale = input
            .rationale
            .as_ref()
            .map(|text| display_prose(&invocation.runtime.redactor, text.as_bytes()));
    }
    let mut completion = Completion::new(&invocation);
    let result = match validated {
        Ok((input, pipelines)) => {
            let text = input.stdin.as_deref();
            let work = run(&invocation, text, stdin, pipelines, &mut completion.tally);
            tokio::select! {
                biased;
                result = work => result,
                // Another request lost a record, and the policy is to end all of them.
                () = journal.closed_by_another(&invocation.request_id) => Err(Refusal::closed()),
            }
        }
        Err(refusal) => reject_input(&invocation, refusal),
    };
    completion.finish(result)
}

fn validate(
    invocation: &Invocation,
    payload: &[u8],
) -> Result<(ToolInput, Vec<Pipeline>), Refusal> {
    let mut input = input::validate(payload, &invocation.tool.shape)
        .map_err(|fault| Refusal::input(fault.code(), fault.to_string()))?;
    let nothing = InputRequest::Fixed {
        arguments: Vec::new(),
    };
    let request = std::mem::replace(&mut input.request, nothing);
    let pipelines = pipelines(&invocation.tool, request)?;
    Ok((input, pipelines))
}

fn reject_input(invocation: &Invocation, refusal: Refusal) -> Result<StructuredResult, Refusal> {
    if let Some(stage) = refusal.stage {
        let body = EventBody::Rejected {
            code: refusal.code.to_owned(),
            stage,
            subject: None,
            reason: display_prose(&invocation.runtime.redactor, refusal.reason.as_bytes())
                .into_string(),
        };
        let journal = &invocation.runtime.journal;
        journal.write(&invocation.event(body), Moment::BeforeStart)?;
    }
    Err(refusal)
}

fn stdin_facts(stdin: Option<&str>, redactor: &Redactor) -> StdinFacts {
    match stdin {
        None | Some("") => StdinFacts::default(),
        Some(text) => StdinFacts {
            kind: StdinKind::Supplied,
            bytes: text.len() as u64,
            sha256: Some(sha256_hex(text.as_bytes())),
            secret: redactor.occurs_in(text.as_bytes()),
        },
    }
}

fn stdin_word(kind: StdinKind) -> &'static str {
    match kind {
        StdinKind::Empty => "empty",
        StdinKind::Pipeline => "pipeline",
        StdinKind::Supplied => "supplied",
    }
}

/// Runs the pipelines that their conditions select.
async fn run(
    invocation: &Invocation,
    stdin: Option<&str>,
    stdin_facts: StdinFacts,
    pipelines: Vec<Pipeline>,
    tally: &mut Tally,
) -> Result<StructuredResult, Refusal> {
    let runtime = &invocation.runtime;
    let limits = &runtime.limits.supervision;
    let mut budget = Budget {
        deadline: invocation.deadline(),
        idle: limits.idle_time,
        stdout_bytes: capture_bound(runtime, limits.stdout),
        stderr_bytes: capture_bound(runtime, limits.stderr),
        total_bytes: limits.total_output,
        total_used: 0,
    };
    let mut finished: Vec<Finished> = Vec::new();
    let mut backends: Vec<Vec<&str>> = Vec::new();
    let mut last: Option<ExitStatus> = None;
    let mut index = 0;
    for (number, pipeline) in pipelines.into_iter().enumerate() {
        if !pipeline.condition.met(last.map(ExitStatus::is_success)) {
            continue;
        }
        let first = number == 0;
        let mut contexts = Vec::with_capacity(pipeline.stages.len());
        for (position, argv) in pipeline.stages.into_iter().enumerate() {
            let facts = match (position, first) {
                (0, true) => stdin_facts.clone(),
                (0, false) => StdinFacts::default(),
                _ => StdinFacts {
                    kind: StdinKind::Pipeline,
                    // What goes into a pipeline may come out at each of its stages.
                    secret: first && stdin_facts.secret,
                    ..StdinFacts::default()
                },
            };
            let mut context = Context::new(index, argv, facts);
            index += 1;
            prepare(invocation, &mut context).await?;
            contexts.push(context);
        }
        backends.push(
            contexts
                .iter()
                .map(|_| runtime.backend.choice.name.as_str())
                .collect(),
        );
        let stdin = stdin.filter(|text| first && !text.is_empty());
        let executed = execute(invocation, contexts, stdin, &mut budget, tally).await?;
        let stages: Vec<Finished> = blocking(|| {
            executed
                .into_iter()
                .map(|executed| finalise(runtime, executed))
                .collect()
        });
        last = Some(pipeline_status(&stages, runtime.declared.pipefail));
        finished.extend(stages);
    }
    invocation.check_time()?;
    result(invocation, finished, backends, last)
}

fn result(
    invocation: &Invocation,
    finished: Vec<Finished>,
    backends: Vec<Vec<&str>>,
    last: Option<ExitStatus>,
) -> Result<StructuredResult, Refusal> {
    let runtime = &invocation.runtime;
    let limits = &runtime.limits.supervision;
    let bound = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    let stdout = join_channels(finished.iter().map(|f| &f.stdout), bound(limits.stdout));
    let stderr = join_channels(finished.iter().map(|f| &f.stderr), bound(limits.stderr));
    let total = (stdout.text.len() + stderr.text.len()) as u64;
    if total > limits.total_output {
        return Err(Refusal::output_limit(total));
    }
    Ok(StructuredResult {
        request_id: invocation.request_id.clone(),
        status: last.unwrap_or(ExitStatus::Exited(0)),
        stdout_truncated: stdout.truncated,
        stderr_truncated: stderr.truncated,
        stdout: stdout.text,
        stderr: stderr.text,
        backend: join_backends(backends),
        runtime_id: runtime.id().to_owned(),
        manifest_sha256: invocation
            .registry
            .authorized()
            .document()
            .bound_sha256
            .clone(),
        commands: finished
            .into_iter()
            .map(|finished| finished.command)
            .collect(),
    })
}

/// Writes exactly one `request_completed`, also when the invocation is cancelled or panics.
struct Completion<'a> {
    invocation: &'a Invocation,
    begun: Instant,
    tally: Tally,
    written: bool,
}

impl<'a> Completion<'a> {
    fn new(invocation: &'a Invocation) -> Self {
        Self {
            invocation,
            begun: Instant::now(),
            tally: Tally::default(),
            written: false,
        }
    }

    fn finish(
        mut self,
        result: Result<StructuredResult, Refusal>,
    ) -> Result<StructuredResult, Refusal> {
        let (outcome, code, moment) = match &result {
            Ok(_) => (CompletionOutcome::Result, None, Moment::AfterStart),
            Err(refusal) => (
                CompletionOutcome::Error,
                Some(refusal.code),
                Moment::AfterStart,
            ),
        };
        let texts = result.as_ref().ok().map(|result| {
            (
                result.stdout.as_str().to_owned(),
                result.stderr.as_str().to_owned(),
            )
        });
        self.write(outcome, code, texts, moment)?;
        result
    }

    fn write(
        &mut self,
        outcome: CompletionOutcome,
        code: Option<&str>,
        texts: Option<(String, String)>,
        moment: Moment,
    ) -> Result<(), Refusal> {
        self.written = true;
        let (stdout, stderr) = texts.unzip();
        let event = self.invocation.event(EventBody::RequestCompleted {
            outcome,
            code: code.map(str::to_owned),
            commands: self.tally.commands,
            stdout_bytes: self.tally.stdout_bytes,
            stderr_bytes: self.tally.stderr_bytes,
            duration_ms: u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            stdout,
            stderr,
        });
        self.invocation.runtime.journal.write(&event, moment)
    }
}

impl Drop for Completion<'_> {
    fn drop(&mut self) {
        if self.written {
            return;
        }
        let panicked = std::thread::panicking();
        let (outcome, code) = if panicked {
            (CompletionOutcome::Error, Some("internal_error"))
        } else {
            (CompletionOutcome::Cancelled, None)
        };
        let _ = self.write(outcome, code, None, Moment::AfterStart);
    }
}
