//! Classes of changes and the verdict over all of them.

use serde::Serialize;

use super::Change;

/// What a change means for authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// May permit something that was impossible or asked before.
    Widening,
    /// The field alone does not show a direction.
    Mixed,
    /// Only removes, or asks more.
    Narrowing,
    /// Identity or presentation only.
    Neutral,
}

impl Class {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Widening => "widening",
            Self::Mixed => "mixed",
            Self::Narrowing => "narrowing",
            Self::Neutral => "neutral",
        }
    }

    /// Whether it counts as widening in the verdict.
    pub const fn widens(self) -> bool {
        matches!(self, Self::Widening | Self::Mixed)
    }

    /// The class of a step on a scale on which more is wider.
    pub(super) fn step<T: Ord>(old: T, new: T) -> Self {
        match new.cmp(&old) {
            std::cmp::Ordering::Greater => Self::Widening,
            std::cmp::Ordering::Less => Self::Narrowing,
            std::cmp::Ordering::Equal => Self::Neutral,
        }
    }
}

/// The difference in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The digests are equal.
    Equal,
    /// Nothing but identity and presentation differs. The digests do: grants end all the same.
    Neutral,
    /// Something is narrower and nothing wider.
    Narrowing,
    /// Something is, or may be, wider.
    Widening,
}

impl Verdict {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Neutral => "neutral",
            Self::Narrowing => "narrowing",
            Self::Widening => "widening",
        }
    }

    /// The verdict over changes of manifests with different digests.
    pub(super) fn of(changes: &[Change]) -> Self {
        let any = |wanted: fn(Class) -> bool| changes.iter().any(|change| wanted(change.class));
        if any(Class::widens) {
            Self::Widening
        } else if any(|class| class == Class::Narrowing) {
            Self::Narrowing
        } else {
            Self::Neutral
        }
    }
}
