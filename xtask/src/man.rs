//! `cargo xtask man [FOLDER]`: manual pages from the command line itself.

use std::path::PathBuf;

use anyhow::Result;

use crate::process::{self, cargo};

/// Writes one page for each program and one for each of its commands.
pub fn run(folder: Option<&str>) -> Result<()> {
    let folder = match folder {
        // The pages are written by a program that runs at the root.
        Some(folder) => std::path::absolute(folder)?,
        None => process::target("")?.join("man"),
    };
    let folder: PathBuf = folder.components().collect();
    process::run(
        cargo()
            .args([
                "run",
                "--quiet",
                "--locked",
                "-p",
                "chatmd-tests",
                "--example",
                "man",
                "--",
            ])
            .arg(folder),
    )
}
