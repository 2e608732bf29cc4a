//! Decisions: `decide` in process, `chatmdc eval` beside `codex execpolicy check`, and what tests in a
//! document cost its check.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Bench;
use super::measure::{Run, alternate, table};
use crate::process::{capture, run};
use crate::tools::{self, Tool};

/// Version of codex that the figures are quoted for.
const CODEX: &str = "@openai/codex@0.171.0";
/// p95 of one decision, in microseconds, by number of rules.
const PROMISES: &[(&str, f64)] = &[("50 rules", 20.0), ("2000 rules", 100.0)];

/// `decide` with 50 and with 2,000 rules.
pub fn decide(bench: &Bench) -> Result<Value> {
    println!("\ndecide: effects and decision of one request, in process");
    let output = capture(&mut Command::new(&bench.decide))?;
    let report: Value = serde_json::from_slice(&output.stdout).context("decide printed no JSON")?;
    for (name, limit) in PROMISES {
        let row = &report[*name];
        let p95 = row["p95_us"].as_f64().context("no p95")?;
        let verdict = if p95 > *limit { "over" } else { "under" };
        println!(
            "  {name:<12} median {} us, p95 {p95} us, {verdict} {limit} us",
            row["median_us"]
        );
    }
    Ok(report)
}

/// One evaluation from start to end, with 3 and with 2,000 rules, beside codex with as many.
pub fn eval(bench: &Bench) -> Result<Value> {
    println!("\neval: one command against the rules of a file, whole processes");
    let codex = codex(bench)?;
    let folder = bench.folder.join("eval");
    fs::create_dir_all(&folder)?;
    let mut report = serde_json::Map::new();
    for rules in [3, 2_000] {
        let (document, starlark) = (document(rules, 200), rules_of_codex(rules));
        let ours = folder.join(format!("{rules}.chatmd"));
        let theirs = folder.join(format!("{rules}.rules"));
        fs::write(&ours, document)?;
        fs::write(&theirs, starlark)?;
        let chatmdc = || {
            let mut command = Command::new(&bench.chatmdc);
            command
                .current_dir(&folder)
                .args(["eval", "--format", "json", "--runtime", "r"]);
            command.arg(&ours).args(["--", "git", "push"]);
            command
        };
        let codex = || {
            let mut command = Command::new(&codex);
            command
                .args(["execpolicy", "check", "--rules"])
                .arg(&theirs)
                .args(["git", "push"]);
            command
        };
        let runs = [
            Run {
                name: "chatmdc eval",
                command: Box::new(chatmdc),
                accepts: &[0, 1],
            },
            Run {
                name: "codex execpolicy check",
                command: Box::new(codex),
                accepts: &[0],
            },
        ];
        println!("{rules} rules");
        let samples = alternate(&runs, 5, 40)?;
        table(&runs, &samples);
        let rows: Vec<Value> = samples.iter().map(super::measure::Sample::json).collect();
        report.insert(format!("{rules} rules"), json!(rows));
    }
    report.insert("tests".into(), tests(bench, &folder)?);
    Ok(Value::Object(report))
}

/// `check` of a document with 1,000 tests beside the same one without.
fn tests(bench: &Bench, folder: &std::path::Path) -> Result<Value> {
    let plain = document(3, 200);
    let mut cases = String::from("<shell_access id=\"tested\" extends=\"r\">\n");
    for block in 0..10 {
        cases.push_str("  <!-- expect deny:\n");
        for case in 0..100 {
            let _ = writeln!(cases, "    git -C d{block}-{case} push origin b{case}");
        }
        cases.push_str("  -->\n");
    }
    cases.push_str("</shell_access>\n");
    let with = format!("{plain}{cases}");
    let without = format!("{plain}<shell_access id=\"tested\" extends=\"r\"/>\n");
    let (a, b) = (folder.join("with.chatmd"), folder.join("without.chatmd"));
    fs::write(&a, with)?;
    fs::write(&b, without)?;
    let check = |file: &PathBuf| {
        let (program, file) = (bench.chatmdc.clone(), file.clone());
        Box::new(move || {
            let mut command = Command::new(&program);
            command.arg("check").arg(&file);
            command
        })
    };
    let runs = [
        Run {
            name: "check with 1,000 tests",
            command: check(&a),
            accepts: &[0],
        },
        Run {
            name: "check without",
            command: check(&b),
            accepts: &[0],
        },
    ];
    let samples = alternate(&runs, 5, 40)?;
    table(&runs, &samples);
    let [with, without] = &samples[..] else {
        return Ok(Value::Null);
    };
    let more = with.cpu() - without.cpu();
    println!("1,000 tests add {more:.1} ms CPU (aim: under 50)");
    Ok(json!({ "with": with.json(), "without": without.json() }))
}

/// A document of that many rules and at least that many lines.
fn document(rules: usize, lines: usize) -> String {
    let mut text = String::from(
        "<shell_access id=\"r\" cwd=\"${workspace}\">\n  <capabilities sandbox=\"preferred\" network=\"true\" \
         child_processes=\"true\" arbitrary_code=\"true\">\n    <read path=\"${workspace}\"/>\n    \
         <write path=\"${workspace}\"/>\n  </capabilities>\n  <resolver><search_path path=\"/usr/bin\"/>\
         <trusted_root path=\"/usr/bin\"/></resolver>\n  <policy default=\"ask\">\n    \
         <rule id=\"denied\" action=\"deny\"><all><basename value=\"git\"/><argument value=\"push\"/></all></rule>\n    \
         <rule id=\"status\" action=\"allow\"><argv_prefix values=\"git,status\"/></rule>\n",
    );
    for number in 2..rules {
        let _ = writeln!(
            text,
            "    <rule id=\"rule{number}\" action=\"allow\"><argv_prefix values=\"program{number},sub\"/></rule>"
        );
    }
    text.push_str("  </policy>\n</shell_access>\n<tool name=\"sh\" type=\"shell\" mode=\"structured\" runtime=\"r\"/>\n<user>\n");
    while text.lines().count() < lines {
        text.push_str("A line of what somebody asks the model.\n");
    }
    text.push_str("</user>\n");
    text
}

fn rules_of_codex(rules: usize) -> String {
    let mut text = String::from(
        "prefix_rule(pattern=[\"git\", \"push\"], decision=\"forbidden\")\n\
         prefix_rule(pattern=[\"git\", \"status\"], decision=\"allow\")\n",
    );
    for number in 2..rules {
        let _ = writeln!(
            text,
            "prefix_rule(pattern=[\"program{number}\", \"sub\"], decision=\"allow\")"
        );
    }
    text
}

/// The program of the npm package itself: its JavaScript launcher only starts it.
fn codex(bench: &Bench) -> Result<PathBuf> {
    tools::ensure(&[Tool {
        program: "npm",
        package: "npm",
    }])?;
    let folder = bench.folder.join("codex");
    fs::create_dir_all(&folder)?;
    let installed = folder.join("node_modules/.bin/codex");
    if !installed.exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent", CODEX]);
        run(npm.current_dir(&folder))?;
    }
    let modules = folder.join("node_modules/@openai");
    let native = fs::read_dir(&modules)?
        .filter_map(|entry| Some(entry.ok()?.path().join("vendor")))
        .filter_map(|vendor| fs::read_dir(vendor).ok())
        .flatten()
        .filter_map(|target| Some(target.ok()?.path().join("bin/codex")))
        .find(|program| program.exists());
    native.context("the package of codex holds no program for this machine")
}
