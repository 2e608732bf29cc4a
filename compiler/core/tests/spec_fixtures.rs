//! The suites of `corpus/spec`: every block compiles with exactly the findings that its marks
//! name, at the characters that they point at.
//!
//! `SPEC_FIXTURES=name` runs one suite.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "spec_fixtures/codes.rs"]
mod codes;
#[path = "spec_fixtures/run.rs"]
mod run;
#[path = "spec_fixtures/wording.rs"]
mod wording;

use std::collections::BTreeSet;

use chatmd_compiler::diagnostics::registry::{self, Level};
use codes::{WITHOUT_DOCUMENT, without_document};
use run::{Problem, check, suites};

#[test]
fn every_block_gives_what_its_marks_say() {
    let only = std::env::var("SPEC_FIXTURES").ok();
    let mut cases = 0;
    let mut report = String::new();
    for suite in suites() {
        if only.as_ref().is_some_and(|only| *only != suite.name) {
            continue;
        }
        for case in suite.content.sections.iter().flat_map(|s| &s.cases) {
            cases += 1;
            for Problem { line, text } in check(case, &suite.content.ignored) {
                report += &format!("corpus/spec/{}.md:{line}: {text}\n", suite.name);
            }
        }
    }
    assert!(report.is_empty(), "in {cases} cases:\n{report}");
    assert!(only.is_some() || cases >= 300, "{cases} cases");
}

#[test]
fn findings_are_worded_as_reviewed() {
    for suite in suites() {
        insta::assert_snapshot!(
            format!("wording_{}", suite.name.replace('/', "_")),
            wording::of(&suite)
        );
    }
}

/// Codes of errors, warnings and notes that a document can cause (spec 01 to 05).
fn document_codes() -> impl Iterator<Item = registry::Entry> {
    registry::entries().filter(|entry| {
        let owner = ["01-", "02-", "03-", "04-", "05-", "12-"];
        owner.iter().any(|start| entry.owner.starts_with(start))
            && matches!(entry.level, Level::Error | Level::Warning | Level::Info)
    })
}

#[test]
fn every_code_of_documents_has_a_firing_and_a_silent_block() {
    let suites = suites();
    let sections: Vec<_> = suites
        .iter()
        .flat_map(|suite| &suite.content.sections)
        .collect();
    let mut missing = Vec::new();
    for entry in document_codes() {
        let code = entry.code;
        let cases: Vec<_> = sections
            .iter()
            .filter(|section| section.codes.iter().any(|named| named == code))
            .flat_map(|section| &section.cases)
            .collect();
        let fires = cases.iter().any(|case| case.fires(code));
        let silent = cases
            .iter()
            .any(|case| !case.fires(code) && case.compiles());
        match (without_document(code), fires, silent) {
            (false, true, true) => {}
            (true, false, _) => {}
            (true, true, _) => missing.push(format!("{code} has a fixture: take it off the list")),
            (false, fires, silent) => {
                missing.push(format!("{code}: firing {fires}, silent {silent}"))
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn headings_name_known_codes_and_each_once() {
    let mut seen = BTreeSet::new();
    for suite in suites() {
        for section in &suite.content.sections {
            for code in &section.codes {
                assert!(registry::entry(code).is_some(), "{}: {code}", suite.name);
                assert!(seen.insert(code.clone()), "{}: {code} again", suite.name);
            }
        }
        for code in &suite.content.ignored {
            assert!(registry::entry(code).is_some(), "{}: {code}", suite.name);
        }
    }
}

#[test]
fn lists_of_codes_without_documents_name_codes_of_the_language() {
    let known: BTreeSet<_> = document_codes().map(|entry| entry.code).collect();
    for (reason, codes) in WITHOUT_DOCUMENT {
        for code in *codes {
            assert!(known.contains(code), "{code}: {reason}");
        }
    }
}
