//! Audit events of one runtime under its failure policy (spec 08 section 7.5).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

use chatmd_compiler::manifest::AuditFailure;

use crate::audit::{AuditSink, Event};
use crate::refusal::Refusal;
use crate::warnings::Warnings;

/// Whether a command has already been started when an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Up to `plan_created`, `rejected` included.
    BeforeStart,
    /// From `started` on.
    AfterStart,
}

/// The audit stream of one runtime.
#[derive(Debug)]
pub struct Journal {
    sink: Option<AuditSink>,
    failure: AuditFailure,
    /// Request whose lost record has closed the runtime.
    closed_by: watch::Sender<Option<String>>,
    incomplete: AtomicBool,
    warnings: Arc<Warnings>,
    path: Option<PathBuf>,
}

impl Journal {
    /// A journal; without a sink nothing is written.
    pub fn new(sink: Option<AuditSink>, failure: AuditFailure, warnings: Arc<Warnings>) -> Self {
        Self {
            sink,
            failure,
            closed_by: watch::Sender::new(None),
            incomplete: AtomicBool::new(false),
            warnings,
            path: None,
        }
    }

    /// A journal whose sink can not be opened, which the document accepts: every event is lost.
    pub fn lost(failure: AuditFailure, warnings: Arc<Warnings>) -> Self {
        let journal = Self::new(None, failure, warnings);
        journal.incomplete.store(true, Ordering::Relaxed);
        journal
    }

    /// The same with the file that it writes, which no command may change.
    pub fn at(self, path: Option<PathBuf>) -> Self {
        Self { path, ..self }
    }

    /// The file that it writes.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Writes an event and returns once it is durable. An error must end the request: before the
    /// start nothing is spawned, after it the request is killed.
    pub fn write(&self, event: &Event, moment: Moment) -> Result<(), Refusal> {
        let Some(sink) = &self.sink else {
            return Ok(());
        };
        let written = blocking(|| sink.emit(event));
        for warning in sink.take_warnings() {
            self.warn(warning.code, &warning.message);
        }
        let Err(error) = written else {
            return Ok(());
        };
        self.incomplete.store(true, Ordering::Relaxed);
        self.warn(error.code, &error.message);
        match (self.failure, moment) {
            (AuditFailure::Continue, _) | (AuditFailure::DenyStart, Moment::AfterStart) => Ok(()),
            (AuditFailure::DenyStart, Moment::BeforeStart) => Err(Refusal::audit(
                "the record of this request can not be written",
            )),
            (AuditFailure::Terminate, _) => {
                self.closed_by.send_if_modified(|by| {
                    let first = by.is_none();
                    if first {
                        *by = Some(event.request_id.clone());
                    }
                    first
                });
                Err(Refusal::audit(
                    "the record of this request can not be written",
                ))
            }
        }
    }

    /// Refuses when an earlier failure has closed the runtime.
    pub fn check_open(&self) -> Result<(), Refusal> {
        if self.is_closed() {
            return Err(Refusal::closed());
        }
        Ok(())
    }

    /// Whether a lost record has closed the runtime.
    pub fn is_closed(&self) -> bool {
        self.closed_by.borrow().is_some()
    }

    /// Waits until a record of another request is lost under `failure="terminate"`.
    pub async fn closed_by_another(&self, request_id: &str) {
        let mut closed_by = self.closed_by.subscribe();
        let another = |by: &Option<String>| by.as_deref().is_some_and(|by| by != request_id);
        if closed_by.wait_for(another).await.is_err() {
            // The sender is a part of `self`, so it can not be gone; nothing closes this one then.
            std::future::pending::<()>().await;
        }
    }

    /// At most one warning of a kind and log a minute: each lost record has its own.
    fn warn(&self, code: &'static str, message: &str) {
        self.warnings.add_each_minute(code, self.path(), message);
    }

    /// Whether any event was lost.
    pub fn incomplete(&self) -> bool {
        self.incomplete.load(Ordering::Relaxed)
    }
}

/// Runs work that blocks for milliseconds without holding up other tasks, where the runtime can.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
