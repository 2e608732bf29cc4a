//! The thread that owns the database.
//!
//! It takes messages in arrival order. Notifications change the documents at once; the database
//! learns of them before the next snapshot is taken, so that consecutive edits are one revision. A
//! request gets a snapshot of the state at its place in the order and goes to the pool.

mod checks;
mod database;
mod edits;
mod questions;
mod setup;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use chatmd_compiler::db::{Database, OverlayFileSystem};
use crossbeam_channel::{Receiver, Sender};
use serde_json::Value;
use tower_lsp::ls_types::{Diagnostic, Uri};

use super::check::{Checked, Results};
use super::client::ClientTasks;
use super::confined::Confined;
use super::documents::Document;
use super::log::Log;
use super::memory::Watch;
use super::panics;
use super::pool::Pool;
use super::publish::Outbox;
use super::requests::Request;
use super::settings::AllSettings;
use super::text::{Change, Encoding};
use super::worker::{self, Work};

/// What happens, in the order of arrival.
pub enum Event {
    /// The client said who it is.
    Configure(Configuration),
    /// The client sent settings, or said that they changed.
    Settings(Value),
    /// The client answered what its settings are.
    Pulled {
        /// Of the question.
        number: u64,
        /// Where no folder says otherwise.
        default: Value,
        /// By workspace folder.
        folders: Vec<(Utf8PathBuf, Value)>,
    },
    /// The client is ready for questions.
    Ready,
    /// Workspace folders came and went.
    Folders {
        added: Vec<Utf8PathBuf>,
        removed: Vec<Utf8PathBuf>,
    },
    /// A document was opened.
    Opened {
        uri: Uri,
        language: String,
        version: i32,
        text: String,
    },
    /// A document was edited.
    Changed {
        uri: Uri,
        version: i32,
        changes: Vec<Change>,
    },
    /// A document was saved.
    Saved(Uri),
    /// A document was closed.
    Closed(Uri),
    /// Files changed on disk.
    FilesChanged(Vec<Uri>),
    /// A question.
    Asked(Arc<Request>),
    /// The session ends.
    ShutDown,
    /// From the pool: a check is done.
    Checked(Checked),
    /// From the pool: a write interrupted a request.
    Interrupted(Arc<Request>),
    /// From the pool: a request panicked.
    Panicked,
    /// Tests only: the next edit panics behind the change of the text.
    PanicAtNextEdit,
    /// Tests only: the resident memory, in bytes, at which caches are dropped.
    MemoryLimit(u64),
}

impl Event {
    /// What the protocol calls it, for the log.
    fn method(&self) -> &'static str {
        match self {
            Self::Configure(_) => "initialize",
            Self::Settings(_) => "workspace/didChangeConfiguration",
            Self::Pulled { .. } => "workspace/configuration",
            Self::Ready => "initialized",
            Self::Folders { .. } => "workspace/didChangeWorkspaceFolders",
            Self::Opened { .. } => "textDocument/didOpen",
            Self::Changed { .. } => "textDocument/didChange",
            Self::Saved(_) => "textDocument/didSave",
            Self::Closed(_) => "textDocument/didClose",
            Self::FilesChanged(_) => "workspace/didChangeWatchedFiles",
            Self::Asked(request) | Self::Interrupted(request) => request.ask.method(),
            Self::ShutDown => "shutdown",
            Self::Checked(_) | Self::Panicked => "a check",
            Self::PanicAtNextEdit | Self::MemoryLimit(_) => "a test",
        }
    }
}

/// What stays the same for a session.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// How the client counts.
    pub encoding: Encoding,
    /// Workspace folders.
    pub folders: Vec<Utf8PathBuf>,
    /// Settings that came with the greeting.
    pub settings: Value,
    /// The client tells of changed files.
    pub watches_files: bool,
    /// The client answers what its settings are.
    pub answers_settings: bool,
}

/// The last set that was handed out for a document.
struct Sent {
    version: i32,
    /// `None`: it was taken back before the client saw it.
    set: Option<Vec<Diagnostic>>,
}

/// Events that are taken together before the database is brought up to date.
const BATCH: usize = 1_024;
/// The writer and everything it owns.
pub struct Writer {
    db: Database,
    overlay: OverlayFileSystem,
    confined: Confined,
    documents: HashMap<Uri, Document>,
    configuration: Configuration,
    settings: AllSettings,
    /// Number of the last question about settings.
    pulls: u64,
    /// Grows with every change of settings or folders.
    setups: u64,
    /// Complaints about settings that the user was shown.
    complaints: Vec<String>,
    events: Sender<Event>,
    pool: Pool<Work>,
    outbox: Outbox,
    client: ClientTasks,
    log: Log,
    /// Requests that may still run.
    live: Vec<Weak<Request>>,
    /// Number of the state of the database, files and settings.
    generation: u64,
    /// Number of the last edit.
    serial: u64,
    /// The open documents have to be checked.
    check_due: bool,
    /// Results of the last check.
    last: Arc<Results>,
    /// What the client was last sent.
    sent: HashMap<Uri, Sent>,
    panics: Vec<Instant>,
    memory: Watch,
    /// Longest time that a write waited for snapshots.
    waited: Duration,
    /// Tests only.
    panic_at_next_edit: bool,
}

impl Writer {
    /// A writer without documents, with its pool.
    pub fn new(
        events: Sender<Event>,
        outbox: Outbox,
        client: ClientTasks,
        log: Log,
    ) -> std::io::Result<Self> {
        let confined = Confined::default();
        let overlay = OverlayFileSystem::new(confined.clone());
        let pool_log = log.clone();
        let pool_events = events.clone();
        let pool = Pool::start(move |work, db| worker::run(work, db, &pool_events, &pool_log))?;
        Ok(Self {
            db: Database::new(overlay.clone()),
            overlay,
            confined,
            documents: HashMap::new(),
            configuration: Configuration::default(),
            settings: AllSettings::default(),
            pulls: 0,
            setups: 0,
            complaints: Vec::new(),
            events,
            pool,
            outbox,
            client,
            log,
            live: Vec::new(),
            generation: 0,
            serial: 0,
            check_due: false,
            last: Arc::default(),
            sent: HashMap::new(),
            panics: Vec::new(),
            memory: Watch::default(),
            waited: Duration::ZERO,
            panic_at_next_edit: false,
        })
    }

    /// Works until nobody can send events any more.
    pub fn run(mut self, queue: &Receiver<Event>) {
        while let Ok(first) = queue.recv() {
            let more = std::iter::from_fn(|| queue.try_recv().ok());
            for event in std::iter::once(first).chain(more).take(BATCH) {
                self.guarded(event.method(), |writer| writer.handle(event));
            }
            self.guarded("a check", |writer| {
                writer.flush();
                writer.watch_memory();
                writer.schedule_check();
            });
        }
    }

    /// A panic here costs the database, never a document: the texts are kept.
    fn guarded(&mut self, method: &str, step: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| step(self))).is_err() {
            self.log.error(&format!(
                "internal error at {} in {method}; the database is rebuilt",
                panics::take_place()
            ));
            self.rebuild();
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Configure(configuration) => self.configure(configuration),
            Event::Settings(settings) => self.settings_sent(&settings),
            Event::Pulled {
                number,
                default,
                folders,
            } => self.settings_pulled(number, &default, folders),
            Event::Ready => self.pull_settings(),
            Event::Folders { added, removed } => self.change_folders(added, &removed),
            Event::Opened {
                uri,
                language,
                version,
                text,
            } => self.open(uri, language, version, text),
            Event::Changed {
                uri,
                version,
                changes,
            } => self.edit(&uri, version, changes),
            Event::Saved(uri) => self.saved(&uri),
            Event::Closed(uri) => self.close(&uri),
            Event::FilesChanged(uris) => self.files_changed(&uris),
            Event::Asked(request) => self.ask(request),
            Event::ShutDown => self.shut_down(),
            Event::Checked(checked) => self.checked(checked),
            Event::Interrupted(request) => self.restart(request),
            Event::Panicked => self.rebuild(),
            Event::PanicAtNextEdit => self.panic_at_next_edit = true,
            Event::MemoryLimit(bytes) => self.memory = Watch::with_limit(bytes),
        }
    }
}
