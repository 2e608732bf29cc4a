#![allow(clippy::unwrap_used, clippy::expect_used)]

mod codes;
mod conformance;
mod entry;
mod examples;
mod hostile;
mod inference;
mod lints;
mod printing;

use super::{Checked, check};
use crate::diagnostic::Diagnostic;
use crate::parse::parse;
use crate::surface::Kind;

/// Checks on the core surface; the program has to parse.
fn checked(source: &str) -> Checked {
    checked_as(source, Kind::Core)
}

fn checked_as(source: &str, kind: Kind) -> Checked {
    let parsed = parse(source);
    assert!(parsed.is_ok(), "{source}: {:?}", parsed.errors);
    check(&parsed.program, kind)
}

/// The first error of parsing or checking.
fn first_error(source: &str, kind: Kind) -> Option<Diagnostic> {
    let parsed = parse(source);
    let checked = check(&parsed.program, kind);
    parsed.errors.into_iter().chain(checked.errors).next()
}

/// The type of a program as text, or the code of its first error.
fn result(source: &str) -> String {
    match first_error(source, Kind::Core) {
        Some(error) => error.code.as_str().to_owned(),
        None => type_of(source),
    }
}

fn type_of(source: &str) -> String {
    let checked = checked(source);
    assert!(checked.is_ok(), "{source}: {:?}", checked.errors);
    checked
        .program_type()
        .map_or("nothing".to_owned(), |ty| ty.to_string())
}
