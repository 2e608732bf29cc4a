//! Programs that try to cost more than they may.

use std::time::{Duration, Instant};

use super::{outcome, program, run_with};
use crate::instance::evaluate;
use crate::limits::{Limits, Monotonic};

fn generous() -> Limits {
    Limits {
        fuel: 1_000_000_000,
        ..Limits::default()
    }
}

fn code(source: &str, limits: &Limits) -> String {
    match run_with(source, limits) {
        Ok(evaluation) => evaluation.text.unwrap_or_default(),
        Err(fault) => fault.code.to_owned(),
    }
}

#[test]
fn deep_recursion_ends_in_its_code() {
    assert_eq!(
        outcome("let rec f n = 1 + f(n + 1)\nf(0)"),
        "chatml.limit.depth"
    );
    assert_eq!(
        outcome("let rec f n = Array.fold([n], 0, fun a x -> a + f(x + 1))\nf(0)"),
        "chatml.limit.depth"
    );
    assert_eq!(
        code(
            "let rec f n = if n == 0 then 0 else 1 + f(n - 1)\nf(9990)",
            &generous()
        ),
        "9990"
    );
}

#[test]
fn building_too_much_ends_in_its_code() {
    for source in [
        // Quadratic text.
        "let s = ref(\"\")\nwhile true do s := !s ++ \"0123456789\" done",
        // Doubling.
        "let rec grow s = grow(s ++ s)\ngrow(\"x\")",
        "let rec grow a = grow(Array.append(a, a))\ngrow([1])",
        "let rec grow s = grow(String.replace_all(s, \"x\", s))\ngrow(\"xx\")",
        "let a = ref([])\nwhile true do a := [!a, !a] done",
        "Array.make(900000000, 0)",
        "Array.init(1000000000, fun i -> i)",
        "let rec f r = f({ r with a = r })\nlet rec g r = g({ a = 1; b = 2; c = 3 })\ng(0)",
        "let rec f v = f(`T(v))\nf(`E)",
        "let rec f x = let g = fun () -> x in f(g)\nf(fun () -> ())",
        "let t = ref(Task.pure(1))\nwhile true do t := Task.map(!t, fun x -> x) done",
        "let rec f s = f(String.split(s, \",\")[0] ++ s)\nf(\"a,b\")",
        "let a = ref([[]])\nwhile true do a := [!a, !a, !a]; to_string(!a) done",
        "while true do print(\"0123456789\") done",
    ] {
        let started = Instant::now();
        let code = code(source, &generous());
        assert_eq!(code, "chatml.limit.memory", "{source}");
        let took = started.elapsed();
        assert!(took < Duration::from_secs(4), "{source}: {took:?}");
    }
}

#[test]
fn wide_frames_count_as_memory() {
    let names: Vec<String> = (0..2000).map(|index| format!("x{index}")).collect();
    let lets: String = names
        .iter()
        .map(|name| format!("let {name} = n in "))
        .collect();
    let sum = names.join(" + ");
    let source = format!("let rec f n = {lets} {sum} + f(n)\nf(1)");
    assert_eq!(code(&source, &generous()), "chatml.limit.memory");
}

#[test]
fn wall_time_ends_pure_loops_and_heavy_functions() {
    let limits = Limits {
        wall_time: Duration::from_millis(200),
        max_value: 64 * 1024 * 1024,
        ..generous()
    };
    for source in [
        "while true do () done",
        "let rec f n = f(n + 1)\nf(0)",
        "let s = ref(\"ab\")\nwhile string_length(!s) < 4000000 do s := !s ++ !s done\nlet t = !s ++ \"c\"\nlet u = !s ++ \"c\"\nwhile true do t == u; () done",
        "let s = ref(\"ab\")\nwhile string_length(!s) < 4000000 do s := !s ++ !s done\nwhile true do String.contains(!s, \"zz\"); () done",
        "let s = ref(\"ab\")\nwhile string_length(!s) < 4000000 do s := !s ++ !s done\nwhile true do hash_md5(!s); () done",
        "let a = Array.make(1000, 1)\nwhile true do Array.iter(a, fun x -> ()) done",
    ] {
        let started = Instant::now();
        let fault = evaluate(&program(source), &limits, &Monotonic::start()).unwrap_err();
        let took = started.elapsed();
        let code = fault.code;
        assert!(
            code == "chatml.limit.time" || code == "chatml.limit.memory",
            "{source}: {code}"
        );
        // Twice the declared time, with room for a debug build on a busy machine.
        assert!(took < Duration::from_millis(1500), "{source}: {took:?}");
    }
}

#[test]
fn data_that_unfolds_exponentially_is_bounded() {
    let doubled = "let rec double n v = if n == 0 then v else double(n - 1, { a = v; b = v })\n";
    assert_eq!(
        outcome(&format!("{doubled}double(60, 1) == double(60, 1)")),
        "chatml.limit.fuel"
    );
    assert_eq!(
        outcome(&format!("{doubled}string_length(to_string(double(60, 1)))")),
        "chatml.limit.memory"
    );
}

#[test]
fn cyclic_data_prints_and_ends() {
    let cycle = "let a = [`Nil]\na[0] <- `Loop(a)\n";
    let text = outcome(&format!("{cycle}to_string(a)"));
    assert!(text.contains("..."), "{text}");
    assert_eq!(
        outcome("let a = [`Array([])]\na[0] <- `Array(a)\nJson.stringify(`Array(a))"),
        "chatml.run.json"
    );
}

#[test]
fn deep_data_costs_no_native_stack() {
    let limits = Limits {
        fuel: 10_000_000,
        max_value: 64 * 1024 * 1024,
        ..Limits::default()
    };
    let chain = "let rec chain n v = if n == 0 then v else chain(n - 1, `Next(n, v))\n";
    assert_eq!(
        code(
            &format!("{chain}chain(200000, `End) == chain(200000, `End)"),
            &limits
        ),
        "true"
    );
}

#[test]
fn long_programs_compile_without_native_stack() {
    let many = 20_000;
    let sum = vec!["1"; many].join(" + ");
    assert_eq!(outcome(&sum), many.to_string());
    let lets: String = (0..many).map(|_| "let x = 1 in ").collect();
    assert_eq!(outcome(&format!("{lets} x")), "1");
    let sequence = "(); ".repeat(many);
    assert_eq!(outcome(&format!("{sequence} 5")), "5");
    let calls = "(1)".repeat(many);
    assert_eq!(
        outcome(&format!("let rec f x = f\nlet g = f{calls}\n7")),
        "7"
    );
    let branches: String = (0..many).map(|_| "if false then 1 else ").collect();
    assert_eq!(outcome(&format!("{branches} 2")), "2");
    let not = "-".repeat(many);
    assert_eq!(outcome(&format!("let x = 1\nlet y = {not}x")), "1");
}

#[test]
fn deep_nesting_compiles_on_a_small_stack() {
    let nested = |open: &str, middle: &str, close: &str, depth: usize| {
        open.repeat(depth) + middle + &close.repeat(depth)
    };
    let mut programs = vec![
        nested("(1 + 2 * ", "1", ")", 250),
        nested("[", "1", "]", 250),
        nested("{ a = 1 < -2 * ", "1", " }", 250),
        nested("(fun x -> 1 == 2 + 3 * ", "1", ")(0)", 120),
        nested("(match 1 with | 1 -> 1 + ", "1", "| _ -> 2)", 120),
        nested("(if 1 < ", "1", " then 1 else 2)", 120),
    ];
    programs.push(nested("`T(", "1", ")", 250));
    let programs: Vec<_> = with_stack(16, move || {
        let parse = |source: &String| crate::parse(source);
        programs.iter().map(parse).collect()
    });
    with_stack(2, move || {
        for parsed in programs {
            assert!(parsed.is_ok(), "{:?}", parsed.errors);
            crate::eval::compile(&parsed.program).unwrap();
        }
    });
}

/// Runs on a thread with a native stack of so many MiB.
fn with_stack<T: Send + 'static>(mib: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(mib * 1024 * 1024);
    thread.spawn(work).unwrap().join().unwrap()
}

#[test]
fn a_long_chain_of_binds_compiles_or_is_refused() {
    let chain = |count: usize, last: &str| {
        let steps: String = (0..count)
            .map(|index| format!("let* x{index} = Task.pure({index}) in "))
            .collect();
        format!("{steps} Task.pure({last})")
    };
    program(&chain(5000, "1"));
    let far = |count: usize| {
        let all: Vec<String> = (0..count).map(|index| format!("x{index}")).collect();
        chain(count, &all.join(" + "))
    };
    program(&far(500));
    let parsed = crate::parse(&far(5000));
    let error = crate::eval::compile(&parsed.program).unwrap_err();
    assert_eq!(error.code, "chatml.type.too_complex");
}
