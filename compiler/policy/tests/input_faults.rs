//! What a refused input names, and how a rationale is cut (spec 03 section 6).
#![allow(clippy::unwrap_used, missing_docs)]

use chatmd_policy::bounds::MAX_ARGV_AND_ENVIRONMENT_BYTES;
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
        (
            r#"{"arguments":["a"],"command":"x"}"#,
            fixed(),
            Some("command"),
        ),
        (
            r#"{"arguments":["a"],"script":"x"}"#,
            fixed(),
            Some("script"),
        ),
        (
            r#"{"program":"a","arguments":[],"script":"x"}"#,
            shape(InputMode::Structured),
            Some("script"),
        ),
        (
            r#"{"program":"a","arguments":[],"command":"x"}"#,
            shape(InputMode::Structured),
            Some("command"),
        ),
        (
            r#"{"command":"a","program":"x"}"#,
            shape(InputMode::Chain),
            Some("program"),
        ),
        (
            r#"{"command":"a","script":"x"}"#,
            shape(InputMode::Chain),
            Some("script"),
        ),
        (
            r#"{"command":"a","arguments":["x"]}"#,
            shape(InputMode::Chain),
            Some("arguments"),
        ),
        (
            r#"{"program":"a\u0000","arguments":[]}"#,
            shape(InputMode::Structured),
            Some("program"),
        ),
        ("[]", fixed(), None),
        ("{", fixed(), None),
    ] {
        let fault = validate(input.as_bytes(), &shape).unwrap_err();
        assert_eq!(fault.field(), field, "{input}: {fault}");
    }
}

/// Program, arguments and what the runtime adds share one bound (spec 06 section 4.3).
#[test]
fn the_bytes_of_a_command_are_counted_together() {
    let reserved = |bytes: usize| InputShape {
        reserved_bytes: MAX_ARGV_AND_ENVIRONMENT_BYTES - bytes,
        ..shape(InputMode::Structured)
    };
    let input = br#"{"program":"abc","arguments":["de","f"]}"#;
    assert!(validate(input, &reserved(6)).is_ok());
    for bytes in [5, 3, 2, 0] {
        let fault = validate(input, &reserved(bytes)).unwrap_err();
        assert_eq!(fault.code(), "shell.tool_argument_too_large", "{bytes}");
    }
}

#[test]
fn empty_standard_input_is_none() {
    let shape = InputShape {
        stdin: Presence::Optional,
        ..shape(InputMode::Chain)
    };
    let stdin = |input: &[u8]| validate(input, &shape).unwrap().stdin;
    assert_eq!(stdin(br#"{"command":"ls","stdin":""}"#), None);
    assert_eq!(
        stdin(br#"{"command":"ls","stdin":" "}"#).as_deref(),
        Some(" ")
    );
}
