//! The report as one JSON object.

use chatmd_compiler::SafeText;
use chatmd_compiler::expectations::{Status, Trace, trace};
use serde::Serialize;

use super::selection::{Counts, Selected};
use super::{TestArgs, Tested};
use crate::commands::to_json;
use crate::report::Findings;
use crate::report::json::{self, JsonDiagnostic};

#[derive(Serialize)]
struct Report {
    version: u32,
    command: &'static str,
    ok: bool,
    cases: Vec<JsonCase>,
    summary: Counts,
    diagnostics: Vec<JsonDiagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Vec<Row>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutations: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    survivors: Option<Vec<JsonSurvivor>>,
}

#[derive(Serialize)]
struct JsonCase {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    id: Option<String>,
    runtime: String,
    tool: Option<String>,
    expect: &'static str,
    outcome: Option<&'static str>,
    status: &'static str,
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Trace>,
}

#[derive(Serialize)]
struct Row {
    runtime: String,
    kind: &'static str,
    name: String,
    cases: usize,
}

#[derive(Serialize)]
struct JsonSurvivor {
    runtime: String,
    rule: Option<String>,
    mutation: String,
    witness: Option<String>,
}

pub(super) fn render(
    args: &TestArgs,
    documents: &[Tested<'_>],
    counts: Counts,
    ok: bool,
    verbose: bool,
) -> String {
    let mut cases = Vec::new();
    for document in documents {
        let shown = document.selected.iter();
        let shown = shown.filter(|result| !args.failed_only || result.failed());
        cases.extend(shown.map(|result| case(document, result, verbose)));
    }
    let findings: Vec<Findings<'_>> = documents
        .iter()
        .map(|document| Findings {
            compilation: document.compilation,
            shown: document.findings.shown.clone(),
        })
        .collect();
    let rows = documents.iter().flat_map(|document| &document.coverage);
    let rows = rows.map(|row| Row {
        runtime: row.runtime.clone(),
        kind: row.kind.as_str(),
        name: row.name.clone(),
        cases: row.cases,
    });
    let reports = || documents.iter().filter_map(|it| it.mutations.as_ref());
    let survivors = reports().flat_map(|report| &report.survivors);
    let survivors = survivors.map(|survivor| JsonSurvivor {
        runtime: survivor.mutation.runtime.clone(),
        rule: survivor.mutation.rule.clone(),
        mutation: survivor.mutation.what.clone(),
        witness: survivor.witness.clone(),
    });
    to_json(&Report {
        version: 1,
        command: "test",
        ok,
        cases,
        summary: counts,
        diagnostics: json::diagnostics(&findings),
        coverage: args.coverage.then(|| rows.collect()),
        mutations: args
            .mutate
            .then(|| reports().map(|report| report.tried).sum()),
        survivors: args.mutate.then(|| survivors.collect()),
    })
}

fn case(document: &Tested<'_>, result: &Selected<'_>, verbose: bool) -> JsonCase {
    let safe = |text: &str| SafeText::line(text).into_string();
    let (start, end) = (result.at.start, result.at.end);
    let tested = &document.compilation.tested;
    let evaluated = matches!(result.result.status, Status::Passed | Status::Failed);
    let wanted = result.failed() || verbose && evaluated;
    let mut traced = None;
    if wanted && let Some(manifest) = &tested.manifest {
        traced = trace(manifest, &tested.suite, result.result, document.compilation);
    }
    if let Some(trace) = &mut traced {
        trace.visit_strings(&mut |text| {
            *text = SafeText::lines(&tested.secrets.redact(text)).into_string();
        });
    }
    JsonCase {
        file: safe(&result.at.file.display),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        id: result.case.id.clone(),
        runtime: result.result.runtime.clone(),
        tool: result.result.tool.clone(),
        expect: result.case.verb.as_str(),
        outcome: result.result.outcome,
        status: result.result.status.as_str(),
        reason: result.result.reason.as_deref().map(safe),
        trace: traced,
    }
}
