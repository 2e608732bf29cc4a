//! Diagnostics as data (spec 01 section 15.3). Renderers live with the command line and the
//! language server; nothing here prints.

pub mod nearest;
pub mod pages;
pub mod quote;
pub mod registry;

use chatmd_syntax::Span;

pub use nearest::nearest;
pub use quote::{clip, quote};

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// No manifest is made.
    Error,
    /// Reported, changes nothing.
    Warning,
    /// For information; the code tables call it "I".
    Note,
}

/// Which file a [`Place`] lies in: an index into the file list of the compilation, root first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIndex(pub u32);

impl FileIndex {
    /// The file being lowered; replaced by the real index when files are put together.
    pub const SELF: FileIndex = FileIndex(u32::MAX);
}

/// A position that survives edits above it: a span relative to a top-level item of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file.
    pub file: FileIndex,
    /// Index of the top-level item whose `<` is offset 0 of `span`; `None`: `span` counts from the
    /// start of the file.
    pub item: Option<u32>,
    /// The bytes.
    pub span: Span,
}

/// A place with a short text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// Shown beside the place; may be empty.
    pub text: String,
}

/// Text of the labels that lead from a finding in an imported file to the document: one on each
/// import on the way, innermost first.
pub const IMPORTED_HERE: &str = "imported here";

/// One replacement of a [`Fix`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Replaced bytes; empty to insert.
    pub place: Place,
    /// New text.
    pub text: String,
}

/// A mechanical repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Imperative, for example `rename to "wall_time"`.
    pub title: String,
    /// Non-overlapping edits.
    pub edits: Vec<Edit>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code; every one is listed in [`registry`].
    pub code: &'static str,
    /// Inner code, for scripts.
    pub detail: Option<&'static str>,
    /// Error, warning or note.
    pub severity: Severity,
    /// One sentence without secret values. May quote source text (at most 40 characters);
    /// renderers escape it.
    pub message: String,
    /// Declaration path, for example `["shell_access", "dev", "policy", "rule", "no-rm"]`.
    pub path: Vec<String>,
    /// Where a person would point, with the text shown there.
    pub primary: Label,
    /// Related places.
    pub secondary: Vec<Label>,
    /// What to do, one sentence each.
    pub hints: Vec<String>,
    /// Further text of several lines, such as the trace of a decision, each shown as a block.
    pub notes: Vec<String>,
    /// Mechanical repairs, preferred one first.
    pub fixes: Vec<Fix>,
    /// Runtime that the finding is about, when there is one.
    pub runtime_id: Option<String>,
}

impl Place {
    /// A place in the file being lowered.
    pub const fn local(item: u32, span: Span) -> Self {
        Self {
            file: FileIndex::SELF,
            item: Some(item),
            span,
        }
    }
}

impl Diagnostic {
    /// A finding with the severity that the registry gives its code.
    pub fn new(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self {
            code,
            detail: None,
            severity: registry::severity(code),
            message: message.into(),
            path: Vec::new(),
            primary: Label {
                place,
                text: String::new(),
            },
            secondary: Vec::new(),
            hints: Vec::new(),
            notes: Vec::new(),
            fixes: Vec::new(),
            runtime_id: None,
        }
    }

    /// The code as people see it, with the inner code where there is one:
    /// `shell.chatml_compile/chatml.type.mismatch` (spec 05 section 1).
    pub fn shown_code(&self) -> std::borrow::Cow<'static, str> {
        match self.detail {
            Some(detail) => format!("{}/{detail}", self.code).into(),
            None => self.code.into(),
        }
    }

    /// Whether a code that somebody typed means this finding.
    pub fn has_code(&self, code: &str) -> bool {
        code == self.code || self.detail == Some(code)
    }

    /// Lowers (or raises) the severity for this case of the code.
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Text shown at the primary place.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// A related place.
    pub fn related(mut self, place: Place, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            place,
            text: text.into(),
        });
        self
    }

    /// What to do.
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(text.into());
        self
    }

    /// A block of further text.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// A repair by one replacement.
    pub fn fix(mut self, title: impl Into<String>, place: Place, text: impl Into<String>) -> Self {
        self.fixes.push(Fix {
            title: title.into(),
            edits: vec![Edit {
                place,
                text: text.into(),
            }],
        });
        self
    }
}
