//! Spanned values and path expressions.

use chatmd_syntax::Span;

use crate::manifest::PathBase;

/// A value with the place where it is written: the value inside its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sp<T> {
    /// The value.
    pub value: T,
    /// Its bytes, relative to the item.
    pub span: Span,
}

/// An attribute that names something: absent, written but unusable, or a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// Not written.
    #[default]
    Absent,
    /// Written and reported. References to the raw text must produce no second error.
    Poisoned {
        /// Decoded text, when there is one.
        raw: Option<String>,
        /// Where it is written.
        span: Span,
    },
    /// A valid value.
    Value(Sp<T>),
}

impl<T> Field<T> {
    /// The valid value.
    pub fn value(&self) -> Option<&Sp<T>> {
        match self {
            Field::Value(value) => Some(value),
            _ => None,
        }
    }
}

/// A path expression (spec 02 section 3), normalised; the declaring file is added when the
/// manifest is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathExpr {
    /// Base; a relative literal has `source_dir` (`tool_dir` for `read_file` roots).
    pub base: PathBase,
    /// Normalised rest, see [`crate::manifest::Path::path`].
    pub path: String,
    /// Written as a relative literal, without a variable.
    pub relative_literal: bool,
}
