//! The editor shows what `chatmdc check` reports.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::client::Client;

/// Code, severity, start, end and first line of the message.
type Key = (String, i64, (i64, i64), (i64, i64), String);

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

struct Case {
    directory: PathBuf,
    root: String,
    platform: String,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for folder in ["examples", "examples/refused"] {
        let directory = corpus().join(folder);
        for entry in std::fs::read_dir(&directory).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".chatmd") {
                cases.push(Case {
                    directory: directory.clone(),
                    root: name,
                    platform: "linux".to_owned(),
                });
            }
        }
    }
    for entry in std::fs::read_dir(corpus().join("vectors/errors")).unwrap() {
        let directory = entry.unwrap().path();
        let Ok(expected) = std::fs::read(directory.join("expect.json")) else {
            continue;
        };
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        let root = expected["root"].as_str().unwrap();
        let root = Path::new(root);
        cases.push(Case {
            directory: directory.join(root.parent().unwrap()),
            root: root.file_name().unwrap().to_str().unwrap().to_owned(),
            platform: expected["platform"].as_str().unwrap().to_owned(),
        });
    }
    cases.sort_by(|a, b| (&a.directory, &a.root).cmp(&(&b.directory, &b.root)));
    cases
}

/// Columns of one encoding from the columns of a report, which count characters.
struct Columns<'a> {
    lines: Vec<&'a str>,
    encoding: &'a str,
}

impl<'a> Columns<'a> {
    fn new(mut text: &'a str, encoding: &'a str) -> Self {
        let mut lines = Vec::new();
        while let Some(end) = text.find(['\r', '\n']) {
            lines.push(&text[..end]);
            let width = if text[end..].starts_with("\r\n") {
                2
            } else {
                1
            };
            text = &text[end + width..];
        }
        lines.push(text);
        Self { lines, encoding }
    }

    fn column(&self, line: i64, characters: i64) -> i64 {
        let before = self.lines[line as usize].chars().take(characters as usize);
        let units = before.map(|c| match self.encoding {
            "utf-8" => c.len_utf8(),
            "utf-16" => c.len_utf16(),
            _ => 1,
        });
        units.sum::<usize>() as i64
    }
}

/// Findings in the document, and whether other files have errors.
fn checked(case: &Case, columns: &Columns<'_>) -> (BTreeSet<Key>, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_chatmdc"))
        .args([
            "check",
            "--format",
            "json",
            "--platform",
            &case.platform,
            "--",
            &case.root,
        ])
        .current_dir(&case.directory)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = report["diagnostics"].as_array().unwrap();
    let here = all.iter().filter(|one| one["file"] == case.root.as_str());
    let elsewhere = all
        .iter()
        .any(|one| one["file"] != case.root.as_str() && one["severity"] == "error");
    let keys = here.map(|one| {
        let number = |name: &str| one[name].as_i64().unwrap() - 1;
        let severity = match one["severity"].as_str().unwrap() {
            "error" => 1,
            "warning" => 2,
            _ => 3,
        };
        (
            one["code"].as_str().unwrap().to_owned(),
            severity,
            (
                number("line"),
                columns.column(number("line"), number("column")),
            ),
            (
                number("end_line"),
                columns.column(number("end_line"), number("end_column")),
            ),
            one["message"].as_str().unwrap().to_owned(),
        )
    });
    (keys.collect(), elsewhere)
}

fn key(one: &Value) -> Key {
    let place = |at: &Value| {
        let number = |name: &str| at[name].as_i64().unwrap();
        (number("line"), number("character"))
    };
    let message = one["message"].as_str().unwrap();
    (
        one["code"].as_str().unwrap().to_owned(),
        one["severity"].as_i64().unwrap(),
        place(&one["range"]["start"]),
        place(&one["range"]["end"]),
        message.split("\nhint: ").next().unwrap().to_owned(),
    )
}

#[test]
fn the_whole_corpus() {
    whole_corpus("utf-32");
}

/// fc1-039, the whole kind: every finding of every document lies where the client counts it to be.
#[test]
fn the_whole_corpus_in_utf_16() {
    whole_corpus("utf-16");
}

#[test]
fn the_whole_corpus_in_bytes() {
    whole_corpus("utf-8");
}

fn whole_corpus(encoding: &str) {
    let mut client = Client::ready(json!({
        "processId": null,
        "capabilities": {"general": {"positionEncodings": [encoding]}},
    }));
    let cases = cases();
    assert!(cases.len() > 80, "only {} documents", cases.len());
    let (mut compared, mut findings, mut imports) = (0, 0, 0);
    for case in &cases {
        let path = case.directory.join(&case.root);
        let bytes = std::fs::read(&path).unwrap();
        // An editor has no text for what is not UTF-8.
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        client.notify(
            "workspace/didChangeConfiguration",
            json!({"settings": {"chatmd": {"platform": case.platform}}}),
        );
        let uri = format!("file://{}", path.display());
        client.open(&uri, text.trim_start_matches('\u{feff}'));
        let set = client.published(&uri, 1);
        client.close(&uri);
        let columns = Columns::new(text.trim_start_matches('\u{feff}'), encoding);
        let (expected, elsewhere) = checked(case, &columns);
        let (notes, own): (Vec<_>, Vec<_>) = set
            .iter()
            .partition(|one| one["code"] == "chatmd.lsp.import_has_errors");
        let own: BTreeSet<Key> = own.into_iter().map(key).collect();
        assert_eq!(own, expected, "{}", path.display());
        assert_eq!(!notes.is_empty(), elsewhere, "{}", path.display());
        compared += 1;
        findings += own.len();
        imports += usize::from(elsewhere);
        client.rest();
    }
    assert!(compared + 5 >= cases.len(), "{compared} of {}", cases.len());
    assert!(
        findings > 150 && imports > 0,
        "{findings} findings, {imports} in imports"
    );
    client.finish();
}
