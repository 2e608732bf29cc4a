//! `cargo xtask test [--fuzz-seconds N]`: cheap checks first, then the fuzz targets, then every test.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::process::{self, cargo};
use crate::tools::{TEST_TOOLS, ensure};
use crate::{fuzz, soundness};

/// A part of the suite, in the order in which the parts run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Format,
    Lints,
    Docs,
    /// Tests of one package that start the program of another find it beside themselves.
    Programs,
    Fuzzing,
    /// The generator of ChatML programs notices a checker that is broken on purpose.
    Generator,
    /// The last one: the end of the output is the summary of `cargo test`.
    Tests,
}

const STEPS: &[Step] = &[
    Step::Format,
    Step::Lints,
    Step::Docs,
    Step::Programs,
    Step::Fuzzing,
    Step::Generator,
    Step::Tests,
];

/// Runs the whole suite; the first step that fails ends it.
pub fn run(words: &[String]) -> Result<()> {
    let seconds = fuzz_seconds(words)?;
    ensure(TEST_TOOLS)?;
    // Known at once, so not told after all the checks.
    fuzz::check_lock()?;
    for step in STEPS {
        println!("\n== {}", step.title());
        let started = Instant::now();
        match step.command() {
            Some(mut command) => process::run(&mut command)?,
            None if *step == Step::Generator => soundness::bites()?,
            None => fuzz::fuzz(fuzz::TARGETS, seconds)?,
        }
        if *step != Step::Tests {
            let seconds = started.elapsed().as_secs_f64();
            println!("== {}: {seconds:.0} s", step.title());
        }
    }
    Ok(())
}

/// How long each fuzz target runs.
fn fuzz_seconds(words: &[String]) -> Result<u32> {
    match words {
        [] => Ok(fuzz::SECONDS),
        [option, seconds] if option == "--fuzz-seconds" => fuzz::seconds(seconds),
        _ => bail!("usage: cargo xtask test [--fuzz-seconds N]"),
    }
}

impl Step {
    fn title(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Lints => "lints",
            Self::Docs => "docs",
            Self::Programs => "programs",
            Self::Fuzzing => "fuzzing",
            Self::Generator => "generator of programs",
            Self::Tests => "tests",
        }
    }

    /// What cargo does for the step; `None`: it has its own way.
    fn command(self) -> Option<Command> {
        let mut command = cargo();
        match self {
            Self::Format => command.args(["fmt", "--all", "--check"]),
            Self::Lints => command
                .args(["clippy", "--workspace", "--all-targets", "--locked"])
                .args(["--", "-D", "warnings"]),
            Self::Docs => command
                .args(["doc", "--workspace", "--no-deps", "--locked"])
                .arg("--document-private-items")
                // Private items are documented too, so links to them do lead somewhere.
                .env(
                    "RUSTDOCFLAGS",
                    "-D warnings -A rustdoc::private_intra_doc_links",
                ),
            Self::Programs => command.args(["build", "--workspace", "--bins", "--locked"]),
            Self::Fuzzing | Self::Generator => return None,
            Self::Tests => command
                .args(["test", "--workspace", "--locked"])
                .env("INSTA_UPDATE", "no"),
        };
        Some(command)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    /// Finds of the fuzzers are met by the tests, and the output ends with the tests' own summary.
    #[test]
    fn every_target_is_fuzzed_for_a_minute_before_the_tests() {
        assert_eq!(fuzz_seconds(&[]).unwrap(), 60);
        let short = ["--fuzz-seconds".to_owned(), "3".to_owned()];
        assert_eq!(fuzz_seconds(&short).unwrap(), 3);
        assert!(fuzz_seconds(&short[..1]).is_err());
        assert_eq!(STEPS.last(), Some(&Step::Tests));
        assert!(STEPS.contains(&Step::Fuzzing));
        let without_command = STEPS.iter().filter(|step| step.command().is_none());
        let own_way = [&Step::Fuzzing, &Step::Generator];
        assert_eq!(without_command.collect::<Vec<_>>(), own_way);
    }
}
