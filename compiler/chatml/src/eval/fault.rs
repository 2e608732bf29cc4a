//! How a call ends early.

use crate::limits::{Limits, Stop};
use crate::span::Span;
use crate::value::Incomparable;

/// Call sites that a fault lists.
pub const MAX_CALL_SITES: usize = 16;

/// A call that ended in an error, with the place in the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// `chatml.run.*`, `chatml.limit.*` or `chatml.task.*`.
    pub code: &'static str,
    /// What happened, in one sentence.
    pub message: String,
    /// The expression that failed; empty when no expression did.
    pub span: Span,
    /// Where the failing function was called, innermost first; at most [`MAX_CALL_SITES`].
    pub calls: Vec<Span>,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// A fault that no expression caused.
    pub(crate) fn outside(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span: Span::default(),
            calls: Vec::new(),
        }
    }
}

/// A fault whose place is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    Run(Box<RunError>),
    Stop(Stop),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunError {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<Incomparable> for Trouble {
    fn from(cause: Incomparable) -> Self {
        match cause {
            Incomparable::Stop(stop) => Self::Stop(stop),
            Incomparable::Kind(kind) => Self::run(
                "chatml.run.equality",
                format!("`==` can not compare {kind}"),
            ),
        }
    }
}

impl Trouble {
    #[cold]
    pub(crate) fn run(code: &'static str, message: impl Into<String>) -> Self {
        Self::Run(Box::new(RunError {
            code,
            message: message.into(),
        }))
    }

    /// A confusion that a checked program can not cause.
    #[cold]
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::run("chatml.run.internal", message)
    }

    /// A library function's precondition is violated.
    #[cold]
    pub(crate) fn argument(function: &str, reason: impl std::fmt::Display) -> Self {
        Self::run(
            "chatml.run.invalid_argument",
            format!("{function}: {reason}"),
        )
    }

    /// The fault at a place.
    pub(crate) fn at(self, span: Span, calls: Vec<Span>, limits: &Limits) -> Fault {
        let (code, message) = match self {
            Self::Run(error) => (error.code, error.message),
            Self::Stop(stop) => (stop.code(), stop.message(limits)),
        };
        Fault {
            code,
            message,
            span,
            calls,
        }
    }
}
