//! ChatML beside rhai and starlark (spec 05): a workspace of its own, so that they are no dependency
//! of the product.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{self, cargo, root};

/// Builds and runs `compiler/chatml/bench`; its table goes to the terminal.
pub fn run() -> Result<Value> {
    let manifest = root().join("compiler/chatml/bench/Cargo.toml");
    let arguments = |command: &mut Command, verb: &str| {
        command
            .args([verb, "--release", "--locked", "--manifest-path"])
            .arg(&manifest);
    };
    let mut build = cargo();
    arguments(&mut build, "build");
    process::run(&mut build)?;
    let mut measure = cargo();
    arguments(&mut measure, "run");
    let output = measure
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("the benchmark of ChatML does not start")?;
    if !output.status.success() {
        bail!("the benchmark of ChatML failed: {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the benchmark of ChatML prints no JSON")
}
