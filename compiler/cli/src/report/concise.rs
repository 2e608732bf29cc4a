//! One line for each finding.

use std::fmt::Write as _;

use chatmd_compiler::SafeText;

use super::{Findings, heading};

/// `FILE:LINE:COL: error[CODE] at PATH: MESSAGE`.
pub fn render(findings: &Findings<'_>) -> String {
    let mut text = String::new();
    for found in &findings.shown {
        if let Some(at) = findings.compilation.locate(found.primary.place) {
            let name = SafeText::line(&at.file.display);
            let _ = write!(text, "{name}:{}:{}: ", at.start.line, at.start.column);
        }
        let heading = SafeText::line(&heading(found));
        let message = SafeText::line(&found.message);
        let _ = writeln!(text, "{heading}: {message}");
    }
    text
}
