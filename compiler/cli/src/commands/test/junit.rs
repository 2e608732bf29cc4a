//! The report as JUnit XML, without times or host names.

use std::fmt::Write as _;

use chatmd_compiler::SafeText;
use chatmd_compiler::expectations::Status;

use super::selection::Selected;
use super::{TestArgs, Tested};

pub(super) fn render(args: &TestArgs, documents: &[Tested<'_>]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for document in documents {
        let shown: Vec<&Selected<'_>> = document
            .selected
            .iter()
            .filter(|result| !args.failed_only || result.failed())
            .collect();
        let mut files: Vec<&str> = Vec::new();
        for result in &shown {
            if !files.contains(&result.at.file.display.as_str()) {
                files.push(&result.at.file.display);
            }
        }
        for file in files {
            let of_file: Vec<&Selected<'_>> = shown
                .iter()
                .copied()
                .filter(|result| result.at.file.display == file)
                .collect();
            suite(document, file, &of_file, &mut text);
        }
        errors(document, &mut text);
    }
    text.push_str("</testsuites>\n");
    text
}

fn suite(document: &Tested<'_>, file: &str, results: &[&Selected<'_>], text: &mut String) {
    let count = |wanted: fn(Status) -> bool| {
        let statuses = results.iter().map(|result| result.result.status);
        statuses.filter(|status| wanted(*status)).count()
    };
    let failures = count(|status| status == Status::Failed);
    let skipped = count(|status| matches!(status, Status::NotRun | Status::NotApplicable));
    let _ = writeln!(
        text,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\">",
        attribute(file),
        results.len(),
    );
    for result in results {
        case(document, result, text);
    }
    text.push_str("  </testsuite>\n");
}

fn case(document: &Tested<'_>, result: &Selected<'_>, text: &mut String) {
    let name = format!("expect {}: {}", result.case.verb.as_str(), result.title());
    let _ = write!(
        text,
        "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\"",
        attribute(&result.result.runtime),
        attribute(&name),
        attribute(&result.at.file.display),
        result.at.start.line,
    );
    let reason = result.result.reason.as_deref().unwrap_or_default();
    match result.result.status {
        Status::Passed => text.push_str("/>\n"),
        Status::NotRun | Status::NotApplicable => {
            let _ = write!(
                text,
                ">\n      <skipped message=\"{}\"/>\n",
                attribute(reason)
            );
            text.push_str("    </testcase>\n");
        }
        Status::Failed => {
            let found = document.findings.shown.iter().find(|found| {
                found.primary.place == result.case.at
                    && (found.runtime_id.is_none()
                        || found.runtime_id.as_deref() == Some(&result.result.runtime))
            });
            let code = found.map_or("chatmd.test_failed", |found| found.code);
            let message = found.map_or(reason, |found| found.message.as_str());
            let trace = found
                .map(|found| found.notes.join("\n"))
                .unwrap_or_default();
            let _ = write!(
                text,
                ">\n      <failure type=\"{code}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                attribute(message),
                content(&trace),
            );
        }
    }
}

/// A document that does not compile has no tests; it must not look as if all was well.
fn errors(document: &Tested<'_>, text: &mut String) {
    if document.compilation.tested.manifest.is_some() {
        return;
    }
    let file = document.compilation.files.first();
    let file = attribute(file.map_or("", |file| file.display.as_str()));
    let errors = document.findings.shown.iter();
    let errors = errors
        .filter(|found| found.severity == chatmd_compiler::diagnostics::Severity::Error)
        .count();
    let _ = write!(
        text,
        "  <testsuite name=\"{file}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n\
         \x20   <testcase classname=\"{file}\" name=\"the document compiles\" file=\"{file}\" line=\"1\">\n\
         \x20     <error message=\"the document has {errors} errors\"/>\n\
         \x20   </testcase>\n  </testsuite>\n"
    );
}

/// Text of an attribute.
fn attribute(text: &str) -> String {
    content(SafeText::line(text).as_str()).replace('"', "&quot;")
}

/// Text between tags. Control characters, which XML cannot hold, are escaped like on a terminal.
fn content(text: &str) -> String {
    SafeText::lines(text)
        .as_str()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
