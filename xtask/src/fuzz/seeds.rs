//! What every target begins with: the corpus of the repository, cut to what the target reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::process::{self, capture, cargo, root};

/// What the corpus has to offer.
#[derive(Default)]
pub struct Seeds {
    documents: Vec<Vec<u8>>,
    manifests: Vec<Vec<u8>>,
    bundles: Vec<Vec<u8>>,
    inputs: Vec<Vec<u8>>,
    logs: Vec<Vec<u8>>,
    scripts: Vec<Vec<u8>>,
}

impl Seeds {
    /// Reads the corpus and compiles what compiles.
    pub fn collect() -> Result<Self> {
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

    /// Writes the seeds of a target into a folder.
    pub fn write(&self, target: &str, folder: &Path) -> Result<()> {
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
    pub fn dictionary(&self) -> String {
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
