//! Renderers of findings. Each takes the same values; none of them decides anything.

pub mod concise;
pub mod excerpt;
pub mod github;
pub mod human;
pub mod json;
pub mod repair;
pub mod sarif;
pub mod view;
pub mod wrap;

use chatmd_compiler::Compilation;
use chatmd_compiler::diagnostics::{Diagnostic, Severity};

/// The findings of one document that are to be reported.
pub struct Findings<'a> {
    /// Where places lie.
    pub compilation: &'a Compilation,
    /// What is reported, in order.
    pub shown: Vec<Diagnostic>,
}

/// How many findings there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Notes.
    pub notes: usize,
}

impl Summary {
    /// Counts the findings of all documents.
    pub fn of(documents: &[Findings<'_>]) -> Self {
        let mut summary = Self::default();
        for found in documents.iter().flat_map(|document| &document.shown) {
            match found.severity {
                Severity::Error => summary.errors += 1,
                Severity::Warning => summary.warnings += 1,
                Severity::Note => summary.notes += 1,
            }
        }
        summary
    }

    /// `1 error, 0 warnings` with a line end.
    pub fn line(self) -> String {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        format!(
            "{} error{}, {} warning{}\n",
            self.errors,
            plural(self.errors),
            self.warnings,
            plural(self.warnings)
        )
    }
}

/// The word for a severity.
pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// `error[CODE] at a.b.c` (spec 01 section 15.3), not escaped.
pub fn heading(found: &Diagnostic) -> String {
    let mut heading = format!("{}[{}]", severity_word(found.severity), found.shown_code());
    if !found.path.is_empty() {
        heading.push_str(" at ");
        heading.push_str(&found.path.join("."));
    }
    heading
}
