//! What hostile programs cost, measured from outside: every program runs in a process of its own, whose
//! largest memory the operating system tells (issue "ChatML", spec 05 sections 5.8 and 8.3). Checking ends
//! within 2 s and 256 MiB, evaluation within twice its wall time and near its allocation limit.

#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(target_os = "linux")]

use std::process::Command;
use std::time::{Duration, Instant};

use chatml::instance::{evaluate, prepare};
use chatml::limits::{Limits, Monotonic};
use chatml::surface::Kind;
use chatml::{check, parse};

/// Without optimisation everything takes about ten times as long.
const SLOW: u32 = if cfg!(debug_assertions) { 10 } else { 1 };

/// The variable that tells a child which program to run.
const CASE: &str = "CHATML_BOUNDS_CASE";

const MIB: u64 = 1024;

struct Case {
    name: &'static str,
    source: fn() -> String,
    /// The code it ends in; empty when checking alone is measured and any end will do.
    code: &'static str,
}

fn doubling() -> String {
    let mut source = "let x0 = fun y -> y\n".to_owned();
    for n in 1..40 {
        source.push_str(&format!("let x{n} = {{ a = x{0}; b = x{0} }}\n", n - 1));
    }
    source
}

/// Programs whose checking is measured.
const CHECKED: &[Case] = &[
    Case {
        name: "types that double",
        source: doubling,
        code: "chatml.type.too_complex",
    },
    Case {
        name: "10,000 nested parentheses",
        source: || format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000)),
        code: "chatml.syntax.too_deep",
    },
    Case {
        name: "30,000 nested binds",
        source: || {
            format!(
                "let t = Task.pure(1)\n{}Task.pure(x)",
                "let* x = t in ".repeat(30_000)
            )
        },
        code: "",
    },
    Case {
        name: "a record of 3,000 updates",
        source: || {
            (0..3_000).fold("let r = { a = 1 }\n".to_owned(), |all, n| {
                all + &format!("let r = {{ r with f{n} = {n} }}\n")
            })
        },
        code: "chatml.type.too_complex",
    },
    Case {
        name: "1 MiB of digits",
        source: || "9".repeat(1 << 20),
        code: "chatml.lex.int_range",
    },
    Case {
        name: "1 MiB of a string",
        source: || format!("\"{}\"", "x".repeat((1 << 20) - 2)),
        code: "",
    },
    Case {
        name: "1 MiB of wrong characters",
        source: || "@ ".repeat(1 << 19),
        code: "chatml.lex.unknown_char",
    },
    Case {
        name: "1 MiB of openings",
        source: || "{ a = ".repeat((1 << 20) / 6),
        code: "chatml.syntax.too_deep",
    },
    Case {
        name: "1 MiB of a sum",
        source: || format!("1{}", "+1".repeat((1 << 19) - 1)),
        code: "",
    },
    Case {
        name: "1 MiB of statements",
        source: || "let x = 1\n".repeat((1 << 20) / 10),
        code: "",
    },
];

/// Programs whose evaluation is measured, with fuel that does not end them.
const EVALUATED: &[Case] = &[
    Case {
        name: "a pure loop",
        source: || "while true do () done".into(),
        code: "chatml.limit.time",
    },
    Case {
        name: "a tail-recursive loop",
        source: || "let rec f n = f(n + 1)\nf(0)".into(),
        code: "chatml.limit.time",
    },
    Case {
        name: "quadratic text",
        source: || "let s = ref(\"\")\nwhile true do s := !s ++ \"0123456789\" done".into(),
        code: "chatml.limit.memory",
    },
    Case {
        name: "arrays that grow",
        source: || "let rec grow a = grow(Array.append(a, a))\ngrow([1])".into(),
        code: "chatml.limit.memory",
    },
    Case {
        name: "one huge array",
        source: || "Array.make(900000000, 0)".into(),
        code: "chatml.limit.memory",
    },
    Case {
        name: "records that are copied",
        source: || "let rec f r = f({ r with b = r.b + 1 })\nf({ a = 1; b = 2 })".into(),
        code: "chatml.limit.memory",
    },
    Case {
        name: "cyclic data that is printed",
        source: || "let a = [`Nil]\na[0] <- `Loop(a)\nto_string(a)".into(),
        code: "",
    },
    Case {
        name: "data that unfolds exponentially",
        source: || {
            "let rec double n v = if n == 0 then v else double(n - 1, `Two(v, v))\nto_string(double(60, `Leaf))"
            .into()
        },
        code: "chatml.limit.memory",
    },
    Case {
        name: "calls that nest",
        source: || "let rec f n = 1 + f(n + 1)\nf(0)".into(),
        code: "chatml.limit.depth",
    },
];

fn limits() -> Limits {
    Limits {
        fuel: u64::MAX / 2,
        wall_time: Duration::from_secs(1),
        ..Limits::default()
    }
}

/// The largest memory of this process so far, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// In the child: runs a program and prints its code, its time in microseconds and its memory in KiB.
fn measure(case: &Case, evaluated: bool) {
    let source = (case.source)();
    let before = peak();
    let (code, took) = if evaluated {
        let (program, _) = prepare(&source, Kind::Core).unwrap();
        let started = Instant::now();
        let result = evaluate(&program, &limits(), &Monotonic::start());
        (
            result.map_or_else(|fault| fault.code, |_| ""),
            started.elapsed(),
        )
    } else {
        let started = Instant::now();
        let parsed = parse(&source);
        let checked = check(&parsed.program, Kind::Core);
        let first = parsed.errors.first().or(checked.errors.first());
        (
            first.map_or("", |error| error.code.as_str()),
            started.elapsed(),
        )
    };
    let grown = peak().saturating_sub(before);
    println!("\nmeasured {code:?} {} {grown}", took.as_micros());
}

fn child() -> Option<(usize, bool)> {
    let text = std::env::var(CASE).ok()?;
    let (kind, index) = text.split_once(' ')?;
    Some((index.parse().ok()?, kind == "evaluated"))
}

/// Code, time and KiB of a program.
fn outcome(index: usize, kind: &str, test: &str) -> (String, Duration, u64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CASE, format!("{kind} {index}"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("measured "));
    let line = line.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    let [code, micros, kib] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let took = Duration::from_micros(micros.parse().unwrap());
    (
        code.trim_matches('"').to_owned(),
        took,
        kib.parse().unwrap(),
    )
}

#[test]
fn checking_stays_within_time_and_memory() {
    if let Some((index, false)) = child() {
        return measure(&CHECKED[index], false);
    }
    for (index, case) in CHECKED.iter().enumerate() {
        let name = case.name;
        let (code, took, kib) = outcome(index, "checked", "checking_stays_within_time_and_memory");
        println!("{name}: {code} {took:?} {} MiB", kib / MIB);
        assert_eq!(code, case.code, "{name}");
        assert!(took < Duration::from_secs(2) * SLOW, "{name}: {took:?}");
        assert!(kib < 256 * MIB, "{name}: {kib} KiB");
    }
}

#[test]
fn evaluation_stays_within_its_limits() {
    if let Some((index, true)) = child() {
        return measure(&EVALUATED[index], true);
    }
    let limits = limits();
    for (index, case) in EVALUATED.iter().enumerate() {
        let name = case.name;
        let (code, took, kib) = outcome(index, "evaluated", "evaluation_stays_within_its_limits");
        println!("{name}: {code} {took:?} {} MiB", kib / MIB);
        assert_eq!(code, case.code, "{name}");
        assert!(took < limits.wall_time * 2, "{name}: {took:?}");
        // What is built is bounded by the limit; vectors that grow hold up to twice that while they move.
        assert!(kib < 3 * limits.allocation() / 1024, "{name}: {kib} KiB");
    }
}
