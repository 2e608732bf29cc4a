//! `corpus/vectors/eval.jsonl`: documents, commands and facts in; effects, fired rules and outcomes
//! out (spec 06 sections 6 to 8 on the symbolic host of spec 12 section 2.5).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::evaluation::{
    CommandEvaluation, Detail, Request, RequestText, Scope, SymbolicEvaluation, evaluate,
};
use chatmd_compiler::manifest::{Manifest, Mode, Platform, Tool};
use chatmd_compiler::{CompileOptions, compile};
use chatmd_policy::ScriptsNotRun;
use chatmd_policy::symbolic::SymbolicFacts;
use serde_json::{Value, json};

fn manifest_of(document: &str) -> Manifest {
    let mut db = Database::new(MemoryFileSystem::default());
    let root = db.root_from_content(
        "agent.chatmd",
        Utf8Path::new("/doc"),
        Ok(document.as_bytes().to_vec().into()),
        None,
    );
    let compilation = compile(&db, root, &CompileOptions::for_platform(Platform::Linux));
    let manifest = compilation.manifest.clone().unwrap_or_else(|| {
        panic!(
            "document does not compile: {:?}\n{document}",
            compilation.diagnostics
        )
    });
    std::sync::Arc::unwrap_or_clone(manifest)
}

/// One command: its JSON as the vectors write it.
fn stage(command: &CommandEvaluation) -> Value {
    let mut set: Vec<String> = command
        .effects
        .iter()
        .map(|effect| match effect.path() {
            Some(path) => format!("{}:{path}", effect.kind().as_str()),
            None => effect.kind().as_str().to_owned(),
        })
        .collect();
    set.sort();
    set.dedup();
    json!({
        "argv": command.argv, "outcome": command.outcome.as_str(), "effects": set,
        "fired": command.decision.fired, "policy": command.decision.action.as_str(),
    })
}

/// The text of a case in the form that its target takes.
fn request(tool: Option<&Tool>, case: &Value) -> Request {
    let text = match (case, tool.map(|tool| &tool.mode)) {
        (Value::Array(words), _) => RequestText::Argv(
            words
                .iter()
                .map(|word| word.as_str().unwrap().to_owned())
                .collect(),
        ),
        (Value::String(text), Some(Mode::Raw { .. })) => RequestText::Script(text.clone()),
        (Value::String(text), _) => RequestText::Command(text.clone()),
        (other, _) => panic!("case {other}"),
    };
    Request::new(text)
}

fn run(case: &Value) -> Value {
    let manifest = manifest_of(case["document"].as_str().unwrap());
    let tool = case.get("tool").map(|name| {
        let found = manifest
            .tools
            .iter()
            .find(|tool| Some(tool.name.as_str()) == name.as_str());
        found.unwrap_or_else(|| panic!("no tool {name} among {:?}", manifest.tools))
    });
    let id = tool.map_or_else(
        || case["runtime"].as_str().unwrap(),
        |tool| tool.runtime.as_str(),
    );
    let runtime = manifest
        .runtimes
        .iter()
        .find(|runtime| runtime.id == id)
        .unwrap();
    let mut facts = SymbolicFacts::default();
    for fact in case
        .get("facts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        facts.add(fact.as_str().unwrap()).unwrap();
    }
    let host = SymbolicEvaluation::new(&manifest, runtime, facts, None).unwrap();
    let scope = Scope {
        manifest_sha256: "",
        runtime,
        tool,
        host: &host,
        compilation: None,
    };
    let request = request(tool, &case["case"]);
    let evaluated = |rules| {
        let detail = Detail {
            rules,
            extensions_pass: true,
            ..Detail::default()
        };
        evaluate(&scope, request.clone(), &mut ScriptsNotRun, detail).unwrap()
    };
    let evaluation = evaluated(false);
    let recorded = evaluated(true);
    for (plain, recorded) in evaluation.commands.iter().zip(&recorded.commands) {
        assert_eq!(
            plain.decision, recorded.decision,
            "an observer changed the decision"
        );
    }
    let stages: Vec<Value> = evaluation.commands.iter().map(stage).collect();
    let mut result = json!({"outcome": evaluation.outcome.as_str()});
    if stages.is_empty() {
        result["code"] = json!(evaluation.code);
    } else {
        result["stages"] = json!(stages);
    }
    if let [only] = stages.as_slice() {
        for member in ["effects", "fired", "policy"] {
            result[member] = only[member].clone();
        }
    }
    result
}

/// Whether every member that the vector has is as expected.
fn agrees(expected: &Value, got: &Value) -> bool {
    ["outcome", "effects", "fired", "policy", "code"]
        .iter()
        .all(|member| {
            expected
                .get(member)
                .is_none_or(|value| got.get(member) == Some(value))
        })
        && expected
            .get("stages")
            .and_then(Value::as_array)
            .is_none_or(|stages| {
                got["stages"].as_array().is_some_and(|found| {
                    found.len() == stages.len()
                        && stages.iter().zip(found).all(|(expected, got)| {
                            expected["argv"] == got["argv"] && agrees(expected, got)
                        })
                })
            })
}

#[test]
fn every_vector() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../corpus/vectors/eval.jsonl"
    );
    let text = std::fs::read_to_string(path).expect("eval vectors");
    let mut failures = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let mut case: Value = serde_json::from_str(line).unwrap();
        count += 1;
        let got = run(&case);
        if !agrees(&case, &got) {
            case.as_object_mut().unwrap().remove("document");
            failures.push(format!("want {case}\n got {got}"));
        }
    }
    assert!(count > 150, "only {count} vectors");
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
