//! The check of 1,000 documents after an edit of one, in process.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Bench;
use crate::process::capture;

/// Edits that the project promises a time for, in milliseconds.
const PROMISES: &[(&str, f64)] = &[
    ("one character of prose", 1.0),
    ("one character of a command", 1.0),
    ("an exported id with 500 importers", 15.0),
];

/// Times edits of two workspaces. A promise that is not kept is said and fails nothing: on a busy
/// machine every time is too long.
pub fn run(bench: &Bench) -> Result<Value> {
    println!("\nincremental: 1,000 documents in one database, all asked for again after an edit");
    let output = capture(&mut Command::new(&bench.incremental))?;
    let report: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("incremental printed no JSON: {said}")
    })?;
    let rows = report.as_object().context("the report is no object")?;
    println!(
        "  {:<52} {:>10} {:>10} {:>10} {:>8}",
        "edit", "median ms", "p95 ms", "cpu ms", "queries"
    );
    for (name, row) in rows {
        let promise = PROMISES.iter().find(|(edit, _)| edit == name);
        let median = row["median_ms"].as_f64().context("no median")?;
        let verdict = match promise {
            Some((_, limit)) if median > *limit => format!("over {limit} ms"),
            Some((_, limit)) => format!("under {limit} ms"),
            None => String::new(),
        };
        let number = |member: &str| row[member].as_f64().unwrap_or(f64::NAN);
        println!(
            "  {name:<52} {median:>10.3} {:>10.3} {:>10.3} {:>8} {verdict}",
            number("p95_ms"),
            number("cpu_median_ms"),
            number("queries"),
        );
    }
    Ok(report)
}
