//! The programs we measure ourselves against, installed on demand.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::process::run;
use crate::tools::{self, Tool, find};

/// Version of ruff that the figures are quoted for.
const RUFF: &str = "ruff==0.17.6";

/// Where the anchors are.
pub struct Anchors {
    /// `xmllint` of libxml2.
    pub xmllint: PathBuf,
    /// `ruff`.
    pub ruff: PathBuf,
}

/// Finds or installs every anchor.
pub fn ensure(folder: &Path) -> Result<Anchors> {
    tools::ensure(&[
        Tool {
            program: "xmllint",
            package: "libxml2-utils",
        },
        Tool {
            program: "python3",
            package: "python3",
        },
        tools::BUBBLEWRAP,
    ])?;
    let venv = folder.join("venv");
    let ruff = venv.join("bin/ruff");
    if !ruff.exists() {
        tools::ensure(&[Tool {
            program: "pip3",
            package: "python3-pip",
        }])?;
        run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        run(Command::new(venv.join("bin/pip")).args(["install", "--quiet", RUFF]))?;
    }
    Ok(Anchors {
        xmllint: find("xmllint").unwrap_or_else(|| "xmllint".into()),
        ruff,
    })
}
