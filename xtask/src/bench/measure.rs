//! Timing whole processes.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::wait::waitpid;
use serde_json::{Value, json};

/// Wall and CPU time of repeated runs, sorted by wall time.
pub struct Sample {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Sample {
    /// Median wall time in milliseconds.
    pub fn median(&self) -> f64 {
        at(&self.wall, 0.5)
    }

    /// 95th percentile of the wall time in milliseconds.
    pub fn p95(&self) -> f64 {
        at(&self.wall, 0.95)
    }

    /// Median CPU time (user and system, of the command and all its descendants) in milliseconds.
    pub fn cpu(&self) -> f64 {
        at(&self.cpu, 0.5)
    }

    /// As JSON, in milliseconds.
    pub fn json(&self) -> Value {
        json!({
            "median_ms": round(self.median()),
            "p95_ms": round(self.p95()),
            "cpu_median_ms": round(self.cpu()),
            "runs": self.wall.len(),
        })
    }
}

/// A command to time and the exit statuses that count as having worked.
pub struct Run<'a> {
    /// Shown in the report.
    pub name: &'a str,
    /// Makes the command.
    pub command: Box<dyn Fn() -> Command + 'a>,
    /// Accepted exit statuses.
    pub accepts: &'a [i32],
}

/// Times several commands alternately, so that a disturbance of the machine hits all of them, with
/// `warm` unmeasured rounds first.
pub fn alternate(runs: &[Run<'_>], warm: usize, rounds: usize) -> Result<Vec<Sample>> {
    let mut samples: Vec<Sample> = runs
        .iter()
        .map(|_| Sample {
            wall: Vec::new(),
            cpu: Vec::new(),
        })
        .collect();
    for round in 0..warm + rounds {
        for (run, sample) in runs.iter().zip(&mut samples) {
            let (wall, cpu) = once(run)?;
            if round >= warm {
                sample.wall.push(wall.as_secs_f64() * 1e3);
                sample.cpu.push(cpu * 1e3);
            }
        }
    }
    for sample in &mut samples {
        sample.wall.sort_by(f64::total_cmp);
        sample.cpu.sort_by(f64::total_cmp);
    }
    Ok(samples)
}

/// Prints a row per command with its ratio to the first.
pub fn table(runs: &[Run<'_>], samples: &[Sample]) {
    let first = samples.first().map_or(f64::NAN, Sample::median);
    println!(
        "{:<34} {:>10} {:>10} {:>10} {:>8}",
        "", "median ms", "p95 ms", "cpu ms", "ratio"
    );
    for (run, sample) in runs.iter().zip(samples) {
        println!(
            "{:<34} {:>10.2} {:>10.2} {:>10.2} {:>8.2}",
            run.name,
            sample.median(),
            sample.p95(),
            sample.cpu(),
            first / sample.median()
        );
    }
    println!("(ratio: first row divided by this row; below 1 the first row is faster)");
}

/// Rounds to microseconds.
pub fn round(milliseconds: f64) -> f64 {
    (milliseconds * 1e3).round() / 1e3
}

/// Exponent b of the least-squares fit `time = a · size^b`.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean_x = logs.iter().map(|p| p.0).sum::<f64>() / count;
    let mean_y = logs.iter().map(|p| p.1).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let variance: f64 = logs.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    covariance / variance
}

fn once(run: &Run<'_>) -> Result<(Duration, f64)> {
    let mut command = (run.command)();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // A command may end before its own children: plain `bwrap` leaves the first process of its
    // namespace behind, which made all the mounts. Adopted here, their time counts as well.
    set_child_subreaper(true)?;
    let before = children_cpu()?;
    let started = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("{} could not be started", run.name))?;
    let wall = started.elapsed();
    while waitpid(None, None).is_ok() {}
    if !status
        .code()
        .is_some_and(|code| run.accepts.contains(&code))
    {
        bail!("{} ended with {status}; nothing was measured", run.name);
    }
    Ok((wall, children_cpu()? - before))
}

fn children_cpu() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

fn at(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * share).round() as usize)
        .copied()
        .unwrap_or(f64::NAN)
}
