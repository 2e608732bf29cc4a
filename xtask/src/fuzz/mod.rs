//! `cargo xtask fuzz [SECONDS [TARGET]]`: every target of `fuzz/` under libFuzzer and the address sanitizer.

mod campaign;
mod seeds;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::process::{self, capture, cargo, root};
use crate::tools::{self, CPP};

/// One target for each function of `fuzz/src/lib.rs`.
pub const TARGETS: &[&str] = &[
    "syntax",
    "lowering",
    "compilation",
    "manifest",
    "bundle",
    "tool_input",
    "audit",
    "script",
];

/// How long each target runs when nobody says otherwise, in seconds.
pub const SECONDS: u32 = 60;

/// Runs the command.
pub fn run(words: &[String]) -> Result<()> {
    let (seconds, only) = match words {
        [] => (SECONDS, None),
        [time] => (seconds(time)?, None),
        [time, target] => (seconds(time)?, Some(target.as_str())),
        _ => bail!("usage: cargo xtask fuzz [SECONDS [TARGET]]"),
    };
    let targets: Vec<&str> = TARGETS
        .iter()
        .copied()
        .filter(|target| only.is_none_or(|only| only == *target))
        .collect();
    ensure!(
        !targets.is_empty(),
        "the targets are {}",
        TARGETS.join(", ")
    );
    fuzz(&targets, seconds)
}

/// A time for each target.
///
/// # Errors
/// When it is no whole number, or nothing: libFuzzer takes zero for "without end".
pub fn seconds(word: &str) -> Result<u32> {
    let seconds = word.parse().context("SECONDS is a whole number")?;
    ensure!(seconds > 0, "SECONDS is at least 1");
    Ok(seconds)
}

/// Builds the targets and runs each for that long, as many at once as there are processors. A find
/// ends the run with an error and is left in `corpus/hostile`, where the tests meet it from then on.
pub fn fuzz(targets: &[&str], seconds: u32) -> Result<()> {
    tools::ensure(&[CPP])?;
    let folder = process::target("fuzz")?;
    let programs = build(&folder)?;
    let seeds = seeds::Seeds::collect()?;
    campaign::Campaign {
        programs: &programs,
        folder: &folder,
        seeds: &seeds,
        seconds,
    }
    .run(targets)
}

/// Fails when the lock file of `fuzz/`, a workspace of its own, lags behind a dependency of the others:
/// `cargo fuzz` would bring it up to date without a word.
pub fn check_lock() -> Result<()> {
    let manifest = root().join("fuzz/Cargo.toml");
    let locked = capture(
        cargo()
            .args(["metadata", "--format-version=1", "--locked"])
            .arg("--manifest-path")
            .arg(&manifest),
    )?;
    ensure!(
        locked.status.success(),
        "fuzz/Cargo.lock is not up to date (`cargo update --workspace --manifest-path \
         fuzz/Cargo.toml` repairs it):\n{}",
        String::from_utf8_lossy(&locked.stderr)
    );
    Ok(())
}

/// Builds every target and gives the folder of the programs.
///
/// The compiler is the stable one of the repository: the switches of sanitizers and coverage are
/// asked of it with `RUSTC_BOOTSTRAP`, so that nothing depends on a nightly compiler of some day.
fn build(folder: &Path) -> Result<PathBuf> {
    check_lock()?;
    let triple = host()?;
    let target = folder.join("build");
    process::run(
        Command::new(ensure_cargo_fuzz()?)
            .current_dir(root())
            // Sanitizers are unstable options of a stable compiler.
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["build", "--target", &triple, "--target-dir"])
            .arg(&target),
    )?;
    Ok(target.join(triple).join("release"))
}

/// What the compiler calls this machine.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = capture(Command::new(rustc).arg("-vV").current_dir(root()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

/// `cargo-fuzz`, installed into the target folder when the machine has none.
fn ensure_cargo_fuzz() -> Result<PathBuf> {
    if let Some(found) = tools::find("cargo-fuzz") {
        return Ok(found);
    }
    let folder = process::target("tools")?;
    let program = folder.join("bin/cargo-fuzz");
    if !program.is_file() {
        println!("installing cargo-fuzz into {} …", folder.display());
        process::run(
            cargo()
                .args([
                    "install",
                    "cargo-fuzz",
                    "--version",
                    "0.13.2",
                    "--locked",
                    "--root",
                ])
                .arg(&folder),
        )?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::collections::BTreeSet;

    use super::*;

    /// A property that no target calls, or a target that nobody starts, would prove nothing.
    #[test]
    fn every_property_has_a_target_that_is_run() {
        let fuzz = root().join("fuzz");
        let known: BTreeSet<String> = TARGETS.iter().map(|name| (*name).to_owned()).collect();
        let files: BTreeSet<String> = std::fs::read_dir(fuzz.join("fuzz_targets"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(files, known);
        let read = |name: &str| std::fs::read_to_string(fuzz.join(name)).unwrap();
        let quoted = |text: &str, before: &str| -> BTreeSet<String> {
            let parts = text.split(before).skip(1);
            parts
                .map(|part| part.split('"').next().unwrap().to_owned())
                .collect()
        };
        let (manifest, properties) = (read("Cargo.toml"), read("src/lib.rs"));
        let (_, programs) = manifest.split_once("[[bin]]").unwrap();
        assert_eq!(quoted(programs, "name = \""), known);
        let (_, all) = properties.split_once("pub const ALL").unwrap();
        assert_eq!(quoted(all, "(\""), known);
        for name in TARGETS {
            let call = format!("chatmd_fuzz::{name}(bytes)");
            assert!(read(&format!("fuzz_targets/{name}.rs")).contains(&call));
        }
    }

    #[test]
    fn a_time_without_end_is_refused() {
        assert_eq!(seconds("60").unwrap(), 60);
        for word in ["0", "-1", "", "1m"] {
            assert!(seconds(word).is_err(), "{word}");
        }
    }
}
