use super::{outcome, run, run_with, table};
use crate::limits::Limits;

/// Spec 05 section 9.2.
#[test]
fn the_conformance_table() {
    table(&[
        ("2 + 3 * 4 - 1", "13"),
        ("-7 / 2", "-3"),
        ("8 / -2 * 2", "-2"),
        ("7.0 /. 2.0", "3.5"),
        ("2.0 *. 3.0", "6."),
        ("let f x = x; x + 1\nf(4)", "5"),
        ("let a = [1, 2]\nlet b = a\nb[0] <- 9\na", "[|9, 2|]"),
        (
            "let p = { x = 1; y = \"k\" }\n{ p with x = 2 }",
            "{ x = 2; y = k }",
        ),
        ("[`A, `B(1, true)]", "[|`A, `B(1, true)|]"),
        ("let n = ref(0)\nwhile !n < 4 do n := !n + 2 done\n!n", "4"),
        ("let x = 1\nlet g () = x\nlet x = 5\ng()", "1"),
        ("let n = ref(0)\nif true then 0 else n := 1; !n", "0"),
        (
            "let rec up n a = if n == 0 then a else up(n - 1, a + 2)\nup(20000, 0)",
            "40000",
        ),
        ("1 / 0", "chatml.run.division_by_zero"),
        ("[1, 2][2]", "chatml.run.index_out_of_bounds"),
        ("{ k = `A(1) } == { k = `A(1) }", "true"),
        ("let r = ref(1)\nswap_ref(r, 5) + !r", "6"),
        ("[1; 2]", "[|2|]"),
        ("String.split(\"a--b-\", \"-\")", "[|a, , b, |]"),
        (
            "Array.fold([1, 2, 3], \"\", fun acc n -> acc ++ to_string(n))",
            "123",
        ),
        (
            "Json.stringify(Json.parse(\"{\\\"b\\\": [1, 2.5], \\\"a\\\": null}\"))",
            "{\"b\":[1,2.5],\"a\":null}",
        ),
        ("fail(\"stop\")", "chatml.run.fail"),
        ("9223372036854775807 + 1", "chatml.run.int_overflow"),
        ("let rec spin () = spin()\nspin()", "chatml.limit.fuel"),
        ("(* a (* b *) c *) 1", "1"),
    ]);
}

#[test]
fn arithmetic() {
    table(&[
        ("7 / -2", "-3"),
        ("-9223372036854775807 - 1", "-9223372036854775808"),
        (
            "let m = -9223372036854775807 - 1\nlet out = -m",
            "chatml.run.int_overflow",
        ),
        (
            "let m = -9223372036854775807 - 1\nm / -1",
            "chatml.run.int_overflow",
        ),
        ("9223372036854775807 * 2", "chatml.run.int_overflow"),
        ("-9223372036854775807 - 2", "chatml.run.int_overflow"),
        ("1.0 /. 0.0", "chatml.run.division_by_zero"),
        ("1.0 /. -.0.0", "chatml.run.division_by_zero"),
        ("-.1.5 +. 0.25", "-1.25"),
        ("-2 * 3 + 1", "-5"),
        ("10 - 2 - 3", "5"),
        ("1 + 2 < 4 - 0", "true"),
        ("1.0 >. 0.5", "true"),
        ("2 >= 2", "true"),
        ("2 > 2", "false"),
        ("1 <= 0", "false"),
        ("1.5 <=. 1.5", "true"),
        ("1.5 >=. 2.0", "false"),
        ("1.5 <. 2.0", "true"),
        ("4294967296 * 2", "8589934592"),
        ("3000000000 - 3000000001", "-1"),
        ("\"a\" ++ \"b\" ++ \"c\"", "abc"),
        ("let x = 3\nx - 40000", "-39997"),
    ]);
}

#[test]
fn the_order_of_evaluation() {
    let log = "let log = ref(\"\")\nlet note s v = log := !log ++ s; v\n";
    let rows = [
        (
            "let f a b = a in let callee = fun () -> note(\"f\", f) in callee()(note(\"a\", 1), note(\"b\", 2))",
            "fab",
        ),
        ("note(\"a\", 1) + note(\"b\", 2) * note(\"c\", 3)", "abc"),
        ("{ z = note(\"z\", 1); a = note(\"a\", 2) }", "za"),
        ("[note(\"1\", 1), note(\"2\", 2)]", "12"),
        ("note(\"a\", [1])[note(\"i\", 0)] <- note(\"v\", 3)", "aiv"),
        ("note(\"r\", ref(0)) := note(\"v\", 1)", "rv"),
        (
            "{ note(\"r\", { q = 1 }) with q = note(\"q\", 2); b = note(\"b\", 3) }",
            "rqb",
        ),
        ("`T(note(\"x\", 1), note(\"y\", 2))", "xy"),
        ("note(\"l\", 1) > note(\"r\", 2)", "lr"),
        ("if note(\"l\", 1) >= note(\"r\", 2) then 1 else 2", "lr"),
    ];
    for (source, expected) in rows {
        assert_eq!(
            outcome(&format!("{log}let out = {source}\n!log")),
            expected,
            "{source}"
        );
    }
}

#[test]
fn patterns() {
    table(&[
        ("match 3 with | -3 -> \"m\" | 3 -> \"t\" | _ -> \"o\"", "t"),
        ("match -3 with | -3 -> \"m\" | _ -> \"o\"", "m"),
        ("match 70000 with | 70000 -> 1 | _ -> 2", "1"),
        ("match 1.5 with | 1.5 -> 1 | _ -> 2", "1"),
        ("match \"x\" ++ \"y\" with | \"xy\" -> 1 | _ -> 2", "1"),
        ("match true with | false -> 1 | true -> 2", "2"),
        ("match () with | () -> 7", "7"),
        (
            "match `Node(`Leaf, 3, `Leaf) with | `Leaf -> 0 | `Node(`Leaf, n, _) -> n | `Node(_, _, _) -> 9",
            "3",
        ),
        (
            "match { a = 1; b = `Some(2) } with | { a = 2; b = _ } -> 0 | { a = x; b = `Some(y) } -> x + y | _ -> 9",
            "3",
        ),
        (
            "let f r = match r with | { a = x; _ } -> x\nf({ a = 4; b = 5 })",
            "4",
        ),
        ("match `A with | `A -> 1 | `B -> 2", "1"),
        ("match `B(1) with | `A -> 1", "chatml.run.no_match"),
        (
            "let f v = match v with | `A(x) -> (match x with | 1 -> \"one\" | _ -> \"more\") | _ -> \"none\"\nlet out = [f(`A(1)), f(`A(2)), f(`C)]",
            "[|one, more, none|]",
        ),
    ]);
}

#[test]
fn functions_closures_and_modules() {
    table(&[
        (
            "let adder n = fun x -> x + n\nlet a = adder(2)\nlet b = adder(10)\nlet out = [a(1), b(1)]",
            "[|3, 11|]",
        ),
        (
            "let f a = let g b = let h c = a + b + c in h in g\nf(1)(2)(3)",
            "6",
        ),
        (
            "let counter () = let n = ref(0) in fun () -> n := !n + 1; !n\nlet c = counter()\nlet d = counter()\nc(); c(); d(); [c(), d()]",
            "[|3, 2|]",
        ),
        (
            "let f n = let rec even k = if k == 0 then true else odd(k - 1) and odd k = if k == 0 then false else even(k - 1) in even(n)\nlet out = [f(10), f(7)]",
            "[|true, false|]",
        ),
        (
            "let scale n = let rec go xs i acc = if i == Array.length(xs) then acc else go(xs, i + 1, acc + xs[i] * n) in go\nscale(3)([1, 2, 3], 0, 0)",
            "18",
        ),
        (
            "let rec even k = if k == 0 then true else odd(k - 1) and odd k = if k == 0 then false else even(k - 1)\neven(9)",
            "false",
        ),
        (
            "module M = struct let a = 1 let f x = x + a module N = struct let b = a + 10 end end\nlet out = [M.f(1), M.N.b]",
            "[|2, 11|]",
        ),
        ("module M = struct let a = 1 let a = 2 end\nopen M\na", "2"),
        (
            "module M = struct let x = 1 let g () = x let x = 5 end\nlet out = [M.g(), M.x]",
            "[|1, 5|]",
        ),
        (
            "module M = struct let b = 1 let a = 2 end\nrecord_keys(M)",
            "[|a, b|]",
        ),
        (
            "record_keys(Option)",
            "[|get_or, is_none, is_some, none, some|]",
        ),
        ("let f () = 1\nf", "<closure>"),
        ("String.length", "<builtin>"),
        ("Array.map", "<builtin>"),
        ("let m = Array.map\nm([1, 2], fun x -> x * 2)", "[|2, 4|]"),
        ("let l = String.length\nl(\"abc\")", "3"),
        ("Task.pure(1)", "<task>"),
        ("ref([1])", "ref([|1|])"),
        ("{ }", "{ }"),
        ("{ f = fun x -> x; n = 1 }.n", "1"),
        ("let f _ _ = 3\nf(1, 2)", "3"),
        ("let _ = 5", "5"),
        ("type t = int\nlet x : t = 4", "4"),
        ("let x = 3\nlet f y = x + y\nlet x = 10\nf(1) + x", "14"),
        ("[[1, 2], [3]][0][1]", "2"),
        (
            "let r = { f = fun x -> { g = fun y -> x + y } }\nr.f(1).g(2)",
            "3",
        ),
        ("!(ref 1 + 2)", "3"),
        ("let r = ref(ref(3))\n!!r", "3"),
        ("let a = [1, 2, 3]\na[1] <- a[0] + a[2]; a[1]", "4"),
        (
            "let rec f n = if n == 0 then 0 else 1 + f(n - 1)\nf(5000)",
            "5000",
        ),
        (
            "module String = struct let length s = 42 end\nString.length(\"a\")",
            "42",
        ),
    ]);
}

#[test]
fn a_long_array_equals_a_short_one() {
    let items: Vec<String> = (0..300).map(|item| item.to_string()).collect();
    let source = format!(
        "let a = [{}]\nlet out = [a[0], a[299], length(a)]",
        items.join(", ")
    );
    assert_eq!(outcome(&source), "[|0, 299, 300|]");
}

#[test]
fn equality() {
    table(&[
        ("() == ()", "true"),
        ("\"a\" ++ \"b\" == \"ab\"", "true"),
        ("1.0 == 1.0", "true"),
        ("`A(1) == `A(2)", "false"),
        ("`A(1) == `B(1)", "false"),
        ("`A == `A", "true"),
        ("`A != `A", "false"),
        ("{ a = { b = 1 } } == { a = { b = 1 } }", "true"),
        ("{ a = { b = 1 } } == { a = { b = 2 } }", "false"),
        ("[1] == [1]", "chatml.run.equality"),
        ("ref(1) == ref(1)", "chatml.run.equality"),
        ("(fun x -> x) == (fun x -> x)", "chatml.run.equality"),
        ("Task.pure(1) == Task.pure(1)", "chatml.run.equality"),
        ("{ a = [1] } == { a = [1] }", "chatml.run.equality"),
        // A join can hide a field; equality looks at what is there.
        (
            "let n = 1\nlet a = if true then { x = 1; y = 2 } else { x = 1; z = 2 }\na == { x = 1 }",
            "false",
        ),
    ]);
}

#[test]
fn printing() {
    table(&[
        ("7.0", "7."),
        ("[]", "[||]"),
        ("[\"a\", \"b\"]", "[|a, b|]"),
        ("{ b = 2; a = 1 }", "{ a = 1; b = 2 }"),
        ("`A((), \"x\")", "`A((), x)"),
        ("ref(ref(1))", "ref(ref(1))"),
        ("[true, false]", "[|true, false|]"),
        ("{ f = fun x -> x }", "{ f = <closure> }"),
    ]);
    let deep = "let rec nest n v = if n == 0 then v else nest(n - 1, [v])\nnest(70, [])";
    let text = outcome(deep);
    assert_eq!(text, "[|".repeat(64) + "..." + &"|]".repeat(64));
}

#[test]
fn print_writes_lines_for_the_host() {
    let evaluation = run("print([1]); print(\"x\"); 3").unwrap();
    assert_eq!(evaluation.output, "[|1|]\nx\n");
    assert_eq!(evaluation.text.as_deref(), Some("3"));
}

#[test]
fn a_program_without_a_last_value_prints_nothing() {
    assert_eq!(run("").unwrap().text, None);
    assert_eq!(run("1\ntype t = int").unwrap().text, None);
    assert_eq!(run("1\nmodule M = struct end").unwrap().text, None);
}

#[test]
fn a_fault_names_its_expression_and_its_calls() {
    let source = "let inner x = 10 / x\nlet outer x = 1 + inner(x)\nlet all xs = Array.map(xs, fun x -> outer(x) + 0)\nall([1, 0])\n1";
    let fault = run(source).unwrap_err();
    assert_eq!(fault.code, "chatml.run.division_by_zero");
    assert_eq!(fault.span.of(source), "10 / x");
    let calls: Vec<&str> = fault.calls.iter().map(|call| call.of(source)).collect();
    // `all` called `Array.map` in tail position, so its own frame is gone.
    assert_eq!(calls, ["inner(x)", "outer(x)", "all([1, 0])"]);
}

#[test]
fn a_fault_lists_sixteen_calls_at_most() {
    let fault = run("let rec f n = if n == 0 then 1 / 0 else 1 + f(n - 1)\nf(100)").unwrap_err();
    assert_eq!(fault.calls.len(), 16);
}

/// Fuel is the same on every machine: the counts of spec 05 section 8.3.
#[test]
fn fuel_counts_what_the_spec_says() {
    let fuel = |source: &str| run(source).unwrap().fuel;
    let base = fuel("1");
    for (source, steps) in [
        ("1 + 2 * 3", 0),
        ("let f x = x\nf(1)", 1),
        ("let f x = x\nf(f(1))", 2),
        ("String.length(\"abc\")", 1),
        ("let n = ref(0)\nwhile !n < 4 do n := !n + 1 done", 4),
        // The call, and one for each item and each callback.
        ("Array.map([1, 2, 3], fun x -> x)", 1 + 3 + 3),
        ("Array.copy([1, 2, 3])", 1 + 3),
        ("Array.append([1, 2], [3])", 1 + 3),
        ("Array.exists([1, 2, 3], fun x -> x == 2)", 1 + 2 + 2),
        ("record_keys({ a = 1; b = 2 })", 1 + 2),
    ] {
        assert_eq!(fuel(source) - base, steps, "{source}");
    }
}

#[test]
fn fuel_ends_every_kind_of_loop() {
    for source in [
        "while true do () done",
        "let rec f () = f()\nf()",
        "let rec f x = f(x)\nf(1)",
        "let rec f () = g() and g () = f()\nf()",
        "let f = ref(fun () -> ())\nf := (fun () -> (!f)())\nlet out = (!f)()",
        "let a = [1, 2, 3]\nlet rec f () = Array.iter(a, fun x -> ()); f()\nf()",
    ] {
        assert_eq!(outcome(source), "chatml.limit.fuel", "{source}");
    }
}

#[test]
fn tail_calls_take_constant_stack() {
    let limits = Limits {
        fuel: 10_000_000,
        ..Limits::default()
    };
    for body in [
        "if n == 0 then 0 else f(n - 1)",
        "match n with | 0 -> 0 | _ -> f(n - 1)",
        "let m = n - 1 in if n == 0 then 0 else f(m)",
        "(); if n == 0 then 0 else ((); f(n - 1))",
        "if n == 0 then 0 else id(f)(n - 1)",
        "if n == 0 then 0 else if n == 1 then f(0) else f(n - 1)",
    ] {
        let source = format!("let id x = x\nlet rec f n = {body}\nf(200000)");
        let evaluation = run_with(&source, &limits).unwrap();
        assert_eq!(evaluation.text.as_deref(), Some("0"), "{body}");
    }
}
