//! `chatmd tools --format …` has the form that its readers demand (spec 10 section 3.2), and every
//! input schema in it is a strict JSON Schema that accepts and refuses what it should.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use chatmd_tests::Project;
use jsonschema::Validator;
use serde_json::{Value, json};

/// One tool of each mode that needs no further file, in one runtime.
const DOCUMENT: &str = r#"<shell_access id="r" extends="builtin:workspace-development@1"/>
<tool name="ls" type="shell" mode="fixed" runtime="r" command="ls" description="Lists files."/>
<tool name="any" type="shell" mode="structured" runtime="r" rationale="required" result="structured"/>
<tool name="chain" type="shell" mode="chain" runtime="r" stdin="optional" result="structured"/>
"#;

/// Names that model providers accept.
const NAME: &str = "^[A-Za-z0-9_-]{1,64}$";

/// The schema of an input schema: an object that is closed.
fn input_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type", "properties", "additionalProperties"],
        "properties": {
            "type": { "const": "object" },
            "properties": { "type": "object" },
            "required": { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
            "additionalProperties": { "const": false }
        }
    })
}

/// A closed object with these members, all of them required.
fn closed(members: Value) -> Value {
    let names: Vec<&String> = members.as_object().unwrap().keys().collect();
    json!({
        "type": "object",
        "required": names,
        "properties": members,
        "additionalProperties": false
    })
}

/// What one tool looks like in a format.
fn tool(format: &str) -> Value {
    let (name, text) = (
        json!({ "type": "string", "pattern": NAME }),
        json!({ "type": "string" }),
    );
    match format {
        "openai" => closed(json!({
            "type": { "const": "function" },
            "function": closed(json!({
                "name": name, "description": text, "parameters": input_schema()
            }))
        })),
        "anthropic" => closed(json!({
            "name": name, "description": text, "input_schema": input_schema()
        })),
        _ => closed(json!({
            "name": name,
            "title": text,
            "description": text,
            "inputSchema": input_schema(),
            "annotations": closed(json!({
                "readOnlyHint": { "type": "boolean" },
                "destructiveHint": { "type": "boolean" },
                "openWorldHint": { "type": "boolean" }
            }))
        })),
    }
}

fn validator(schema: &Value) -> Validator {
    assert!(jsonschema::meta::is_valid(schema), "{schema:#}");
    jsonschema::validator_for(schema).unwrap()
}

/// The tools of the document in a format, checked against its schema.
fn listed(format: &str) -> Vec<Value> {
    let project = Project::new(DOCUMENT);
    let outcome = project.chatmd(&["tools", "--format", format, "agent.chatmd"]);
    outcome.expect(0);
    assert_eq!(outcome.stderr, "");
    let value: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let list = json!({ "type": "array", "minItems": 3, "maxItems": 3, "items": tool(format) });
    let schema = match format {
        "mcp" => closed(json!({ "tools": list })),
        _ => list,
    };
    let errors: Vec<String> = validator(&schema)
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{format}: {errors:#?}\n{value:#}");
    let tools = if format == "mcp" {
        &value["tools"]
    } else {
        &value
    };
    tools.as_array().unwrap().clone()
}

#[test]
fn every_format_has_its_form_and_strict_inputs() {
    let inputs = |format: &str, pointer: &str| -> Vec<Value> {
        let tools = listed(format);
        let inputs = tools
            .iter()
            .map(|tool| tool.pointer(pointer).unwrap().clone());
        inputs.collect()
    };
    let openai = inputs("openai", "/function/parameters");
    assert_eq!(openai, inputs("anthropic", "/input_schema"));
    assert_eq!(openai, inputs("mcp", "/inputSchema"));

    let cases = [
        ("ls", json!({ "arguments": ["src"] }), true),
        ("ls", json!({ "arguments": "src" }), false),
        ("ls", json!({ "arguments": [], "program": "sh" }), false),
        (
            "any",
            json!({ "program": "ls", "arguments": [], "rationale": "look" }),
            true,
        ),
        ("any", json!({ "program": "ls", "arguments": [] }), false),
        (
            "chain",
            json!({ "command": "ls | wc -l", "stdin": "text" }),
            true,
        ),
        ("chain", json!({ "command": 1 }), false),
        ("chain", json!({}), false),
    ];
    let tools = listed("openai");
    for (name, input, accepted) in cases {
        let tool = tools.iter().find(|tool| tool["function"]["name"] == name);
        let schema = validator(&tool.unwrap()["function"]["parameters"]);
        assert_eq!(schema.is_valid(&input), accepted, "{name}: {input}");
    }
}

#[test]
fn hints_say_what_the_runtime_could_do() {
    for tool in listed("mcp") {
        let hints =
            json!({ "readOnlyHint": false, "destructiveHint": true, "openWorldHint": false });
        assert_eq!(tool["annotations"], hints, "{tool:#}");
    }
}
