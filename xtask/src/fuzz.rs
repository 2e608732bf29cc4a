//! `cargo xtask fuzz [SECONDS [TARGET]]`: every target of `fuzz/` under libFuzzer and the address sanitizer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::process::{self, capture, cargo, root};
use crate::tools;

const TARGETS: &[&str] = &[
    "syntax",
    "lowering",
    "compilation",
    "manifest",
    "bundle",
    "tool_input",
    "audit",
    "script",
];

/// Largest input, in bytes: deep and long enough for every bound but those of whole files.
const MAX_LEN: u32 = 32_768;

/// Longest time for one input, in seconds: more is a find.
const TIMEOUT: u32 = 10;

/// Largest memory of the process and largest single allocation, in MiB: more is a find. The former
/// holds the shadow memory of the sanitizer and the fuzzer's corpus too.
const MEMORY: u32 = 2_048;
const ALLOCATION: u32 = 64;

/// Builds the targets and runs each for that long. The compiler is the stable one of the repository:
/// the switches of sanitizers and coverage are asked of it with `RUSTC_BOOTSTRAP`, so that nothing
/// depends on a nightly compiler of some day.
/// A find ends the run with an error and is left in
/// `corpus/hostile`, where the tests meet it from then on.
pub fn run(words: &[String]) -> Result<()> {
    let (seconds, only) = match words {
        [] => (60, None),
        [seconds] => (whole(seconds)?, None),
        [seconds, target] => (whole(seconds)?, Some(target.as_str())),
        _ => bail!("usage: cargo xtask fuzz [SECONDS [TARGET]]"),
    };
    let targets: Vec<&str> = TARGETS
        .iter()
        .copied()
        .filter(|target| only.is_none_or(|only| only == *target))
        .collect();
    ensure!(
        !targets.is_empty(),
        "the targets are {}",
        TARGETS.join(", ")
    );
    let fuzz = ensure_cargo_fuzz()?;
    let folder = process::target("")?.join("fuzz");
    let seeds = Seeds::collect()?;
    let mut finds = Vec::new();
    for target in &targets {
        println!("\n== {target}: {seconds} s");
        let place = Place::new(&folder, target)?;
        seeds.write(target, &place.seeds)?;
        let dictionary = folder.join("dictionary");
        fs::write(&dictionary, seeds.dictionary())?;
        let mut command = Command::new(&fuzz);
        command
            .current_dir(root())
            // Sanitizers are unstable options of a stable compiler.
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["run", target])
            .args([&place.corpus, &place.seeds])
            .arg("--")
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-timeout={TIMEOUT}"))
            .arg(format!("-rss_limit_mb={MEMORY}"))
            .arg(format!("-malloc_limit_mb={ALLOCATION}"))
            .arg(format!("-max_len={MAX_LEN}"))
            .arg(format!("-dict={}", dictionary.display()))
            .arg(format!("-artifact_prefix={}/", place.finds.display()))
            .args(["-verbosity=0", "-print_funcs=0"]);
        let outcome = process::run(&mut command);
        let kept = place.keep_finds(target)?;
        ensure!(
            outcome.is_ok() || !kept.is_empty(),
            "{target} ended without a find: {outcome:?}"
        );
        finds.extend(kept);
    }
    ensure!(
        finds.is_empty(),
        "finds, now in corpus/hostile:\n  {}",
        finds.join("\n  ")
    );
    println!("\nno find in {}", targets.join(", "));
    Ok(())
}

fn whole(seconds: &str) -> Result<u32> {
    seconds.parse().context("SECONDS is a whole number")
}

/// `cargo-fuzz`, installed into the target folder when the machine has none.
fn ensure_cargo_fuzz() -> Result<PathBuf> {
    if let Some(found) = tools::find("cargo-fuzz") {
        return Ok(found);
    }
    let folder = process::target("")?.join("tools");
    let program = folder.join("bin/cargo-fuzz");
    if !program.is_file() {
        println!("installing cargo-fuzz into {} …", folder.display());
        process::run(
            cargo()
                .args([
                    "install",
                    "cargo-fuzz",
                    "--version",
                    "0.13.2",
                    "--locked",
                    "--root",
                ])
                .arg(&folder),
        )?;
    }
    Ok(program)
}

/// Folders of one target.
struct Place {
    corpus: PathBuf,
    seeds: PathBuf,
    finds: PathBuf,
}

impl Place {
    fn new(folder: &Path, target: &str) -> Result<Self> {
        let place = Self {
            corpus: folder.join("corpus").join(target),
            seeds: folder.join("seeds").join(target),
            finds: folder.join("finds").join(target),
        };
        for folder in [&place.corpus, &place.seeds, &place.finds] {
            fs::create_dir_all(folder)?;
        }
        Ok(place)
    }

    /// Moves finds to `corpus/hostile`.
    fn keep_finds(&self, target: &str) -> Result<Vec<String>> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.finds)? {
            let find = entry?.path();
            let name = find.file_name().unwrap_or_default().to_string_lossy();
            // libFuzzer also leaves inputs that were merely slow; they are no failures.
            if name.starts_with("slow-unit") {
                continue;
            }
            let name = format!("{target}-{}", name.get(..22).unwrap_or(&name));
            fs::copy(&find, root().join("corpus/hostile").join(&name))?;
            fs::remove_file(&find)?;
            kept.push(name);
        }
        Ok(kept)
    }
}

/// What the corpus has to offer.
#[derive(Default)]
struct Seeds {
    documents: Vec<Vec<u8>>,
    manifests: Vec<Vec<u8>>,
    bundles: Vec<Vec<u8>>,
    inputs: Vec<Vec<u8>>,
    logs: Vec<Vec<u8>>,
    scripts: Vec<Vec<u8>>,
}

impl Seeds {
    fn collect() -> Result<Self> {
        let mut seeds = Self::default();
        let mut folders = vec![root().join("corpus")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let bytes = fs::read(&path)?;
                match path.extension().and_then(|extension| extension.to_str()) {
                    Some("chatmd") => seeds.documents.push(bytes),
                    Some("md") => seeds
                        .documents
                        .extend(blocks(&String::from_utf8_lossy(&bytes))),
                    Some("json") => seeds.manifests.push(bytes),
                    Some("jsonl") if path.ends_with("log.jsonl") => seeds.logs.push(bytes),
                    Some("jsonl") => seeds.inputs.extend(payloads(&bytes)),
                    _ => seeds.inputs.push(bytes),
                }
            }
        }
        for document in &seeds.documents {
            let text = String::from_utf8_lossy(document);
            seeds.scripts.extend(bodies(&text));
        }
        seeds.compile_manifests()?;
        Ok(seeds)
    }

    /// Documents that compile give manifests.
    fn compile_manifests(&mut self) -> Result<()> {
        process::run(cargo().args(["build", "--quiet", "--locked", "-p", "chatmdc"]))?;
        let chatmdc = process::target("debug")?.join("chatmdc");
        for folder in ["corpus/examples", "corpus/vectors/manifest"] {
            for entry in fs::read_dir(root().join(folder))? {
                let path = entry?.path();
                let document = if path.is_dir() {
                    path.join("agent.chatmd")
                } else {
                    path
                };
                let manifest = |form: &[&str]| {
                    let mut command = Command::new(&chatmdc);
                    capture(command.arg("manifest").args(form).arg(&document))
                };
                for (form, seeds) in [
                    (&[][..], &mut self.manifests),
                    (&["--bundle"], &mut self.bundles),
                ] {
                    let output = manifest(form)?;
                    if output.status.success() {
                        seeds.push(output.stdout);
                    }
                }
            }
        }
        Ok(())
    }

    fn write(&self, target: &str, folder: &Path) -> Result<()> {
        let seeds = match target {
            "manifest" => &self.manifests,
            "bundle" => &self.bundles,
            "tool_input" => &self.inputs,
            "audit" => &self.logs,
            "script" => &self.scripts,
            _ => &self.documents,
        };
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(number.to_string()), seed)?;
        }
        Ok(())
    }

    /// Names of elements and attributes, for libFuzzer.
    fn dictionary(&self) -> String {
        let mut words = BTreeSet::new();
        for document in &self.documents {
            let text = String::from_utf8_lossy(document);
            let name = |c: char| c.is_ascii_lowercase() || c == '_';
            words.extend(
                text.split(|c| !name(c))
                    .filter(|word| (3..=24).contains(&word.len()))
                    .map(str::to_owned),
            );
        }
        words.iter().map(|word| format!("\"{word}\"\n")).collect()
    }
}

/// The ```chatmd blocks of a suite.
fn blocks(text: &str) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in text.lines() {
        match &mut block {
            Some(open) if line.starts_with("```") => {
                blocks.push(std::mem::take(open).into_bytes());
                block = None;
            }
            Some(open) => {
                open.push_str(line);
                open.push('\n');
            }
            None if line.starts_with("```chatmd") => block = Some(String::new()),
            None => {}
        }
    }
    blocks
}

/// The bodies of the scripts of a document.
fn bodies(text: &str) -> Vec<Vec<u8>> {
    let tags = text.split("<script").skip(1);
    let bodies = tags.filter_map(|tag| tag.split_once('>')?.1.split("</script>").next());
    bodies.map(|body| body.as_bytes().to_vec()).collect()
}

/// Payloads and chains of golden data, each with the byte that chooses its tool.
fn payloads(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    let values = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    values
        .filter_map(|value: serde_json::Value| {
            let mode = value["tool"]["mode"].as_str().unwrap_or("chain");
            let modes = ["fixed", "structured", "chain", "raw", "script"];
            let choice = modes.iter().position(|known| *known == mode)?;
            let payload = value["payload"].as_str().or(value["command"].as_str())?;
            let mut seed = vec![u8::try_from(choice).ok()? + 50];
            seed.extend(payload.as_bytes());
            Some(seed)
        })
        .collect()
}
