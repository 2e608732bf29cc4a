//! Bundles whose digests are right and whose payload no compiler could have made (spec 04 section
//! 8.10): a reader is as strict as the compiler, and names the member.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use chatmd_compiler::manifest::{Manifest, bundle};
use serde_json::{Value, json};

fn payload(case: &str) -> Value {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/manifest");
    let text = std::fs::read(format!("{root}/{case}/expect.json")).unwrap();
    let mut expect: Value = serde_json::from_slice(&text).unwrap();
    expect["payload"].take()
}

/// What reading says of a bundle with this payload and the right digests.
fn read(payload: Value) -> Result<(), (String, String)> {
    let manifest: Manifest = serde_json::from_value(payload).expect("the types are right");
    let scripts: BTreeMap<String, Arc<str>> = BTreeMap::new();
    let bytes = bundle::write(&manifest, &scripts).expect("a manifest without scripts");
    let read = bundle::read(&bytes);
    read.map(|_| ())
        .map_err(|error| (error.code.to_owned(), error.message))
}

/// Case, member, value, and what the message names.
#[rustfmt::skip]
fn edits() -> Vec<(&'static str, &'static str, Value, &'static str)> {
    let sha = "A".repeat(64);
    let tool = "035-tool-structured-chain-raw";
    vec![
        ("001-defaults-linux", "/runtimes/0/limits/wall_time_ms", json!(0), "runtimes[0].limits.wall_time_ms: 0 is not at least 1"),
        ("001-defaults-linux", "/runtimes/0/limits/wall_time_ms", json!(31_536_000_001_u64), "runtimes[0].limits.wall_time_ms"),
        ("001-defaults-linux", "/runtimes/0/limits/idle_time_ms", json!(0), "runtimes[0].limits.idle_time_ms"),
        ("001-defaults-linux", "/runtimes/0/limits/max_stdin_bytes", json!(1_073_741_825), "runtimes[0].limits.max_stdin_bytes"),
        ("001-defaults-linux", "/runtimes/0/limits/stdout_bytes", json!(0), "runtimes[0].limits.stdout_bytes"),
        ("001-defaults-linux", "/runtimes/0/limits/stderr_bytes", json!(1_073_741_825), "runtimes[0].limits.stderr_bytes"),
        ("001-defaults-linux", "/runtimes/0/limits/total_output_bytes", json!(0), "runtimes[0].limits.total_output_bytes"),
        ("001-defaults-linux", "/runtimes/0/limits/memory_bytes", json!(1_048_575), "runtimes[0].limits.memory_bytes"),
        ("001-defaults-linux", "/runtimes/0/limits/file_size_bytes", json!(0), "runtimes[0].limits.file_size_bytes"),
        ("001-defaults-linux", "/runtimes/0/limits/open_files", json!(7), "runtimes[0].limits.open_files"),
        ("001-defaults-linux", "/runtimes/0/limits/cpu_time_ms", json!(0), "runtimes[0].limits.cpu_time_ms"),
        ("001-defaults-linux", "/sources/0/sha256", json!(sha), "sources[0].sha256"),
        ("001-defaults-linux", "/sources/0/sha256", json!(""), "sources[0].sha256"),
        ("001-defaults-linux", "/runtimes/0/policy/rules", json!([{"id": "a", "action": "deny", "matcher": {"kind": "all", "of": []}}]), "runtimes[0].policy.rules[0].matcher"),
        ("001-defaults-linux", "/runtimes/0/policy/rules", json!([{"id": " a", "action": "deny", "matcher": {"kind": "any_command"}}]), "runtimes[0].policy.rules[0].id"),
        ("001-defaults-linux", "/runtimes/0/policy/rules", json!([{"id": "a", "action": "deny", "matcher": {"kind": "any_command"}}, {"id": "a", "action": "allow", "matcher": {"kind": "any_command"}}]), "runtimes[0].policy.rules: `a` is there twice"),
        ("001-defaults-linux", "/runtimes/0/policy/rules", json!([{"id": "a", "action": "deny", "matcher": {"kind": "basename", "value": "/bin/rm"}}]), "runtimes[0].policy.rules[0].matcher"),
        ("001-defaults-linux", "/runtimes/0/policy/rules", json!([{"id": "a", "action": "deny", "matcher": {"kind": "argv_prefix", "values": []}}]), "runtimes[0].policy.rules[0].matcher"),
        ("001-defaults-linux", "/runtimes/0/policy/rules", json!([{"id": "a", "action": "deny", "matcher": {"kind": "argument_contains", "value": ""}}]), "runtimes[0].policy.rules[0].matcher"),
        ("001-defaults-linux", "/runtimes/0/backends/entries", json!([{"kind": "external", "id": null, "when": "any", "executable": {"base": "absolute", "path": "/w", "source": null}, "sha256": null, "confinement": "none", "atoms": [{"kind": "cwd_value"}]}]), "runtimes[0].backends.entries[0].atoms"),
        ("001-defaults-linux", "/runtimes/0/backends/entries", json!([{"kind": "external", "id": null, "when": "any", "executable": {"base": "absolute", "path": "/w", "source": null}, "sha256": "x", "confinement": "none", "atoms": [{"kind": "command_argv"}]}]), "runtimes[0].backends.entries[0].sha256"),
        (tool, "/tools/0/name", json!("a b"), "tools[0].name"),
        (tool, "/tools/0/name", json!(""), "tools[0].name"),
        (tool, "/tools/0/runtime", json!("gone"), "it has no runtime"),
        (tool, "/tools/0/mode", json!({"kind": "fixed", "program": "ls", "executable_ref": "ls", "arguments": [], "model_arguments": {"mode": "none", "min_count": 0, "max_count": 0, "max_item_bytes": 1}}), "tools[0].mode: a fixed command has one program"),
        (tool, "/tools/0/mode", json!({"kind": "fixed", "program": "ls", "executable_ref": null, "arguments": [], "model_arguments": {"mode": "none", "min_count": 2, "max_count": 1, "max_item_bytes": 1}}), "the least number is above the greatest"),
        (tool, "/tools/0/mode", json!({"kind": "fixed", "program": "ls", "executable_ref": null, "arguments": [], "model_arguments": {"mode": "none", "min_count": 0, "max_count": 4097, "max_item_bytes": 1}}), "tools[0].mode.model_arguments.max_count"),
        (tool, "/tools/0/mode", json!({"kind": "fixed", "program": "ls", "executable_ref": null, "arguments": [], "model_arguments": {"mode": "none", "min_count": 0, "max_count": 1, "max_item_bytes": 0}}), "tools[0].mode.model_arguments.max_item_bytes"),
        (tool, "/tools/0/mode", json!({"kind": "script", "script": {"base": "absolute", "path": "/s", "source": null}, "interpreter": null, "fixed_arguments": [], "verification": "md5", "max_source_bytes": 1}), "tools[0].mode.verification"),
        (tool, "/tools/0/mode", json!({"kind": "script", "script": {"base": "absolute", "path": "/s", "source": null}, "interpreter": null, "fixed_arguments": [], "verification": "sha256", "max_source_bytes": 16_777_217}), "tools[0].mode.max_source_bytes"),
    ]
}

#[test]
fn each_is_refused_by_the_name_of_the_member() {
    let mut wrong = Vec::new();
    for (case, pointer, value, names) in edits() {
        let mut payload = payload(case);
        assert_eq!(read(payload.clone()), Ok(()), "{case} is possible");
        let shown = format!("{case} {pointer} = {value}");
        *payload
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("{shown}")) = value;
        match read(payload) {
            Err((code, message))
                if code == "shell.manifest_encoding" && message.contains(names) => {}
            other => wrong.push(format!("{shown}\n    {other:?}, not {names}")),
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
