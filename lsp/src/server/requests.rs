//! Requests that wait for an answer.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use salsa::CancellationToken;
use serde_json::Value;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::Uri;

use super::pool::Lane;

/// Requests in flight and queued together (spec 11 section 2.3).
pub const MAX_WAITING: usize = 256 + 1_024;
/// How often a request starts again because another file changed.
pub const MAX_RESTARTS: usize = 3;

/// What a request asks.
#[derive(Clone, Debug)]
pub enum Ask {
    /// `chatmd/syntaxTree`.
    SyntaxTree(Uri),
    /// Tests only: takes that many milliseconds of work that can be cancelled, about a document or
    /// about the workspace.
    Slow {
        lane: Lane,
        milliseconds: u64,
        document: Option<Uri>,
    },
    /// Tests only: the longest time that the writer waited for snapshots, in microseconds, since the
    /// last such request.
    Waited,
    /// Tests only: panics.
    Panic,
}

impl Ask {
    /// The document whose edits invalidate the answer.
    pub fn document(&self) -> Option<&Uri> {
        match self {
            Self::SyntaxTree(uri) => Some(uri),
            Self::Slow { document, .. } => document.as_ref(),
            Self::Waited | Self::Panic => None,
        }
    }

    /// Its name in the protocol, for the log.
    pub fn method(&self) -> &'static str {
        match self {
            Self::SyntaxTree(_) => "chatmd/syntaxTree",
            Self::Slow { .. } => "chatmd/test/slow",
            Self::Waited => "chatmd/test/waited",
            Self::Panic => "chatmd/test/panic",
        }
    }

    /// The lane.
    pub fn lane(&self) -> Lane {
        match self {
            Self::SyntaxTree(_) | Self::Waited | Self::Panic => Lane::Normal,
            Self::Slow { lane, .. } => *lane,
        }
    }
}

/// A request and its way back.
pub struct Request {
    /// What it asks.
    pub ask: Ask,
    restarts: AtomicUsize,
    serial: Mutex<Option<u64>>,
    setup: AtomicU64,
    reply: Mutex<Option<oneshot::Sender<Result<Value>>>>,
    cancelled: AtomicBool,
    token: Mutex<Option<CancellationToken>>,
}

impl Request {
    /// A request and the place where its answer arrives.
    pub fn new(ask: Ask) -> (Arc<Self>, oneshot::Receiver<Result<Value>>) {
        let (reply, answer) = oneshot::channel();
        let request = Self {
            ask,
            restarts: AtomicUsize::new(0),
            serial: Mutex::new(None),
            setup: AtomicU64::new(0),
            reply: Mutex::new(Some(reply)),
            cancelled: AtomicBool::new(false),
            token: Mutex::new(None),
        };
        (Arc::new(request), answer)
    }

    /// Remembers the state of its document at arrival, which changes with every edit.
    pub fn set_serial(&self, serial: Option<u64>) {
        *lock(&self.serial) = serial;
    }

    /// The state of its document at arrival; `None`: no such document was open.
    pub fn serial(&self) -> Option<u64> {
        *lock(&self.serial)
    }

    /// Remembers the state of settings and folders; says whether it is another one.
    pub fn set_setup(&self, setup: u64) -> bool {
        self.setup.swap(setup, Ordering::Relaxed) != setup
    }

    /// Counts a restart and gives their number.
    pub fn count_start(&self) -> usize {
        self.restarts.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether somebody still waits for the answer.
    pub fn is_open(&self) -> bool {
        !self.is_cancelled() && lock(&self.reply).is_some()
    }

    /// Forgets the restarts: what interrupted the request does not count against it.
    pub fn forgive(&self) {
        self.restarts.store(0, Ordering::Relaxed);
    }

    /// Answers; only the first answer counts.
    pub fn answer(&self, answer: Result<Value>) {
        if let Some(reply) = lock(&self.reply).take() {
            let _ = reply.send(answer);
        }
    }

    /// Stops the work wherever it is.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        if let Some(token) = &*lock(&self.token) {
            token.cancel();
        }
    }

    /// Whether nobody wants the answer any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Says how to stop the work that begins now.
    pub fn begin(&self, token: CancellationToken) {
        *lock(&self.token) = Some(token);
        // Cancelled in between: the token came too late for that call.
        if self.is_cancelled() {
            self.cancel();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cancels a request when its handler is dropped, which is how the framework cancels.
pub struct CancelOnDrop(pub Arc<Request>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The document changed while the answer was on its way.
pub fn content_modified() -> Error {
    Error::new(ErrorCode::ContentModified)
}

/// The request was cancelled.
pub fn cancelled() -> Error {
    Error::new(ErrorCode::RequestCancelled)
}

/// More waits than the server promises to remember.
pub fn busy() -> Error {
    Error {
        code: ErrorCode::ServerError(REQUEST_FAILED),
        message: "server busy".into(),
        data: None,
    }
}

const REQUEST_FAILED: i64 = tower_lsp::ls_types::error_codes::REQUEST_FAILED;
