//! Running programs and finding the repository.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// The repository root: the folder above this crate.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default()
}

/// The cargo that started us.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command with our own output; an unsuccessful exit is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command
        .status()
        .with_context(|| format!("`{shown}` could not be started"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs a command and keeps its output, whatever its exit status.
pub fn capture(command: &mut Command) -> Result<Output> {
    let shown = show(command);
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`{shown}` could not be started"))
}

/// Where cargo puts build products of `profile` (`debug` or `release`).
pub fn target(profile: &str) -> Result<PathBuf> {
    let output = capture(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    let folder = metadata["target_directory"]
        .as_str()
        .context("cargo metadata names no target")?;
    Ok(Path::new(folder).join(profile))
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
