//! The commands, one file each.

pub mod chatml;
pub mod check;
pub mod diff;
pub mod eval;
pub mod explain;
pub mod fmt;
pub mod graph;
pub mod init;
pub mod inspect;
pub mod lsp;
pub mod manifest;
pub mod schema;
pub mod test;

use camino::Utf8Path;
use chatmd_compiler::diagnostics::Severity;
use chatmd_compiler::manifest::ManifestError;
use chatmd_compiler::{Compilation, SafeText};
use serde::Serialize;

use crate::exit;
use crate::output::Output;
use crate::report::human::Style;
use crate::report::{Findings, Summary, human};

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

/// Says why a compiled file is refused.
pub fn refuse(operand: &Utf8Path, why: &ManifestError, output: &mut Output) -> u8 {
    let name = SafeText::line(operand.as_str());
    let message = SafeText::line(&why.message);
    output.message(format!("{name}: error[{}]: {message}\n", why.code));
    exit::FAILED
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
        width: output.width,
    };
    output.message(human::render(findings, style));
}

/// The JSON answer of a command whose operand is a compiled file that is refused.
pub fn refused(command: &'static str, why: &ManifestError) -> String {
    #[derive(Serialize)]
    struct Answer {
        version: u32,
        command: &'static str,
        ok: bool,
        error: JsonError,
        diagnostics: [(); 0],
        summary: Summary,
    }
    to_json(&Answer {
        version: 1,
        command,
        ok: false,
        error: JsonError {
            code: Some(why.code),
            message: SafeText::line(&why.message).into_string(),
        },
        diagnostics: [],
        summary: Summary::default(),
    })
}
