//! The thread that owns the database.
//!
//! It takes messages in arrival order. Notifications change the documents at once; the database
//! learns of them before the next snapshot is taken, so that consecutive edits are one revision. A
//! request gets a snapshot of the state at its place in the order and goes to the pool.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::db::{Database, OverlayFileSystem};
use crossbeam_channel::{Receiver, Sender};
use tower_lsp::ls_types::{Diagnostic, MessageType, Uri};

use super::check::{Check, Checked, Open, Results};
use super::client::ClientTasks;
use super::confined::Confined;
use super::documents::{Document, path_of};
use super::log::Log;
use super::pool::{Job, Lane, Pool};
use super::publish::{Outbox, Publication};
use super::requests::{self, Ask, MAX_RESTARTS, Request};
use super::settings::Settings;
use super::text::{self, Change, Encoding};
use super::worker::{self, Answer, Target, Work};
use crate::ide::recognise::{Class, classify};

/// What happens, in the order of arrival.
pub enum Event {
    /// The client said who it is.
    Configure(Configuration),
    /// Settings changed.
    Settings(Settings),
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
    /// From the pool: a request panicked; the method and a number for the log.
    Panicked,
}

/// What stays the same for a session.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// How the client counts.
    pub encoding: Encoding,
    /// Workspace folders.
    pub folders: Vec<Utf8PathBuf>,
    /// Settings.
    pub settings: Settings,
    /// The client tells of changed files.
    pub watches_files: bool,
}

/// The last set that was handed out for a document.
struct Sent {
    version: i32,
    /// `None`: it was taken back before the client saw it.
    set: Option<Vec<Diagnostic>>,
}

/// Events that are taken together before the database is brought up to date.
const BATCH: usize = 1_024;
/// Panics within [`PANIC_WINDOW`] that are worth a message to the user.
const MANY_PANICS: usize = 5;
const PANIC_WINDOW: Duration = Duration::from_secs(60);

/// The writer and everything it owns.
pub struct Writer {
    db: Database,
    overlay: OverlayFileSystem,
    confined: Confined,
    documents: HashMap<Uri, Document>,
    configuration: Configuration,
    settings: Arc<Settings>,
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
        let pool = Pool::start(move |work, db| worker::run(work, db, &events, &pool_log))?;
        Ok(Self {
            db: Database::new(overlay.clone()),
            overlay,
            confined,
            documents: HashMap::new(),
            configuration: Configuration::default(),
            settings: Arc::default(),
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
        })
    }

    /// Works until nobody can send events any more.
    pub fn run(mut self, queue: &Receiver<Event>) {
        while let Ok(first) = queue.recv() {
            let more = std::iter::from_fn(|| queue.try_recv().ok());
            for event in std::iter::once(first).chain(more).take(BATCH) {
                self.guarded(|writer| writer.handle(event));
            }
            self.guarded(|writer| {
                writer.flush();
                writer.schedule_check();
            });
        }
    }

    /// A panic here costs the database, never a document: the texts are kept.
    fn guarded(&mut self, step: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| step(self))).is_err() {
            self.log
                .error("a step of the writer panicked; the database is rebuilt");
            self.rebuild();
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Configure(configuration) => self.configure(configuration),
            Event::Settings(settings) => self.change_settings(settings),
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
        }
    }

    // Settings and folders.

    fn configure(&mut self, configuration: Configuration) {
        self.settings = Arc::new(configuration.settings.clone());
        self.configuration = configuration;
        self.apply_trust();
    }

    fn change_settings(&mut self, settings: Settings) {
        let trust_changed = self.settings.trusted != settings.trusted;
        self.settings = Arc::new(settings);
        self.last = Arc::default();
        if trust_changed {
            self.apply_trust();
        }
        self.write(|_| {});
    }

    fn change_folders(&mut self, added: Vec<Utf8PathBuf>, removed: &[Utf8PathBuf]) {
        let folders = &mut self.configuration.folders;
        folders.retain(|folder| !removed.contains(folder));
        folders.extend(added);
        self.apply_trust();
    }

    fn apply_trust(&mut self) {
        let folders = self.configuration.folders.clone();
        self.confined
            .restrict((!self.settings.trusted).then_some(folders.as_slice()));
        self.write(Database::reload);
    }

    // Documents.

    fn open(&mut self, uri: Uri, language: String, version: i32, mut text: String) {
        if self.documents.contains_key(&uri) {
            self.log.warn("a document was opened that is open already");
            self.leave(&uri);
        }
        text::strip_bom(&mut text);
        let path = path_of(&uri);
        self.serial += 1;
        let mut document = Document {
            class: Class::Other,
            key: path.clone(),
            file: None,
            root: None,
            dirty: false,
            skip: false,
            bom: self.disk_has_bom(&path),
            serial: self.serial,
            uri: uri.clone(),
            version,
            language,
            text,
            path,
        };
        document.class = classify(&document.language, document.file_name(), &document.text);
        document.key = self.overlay.set(&document.path, document.bytes());
        let path = document.path.clone();
        self.write(|db| {
            db.refresh(&path);
            document.enter(db);
        });
        self.sent.remove(&uri);
        self.documents.insert(uri, document);
    }

    /// The digest of an unchanged document is that of its file, mark included.
    fn disk_has_bom(&self, path: &Utf8Path) -> bool {
        use chatmd_compiler::db::FileSystem as _;
        use std::io::Read as _;
        let Ok(located) = self.confined.locate(path) else {
            return false;
        };
        let mut start = [0; 3];
        std::fs::File::open(&located.canonical)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok()
            && start == *b"\xef\xbb\xbf"
    }

    fn edit(&mut self, uri: &Uri, version: i32, changes: Vec<Change>) {
        let encoding = self.configuration.encoding;
        let Some(document) = self.documents.get_mut(uri) else {
            self.log.warn("a document was edited that is not open");
            return;
        };
        if version <= document.version {
            self.log.warn("a document version did not grow");
        }
        let was_empty = document.text.is_empty();
        text::apply(&mut document.text, changes, encoding);
        self.serial += 1;
        document.serial = self.serial;
        document.version = version;
        document.dirty = true;
        if self.outbox.discard(uri)
            && let Some(sent) = self.sent.get_mut(uri)
        {
            sent.set = None;
        }
        if was_empty && document.class == Class::Other {
            self.classify_again(uri);
        }
        for document in self.documents.values_mut() {
            document.skip = false;
        }
    }

    /// Looks again at what a document is; its root comes and goes with that.
    fn classify_again(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get_mut(uri) else {
            return;
        };
        let class = classify(&document.language, document.file_name(), &document.text);
        if class == document.class {
            return;
        }
        document.class = class;
        document.find_root(&mut self.db);
        if class == Class::Other {
            self.clear(uri.clone());
        }
        self.generation += 1;
        self.check_due = true;
    }

    fn saved(&mut self, uri: &Uri) {
        self.flush();
        self.classify_again(uri);
        if !self.configuration.watches_files {
            self.write(Database::reload);
        }
    }

    fn close(&mut self, uri: &Uri) {
        if self.documents.contains_key(uri) {
            self.leave(uri);
            self.clear(uri.clone());
        } else {
            self.log.warn("a document was closed that is not open");
        }
    }

    /// Back to the content on disk.
    fn leave(&mut self, uri: &Uri) {
        let Some(document) = self.documents.remove(uri) else {
            return;
        };
        self.outbox.discard(uri);
        // A second URI of the same file keeps the buffer that was set last.
        let shared = self
            .documents
            .values()
            .find(|other| other.key == document.key);
        match &shared {
            Some(other) => {
                self.overlay.set(&other.path, other.bytes());
            }
            None => self.overlay.remove(&document.key),
        }
        let last = shared.is_none();
        self.write(|db| {
            if let (Some(file), true) = (document.file, last) {
                db.expect_edits(file, false);
            }
            db.refresh(&document.key);
            db.refresh(&document.path);
        });
    }

    /// Takes back what the client shows for a document.
    fn clear(&mut self, uri: Uri) {
        if self.sent.remove(&uri).is_some() {
            self.outbox.push(Publication {
                version: self.documents.get(&uri).map(|document| document.version),
                uri,
                diagnostics: Vec::new(),
            });
        }
    }

    fn files_changed(&mut self, uris: &[Uri]) {
        let paths: Vec<_> = uris.iter().map(path_of).collect();
        self.write(|db| {
            for path in &paths {
                db.refresh(path);
            }
        });
    }

    // The database.

    /// Changes the database. Work that has not begun gives its snapshot back first, work that runs
    /// is interrupted; both start again afterwards where that makes sense.
    fn write(&mut self, change: impl FnOnce(&mut Database)) {
        let waiting = self.pool.take_back();
        change(&mut self.db);
        self.generation += 1;
        self.check_due = true;
        for work in waiting {
            if let Work::Answer(answer) = work {
                self.dispatch(answer.request);
            }
        }
    }

    /// Brings the database up to date with the texts.
    fn flush(&mut self) {
        let dirty = self
            .documents
            .values_mut()
            .filter(|document| document.dirty);
        let mut buffers = Vec::new();
        for document in dirty {
            document.dirty = false;
            let bytes = document.bytes();
            self.overlay.set(&document.path, Arc::clone(&bytes));
            if let Some(file) = document.file {
                buffers.push((file, bytes));
            }
        }
        if !buffers.is_empty() {
            self.write(|db| {
                for (file, bytes) in buffers {
                    db.set_content(file, bytes);
                }
            });
        }
    }

    /// A new database over the same texts, after a panic in a query of the old one.
    fn rebuild(&mut self) {
        let waiting = self.pool.take_back();
        self.db = Database::new(self.overlay.clone());
        for document in self.documents.values_mut() {
            document.dirty = false;
            self.overlay.set(&document.path, document.bytes());
            document.enter(&mut self.db);
        }
        self.last = Arc::default();
        self.generation += 1;
        self.check_due = true;
        for work in waiting {
            if let Work::Answer(answer) = work {
                self.dispatch(answer.request);
            }
        }
        self.count_panic();
    }

    fn count_panic(&mut self) {
        let now = Instant::now();
        self.panics
            .retain(|at| now.duration_since(*at) < PANIC_WINDOW);
        self.panics.push(now);
        if self.panics.len() == MANY_PANICS {
            self.client.show_message(
                MessageType::WARNING,
                "The ChatMD language server meets the same internal error again and again. \
                 Please report it with the server's log.",
            );
        }
    }

    // Requests.

    fn ask(&mut self, request: Arc<Request>) {
        self.flush();
        let serial = request
            .ask
            .document()
            .and_then(|uri| self.documents.get(uri));
        request.set_serial(serial.map(|document| document.serial));
        self.live.retain(|request| request.strong_count() > 0);
        self.live.push(Arc::downgrade(&request));
        self.dispatch(request);
    }

    /// Sends a request to the pool with a snapshot of the present state.
    fn dispatch(&mut self, request: Arc<Request>) {
        if request.is_cancelled() {
            return request.answer(Err(requests::cancelled()));
        }
        let document = request.ask.document().map(|uri| self.documents.get(uri));
        if document.flatten().map(|document| document.serial) != request.serial() {
            return request.answer(Err(requests::content_modified()));
        }
        let target = match &request.ask {
            Ask::SyntaxTree(_) => match document.flatten().and_then(|document| document.file) {
                Some(file) => Target::SyntaxTree(file),
                None => return request.answer(Ok(serde_json::Value::Null)),
            },
            Ask::Slow { milliseconds, .. } => Target::Slow(Duration::from_millis(*milliseconds)),
            Ask::Panic => Target::Panic,
        };
        self.pool.push(Job {
            lane: request.ask.lane(),
            work: Work::Answer(Answer { request, target }),
            snapshot: self.db.clone(),
        });
    }

    /// After an interruption: from the start on a new snapshot, a few times.
    fn restart(&mut self, request: Arc<Request>) {
        // Work for the whole workspace starts again as often as it takes.
        if request.ask.document().is_some() && request.count_start() > MAX_RESTARTS {
            return request.answer(Err(requests::content_modified()));
        }
        self.flush();
        self.dispatch(request);
    }

    fn shut_down(&mut self) {
        for request in self.live.drain(..).filter_map(|request| request.upgrade()) {
            request.answer(Err(requests::cancelled()));
            request.cancel();
        }
        self.pool.take_back();
    }

    // Checks.

    fn schedule_check(&mut self) {
        if !std::mem::take(&mut self.check_due) {
            return;
        }
        let mut open: Vec<_> = self
            .documents
            .values()
            .map(|document| Open {
                uri: document.uri.clone(),
                version: document.version,
                key: document.key.clone(),
                root: document.root.filter(|_| !document.skip),
                due: self
                    .sent
                    .get(&document.uri)
                    .is_none_or(|sent| sent.version != document.version || sent.set.is_none()),
                sent: self.sent.contains_key(&document.uri),
            })
            .collect();
        // What the user looks at comes first; the rest in a fixed order.
        open.sort_by(|a, b| (!a.due, &a.uri).cmp(&(!b.due, &b.uri)));
        let check = Check {
            generation: self.generation,
            open,
            previous: Arc::clone(&self.last),
            settings: Arc::clone(&self.settings),
            encoding: self.configuration.encoding,
        };
        self.pool.push(Job {
            lane: Lane::Check,
            work: Work::Check(check),
            snapshot: self.db.clone(),
        });
    }

    fn checked(&mut self, checked: Checked) {
        if !checked.panicked.is_empty() {
            for uri in &checked.panicked {
                if let Some(document) = self.documents.get_mut(uri) {
                    document.skip = true;
                }
            }
            return self.rebuild();
        }
        // An edit arrived in the meantime, or will be known to have: a newer check is on its way.
        let outdated = self.documents.values().any(|document| document.dirty);
        if checked.generation != self.generation || outdated {
            self.check_due = true;
            return;
        }
        self.last = Arc::new(checked.results);
        for set in checked.sets {
            let version = self
                .documents
                .get(&set.uri)
                .map(|document| document.version);
            let (Some(version), true) = (version, version == set.version) else {
                continue;
            };
            let known = self.sent.get(&set.uri).is_some_and(|sent| {
                sent.version == version && sent.set.as_ref() == Some(&set.diagnostics)
            });
            if !known {
                let sent = Sent {
                    version,
                    set: Some(set.diagnostics.clone()),
                };
                self.sent.insert(set.uri.clone(), sent);
                self.outbox.push(set);
            }
        }
    }
}
