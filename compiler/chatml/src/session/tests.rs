#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::limits::Unlimited;

fn session() -> Session {
    Session::new(Kind::Core, Limits::default())
}

/// Takes inputs that all have to be fine; the last step.
fn take(session: &mut Session, inputs: &[&str]) -> Step {
    let mut last = None;
    for input in inputs {
        let step = session.input(input, &Unlimited);
        last = Some(step.unwrap_or_else(|refusal| panic!("{input}: {refusal:?}")));
    }
    last.unwrap()
}

fn code(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Compile(found) => found[0].code.as_str(),
        Refusal::Run(fault) => fault.code,
        Refusal::Full => "full",
    }
}

#[test]
fn inputs_build_on_each_other() {
    for (inputs, value, ty) in [
        (&["let x = 2", "x * 3"][..], "6", "int"),
        (
            &["let x = 2", "let f () = x", "let x = 9", "f()"],
            "2",
            "int",
        ),
        (&["let c = ref([])", "c := [1]", "!c"], "[|1|]", "int array"),
        (
            &["type t = { a : int }", "let v : t = { a = 1 }", "v.a"],
            "1",
            "int",
        ),
        (&["module M = struct let a = 4 end", "M.a"], "4", "int"),
        // A bracket does not call what the input before ended with.
        (&["let f = fun x -> x", "(7)"], "7", "int"),
        (&["let a = [1, 2]", "[0]"], "[|0|]", "int array"),
        (&["let a = 3", "-1"], "-1", "int"),
        (&["let a = 3", "-.1.0"], "-1.", "float"),
        (
            &["1 (* a comment *)", "\"two\nlines\""],
            "two\nlines",
            "string",
        ),
    ] {
        let step = take(&mut session(), inputs);
        assert_eq!(step.text.as_deref(), Some(value), "{inputs:?}");
        assert_eq!(step.ty.unwrap().to_string(), ty, "{inputs:?}");
    }
}

#[test]
fn only_what_is_new_is_shown() {
    let mut session = session();
    take(
        &mut session,
        &["let a = 1 let b = 2", "print(a)", "print(b)"],
    );
    let step = take(&mut session, &["print(3); let (* none *) unused = 1 in 4"]);
    assert_eq!(step.output, "3\n");
    assert_eq!(step.warnings.len(), 1);
    assert!(step.defined.is_empty() && step.is_expression);
    let step = take(
        &mut session,
        &["let c = 1 type t = int let rec f x = g(x) and g x = f(x)"],
    );
    assert_eq!(step.warnings, []);
    let names: Vec<_> = step
        .defined
        .iter()
        .map(|found| (&*found.name, found.kind))
        .collect();
    use BindingKind::{Type, Value};
    assert_eq!(
        names,
        [("c", Value), ("t", Type), ("f", Value), ("g", Value)]
    );
    // Nothing but a comment: no value, and not that of the input before.
    let step = take(&mut session, &["(* nothing *)"]);
    assert!(step.text.is_none() && step.ty.is_none() && !step.is_expression);
}

#[test]
fn a_refused_input_leaves_no_trace() {
    let mut session = session();
    take(&mut session, &["let n = ref(0)", "let boom () = 1 / 0"]);
    for (input, expected) in [
        ("n := 5; boom()", "chatml.run.division_by_zero"),
        ("let n = true let m = 1 + n", "chatml.type.mismatch"),
        ("let z =", "chatml.syntax.unexpected_end"),
        ("let rec spin () = spin()\nspin()", "chatml.limit.fuel"),
        (")", "chatml.syntax.unexpected_token"),
    ] {
        assert_eq!(
            code(session.input(input, &Unlimited).unwrap_err()),
            expected
        );
    }
    assert_eq!(take(&mut session, &["!n"]).text.as_deref(), Some("0"));
    assert_eq!(session.names().len(), 2);
    assert_eq!(
        code(session.type_of("spin").unwrap_err()),
        "chatml.type.unknown_variable"
    );
}

/// Each input has the fuel of the limits, however much the ones before used.
#[test]
fn every_input_has_its_own_fuel() {
    let count = "let n = ref(0)\nwhile !n < 40000 do n := !n + 1 done";
    let mut session = session();
    for _ in 0..5 {
        take(&mut session, &[count]);
    }
    let more = count.replace("40000", "400000");
    assert_eq!(
        code(session.input(&more, &Unlimited).unwrap_err()),
        "chatml.limit.fuel"
    );
}

#[test]
fn memory_and_size_of_a_session_are_bounded() {
    let mut session = session();
    let grow =
        "let s = ref(\"x\")\nlet i = ref(0)\nwhile !i < 24 do s := !s ++ !s; i := !i + 1 done";
    assert_eq!(
        code(session.input(grow, &Unlimited).unwrap_err()),
        "chatml.limit.memory"
    );
    let large = format!("\"{}\"", "x".repeat(MAX_SESSION));
    assert_eq!(code(session.input(&large, &Unlimited).unwrap_err()), "full");
}

#[test]
fn types_are_told_without_evaluating() {
    let session = session();
    let ty = session.type_of("fail(\"no\") + 1").unwrap().unwrap();
    assert_eq!(ty.to_string(), "int");
    let ty = session.type_of("fun r -> r.port").unwrap().unwrap();
    assert_eq!(ty.to_string(), "{ port : 'a; .. } -> 'a");
}

#[test]
fn texts_are_what_spans_refer_to() {
    let mut session = session();
    take(&mut session, &["let a = 1", "let b =\n  2"]);
    let texts: Vec<&str> = session.texts("a + true").collect();
    assert_eq!(texts, ["let a = 1", "let b =\n  2", "a + true"]);
    let whole = texts.join("\n");
    let Err(Refusal::Compile(found)) = session.input("a + true", &Unlimited) else {
        panic!("the input is wrong");
    };
    assert_eq!(found[0].span.of(&whole), "true");
}

#[test]
fn names_are_completed() {
    let mut session = Session::new(Kind::ShellMatcher, Limits::default());
    take(
        &mut session,
        &[
            "let prefix = { port = 1; path = \"x\" }",
            "let prefix_of = 1",
        ],
    );
    let names = |text: &str| {
        let (at, found) = session.complete(text);
        let names: Vec<String> = found.into_iter().map(|found| found.name).collect();
        (at, names.join(" "))
    };
    assert_eq!(names("String.st"), (7, "starts_with".to_owned()));
    assert_eq!(names("f(Match."), (8, "no yes".to_owned()));
    assert_eq!(names("1 + prefix"), (4, "prefix prefix_of".to_owned()));
    assert_eq!(names("prefix.p"), (7, "path port".to_owned()));
    assert_eq!(names("prefix_of."), (10, String::new()));
    assert_eq!(names("nothing."), (8, String::new()));
    assert_eq!(names("é whi"), (3, "while".to_owned()));
    assert_eq!(names("shell_c"), (0, "shell_context".to_owned()));
    // Of other kinds, and of the core alone.
    assert_eq!(names("Review"), (0, String::new()));
    assert_eq!(names("print"), (0, String::new()));
    let (_, found) = session.complete("String.trim");
    assert_eq!(found[0].detail, "string -> string");
    let (_, all) = session.complete("");
    assert!(all.windows(2).all(|pair| pair[0].name < pair[1].name));
}

#[test]
fn an_input_ends_where_nothing_is_open() {
    use Completeness::{Complete, MayGoOn, Open, OpenText};
    for (input, expected) in [
        ("1", Complete),
        ("", Complete),
        ("let f x =", Open),
        ("let f x =\n  x", Complete),
        ("f(1,", Open),
        ("\"abc", OpenText),
        ("(* note", OpenText),
        ("module M = struct", Open),
        ("if a then b", Open),
        ("match x with", Open),
        ("match x with\n| `A -> 1", MayGoOn),
        ("(match x with\n| `A -> 1)", Complete),
        ("let s = \"match\"", Complete),
        ("let = 1", Complete),
        (")", Complete),
        ("let x = ) (", Complete),
    ] {
        assert_eq!(completeness(input), expected, "{input}");
    }
}
