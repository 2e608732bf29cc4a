#![allow(clippy::unwrap_used, clippy::expect_used)]

//! The golden vectors of `corpus/vectors/sanitise.jsonl` and `redact.jsonl`, whole, in the given
//! chunks and in other chunks.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::finalise::Finaliser;
use super::redactor::{Redactor, RedactorBuilder, RedactorError};
use super::secret::SecretBytes;

fn vectors(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/vectors")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn chunks(vector: &Value) -> Vec<Vec<u8>> {
    let decode = |text: &Value| STANDARD.decode(text.as_str().unwrap()).unwrap();
    match vector.get("chunks_b64") {
        Some(list) => list.as_array().unwrap().iter().map(decode).collect(),
        None => vec![decode(&vector["input_b64"])],
    }
}

/// The given chunks, the whole, single bytes, and chunks of a few sizes.
fn chunkings(given: Vec<Vec<u8>>) -> Vec<Vec<Vec<u8>>> {
    let whole = given.concat();
    let mut all = vec![given, vec![whole.clone()]];
    for size in [1, 2, 3, 7, 64] {
        all.push(whole.chunks(size).map(<[u8]>::to_vec).collect());
    }
    all
}

/// Output and truncation flag; checks that the streamed pieces are the whole.
fn run(mut finaliser: Finaliser, chunks: &[Vec<u8>]) -> (String, bool) {
    let mut streamed = String::new();
    for chunk in chunks {
        finaliser.push(chunk);
        streamed.push_str(finaliser.ready().as_str());
    }
    let end = finaliser.finish();
    streamed.push_str(end.rest());
    assert_eq!(streamed, end.text.as_str());
    (streamed, end.truncated)
}

fn redactor(vector: &Value) -> Result<Redactor, RedactorError> {
    let mut builder = RedactorBuilder::new(vector["replacement"].as_str().unwrap());
    for secret in vector["secrets"].as_array().unwrap() {
        let bytes = secret.as_str().unwrap().as_bytes().to_vec();
        builder.register("test", &SecretBytes::new(bytes))?;
    }
    builder.build().map(|(redactor, _)| redactor)
}

#[test]
fn sanitise_vectors() {
    let mut failures = Vec::new();
    for vector in vectors("sanitise.jsonl") {
        let expected = vector["output"].as_str().unwrap();
        let redactor = Redactor::default();
        let given = chunks(&vector);
        if vector["one_line"] == true {
            let line = redactor.finalise_line(&given.concat(), usize::MAX);
            if line.text.as_str() != expected {
                failures.push(format!("{}: {:?}", vector["id"], line.text));
            }
            continue;
        }
        for chunks in chunkings(given) {
            let (text, truncated) = run(redactor.finaliser(1 << 20), &chunks);
            if text != expected || truncated {
                failures.push(format!("{}: {text:?}, expected {expected:?}", vector["id"]));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn redact_vectors() {
    let mut failures = Vec::new();
    for vector in vectors("redact.jsonl") {
        let id = &vector["id"];
        let redactor = match (redactor(&vector), vector.get("code")) {
            (Err(error), Some(code)) => {
                assert_eq!(error.code(), code.as_str().unwrap(), "{id}");
                continue;
            }
            (Ok(redactor), None) => redactor,
            (result, code) => {
                failures.push(format!("{id}: {result:?}, expected code {code:?}"));
                continue;
            }
        };
        let limit = vector
            .get("limit")
            .map_or(1 << 20, |limit| limit.as_u64().unwrap() as usize);
        for chunks in chunkings(chunks(&vector)) {
            let (text, truncated) = run(redactor.finaliser(limit), &chunks);
            let same = vector["output"]
                .as_str()
                .is_none_or(|expected| expected == text)
                && vector
                    .get("truncated")
                    .is_none_or(|expected| *expected == truncated);
            if !same {
                failures.push(format!("{id}: {text:?} {truncated}, expected {vector}"));
                break;
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn one_line_form_is_the_same_for_any_length() {
    let redactor = Redactor::default();
    let line = redactor.finalise_line("a\tb\nc\r\nd\re\u{2028}f".as_bytes(), 4096);
    assert_eq!(line.text.as_str(), "a b c d e f");
}
