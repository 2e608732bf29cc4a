//! What the authority summary says, as text for people and as data (spec 04 section 11.1).
#![allow(clippy::unwrap_used, clippy::expect_used)]

use chatmd_compiler::authority::summarise;
use chatmd_compiler::manifest::Manifest;

/// Manifests that between them have every kind of entry.
const CASES: [&str; 14] = [
    "001-defaults-linux",
    "004-capabilities-append-dedupe",
    "008-environment-all-operations",
    "011-backends-linux",
    "013-backends-windows-direct",
    "014-backends-external-required-windows",
    "015-policy-every-matcher",
    "019-reviewers-every-kind",
    "021-interceptors-script-and-hook",
    "022-effect-analysis",
    "025-audit-filter-executable",
    "032-source-dir-provenance",
    "035-tool-structured-chain-raw",
    "036-tool-script-mode",
];

#[test]
fn the_summary_says_everything_that_grants_authority() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/manifest");
    for case in CASES {
        let text = std::fs::read(format!("{root}/{case}/expect.json")).unwrap();
        let mut expect: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let manifest: Manifest = serde_json::from_value(expect["payload"].take()).unwrap();
        let summary = summarise(&manifest).unwrap();
        insta::assert_snapshot!(format!("text_{case}"), summary.text());
        insta::assert_json_snapshot!(format!("json_{case}"), summary);
    }
}
