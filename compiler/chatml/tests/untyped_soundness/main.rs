//! What the checker accepts does not go wrong (spec 05 section 5.3). The other generator, in
//! `soundness`, builds programs by type; this one lets the checker choose.
//!
//! Programs grow statement by statement out of random parts: functions that are polymorphic over
//! records, calls with values of random shape, cells, mutations, observations that go wrong at
//! once when a value is not what its type says, and anything else the grammar has. A statement
//! stays if the checker accepts the program with it. So the generator knows nothing of types, and
//! every feature meets every other: rows, joins, references, arrays, closures, recursion, modules,
//! tasks. Each finished program is run; no run may end in `chatml.run.internal`, and the final
//! value, which gathers all variables, must have the inferred type.
//!
//! The generator bites: it finds a failure within some thousand programs when the checker
//! generalises expansive bindings, when a join leaves out that a field is hidden, or when binding a
//! variable does not lower the levels inside, or when row variables are generalised regardless of theirs.
//!
//! `CHATML_SOUND_PROGRAMS` sets how many programs (default 600); `CHATML_SOUND_SEED` where to start.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod generator;
#[path = "../support/random.rs"]
mod random;
mod statement;

use std::sync::Arc;

use chatml::ast::Program;
use chatml::eval::compile;
use chatml::instance::evaluate;
use chatml::limits::{Limits, Unlimited};
use chatml::surface::Kind;
use chatml::{check, parse};

use generator::Generator;
use random::Random;

fn accepted(source: &str) -> Option<Program> {
    let parsed = parse(source);
    assert!(parsed.is_ok(), "{source}\n{:?}", parsed.errors);
    check(&parsed.program, Kind::Core)
        .is_ok()
        .then_some(parsed.program)
}

/// What is wrong with a run of an accepted program.
fn complaint(program: &Program) -> Option<String> {
    let checked = check(program, Kind::Core);
    let ty = checked.program_type()?;
    let compiled = match compile(program) {
        Ok(compiled) => Arc::new(compiled),
        Err(error) => return Some(format!("does not compile: {error:?}")),
    };
    let limits = Limits {
        fuel: 5_000,
        ..Limits::default()
    };
    match evaluate(&compiled, &limits, &Unlimited) {
        Ok(evaluation) => evaluation
            .misfit(&ty)
            .map(|what| format!("{what} does not fit `{ty}`")),
        Err(fault) if fault.code == "chatml.run.internal" => Some(fault.to_string()),
        Err(_) => None,
    }
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn accepted_programs_do_not_go_wrong() {
    let count = from_environment("CHATML_SOUND_PROGRAMS", 600);
    let seed = from_environment("CHATML_SOUND_SEED", 1);
    let mut finished = 0;
    for number in 0..count {
        let mut generator = Generator {
            random: Random(seed.wrapping_mul(1_000_003).wrapping_add(number)),
            names: Vec::new(),
            modules: Vec::new(),
            fresh: 0,
        };
        let (source, program) = generator.program();
        if let Some(complaint) = complaint(&program) {
            panic!("program {number} of seed {seed}: {complaint}\n{source}");
        }
        finished += 1;
    }
    assert_eq!(finished, count);
}
