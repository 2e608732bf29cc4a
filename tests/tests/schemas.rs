//! What the programs print is valid under what `chatmdc schema` prints (spec 10 section 2.10).
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;

use chatmd_tests::python::commit_all;
use chatmd_tests::{Project, assert_sarif_refers_right, repository, sarif_schema};
use jsonschema::Validator;
use serde_json::{Value, json};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of that name, itself checked against the metaschema.
fn schema(project: &Project, words: &[&str]) -> Validator {
    let outcome = project.chatmdc(&[&["schema"], words].concat());
    outcome.expect(0);
    let value: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(value["$schema"], DIALECT);
    assert!(jsonschema::meta::is_valid(&value), "{words:?}");
    jsonschema::validator_for(&value).unwrap()
}

#[track_caller]
fn valid(schema: &Validator, value: &Value, what: &str) {
    let errors: Vec<String> = schema
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}\n{value:#}");
}

fn example(name: &str) -> String {
    fs::read_to_string(repository().join("corpus/examples").join(name)).unwrap()
}

#[test]
fn diagnostics_of_every_error_vector() {
    let project = Project::new("");
    let schema = schema(&project, &["diagnostics"]);
    let folder = repository().join("corpus/vectors/errors");
    let mut met = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let document = entry.unwrap().path().join("agent.chatmd");
        if document.is_file() {
            let name = document.display().to_string();
            let outcome = project.chatmdc(&["check", "--format", "json", &name]);
            let mut report: Value = serde_json::from_str(&outcome.stdout).unwrap();
            valid(&schema, &report, &name);
            met += report["diagnostics"].as_array().unwrap().len();
            report["diagnostics"][0]["line"] = json!(0);
            assert!(!schema.is_valid(&report), "lines count from 1");
        }
    }
    assert!(met > 80, "{met} diagnostics");
    let outcome = project.chatmdc(&["check", "--format", "json", "none.chatmd"]);
    valid(
        &schema,
        &serde_json::from_str(&outcome.stdout).unwrap(),
        "unreadable",
    );
}

#[test]
fn reports_of_tests_and_lines_beside_a_document() {
    let document = "<shell_access id=\"r\"><policy default=\"deny\"/>\
                    <!-- expect deny: ls --><!-- expect allow: git push --></shell_access>\n";
    let line = json!({"id": "p7", "runtime": "r", "expect": "deny", "argv": ["git", "push"],
        "default": true, "given": ["env A=b"], "platform": ["linux"], "stdin": 0});
    let project = Project::new(document);
    project.write("agent.chatmd.tests.jsonl", format!("{line}\n"));
    let sidecar = schema(&project, &["tests-sidecar"]);
    valid(&sidecar, &line, "line");
    for wrong in [
        json!({"runtime": "r", "expect": "deny"}),
        json!({"runtime": "r", "expect": "deny", "command": "x", "argv": ["x"]}),
        json!({"expect": "deny", "command": "x"}),
        json!({"runtime": "r", "expect": "denied", "command": "x"}),
        json!({"runtime": "r", "expect": "deny", "command": "x", "comment": "x"}),
    ] {
        assert!(!sidecar.is_valid(&wrong), "{wrong}");
    }
    let report = schema(&project, &["test-report"]);
    let outcome = project.chatmdc(&[
        "test",
        "--format",
        "json",
        "--coverage",
        "--mutate",
        "agent.chatmd",
    ]);
    outcome.expect(1);
    let mut value: Value = serde_json::from_str(&outcome.stdout).unwrap();
    valid(&report, &value, "report");
    assert_eq!(value["cases"].as_array().unwrap().len(), 3);
    value["cases"][0]["status"] = json!("fine");
    assert!(!report.is_valid(&value));
}

#[test]
fn sarif_of_every_error_vector() {
    let schema = sarif_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let schema = jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap();
    let project = Project::new("");
    let mut met = 0;
    for entry in fs::read_dir(repository().join("corpus/vectors/errors")).unwrap() {
        let document = entry.unwrap().path().join("agent.chatmd");
        if document.is_file() {
            let name = document.display().to_string();
            let outcome = project.chatmdc(&["check", "--format", "sarif", &name]);
            assert_eq!(outcome.stderr, "");
            let mut log: Value = serde_json::from_str(&outcome.stdout).unwrap();
            valid(&schema, &log, &name);
            assert_sarif_refers_right(&log);
            met += log["runs"][0]["results"].as_array().unwrap().len();
            log["runs"][0]["results"][0]["level"] = json!("info");
            assert!(!schema.is_valid(&log), "the levels of SARIF are closed");
        }
    }
    assert!(met > 80, "{met} results");
}

#[test]
fn manifests_of_every_vector_and_their_bundles() {
    let project = Project::new("");
    let schema = schema(&project, &["manifest"]);
    let mut met = 0;
    for entry in fs::read_dir(repository().join("corpus/vectors/manifest")).unwrap() {
        let document = entry
            .unwrap()
            .path()
            .join("agent.chatmd")
            .display()
            .to_string();
        for form in [&["--pretty"][..], &["--bundle"]] {
            let outcome = project.chatmdc(&[&["manifest"], form, &[&document]].concat());
            // Some vectors are for another platform, and literal secrets have no bundle.
            if outcome.status == Some(0) {
                let mut value: Value = serde_json::from_str(&outcome.stdout).unwrap();
                valid(&schema, &value, &document);
                met += 1;
                value["surprise"] = json!(1);
                assert!(
                    !schema.is_valid(&value),
                    "members that nobody knows are refused"
                );
            }
        }
    }
    assert!(met > 40, "{met} manifests");
    let bound = Project::new(&example("repository-search.chatmd"));
    let outcome = bound.chatmdc(&["manifest", "--bound", "agent.chatmd"]);
    valid(
        &schema,
        &serde_json::from_str(&outcome.stdout).unwrap(),
        "bound",
    );
}

#[test]
fn graphs_of_every_vector_and_of_a_cycle() {
    let project = Project::new("");
    let schema = schema(&project, &["graph"]);
    let graph = |words: &[&str], what: &str| -> Value {
        let outcome = project.chatmdc(&[&["graph", "--format", "json"], words].concat());
        let value: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(value["ok"], json!(outcome.status == Some(0)), "{what}");
        valid(&schema, &value, what);
        value
    };
    let mut met = 0;
    for set in ["manifest", "errors"] {
        for entry in fs::read_dir(repository().join("corpus/vectors").join(set)).unwrap() {
            let document = entry.unwrap().path().join("agent.chatmd");
            if document.is_file() {
                let name = document.display().to_string();
                let mut value = graph(&[&name], &name);
                met += value["edges"].as_array().unwrap().len();
                value["nodes"][0]["kind"] = json!("thing");
                assert!(!schema.is_valid(&value), "kinds are closed");
            }
        }
    }
    assert!(met > 100, "{met} edges");

    project.write(
        "agent.chatmd",
        r#"<shell_access id="a" extends="b"/><shell_access id="b" extends="a"/>"#,
    );
    let value = graph(&["agent.chatmd"], "cycle");
    assert_eq!(value["cycles"], json!([["runtime:a", "runtime:b"]]));
    assert_eq!(value["edges"][0]["in_cycle"], json!(true));
    assert_eq!(
        value["diagnostics"][0]["code"],
        json!("shell.inheritance_cycle")
    );
    graph(&["--only", "tool", "agent.chatmd"], "no nodes");
    project.write("m.json", r#"{"format":"chatmd-compiled"}"#);
    let refused = graph(&["m.json"], "refused");
    assert!(refused["error"]["code"].is_string(), "{refused:#}");
}

#[test]
fn differences_of_documents_files_and_broken_ones() {
    let project = Project::new(&example("repository-search.chatmd"));
    let schema = schema(&project, &["authority-diff"]);
    let diff = |words: &[&str], verdict: &str| -> Value {
        let outcome = project.chatmdc(&[&["diff", "--format", "json"], words].concat());
        let value: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(value["ok"], json!(outcome.status == Some(0)), "{words:?}");
        assert_eq!(value["verdict"], json!(verdict), "{words:?}");
        valid(&schema, &value, &format!("{words:?}"));
        value
    };
    commit_all(&project.path(), "start");
    project.write("none.chatmd", "<user>hello</user>\n");
    project.write("broken.chatmd", "<shell_access id=\"r\" extend=\"x\"/>\n");
    diff(&["agent.chatmd", "agent.chatmd"], "equal");
    diff(&["--bound", "agent.chatmd", "agent.chatmd"], "equal");
    diff(&["agent.chatmd", "none.chatmd"], "narrowing");
    let mut wider = diff(&["none.chatmd", "agent.chatmd"], "widening");
    wider["changes"][0]["class"] = json!("harmless");
    assert!(!schema.is_valid(&wider), "classes are closed");
    let broken = diff(&["agent.chatmd", "broken.chatmd"], "unknown");
    assert!(!broken["diagnostics"].as_array().unwrap().is_empty());
    diff(&["agent.chatmd", "missing.chatmd"], "unknown");
    diff(&["--against", "git:HEAD"], "equal");
    let words = ["--against", "git:HEAD", "agent.chatmd", "none.chatmd"];
    let several = diff(&words, "neutral");
    assert_eq!(several["documents"][1]["old"]["sha256"], json!(null));
    diff(&["--against", "git:HEAD", "broken.chatmd"], "unknown");
}

#[test]
fn input_result_and_audit_log_of_real_calls() {
    let project = Project::new(&example("repository-search.chatmd"));
    project.write("src/notes.txt", "TODO\n");
    let input = schema(
        &project,
        &["tool-input", "--tool", "search", "agent.chatmd"],
    );
    let result = schema(&project, &["tool-result"]);
    let event = schema(&project, &["audit-event"]);

    let call = json!({"arguments": ["TODO", "src"]});
    valid(&input, &call, "input");
    let mut command = project.call_command("search", &call.to_string());
    let outcome = project.run(command.args(["--result", "json"]));
    outcome.expect(0);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    valid(&result, &answer, "result");
    let mut wrong = answer.clone();
    wrong["commands"][0]["status"] = json!("0");
    assert!(!result.is_valid(&wrong));

    for bad in [
        json!({}),
        json!({"arguments": "TODO"}),
        json!({"arguments": [], "program": "sh"}),
    ] {
        assert!(!input.is_valid(&bad), "{bad}");
        let outcome = project.call("search", &bad.to_string());
        outcome.expect(1);
        valid(
            &result,
            &serde_json::from_str(&outcome.stdout).unwrap(),
            "refusal",
        );
    }

    let log = fs::read_to_string(project.audit_log()).unwrap();
    let mut events = Vec::new();
    for line in log.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        valid(&event, &value, line);
        events.push(value["event"].as_str().unwrap().to_owned());
        let mut wrong = value.clone();
        wrong["sequence"] = json!(-1);
        assert!(!event.is_valid(&wrong));
    }
    for name in [
        "log_opened",
        "request_received",
        "output",
        "finished",
        "request_completed",
    ] {
        assert!(
            events.iter().any(|event| event == name),
            "{name} of {events:?}"
        );
    }
}

#[test]
fn events_of_every_valid_golden_log() {
    let project = Project::new("");
    let schema = schema(&project, &["audit-event"]);
    let mut met = 0;
    for entry in fs::read_dir(repository().join("corpus/vectors/audit")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(expected) = fs::read_to_string(folder.join("expect.json")) else {
            continue;
        };
        let expected: Value = serde_json::from_str(&expected).unwrap();
        if expected["valid"] == json!(true) {
            let log = fs::read_to_string(folder.join("log.jsonl")).unwrap();
            for line in log.lines().filter(|line| !line.is_empty()) {
                // The last line of a log that is being written may be half a line.
                if let Ok(value) = serde_json::from_str(line) {
                    valid(&schema, &value, line);
                    met += 1;
                }
            }
        }
    }
    assert!(met > 100, "{met} events");
}

#[test]
fn names_are_listed_and_others_refused() {
    let project = Project::new(&example("repository-search.chatmd"));
    let listed = project.chatmdc(&["schema"]);
    listed.expect(0);
    let mut built = 0;
    for line in listed.stdout.lines() {
        let name = line.split_whitespace().next().unwrap();
        let outcome = project.chatmdc(&["schema", name]);
        match (line.contains("not built yet"), name) {
            (true, _) => assert!(outcome.expect(1).stderr.contains("not built yet")),
            (false, "tool-input") => assert!(outcome.expect(2).stderr.contains("--tool")),
            (false, _) => {
                schema(&project, &[name]);
                built += 1;
            }
        }
    }
    assert_eq!(built, 10);
    let outcome = project.chatmdc(&["schema", "diagnostic"]);
    assert!(
        outcome
            .expect(1)
            .stderr
            .contains("did you mean `diagnostics`?")
    );
    let words = ["schema", "tool-input", "--tool", "serch", "agent.chatmd"];
    assert!(
        project
            .chatmdc(&words)
            .expect(1)
            .stderr
            .contains("it has `search`")
    );
    let words = ["schema", "tool-input", "--tool", "search", "none.chatmd"];
    project.chatmdc(&words).expect(4);
    project
        .chatmdc(&["schema", "manifest", "--tool", "x"])
        .expect(2);
}

#[test]
fn starter_documents_are_correct_laid_out_and_never_written_over() {
    for profile in ["readonly", "development"] {
        let project = Project::new("");
        let words = ["init", "--profile", profile, "new/folder"];
        project.chatmdc(&words).expect(0);
        let name = "new/folder/agent.chatmd";
        for platform in ["linux", "macos"] {
            let words = ["check", "--deny-warnings", "--platform", platform, name];
            project.chatmdc(&words).expect(0);
        }
        project.chatmdc(&["fmt", "--check", name]).expect(0);
        let outcome = project.chatmdc(&["inspect", name]);
        outcome.expect(0);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(said.contains("sandbox=required"), "{said}");
        assert!(
            said.contains("network=false") || said.contains("network=no"),
            "{said}"
        );

        project.write(name, "mine");
        assert!(
            project
                .chatmdc(&words)
                .expect(1)
                .stderr
                .contains("stays as it is")
        );
        assert_eq!(
            fs::read_to_string(project.path().join(name)).unwrap(),
            "mine"
        );
    }
    let project = Project::new("");
    fs::remove_file(project.path().join("agent.chatmd")).unwrap();
    std::os::unix::fs::symlink("elsewhere", project.path().join("agent.chatmd")).unwrap();
    project.chatmdc(&["init"]).expect(1);
    assert!(!project.path().join("elsewhere").exists());
    let printed = project.chatmdc(&["init", "--stdout", "--tool", "find_it"]);
    assert!(printed.expect(0).stdout.contains("name=\"find_it\""));
    project.chatmdc(&["init", "--tool", "a b"]).expect(2);
    project.chatmdc(&["init", "--profile", "yolo"]).expect(2);
    project.write("file", "");
    project.chatmdc(&["init", "file"]).expect(4);
}
