//! Output safety: everything that leaves a command passes here before anybody reads it
//! (spec 06b sections B6 to B8).
//!
//! ```text
//! raw bytes ─► redaction ─► UTF-8 repair ─► terminal sanitising ─► redaction ─► tail guard ─► bound ─► SafeText
//! ```
//!
//! There is one incremental [`Finaliser`] for results, progress, errors, hooks and audit text. A
//! [`SafeText`] can only come out of it.

mod automaton;
pub mod display;
pub mod finalise;
mod marked;
mod matcher;
pub mod redactor;
pub mod result;
mod safe_text;
pub mod sanitise;
pub mod secret;
mod tail_guard;
mod utf8;

pub(crate) use chatmd_facts::secret_forms::json_escape_into;
pub use display::{display_command, display_element, display_prose, display_words};
pub use finalise::{Finalised, Finaliser, join_channels};
pub use redactor::{Redactor, RedactorBuilder, RedactorError, SecretWarning};
pub use result::{CommandResult, ExitStatus, InvocationError, StructuredResult, error_json};
pub use safe_text::SafeText;
pub use sanitise::{Form, escape_controls};
pub use secret::{Redacted, SecretBytes};

#[cfg(test)]
mod vector_tests;

#[cfg(test)]
mod property_tests;
