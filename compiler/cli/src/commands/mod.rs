//! The commands, one file each.

pub mod check;
pub mod explain;
pub mod fmt;
pub mod init;
pub mod inspect;
pub mod lsp;
pub mod manifest;
pub mod schema;

use chatmd_compiler::diagnostics::Severity;
use chatmd_compiler::{Compilation, SafeText};
use serde::Serialize;

use crate::output::Output;
use crate::report::human::Style;
use crate::report::{Findings, human};

/// An `error` member of a JSON answer.
#[derive(Debug, Serialize)]
pub struct JsonError {
    /// Code, when there is one.
    pub code: Option<&'static str>,
    /// One sentence.
    pub message: String,
}

/// `chatmdc: MESSAGE` on standard error.
pub fn complain(output: &mut Output, message: &str) {
    output.message(format!("chatmdc: {}\n", SafeText::line(message)));
}

/// A JSON document as it is printed: indented, LF at the end.
pub fn to_json(value: &impl Serialize) -> String {
    // Plain data with string keys: serialisation does not fail.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// All findings of a compilation; with `quiet`, errors only.
pub fn findings(compilation: &Compilation, quiet: bool) -> Findings<'_> {
    let shown = compilation.diagnostics.iter();
    let shown = shown
        .filter(|found| !quiet || found.severity == Severity::Error)
        .cloned();
    Findings {
        compilation,
        shown: shown.collect(),
    }
}

/// Prints findings for people on standard error.
pub fn print_human(findings: &Findings<'_>, output: &mut Output) {
    let style = Style {
        color: output.color,
        unicode: output.unicode,
    };
    output.message(human::render(findings, style));
}
