//! `cargo xtask bench`: speed beside anchors, measured in one run (spec 11 section 4).
//!
//! Absolute times depend on the machine; what counts is the ratio to an anchor that does comparable
//! work on equal bytes in the same run. Results go to the terminal and, as JSON, to
//! `target/bench/report.json`.

mod anchors;
mod chatml;
mod compiler;
mod generate;
mod incremental;
mod measure;
mod policy;
mod same_plan;
mod sandbox;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::{self, cargo, target};

/// Names that `cargo xtask bench` accepts.
const NAMES: &[&str] = &[
    "b1",
    "b2",
    "b3",
    "b4",
    "call",
    "incremental",
    "chatml",
    "decide",
    "eval",
];

/// What every benchmark gets.
pub struct Bench {
    /// `chatmdc`, release build.
    pub chatmdc: PathBuf,
    /// `chatmd`, release build.
    pub chatmd: PathBuf,
    /// The in-process phase timer, release build.
    pub phases: PathBuf,
    /// The in-process timer of checks after edits, release build.
    pub incremental: PathBuf,
    /// The in-process timer of decisions, release build.
    pub decide: PathBuf,
    /// Inputs and results.
    pub folder: PathBuf,
}

/// Runs the named benchmarks, or all.
pub fn run(names: &[String]) -> Result<()> {
    if let Some(name) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        bail!(
            "no benchmark is called `{name}`; there are: {}",
            NAMES.join(", ")
        );
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|one| one == name);
    if names.iter().all(|name| name == "chatml") && !names.is_empty() {
        // It needs neither our programs nor the anchors.
        println!("{:#}", chatml::run()?);
        return Ok(());
    }
    let bench = prepare()?;
    let mut report = serde_json::Map::new();
    report.insert("load_average".into(), json!(load_average()));
    if ["b1", "b2", "b3"].into_iter().any(wanted) {
        let anchors = anchors::ensure(&bench.folder)?;
        if wanted("b1") {
            report.insert("b1".into(), compiler::b1(&bench, &anchors)?);
        }
        if wanted("b2") {
            report.insert("b2".into(), compiler::b2(&bench, &anchors)?);
        }
        if wanted("b3") {
            report.insert("b3".into(), compiler::b3(&bench, &anchors)?);
        }
    }
    if wanted("b4") {
        report.insert("b4".into(), compiler::b4(&bench)?);
    }
    if wanted("call") {
        report.insert("call".into(), sandbox::call(&bench)?);
    }
    if wanted("incremental") {
        report.insert("incremental".into(), incremental::run(&bench)?);
    }
    if wanted("chatml") {
        report.insert("chatml".into(), chatml::run()?);
    }
    if wanted("decide") {
        report.insert("decide".into(), policy::decide(&bench)?);
    }
    if wanted("eval") {
        report.insert("eval".into(), policy::eval(&bench)?);
    }
    let path = bench.folder.join("report.json");
    fs::write(&path, format!("{:#}\n", Value::Object(report)))?;
    println!("\nwritten: {}", path.display());
    Ok(())
}

fn prepare() -> Result<Bench> {
    process::run(cargo().args([
        "build",
        "--release",
        "--locked",
        "-p",
        "chatmdc",
        "-p",
        "chatmd",
    ]))?;
    process::run(cargo().args([
        "build",
        "--release",
        "--locked",
        "-p",
        "chatmd-tests",
        "--example",
        "phases",
        "--example",
        "incremental",
        "--example",
        "decide",
    ]))?;
    let programs = target("release")?;
    let folder = programs
        .parent()
        .context("the target folder has no parent")?
        .join("bench");
    fs::create_dir_all(&folder)?;
    Ok(Bench {
        chatmdc: programs.join("chatmdc"),
        chatmd: programs.join("chatmd"),
        phases: programs.join("examples/phases"),
        incremental: programs.join("examples/incremental"),
        decide: programs.join("examples/decide"),
        folder,
    })
}

fn load_average() -> String {
    fs::read_to_string("/proc/loadavg")
        .unwrap_or_default()
        .trim()
        .to_owned()
}
