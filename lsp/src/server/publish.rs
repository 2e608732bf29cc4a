//! Diagnostics on their way to the client: the newest set of each document, nothing older.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tower_lsp::Client;
use tower_lsp::ls_types::{Diagnostic, Uri};

/// A whole set of one document.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// The document.
    pub uri: Uri,
    /// The version that the set was computed from; `None` once the document is closed.
    pub version: Option<i32>,
    /// The set.
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Default)]
struct Waiting {
    order: VecDeque<Uri>,
    sets: HashMap<Uri, Publication>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

/// A handle on what waits.
#[derive(Clone, Default)]
pub struct Outbox(Arc<Shared>);

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a set; one that waits for the same document is replaced.
    pub fn push(&self, set: Publication) {
        let mut waiting = self.lock();
        let uri = set.uri.clone();
        if waiting.sets.insert(uri.clone(), set).is_none() {
            waiting.order.push_back(uri);
        }
        drop(waiting);
        self.0.filled.notify_one();
    }

    /// Drops what waits for a document, because it changed; says whether anything did.
    pub fn discard(&self, uri: &Uri) -> bool {
        let mut waiting = self.lock();
        let found = waiting.sets.remove(uri).is_some();
        if found {
            waiting.order.retain(|other| other != uri);
        }
        found
    }

    fn pop(&self) -> Option<Publication> {
        let mut waiting = self.lock();
        let uri = waiting.order.pop_front()?;
        waiting.sets.remove(&uri)
    }

    /// Sends what is pushed, as fast as the client reads.
    pub async fn send_all(self, client: Client) {
        loop {
            while let Some(set) = self.pop() {
                client
                    .publish_diagnostics(set.uri, set.diagnostics, set.version)
                    .await;
            }
            self.0.filled.notified().await;
        }
    }
}
