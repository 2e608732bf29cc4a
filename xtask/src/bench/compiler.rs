//! B1 to B4: the compiler as a process, and its phases.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::anchors::Anchors;
use super::measure::{Run, alternate, exponent, round, table};
use super::{Bench, generate};
use crate::process::capture;

/// B1: one 2 KB document.
pub fn b1(bench: &Bench, anchors: &Anchors) -> Result<Value> {
    println!("\nB1  check of one 2 KB document");
    let document = generate::mixed(2048, 1);
    let (chatmd, xml, python) = write_inputs(&bench.folder, "b1", &document)?;
    compare(bench, anchors, &[chatmd], &[xml], &[python], 10, 60)
}

/// B2: 1,000 files, 2.0 MB, 5 imports each.
pub fn b2(bench: &Bench, anchors: &Anchors) -> Result<Value> {
    println!("\nB2  check of 1,000 files, 2.0 MB, five imports each");
    let folder = bench.folder.join("b2");
    fs::create_dir_all(&folder)?;
    let (mut documents, mut xmls, mut pythons) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..1000_usize {
        let document = linked_file(index);
        let (chatmd, xml, python) = write_inputs(&folder, &format!("file{index}"), &document)?;
        documents.push(chatmd);
        xmls.push(xml);
        pythons.push(python);
    }
    compare(bench, anchors, &documents, &xmls, &pythons, 3, 30)
}

/// A file of about 2 KB with its own runtime and tool that imports five leaf files.
///
/// Files 0 to 4 are the leaves: they import nothing, so the graph has no cycle.
fn linked_file(index: usize) -> String {
    let mut seed = generate::Seeded::new(index as u64);
    let mut out = String::new();
    if index >= 5 {
        for leaf in 0..5 {
            out.push_str(&format!(
                "<import src=\"file{leaf}.chatmd\" namespace=\"leaf{leaf}\"/>\n"
            ));
        }
    }
    let id = format!("own{index}");
    generate::runtime(&mut seed, &id, 1000, &mut out);
    generate::tool(&mut seed, &format!("tool{index}"), &id, &mut out);
    out.push_str("<user>\n");
    let rest = 2048_usize.saturating_sub(out.len() + 16);
    generate::prose(&mut seed, rest, &mut out);
    out.push_str("</user>\n");
    out
}

/// B3: one clean 5 MB file, as a process and by phase.
pub fn b3(bench: &Bench, anchors: &Anchors) -> Result<Value> {
    println!("\nB3  check of one 5 MB document (60 % text, 500 runtimes, 500 tools)");
    let document = generate::mixed(5_000_000, 500);
    let (chatmd, xml, python) = write_inputs(&bench.folder, "b3", &document)?;
    let mut result = compare(
        bench,
        anchors,
        std::slice::from_ref(&chatmd),
        &[xml],
        &[python],
        3,
        30,
    )?;
    let phases = phases(bench, &chatmd)?;
    println!("phases (in process, median of 15):");
    for (name, value) in phases.as_object().context("phases are no object")? {
        println!(
            "  {name:<12} {:>8.2} ms {:>8.1} MB/s",
            number(value, "ms"),
            number(value, "mb_per_s")
        );
    }
    result["phases"] = phases;
    Ok(result)
}

/// A name and a generator that takes the size.
type Shape = (&'static str, fn(usize) -> String);

/// B4: growth. Every series must grow like its input.
pub fn b4(bench: &Bench) -> Result<Value> {
    println!("\nB4  growth: fitted exponent of time over size");
    let mut report = serde_json::Map::new();
    let sizes: Vec<usize> = [500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000].to_vec();
    series(
        bench,
        "mixed bytes",
        &sizes,
        &[0],
        |size| generate::mixed(size, size / 10_000),
        &mut report,
    )?;
    let counts: Vec<usize> = vec![10_000, 20_000, 40_000, 80_000];
    let shapes: &[Shape] = &[
        ("sibling ids", |n| {
            each(n, |i| {
                format!("<shell_access id=\"r{i}\" extends=\"builtin:workspace-readonly@1\"/>\n")
            })
        }),
        ("unclosed tags", |n| "<agent src=\"x\">".repeat(n)),
        ("errors", |n| {
            each(n, |i| format!("<shell_access id=\"r{i}\" wat=\"1\"/>\n"))
        }),
        ("duplicate ids", |n| "<shell_access id=\"r\"/>\n".repeat(n)),
        ("rules", |n| {
            let rules = each(n, |i| {
                format!("<rule id=\"x{i}\" action=\"ask\"><basename value=\"p{i}\"/></rule>\n")
            });
            format!("<shell_access id=\"r\"><policy>\n{rules}</policy></shell_access>\n")
        }),
        ("tools", |n| {
            let tools = each(n, |i| {
                format!("<tool name=\"t{i}\" runtime=\"r\" command=\"ls\"/>\n")
            });
            format!("<shell_access id=\"r\"/>\n{tools}")
        }),
        ("messages", |n| "<user>x</user>\n".repeat(n)),
    ];
    for (name, make) in shapes {
        series(bench, name, &counts, &[0, 1], make, &mut report)?;
    }
    let few: Vec<usize> = vec![500, 1000, 2000, 4000];
    series(
        bench,
        "any children",
        &few,
        &[0],
        |n| {
            let words = each(n, |i| format!("<basename value=\"p{i}\"/>"));
            format!(
                "<shell_access id=\"r\"><policy><rule id=\"x\" action=\"ask\"><any>{words}</any></rule></policy></shell_access>\n"
            )
        },
        &mut report,
    )?;
    let depths: Vec<usize> = vec![32, 64, 128, 250];
    series(
        bench,
        "depth (x 200)",
        &depths,
        &[0],
        |n| {
            format!(
                "<user>{}{}</user>\n",
                "<agent src=\"x\">".repeat(n),
                "</agent>".repeat(n)
            )
            .repeat(200)
        },
        &mut report,
    )?;
    imports(bench, &mut report)?;
    Ok(Value::Object(report))
}

/// One file imported n times under n namespaces.
fn imports(bench: &Bench, report: &mut serde_json::Map<String, Value>) -> Result<()> {
    fs::write(
        bench.folder.join("imported.chatmd"),
        "<shell_access id=\"r\"/>\n",
    )?;
    let counts: Vec<usize> = vec![125, 250, 500, 1000];
    series(
        bench,
        "imports of one file",
        &counts,
        &[0],
        |n| {
            each(n, |i| {
                format!("<import src=\"imported.chatmd\" namespace=\"n{i}\"/>\n")
            })
        },
        report,
    )
}

fn series(
    bench: &Bench,
    name: &str,
    sizes: &[usize],
    accepts: &[i32],
    make: impl Fn(usize) -> String,
    report: &mut serde_json::Map<String, Value>,
) -> Result<()> {
    let file = bench.folder.join("b4.chatmd");
    let mut points = Vec::new();
    for size in sizes {
        fs::write(&file, make(*size))?;
        let runs = [Run {
            name,
            command: Box::new(|| {
                let mut command = Command::new(&bench.chatmdc);
                command.args(["check", "--format", "concise"]).arg(&file);
                command
            }),
            accepts,
        }];
        let samples = alternate(&runs, 1, 7)?;
        points.push((*size as f64, samples[0].median()));
    }
    let fitted = exponent(&points);
    let shown: Vec<String> = points
        .iter()
        .map(|(size, ms)| format!("{size}: {ms:.1} ms"))
        .collect();
    println!("  {name:<22} exponent {fitted:>5.2}   {}", shown.join("  "));
    report.insert(
        name.to_owned(),
        json!({"exponent": round(fitted), "points": points.iter().map(|(x, y)| json!([x, round(*y)])).collect::<Vec<_>>()}),
    );
    Ok(())
}

fn each(count: usize, make: impl Fn(usize) -> String) -> String {
    (0..count).map(make).collect()
}

type Inputs = (std::path::PathBuf, std::path::PathBuf, std::path::PathBuf);

fn write_inputs(folder: &Path, stem: &str, document: &str) -> Result<Inputs> {
    let paths = (
        folder.join(format!("{stem}.chatmd")),
        folder.join(format!("{stem}.xml")),
        folder.join(format!("{stem}.py")),
    );
    fs::write(&paths.0, document)?;
    fs::write(&paths.1, generate::as_xml(document))?;
    fs::write(&paths.2, generate::python(document.len()))?;
    Ok(paths)
}

fn compare(
    bench: &Bench,
    anchors: &Anchors,
    documents: &[std::path::PathBuf],
    xmls: &[std::path::PathBuf],
    pythons: &[std::path::PathBuf],
    warm: usize,
    rounds: usize,
) -> Result<Value> {
    let runs = [
        Run {
            name: "chatmdc check",
            command: Box::new(|| {
                let mut command = Command::new(&bench.chatmdc);
                command.arg("check").args(documents);
                command
            }),
            accepts: &[0],
        },
        Run {
            name: "xmllint --noout",
            command: Box::new(|| {
                let mut command = Command::new(&anchors.xmllint);
                command.arg("--noout").args(xmls);
                command
            }),
            accepts: &[0],
        },
        Run {
            name: "ruff check",
            command: Box::new(|| {
                let mut command = Command::new(&anchors.ruff);
                command
                    .args(["check", "--no-cache", "--isolated", "--quiet"])
                    .args(pythons);
                command
            }),
            accepts: &[0],
        },
    ];
    let samples = alternate(&runs, warm, rounds)?;
    table(&runs, &samples);
    Ok(json!({
        "chatmdc": samples[0].json(),
        "xmllint": samples[1].json(),
        "ruff": samples[2].json(),
        "ratio_to_xmllint": round(samples[0].median() / samples[1].median()),
        "ratio_to_ruff": round(samples[0].median() / samples[2].median()),
    }))
}

fn phases(bench: &Bench, document: &Path) -> Result<Value> {
    let output = capture(Command::new(&bench.phases).arg(document))?;
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!(
            "phases printed no JSON: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

fn number(value: &Value, member: &str) -> f64 {
    value[member].as_f64().unwrap_or(f64::NAN)
}
