//! SARIF 2.1.0 (spec 10 section 1.2).

use std::collections::BTreeMap;

use chatmd_compiler::diagnostics::{Diagnostic, Place};
use chatmd_compiler::manifest::sha256_hex;
use chatmd_compiler::{Compilation, SafeText};
use serde_json::{Value, json};

use super::{Findings, severity_word};

/// The whole log: one run with one rule for each code that occurs.
pub fn render(documents: &[Findings<'_>]) -> String {
    let mut rules: BTreeMap<&str, Value> = BTreeMap::new();
    for found in documents.iter().flat_map(|document| &document.shown) {
        rules.entry(found.code).or_insert_with(|| {
            json!({
                "id": found.code,
                "shortDescription": { "text": crate::codes::title(found.code) },
                "helpUri": format!("urn:chatmd:code:{}", found.code),
            })
        });
    }
    let index: BTreeMap<&str, usize> = rules
        .keys()
        .enumerate()
        .map(|(at, code)| (*code, at))
        .collect();
    let results: Vec<Value> = documents
        .iter()
        .flat_map(|document| {
            let mut occurrences: BTreeMap<String, usize> = BTreeMap::new();
            let found = document.shown.iter();
            found
                .map(|found| result(document.compilation, found, &index, &mut occurrences))
                .collect::<Vec<_>>()
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "chatmdc",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.into_values().collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn result(
    compilation: &Compilation,
    found: &Diagnostic,
    rules: &BTreeMap<&str, usize>,
    occurrences: &mut BTreeMap<String, usize>,
) -> Value {
    let related: Vec<Value> = found
        .secondary
        .iter()
        .filter_map(|label| {
            let mut place = location(compilation, label.place)?;
            place["message"] = json!({ "text": safe(&label.text) });
            Some(place)
        })
        .collect();
    let mut result = json!({
        "ruleId": found.code,
        "ruleIndex": rules.get(found.code),
        "level": severity_word(found.severity),
        "message": { "text": safe(&found.message) },
        "locations": location(compilation, found.primary.place).into_iter().collect::<Vec<_>>(),
        "partialFingerprints": { "chatmd/v1": fingerprint(compilation, found, occurrences) },
    });
    if let Some(detail) = found.detail {
        result["properties"] = json!({ "detail": detail });
    }
    if !related.is_empty() {
        result["relatedLocations"] = Value::Array(related);
    }
    result
}

/// The same for a finding that only moved: code, file, declaration path, message, and its number
/// among equal ones.
fn fingerprint(
    compilation: &Compilation,
    found: &Diagnostic,
    occurrences: &mut BTreeMap<String, usize>,
) -> String {
    let file = compilation.file(found.primary.place.file);
    let file = file
        .map(|file| file.manifest_path.as_str())
        .unwrap_or_default();
    let parts = [found.code, file, &found.path.join("."), &found.message].join("\0");
    let digest = sha256_hex(parts.as_bytes());
    let number = occurrences.entry(digest.clone()).or_default();
    *number += 1;
    format!("{digest}:{number}")
}

fn location(compilation: &Compilation, place: Place) -> Option<Value> {
    let at = compilation.locate(place)?;
    let uri = file_uri(at.file.path.as_str());
    Some(json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri },
            "region": {
                "startLine": at.start.line,
                "startColumn": at.start.column,
                "endLine": at.end.line,
                "endColumn": at.end.column,
            },
        },
    }))
}

/// An absolute path as a `file:` URI.
fn file_uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') {
        "file://"
    } else {
        "file:///"
    });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

fn safe(text: &str) -> String {
    SafeText::line(text).into_string()
}
