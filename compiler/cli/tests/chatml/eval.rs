use serde_json::{Value, json};

use super::support::{Project, Run};

fn eval(program: &str) -> Run {
    Project::new(&[]).run(&["chatml", "eval", "-e", program])
}

#[test]
fn values_of_programs() {
    for (program, value) in [
        ("2 + 3 * 4 - 1", "13\n"),
        ("-7 / 2", "-3\n"),
        ("\"two\nlines\"", "two\nlines\n"),
        ("let f x = x", "<closure>\n"),
        ("let x = 1 type t = int", ""),
        ("module M = struct end", ""),
        ("", ""),
        ("print(1); print(\"a\"); 2", "1\na\n2\n"),
    ] {
        let run = eval(program);
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (0, value, ""),
            "{program}"
        );
    }
    // What begins with a dash is still the program.
    let project = Project::new(&[("a.chatml", "[1, 2]")]);
    assert_eq!(
        project.run(&["chatml", "eval", "a.chatml"]).stdout,
        "[|1, 2|]\n"
    );
    let run = project.run_with_stdin(&["chatml", "eval", "-"], b"\"in\"");
    assert_eq!(run.stdout, "in\n");
}

#[test]
fn failures_name_code_and_place() {
    for (program, said) in [
        ("fail(\"stop\")", "error[chatml.run.fail]: stop"),
        ("1 / 0", "error[chatml.run.division_by_zero]"),
        (
            "let rec spin () = spin()\nspin()",
            "error[chatml.limit.fuel]",
        ),
        ("1 + true", "error[chatml.type.mismatch]"),
        ("let x =", "error[chatml.syntax.unexpected_end]"),
        ("Match.yes(\"a\")", "error[chatml.type.unknown_variable]"),
    ] {
        let run = eval(program);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{program}");
        assert!(run.stderr.contains(said), "{program}: {}", run.stderr);
    }
    let run = eval("let f x = 1 / x\nlet g x = f(x) + 1\ng(0)");
    assert_eq!(
        run.stderr.matches("called from here").count(),
        2,
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("<program>:1:11"), "{}", run.stderr);
}

#[test]
fn json_answers() {
    let project = Project::new(&[]);
    let answer = |program: &str| -> (i32, Value) {
        let run = project.run(&["chatml", "eval", "--format", "json", "-e", program]);
        assert_eq!(run.stderr, "");
        (run.code, serde_json::from_str(&run.stdout).unwrap())
    };
    let head = |ok: bool, rest: Value| {
        let mut whole = json!({ "version": 1, "command": "chatml eval", "ok": ok });
        let Value::Object(rest) = rest else {
            panic!("members")
        };
        whole.as_object_mut().unwrap().extend(rest);
        whole
    };
    assert_eq!(
        answer("print(1); [`A, `B(2)]"),
        (
            0,
            head(
                true,
                json!({ "type": "[ `A | `B(int) | .. ] array", "value": "[|`A, `B(2)|]", "output": "1\n" })
            )
        )
    );
    assert_eq!(
        answer("type t = int"),
        (
            0,
            head(true, json!({ "type": "int", "value": null, "output": "" }))
        )
    );
    assert_eq!(
        answer("let é = 1"),
        (1, head(false, json!({ "code": "chatml.lex.unknown_char", "message": "`é` can not start anything here", "line": 1, "column": 5 })))
            .clone_message_of(&answer("let é = 1"))
    );
    let (code, failed) = answer("\n let x = 1 in 1 / 0");
    assert_eq!(code, 1);
    assert_eq!(failed["code"], "chatml.run.division_by_zero");
    assert_eq!(
        (failed["line"].as_u64(), failed["column"].as_u64()),
        (Some(2), Some(15))
    );
    let run = project.run(&["chatml", "eval", "--format", "json", "none.chatml"]);
    assert_eq!((run.code, run.stderr.as_str()), (4, ""));
    let failed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&failed["ok"], &failed["code"]),
        (&json!(false), &Value::Null)
    );
}

/// Wording is free, everything else is fixed.
trait SameMessage {
    fn clone_message_of(self, other: &Self) -> Self;
}

impl SameMessage for (i32, Value) {
    fn clone_message_of(mut self, other: &Self) -> Self {
        self.1["message"] = other.1["message"].clone();
        self
    }
}

#[test]
fn usage() {
    let project = Project::new(&[("a.chatml", "1")]);
    let table: &[&[&str]] = &[
        &[],
        &["-e", "1", "a.chatml"],
        &["-e", "1", "-e", "2"],
        &["--event", "{}", "a.chatml"],
        &["--kind", "shell_matcher", "--state", "1", "a.chatml"],
        &["--kind", "core", "--event", "{}", "a.chatml"],
        &["--kind", "moderator", "--event", "{}", "a.chatml"],
        &["--format", "concise", "a.chatml"],
    ];
    for args in table {
        let args: Vec<&str> = ["chatml", "eval"].iter().chain(*args).copied().collect();
        let run = project.run(&args);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (2, ""),
            "{args:?}: {}",
            run.stderr
        );
    }
    assert_eq!(project.run(&["chatml"]).code, 2);
    assert_eq!(project.run(&["chatml", "run"]).code, 2);
}

const FILTER: &str = "let initial_state = { n = 1; last = `None }\n\
    let filter ev st =\n  if ev.event == \"drop\" then Task.map(Audit.drop_field(\"backend\"), fun _ -> { n = st.n + 1; last = `Some(ev.runtime_id) })\n\
    else Task.pure(st)\n";

fn audit(event: &str) -> Value {
    json!({
        "version": "shell-audit-v1", "phase": "shell_audit", "event": event,
        "fields": [{ "name": "backend", "value": "bubblewrap" }], "manifest_sha256": "0",
        "plan_id": null, "request_id": "r", "runtime_id": "main", "sequence": "7",
        "session_id": { "tag": "Some", "args": ["s"] }, "timestamp": 2,
    })
}

fn call(event: &Value, state: Option<&str>, format: &str) -> Run {
    let project = Project::new(&[("f.chatml", FILTER)]);
    let event = event.to_string();
    let mut args = vec![
        "chatml",
        "eval",
        "--kind",
        "shell_audit_filter",
        "--format",
        format,
    ];
    args.extend(["--event", &event]);
    if let Some(state) = state {
        args.extend(["--state", state]);
    }
    args.push("f.chatml");
    project.run(&args)
}

#[test]
fn one_call_of_the_entry_function() {
    let run = call(&audit("drop"), None, "human");
    assert_eq!(run.stderr, "");
    assert_eq!(
        run.stdout,
        "{\"action\":\"Audit.drop_field\",\"args\":[\"backend\"],\"state\":\"{ last = `Some(main); n = 2 }\",\
         \"state_json\":{\"last\":{\"tag\":\"Some\",\"args\":[\"main\"]},\"n\":2}}\n"
    );
    let run = call(&audit("drop"), Some("{\"n\":41,\"last\":null}"), "json");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&answer["ok"], &answer["command"]),
        (&json!(true), &json!("chatml eval"))
    );
    assert_eq!(answer["state_json"]["n"], 42);
}

#[test]
fn calls_that_fail() {
    let with = |label: &str, value: Value| {
        let mut event = audit("drop");
        event[label] = value;
        event
    };
    let long = "x".repeat(17 << 10);
    for (event, state, code) in [
        (audit("keep"), None, "chatml.task.action_count"),
        (with("extra", json!(1)), None, "shell.chatml_codec"),
        (with("timestamp", json!("x")), None, "shell.chatml_codec"),
        (
            with("version", json!("shell-audit-v2")),
            None,
            "shell.chatml_codec",
        ),
        (with("session_id", json!("s")), None, "shell.chatml_codec"),
        (with("sequence", json!("07")), None, "shell.chatml_codec"),
        (json!([]), None, "shell.chatml_codec"),
        (with("event", json!(long)), None, "chatml.limit.value"),
        (
            audit("drop"),
            Some("{\"n\":1}"),
            "chatml.task.invalid_state",
        ),
        (
            audit("drop"),
            Some("{\"n\":1.5,\"last\":null}"),
            "chatml.task.invalid_state",
        ),
        (audit("drop"), Some("nonsense"), "chatml.task.invalid_state"),
    ] {
        let run = call(&event, state, "human");
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (1, ""),
            "{event} {state:?}"
        );
        assert!(
            run.stderr.contains(&format!("error[{code}]")),
            "{event} {state:?}: {}",
            run.stderr
        );
        let run = call(&event, state, "json");
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run.code, &answer["code"]), (1, &json!(code)));
    }
    let mut missing = audit("drop");
    missing.as_object_mut().unwrap().remove("phase");
    assert!(
        call(&missing, None, "human")
            .stderr
            .contains("shell.chatml_codec")
    );
}
