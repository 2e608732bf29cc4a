//! Audit sinks (spec 08 section 7).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use chatmd_compiler::manifest::AuditContent;

use super::event::{Event, EventBody, Origin};
use super::key::IntegrityKey;
use super::line::{Chain, Envelope, Line, encode};
use super::schema::Level;
use super::secure_file::FileError;
use super::stream_file::{Appender, StreamFile};
use super::tail::Last;
use super::unfinished::Unfinished;
use crate::output::Redactor;

/// Rotation of a session log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Size of the active file, in bytes.
    pub max_bytes: u64,
    /// How many rotated files are kept.
    pub files: u32,
}

impl Rotation {
    /// 10 MiB, 5 files.
    pub const SESSION: Self = Self {
        max_bytes: 10 * 1024 * 1024,
        files: 5,
    };
}

/// Where events go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nowhere.
    None,
    /// Standard error of the host, one line per event, not chained.
    Stderr,
    /// A chained file.
    File {
        /// Path of the active file.
        path: PathBuf,
        /// Absent: the file grows.
        rotation: Option<Rotation>,
    },
}

impl Target {
    /// A `jsonl` target.
    pub const fn jsonl(path: PathBuf) -> Self {
        Self::File {
            path,
            rotation: None,
        }
    }

    /// The session log.
    pub const fn session(path: PathBuf) -> Self {
        Self::File {
            path,
            rotation: Some(Rotation::SESSION),
        }
    }
}

/// How to open a sink.
pub struct SinkOptions {
    /// Where events go.
    pub target: Target,
    /// How much they say.
    pub content: AuditContent,
    /// Session, if there is one.
    pub session_id: Option<String>,
    /// Bound manifest digest; `none` is written before compilation.
    pub manifest_sha256: Option<String>,
    /// Every text passes through it.
    pub redactor: Redactor,
    /// Authenticates the head record; without it none is written.
    pub key: Option<Arc<IntegrityKey>>,
    /// Folder for a second head record, out of reach of whoever can change the log.
    pub anchors: Option<PathBuf>,
}

/// An audit failure. What it means for the request is decided by `failure` (section 7.5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct AuditError {
    /// A code of section 9.
    pub code: &'static str,
    /// For the host; may name host paths.
    pub message: String,
}

impl AuditError {
    pub(crate) const fn new(code: &'static str, message: String) -> Self {
        Self { code, message }
    }
}

/// Something that the host should say once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditWarning {
    /// `shell.state_permissions_repaired`, or why the head record is behind.
    pub code: &'static str,
    /// For the host.
    pub message: String,
}

/// Proof that an event is on stable storage: what the session state stores as `last_audit_*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Sequence in the file.
    pub sequence: u64,
    /// Digest; absent for an unchained sink.
    pub event_sha256: Option<String>,
}

/// A sink. Cheap to clone; clones share one order of events.
#[derive(Clone)]
pub struct AuditSink(Arc<Shared>);

struct Shared {
    content: AuditContent,
    session_id: Option<String>,
    manifest_sha256: String,
    redactor: Redactor,
    state: Mutex<State>,
}

struct State {
    output: Output,
    failing: Option<Failing>,
    last: Option<Receipt>,
    warnings: Vec<AuditWarning>,
}

/// Since when events are lost, and how many.
#[derive(Clone, Copy)]
struct Failing {
    first_micros: u64,
    lost: u64,
}

enum Output {
    None,
    Stderr { next: u64 },
    File(Box<StreamFile>),
}

fn head_warning(error: FileError) -> AuditWarning {
    AuditWarning {
        code: match error {
            FileError::Insecure { .. } => "shell.state_insecure_file",
            _ => "shell.audit_write_failed",
        },
        message: format!(
            "the head record can not be written, so a removal of the newest events could not be proved: {error}"
        ),
    }
}

fn lost_warning(log: &Path, last: &Last) -> AuditWarning {
    let log = log.display();
    AuditWarning {
        code: "shell.audit_truncated",
        message: format!(
            "{log}: a log that ended at event {} is gone; the new file continues it and says so (put the old one back as {log}.1 to make it whole)",
            last.sequence
        ),
    }
}

impl std::fmt::Debug for AuditSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AuditSink(…)")
    }
}

impl AuditSink {
    /// Opens the target, recovers a torn end, and writes `log_opened`. Requests that a killed host
    /// left without an end get one, unless another host is writing the file: they may be its own.
    /// Blocks like [`AuditSink::emit`].
    pub fn open(options: SinkOptions) -> Result<(Self, Vec<AuditWarning>), AuditError> {
        let output = match options.target {
            Target::None => Output::None,
            Target::Stderr => Output::Stderr { next: 0 },
            Target::File { path, rotation } => {
                let anchors = options.anchors.as_deref();
                Output::File(Box::new(StreamFile::new(
                    path,
                    rotation,
                    options.key,
                    anchors,
                )?))
            }
        };
        let sink = Self(Arc::new(Shared {
            content: options.content,
            session_id: options.session_id,
            manifest_sha256: options.manifest_sha256.unwrap_or_else(|| "none".to_owned()),
            redactor: options.redactor,
            state: Mutex::new(State {
                output,
                failing: None,
                last: None,
                warnings: Vec::new(),
            }),
        }));
        sink.write_opened()?;
        let warnings = std::mem::take(&mut sink.lock().warnings);
        Ok((sink, warnings))
    }

    /// Writes one event and returns when it is on stable storage. `None` when there is no sink.
    ///
    /// After a failure the file ends as before, and the next event that succeeds is preceded by
    /// `audit_recovered`. Blocks; see [`AuditSink::record`].
    pub fn emit(&self, event: &Event) -> Result<Option<Receipt>, AuditError> {
        let mut state = self.lock();
        let result = self.emit_locked(&mut state, event);
        match &result {
            Ok(Some(receipt)) => state.last = Some(receipt.clone()),
            Ok(None) => {}
            Err(_) => {
                let failing = state.failing.get_or_insert(Failing {
                    first_micros: now_micros(),
                    lost: 0,
                });
                failing.lost = failing.lost.saturating_add(1);
            }
        }
        result
    }

    /// [`AuditSink::emit`] on the blocking pool, for asynchronous callers. The event is written
    /// even when the future is dropped.
    pub async fn record(&self, event: Event) -> Result<Option<Receipt>, AuditError> {
        let sink = self.clone();
        let task = tokio::task::spawn_blocking(move || sink.emit(&event));
        task.await.unwrap_or_else(|error| {
            Err(AuditError::new(
                "shell.audit_write_failed",
                format!("the audit writer stopped: {error}"),
            ))
        })
    }

    /// The last event that is known to be durable.
    pub fn last(&self) -> Option<Receipt> {
        self.lock().last.clone()
    }

    /// Whether the last event was lost.
    pub fn is_failing(&self) -> bool {
        self.lock().failing.is_some()
    }

    /// Warnings since the last call (modes repaired while reopening).
    pub fn take_warnings(&self) -> Vec<AuditWarning> {
        std::mem::take(&mut self.lock().warnings)
    }

    /// The redactor that all texts of this sink pass through.
    pub fn redactor(&self) -> &Redactor {
        &self.0.redactor
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A panic while holding the lock leaves a state that the next event re-reads from the file.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self, continues_file: bool, lost: Option<&Last>) -> EventBody {
        EventBody::LogOpened {
            content: self.0.content.as_str(),
            continues_file,
            lost: lost.map(|last| (last.sequence, last.event_sha256.clone())),
        }
    }

    /// Writes `log_opened` and what is to be said about the log as it was found.
    fn write_opened(&self) -> Result<(), AuditError> {
        let mut state = self.lock();
        let receipt = match &mut state.output {
            Output::None => None,
            Output::Stderr { next } => {
                let event = own_event(*next, self.opened(false, None));
                Some(self.to_stderr(next, &event)?)
            }
            Output::File(file) => {
                let mut appender = file.begin()?;
                let mut warnings = self.recover(&mut appender)?;
                let lost = appender.lost.take();
                warnings.extend(
                    lost.as_ref()
                        .map(|last| lost_warning(appender.path(), last)),
                );
                let (sequence, _) = appender.next()?;
                let continues = lost.is_none() && appender.continues();
                let event = own_event(sequence, self.opened(continues, lost.as_ref()));
                let mut receipt = self.append(&mut appender, &event)?;
                if continues {
                    let interrupted = self.end_unfinished(&mut appender, &mut warnings)?;
                    receipt = interrupted.unwrap_or(receipt);
                }
                let head = appender.head_problem.take().map(head_warning);
                drop(appender);
                state.warnings.extend(warnings.into_iter().chain(head));
                Some(receipt)
            }
        };
        state.last = receipt;
        Ok(())
    }

    fn emit_locked(&self, state: &mut State, event: &Event) -> Result<Option<Receipt>, AuditError> {
        let failing = state.failing;
        let receipt = match &mut state.output {
            Output::None => return Ok(None),
            Output::Stderr { next } => self.to_stderr(next, event)?,
            Output::File(file) => {
                let mut appender = file.begin()?;
                let mut warnings = self.recover(&mut appender)?;
                if let Some(last) = appender.lost.take() {
                    // The new file says by itself that it is not the whole log.
                    warnings.push(lost_warning(appender.path(), &last));
                    let (sequence, _) = appender.next()?;
                    let event = own_event(sequence, self.opened(false, Some(&last)));
                    self.append(&mut appender, &event)?;
                }
                if let Some(failing) = failing {
                    let (sequence, _) = appender.next()?;
                    let body = EventBody::AuditRecovered {
                        lost_events: failing.lost,
                        first_failure_micros: failing.first_micros,
                    };
                    self.append(&mut appender, &own_event(sequence, body))?;
                    state.failing = None;
                }
                let receipt = self.append(&mut appender, event)?;
                let head = appender.head_problem.take().map(head_warning);
                drop(appender);
                state.warnings.extend(warnings.into_iter().chain(head));
                receipt
            }
        };
        state.failing = None;
        Ok(Some(receipt))
    }

    /// Gives every request without an end its `request_interrupted`. Its host is dead: nobody else
    /// has the file open.
    fn end_unfinished(
        &self,
        appender: &mut Appender<'_>,
        warnings: &mut Vec<AuditWarning>,
    ) -> Result<Option<Receipt>, AuditError> {
        let found = appender.unfinished().unwrap_or_else(|finding| {
            let message = format!(
                "requests that an earlier host left unfinished are not recorded as interrupted, \
                 because the log can not be relied on: {finding}"
            );
            let code = finding.code;
            warnings.push(AuditWarning { code, message });
            Vec::new()
        });
        let mut receipt = None;
        for request in found {
            receipt = Some(self.append(appender, &interrupted(request))?);
        }
        Ok(receipt)
    }

    /// Records what was found while opening: a torn end, a repaired mode.
    fn recover(&self, appender: &mut Appender<'_>) -> Result<Vec<AuditWarning>, AuditError> {
        let mut warnings = Vec::new();
        if std::mem::take(&mut appender.repaired) {
            warnings.push(AuditWarning {
                code: "shell.state_permissions_repaired",
                message: "the audit file was readable by others; its mode is 0600 now".to_owned(),
            });
        }
        if let Some(torn) = appender.torn.take() {
            let (sequence, _) = appender.next()?;
            let body = EventBody::LogRecovered {
                discarded_bytes: torn.bytes,
                discarded_sha256: torn.sha256,
                last_valid_sequence: torn.last_valid,
            };
            self.append(appender, &own_event(sequence, body))?;
        }
        Ok(warnings)
    }

    fn append(&self, appender: &mut Appender<'_>, event: &Event) -> Result<Receipt, AuditError> {
        let (sequence, previous) = appender.next()?;
        let line = self.line(event, sequence, Chain::After(previous.as_deref()));
        let event_sha256 = line.event_sha256.unwrap_or_default();
        appender.append(
            &line.bytes,
            Last {
                sequence,
                event_sha256: event_sha256.clone(),
            },
        )?;
        Ok(Receipt {
            sequence,
            event_sha256: Some(event_sha256),
        })
    }

    fn to_stderr(&self, next: &mut u64, event: &Event) -> Result<Receipt, AuditError> {
        let sequence = *next;
        let line = self.line(event, sequence, Chain::Unchained);
        let mut stderr = std::io::stderr().lock();
        let written = stderr.write_all(&line.bytes).and_then(|()| stderr.flush());
        written.map_err(|error| {
            AuditError::new(
                "shell.audit_write_failed",
                format!("standard error: {error}"),
            )
        })?;
        *next += 1;
        Ok(Receipt {
            sequence,
            event_sha256: None,
        })
    }

    fn line(&self, event: &Event, sequence: u64, chain: Chain<'_>) -> Line {
        let (name, own) = event.body.fields();
        let mut members = event
            .command
            .as_ref()
            .map(|facts| facts.members())
            .unwrap_or_default();
        members.extend(own);
        let (session_id, manifest_sha256) = match &event.origin {
            Some(origin) => (origin.session_id.as_deref(), &origin.manifest_sha256),
            None => (self.0.session_id.as_deref(), &self.0.manifest_sha256),
        };
        let envelope = Envelope {
            sequence,
            micros: now_micros(),
            session_id,
            runtime_id: &event.runtime_id,
            manifest_sha256,
            request_id: &event.request_id,
            plan_id: event.plan_id.as_deref(),
            event: name,
        };
        encode(
            &envelope,
            &mut members,
            Level::of(self.0.content),
            chain,
            &self.0.redactor,
        )
    }
}

fn interrupted(request: Unfinished) -> Event {
    let body = EventBody::RequestInterrupted {
        last_event: request.last_event,
        interrupted_sequence: request.last_sequence,
    };
    Event {
        origin: Some(Origin {
            session_id: request.session_id,
            manifest_sha256: request.manifest_sha256,
        }),
        ..Event::request(&request.runtime_id, &request.request_id, body)
    }
}

fn own_event(sequence: u64, body: EventBody) -> Event {
    Event::document(&format!("audit:{sequence}"), body)
}

fn now_micros() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "sink_tests.rs"]
pub(super) mod tests;
