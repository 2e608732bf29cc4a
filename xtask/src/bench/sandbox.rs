//! One tool call beside plain `bwrap` with the same plan.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Bench;
use super::measure::{Run, alternate, round, table};
use super::same_plan::SamePlan;
use crate::process::capture;
use crate::tools::{BUBBLEWRAP, STRACE, ensure};

const DOCUMENT: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\">\n\
  <policy default=\"allow\"/>\n</shell_access>\n\
<tool name=\"nothing\" runtime=\"r\" command=\"true\"/>\n";

/// `chatmd run` of `true`, plain bwrap with the same plan, and no sandbox at all.
pub fn call(bench: &Bench) -> Result<Value> {
    println!("\ncall  one tool call (`true`) beside plain bwrap");
    let folder = bench.folder.join("call");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("agent.chatmd"), DOCUMENT)?;
    let digest = bound_digest(bench, &folder)?;
    let run = || {
        let mut command = Command::new(&bench.chatmd);
        command.current_dir(&folder).args([
            "run",
            "--exit-status",
            "--authorize-manifest",
            &digest,
            "agent.chatmd",
            "nothing",
        ]);
        command
    };
    ensure(&[BUBBLEWRAP, STRACE])?;
    let plan = SamePlan::capture(&run(), &folder, &["/usr/bin/true"])?;
    plan.command()?;
    let runs = [
        Run {
            name: "chatmd run",
            command: Box::new(run),
            accepts: &[0],
        },
        Run {
            name: "bwrap with the same plan",
            // It could be made once, so it can be made again.
            command: Box::new(|| plan.command().unwrap_or_else(|_| Command::new("bwrap"))),
            accepts: &[0],
        },
        Run {
            name: "true",
            command: Box::new(|| Command::new("/usr/bin/true")),
            accepts: &[0],
        },
    ];
    let samples = alternate(&runs, 5, 100)?;
    table(&runs, &samples);
    let extra = samples[0].cpu() - samples[1].cpu();
    println!("CPU above plain bwrap: {extra:.2} ms");
    Ok(json!({
        "chatmd": samples[0].json(),
        "bwrap": samples[1].json(),
        "true": samples[2].json(),
        "cpu_above_bwrap_ms": round(extra),
    }))
}

fn bound_digest(bench: &Bench, folder: &Path) -> Result<String> {
    let output = capture(Command::new(&bench.chatmdc).current_dir(folder).args([
        "manifest",
        "--bound",
        "--digest",
        "agent.chatmd",
    ]))?;
    if !output.status.success() {
        bail!("no digest: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)
        .context("the digest is not UTF-8")?
        .trim()
        .to_owned())
}
