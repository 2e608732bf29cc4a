#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Runs `corpus/chatml`: every rule of spec 05 and 05b as a program with its outcome.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chatml::check::check;
use chatml::diagnostic::Diagnostic;
use chatml::instance::{evaluate, prepare};
use chatml::limits::{Limits, Unlimited};
use chatml::parse::parse;
use chatml::surface::{self, Kind};

/// A program and what comes of it.
struct Row {
    place: String,
    kind: Kind,
    program: String,
    expected: Vec<String>,
}

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/chatml")
}

fn rows() -> Vec<Row> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(suites())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("README.md"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| rows_of(file)).collect()
}

fn rows_of(file: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(file).unwrap();
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let mut rows: Vec<Row> = Vec::new();
    let mut kind = None;
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(word) = line.strip_prefix("```") {
            open = false;
            kind = match (kind, word.trim().strip_prefix("chatml")) {
                (None, Some("")) => Some(Kind::Core),
                (None, Some(word)) => Some(Kind::from_name(word.trim()).expect(word)),
                (None, None) => panic!("{name}:{}: a block of no ChatML", number + 1),
                (Some(_), _) => None,
            };
            continue;
        }
        let Some(kind) = kind else { continue };
        if let Some(expected) = line.strip_prefix("=> ") {
            open = false;
            rows.last_mut()
                .expect("a program")
                .expected
                .push(expected.to_owned());
        } else if open {
            let row = rows.last_mut().unwrap();
            row.program.push('\n');
            row.program.push_str(line);
        } else {
            open = true;
            rows.push(Row {
                place: format!("{name}:{}", number + 1),
                kind,
                program: line.to_owned(),
                expected: Vec::new(),
            });
        }
    }
    rows
}

/// What really comes of a program.
struct Found {
    /// Code, message and the characters it points at.
    error: Option<(String, String, String)>,
    ty: String,
    value: String,
    lints: BTreeSet<String>,
}

fn run(row: &Row) -> Found {
    let error = |found: &Diagnostic| {
        let at = &row.program[found.span.start as usize..found.span.end as usize];
        let text = format!(
            "{} {} {}",
            found.message,
            found.notes.join(" "),
            found.help.clone().unwrap_or_default()
        );
        (found.code.as_str().to_owned(), text, at.to_owned())
    };
    let parsed = parse(&row.program);
    let checked = check(&parsed.program, row.kind);
    let warnings = parsed.warnings.iter().chain(&checked.warnings);
    let lints = warnings
        .map(|found| found.code.as_str().to_owned())
        .collect();
    let (ty, value, error) = match prepare(&row.program, row.kind) {
        Err(errors) => (String::new(), String::new(), Some(error(&errors[0]))),
        Ok((program, ty)) => {
            let ty = ty.map_or("nothing".to_owned(), |ty| ty.to_string());
            match evaluate(&program, &Limits::default(), &Unlimited) {
                Ok(evaluation) => (ty, evaluation.text.unwrap_or_default(), None),
                Err(fault) => {
                    let at =
                        row.program[fault.span.start as usize..fault.span.end as usize].to_owned();
                    (
                        ty,
                        String::new(),
                        Some((fault.code.to_owned(), fault.message, at)),
                    )
                }
            }
        }
    };
    Found {
        error,
        ty,
        value,
        lints,
    }
}

/// The types that a host hands over, as their own rows (`let a : NAME = fail("")`) write them out.
fn aliases(rows: &[Row]) -> Vec<(String, String)> {
    let named = rows.iter().filter_map(|row| {
        let rest = row.program.strip_prefix("let a : ")?;
        let name = rest.strip_suffix(" = fail(\"\")")?;
        Some((name.to_owned(), row.expected.first()?.clone()))
    });
    named.collect()
}

/// A type with those names written out.
fn expand(expected: &str, aliases: &[(String, String)]) -> String {
    if expected.starts_with("= ") || expected.starts_with("chatml.") || expected.starts_with("at ")
    {
        return expected.to_owned();
    }
    let mut text = String::new();
    let mut rest = expected;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let word = &rest[start..];
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, after) = word.split_at(end.unwrap_or(word.len()));
        text.push_str(&rest[..start]);
        let alias = aliases.iter().find(|(name, _)| name == word);
        match alias {
            // A label has the same name as a type.
            Some((_, ty)) if !after.starts_with(" :") => text.push_str(&expand(ty, aliases)),
            _ => text.push_str(word),
        }
        rest = after;
    }
    text + rest
}

/// What is wrong with one expectation, or nothing.
fn differs(expected: &str, found: &Found) -> Option<String> {
    let none = (String::new(), String::new(), String::new());
    let (code, message, at) = found.error.as_ref().unwrap_or(&none);
    let (real, holds) = if let Some(value) = expected.strip_prefix("= ") {
        (
            format!("= {}", found.value),
            found.value == value.replace("\\n", "\n") && code.is_empty(),
        )
    } else if let Some(text) = expected.strip_prefix("at ") {
        (format!("at {at}"), at == text)
    } else if expected == "no lint" {
        (format!("lints {:?}", found.lints), found.lints.is_empty())
    } else if let Some(lint) = expected.strip_prefix("lint ") {
        (
            format!("lints {:?}", found.lints),
            found.lints.contains(lint),
        )
    } else if expected.starts_with("chatml.") {
        let (wanted, part) = expected.split_once(' ').unwrap_or((expected, ""));
        (
            format!("{code} {message}"),
            code == wanted && message.contains(part),
        )
    } else {
        (found.ty.clone(), found.ty == expected)
    };
    (!holds).then(|| format!("expected {expected}\n    found    {real} {code} {message}"))
}

#[test]
fn every_row_has_its_outcome() {
    let mut wrong = Vec::new();
    let rows = rows();
    let aliases = aliases(&rows);
    for row in &rows {
        if row.expected.is_empty() {
            wrong.push(format!("{}\n    has no outcome", row.place));
        }
        let found = run(row);
        for expected in &row.expected {
            let expected = expand(expected, &aliases);
            if let Some(difference) = differs(&expected, &found) {
                wrong.push(format!("{}\n{}\n    {difference}", row.place, row.program));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

/// A function without a row would be a function that nobody has ever seen work.
#[test]
fn every_function_of_the_core_library_is_evaluated_by_a_row() {
    let evaluated: Vec<Row> = rows()
        .into_iter()
        .filter(|row| row.expected.iter().any(|line| line.starts_with("= ")))
        .collect();
    let used = |name: &str| {
        let call = format!("{name}(");
        evaluated.iter().any(|row| row.program.contains(&call))
    };
    let modules = surface::modules_of(Kind::Core);
    let functions = modules.flat_map(|module| &module.functions);
    let functions = functions.filter_map(|id| surface::builtin_at(*id));
    let missing: Vec<&str> = functions
        .chain(surface::globals_of(Kind::Core))
        .map(|function| function.qualified.as_str())
        // `fail` has no value, and tasks are run by a host (`instance/tests.rs`).
        .filter(|name| *name != "fail" && !name.starts_with("Task.") && !used(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Names are what a script can reach, so each is on record with its type and its kind.
#[test]
fn every_function_of_every_surface_has_a_row_with_its_type() {
    let rows = rows();
    let mut missing = Vec::new();
    let core = surface::modules_of(Kind::Core).flat_map(|module| &module.functions);
    let core: BTreeSet<u16> = core.map(|id| id.0).collect();
    for function in surface::builtins() {
        // What every kind has is listed once.
        let everywhere = core.contains(&function.id.0)
            || surface::globals_of(Kind::Core).any(|global| global.id == function.id);
        for kind in function.kinds.iter() {
            let known = rows.iter().any(|row| {
                (row.kind == if everywhere { Kind::Core } else { kind } || shares(kind, row.kind))
                    && row.program == function.qualified
                    && !row.expected.iter().any(|line| line.starts_with("chatml."))
            });
            if !known {
                missing.push(format!("{} {}", kind.as_str(), function.qualified));
            }
        }
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// `Shell` is listed with the first kind that has it.
fn shares(kind: Kind, listed: Kind) -> bool {
    let event = |kind: Kind| kind.contract().map(|contract| contract.event);
    listed == Kind::ShellMatcher && event(kind) == event(listed)
}
