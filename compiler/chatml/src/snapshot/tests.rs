#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::types::parse_type;

fn ty(text: &str) -> TypeGraph {
    parse_type(text, &|_| None).unwrap()
}

fn sample() -> Data {
    Data::record([
        ("unit", Data::Unit),
        ("flag", Data::Bool(true)),
        ("low", Data::Int(i64::MIN)),
        ("ratio", Data::Float(0.1)),
        ("whole", Data::Float(7.0)),
        ("text", Data::string("a\"\u{1}é\n")),
        ("list", Data::strings(["x", ""])),
        (
            "choice",
            Data::variant(
                "Pair",
                vec![Data::Int(1), Data::variant("None", Vec::new())],
            ),
        ),
    ])
}

#[test]
fn the_tagged_form_is_that_of_the_spec() {
    let data = Data::record([
        ("a", Data::Int(-3)),
        ("b", Data::variant("T", vec![Data::Float(0.5), Data::Unit])),
    ]);
    assert_eq!(
        encode(&data),
        r#"{"t":"record","v":{"a":{"t":"int","v":"-3"},"b":{"t":"variant","tag":"T","v":[{"t":"float","v":"0.5"},{"t":"unit"}]}}}"#
    );
}

#[test]
fn what_is_encoded_is_decoded() {
    assert_eq!(decode(&encode(&sample()), 32).unwrap(), sample());
    for value in [0.0, -0.0, 1e300, f64::MIN_POSITIVE, 123_456_789.125] {
        let Data::Float(back) = decode(&encode(&Data::Float(value)), 0).unwrap() else {
            unreachable!("a float")
        };
        assert_eq!(back.to_bits(), value.to_bits());
    }
}

#[test]
fn malformed_states_are_refused() {
    for text in [
        "",
        "7",
        "[]",
        r#"{"t":"int","v":7}"#,
        r#"{"t":"int","v":"9223372036854775808"}"#,
        r#"{"t":"int","v":"+1"}"#,
        r#"{"t":"int","v":"01"}"#,
        r#"{"t":"int"}"#,
        r#"{"t":"number","v":"1"}"#,
        r#"{"t":"unit","v":null}"#,
        r#"{"t":"unit","x":1}"#,
        r#"{"t":"unit","t":"unit"}"#,
        r#"{"v":"1"}"#,
        r#"{"t":"float","v":"inf"}"#,
        r#"{"t":"float","v":"NaN"}"#,
        r#"{"t":"float","v":"1e999"}"#,
        r#"{"t":"bool","v":"true"}"#,
        r#"{"t":"record","v":{"a":{"t":"unit"},"a":{"t":"unit"}}}"#,
        r#"{"t":"variant","v":[]}"#,
        r#"{"t":"variant","tag":"a b","v":[]}"#,
        r#"{"t":"array","tag":"x","v":[]}"#,
        r#"{"t":"unit"} "#.repeat(2).as_str(),
    ] {
        assert!(decode(text, 32).is_err(), "{text}");
    }
}

#[test]
fn depth_counts_from_the_root() {
    let nested = |depth: usize| (0..depth).fold(Data::Unit, |inner, _| Data::Array(vec![inner]));
    assert!(decode(&encode(&nested(4)), 4).is_ok());
    assert!(decode(&encode(&nested(5)), 4).is_err());
    assert!(decode(&encode(&nested(1024)), 1024).is_ok());
    let bomb = "{\"t\":\"array\",\"v\":[".repeat(100_000);
    assert!(decode(&bomb, 1024).is_err());
}

#[test]
fn a_state_of_another_type_is_foreign() {
    let limits = Limits::default();
    let state = "{ used : int; last : [ `None | `Some(string) ] }";
    let good = Data::record([
        ("used", Data::Int(1)),
        ("last", Data::option(Some(Data::string("x")))),
    ]);
    assert_eq!(restore(&encode(&good), &limits, &ty(state)).unwrap(), good);
    for (bad, path) in [
        (Data::Unit, "root"),
        (Data::record([("used", Data::Int(1))]), "root"),
        (
            Data::record([("used", Data::Float(1.0)), ("last", Data::option(None))]),
            "root.used",
        ),
        (
            Data::record([
                ("used", Data::Int(1)),
                ("last", Data::variant("Other", Vec::new())),
            ]),
            "root.last",
        ),
        (
            Data::record([
                ("used", Data::Int(1)),
                ("last", Data::variant("Some", Vec::new())),
            ]),
            "root.last",
        ),
        (
            Data::record([
                ("used", Data::Int(1)),
                ("last", Data::option(Some(Data::Int(2)))),
            ]),
            "root.last.Some[0]",
        ),
        (
            Data::record([
                ("used", Data::Int(1)),
                ("last", Data::option(None)),
                ("extra", Data::Unit),
            ]),
            "root",
        ),
    ] {
        let error = restore(&encode(&bad), &limits, &ty(state)).unwrap_err();
        assert!(error.message.starts_with(&format!("{path}:")), "{error}");
    }
}

#[test]
fn limits_come_before_the_type() {
    let limits = Limits {
        max_array_items: 2,
        ..Limits::default()
    };
    let error = restore(
        &encode(&Data::strings(["a", "b", "c"])),
        &limits,
        &ty("int"),
    )
    .unwrap_err();
    assert!(error.message.contains("more than 2 items"), "{error}");
}

#[test]
fn hidden_fields_are_no_part_of_the_state() {
    let wide = Data::Array(vec![Data::record([
        ("a", Data::Int(1)),
        ("b", Data::Int(2)),
    ])]);
    let narrow = Data::Array(vec![Data::record([("a", Data::Int(1))])]);
    assert_eq!(project(wide, &ty("{ a : int } array")).unwrap(), narrow);
    assert!(project(Data::Unit, &ty("{ a : int } array")).is_err());
}
