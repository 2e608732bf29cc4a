#![allow(clippy::unwrap_used, clippy::expect_used)]

//! The golden logs of `corpus/vectors/audit` and the audit kinds of `identity.jsonl`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as J;

use super::command::audit_command_sha256;
use super::head::{Head, HeadState};
use super::key::IntegrityKey;
use super::line::{Chain, Envelope, encode};
use super::schema::Level;
use super::validate::{SessionAnchor, ValidationOptions, ValidationReport, validate};
use super::value::{Member, Value};
use crate::identity::{self, hex, sha256_hex};
use crate::output::Redactor;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/vectors")
        .join(name)
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn sorted(findings: &[super::validate::Finding]) -> BTreeSet<&str> {
    findings.iter().map(|finding| finding.code).collect()
}

fn strings(list: &J) -> BTreeSet<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|item| item.as_str().unwrap())
        .collect()
}

fn places(report: &ValidationReport) -> BTreeSet<(String, String, u64)> {
    let placed = report.errors.iter().filter(|error| error.line.is_some());
    placed
        .map(|error| {
            let file = Path::new(error.file.as_ref().unwrap()).file_name().unwrap();
            (
                error.code.to_owned(),
                file.to_str().unwrap().to_owned(),
                error.line.unwrap(),
            )
        })
        .collect()
}

fn check(name: &str, expect: &J, report: &ValidationReport) -> Result<(), String> {
    let head = match report.head {
        HeadState::Ok(_) => "ok",
        HeadState::Absent => "absent",
        HeadState::Unreadable(_) => "unreadable",
    };
    let expected_places: BTreeSet<(String, String, u64)> = expect["places"]
        .as_array()
        .unwrap()
        .iter()
        .map(|place| {
            let text = |at: usize| place[at].as_str().unwrap().to_owned();
            (text(0), text(1), place[2].as_u64().unwrap())
        })
        .collect();
    let fine = report.is_valid() == expect["valid"]
        && sorted(&report.errors) == strings(&expect["codes"])
        && sorted(&report.warnings) == strings(&expect["warnings"])
        && report.events == expect["events"]
        && report.chained == expect["chained"]
        && report.window_start() == expect.get("window_start").and_then(J::as_u64)
        && head == expect["head"]
        && (!report.chained
            || report.events == 0
            || report.tail_provable() == expect["tail_provable"])
        && places(report) == expected_places;
    if fine {
        Ok(())
    } else {
        Err(format!("{name}: {report:#?}\nexpected {expect}"))
    }
}

#[test]
fn golden_logs() {
    let root = corpus("audit");
    let key = IntegrityKey::load_unchecked(&root.join("integrity.key"));
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&root).unwrap() {
        let directory = entry.unwrap().path();
        if !directory.is_dir() {
            continue;
        }
        count += 1;
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        let expect: J =
            serde_json::from_slice(&std::fs::read(directory.join("expect.json")).unwrap()).unwrap();
        let session = expect
            .get("session")
            .filter(|session| !session.is_null())
            .map(|session| SessionAnchor {
                sequence: session["last_audit_sequence"].as_u64().unwrap(),
                event_sha256: session["last_audit_event_sha256"]
                    .as_str()
                    .map(str::to_owned),
            });
        let options = ValidationOptions {
            key: Some(&key),
            session: session.as_ref(),
            ..Default::default()
        };
        let log = directory.join("log.jsonl");
        let report = validate(&log, options).unwrap();
        failures.extend(check(&name, &expect, &report).err());
        for also in expect
            .get("also")
            .and_then(J::as_array)
            .into_iter()
            .flatten()
        {
            let given = strings(&also["args"]);
            let options = ValidationOptions {
                strict: given.contains("--strict"),
                require_chain: given.contains("--require-chain"),
                ..options
            };
            let report = validate(&log, options).unwrap();
            if report.is_valid() != also["valid"]
                || sorted(&report.errors) != strings(&also["codes"])
            {
                failures.push(format!("{name} {also}: {report:#?}"));
            }
        }
    }
    assert!(count > 30, "only {count} golden logs were found");
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn to_value(value: &J) -> Value {
    match value {
        J::Null => Value::Null,
        J::Bool(flag) => Value::Bool(*flag),
        J::Number(number) => Value::Int(number.as_u64().unwrap()),
        J::String(text) => Value::Text(text.clone()),
        J::Array(items) if items.iter().all(J::is_string) => Value::Texts(
            items
                .iter()
                .map(|item| item.as_str().unwrap().to_owned())
                .collect(),
        ),
        J::Array(items) => Value::Outcomes(
            items
                .iter()
                .map(|item| {
                    let text = |name: &str| item[name].as_str().unwrap().to_owned();
                    (text("id"), text("outcome"))
                })
                .collect(),
        ),
        J::Object(_) => unreachable!("no member is an object"),
    }
}

fn audit_line(vector: &J) {
    const ENVELOPE: [&str; 9] = [
        "schema_version",
        "sequence",
        "timestamp",
        "session_id",
        "runtime_id",
        "manifest_sha256",
        "request_id",
        "plan_id",
        "event",
    ];
    let event = &vector["event"];
    let (seconds, fraction) = event["timestamp"]
        .as_str()
        .unwrap()
        .split_once('.')
        .unwrap();
    let micros: u64 = format!("{seconds}{fraction}").parse().unwrap();
    let envelope = Envelope {
        sequence: event["sequence"].as_u64().unwrap(),
        micros,
        session_id: event["session_id"].as_str(),
        runtime_id: event["runtime_id"].as_str().unwrap(),
        manifest_sha256: event["manifest_sha256"].as_str().unwrap(),
        request_id: event["request_id"].as_str().unwrap(),
        plan_id: event["plan_id"].as_str(),
        event: event["event"].as_str().unwrap(),
    };
    let mut members: Vec<Member> = event
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| !ENVELOPE.contains(&name.as_str()))
        .map(|(name, value)| Member {
            name: name.clone().into(),
            value: to_value(value),
        })
        .collect();
    let previous = vector["previous"].as_str();
    let chain = if vector["chained"] == true {
        Chain::After(previous)
    } else {
        Chain::Unchained
    };
    let line = encode(
        &envelope,
        &mut members,
        Level::Full,
        chain,
        &Redactor::default(),
    );
    let text = String::from_utf8(line.bytes).unwrap();
    assert_eq!(
        text,
        format!("{}\n", vector["line"].as_str().unwrap()),
        "{}",
        vector["id"]
    );
    assert_eq!(
        line.event_sha256.as_deref(),
        vector["event_sha256"].as_str(),
        "{}",
        vector["id"]
    );
}

fn raw(value: &J, plain: &str) -> Vec<u8> {
    match value.get(format!("{plain}_b64")).and_then(J::as_str) {
        Some(text) => STANDARD.decode(text).unwrap(),
        None => value[plain].as_str().unwrap().as_bytes().to_vec(),
    }
}

fn pairs(list: &J) -> Vec<(Vec<u8>, Vec<u8>)> {
    let bytes = |value: &J| match value.get("b64") {
        Some(text) => STANDARD.decode(text.as_str().unwrap()).unwrap(),
        None => value.as_str().unwrap().as_bytes().to_vec(),
    };
    list.as_array()
        .unwrap()
        .iter()
        .map(|pair| (bytes(&pair[0]), bytes(&pair[1])))
        .collect()
}

fn element(value: &J) -> Vec<u8> {
    match value.get("b64") {
        Some(text) => STANDARD.decode(text.as_str().unwrap()).unwrap(),
        None => value.as_str().unwrap().as_bytes().to_vec(),
    }
}

fn command_identity(vector: &J) {
    let facts = &vector["identity"];
    let text = |name: &str| facts[name].as_str().unwrap();
    let cwd = identity::cwd_sha256(&raw(facts, "cwd"));
    let environment = identity::environment_sha256(pairs(&facts["environment"]));
    let stdin = facts["stdin_b64"]
        .as_str()
        .map(|text| STANDARD.decode(text).unwrap());
    let stdin = stdin.filter(|bytes| !bytes.is_empty());
    let stdin_sha256 = stdin.as_ref().map(|bytes| sha256_hex(bytes));
    let identity = identity::CommandIdentity {
        manifest_sha256: text("manifest_sha256"),
        runtime_id: text("runtime_id"),
        request_kind: text("request_kind"),
        executable_path: &raw(facts, "executable_path"),
        executable_sha256: text("executable_sha256"),
        cwd_sha256: &cwd,
        environment_sha256: &environment,
        stdin_sha256: stdin_sha256.as_deref(),
        stdin_bytes: stdin.as_ref().map_or(0, |bytes| bytes.len() as u64),
        script_sha256: facts["script_sha256"].as_str(),
    };
    let argv = facts["argv"].as_array().unwrap().iter().map(element);
    assert_eq!(
        identity.command_sha256(argv),
        vector["command_sha256"],
        "{}",
        vector["id"]
    );
    assert_eq!(cwd, vector["cwd_sha256"]);
    assert_eq!(environment, vector["environment_sha256"]);
    assert_eq!(stdin_sha256.as_deref(), vector["stdin_sha256"].as_str());
    assert_eq!(identity.stdin_bytes, vector["stdin_bytes"]);
}

fn hmac(vector: &J) {
    let key = IntegrityKey::from_bytes(
        unhex(vector["key_hex"].as_str().unwrap())
            .try_into()
            .unwrap(),
    );
    let bytes = STANDARD
        .decode(vector["bytes_b64"].as_str().unwrap())
        .unwrap();
    let expected = vector["hmac_sha256"].as_str().unwrap();
    assert_eq!(key.hmac_hex(&[&bytes]), expected, "{}", vector["id"]);
    assert!(key.verifies(&[&bytes], expected));
    assert!(!key.verifies(&[&bytes, b"x"], expected));
}

fn head(vector: &J) {
    let key = IntegrityKey::from_bytes(
        unhex(vector["key_hex"].as_str().unwrap())
            .try_into()
            .unwrap(),
    );
    let head = Head {
        sequence: vector["sequence"].as_u64().unwrap(),
        event_sha256: vector["event_sha256"].as_str().unwrap().to_owned(),
    };
    let bytes = head.encode(&key);
    assert_eq!(
        String::from_utf8(bytes.clone()).unwrap(),
        vector["bytes"].as_str().unwrap()
    );
    assert_eq!(Head::decode(&bytes, &key), Ok(head));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(
            Head::decode(&changed, &key).is_err(),
            "byte {at} can be changed"
        );
    }
}

#[test]
fn identity_vectors() {
    let text = std::fs::read_to_string(corpus("identity.jsonl")).unwrap();
    let mut kinds = BTreeSet::new();
    for line in text.lines() {
        let vector: J = serde_json::from_str(line).unwrap();
        let id = &vector["id"];
        let kind = vector["kind"].as_str().unwrap().to_owned();
        match kind.as_str() {
            "stable_hash" => {
                let elements = vector["elements"].as_array().unwrap().iter().map(element);
                assert_eq!(identity::stable_hash(elements), vector["sha256"], "{id}");
            }
            "cwd" => {
                let cwd = raw(&vector, "cwd");
                assert_eq!(
                    identity::cwd_sha256(&cwd),
                    vector["grant_cwd_sha256"],
                    "{id}"
                );
                assert_eq!(sha256_hex(&cwd), vector["audit_cwd_sha256"], "{id}");
            }
            "environment" => {
                let digest = identity::environment_sha256(pairs(&vector["environment"]));
                assert_eq!(digest, vector["sha256"], "{id}");
            }
            "command" => command_identity(&vector),
            "audit_command" => {
                let argv: Vec<Vec<u8>> = vector["argv"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(element)
                    .collect();
                assert_eq!(
                    audit_command_sha256(&argv),
                    vector["command_sha256"],
                    "{id}"
                );
            }
            "audit_line" => audit_line(&vector),
            "hmac" => hmac(&vector),
            "head" => head(&vector),
            other => panic!("unknown kind {other}"),
        }
        kinds.insert(kind);
    }
    assert_eq!(kinds.len(), 8);
    assert_eq!(hex(&[0, 255]), "00ff");
}

/// Cutting the last event off a log with an anchor at its end, and changing bytes of events.
#[test]
fn golden_logs_cannot_be_changed() {
    let root = corpus("audit");
    let key = IntegrityKey::load_unchecked(&root.join("integrity.key"));
    let options = ValidationOptions {
        key: Some(&key),
        ..Default::default()
    };
    let (mut cut, mut changed) = (0, 0);
    for entry in std::fs::read_dir(&root).unwrap() {
        let directory = entry.unwrap().path();
        let source = directory.join("log.jsonl");
        if !directory.is_dir() {
            continue;
        }
        let report = validate(&source, options).unwrap();
        if !report.is_valid() || !report.chained || !report.warnings.is_empty() {
            continue;
        }
        let copy = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(&directory).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
        let log = copy.path().join("log.jsonl");
        let bytes = std::fs::read(&log).unwrap();
        let head_at_end = report
            .head
            .ok()
            .is_some_and(|head| Some(head.sequence) == report.last_sequence);
        if head_at_end {
            let end = bytes[..bytes.len() - 1]
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |at| at + 1);
            std::fs::write(&log, &bytes[..end]).unwrap();
            let errors = validate(&log, options).unwrap().errors;
            assert_eq!(
                sorted(&errors),
                BTreeSet::from(["shell.audit_truncated"]),
                "{source:?}"
            );
            cut += 1;
        }
        for at in (0..bytes.len())
            .step_by(331)
            .filter(|at| bytes[*at] != b'\n')
        {
            let mut other = bytes.clone();
            other[at] ^= 1;
            std::fs::write(&log, &other).unwrap();
            assert!(
                !validate(&log, options).unwrap().is_valid(),
                "{source:?} byte {at}"
            );
            changed += 1;
        }
    }
    assert!(cut >= 8 && changed > 500, "{cut} {changed}");
}
