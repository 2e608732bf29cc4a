//! The protocol and the order of work (spec 11 sections 1 and 2).

mod check;
mod client;
mod confined;
mod convert;
mod documents;
mod front;
mod handlers;
mod input;
mod life;
pub mod log;
mod memory;
mod output;
mod panics;
mod pool;
mod publish;
mod requests;
mod settings;
mod text;
mod worker;
mod writer;

use std::io::{IsTerminal as _, Read, Write};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use camino::Utf8PathBuf;
use crossbeam_channel::{Receiver, unbounded};
use tower_lsp::{LspService, Server};

use client::ClientTasks;
use handlers::Handlers;
use life::End;
use log::Log;
use output::Output;
use publish::Outbox;
use writer::Writer;

/// Requests that the framework keeps going: more than the server lets wait, so that edits and
/// cancellations always pass.
const CONCURRENCY: usize = 4 * requests::MAX_WAITING;
/// How long the framework may take to hand over its last answers.
const SERVE_LIMIT: Duration = Duration::from_millis(30);

/// How long the last lines of the log may take.
const LOG_LIMIT: Duration = Duration::from_millis(10);

/// How the server talks to its client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output.
    #[default]
    Stdio,
    /// A local socket that the client listens on.
    Pipe(Utf8PathBuf),
}

/// Options of the process.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the client is.
    pub transport: Transport,
    /// The process ends soon after this one.
    pub client_process_id: Option<u32>,
    /// File for the log instead of standard error.
    pub log_file: Option<Utf8PathBuf>,
    /// How much is logged.
    pub log_level: log::Level,
    /// Answer the requests that only tests send.
    pub test_requests: bool,
}

type Streams = (Box<dyn Read + Send>, Box<dyn Write + Send>);

/// Runs the server until the client, a signal or an error ends it, and gives the exit code.
///
/// The caller should leave the process at once: some threads may still wait for the client.
pub fn run(options: &Options) -> u8 {
    if options.transport == Transport::Stdio && std::io::stdin().is_terminal() {
        let _ = writeln!(
            std::io::stderr(),
            "chatmdc lsp: this is a language server: an editor starts it and talks to it on \
             standard input.\nTo check a document yourself: chatmdc check FILE"
        );
        return life::USAGE;
    }
    match start(options) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(
                std::io::stderr(),
                "chatmdc lsp: the server can not start: {error}"
            );
            life::FAILED
        }
    }
}

fn start(options: &Options) -> std::io::Result<u8> {
    let file = match &options.log_file {
        Some(path) => Some(
            std::fs::File::options()
                .create(true)
                .append(true)
                .open(path)?,
        ),
        None => None,
    };
    let log = Log::start(options.log_level, file)?;
    panics::install(log.clone());
    let (reader, stream) = connect(&options.transport)?;
    let (end, ended) = End::new();
    if let Some(process) = options.client_process_id {
        life::watch_parent(process, end.clone());
    }
    let output = Output::start(stream, end.clone())?;
    let served = serve(reader, &output, &end, &log, options.test_requests)?;
    let code = ended.recv().unwrap_or(life::FAILED);
    // The answer to `shutdown` may be on its way still.
    let _ = served.recv_timeout(SERVE_LIMIT);
    output.drain(life::DRAIN);
    log.drain(LOG_LIMIT);
    Ok(code)
}

fn connect(transport: &Transport) -> std::io::Result<Streams> {
    match transport {
        Transport::Stdio => Ok((Box::new(std::io::stdin()), Box::new(std::io::stdout()))),
        #[cfg(unix)]
        Transport::Pipe(path) => {
            let stream = std::os::unix::net::UnixStream::connect(path)?;
            Ok((Box::new(stream.try_clone()?), Box::new(stream)))
        }
        #[cfg(not(unix))]
        Transport::Pipe(path) => {
            let pipe = std::fs::File::options().read(true).write(true).open(path)?;
            Ok((Box::new(pipe.try_clone()?), Box::new(pipe)))
        }
    }
}

/// Starts all threads. The receiver hears when the framework is done.
fn serve(
    reader: Box<dyn Read + Send>,
    output: &Output,
    end: &End,
    log: &Log,
    test_requests: bool,
) -> std::io::Result<Receiver<()>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("protocol")
        .enable_all()
        .build()?;
    let (events, queue) = unbounded();
    let outbox = Outbox::default();
    let writer = OnceLock::new();
    let mut builder = LspService::build(|client| {
        let tasks = ClientTasks::new(client.clone(), runtime.handle().clone(), log.clone());
        let made = Writer::new(events.clone(), outbox.clone(), tasks.clone(), log.clone());
        let _ = writer.set(made);
        runtime.spawn(outbox.send_all(client));
        Handlers {
            events,
            client: tasks,
            end: end.clone(),
            watches_files: AtomicBool::new(false),
            watches_settings: AtomicBool::new(false),
            parent: OnceLock::new(),
        }
    })
    .custom_method("chatmd/syntaxTree", Handlers::syntax_tree);
    if test_requests {
        builder = builder
            .custom_method("chatmd/test/slow", Handlers::slow)
            .custom_method("chatmd/test/panic", Handlers::panic)
            .custom_method("chatmd/test/waited", Handlers::waited)
            .custom_method("chatmd/test/panicAtNextEdit", Handlers::panic_at_next_edit)
            .custom_method("chatmd/test/memoryLimit", Handlers::memory_limit);
    }
    let (service, socket) = builder.finish();
    let writer = writer
        .into_inner()
        .ok_or_else(|| std::io::Error::other("no writer"))??;
    spawn("writer", move || writer.run(&queue))?;

    let (frames, input) = input::channel();
    let (done, served) = unbounded();
    let server = Server::new(input, output.clone(), socket).concurrency_level(CONCURRENCY);
    let framework_end = end.clone();
    runtime.spawn(end_on_signal(end.clone()));
    runtime.spawn(async move {
        server.serve(service).await;
        let _ = done.send(());
        // The input channel closes before the reason is known only if the framework gave up.
        tokio::time::sleep(SERVE_LIMIT).await;
        framework_end.with(life::FAILED);
    });
    let (output, end, log) = (output.clone(), end.clone(), log.clone());
    spawn("input", move || {
        front::read(reader, &frames, &output, &end, &log);
    })?;
    // Its threads are never waited for.
    std::mem::forget(runtime);
    Ok(served)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}

#[cfg(unix)]
async fn end_on_signal(end: End) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    end.with(life::FAILED);
}

#[cfg(not(unix))]
async fn end_on_signal(end: End) {
    if tokio::signal::ctrl_c().await.is_ok() {
        end.with(life::FAILED);
    }
}
