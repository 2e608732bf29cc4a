//! Words and truth values shared by matching and deciding (spec 06 section 8).

use serde::{Deserialize, Serialize};

/// Result of a matcher: `No < Maybe < Yes` (spec 06 section 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Certainly does not match.
    No,
    /// Cannot be ruled out; restrictive rules fire, allow rules do not.
    Maybe,
    /// Certainly matches.
    Yes,
}

impl Value {
    /// `Yes` for true, `No` for false.
    pub const fn known(truth: bool) -> Self {
        if truth { Self::Yes } else { Self::No }
    }

    /// `Maybe` for true, `No` for false.
    pub const fn suspected(truth: bool) -> Self {
        if truth { Self::Maybe } else { Self::No }
    }

    /// Swaps yes and no, keeps maybe.
    #[must_use]
    pub const fn negate(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

/// Policy action; the order is weakest to strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Run without a question.
    Allow,
    /// Run only after approval.
    Ask,
    /// Never run.
    Deny,
}

impl Action {
    /// The word as written in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// Whether rules of this action fire on maybe as well and see inner commands.
    pub const fn is_restrictive(self) -> bool {
        !matches!(self, Self::Allow)
    }

    /// Whether a rule of this action with this value fires.
    pub const fn fires_on(self, value: Value) -> bool {
        match value {
            Value::Yes => true,
            Value::Maybe => self.is_restrictive(),
            Value::No => false,
        }
    }
}
