#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Evaluation through source text.

mod hostile;
mod language;

use std::sync::Arc;

use crate::eval::{Fault, Program, compile};
use crate::instance::{Evaluation, evaluate};
use crate::limits::{Limits, Unlimited};

/// Compiles a program without checking it.
pub(crate) fn program(source: &str) -> Arc<Program> {
    let parsed = crate::parse(source);
    assert!(parsed.is_ok(), "{source}\n{:?}", parsed.errors);
    Arc::new(compile(&parsed.program).unwrap_or_else(|error| panic!("{source}\n{error:?}")))
}

pub(crate) fn run_with(source: &str, limits: &Limits) -> Result<Evaluation, Fault> {
    evaluate(&program(source), limits, &Unlimited)
}

pub(crate) fn run(source: &str) -> Result<Evaluation, Fault> {
    run_with(source, &Limits::default())
}

/// The printed value, or the code of the fault.
pub(crate) fn outcome(source: &str) -> String {
    match run(source) {
        Ok(evaluation) => evaluation.text.unwrap_or_default(),
        Err(fault) => fault.code.to_owned(),
    }
}

/// Runs rows of program and outcome and reports all that differ.
pub(crate) fn table(rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (source, expected) in rows {
        let found = outcome(source);
        if found != *expected {
            wrong.push(format!(
                "{source}\n  expected {expected}\n  found    {found}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
