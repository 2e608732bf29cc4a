//! Documents that are refused: every case of `corpus/vectors/errors` through the real loader.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_compiler::diagnostics::Severity;
use common::{Case, cases};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Expectation {
    root: String,
    platform: String,
    errors: Vec<Expected>,
    exact: bool,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Expected {
    code: String,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

impl Expected {
    fn matches(&self, found: &Expected) -> bool {
        self.code == found.code
            && (self.line.is_none()
                || (self.file == found.file
                    && self.line == found.line
                    && self.column == found.column))
    }
}

/// What differs, or nothing.
fn compare(expected: &Expectation, mut found: Vec<Expected>) -> Vec<String> {
    let mut problems = Vec::new();
    // Exact places first, so that an entry without a place can not take one away.
    let mut entries: Vec<&Expected> = expected.errors.iter().collect();
    entries.sort_by_key(|entry| entry.line.is_none());
    for entry in entries {
        match found.iter().position(|found| entry.matches(found)) {
            Some(at) => {
                found.remove(at);
            }
            None => problems.push(format!("missing {}", show(entry))),
        }
    }
    if expected.exact {
        problems.extend(
            found
                .iter()
                .map(|extra| format!("unexpected {}", show(extra))),
        );
    } else if !problems.is_empty() {
        problems.extend(found.iter().map(|extra| format!("(also {})", show(extra))));
    }
    problems
}

fn show(entry: &Expected) -> String {
    let file = entry.file.as_deref().unwrap_or("?");
    let number = |n: Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
    format!(
        "{} at {file}:{}:{}",
        entry.code,
        number(entry.line),
        number(entry.column)
    )
}

fn run(case: &Case) -> Vec<String> {
    let expected: Expectation = serde_json::from_str(&case.expectation).unwrap();
    let compilation = case.compile(&expected.root, &expected.platform);
    let found = compilation
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| {
            let at = compilation.locate(found.primary.place).unwrap();
            Expected {
                code: found.code.to_owned(),
                file: Some(at.file.display.clone()),
                line: Some(at.start.line),
                column: Some(at.start.column),
            }
        })
        .collect();
    let mut problems = compare(&expected, found);
    if compilation.manifest.is_some() {
        problems.push("a manifest was made".to_owned());
    }
    problems
}

/// Cases that are not right yet, with exactly what is wrong: the test fails when one of them
/// changes, so that none is forgotten.
const OPEN: &[(&str, &str)] = &[(
    "084-several-post-merge",
    "missing shell.unknown_executable at agent.chatmd:3:44",
)];

#[test]
fn every_error_is_found_where_it_is() {
    let cases = cases("errors");
    assert!(cases.len() >= 84, "{} cases", cases.len());
    let mut failed = 0;
    let mut report = String::new();
    for case in &cases {
        let mut problems = run(case);
        if let Some((_, known)) = OPEN.iter().find(|(name, _)| *name == case.name) {
            let solved = problems != [known.to_string()];
            problems.retain(|problem| problem != known);
            if solved {
                problems.push(format!("remove from the open cases: {known}"));
            }
        }
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
