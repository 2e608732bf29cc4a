//! `corpus/vectors/payload.jsonl`: tool input validation, golden data.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use chatmd_policy::chain::ChainFault;
use chatmd_policy::input::{ArgumentRule, InputFault, InputMode, InputShape, Presence, validate};
use serde_json::{Value, json};

fn presence(value: Option<&Value>) -> Presence {
    value.map_or(Presence::None, |value| {
        serde_json::from_value(value.clone()).unwrap()
    })
}

fn shape(tool: &Value) -> InputShape {
    let rule = |rule: &Value| ArgumentRule {
        mode: presence(rule.get("mode")),
        min_count: rule.get("min_count").map_or_else(
            || u64::from(presence(rule.get("mode")) == Presence::Required),
            |value| value.as_u64().unwrap(),
        ),
        max_count: rule
            .get("max_count")
            .map_or(4096, |value| value.as_u64().unwrap()),
        max_item_bytes: rule
            .get("max_item_bytes")
            .map_or(131_071, |v| v.as_u64().unwrap()),
    };
    InputShape {
        mode: match tool["mode"].as_str().unwrap() {
            "fixed" => InputMode::Fixed(tool.get("arguments").map_or_else(Default::default, rule)),
            "structured" => InputMode::Structured,
            "chain" => InputMode::Chain,
            "raw" => InputMode::Raw,
            "script" => InputMode::Script,
            other => panic!("mode {other}"),
        },
        stdin: presence(tool.get("stdin")),
        rationale: presence(tool.get("rationale")),
        max_stdin_bytes: tool
            .get("max_stdin")
            .map_or(1 << 20, |value| value.as_u64().unwrap()),
        declared_arguments: 0,
        reserved_bytes: 0,
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        bits = (bits << 6) | u32::from(digit(byte));
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

#[test]
fn every_vector() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../corpus/vectors/payload.jsonl"
    );
    let text = std::fs::read_to_string(path).expect("payload vectors");
    let mut failures = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        count += 1;
        let bytes = match case.get("payload_b64") {
            Some(encoded) => base64(encoded.as_str().unwrap()),
            None => {
                let mut text = case["payload"].as_str().unwrap().to_owned();
                for (marker, fill) in case
                    .get("fill")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                {
                    let times = usize::try_from(fill[1].as_u64().unwrap()).unwrap();
                    text = text.replace(marker, &fill[0].as_str().unwrap().repeat(times));
                }
                text.into_bytes()
            }
        };
        let got = match validate(&bytes, &shape(&case["tool"])) {
            Ok(_) => json!({"ok": true}),
            Err(fault) => {
                let mut got = json!({"ok": false, "code": fault.code()});
                if let InputFault::Chain(ChainFault::Syntax { offset, .. }) = fault {
                    got["offset"] = json!(offset);
                }
                got
            }
        };
        if ["ok", "code", "offset"]
            .iter()
            .any(|m| case.get(m).is_some() && case.get(m) != got.get(m))
        {
            failures.push(format!("{}: got {got}, want {line:.200}", case["id"]));
        }
    }
    assert!(count > 90, "only {count} vectors");
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Fixed messages of spec 06 section 12.2.
#[test]
fn messages() {
    let with = |mode, stdin, rationale| InputShape {
        mode,
        stdin,
        rationale,
        max_stdin_bytes: 4,
        declared_arguments: 1,
        reserved_bytes: 0,
    };
    use Presence::{None, Optional, Required};
    let structured = with(InputMode::Structured, None, None);
    let none = ArgumentRule {
        mode: None,
        ..ArgumentRule::default()
    };
    for (payload, shape, message) in [
        (r#"{"stdin":""}"#, structured, "stdin is disabled"),
        (
            "{}",
            with(InputMode::Chain, Required, None),
            "stdin is required",
        ),
        (
            r#"{"stdin":"12345"}"#,
            with(InputMode::Chain, Optional, None),
            "stdin exceeds the runtime limit",
        ),
        (r#"{"rationale":""}"#, structured, "rationale is disabled"),
        (
            r#"{"rationale":" "}"#,
            with(InputMode::Raw, None, Required),
            "rationale is required",
        ),
        (
            r#"{"command":"x"}"#,
            structured,
            "command is not valid for this mode",
        ),
        (r#"{"program":""}"#, structured, "program is required"),
        (r#"{"program":"a"}"#, structured, "arguments are required"),
        (
            "{}",
            with(InputMode::Chain, None, None),
            "command is required",
        ),
        (
            r#"{"script":"\n"}"#,
            with(InputMode::Raw, None, None),
            "script is required",
        ),
        (
            r#"{"arguments":[]}"#,
            with(InputMode::Fixed(none), None, None),
            "arguments are disabled",
        ),
        (
            r#"{"a":1}"#,
            structured,
            "unknown shell tool input field: a",
        ),
        (r#"{"a":1,"a":1}"#, structured, "duplicate input field: a"),
        (
            r#"{"command":"a >b"}"#,
            with(InputMode::Chain, None, None),
            "command parse failed at byte 2: redirection is not supported by structured execution",
        ),
    ] {
        assert_eq!(
            validate(payload.as_bytes(), &shape)
                .unwrap_err()
                .to_string(),
            message
        );
    }
}
