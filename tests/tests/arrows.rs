//! Which crate may use which: the arrows of docs/architecture.md, and what pure crates stay away
//! from, read from cargo itself.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Crates of this repository with all that they may use of it, outside their tests.
const ARROWS: [(&str, &[&str]); 9] = [
    ("chatmd-syntax", &[]),
    ("chatml", &[]),
    ("chatmd-policy", &[]),
    (
        "chatmd-compiler",
        &["chatmd-syntax", "chatml", "chatmd-policy"],
    ),
    ("chatmd-lsp", &["chatmd-compiler", "chatmd-syntax"]),
    ("chatmd-plan", &["chatmd-compiler", "chatmd-policy"]),
    (
        "chatmd-facts",
        &["chatmd-compiler", "chatmd-policy", "chatmd-plan"],
    ),
    (
        "chatmd-runtime",
        &[
            "chatmd-compiler",
            "chatml",
            "chatmd-policy",
            "chatmd-facts",
            "chatmd-plan",
        ],
    ),
    (
        "chatmdc",
        &[
            "chatmd-compiler",
            "chatmd-syntax",
            "chatml",
            "chatmd-policy",
            "chatmd-lsp",
            "chatmd-facts",
            "chatmd-plan",
        ],
    ),
];

/// Crates without a clock, a process or a socket.
const PURE: [&str; 5] = [
    "chatmd-syntax",
    "chatml",
    "chatmd-policy",
    "chatmd-compiler",
    "chatmd-plan",
];

/// Crates that open files, sockets or processes, or run tasks.
const IMPURE: [&str; 9] = [
    "tokio",
    "nix",
    "mio",
    "socket2",
    "async-io",
    "rustix",
    "tower-lsp-server",
    "hyper",
    "tempfile",
];

/// Normal and build dependencies by package name.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--manifest-path",
        ])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let names: BTreeMap<String, String> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (text(&package["id"]), text(&package["name"])))
        .collect();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    nodes
        .iter()
        .map(|node| {
            let used = node["deps"].as_array().unwrap().iter().filter(|used| {
                let kinds = used["dep_kinds"].as_array().unwrap();
                kinds.iter().any(|kind| kind["kind"] != "dev")
            });
            let used = used
                .map(|used| names[&text(&used["pkg"])].clone())
                .collect();
            (names[&text(&node["id"])].clone(), used)
        })
        .collect()
}

#[test]
fn crates_use_only_what_lies_below_them() {
    let all = dependencies();
    let own: BTreeSet<&String> = all
        .keys()
        .filter(|name| name.starts_with("chatm"))
        .collect();
    for (name, permitted) in ARROWS {
        let used = all[name].iter().filter(|used| own.contains(used));
        for used in used {
            assert!(permitted.contains(&used.as_str()), "{name} uses {used}");
        }
    }
}

#[test]
fn pure_crates_stay_pure() {
    let all = dependencies();
    for name in PURE {
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut open = vec![name];
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(all.get(next).into_iter().flatten().map(String::as_str));
            }
        }
        for impure in IMPURE {
            assert!(!reached.contains(impure), "{name} depends on {impure}");
        }
    }
    // The check sees what it looks for.
    assert!(all["chatmd-runtime"].contains("tokio"));
}
