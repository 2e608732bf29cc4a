//! Value of one leaf for one subject: the table of spec 06 section 8.3.

use std::fmt;

use crate::effect::{EffectKind, Effects};
use crate::facts::RequestKind;
use crate::matcher::MatcherPath;
use crate::paths::basename;
use crate::policy::Op;
use crate::value::Value;

use super::containment::PathEffects;
use super::subject::{Inner, Opaque, Outer, Subject};

/// Fixed reason words of the decision trace (spec 12 section 3.2). `Display` prints the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Why {
    Equal,
    Different,
    TextOnlyPathDiffers,
    UnstableName,
    AliasPath,
    Uncanonicalised,
    PrefixEqualByName,
    PrefixDiffersAt(usize),
    FoundAt(usize),
    NotFound,
    EffectPresent,
    EffectAbsent,
    Under,
    ContainmentUnknown,
    ScriptNotRun,
    ScriptFailed,
    OpaqueText,
    InnerRaised,
}

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Equal => "equal",
            Self::Different => "different",
            Self::TextOnlyPathDiffers => "text_only_path_differs",
            Self::UnstableName => "unstable_name",
            Self::AliasPath => "alias_path",
            Self::Uncanonicalised => "uncanonicalised",
            Self::PrefixEqualByName => "prefix_equal_by_name",
            Self::PrefixDiffersAt(index) => return write!(out, "prefix_differs_at:{index}"),
            Self::FoundAt(index) => return write!(out, "found_at:{index}"),
            Self::NotFound => "not_found",
            Self::EffectPresent => "effect_present",
            Self::EffectAbsent => "effect_absent",
            Self::Under => "under",
            Self::ContainmentUnknown => "containment_unknown",
            Self::ScriptNotRun => "script_not_run",
            Self::ScriptFailed => "script_failed",
            Self::OpaqueText => "opaque_text",
            Self::InnerRaised => "inner_raised",
        })
    }
}

/// Value of a node and, for leaves, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The value.
    pub value: Value,
    /// Reason of a leaf; `None` for `all`, `any` and `not`.
    pub why: Option<Why>,
}

impl Outcome {
    pub(crate) const fn new(value: Value, why: Why) -> Self {
        Self {
            value,
            why: Some(why),
        }
    }

    const fn equality(equal: bool) -> Self {
        if equal {
            Self::new(Value::Yes, Why::Equal)
        } else {
            Self::new(Value::No, Why::Different)
        }
    }

    const fn opaque(found: bool) -> Self {
        if found {
            Self::new(Value::Maybe, Why::OpaqueText)
        } else {
            Self::new(Value::No, Why::NotFound)
        }
    }
}

/// Value of every leaf but scripts. `outer` is the outcome of the same node for the outer command;
/// inner commands keep it for what only the whole command has.
pub(crate) fn leaf(
    op: &Op,
    subject: &Subject<'_>,
    effects: &Effects,
    paths: &PathEffects<'_>,
    outer: Option<Outcome>,
) -> Outcome {
    match (op, subject, outer) {
        (
            Op::AnyCommand | Op::Effect { .. } | Op::NoUnknownEffects | Op::RawShell,
            Subject::Inner(_) | Subject::Opaque(_),
            Some(outer),
        ) => outer,
        (_, Subject::Outer(outer), _) => outer_leaf(op, outer, subject, effects, paths),
        (_, Subject::Inner(inner), _) => inner_leaf(op, inner, subject),
        (_, Subject::Opaque(opaque), _) => opaque_leaf(op, opaque),
    }
}

fn outer_leaf(
    op: &Op,
    outer: &Outer<'_>,
    subject: &Subject<'_>,
    effects: &Effects,
    paths: &PathEffects<'_>,
) -> Outcome {
    let facts = outer.facts;
    match op {
        Op::AnyCommand => Outcome::equality(true),
        Op::Program(value) => Outcome::equality(facts.program() == value),
        Op::Basename(value) => outer_basename(value, outer, subject),
        Op::ResolvedPath(path) => match (&facts.executable, path) {
            (Some(found), MatcherPath::Canonical(path)) => {
                Outcome::equality(found.canonical == *path)
            }
            (Some(found), MatcherPath::Unresolved(path)) if found.located == *path => {
                Outcome::new(Value::Maybe, Why::Uncanonicalised)
            }
            _ => Outcome::equality(false),
        },
        Op::TrustedExecutable => {
            Outcome::equality(facts.executable.as_ref().is_some_and(|found| found.trusted))
        }
        Op::ProgramRegex(index) => pattern(
            outer.text_patterns.has(*index),
            outer.path_patterns.has(*index),
        ),
        Op::ArgvPrefix(values) => argv_prefix(values, subject),
        Op::Argument(value) => argument(subject, |argument| argument == value),
        Op::ArgumentContains(value) => {
            argument(subject, |argument| argument.contains(value.as_str()))
        }
        Op::Effect { kind, under: None } => presence(effects.has(*kind)),
        Op::Effect {
            kind,
            under: Some(root),
        } => paths.under(*kind, root),
        Op::NoUnknownEffects => {
            if effects.has(EffectKind::Unknown) {
                Outcome::new(Value::No, Why::EffectPresent)
            } else {
                Outcome::new(Value::Yes, Why::EffectAbsent)
            }
        }
        Op::RawShell => Outcome::equality(facts.kind == RequestKind::RawShell),
        // The tree walk answers these itself.
        Op::Dynamic(_) => Outcome::new(Value::Maybe, Why::ScriptNotRun),
        Op::All | Op::Any | Op::Not => Outcome {
            value: Value::Maybe,
            why: None,
        },
    }
}

fn outer_basename(value: &str, outer: &Outer<'_>, subject: &Subject<'_>) -> Outcome {
    let requested = basename(outer.facts.program());
    let Some(found) = &outer.facts.executable else {
        return if requested == value {
            Outcome::new(Value::Maybe, Why::UnstableName)
        } else {
            Outcome::equality(false)
        };
    };
    let located = basename(&found.located);
    let plain_name = !outer.facts.program().contains('/')
        && basename(&found.canonical) == value
        && !found.modifiable;
    if requested == value && (found.stable || found.alias || plain_name) {
        return Outcome::equality(true);
    }
    if found.alias && located == value {
        return Outcome::new(Value::Yes, Why::AliasPath);
    }
    if requested == value || subject.path_names().contains(&Some(value)) {
        return Outcome::new(Value::Maybe, Why::UnstableName);
    }
    Outcome::equality(false)
}

fn inner_leaf(op: &Op, inner: &Inner<'_>, subject: &Subject<'_>) -> Outcome {
    let program = inner.argv.first().map_or("", String::as_str);
    match op {
        Op::Program(value) => Outcome::equality(program == value),
        Op::Basename(value) => {
            if basename(program) == value {
                Outcome::equality(true)
            } else if subject.path_names().contains(&Some(value.as_str())) {
                Outcome::new(Value::Maybe, Why::UnstableName)
            } else {
                Outcome::equality(false)
            }
        }
        Op::ResolvedPath(path) => match &inner.located {
            Some(found)
                if found.canonical == path.as_str()
                    || (matches!(path, MatcherPath::Unresolved(_))
                        && found.located == path.as_str()) =>
            {
                Outcome::new(Value::Maybe, Why::UnstableName)
            }
            _ => Outcome::equality(false),
        },
        Op::TrustedExecutable => Outcome::new(Value::Maybe, Why::UnstableName),
        Op::ProgramRegex(index) => pattern(
            inner.text_patterns.has(*index),
            inner.path_patterns.has(*index),
        ),
        Op::ArgvPrefix(values) => argv_prefix(values, subject),
        Op::Argument(value) => argument(subject, |argument| argument == value),
        Op::ArgumentContains(value) => {
            argument(subject, |argument| argument.contains(value.as_str()))
        }
        // Without an outer outcome (which the tree walk always has) nothing can be ruled out.
        Op::AnyCommand
        | Op::Effect { .. }
        | Op::NoUnknownEffects
        | Op::RawShell
        | Op::Dynamic(_)
        | Op::All
        | Op::Any
        | Op::Not => Outcome {
            value: Value::Maybe,
            why: None,
        },
    }
}

fn opaque_leaf(op: &Op, opaque: &Opaque<'_>) -> Outcome {
    match op {
        Op::Program(value)
        | Op::Basename(value)
        | Op::Argument(value)
        | Op::ArgumentContains(value) => Outcome::opaque(opaque.holds([value])),
        Op::ArgvPrefix(values) => Outcome::opaque(opaque.holds(values)),
        Op::ProgramRegex(index) => Outcome::opaque(opaque.patterns.has(*index)),
        Op::ResolvedPath(_) => Outcome::opaque(false),
        // The text may start anything, trusted or not.
        Op::TrustedExecutable => Outcome::new(Value::Maybe, Why::OpaqueText),
        Op::AnyCommand
        | Op::Effect { .. }
        | Op::NoUnknownEffects
        | Op::RawShell
        | Op::Dynamic(_)
        | Op::All
        | Op::Any
        | Op::Not => Outcome {
            value: Value::Maybe,
            why: None,
        },
    }
}

const fn pattern(in_text: bool, in_path: bool) -> Outcome {
    if in_text {
        Outcome::new(Value::Yes, Why::FoundAt(0))
    } else if in_path {
        Outcome::new(Value::Maybe, Why::TextOnlyPathDiffers)
    } else {
        Outcome::new(Value::No, Why::NotFound)
    }
}

const fn presence(present: bool) -> Outcome {
    if present {
        Outcome::new(Value::Yes, Why::EffectPresent)
    } else {
        Outcome::new(Value::No, Why::EffectAbsent)
    }
}

fn argument(subject: &Subject<'_>, test: impl Fn(&str) -> bool) -> Outcome {
    match subject
        .argv()
        .iter()
        .skip(1)
        .position(|argument| test(argument))
    {
        Some(index) => Outcome::new(Value::Yes, Why::FoundAt(index + 1)),
        None => Outcome::new(Value::No, Why::NotFound),
    }
}

fn argv_prefix(values: &[String], subject: &Subject<'_>) -> Outcome {
    let argv = subject.argv();
    let (Some(first), Some(program)) = (values.first(), argv.first()) else {
        return Outcome::new(Value::No, Why::PrefixDiffersAt(0));
    };
    for (index, value) in values.iter().enumerate().skip(1) {
        if argv.get(index) != Some(value) {
            return Outcome::new(Value::No, Why::PrefixDiffersAt(index));
        }
    }
    if program == first {
        Outcome::equality(true)
    } else if basename(program) == first || subject.path_names().contains(&Some(first.as_str())) {
        Outcome::new(Value::Maybe, Why::PrefixEqualByName)
    } else {
        Outcome::new(Value::No, Why::PrefixDiffersAt(0))
    }
}
