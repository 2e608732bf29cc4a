//! Measures ChatML beside rhai and starlark on equal programs, and one call of a reviewer.
//!
//! Prints a table to standard error and one JSON object to standard output; times are medians in
//! microseconds. Every engine evaluates a function that is compiled before the clock starts.

mod engines;
mod extension;
mod programs;

use std::time::Instant;

/// Rounds of one measurement; engines take turns so that a disturbance hits all of them.
const ROUNDS: usize = 31;

/// Median of the rounds, in microseconds.
fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Time of one run, in microseconds.
fn time(run: &mut dyn FnMut() -> i64, expected: i64) -> f64 {
    let started = Instant::now();
    let found = run();
    let took = started.elapsed().as_secs_f64() * 1e6;
    assert_eq!(found, expected, "the engines must compute the same");
    took
}

fn main() {
    let mut report = Vec::new();
    eprintln!(
        "{:<16} {:>12} {:>12} {:>12} {:>10} {:>12}",
        "program", "chatml µs", "rhai µs", "starlark µs", "× rhai", "× starlark"
    );
    for program in programs::ALL {
        let mut engines = engines::prepare(program);
        let mut samples = [const { Vec::new() }; 3];
        for round in 0..ROUNDS + 2 {
            for (run, samples) in engines.iter_mut().zip(&mut samples) {
                let took = time(&mut **run, program.result);
                if round >= 2 {
                    samples.push(took);
                }
            }
        }
        let [chatml, rhai, starlark] = samples.map(median);
        let (beside_rhai, beside_starlark) = (rhai / chatml, starlark / chatml);
        eprintln!(
            "{:<16} {chatml:>12.0} {rhai:>12.0} {starlark:>12.0} {beside_rhai:>10.2} {beside_starlark:>12.2}",
            program.name
        );
        report.push(format!(
            "\"{}\":{{\"chatml_us\":{chatml:.1},\"rhai_us\":{rhai:.1},\"starlark_us\":{starlark:.1},\"times_rhai\":{beside_rhai:.2},\"times_starlark\":{beside_starlark:.2}}}",
            program.name
        ));
    }
    for (name, microseconds) in extension::measure() {
        eprintln!("{name:<28} {microseconds:>12.2} µs");
        report.push(format!("\"{name}_us\":{microseconds:.2}"));
    }
    println!("{{{}}}", report.join(","));
}
