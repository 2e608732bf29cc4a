//! Running the targets: several at once, each in a process of its own, and what comes of it.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::seeds::Seeds;
use crate::process::root;

/// Largest input, in bytes: deep and long enough for every bound but those of whole files.
const MAX_LEN: u32 = 32_768;

/// Longest time for one input, in seconds: more is a find.
const TIMEOUT: u32 = 10;

/// Largest memory of the process and largest single allocation, in MiB: more is a find. The former
/// holds the shadow memory of the sanitizer and the fuzzer's corpus too.
const MEMORY: u32 = 2_048;
const ALLOCATION: u32 = 64;

/// Most processes at once; each may need [`MEMORY`].
const MAX_PROCESSES: usize = 4;

/// Lines of a log that are shown when its target fails.
const SHOWN_LINES: usize = 60;

/// A run of some targets.
pub struct Campaign<'a> {
    /// Folder of the built targets.
    pub programs: &'a Path,
    /// Where corpora, finds and logs live.
    pub folder: &'a Path,
    /// What each target begins with.
    pub seeds: &'a Seeds,
    /// How long each target runs.
    pub seconds: u32,
}

/// What one target did.
#[derive(Debug)]
struct Outcome {
    target: String,
    status: ExitStatus,
    seconds: f64,
    /// Inputs that were run, as libFuzzer counts them.
    executions: Option<u64>,
    /// Names of new files in `corpus/hostile`.
    finds: Vec<String>,
    log: PathBuf,
}

impl Campaign<'_> {
    /// Runs the targets. After a find no further target begins; those that run are waited for.
    pub fn run(&self, targets: &[&str]) -> Result<()> {
        let processes = std::thread::available_parallelism().map_or(1, usize::from);
        let processes = processes.min(MAX_PROCESSES).min(targets.len());
        println!(
            "\n{} targets, {} s each, {processes} at once",
            targets.len(),
            self.seconds
        );
        fs::create_dir_all(self.folder)?;
        fs::write(self.dictionary(), self.seeds.dictionary())?;
        let left = Mutex::new(targets.iter().copied().collect::<VecDeque<_>>());
        let next = || {
            left.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop_front()
        };
        let stop = || left.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let worker = || {
            let mut failures = Vec::new();
            while let Some(target) = next() {
                let failure = match self.target(target) {
                    Ok(outcome) => {
                        println!("{}", outcome.line());
                        outcome.failure()
                    }
                    Err(error) => Some(format!("{target}: {error:#}")),
                };
                if let Some(failure) = failure {
                    stop();
                    failures.push(failure);
                }
            }
            failures
        };
        let failures: Vec<String> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..processes).map(|_| scope.spawn(worker)).collect();
            let joined = workers.into_iter().map(|worker| match worker.join() {
                Ok(failures) => failures,
                Err(_) => vec!["a thread panicked".to_owned()],
            });
            joined.flatten().collect()
        });
        if failures.is_empty() {
            println!("no find in {}", targets.join(", "));
            return Ok(());
        }
        bail!("fuzzing failed\n\n{}", failures.join("\n\n"))
    }

    fn dictionary(&self) -> PathBuf {
        self.folder.join("dictionary")
    }

    fn target(&self, target: &str) -> Result<Outcome> {
        let place = Place::new(self.folder, target)?;
        self.seeds.write(target, &place.seeds)?;
        let output = File::create(&place.log)?;
        let started = Instant::now();
        let status = Command::new(self.programs.join(target))
            .args([&place.corpus, &place.seeds])
            .arg(format!("-max_total_time={}", self.seconds))
            .arg(format!("-timeout={TIMEOUT}"))
            .arg(format!("-rss_limit_mb={MEMORY}"))
            .arg(format!("-malloc_limit_mb={ALLOCATION}"))
            .arg(format!("-max_len={MAX_LEN}"))
            .arg(format!("-dict={}", self.dictionary().display()))
            .arg(format!("-artifact_prefix={}/", place.finds.display()))
            .args(["-print_final_stats=1", "-print_funcs=0"])
            // Two static libraries may hold the same constant; that is no fault of ours.
            .env("ASAN_OPTIONS", "detect_odr_violation=0")
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .status()
            .with_context(|| format!("the target {target} could not be started"))?;
        let seconds = started.elapsed().as_secs_f64();
        let log = fs::read(&place.log)?;
        Ok(Outcome {
            target: target.to_owned(),
            status,
            seconds,
            executions: executions(&String::from_utf8_lossy(&log)),
            finds: place.keep_finds(target, &root().join("corpus/hostile"))?,
            log: place.log,
        })
    }
}

impl Outcome {
    fn line(&self) -> String {
        let executions = self.executions.map_or("no".to_owned(), |n| n.to_string());
        format!(
            "{:<12} {:>5.0} s {executions:>12} executions  {} finds",
            self.target,
            self.seconds,
            self.finds.len()
        )
    }

    /// Why the run is no success. A target that ran nothing has shown nothing.
    fn failure(&self) -> Option<String> {
        let executed = self.executions.is_some_and(|executions| executions > 0);
        if self.status.success() && self.finds.is_empty() && executed {
            return None;
        }
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let end = lines.len().saturating_sub(SHOWN_LINES);
        let what = match self.finds.as_slice() {
            [] if self.status.success() => "it ran no input".to_owned(),
            [] => format!("it ended without a find ({})", self.status),
            finds => format!("finds, now in corpus/hostile: {}", finds.join(", ")),
        };
        Some(format!(
            "{}: {what}\nthe end of {}:\n{}",
            self.target,
            self.log.display(),
            lines.get(end..).unwrap_or_default().join("\n")
        ))
    }
}

/// The number that libFuzzer prints at the end of a run without a find, else that of its last
/// progress line.
fn executions(log: &str) -> Option<u64> {
    let last = |prefix: &str| {
        let lines = log.lines().rev();
        lines
            .filter_map(|line| line.strip_prefix(prefix)?.trim().split('\t').next())
            .find_map(|number| number.trim().parse().ok())
    };
    last("stat::number_of_executed_units:").or_else(|| last("#"))
}

/// Folders and files of one target.
struct Place {
    corpus: PathBuf,
    seeds: PathBuf,
    finds: PathBuf,
    log: PathBuf,
}

impl Place {
    fn new(folder: &Path, target: &str) -> Result<Self> {
        let logs = folder.join("logs");
        let place = Self {
            corpus: folder.join("corpus").join(target),
            seeds: folder.join("seeds").join(target),
            finds: folder.join("finds").join(target),
            log: logs.join(target),
        };
        for folder in [&place.corpus, &place.seeds, &place.finds, &logs] {
            fs::create_dir_all(folder)?;
        }
        Ok(place)
    }

    /// Moves finds to `hostile`.
    fn keep_finds(&self, target: &str, hostile: &Path) -> Result<Vec<String>> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.finds)? {
            let find = entry?.path();
            let name = find.file_name().unwrap_or_default().to_string_lossy();
            // libFuzzer also leaves inputs that were merely slow; they are no failures.
            if name.starts_with("slow-unit") {
                continue;
            }
            let name = format!("{target}-{}", name.get(..22).unwrap_or(&name));
            fs::copy(&find, hostile.join(&name))?;
            fs::remove_file(&find)?;
            kept.push(name);
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Runs a script in place of a target.
    fn campaign(name: &str, script: &str) -> (Result<()>, PathBuf) {
        let folder =
            std::env::temp_dir().join(format!("chatmd-campaign-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for target in ["one", "two"] {
            let program = folder.join(target);
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let campaign = Campaign {
            programs: &folder,
            folder: &folder,
            seeds: &Seeds::default(),
            seconds: 1,
        };
        (campaign.run(&["one", "two"]), folder)
    }

    #[test]
    fn only_targets_that_ran_and_found_nothing_succeed() {
        let ran = "echo stat::number_of_executed_units: 12";
        let (result, folder) = campaign("ran", &format!("echo \"$@\"; {ran}"));
        result.unwrap();
        let log = fs::read_to_string(folder.join("logs/two")).unwrap();
        assert!(log.contains("-max_total_time=1 -timeout=10"), "{log}");
        fs::remove_dir_all(folder).unwrap();
        for (name, script, expected) in [
            ("idle", "true", "it ran no input"),
            (
                "zero",
                "echo stat::number_of_executed_units: 0",
                "it ran no input",
            ),
            (
                "dies",
                "echo '==1== ERROR: out-of-memory'; exit 71",
                "it ended without a find",
            ),
        ] {
            let (result, folder) = campaign(name, script);
            let error = result.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn finds_are_kept_and_slow_inputs_are_not() {
        let folder = std::env::temp_dir().join(format!("chatmd-finds-{}", std::process::id()));
        let place = Place::new(&folder, "syntax").unwrap();
        for name in ["crash-0123456789abcdef0123", "slow-unit-01", "oom-77"] {
            fs::write(place.finds.join(name), name).unwrap();
        }
        let mut kept = place.keep_finds("syntax", &folder).unwrap();
        kept.sort();
        assert_eq!(kept, ["syntax-crash-0123456789abcdef", "syntax-oom-77"]);
        for name in &kept {
            assert!(folder.join(name).is_file());
        }
        assert_eq!(fs::read_dir(&place.finds).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn executions_are_read_from_the_log() {
        let end =
            "#64\tpulse  cov: 1\nDone 99 runs\nstat::number_of_executed_units: 99\nstat::x: 1";
        assert_eq!(executions(end), Some(99));
        assert_eq!(
            executions("#2\tINITED\n#4096\tpulse  cov\n==1== ERROR"),
            Some(4096)
        );
        assert_eq!(executions("INFO: Seed: 1"), None);
    }
}
