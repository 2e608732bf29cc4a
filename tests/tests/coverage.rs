//! `docs/coverage.md` names tests that exist.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::path::Path;

use chatmd_tests::repository;

/// Adds the name of every test function below a folder.
fn tests_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.extend(tests_in(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The functions that follow a test attribute.
fn tests_in(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut marked = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            marked = true;
        } else if marked && let Some(at) = line.find("fn ") {
            let name: String = line[at + 3..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            found.push(name);
            marked = false;
        }
    }
    found
}

/// The names in the last column of the tables.
fn named(page: &str) -> Vec<(&str, Vec<&str>)> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    rows.filter_map(|row| {
        let (rule, tests) = row.trim_matches('|').split_once(" | ")?;
        Some((rule.trim(), tests.split('`').skip(1).step_by(2).collect()))
    })
    .collect()
}

#[test]
fn every_rule_has_a_test_that_exists_or_says_that_it_is_not_in_this_version() {
    let mut existing = BTreeSet::new();
    for folder in ["compiler", "runtime", "tests"] {
        tests_below(&repository().join(folder), &mut existing);
    }
    let page = std::fs::read_to_string(repository().join("docs/coverage.md")).unwrap();
    let rows = named(&page);
    assert!(rows.len() > 80, "the tables are read: {}", rows.len());
    for (rule, tests) in rows.iter().filter(|(rule, _)| *rule != "Rule") {
        let missing: Vec<_> = tests
            .iter()
            .filter(|name| !existing.contains(**name))
            .collect();
        assert!(missing.is_empty(), "{rule}: no such test: {missing:?}");
        let row = page.lines().find(|line| line.contains(rule)).unwrap();
        let absent = row.contains("not in this version") || row.contains("no such command");
        assert!(!tests.is_empty() || absent, "{rule} has no test");
    }
}
