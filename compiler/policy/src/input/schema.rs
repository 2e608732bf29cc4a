//! The JSON schema that is published for a tool (spec 03 section 4).

use super::{Field, InputMode, InputShape, Presence};

/// Schema text: members in their fixed order, no blanks. Count and size bounds are not part of it.
pub fn published_schema(shape: &InputShape) -> String {
    let fields = fields(shape);
    let mut out = String::from(r#"{"type":"object","properties":{"#);
    for (index, (field, _)) in fields.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        let kind = match field {
            Field::Arguments => r#"{"type":"array","items":{"type":"string"}}"#,
            _ => r#"{"type":"string"}"#,
        };
        out.push_str(&format!("\"{}\":{kind}", field.as_str()));
    }
    let required: Vec<String> = fields
        .iter()
        .filter(|(_, required)| *required)
        .map(|(field, _)| format!("\"{}\"", field.as_str()))
        .collect();
    out.push_str(&format!(
        r#"}},"required":[{}],"additionalProperties":false}}"#,
        required.join(",")
    ));
    out
}

/// Fields that the tool takes, in schema order, and whether each is required.
pub fn fields(shape: &InputShape) -> Vec<(Field, bool)> {
    let arguments = |mode| match mode {
        Presence::None => vec![],
        Presence::Optional => vec![(Field::Arguments, false)],
        Presence::Required => vec![(Field::Arguments, true)],
    };
    let mut fields = match shape.mode {
        InputMode::Fixed(rule) => arguments(rule.mode),
        InputMode::Structured => vec![(Field::Program, true), (Field::Arguments, true)],
        InputMode::Chain => vec![(Field::Command, true)],
        InputMode::Raw => vec![(Field::Script, true)],
        InputMode::Script => vec![(Field::Arguments, false)],
    };
    for (field, presence) in [
        (Field::Stdin, shape.stdin),
        (Field::Rationale, shape.rationale),
    ] {
        if presence != Presence::None {
            fields.push((field, presence == Presence::Required));
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::ArgumentRule;

    fn shape(mode: InputMode, stdin: Presence, rationale: Presence) -> InputShape {
        InputShape {
            mode,
            stdin,
            rationale,
            max_stdin_bytes: 0,
            declared_arguments: 0,
            reserved_bytes: 0,
        }
    }

    #[test]
    fn every_row_of_the_table() {
        use Presence::{None, Optional, Required};
        let fixed = |mode| {
            InputMode::Fixed(ArgumentRule {
                mode,
                ..ArgumentRule::default()
            })
        };
        let text = r#"{"type":"string"}"#;
        let array = r#"{"type":"array","items":{"type":"string"}}"#;
        for (mode, stdin, rationale, properties, required) in [
            (fixed(None), None, None, String::new(), ""),
            (
                fixed(Optional),
                None,
                None,
                format!(r#""arguments":{array}"#),
                "",
            ),
            (
                fixed(Required),
                None,
                None,
                format!(r#""arguments":{array}"#),
                r#""arguments""#,
            ),
            (
                InputMode::Structured,
                Optional,
                Required,
                format!(
                    r#""program":{text},"arguments":{array},"stdin":{text},"rationale":{text}"#
                ),
                r#""program","arguments","rationale""#,
            ),
            (
                InputMode::Chain,
                None,
                None,
                format!(r#""command":{text}"#),
                r#""command""#,
            ),
            (
                InputMode::Raw,
                Required,
                Optional,
                format!(r#""script":{text},"stdin":{text},"rationale":{text}"#),
                r#""script","stdin""#,
            ),
            (
                InputMode::Script,
                None,
                None,
                format!(r#""arguments":{array}"#),
                "",
            ),
        ] {
            assert_eq!(
                published_schema(&shape(mode, stdin, rationale)),
                format!(
                    r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
                )
            );
        }
    }
}
