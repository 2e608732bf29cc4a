//! The golden vectors, as far as the parser alone decides them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use chatmd_syntax::{LineIndex, SyntaxSeverity, parse};
use common::check_cover;
use serde_json::Value;

/// Codes that nothing but the parser reports.
const OURS: [&str; 20] = [
    "chatmd.attribute_too_large",
    "chatmd.duplicate_attribute",
    "chatmd.invalid_attribute",
    "chatmd.invalid_utf8",
    "chatmd.malformed_end_tag",
    "chatmd.mismatched_tag",
    "chatmd.misplaced_element",
    "chatmd.nesting_too_deep",
    "chatmd.nul_byte",
    "chatmd.script_trailing_text",
    "chatmd.top_level_text",
    "chatmd.unclosed_element",
    "chatmd.unexpected_end_tag",
    "chatmd.unknown_element",
    "chatmd.unterminated_attribute",
    "chatmd.unterminated_comment",
    "chatmd.unterminated_raw",
    "chatmd.unterminated_tag",
    "shell.duplicate_attribute",
    "chatmd.document_too_large",
];

fn cases(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/vectors")
        .join(folder);
    let mut cases: Vec<PathBuf> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    cases
}

#[test]
fn refused_documents() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for case in cases("errors") {
        let expect: Value =
            serde_json::from_slice(&fs::read(case.join("expect.json")).unwrap()).unwrap();
        let root = expect["root"].as_str().unwrap();
        let parsed = parse(&fs::read(case.join(root)).unwrap());
        check_cover(&parsed);
        let index = LineIndex::new(parsed.tree.text.clone());
        let mut found: Vec<(String, Option<(u64, u64)>)> = Vec::new();
        for d in parsed
            .diagnostics
            .iter()
            .filter(|d| d.severity == SyntaxSeverity::Error)
        {
            let at = index.position(d.primary.start);
            found.push((d.code.to_owned(), Some((at.line.into(), at.column.into()))));
        }
        for entry in expect["errors"].as_array().unwrap() {
            let code = entry["code"].as_str().unwrap();
            if entry["file"].as_str().is_some_and(|file| file != root) {
                continue;
            }
            let at = entry["line"].as_u64().zip(entry["column"].as_u64());
            let same =
                |f: &(String, Option<(u64, u64)>)| f.0 == code && (at.is_none() || f.1 == at);
            match found.iter().position(same) {
                Some(index) => {
                    found.remove(index);
                    compared += 1;
                }
                None if OURS.contains(&code) => {
                    wrong.push(format!("{case:?}: {code} at {at:?} is missing"))
                }
                None => {}
            }
        }
        wrong.extend(
            found
                .iter()
                .map(|extra| format!("{case:?}: {extra:?} is not expected")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared >= 19, "only {compared} findings were compared");
}

#[test]
fn accepted_documents() {
    let mut files = 0;
    for case in cases("manifest") {
        let mut work = vec![case.clone()];
        while let Some(path) = work.pop() {
            if path.is_dir() {
                work.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
                continue;
            }
            if path
                .extension()
                .is_none_or(|extension| extension != "chatmd")
            {
                continue;
            }
            files += 1;
            let parsed = parse(&fs::read(&path).unwrap());
            check_cover(&parsed);
            let errors: Vec<_> = parsed
                .diagnostics
                .iter()
                .filter(|d| d.severity == SyntaxSeverity::Error)
                .collect();
            assert!(
                errors.is_empty() && parsed.lowerable,
                "{path:?}: {errors:?}"
            );
        }
    }
    assert!(files >= 45, "only {files} documents were read");
}
