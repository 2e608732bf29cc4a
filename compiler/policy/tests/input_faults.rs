//! What a refused input names, and how a rationale is cut (spec 03 section 6).
#![allow(clippy::unwrap_used, missing_docs)]

use chatmd_policy::input::{
    ArgumentRule, InputMode, InputShape, Presence, cut_rationale, validate,
};

fn shape(mode: InputMode) -> InputShape {
    InputShape {
        mode,
        stdin: Presence::None,
        rationale: Presence::None,
        max_stdin_bytes: 1 << 20,
        declared_arguments: 0,
        reserved_bytes: 0,
    }
}

#[test]
fn a_rationale_is_cut_at_a_character_boundary() {
    assert_eq!(cut_rationale("why"), "why");
    assert_eq!(cut_rationale(&"a".repeat(5_000)).len(), 4_096);
    // The 4,096th byte is the first of two.
    let text = format!("{}é{}", "a".repeat(4_095), "b".repeat(10));
    assert_eq!(cut_rationale(&text), "a".repeat(4_095));
}

#[test]
fn a_fault_names_the_field_that_it_is_about() {
    let fixed = || {
        shape(InputMode::Fixed(ArgumentRule {
            mode: Presence::Required,
            min_count: 1,
            max_count: 2,
            max_item_bytes: 4,
        }))
    };
    for (input, shape, field) in [
        (r#"{"arguments":[]}"#, fixed(), Some("arguments")),
        (r#"{"arguments":["a","b","c"]}"#, fixed(), Some("arguments")),
        (r#"{"arguments":["abcde"]}"#, fixed(), Some("arguments")),
        (r#"{"arguments":["a"],"stdin":"x"}"#, fixed(), Some("stdin")),
        (
            r#"{"arguments":["a"],"rationale":"x"}"#,
            fixed(),
            Some("rationale"),
        ),
        (r#"{"arguments":["a"],"other":"x"}"#, fixed(), Some("other")),
        (
            r#"{"arguments":["a"],"program":"x"}"#,
            fixed(),
            Some("program"),
        ),
        (
            r#"{"arguments":[]}"#,
            shape(InputMode::Structured),
            Some("program"),
        ),
        (
            r#"{"command":"a ("}"#,
            shape(InputMode::Chain),
            Some("command"),
        ),
        ("[]", fixed(), None),
        ("{", fixed(), None),
    ] {
        let fault = validate(input.as_bytes(), &shape).unwrap_err();
        assert_eq!(fault.field(), field, "{input}: {fault}");
    }
}
