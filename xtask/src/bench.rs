//! `cargo xtask bench`: speed beside anchors, measured in one run.

use anyhow::{Result, bail};

/// Runs the named benchmarks, or all.
pub fn run(_names: &[String]) -> Result<()> {
    bail!("no benchmark is defined yet")
}
