//! The report for people.

use std::fmt::Write as _;

use chatmd_compiler::SafeText;
use chatmd_compiler::diagnostics::Severity;
use chatmd_compiler::expectations::Status;

use super::selection::Selected;
use super::{TestArgs, Tested};
use crate::args::Common;
use crate::commands::print_human;
use crate::output::Output;
use crate::report::Findings;

pub(super) fn print(
    args: &TestArgs,
    common: Common,
    documents: &[Tested<'_>],
    output: &mut Output,
) {
    for document in documents {
        let shown = document.findings.shown.iter();
        let shown = shown
            .filter(|found| {
                !(common.quiet || args.failed_only) || found.severity == Severity::Error
            })
            .cloned();
        let findings = Findings {
            compilation: document.compilation,
            shown: shown.collect(),
        };
        print_human(&findings, output);
        if !common.quiet {
            output.result(cases(args, common, document));
            output.result(coverage(document));
            output.result(survivors(document));
        }
        if document.compilation.tested.manifest.is_none() {
            let name = document.compilation.files.first();
            let name = name.map_or("", |file| file.display.as_str());
            let name = SafeText::line(name);
            output.message(format!(
                "{name}: the document has errors, its tests were not run\n"
            ));
        }
    }
}

/// A line for each test that did not pass; with `--verbose` for all.
fn cases(args: &TestArgs, common: Common, document: &Tested<'_>) -> String {
    let mut text = String::new();
    for result in &document.selected {
        let status = result.result.status;
        let wanted = match status {
            Status::Failed => true,
            Status::Passed | Status::NotApplicable => common.verbose && !args.failed_only,
            Status::NotRun => !args.failed_only,
        };
        if wanted {
            text.push_str(&line(result));
        }
    }
    text
}

fn line(result: &Selected<'_>) -> String {
    let target = result
        .result
        .tool
        .as_ref()
        .unwrap_or(&result.result.runtime);
    let reason = match (&result.result.reason, result.result.status) {
        (_, Status::Passed) | (None, _) => String::new(),
        (Some(reason), _) => format!(" ({reason})"),
    };
    let line = format!(
        "{:<15} {}  {target}: expect {}: {}{reason}",
        result.result.status.as_str().replace('_', " "),
        result.location(),
        result.case.verb.as_str(),
        result.title(),
    );
    format!("{}\n", SafeText::line(&line))
}

fn coverage(document: &Tested<'_>) -> String {
    let mut text = String::new();
    if document.coverage.is_empty() {
        return text;
    }
    text.push_str("coverage: tests in which it decided\n");
    for row in &document.coverage {
        let name = format!("{} {} {}", row.runtime, row.kind.as_str(), row.name);
        let mark = if row.cases == 0 { "  never" } else { "" };
        let _ = writeln!(text, "{:>6}  {}{mark}", row.cases, SafeText::line(&name));
    }
    text
}

fn survivors(document: &Tested<'_>) -> String {
    let mut text = String::new();
    let Some(report) = &document.mutations else {
        return text;
    };
    for survivor in &report.survivors {
        let what = format!("{}: {}", survivor.mutation.runtime, survivor.mutation.what);
        let _ = writeln!(text, "survivor  {}", SafeText::line(&what));
        if let Some(witness) = &survivor.witness {
            let _ = writeln!(text, "          add: {}", SafeText::line(witness));
        }
    }
    let _ = writeln!(
        text,
        "{} mutations, {} that no test notices",
        report.tried,
        report.survivors.len()
    );
    text
}
