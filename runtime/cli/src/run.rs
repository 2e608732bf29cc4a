//! `chatmd run`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chatmd_facts::Host;
use chatmd_runtime::approval::{ApprovalProvider, Nobody, TerminalApprovals};
use chatmd_runtime::authorise::{AuthorizedManifest, BoundDocument, NotAuthorized, authorize};
use chatmd_runtime::materialise::{HostSettings, Problem, Registry, materialise, record_rejection};
use chatmd_runtime::output::ExitStatus;
use chatmd_runtime::pipeline::{Invoked, invoke};
use chatmd_runtime::session::{Session, StatePlaces};
use chatmd_runtime::sys::reaper;
use chatmd_runtime::terminal::Terminal;
use chatmd_runtime::warnings::Warnings;
use chatmdc::args::Common;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{ResultForm, Run};
use crate::document::{Document, open_session};
use crate::exit::{self, Stop};
use crate::{admin, input, show};

/// Longest wait for a person who is asked for approval.
const APPROVAL_TIMEOUT: Duration = Duration::from_secs(600);
/// Longest wait for killed commands before the program ends.
const REAP: Duration = Duration::from_secs(6);

/// Longest wait for threads that are still at work when the program ends.
const STUCK: Duration = Duration::from_secs(1);
/// Number of the signal in the masks of `/proc`.
const SIGHUP: u32 = 1;

/// Invokes one tool.
pub fn run(run: &Run, common: Common) -> Result<u8, Stop> {
    admin::refuse_if_configured()?;
    let payload = input::payload(run)?;
    let document = Document::compile(&run.document, &run.reading, common)?;
    known_tool(&document, &run.tool)?;
    let warnings = Arc::new(Warnings::default());
    let (state, session) = open_session(&run.reading)?;
    let host = document.host(&run.reading, Some(&session))?;
    let asked = run.authorize_manifest.as_deref();
    let mut tools = document.manifest().tools.iter();
    let called = tools.find(|tool| tool.name == run.tool);
    let called = called.map(|tool| tool.runtime.clone());
    let places = state.clone();
    let record = |bound: &str, refused: &NotAuthorized| {
        record_refusal((&places, &session), bound, refused, &warnings);
    };
    let authorized = authorized_or(&document, &host, asked, &warnings, record);
    let authorized = authorized.inspect_err(|_| show::warnings(&warnings, common))?;
    let approvals: Arc<dyn ApprovalProvider> = if run.no_approval {
        Arc::new(Nobody)
    } else {
        Arc::new(TerminalApprovals::default())
    };
    let settings = HostSettings {
        state,
        session_dir: session.directory().to_path_buf(),
        approvals,
        approval_timeout: APPROVAL_TIMEOUT,
        timeout: run.timeout,
        sources: document.sources(),
        warnings: Arc::clone(&warnings),
    };
    let runtime = async_runtime()?;
    let opened: OnceLock<Arc<Registry>> = OnceLock::new();
    let ended = runtime.block_on(interruptible(async {
        let registry = live(authorized, &host, settings).await?;
        let registry = opened.get_or_init(|| registry);
        details(registry, called.as_deref(), common);
        let invoked = invoke(registry, &run.tool, &payload).await;
        invoked.map_err(|unknown| Stop::new(exit::FAILED, format!("chatmd: {unknown}")))
    }));
    // Also after a signal: what was cancelled has been recorded by now.
    let audit_incomplete = opened.get().is_some_and(|registry| {
        registry.close(if ended.is_ok() { "done" } else { "signal" });
        registry
            .runtimes()
            .any(|runtime| runtime.journal.incomplete())
    });
    // Whatever was cancelled is killed by now; it is collected before the program ends. A thread
    // that is stuck in a system call, such as one on a stopped terminal, is not waited for.
    runtime.shutdown_timeout(STUCK);
    reaper::wait_until_collected(REAP);
    show::warnings(&warnings, common);
    drop(session);
    let invoked = ended??;
    print(run, &invoked, audit_incomplete)
}

/// Says when the commands of the called runtime have no sandbox though they should have one; with
/// `--verbose` also where all commands will run and what is weak about it.
fn details(registry: &Registry, called: Option<&str>, common: Common) {
    for runtime in registry.runtimes() {
        let id = runtime.id();
        let fallback = runtime.fallback_warning().filter(|_| called == Some(id));
        if let Some(text) = fallback.as_ref().filter(|_| !common.quiet) {
            show::warning(&format!("runtime {id}: {text}"));
        }
        if !common.verbose {
            continue;
        }
        let choice = &runtime.backend.choice;
        let line = format!(
            "runtime {id}: backend {}, confinement {}",
            choice.name,
            choice.class.as_str()
        );
        show::detail(common, &line);
        let warnings = runtime.warnings().into_iter();
        for warning in warnings.filter(|text| fallback.as_ref() != Some(text)) {
            show::detail(common, &format!("runtime {id}: {warning}"));
        }
    }
}

/// Asks for authority over this machine.
pub fn authorized(
    document: &Document,
    host: &Host,
    digest: Option<&str>,
    warnings: &Warnings,
) -> Result<AuthorizedManifest, Stop> {
    authorized_or(document, host, digest, warnings, |_, _| {})
}

/// The same; a refusal is also told to `refused`, with the bound digest.
fn authorized_or(
    document: &Document,
    host: &Host,
    digest: Option<&str>,
    warnings: &Warnings,
    refusal: impl FnOnce(&str, &NotAuthorized),
) -> Result<AuthorizedManifest, Stop> {
    let bound = BoundDocument::new(
        host,
        document.manifest(),
        document.material().clone(),
        warnings,
    )
    .map_err(|problems| stop_for(&problems))?;
    let bound_sha256 = bound.bound_sha256.clone();
    let answered = if digest.is_none() && bound.needs_authority() {
        ask(bound)?
    } else {
        authorize(bound, digest, None)
    };
    answered.map_err(|refused| {
        refusal(&bound_sha256, &refused);
        let status = match refused {
            NotAuthorized::NotADigest => exit::USAGE,
            _ => exit::REFUSED,
        };
        Stop::new(status, format!("error[{}]: {refused}", refused.code()))
    })
}

/// Asks on the terminal, where a signal ends the question and with it the program.
fn ask(bound: BoundDocument) -> Result<Result<AuthorizedManifest, NotAuthorized>, Stop> {
    let withdrawn = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&withdrawn);
    let runtime = async_runtime()?;
    let answered = runtime.block_on(interruptible(async {
        let question = tokio::task::spawn_blocking(move || {
            let mut terminal = Terminal::open().map(|terminal| terminal.withdrawn_by(flag));
            authorize(bound, None, terminal.as_mut())
        });
        question
            .await
            .map_err(|error| Stop::new(exit::INTERNAL, format!("chatmd: {error}")))
    }));
    withdrawn.store(true, Ordering::Relaxed);
    runtime.shutdown_timeout(STUCK);
    answered?
}

/// Says in the session's log that the manifest was refused. A mistyped option is no refusal.
fn record_refusal(
    (state, session): (&StatePlaces, &Session),
    bound: &str,
    refused: &NotAuthorized,
    warnings: &Warnings,
) {
    if *refused == NotAuthorized::NotADigest {
        return;
    }
    let reason = refused.to_string();
    let reason = reason.lines().next().unwrap_or_default();
    let session = (session.id(), session.directory());
    if let Err(problem) = record_rejection(state, session, bound, refused.code(), reason) {
        warnings.add(problem.code, &problem.message);
    }
}

/// Makes an authorised manifest live.
pub async fn live(
    authorized: AuthorizedManifest,
    host: &Host,
    settings: HostSettings,
) -> Result<Arc<Registry>, Stop> {
    materialise(authorized, host, settings)
        .await
        .map_err(|problems| stop_for(&problems))
}

fn stop_for(problems: &[Problem]) -> Stop {
    let refused = ["shell.manifest_grant_mismatch", "shell.state_in_write_root"];
    let code = if problems
        .iter()
        .any(|problem| refused.contains(&problem.code))
    {
        exit::REFUSED
    } else {
        exit::FAILED
    };
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Stop::new(code, lines.join("\n"))
}

/// One thread does for one call: what blocks in between is a flush of the audit, while a command's
/// output waits in its pipe. Waking a second thread for every event costs more than it saves.
pub fn async_runtime() -> Result<tokio::runtime::Runtime, Stop> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Stop::new(exit::IO, format!("chatmd: {error}")))
}

/// Runs work until it ends or a signal asks to stop; then the work is dropped, which cancels it.
pub async fn interruptible<T>(work: impl Future<Output = T>) -> Result<T, Stop> {
    let io = |error: std::io::Error| Stop::new(exit::IO, format!("chatmd: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(io)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(io)?;
    // Whoever started the program with `nohup` wants it to outlive the terminal.
    let mut hangup = if ignored(SIGHUP) {
        None
    } else {
        Some(signal(SignalKind::hangup()).map_err(io)?)
    };
    let hung_up = async {
        match &mut hangup {
            Some(hangup) => hangup.recv().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        result = work => Ok(result),
        _ = interrupt.recv() => Err(Stop::new(130, "chatmd: interrupted")),
        _ = terminate.recv() => Err(Stop::new(143, "chatmd: terminated")),
        _ = hung_up => Err(Stop::new(129, "chatmd: the terminal went away")),
    }
}

/// Whether this process was started with a signal ignored.
fn ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

fn known_tool(document: &Document, name: &str) -> Result<(), Stop> {
    let tools = &document.manifest().tools;
    if tools.iter().any(|tool| tool.name == name) {
        return Ok(());
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let list = if names.is_empty() {
        "the document has no shell tools".to_owned()
    } else {
        format!("the tools are: {}", names.join(", "))
    };
    Err(Stop::new(
        exit::FAILED,
        format!("chatmd: there is no tool `{name}`; {list}"),
    ))
}

fn print(run: &Run, invoked: &Invoked, audit_incomplete: bool) -> Result<u8, Stop> {
    match (&invoked.result, run.result) {
        (Err(_), _) => show::result(format!("{}\n", invoked.text).as_bytes())?,
        (Ok(_), ResultForm::Auto) => show::result(with_end(&invoked.text).as_bytes())?,
        (Ok(result), ResultForm::Json) => {
            let text = serde_json::to_string(result)
                .map_err(|error| Stop::new(exit::INTERNAL, format!("chatmd: {error}")))?;
            show::result(format!("{text}\n").as_bytes())?;
        }
        (Ok(result), ResultForm::Text) => {
            show::result(result.stdout.as_str().as_bytes())?;
            show::raw_message(result.stderr.as_str());
        }
    }
    Ok(exit_code(run, invoked, audit_incomplete))
}

/// The text with a line end, so that what follows on a terminal begins on a line of its own.
fn with_end(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}

fn exit_code(run: &Run, invoked: &Invoked, audit_incomplete: bool) -> u8 {
    let Ok(result) = &invoked.result else {
        return exit::FAILED;
    };
    // Whatever the command says of itself: what it did is not on record.
    if audit_incomplete || invoked.audit_incomplete {
        return exit::FAILED;
    }
    if run.exit_status {
        let code = match result.status {
            ExitStatus::Exited(code) => code,
            ExitStatus::Signaled(signal) => 128 + signal,
        };
        return u8::try_from(code).unwrap_or(exit::FAILED);
    }
    if invoked.nonzero_error {
        exit::FAILED
    } else {
        exit::OK
    }
}
