//! Every fix that is offered anywhere in the corpus: applied, its finding is gone and there is no
//! finding that was not there before.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "fixes/corpus.rs"]
mod corpus;

use std::collections::BTreeMap;

use chatmd_compiler::diagnostics::{Diagnostic, Fix};
use corpus::{Document, documents};

/// A fix that may leave or bring findings: code, start of its title, what may be found then, why.
type Exception = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
);

#[rustfmt::skip]
const EXCEPTIONS: &[Exception] = &[
    ("chatmd.script_invalid_kind", "change to", &["chatmd.unused_script"], "a script of an unknown kind is not called unused; one of a known kind is"),
    ("shell.tool_invalid_mode", "change to", &["shell.tool_status_hidden"], "what a mode hides shows when there is a mode"),
    ("shell.tool_invalid_type", "change to", &["shell.tool_missing_attribute"], "a tool of no type needs nothing; a shell tool needs a runtime, which was not there before"),
    ("chatmd.test_syntax", "replace by", &["chatmd.test_failed", "chatmd.test_unknown_target"], "a test that can not be read is not run; one that can be read may fail"),
    ("chatmd.unclosed_element", "insert `</user>`", &["chatmd.unclosed_element"], "of thousands of unclosed messages 64 are recovered one by one, the next one moves up"),
];

/// Documents with more findings than are shown.
const CAPPED: &[&str] = &[
    "lexical.md:272",
    "close-tags.chatmd",
    "crossed.chatmd",
    "open-quotes.chatmd",
    "open-tags.chatmd",
    "same-attribute.chatmd",
    "same-runtime.chatmd",
    "same-tool.chatmd",
];

/// How often each finding occurs.
fn tally(found: &[Diagnostic]) -> BTreeMap<String, usize> {
    let mut tally = BTreeMap::new();
    for found in found {
        *tally.entry(found.shown_code().into_owned()).or_default() += 1;
    }
    tally
}

/// What a fix leaves of its finding and what it brings along.
fn left(before: &[Diagnostic], found: &Diagnostic, after: &[Diagnostic]) -> Vec<String> {
    let (before, after) = (tally(before), tally(after));
    let mut left = Vec::new();
    for (code, count) in &after {
        let was = before.get(code).copied().unwrap_or(0);
        let own = usize::from(*code == found.shown_code());
        if *count > was.saturating_sub(own) {
            left.push(code.clone());
        }
    }
    left
}

fn exception(found: &Diagnostic, fix: &Fix, left: &[String]) -> Option<usize> {
    EXCEPTIONS.iter().position(|(code, title, may, _)| {
        found.code == *code
            && fix.title.starts_with(title)
            && left.iter().all(|left| may.contains(&left.as_str()))
    })
}

#[test]
fn every_fix_removes_its_finding_and_adds_none() {
    let mut fixes = 0;
    let mut report = String::new();
    let mut capped = Vec::new();
    let mut used = vec![false; EXCEPTIONS.len()];
    for document in documents() {
        let compilation = document.compile();
        let before = &compilation.diagnostics;
        // Behind a thousand findings the next one moves up.
        if before
            .iter()
            .any(|found| found.code == "chatmd.too_many_diagnostics")
        {
            capped.push(document.name);
            continue;
        }
        let all = before
            .iter()
            .flat_map(|found| found.fixes.iter().map(move |fix| (found, fix)));
        // Thousands of copies of one slip show nothing that forty do not.
        for (found, fix) in all.take(Document::MAX_FIXES) {
            fixes += 1;
            let after = document.repaired(&compilation, fix).compile();
            let left = left(before, found, &after.diagnostics);
            if left.is_empty() {
                continue;
            }
            match exception(found, fix, &left) {
                Some(at) => used[at] = true,
                None => {
                    report += &format!(
                        "{}: {} `{}` leaves {left:?}\n",
                        document.name,
                        found.shown_code(),
                        fix.title
                    )
                }
            }
        }
    }
    assert!(report.is_empty(), "of {fixes} fixes:\n{report}");
    assert!(fixes > 120, "{fixes}");
    let capped: Vec<_> = capped
        .iter()
        .map(|name| name.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(capped, CAPPED);
    let idle: Vec<_> = EXCEPTIONS
        .iter()
        .zip(used)
        .filter(|(_, used)| !used)
        .collect();
    assert!(idle.is_empty(), "not needed: {idle:?}");
}
