//! `corpus/vectors/chain.jsonl`: the conservative parser, golden data.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use chatmd_policy::chain::{self, ChainFault};
use serde_json::{Value, json};

#[test]
fn every_vector() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../corpus/vectors/chain.jsonl"
    );
    let text = std::fs::read_to_string(path).expect("chain vectors");
    let mut failures = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        count += 1;
        let command = case["command"].as_str().unwrap();
        let got = match chain::parse(command) {
            Ok(chain) => json!({
                "ok": true,
                "pipelines": chain.pipelines.iter().map(|p| p.stages.clone()).collect::<Vec<_>>(),
                "ops": chain.operators.iter().map(|op| op.as_str()).collect::<Vec<_>>(),
            }),
            Err(fault @ ChainFault::Syntax { offset, reason }) => json!({
                "ok": false, "offset": offset, "reason": reason.as_str(), "code": fault.code(),
            }),
            Err(fault @ ChainFault::TooLarge(_)) => json!({ "ok": false, "code": fault.code() }),
        };
        for (member, expected) in case.as_object().unwrap() {
            if matches!(member.as_str(), "id" | "command" | "note" | "group") {
                continue;
            }
            if got.get(member) != Some(expected) {
                failures.push(format!(
                    "{} {command:?}\n  want {case}\n  got  {got}",
                    case["id"]
                ));
                break;
            }
        }
    }
    assert!(count > 200, "only {count} vectors");
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Refusals at the edges of words and lines.
#[test]
fn edges_of_words_and_lines() {
    for (text, expected) in [
        ("\n ls a \n", "ls a"),
        ("ls a\nrm b", "4: control character is not supported"),
        ("ls\nrm", "2: control character is not supported"),
        ("ls \nrm", "3: control character is not supported"),
        ("ls |\nrm", "4: control character is not supported"),
        ("ls;\nrm", "3: control character is not supported"),
        ("A=b ls", "0: variable assignment is not supported"),
        ("A+=b ls", "0: variable assignment is not supported"),
        ("A+b ls", "A+b ls"),
        ("[ a", "[ a"),
        ("a [ b", "a [ b"),
        ("a [& b", "2: glob expansion is not supported"),
        ("a [&& b", "a [|b"),
        ("a [[ b", "2: glob expansion is not supported"),
        ("ls;", "ls"),
        ("ls; ;", "4: expected a command"),
        ("ls; rm |", "8: expected a command"),
    ] {
        let got = match chain::parse(text) {
            Ok(chain) => chain
                .commands()
                .map(|argv| argv.join(" "))
                .collect::<Vec<_>>()
                .join("|"),
            Err(ChainFault::Syntax { offset, reason }) => format!("{offset}: {reason}"),
            Err(fault) => fault.to_string(),
        };
        assert_eq!(got, expected, "{text:?}");
    }
}
