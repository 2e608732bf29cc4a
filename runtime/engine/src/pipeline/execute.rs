//! Running one prepared pipeline (spec 06 section 11, steps 15 to 18).

use std::ffi::CString;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use chatmd_facts::resolver::VerifiedFile as Pinned;
use chatmd_facts::sandbox_facts::namespace_obstacle;
use chatmd_plan::bubblewrap::{BubblewrapPlan, Descriptor, Item};
use chatmd_plan::facts::Level;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::context::{Context, Invocation};
use super::finalise::Tally;
use super::plan::PlannedLaunch;
use super::stages::reject;
use crate::audit::{self, EventBody, TerminationKind};
use crate::journal::{Moment, blocking};
use crate::materialise::{Runtime, SelectedKind, entry};
use crate::output::ExitStatus;
use crate::refusal::Refusal;
use crate::sandbox::{
    BubblewrapStart, DirectCommand, Files, Start, StartError, Started, Streams, Verdict,
    VerifiedFile, judge, judge_direct, start_bubblewrap, start_direct,
};
use crate::supervise::{
    self, Budget, Captured, Channel, Ended, Feed, Observer, Silent, Stage, Stop, Termination,
};
use crate::sys::{Limit, descriptor};

/// Bound of the last words of a sandbox that could not be made.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A command that has run.
pub(super) struct Executed {
    pub(super) context: Context,
    pub(super) status: ExitStatus,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
}

/// Verifies, starts and supervises the stages of one pipeline. A refusal has been audited.
pub(super) async fn execute(
    invocation: &Invocation,
    contexts: Vec<Context>,
    stdin: Option<&str>,
    budget: &mut Budget,
    tally: &mut Tally,
) -> Result<Vec<Executed>, Refusal> {
    let _permits = permits(invocation, contexts.len()).await?;
    budget.deadline = invocation.deadline();
    let mut flight = InFlight {
        invocation,
        live: vec![false; contexts.len()],
        contexts,
        tally,
    };
    let (started, feed) = match start_all(&mut flight, stdin).await {
        Ok(started) => started,
        Err(refusal) => return Err(flight.broken_off(refusal)),
    };
    let mut stages = Vec::with_capacity(started.len());
    let mut watches = JoinSet::new();
    for (index, mut pending) in started.into_iter().enumerate() {
        if let Err(error) = pending.started.release() {
            let refusal = refusal_of(error);
            flight.reject(index, &refusal)?;
            return Err(flight.broken_off(refusal));
        }
        if let Some(watch) = pending.started.filter.take() {
            watches.spawn(async move { (index, watch.unfiltered().await) });
        }
        stages.push(pending.into_stage(&invocation.runtime));
    }
    let mut observer = Notes {
        invocation,
        contexts: &flight.contexts,
        tally: &mut *flight.tally,
    };
    // The stages die with the future that runs them.
    let result = tokio::select! {
        biased;
        result = supervise::run(stages, feed, budget, &mut observer) => Ok(result),
        (index, error) = unfiltered(&mut watches) => Err((index, refusal_of(error))),
    };
    match result {
        Ok(Ok(ended)) => flight.finish(ended),
        Ok(Err(stop)) => Err(flight.stop(stop, budget)),
        Err((index, refusal)) => {
            flight.reject(index, &refusal)?;
            Err(flight.broken_off(refusal))
        }
    }
}

/// The first command that runs without its system call filter; never ends while none does.
async fn unfiltered(watches: &mut JoinSet<(usize, StartError)>) -> (usize, StartError) {
    loop {
        match watches.join_next().await {
            Some(Ok(found)) => return found,
            Some(Err(_)) => {}
            None => std::future::pending().await,
        }
    }
}

/// Waits for a place among the live processes of the registry; the wait counts as wall time.
async fn permits(invocation: &Invocation, stages: usize) -> Result<OwnedSemaphorePermit, Refusal> {
    let count = u32::try_from(stages).map_err(|_| Refusal::internal())?;
    let permits = invocation
        .registry
        .processes
        .clone()
        .acquire_many_owned(count);
    match timeout_at(invocation.deadline(), permits).await {
        Ok(Ok(permits)) => Ok(permits),
        Ok(Err(_)) => Err(Refusal::internal()),
        Err(_) => Err(Refusal::timed_out(invocation.wall_ms)),
    }
}

/// A stage that has been started, with the ends of its pipes that the runtime reads.
struct Pending {
    started: Started,
    stdout: Option<OwnedFd>,
    stderr: OwnedFd,
}

impl Pending {
    fn into_stage(self, runtime: &Runtime) -> Stage {
        let termination = match runtime.backend.kind {
            SelectedKind::Bubblewrap { .. } => Termination::Immediate,
            SelectedKind::Direct => Termination::Graceful,
        };
        Stage {
            process: self.started.process,
            stdout: self.stdout,
            stderr: self.stderr,
            side: self.started.side,
            termination,
        }
    }
}

/// Starts all stages, and says so of each before the next one starts: without a sandbox it runs from
/// here on. When one fails, those before it are dropped, and so killed.
async fn start_all(
    flight: &mut InFlight<'_>,
    stdin: Option<&str>,
) -> Result<(Vec<Pending>, Option<Feed>), Refusal> {
    let invocation = flight.invocation;
    let (mut next_stdin, feed) = match stdin {
        Some(text) => {
            let (read, write) = pipe()?;
            (
                Some(read),
                Some(Feed {
                    pipe: write,
                    bytes: text.as_bytes().to_vec(),
                }),
            )
        }
        None => (None, None),
    };
    let last = flight.contexts.len().saturating_sub(1);
    // All are verified before any starts.
    let mut files = Vec::with_capacity(flight.contexts.len());
    for context in flight.contexts.iter_mut() {
        match blocking(|| verify(invocation, context)) {
            Ok(verified) => files.push(verified),
            Err(refusal) => {
                reject(invocation, context, &refusal)?;
                return Err(refusal);
            }
        }
    }
    let mut started = Vec::with_capacity(files.len());
    for (index, files) in files.iter().enumerate() {
        let context = flight.contexts.get(index).ok_or_else(Refusal::internal)?;
        let (stdout, stdout_write) = pipe()?;
        let (stderr, stderr_write) = pipe()?;
        let streams = Streams {
            stdin: next_stdin.take(),
            stdout: stdout_write,
            stderr: stderr_write,
        };
        let mut stdout = Some(stdout);
        if index != last {
            next_stdin = stdout.take();
        }
        let start = timeout_at(
            invocation.deadline(),
            start(invocation, context, files, streams),
        );
        let result = match start.await {
            Ok(Ok(running)) => {
                whole(
                    Pending {
                        started: running,
                        stdout,
                        stderr,
                    },
                    invocation,
                )
                .await
            }
            Ok(Err(error)) => Err(refusal_of(error)),
            Err(_) => return Err(Refusal::timed_out(invocation.wall_ms)),
        };
        match result {
            Ok(pending) => {
                flight.started(index, &pending)?;
                started.push(pending);
            }
            Err(refusal) => {
                flight.reject(index, &refusal)?;
                return Err(refusal);
            }
        }
    }
    Ok((started, feed))
}

/// Verifies the files of a command at the last moment, and copies those that are not stable.
fn verify(invocation: &Invocation, context: &mut Context) -> Result<Files, Refusal> {
    if let SelectedKind::Bubblewrap { wrapper, .. } = &invocation.runtime.backend.kind {
        wrapper
            .verify()
            .map_err(|error| Refusal::executable_changed("wrapper", error.to_string()))?;
    }
    let cache = invocation.runtime.resolver.cache();
    let resolved = context.resolved.as_mut().ok_or_else(Refusal::internal)?;
    resolved
        .verify(cache)
        .map_err(|error| Refusal::executable_changed("target", error.to_string()))?;
    let resolved = context.resolved()?;
    let sealed = |item| match &context.plan()?.launch {
        PlannedLaunch::Bubblewrap(plan) => Ok(plan.descriptors.contains(&Descriptor::Sealed(item))),
        PlannedLaunch::Direct => Ok::<_, Refusal>(false),
    };
    let interpreter = match resolved.interpreter() {
        Some(found) => Some(hold(
            found.file(),
            sealed(Item::Interpreter)?,
            "interpreter",
        )?),
        None => None,
    };
    Ok(Files {
        executable: hold(resolved.file(), sealed(Item::Executable)?, "target")?,
        interpreter,
        script: None,
    })
}

fn hold(pinned: &Pinned, sealed: bool, subject: &'static str) -> Result<VerifiedFile, Refusal> {
    let changed = |error: std::io::Error| Refusal::executable_changed(subject, error.to_string());
    let held = descriptor::duplicate(pinned.descriptor().as_fd()).map_err(changed)?;
    let copy = || {
        descriptor::sealed_with(c"chatmd-target", true, |file| {
            pinned.copy_verified(|chunk| file.write_all(chunk))
        })
    };
    let sealed = if sealed {
        Some(copy().map_err(changed)?)
    } else {
        None
    };
    Ok(VerifiedFile { held, sealed })
}

async fn start(
    invocation: &Invocation,
    context: &Context,
    files: &Files,
    streams: Streams,
) -> Result<Started, StartError> {
    let internal = |_| StartError::Spawn("internal runtime error".to_owned());
    let launch = &context.plan().map_err(internal)?.launch;
    match (launch, &invocation.runtime.backend.kind) {
        (PlannedLaunch::Bubblewrap(plan), SelectedKind::Bubblewrap { wrapper, settings }) => {
            let runtime = &invocation.runtime;
            let roots = runtime.roots.read.iter().chain(&runtime.roots.write);
            let start = BubblewrapStart {
                wrapper,
                plan,
                files,
                limits: sandbox_limits(runtime, context, plan),
                no_network: !settings.network,
                marker: runtime.shared.marker.outside(roots),
            };
            start_bubblewrap(start, streams).await
        }
        _ => start_direct(direct(invocation, context, files)?, streams).await,
    }
}

/// bubblewrap copies sealed files itself, so the file size limit must let it.
fn sandbox_limits(runtime: &Runtime, context: &Context, plan: &BubblewrapPlan) -> Vec<Limit> {
    let sealed = plan
        .levels
        .iter()
        .filter(|(_, level)| *level == Level::Sealed);
    let sizes = sealed.map(|(item, _)| {
        let Some(resolved) = &context.resolved else {
            return 0;
        };
        match item {
            Item::Executable => resolved.fingerprint().size,
            Item::Interpreter => resolved
                .interpreter()
                .map_or(0, |found| found.file().fingerprint().size),
            Item::Script => 0,
        }
    });
    let largest = sizes.max().unwrap_or(0);
    let limits = runtime.limits.for_sealed_copy(largest);
    limits.into_iter().map(Limit::from).collect()
}

fn direct<'a>(
    invocation: &Invocation,
    context: &Context,
    files: &'a Files,
) -> Result<DirectCommand<'a>, StartError> {
    let runtime = &invocation.runtime;
    let spawn = |reason: &str| StartError::Spawn(reason.to_owned());
    let resolved = context
        .resolved
        .as_ref()
        .ok_or_else(|| spawn("internal runtime error"))?;
    let word =
        |bytes: &[u8]| CString::new(bytes).map_err(|_| spawn("an argument holds a NUL byte"));
    let mut argv = vec![word(resolved.located().as_os_str().as_bytes())?];
    for argument in context.argv.iter().skip(1) {
        argv.push(word(argument.as_bytes())?);
    }
    let mut env = Vec::with_capacity(runtime.environment.entries().len());
    for (name, value) in runtime.environment.entries() {
        env.push(word(&entry(name, value))?);
    }
    let cwd = descriptor::open_without_links(runtime.cwd.as_path())
        .map_err(|error| StartError::Spawn(format!("the working directory: {error}")))?;
    Ok(DirectCommand {
        target: &files.executable,
        script: files.interpreter.is_some(),
        argv,
        env,
        cwd,
        privilege_change: runtime.declared.capabilities.privilege_change,
        limits: runtime
            .limits
            .resources
            .iter()
            .copied()
            .map(Limit::from)
            .collect(),
    })
}

/// A sandbox that ended before its command could start says why on its standard error.
async fn whole(pending: Pending, invocation: &Invocation) -> Result<Pending, Refusal> {
    if !matches!(pending.started.hold, Start::Ended) {
        return Ok(pending);
    }
    let stage = pending.into_stage(&invocation.runtime);
    let mut budget = Budget {
        deadline: Instant::now() + LAST_WORDS,
        idle: None,
        stdout_bytes: 0,
        stderr_bytes: 0,
        total_bytes: u64::MAX,
        total_used: 0,
    };
    let ended = supervise::run(vec![stage], None, &mut budget, &mut Silent).await;
    let verdict = ended.ok().and_then(|ended| ended.first().map(judge));
    Err(match verdict {
        Some(Verdict::SetupFailed(reason)) => Refusal::sandbox(advised(reason)),
        Some(Verdict::NotExecuted(reason)) => Refusal::spawn(reason),
        Some(Verdict::Signaled(signal)) => {
            Refusal::sandbox(format!("the sandbox was ended by signal {signal}"))
        }
        _ => Refusal::sandbox("the sandbox ended before its command could start"),
    })
}

/// Adds what this kernel forbids to ordinary users, when that may be the cause.
fn advised(reason: String) -> String {
    match namespace_obstacle() {
        Some(advice) => format!("{reason} ({advice})"),
        None => reason,
    }
}

fn refusal_of(error: StartError) -> Refusal {
    match error {
        StartError::Sandbox(reason) => Refusal::sandbox(reason),
        StartError::Spawn(reason) => Refusal::spawn(reason),
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Refusal> {
    descriptor::pipe().map_err(|error| Refusal::spawn(error.to_string()))
}

/// The commands of a pipeline. Dropped while some of them run (the invocation was cancelled), it
/// says so in the audit for each of those; the processes die with their own guards.
struct InFlight<'a> {
    invocation: &'a Invocation,
    contexts: Vec<Context>,
    /// Which commands have a `started` that no other event has ended yet.
    live: Vec<bool>,
    tally: &'a mut Tally,
}

impl InFlight<'_> {
    fn started(&mut self, index: usize, pending: &Pending) -> Result<(), Refusal> {
        if let Some(live) = self.live.get_mut(index) {
            *live = true;
        }
        let context = self.contexts.get(index).ok_or_else(Refusal::internal)?;
        let body = EventBody::Started {
            backend: self.invocation.runtime.backend.choice.name.clone(),
            pid: u32::try_from(pending.started.process.pid()).ok(),
        };
        self.write(context, body)
    }

    /// Whether the command has a `started` that was open until now.
    fn take_live(&mut self, index: usize) -> bool {
        self.live.get_mut(index).is_some_and(std::mem::take)
    }

    fn reject(&mut self, index: usize, refusal: &Refusal) -> Result<(), Refusal> {
        self.take_live(index);
        let context = self.contexts.get_mut(index).ok_or_else(Refusal::internal)?;
        reject(self.invocation, context, refusal)
    }

    /// The others are killed when one of them can not start.
    fn broken_off(mut self, refusal: Refusal) -> Refusal {
        let kind = match refusal.code {
            "timed_out" => TerminationKind::TimedOut(self.invocation.wall_ms),
            "audit_unavailable" => TerminationKind::AuditFailure,
            _ => TerminationKind::Cancelled,
        };
        self.terminated(kind);
        refusal
    }

    fn write(&self, context: &Context, body: EventBody) -> Result<(), Refusal> {
        let event = context.event(self.invocation, body);
        self.invocation
            .runtime
            .journal
            .write(&event, Moment::AfterStart)
    }

    /// Writes `terminated` for every command that runs. Failures of the audit are already being
    /// handled.
    fn terminated(&mut self, kind: TerminationKind) {
        for index in 0..self.contexts.len() {
            if self.take_live(index)
                && let Some(context) = self.contexts.get(index)
            {
                self.tally.commands += 1;
                let _ = self.write(context, EventBody::Terminated { kind });
            }
        }
    }

    fn stop(mut self, stop: Stop<Refusal>, budget: &Budget) -> Refusal {
        let invocation = self.invocation;
        let idle_ms = invocation.runtime.limits.supervision.idle_time;
        let idle_ms = idle_ms.map_or(0, |idle| {
            u64::try_from(idle.as_millis()).unwrap_or(u64::MAX)
        });
        let (kind, refusal) = match stop {
            Stop::WallTime => {
                let ms = invocation.wall_ms;
                (TerminationKind::TimedOut(ms), Refusal::timed_out(ms))
            }
            Stop::IdleTime => (
                TerminationKind::IdleTimedOut(idle_ms),
                Refusal::idle_timed_out(idle_ms),
            ),
            Stop::TotalOutput(count) => (
                TerminationKind::OutputLimitExceeded(budget.total_bytes),
                Refusal::output_limit(count),
            ),
            Stop::Observer(refusal) => (TerminationKind::AuditFailure, refusal),
            Stop::Io(error) => (
                TerminationKind::Cancelled,
                Refusal::spawn(error.to_string()),
            ),
        };
        self.terminated(kind);
        refusal
    }

    /// Judges every stage and writes how it ended. One that was never executed fails the request,
    /// but what the others did stays on record.
    fn finish(mut self, ended: Vec<Ended>) -> Result<Vec<Executed>, Refusal> {
        let direct = matches!(self.invocation.runtime.backend.kind, SelectedKind::Direct);
        let mut statuses = Vec::with_capacity(ended.len());
        let mut refused: Option<Refusal> = None;
        for (index, ended) in ended.iter().enumerate() {
            let verdict = if direct {
                judge_direct(ended)
            } else {
                judge(ended)
            };
            let (status, refusal) = match verdict {
                Verdict::Exited(code) => (Some(ExitStatus::Exited(code)), None),
                Verdict::Signaled(signal) => (Some(ExitStatus::Signaled(signal)), None),
                Verdict::NotExecuted(reason) => (None, Some(Refusal::spawn(reason))),
                Verdict::SetupFailed(reason) => (None, Some(Refusal::sandbox(advised(reason)))),
            };
            if let Some(status) = status {
                self.take_live(index);
                self.tally.commands += 1;
                let context = self.contexts.get(index).ok_or_else(Refusal::internal)?;
                self.write(context, EventBody::Finished { status })?;
                statuses.push(status);
            }
            if let Some(refusal) = refusal {
                self.reject(index, &refusal)?;
                refused.get_or_insert(refusal);
            }
        }
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        let contexts = std::mem::take(&mut self.contexts);
        let parts = ended.into_iter().zip(contexts).zip(statuses);
        let executed = parts.map(|((ended, context), status)| Executed {
            context,
            status,
            stdout: ended.stdout,
            stderr: ended.stderr,
        });
        Ok(executed.collect())
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let kind = if self.invocation.runtime.journal.is_closed() {
            TerminationKind::AuditFailure
        } else {
            TerminationKind::Cancelled
        };
        self.terminated(kind);
    }
}

/// Writes `output` events.
struct Notes<'a> {
    invocation: &'a Invocation,
    contexts: &'a [Context],
    tally: &'a mut Tally,
}

impl Observer for Notes<'_> {
    type Error = Refusal;

    fn output(
        &mut self,
        stage: usize,
        channel: Channel,
        bytes: u64,
        last: bool,
    ) -> Result<(), Refusal> {
        let Some(context) = self.contexts.get(stage) else {
            return Ok(());
        };
        let (channel, count) = match channel {
            Channel::Stdout => (audit::Channel::Stdout, &mut self.tally.stdout_bytes),
            Channel::Stderr => (audit::Channel::Stderr, &mut self.tally.stderr_bytes),
        };
        *count += bytes;
        let event = context.event(
            self.invocation,
            EventBody::Output {
                channel,
                bytes,
                last,
            },
        );
        self.invocation
            .runtime
            .journal
            .write(&event, Moment::AfterStart)
    }
}
