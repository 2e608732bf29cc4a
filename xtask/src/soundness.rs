//! `cargo xtask soundness`: generated programs of ChatML, and the proof that the generator bites.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::process::{self, cargo, root};

/// Programs of each generator, unless told otherwise.
const PROGRAMS: u32 = 100_000;
/// Compiles the checker without the level adjustment of an extended row (`check/unify.rs`).
const BROKEN: &str = "--cfg chatml_broken_rows";

/// Runs both generators on a checker as it is, then [`bites`].
pub fn run(words: &[String]) -> Result<()> {
    let programs = match words {
        [] => PROGRAMS,
        [count] => count.parse().context("how many programs is a number")?,
        _ => bail!("usage: cargo xtask soundness [PROGRAMS]"),
    };
    let started = Instant::now();
    process::run(tests(&["--release"]).env("CHATML_SOUNDNESS", programs.to_string()))?;
    let seconds = started.elapsed().as_secs_f64();
    println!("== {programs} typed programs: {seconds:.0} s");
    let started = Instant::now();
    let mut untyped = cargo();
    untyped.args(["test", "--release", "-p", "chatml", "--locked"]);
    untyped.args(["--test", "untyped_soundness", "--", "--nocapture"]);
    process::run(untyped.env("CHATML_SOUND_PROGRAMS", programs.to_string()))?;
    let seconds = started.elapsed().as_secs_f64();
    println!("== {programs} programs of the other generator: {seconds:.0} s");
    bites()
}

/// With row generalisation broken on purpose, the generator has to find a program that goes wrong.
pub fn bites() -> Result<()> {
    let folder = root().join("target/broken-rows");
    let mut command = tests(&[]);
    command
        .arg("--target-dir")
        .arg(folder)
        .env("RUSTFLAGS", BROKEN)
        .env("CHATML_SOUNDNESS", PROGRAMS.to_string());
    let output = process::capture(&mut command)?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let ran = text.contains("running 1 test");
    match text.lines().find_map(|line| line.split_once("seed ")) {
        Some((_, seed)) if ran && !output.status.success() => {
            println!("with broken rows program {seed} goes wrong, as it must");
            Ok(())
        }
        _ => bail!("the generator did not notice broken rows:\n{text}"),
    }
}

fn tests(options: &[&str]) -> Command {
    let mut command = cargo();
    command.args(["test", "-p", "chatml", "--locked", "--test", "soundness"]);
    command.args(options);
    command
}
