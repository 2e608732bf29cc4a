//! `chatmdc chatml` as a script author meets it (spec 10 section 2.12).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod check;
mod documents;
mod eval;
mod repl;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod terminal;
