#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::check::EntryRequest;
use crate::limits::Unlimited;

fn script(source: &str, kind: Kind) -> Script {
    Script::prepare(source, kind, EntryRequest::Default, Limits::default())
        .unwrap_or_else(|errors| panic!("{source}\n{errors:#?}"))
}

fn start(source: &str, kind: Kind) -> Instance {
    Instance::start(script(source, kind), Lifecycle::Session, &Unlimited).unwrap()
}

/// A planned command, with what the tests vary.
pub(crate) fn context(argv: &[&str], effects: &[&str], policy: Option<Data>) -> Data {
    let name = argv.first().copied().unwrap_or("x");
    let strings = |items: &[&str]| Data::strings(items.iter().copied());
    Data::record([
        ("version", Data::string("shell-context-v1")),
        ("phase", Data::string("shell_matcher")),
        ("request_id", Data::string("r1")),
        ("runtime_id", Data::string("main")),
        ("manifest_sha256", Data::string("00")),
        ("argv", strings(argv)),
        (
            "executable",
            Data::record([
                ("requested", Data::string(name)),
                ("path", Data::string(format!("/usr/bin/{name}"))),
                ("canonical_path", Data::string(format!("/usr/bin/{name}"))),
                ("sha256", Data::string("11")),
                ("trusted", Data::Bool(true)),
            ]),
        ),
        ("cwd", Data::string("/project")),
        ("origin", Data::string("tool")),
        ("request_kind", Data::string("structured")),
        ("stdin_kind", Data::string("empty")),
        ("stdin_sha256", Data::option(None)),
        ("stdin_bytes", Data::Int(0)),
        ("script_sha256", Data::option(None)),
        ("script_preview", Data::option(None)),
        ("effects", strings(effects)),
        (
            "capabilities",
            Data::record([
                ("read_roots", strings(&["/project"])),
                ("write_roots", strings(&[])),
                ("network", Data::Bool(false)),
                ("child_processes", Data::Bool(false)),
                ("arbitrary_code", Data::Bool(false)),
                ("privilege_change", Data::Bool(false)),
                ("sandbox", Data::string("required")),
            ]),
        ),
        ("session_id", Data::option(None)),
        ("policy", Data::option(policy)),
    ])
}

fn policy(rule: &str) -> Data {
    Data::record([
        ("version", Data::string("shell-policy-v1")),
        ("action", Data::string("ask")),
        ("reason", Data::string("rule")),
        (
            "matches",
            Data::Array(vec![Data::record([
                ("rule_id", Data::string(rule)),
                ("action", Data::string("ask")),
                ("reason", Data::option(None)),
            ])]),
        ),
    ])
}

/// Calls, commits, and gives the action as `Name(args)` with the state.
fn step(instance: &mut Instance, event: &Data) -> Result<(String, Data), String> {
    let outcome = instance
        .call(event, &Unlimited)
        .map_err(|error| format!("{} {}", error.fault.code, error.fault.message))?;
    let arguments: Vec<String> = outcome
        .action
        .arguments
        .iter()
        .map(|argument| match argument {
            Data::String(text) => text.clone(),
            Data::Array(items) => items
                .iter()
                .map(|item| match item {
                    Data::String(text) => text.as_str(),
                    _ => "?",
                })
                .collect::<Vec<_>>()
                .join(" "),
            other => format!("{other:?}"),
        })
        .collect();
    let action = format!("{}({})", outcome.action.name(), arguments.join(", "));
    instance.commit(outcome.state.clone()).unwrap();
    Ok((action, outcome.state))
}

/// Spec 05 section 9.3.
#[test]
fn the_conformance_table_of_tasks() {
    type Expected = Result<(&'static str, i64), &'static str>;
    let cases: &[(&str, Expected)] = &[
        (
            "let* () = Match.yes(\"a\") in Task.pure(st + 1)",
            Ok(("Match.yes(a)", 1)),
        ),
        ("Task.pure(st)", Err("chatml.task.action_count")),
        (
            "let* () = Match.yes(\"a\") in let* () = Match.no(\"b\") in Task.pure(st)",
            Err("chatml.task.action_count"),
        ),
        (
            "Task.catch(let* () = Match.yes(\"a\") in Task.fail(\"x\"), fun m -> let* () = Match.no(m) in Task.pure(st))",
            Ok(("Match.no(x)", 0)),
        ),
        (
            "Match.yes(\"a\"); Task.map(Match.no(\"b\"), fun _ -> st)",
            Ok(("Match.no(b)", 0)),
        ),
        (
            "Task.catch(Task.map(Match.yes(\"a\"), fun _ -> fail(\"boom\")), fun _ -> Task.pure(st))",
            Err("chatml.run.fail boom"),
        ),
        ("Task.fail(\"no\")", Err("chatml.task.failed no")),
    ];
    for (body, expected) in cases {
        let source = format!("let initial_state = 0\nlet match_command = fun ctx st -> {body}");
        let mut instance = start(&source, Kind::ShellMatcher);
        match (step(&mut instance, &context(&["ls"], &[], None)), expected) {
            (Ok((action, state)), Ok((name, next))) => {
                assert_eq!(
                    (action.as_str(), state),
                    (*name, Data::Int(*next)),
                    "{body}"
                );
                assert_eq!(instance.state(), &Data::Int(*next));
            }
            (Err(error), Err(code)) => {
                assert!(error.starts_with(code), "{body}: {error}");
                assert_eq!(instance.state(), &Data::Int(0), "{body}");
            }
            (found, _) => panic!("{body}: {found:?}"),
        }
    }
    let wrong = "let initial_state = 0\nlet match_command = fun ctx st -> Match.yes(\"a\")";
    let errors = Script::prepare(
        wrong,
        Kind::ShellMatcher,
        EntryRequest::Default,
        Limits::default(),
    )
    .unwrap_err();
    assert_eq!(errors[0].code.as_str(), "chatml.entry.type");
}

const MATCHER: &str = include_str!("examples/matcher.chatml");
const REVIEWER: &str = include_str!("examples/reviewer.chatml");
const BEFORE: &str = include_str!("examples/before.chatml");
const AFTER: &str = include_str!("examples/after.chatml");
const ANALYZER: &str = include_str!("examples/analyzer.chatml");
const AUDIT: &str = include_str!("examples/audit.chatml");

/// The shape of spec 05b section 7.1.
#[test]
fn a_matcher() {
    let mut instance = start(MATCHER, Kind::ShellMatcher);
    for (argv, action) in [
        (
            &["find", ".", "-exec", "rm"][..],
            "Match.yes(find runs a program)",
        ),
        (&["find", "."], "Match.no(find only lists)"),
        (&["ls"], "Match.no(another program)"),
    ] {
        let (found, _) = step(&mut instance, &context(argv, &[], None)).unwrap();
        assert_eq!(found, action);
    }
}

/// Spec 05b section 7.2: three approvals, then the decision is left to others.
#[test]
fn a_reviewer_with_a_budget() {
    let mut instance = start(REVIEWER, Kind::ShellReviewer);
    let read = ["read:/project"];
    let harmless = context(&["cat", "x"], &read, Some(policy("reads")));
    for used in 1..=3 {
        let (action, state) = step(&mut instance, &harmless).unwrap();
        assert_eq!(action, "Review.approve()");
        let expected = Data::record([("last", Data::string("cat")), ("used", Data::Int(used))]);
        assert_eq!(state, expected);
    }
    assert_eq!(step(&mut instance, &harmless).unwrap().0, "Review.defer()");
    let never = context(&["cat"], &read, Some(policy("never-auto")));
    assert_eq!(step(&mut instance, &never).unwrap().0, "Review.defer()");
    let writes = context(&["cp"], &["write:/project"], None);
    assert_eq!(
        step(&mut instance, &writes).unwrap().0,
        "Review.deny(it does more than read)"
    );
    // The state survives a restart through its stored form.
    let mut again = start(REVIEWER, Kind::ShellReviewer);
    again.restore(&instance.snapshot()).unwrap();
    assert_eq!(again.state(), instance.state());
    assert_eq!(step(&mut again, &harmless).unwrap().0, "Review.defer()");
}

/// Spec 05b section 7.3.
#[test]
fn a_before_interceptor() {
    let mut instance = start(BEFORE, Kind::ShellBeforeInterceptor);
    for (argv, action, rewrites) in [
        (&["ls"][..], "Intercept.continue()", 0),
        (
            &["cargo", "build"],
            "Intercept.rewrite(cargo build --offline)",
            1,
        ),
        (&["cargo", "build", "--offline"], "Intercept.continue()", 1),
    ] {
        let (found, state) = step(&mut instance, &context(argv, &[], None)).unwrap();
        assert_eq!(found, action);
        assert_eq!(state, Data::record([("rewrites", Data::Int(rewrites))]));
    }
}

fn result(stdout: &str, truncated: bool) -> Data {
    Data::record([
        ("version", Data::string("shell-result-v1")),
        ("phase", Data::string("shell_after")),
        ("argv", Data::strings(["x"])),
        ("status_kind", Data::string("exited")),
        ("status_code", Data::Int(0)),
        ("stdout", Data::string(stdout)),
        ("stderr", Data::string("err")),
        ("stdout_truncated", Data::Bool(truncated)),
        ("stderr_truncated", Data::Bool(false)),
        ("intercepted_by", Data::option(None)),
        ("untrusted_output", Data::Bool(true)),
    ])
}

/// Spec 05b section 7.4.
#[test]
fn an_after_interceptor() {
    let mut instance = start(AFTER, Kind::ShellAfterInterceptor);
    for (event, action) in [
        (
            result("### hi\na\nb\n### ho", false),
            "Result.replace(a\nb, err)",
        ),
        (result("a", true), "Result.keep()"),
        (
            result("BEGIN PRIVATE KEY", true),
            "Result.reject_disclosure(a private key is in the output)",
        ),
    ] {
        assert_eq!(step(&mut instance, &event).unwrap().0, action);
    }
}

/// Spec 05b section 7.5.
#[test]
fn an_effect_analyzer() {
    let mut instance = start(ANALYZER, Kind::ShellEffectAnalyzer);
    for (argv, action) in [
        (&["git", "push"][..], "Effect.network()"),
        (&["git", "log"], "Effect.read_path(/project)"),
        (&["git"], "Effect.read_path(/project)"),
    ] {
        let (found, _) = step(&mut instance, &context(argv, &[], None)).unwrap();
        assert_eq!(found, action);
    }
}

fn audit(command: Option<&str>) -> Data {
    let fields = command.map(|command| {
        Data::record([
            ("name", Data::string("command")),
            ("value", Data::string(command)),
        ])
    });
    Data::record([
        ("version", Data::string("shell-audit-v1")),
        ("phase", Data::string("shell_audit")),
        ("sequence", Data::string("7")),
        ("timestamp", Data::Float(1.5)),
        ("session_id", Data::option(None)),
        ("runtime_id", Data::string("main")),
        ("manifest_sha256", Data::string("00")),
        ("request_id", Data::string("r")),
        ("plan_id", Data::option(None)),
        ("event", Data::string("started")),
        ("fields", Data::Array(fields.into_iter().collect())),
    ])
}

/// Spec 05b section 7.6.
#[test]
fn an_audit_filter() {
    let mut instance = start(AUDIT, Kind::ShellAuditFilter);
    for (event, action, seen) in [
        (audit(Some("ls")), "Audit.keep()".to_owned(), 1),
        (
            audit(Some(&"x".repeat(200))),
            "Audit.replace({\"command\":\"(shortened)\"})".to_owned(),
            2,
        ),
        (audit(None), "Audit.drop_field(backend)".to_owned(), 3),
    ] {
        let (found, state) = step(&mut instance, &event).unwrap();
        assert_eq!(found, action);
        assert_eq!(state, Data::record([("seen", Data::Int(seen))]));
    }
}

#[test]
fn an_invocation_starts_anew_and_shares_its_budget_with_the_top_level() {
    let source = "let n = ref(0)\nlet initial_state = 0\nlet match_command = fun ctx st -> n := !n + 1; let* () = Match.yes(to_string(!n)) in Task.pure(st + 1)";
    let event = context(&["ls"], &[], None);
    let mut instance = Instance::start(
        script(source, Kind::ShellMatcher),
        Lifecycle::Invocation,
        &Unlimited,
    )
    .unwrap();
    for _ in 0..3 {
        let (action, state) = step(&mut instance, &event).unwrap();
        assert_eq!((action.as_str(), state), ("Match.yes(1)", Data::Int(1)));
    }
    let mut heavy = script(
        &format!("let burn = Array.make(60, 0)\n{source}"),
        Kind::ShellMatcher,
    );
    heavy.limits.fuel = 65;
    let mut instance = Instance::start(heavy.clone(), Lifecycle::Invocation, &Unlimited).unwrap();
    let error = instance.call(&event, &Unlimited).unwrap_err();
    assert_eq!(error.fault.code, "chatml.limit.fuel");
    let mut instance = Instance::start(heavy, Lifecycle::Session, &Unlimited).unwrap();
    instance.call(&event, &Unlimited).unwrap();
}

#[test]
fn a_failed_call_leaves_no_trace() {
    let source = "let table = Hashtbl.create()\nlet log = [0, 0]\nlet initial_state = [0]\nlet match_command = fun ctx st ->\n  st[0] <- st[0] + 1;\n  log[0] <- log[0] + 1;\n  Hashtbl.set(table, to_string(log[0]), \"x\" ++ to_string(log[0]));\n  if Shell.argv(ctx)[0] == \"bad\" then fail(\"no\") else\n  let* () = Match.yes(to_string(log[0]) ++ to_string(!table)) in Task.pure(st)";
    let mut instance = start(source, Kind::ShellMatcher);
    let good = context(&["ls"], &[], None);
    let bad = context(&["bad"], &[], None);
    assert!(step(&mut instance, &bad).is_err());
    let first = step(&mut instance, &good).unwrap();
    assert_eq!(
        first,
        (
            "Match.yes(1[|{ key = 1; value = x1 }|])".to_owned(),
            Data::Array(vec![Data::Int(1)])
        )
    );
    // A call that succeeds and is not committed is undone by the next.
    instance.call(&good, &Unlimited).unwrap();
    assert!(step(&mut instance, &bad).is_err());
    for n in 2..50 {
        let (action, state) = step(&mut instance, &good).unwrap();
        assert!(action.starts_with(&format!("Match.yes({n}[|")), "{action}");
        assert!(action.contains("{ key = 1; value = x1 }"), "{action}");
        assert_eq!(state, Data::Array(vec![Data::Int(n)]));
    }
}

#[test]
fn kept_values_are_bounded() {
    let source = "let keep = ref([])\nlet initial_state = ()\nlet match_command = fun ctx st ->\n  keep := Array.append(!keep, [Array.make(40000, 1)]);\n  let* () = Match.yes(to_string(length(!keep))) in Task.pure(st)";
    let mut prepared = script(source, Kind::ShellMatcher);
    prepared.limits.fuel = 1_000_000;
    let mut instance = Instance::start(prepared, Lifecycle::Session, &Unlimited).unwrap();
    let event = context(&["ls"], &[], None);
    let mut kept = 0;
    let error = loop {
        let outcome = instance.call(&event, &Unlimited).unwrap();
        match instance.commit(outcome.state) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 100);
    };
    assert_eq!(error.fault.code, "chatml.limit.memory");
    assert!(kept > 20, "{kept}");
    // The refused call is gone, and the next one meets the same bound.
    let outcome = instance.call(&event, &Unlimited).unwrap();
    let expected = Data::string((kept + 1).to_string());
    assert_eq!(outcome.action.arguments, [expected]);
}

#[test]
fn values_at_the_boundary_are_limited() {
    let call = |body: &str, limits: &dyn Fn(&mut Limits), argv: &[&str]| {
        let source = format!(
            "let rec grow s = if string_length(s) > 17000 then s else grow(s ++ s)\n\
             let initial_state = [\"\"]\nlet match_command = fun ctx st -> {body}"
        );
        let mut prepared = script(&source, Kind::ShellMatcher);
        limits(&mut prepared.limits);
        let mut instance = Instance::start(prepared, Lifecycle::Session, &Unlimited).unwrap();
        let event = context(argv, &[], None);
        let error = instance.call(&event, &Unlimited).unwrap_err();
        assert_eq!(error.code, "shell.chatml_runtime");
        (error.fault.code, error.fault.message)
    };
    let long = "x".repeat(17_000);
    let yes = "let* () = Match.yes(\"a\") in Task.pure";
    let none = |_: &mut Limits| {};
    let (code, message) = call(&format!("{yes}(st)"), &none, &["ls", &long]);
    assert_eq!(code, "chatml.limit.value");
    assert!(message.starts_with("event.argv[1]: "), "{message}");
    let (code, message) = call(&format!("{yes}([grow(\"ab\")])"), &none, &["ls"]);
    assert_eq!(code, "chatml.task.invalid_state");
    assert!(message.starts_with("root[0]: "), "{message}");
    let (code, _) = call(&format!("{yes}(Array.make(257, \"\"))"), &none, &["ls"]);
    assert_eq!(code, "chatml.task.invalid_state");
    let (code, message) = call(
        "Task.map(Match.yes(grow(\"ab\")), fun _ -> st)",
        &none,
        &["ls"],
    );
    assert_eq!(code, "chatml.task.invalid_action");
    assert!(message.contains("Match.yes"), "{message}");
    let few = |limits: &mut Limits| limits.max_tasks = 2;
    let (code, _) = call(
        "let* () = Match.yes(\"a\") in let* () = Match.yes(\"a\") in let* () = Match.yes(\"a\") in Task.pure(st)",
        &few,
        &["ls"],
    );
    assert_eq!(code, "chatml.limit.tasks");
    let (code, _) = call(
        "let rec f () = Task.catch(f(), fun m -> f()) in f()",
        &none,
        &["ls"],
    );
    assert_eq!(code, "chatml.limit.depth");
}

#[test]
fn a_cyclic_state_is_refused() {
    let source = "type t = [ `Nil | `More(t array) ]\nlet initial_state : t = `Nil\nlet match_command = fun ctx st -> let a = [st] in a[0] <- `More(a); let* () = Match.yes(\"a\") in Task.pure(`More(a))";
    let mut instance = start(source, Kind::ShellMatcher);
    let error = step(&mut instance, &context(&["ls"], &[], None)).unwrap_err();
    assert!(error.starts_with("chatml.task.invalid_state"), "{error}");
    assert!(error.contains("nest deeper than 32"), "{error}");
}

/// Spec 05 T5.
#[test]
fn a_hundred_thousand_nested_binds() {
    for body in [
        "let rec go n = if n == 0 then Task.pure(0) else Task.bind(Task.pure(n), fun _ -> go(n - 1)) in let* _ = go(100000) in let* () = Match.yes(\"a\") in Task.pure(st)",
        "let rec nest n t = if n == 0 then t else nest(n - 1, Task.bind(t, fun x -> Task.pure(x))) in let* _ = nest(100000, Task.pure(0)) in let* () = Match.yes(\"a\") in Task.pure(st)",
        "let rec nest n t = if n == 0 then t else nest(n - 1, Task.catch(Task.map(t, fun x -> x), fun m -> Task.fail(m))) in let* _ = Task.catch(nest(100000, Task.fail(\"x\")), fun m -> Task.pure(1)) in let* () = Match.yes(\"a\") in Task.pure(st)",
    ] {
        let source = format!("let initial_state = 0\nlet match_command = fun ctx st -> {body}");
        let mut prepared = script(&source, Kind::ShellMatcher);
        prepared.limits.fuel = 2_000_000;
        let mut instance = Instance::start(prepared, Lifecycle::Session, &Unlimited).unwrap();
        let (action, _) = step(&mut instance, &context(&["ls"], &[], None)).unwrap();
        assert_eq!(action, "Match.yes(a)");
    }
}

#[test]
fn a_field_that_a_join_hides_is_no_part_of_the_state() {
    let source = "let initial_state = { n = 0 }\nlet match_command = fun ctx st -> let next = if st.n == 0 then { n = 1; extra = 2 } else { n = 5 } in let* () = Match.yes(to_string(record_keys(st))) in Task.pure(next)";
    let mut instance = start(source, Kind::ShellMatcher);
    let event = context(&["ls"], &[], None);
    let (_, state) = step(&mut instance, &event).unwrap();
    assert_eq!(state, Data::record([("n", Data::Int(1))]));
    let mut again = start(source, Kind::ShellMatcher);
    again.restore(&instance.snapshot()).unwrap();
}

#[test]
fn a_start_that_fails_says_why() {
    for (source, code) in [
        ("let initial_state = fail(\"x\")", "chatml.run.fail"),
        (
            "let initial_state = Array.make(300, 0)",
            "chatml.task.invalid_state",
        ),
        (
            "let rec spin () = spin()\nlet initial_state = spin(); 1",
            "chatml.limit.fuel",
        ),
    ] {
        let source = format!(
            "{source}\nlet match_command = fun ctx st -> Task.map(Match.yes(\"a\"), fun _ -> st)"
        );
        let prepared = script(&source, Kind::ShellMatcher);
        let error = Instance::start(prepared, Lifecycle::Session, &Unlimited).unwrap_err();
        assert_eq!(error.code, "shell.chatml_instantiate");
        assert_eq!(error.fault.code, code, "{source}");
    }
}

struct Answers(Vec<(String, Result<Data, String>)>);

impl Host for Answers {
    fn perform(&mut self, operation: &Performance) -> Result<Data, String> {
        let (name, answer) = self.0.remove(0);
        assert_eq!(operation.name(), name);
        answer
    }
}

#[test]
fn a_moderator_asks_its_host() {
    let source = "let initial_state = \"\"\nlet on_event = fun ctx st ev ->\n  let* id = Tool.spawn(\"t\", `Null) in\n  let* more = Task.catch(Process.run(\"p\", [id]), fun m -> Task.pure(m)) in\n  let* () = Log.info(more) in\n  Task.pure(st ++ id ++ more)";
    let mut prepared = {
        let (program, _) = prepare(source, Kind::Moderator).unwrap();
        Script {
            program,
            kind: Kind::Moderator,
            entry: "on_event".into(),
            state: None,
            limits: Limits::default(),
        }
    };
    prepared.limits.fuel = 10_000;
    let mut instance = Instance::start(prepared, Lifecycle::Session, &Unlimited).unwrap();
    let mut host = Answers(vec![
        ("Tool.spawn".into(), Ok(Data::string("7"))),
        ("Process.run".into(), Err("refused".into())),
        ("Log.info".into(), Ok(Data::Unit)),
    ]);
    let (state, log) = instance
        .moderate(&Data::Unit, &Data::Unit, &mut host, &Unlimited)
        .unwrap();
    assert_eq!(state, Data::string("7refused"));
    let names: Vec<_> = log.iter().map(Performance::name).collect();
    // What ran inside of the caught failure is not part of the log.
    assert_eq!(names, ["Tool.spawn", "Log.info"]);
}

/// Parts without size count too: 2^30 units that share their arrays are not walked.
#[test]
fn shared_parts_without_size_are_bounded() {
    let mut source = "let a0 = [()]\n".to_owned();
    for level in 1..=30 {
        source.push_str(&format!("let a{level} = [a{0}, a{0}]\n", level - 1));
    }
    source.push_str("let initial_state = a30\n");
    source.push_str("let match_command ctx st = Task.map(Match.yes(\"a\"), fun _ -> st)");
    let script = script(&source, Kind::ShellMatcher);
    let error = Instance::start(script, Lifecycle::Session, &Unlimited).unwrap_err();
    assert_eq!(error.fault.code, "chatml.task.invalid_state", "{error}");
}

/// Every node of a task is a step, beside the call that builds it.
#[test]
fn task_nodes_cost_fuel() {
    let fuel = |body: &str| {
        let source = format!("let initial_state = 0\nlet match_command ctx st = {body}");
        let mut instance = start(&source, Kind::ShellMatcher);
        let event = context(&["ls"], &[], None);
        instance.call(&event, &Unlimited).unwrap().fuel
    };
    let task = "Task.map(Match.yes(\"a\"), fun _ -> st)";
    let caught = format!("Task.catch({task}, fun _ -> Task.pure(st))");
    assert_eq!(fuel(&caught), fuel(task) + 2);
}

/// An operation of another kind is none of the script's, however it came into its program.
#[test]
fn operations_of_another_kind_fail() {
    let source = "let initial_state = 0\n\
                  let match_command ctx st = Task.map(Match.yes(\"a\"), fun _ -> st)";
    let mut script = script(source, Kind::ShellMatcher);
    script.kind = Kind::ShellReviewer;
    let mut instance = Instance::start(script, Lifecycle::Session, &Unlimited).unwrap();
    let event = context(&["ls"], &[], None);
    let error = instance.call(&event, &Unlimited).unwrap_err();
    assert_eq!(error.fault.code, "chatml.task.failed");
    assert_eq!(error.fault.message, "Match.yes is not configured");
}
