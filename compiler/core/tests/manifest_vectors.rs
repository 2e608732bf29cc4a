//! Documents that compile: every case of `corpus/vectors/manifest` through the real loader.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeSet;

use chatmd_compiler::diagnostics::Severity;
use chatmd_compiler::manifest;
use common::{Case, cases};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Expectation {
    root: String,
    platform: String,
    requested_sha256: String,
    payload: Value,
    warnings: BTreeSet<String>,
}

/// The first difference of two values, by path.
fn difference(expected: &Value, found: &Value, path: &str) -> Option<String> {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            names.into_iter().find_map(|name| {
                let path = format!("{path}.{name}");
                match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => difference(a, b, &path),
                    (Some(a), None) => Some(format!("{path}: expected {a}, nothing found")),
                    (None, b) => Some(format!("{path}: nothing expected, found {b:?}")),
                }
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(at, (a, b))| difference(a, b, &format!("{path}[{at}]"))),
        _ if expected == found => None,
        _ => Some(format!("{path}: expected {expected}, found {found}")),
    }
}

fn run(case: &Case) -> Vec<String> {
    let expected: Expectation = serde_json::from_str(&case.expectation).unwrap();
    let compilation = case.compile(&expected.root, &expected.platform);
    let mut problems: Vec<String> = compilation
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| {
            let at = compilation.locate(found.primary.place).unwrap();
            let (file, line, column) = (&at.file.display, at.start.line, at.start.column);
            format!(
                "{} at {file}:{line}:{column}: {}",
                found.code, found.message
            )
        })
        .collect();
    let Some(made) = &compilation.manifest else {
        problems.push("no manifest".to_owned());
        return problems;
    };
    let payload = manifest::to_value(made).unwrap();
    problems.extend(difference(&expected.payload, &payload, "payload"));
    if compilation.requested_sha256.as_ref() != Some(&expected.requested_sha256) {
        problems.push(format!("digest {:?}", compilation.requested_sha256));
    }
    let again = manifest::from_value(expected.payload).unwrap();
    if manifest::digest(&again).unwrap() != expected.requested_sha256 {
        problems.push("the expected payload encodes to another digest".to_owned());
    }
    let warnings: BTreeSet<String> = compilation
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Warning)
        .map(|found| found.code.to_owned())
        // Lints are findings of their own (spec 12 section 4), not warnings of the compilation.
        .filter(|code| !code.starts_with("chatmd.lint."))
        .collect();
    if warnings != expected.warnings {
        problems.push(format!(
            "warnings {warnings:?}, expected {:?}",
            expected.warnings
        ));
    }
    problems
}

#[test]
fn every_document_compiles_to_its_manifest() {
    let cases = cases("manifest");
    assert!(cases.len() >= 45, "{} cases", cases.len());
    let mut failed = 0;
    let mut report = String::new();
    for case in &cases {
        let problems = run(case);
        if !problems.is_empty() {
            failed += 1;
            report += &format!("{}\n  {}\n", case.name, problems.join("\n  "));
        }
    }
    assert!(
        failed == 0,
        "{failed} of {} cases failed\n{report}",
        cases.len()
    );
}
