//! Changes of the database, and what is left of it after a fault.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chatmd_compiler::db::Database;
use tower_lsp::ls_types::MessageType;

use super::Writer;
use crate::server::worker::Work;

/// Panics within [`PANIC_WINDOW`] that are worth a message to the user.
const MANY_PANICS: usize = 5;
const PANIC_WINDOW: Duration = Duration::from_secs(60);

impl Writer {
    /// Changes the database. Work that has not begun gives its snapshot back first, work that runs
    /// is interrupted; both start again afterwards where that makes sense.
    pub(super) fn write(&mut self, change: impl FnOnce(&mut Database)) {
        let waiting = self.pool.take_back();
        let start = Instant::now();
        change(&mut self.db);
        self.waited = self.waited.max(start.elapsed());
        self.after_change(waiting);
    }

    /// What waited starts again, on the new state.
    fn after_change(&mut self, waiting: Vec<Work>) {
        self.generation += 1;
        self.check_due = true;
        for work in waiting {
            if let Work::Answer(answer) = work {
                self.dispatch(answer.request);
            }
        }
    }

    /// Brings the database up to date with the texts.
    pub(super) fn flush(&mut self) {
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
    pub(super) fn rebuild(&mut self) {
        self.start_over();
        self.count_panic();
    }

    /// Drops everything that can be computed again when the process has grown too large.
    pub(super) fn watch_memory(&mut self) {
        if self.memory.is_over() {
            self.log
                .warn("the server holds too much memory; everything but the documents is dropped");
            self.start_over();
            self.memory.dropped();
        }
    }

    fn start_over(&mut self) {
        let waiting = self.pool.take_back();
        self.db = Database::new(self.overlay.clone());
        for document in self.documents.values_mut() {
            document.dirty = false;
            self.overlay.set(&document.path, document.bytes());
            document.enter(&mut self.db);
        }
        self.last = Arc::default();
        self.after_change(waiting);
    }

    fn count_panic(&mut self) {
        let now = Instant::now();
        self.panics
            .retain(|at| now.duration_since(*at) < PANIC_WINDOW);
        self.panics.push(now);
        if self.panics.len() == MANY_PANICS {
            self.client.show_message(
                MessageType::WARNING,
                "The ChatMD language server meets internal errors again and again. Please report \
                 it with the server's log."
                    .to_owned(),
            );
        }
    }
}
