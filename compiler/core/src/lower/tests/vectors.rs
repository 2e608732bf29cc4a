//! The golden vectors, as far as one file decides them.

use std::path::{Path, PathBuf};

use chatmd_syntax::parse;
use serde_json::Value;

use super::{Seen, findings};
use crate::diagnostics::Severity;

/// Codes that need other files, imports or the effective runtime.
const LATER: &[&str] = &[
    "agent.duplicate_tool_name",
    "chatmd.duplicate_history_id",
    "chatmd.import_cycle",
    "chatmd.import_depth",
    "chatmd.import_namespace_collision",
    "chatmd.import_unavailable",
    "chatmd.script_source_too_large",
    "shell.ambiguous_reference",
    "shell.durable_scope_disabled",
    "shell.inheritance_cycle",
    "shell.reviewer_agent_is_shell_tool",
    "shell.runtime_dependency_cycle",
    "shell.unknown_executable",
    "shell.unknown_runtime",
    "shell.unknown_worker_runtime",
];

/// Cases whose remaining errors of a code outside [`LATER`] come from merging.
const MERGED: &[(&str, &str)] = &[
    (
        "040-shell.duplicate_named_entry",
        "shell.duplicate_named_entry",
    ),
    ("084-several-post-merge", "shell.duplicate_named_entry"),
];

fn cases(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/vectors")
        .join(folder);
    let mut cases: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    cases
}

fn expectation(case: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(case.join("expect.json")).unwrap()).unwrap()
}

#[test]
fn errors_stand_where_the_vectors_say() {
    let mut failures = Vec::new();
    for case in cases("errors") {
        let name = case.file_name().unwrap().to_str().unwrap().to_owned();
        let expect = expectation(&case);
        let root = expect["root"].as_str().unwrap();
        let found = findings(
            &parse(&std::fs::read(case.join(root)).unwrap()),
            Severity::Error,
        );
        let merged = |code: &str| MERGED.contains(&(name.as_str(), code));
        let mut rest = found.clone();
        for error in expect["errors"].as_array().unwrap() {
            let code = error["code"].as_str().unwrap();
            let here = error["file"].is_null() || error["file"] == root.rsplit('/').next().unwrap();
            if !here || LATER.contains(&code) || merged(code) {
                continue;
            }
            let matches = |seen: &Seen| {
                let placed = error["line"].is_null()
                    || (error["line"] == seen.line && error["column"] == seen.column);
                seen.code == code && placed
            };
            match rest.iter().position(matches) {
                Some(at) => drop(rest.remove(at)),
                None => failures.push(format!("{name}: missing {error}; found {found:?}")),
            }
        }
        if expect["exact"] == true && !rest.is_empty() {
            failures.push(format!("{name}: unexpected {rest:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Warnings that only lowering and the parser give.
const LOCAL_WARNINGS: &[&str] = &[
    "chatmd.attribute_ignored",
    "chatmd.deprecated_attribute",
    "chatmd.literal_element",
    "chatmd.meta_refine_ignored",
    "chatmd.unknown_attribute",
    "chatmd.unquoted_attribute",
    "read_file.host_wide_root",
    "shell.analyzer_keep",
    "shell.audit_full_content",
    "shell.deny_by_text",
    "shell.external_backend_roots_unused",
    "shell.identifier_style",
    "shell.legacy_tool",
    "shell.limit_ineffective",
    "shell.literal_secret_in_source",
    "shell.matcher_failure_clamped",
    "shell.path_escapes_base",
    "shell.unpinned_hook",
];

#[test]
fn documents_that_compile_lower_without_error() {
    for case in cases("manifest") {
        let expect = expectation(&case);
        let mut warned = std::collections::BTreeSet::new();
        let mut sources = vec![case.clone()];
        while let Some(folder) = sources.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    sources.push(path);
                } else if path.extension().is_some_and(|ext| ext == "chatmd") {
                    let parse = parse(&std::fs::read(&path).unwrap());
                    assert_eq!(findings(&parse, Severity::Error), [], "{}", path.display());
                    warned.extend(
                        findings(&parse, Severity::Warning)
                            .into_iter()
                            .map(|seen| seen.code),
                    );
                }
            }
        }
        let listed: Vec<&str> = expect["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| w.as_str().unwrap())
            .collect();
        for code in LOCAL_WARNINGS {
            assert_eq!(
                warned.contains(*code),
                listed.contains(code),
                "{}: {code}",
                case.display()
            );
        }
        for code in &warned {
            assert!(
                listed.contains(&code.as_str()),
                "{}: unexpected {code}",
                case.display()
            );
        }
    }
}
