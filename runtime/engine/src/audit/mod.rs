//! The audit stream: what ran, why it was allowed, and proof that no record is missing
//! (spec 08 sections 6 to 9).
//!
//! A host opens an [`AuditSink`] per distinct target and emits [`Event`]s:
//!
//! ```no_run
//! # use chatmd_runtime::audit::*;
//! # fn f(redactor: chatmd_runtime::output::Redactor) -> Result<(), AuditError> {
//! let (sink, warnings) = AuditSink::open(SinkOptions {
//!     target: Target::session("/state/sessions/s1/.chatmd/shell-audit.jsonl".into()),
//!     content: chatmd_compiler::manifest::AuditContent::Redacted,
//!     session_id: Some("s1".into()),
//!     manifest_sha256: Some("…".into()),
//!     redactor,
//!     key: None,
//!     anchors: None,
//! })?;
//! sink.emit(&Event::document("manifest:0123456789abcdef", EventBody::RuntimeStopped { cause: "shutdown".into() }))?;
//! # Ok(()) }
//! ```
//!
//! [`AuditSink::emit`] blocks until the record is on stable storage (one write and one
//! `fdatasync`, typically a few milliseconds; at most 10 s for the lock). Asynchronous callers use
//! [`AuditSink::record`]. What a failure means is decided by the caller (section 7.5); the sink
//! only guarantees that a failed record leaves no trace in the file.

pub mod command;
pub mod event;
mod event_fields;
pub mod head;
pub mod key;
mod line;
pub mod load;
pub mod replay;
pub mod request;
mod schema;
pub mod secure_file;
pub mod sink;
mod stream_file;
mod tail;
mod unfinished;
pub mod validate;
mod value;

pub use command::{CommandContext, CommandFacts};
pub use event::{
    AnswerKind, Authorization, Channel, CompletionOutcome, Event, EventBody, InterceptAction,
    Mechanism, RejectStage, TerminationKind,
};
pub use key::IntegrityKey;
pub use replay::{Refused, ReplayOptions, replay};
pub use request::{RequestReport, reconstruct};
pub use sink::{AuditError, AuditSink, AuditWarning, Receipt, Rotation, SinkOptions, Target};
pub use validate::{SessionAnchor, ValidationOptions, ValidationReport, validate};

#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod vector_tests;
