//! `corpus/vectors/eval.jsonl`: documents, commands and facts in; effects, fired rules and outcomes
//! out (spec 06 sections 6 to 8 on the symbolic host of spec 12 section 2.5).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::manifest::{
    ApprovalProvider, FixedArg, Manifest, Mode, Platform, Runtime, Tool,
};
use chatmd_compiler::symbolic::{SymbolicDirectories, SymbolicRuntime, symbolic_runtime};
use chatmd_compiler::{CompileOptions, compile};
use chatmd_policy::facts::StdinKind;
use chatmd_policy::symbolic::SymbolicFacts;
use chatmd_policy::{
    Action, CommandFacts, Decision, NoObserver, Observer, RequestKind, RuleEvaluation,
    ScriptsNotRun, chain, check_capabilities, decide, infer_effects,
};
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

struct Everything;

impl Observer for Everything {
    fn wants_rules(&self) -> bool {
        true
    }

    fn rule(&mut self, _: RuleEvaluation<'_>) {}
}

/// One command: its JSON as the vectors write it.
fn stage(
    symbolic: &SymbolicRuntime,
    runtime: &Runtime,
    kind: RequestKind,
    argv: Vec<String>,
    script: Option<String>,
) -> Value {
    let facts = CommandFacts {
        executable: symbolic.host.resolve(&argv[0], &symbolic.cwd),
        cwd: symbolic.cwd.clone(),
        kind,
        script,
        stdin: StdinKind::Empty,
        stdin_bytes: 0,
        environment: symbolic.environment.clone(),
        argv,
    };
    let policy = &symbolic.policy;
    let effects = infer_effects(&facts, &symbolic.host, policy.direct());
    let failures = check_capabilities(policy.capabilities(), &effects, &symbolic.host);
    let one = |observer: &mut dyn Observer| -> Decision {
        decide(
            policy,
            &facts,
            &effects,
            &symbolic.host,
            &mut ScriptsNotRun,
            observer,
        )
    };
    let decision = one(&mut NoObserver);
    assert_eq!(
        decision,
        one(&mut Everything),
        "an observer changed the decision"
    );
    let nobody = runtime.approvals.provider == ApprovalProvider::None
        && runtime.reviewers.entries.is_empty();
    let outcome = if facts.executable.is_none() {
        "unresolvable"
    } else if !failures.is_empty() {
        "would_reject"
    } else {
        match decision.action {
            Action::Allow => "would_run",
            Action::Ask if nobody => "would_deny",
            Action::Ask => "would_ask",
            Action::Deny => "would_deny",
        }
    };
    let mut set: Vec<String> = effects
        .iter()
        .map(|effect| match effect.path() {
            Some(path) => format!("{}:{path}", effect.kind().as_str()),
            None => effect.kind().as_str().to_owned(),
        })
        .collect();
    set.sort();
    set.dedup();
    json!({
        "argv": facts.argv, "outcome": outcome, "effects": set, "fired": decision.fired,
        "policy": decision.action.as_str(),
    })
}

fn words(case: &Value) -> Vec<String> {
    match case {
        Value::Array(words) => words
            .iter()
            .map(|w| w.as_str().unwrap().to_owned())
            .collect(),
        Value::String(text) if text.trim().is_empty() => Vec::new(),
        Value::String(text) => chain::parse(text).unwrap().single().unwrap().to_vec(),
        other => panic!("case {other}"),
    }
}

/// Kind, argv and script.
type CaseCommand = (RequestKind, Vec<String>, Option<String>);

/// The commands of a case, or the code of a refused input.
fn commands(
    manifest: &Manifest,
    tool: Option<&Tool>,
    case: &Value,
) -> Result<Vec<CaseCommand>, &'static str> {
    let structured = |argv| (RequestKind::Structured, argv, None);
    let directories = SymbolicDirectories::new(manifest);
    Ok(match tool.map(|tool| &tool.mode) {
        None if case.is_array() => vec![structured(words(case))],
        None | Some(Mode::Chain {}) => chain::parse(case.as_str().unwrap())
            .map_err(chain::ChainFault::code)?
            .commands()
            .map(|argv| structured(argv.clone()))
            .collect(),
        Some(Mode::Structured {}) => vec![structured(words(case))],
        Some(Mode::Fixed {
            program,
            executable_ref,
            arguments,
            ..
        }) => {
            let mut argv = vec![program.clone().or(executable_ref.clone()).unwrap()];
            argv.extend(arguments.iter().map(|argument| match argument {
                FixedArg::Literal { value } => value.clone(),
                FixedArg::Path { path } => directories.resolve(path),
                FixedArg::SecretEnv { .. } => panic!("no vector has a secret argument"),
            }));
            argv.extend(words(case));
            vec![structured(argv)]
        }
        Some(Mode::Raw {
            executable,
            arguments_before_script,
        }) => {
            let script = case.as_str().unwrap().to_owned();
            let mut argv = vec![directories.resolve(executable)];
            argv.extend(arguments_before_script.iter().cloned());
            argv.push(script.clone());
            vec![(RequestKind::RawShell, argv, Some(script))]
        }
        Some(Mode::Script { .. }) => panic!("no vector has a script tool"),
    })
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
    let symbolic = symbolic_runtime(&manifest, runtime, facts, None).unwrap();
    let commands = match commands(&manifest, tool, &case["case"]) {
        Ok(commands) => commands,
        Err(code) => return json!({"outcome": "would_reject", "code": code}),
    };
    let stages: Vec<Value> = commands
        .into_iter()
        .map(|(kind, argv, script)| stage(&symbolic, runtime, kind, argv, script))
        .collect();
    let rank = |stage: &Value| match stage["outcome"].as_str().unwrap() {
        "would_run" => 0,
        "would_ask" => 1,
        "would_deny" => 2,
        _ => 3,
    };
    let worst = stages.iter().max_by_key(|stage| rank(stage)).unwrap();
    let mut result = json!({"outcome": worst["outcome"], "stages": stages});
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
