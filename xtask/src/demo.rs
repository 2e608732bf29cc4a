//! `cargo xtask demo`: the main job on real input, as someone new would do it by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::process::{self, capture, cargo, root, target};
use crate::tools;

/// The document that the demo uses.
const DOCUMENT: &str = "corpus/examples/repository-search.chatmd";

/// Builds both programs, then shows one document from text to audited command.
pub fn run() -> Result<()> {
    let started = Instant::now();
    tools::ensure(&[tools::BUBBLEWRAP])?;
    println!("building chatmdc and chatmd (about a minute the first time) …");
    process::run(cargo().args([
        "build", "--quiet", "--locked", "-p", "chatmdc", "-p", "chatmd",
    ]))?;
    let stage = Stage::set_up()?;
    let outcome = stage.play();
    fs::remove_dir_all(&stage.folder).ok();
    let seen = outcome?;
    println!("{}", summary(&seen, started.elapsed().as_secs_f64()));
    Ok(())
}

/// What the last screen repeats.
struct Seen {
    mistake: String,
    requested: String,
    bound: String,
    found: String,
    refused: String,
    audit: String,
    chatmdc: PathBuf,
}

/// A scratch project with a copy of the document, and the two programs.
struct Stage {
    chatmdc: PathBuf,
    chatmd: PathBuf,
    folder: PathBuf,
}

impl Stage {
    fn set_up() -> Result<Stage> {
        let programs = target("debug")?;
        let folder = std::env::temp_dir().join(format!("chatmd-demo-{}", std::process::id()));
        fs::create_dir_all(folder.join("src")).context("cannot make a folder for the demo")?;
        fs::copy(root().join(DOCUMENT), folder.join("agent.chatmd"))?;
        fs::write(
            folder.join("src/main.rs"),
            "fn main() {\n    // TODO: greet the reader by name\n    println!(\"hello\");\n}\n",
        )?;
        let folder = folder.canonicalize()?;
        Ok(Stage {
            chatmdc: programs.join("chatmdc"),
            chatmd: programs.join("chatmd"),
            folder,
        })
    }

    fn play(&self) -> Result<Seen> {
        heading(1, "The document: what an agent may run, and its check");
        println!("$ cat agent.chatmd");
        print!("{}", fs::read_to_string(self.folder.join("agent.chatmd"))?);
        let check = self.show(&self.chatmdc, &["check", "agent.chatmd"], 0)?;
        ensure!(
            text(&check.stderr).contains("0 errors"),
            "check did not report its summary"
        );

        heading(2, "A real mistake in it: one attribute misspelt");
        let mistake = self.misspell()?;

        heading(3, "What it may do, and its two digests");
        self.show(&self.chatmdc, &["inspect", "agent.chatmd"], 0)?;
        let requested = self.digest(&["manifest", "--digest", "agent.chatmd"])?;
        let bound = self.digest(&["manifest", "--bound", "--digest", "agent.chatmd"])?;

        heading(4, "One call, in the sandbox");
        let inside = self.call(&bound, r#"{"arguments":["TODO","src"]}"#, 0)?;
        let found = text(&inside.stdout);
        ensure!(
            found.contains("greet the reader"),
            "the search found nothing"
        );

        heading(5, "The same tool, reaching outside the workspace");
        let outside = self.call(&bound, r#"{"arguments":["root","/etc/passwd"]}"#, 1)?;
        let refused = text(&outside.stdout);
        ensure!(
            refused.contains("capability_violation"),
            "the call outside was not refused as it should be"
        );

        heading(
            6,
            "Both calls are in the audit log, and nothing of it was changed",
        );
        let log = "state/sessions/demo/.chatmd/shell-audit.jsonl";
        let validated = self.show(
            &self.chatmd,
            &["audit", "validate", "--state-dir", "state", log],
            0,
        )?;
        Ok(Seen {
            mistake,
            requested,
            bound,
            found,
            refused: message_of(&refused),
            audit: text(&validated.stdout),
            chatmdc: self.chatmdc.clone(),
        })
    }

    /// Breaks a copy of the document and returns the first line of the report.
    fn misspell(&self) -> Result<String> {
        let good = fs::read_to_string(self.folder.join("agent.chatmd"))?;
        let bad = good.replace("wall_time=", "walltime=");
        ensure!(good != bad, "the document has no wall_time to misspell");
        fs::write(self.folder.join("misspelt.chatmd"), bad)?;
        let report = self.show(&self.chatmdc, &["check", "misspelt.chatmd"], 1)?;
        let report = text(&report.stderr);
        ensure!(
            report.contains("shell.unknown_attribute"),
            "the mistake was not reported"
        );
        Ok(report
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default()
            .to_owned())
    }

    fn digest(&self, words: &[&str]) -> Result<String> {
        let output = capture(self.command(&self.chatmdc).args(words))?;
        ensure!(
            output.status.success(),
            "no digest: {}",
            text(&output.stderr)
        );
        Ok(text(&output.stdout).trim().to_owned())
    }

    fn call(&self, bound: &str, input: &str, expected: i32) -> Result<Output> {
        let words = [
            "run",
            "--state-dir",
            "state",
            "--session",
            "demo",
            "--authorize-manifest",
            bound,
            "agent.chatmd",
            "search",
            input,
        ];
        self.show(&self.chatmd, &words, expected)
    }

    /// Runs a program, shows it with its output, and insists on the exit status.
    fn show(&self, program: &Path, words: &[&str], expected: i32) -> Result<Output> {
        println!("$ {}", command_line(program, words));
        let output = capture(self.command(program).args(words))?;
        print!("{}{}", text(&output.stdout), text(&output.stderr));
        if output.status.code() != Some(expected) {
            bail!(
                "{} ended with {}, expected exit status {expected}",
                command_line(program, words),
                output.status
            );
        }
        println!("(exit status {expected})");
        Ok(output)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder);
        command
    }
}

fn summary(seen: &Seen, seconds: f64) -> String {
    format!(
        "\n\
         ──────────────────────────────────────────────────────────────────────────────\n\
         What you saw ({seconds:.0} s)\n\n\
         a mistake      {}\n\
         requested      {}\n\
         \x20              the same on every machine: this is what is reviewed and signed\n\
         bound          {}\n\
         \x20              this machine and folder: this is what was authorised\n\
         allowed call   {}\n\
         refused call   {}\n\
         audit          {}\n\n\
         Next: cp corpus/examples/repository-search.chatmd /tmp/agent.chatmd, change a line, and run\n\
         {} check /tmp/agent.chatmd",
        cut(&seen.mistake),
        seen.requested,
        seen.bound,
        cut(&seen.found),
        cut(&seen.refused),
        cut(&seen.audit),
        seen.chatmdc.display(),
    )
}

/// The message of a structured error, or the text itself.
fn message_of(text: &str) -> String {
    serde_json::from_str::<serde_json::Value>(text)
        .ok()
        .and_then(|value| value["error"]["message"].as_str().map(str::to_owned))
        .unwrap_or_else(|| text.to_owned())
}

fn heading(number: u32, title: &str) {
    println!("\n── {number}. {title}\n");
}

fn command_line(program: &Path, words: &[&str]) -> String {
    let name = program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let words = words.iter().map(|word| {
        if word.contains(|c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c))) {
            format!("'{word}'")
        } else {
            (*word).to_owned()
        }
    });
    std::iter::once(name)
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// One line of at most 62 characters.
fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= 62 {
        line.to_owned()
    } else {
        format!("{}…", line.chars().take(61).collect::<String>())
    }
}
