//! Annotations of GitHub Actions (spec 10 section 1.2).

use std::fmt::Write as _;

use camino::Utf8Path;
use chatmd_compiler::SafeText;
use chatmd_compiler::db::relative_to;

use super::Findings;
use chatmd_compiler::diagnostics::Severity;

/// One command line for each finding. Files are named from `cwd`, which is the checkout in a
/// workflow: only then does an annotation stick to its line.
pub fn render(findings: &Findings<'_>, cwd: &Utf8Path) -> String {
    let mut text = String::new();
    for found in &findings.shown {
        let command = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let message = data(&found.message);
        let title = property(&found.shown_code());
        match findings.compilation.locate(found.primary.place) {
            Some(at) => {
                let named = at.file.path.as_path();
                let file = if at.file.display.starts_with('<') {
                    at.file.display.clone()
                } else {
                    relative_to(named, cwd)
                };
                let (start, end) = (at.start, at.end);
                let _ = writeln!(
                    text,
                    "::{command} file={},line={},endLine={},col={},endColumn={},title={title}\
                     ::{message}",
                    property(&file),
                    start.line,
                    end.line,
                    start.column,
                    end.column,
                );
            }
            None => {
                let _ = writeln!(text, "::{command} title={title}::{message}");
            }
        }
    }
    text
}

/// Text behind `::`.
pub fn data(text: &str) -> String {
    SafeText::line(text).as_str().replace('%', "%25")
}

/// The value of a property.
pub fn property(text: &str) -> String {
    // `%` is written first, so that no escape is escaped again. CR and LF are gone by then.
    data(text).replace(':', "%3A").replace(',', "%2C")
}
