//! Compiles a case and compares what is found with its marks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::Utf8Path;
use chatmd_compiler::authority::summarise;
use chatmd_compiler::compile::Location;
use chatmd_compiler::db::Database;
use chatmd_compiler::diagnostics::pages::suite::{Case, Suite, parse};
use chatmd_compiler::diagnostics::pages::{Expectation, Where};
use chatmd_compiler::diagnostics::{Diagnostic, Severity};
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::resolve::Features;
use chatmd_compiler::{Compilation, CompileOptions, compile};

/// A suite with its path below `corpus/spec`, without extension.
pub struct Named {
    pub name: String,
    pub content: Suite,
}

/// What is wrong, at a line of the Markdown file.
pub struct Problem {
    pub line: u32,
    pub text: String,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/spec")
}

/// All suites, by name.
pub fn suites() -> Vec<Named> {
    let mut found = Vec::new();
    collect(&folder(), "", &mut found);
    found.sort_by(|a: &Named, b| a.name.cmp(&b.name));
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<Named>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let name = format!("{prefix}{stem}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), found);
        } else if path.extension().is_some_and(|ext| ext == "md") && name != "README" {
            let text = std::fs::read_to_string(&path).unwrap();
            let content = parse(&text).unwrap_or_else(|error| panic!("{name}.md: {error}"));
            found.push(Named { name, content });
        }
    }
}

/// A finding as it is compared.
struct Found {
    code: String,
    severity: Option<Severity>,
    related: bool,
    file: String,
    line: u32,
    columns: std::ops::Range<u32>,
    text: String,
}

/// Writes the files of a case into a new directory and compiles the first.
pub fn compile_case(case: &Case) -> Arc<Compilation> {
    let files = case
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.bytes.as_slice()));
    compile_files(files, &case.platform, &case.without)
}

pub fn compile_files<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    platform: &str,
    without: &[String],
) -> Arc<Compilation> {
    let directory = tempfile::tempdir().unwrap();
    let mut first = None;
    for (name, bytes) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        first.get_or_insert(name);
    }
    let directory = Utf8Path::from_path(directory.path()).unwrap();
    let mut db = Database::default();
    let root = db.root_from_path(first.unwrap().into(), directory).unwrap();
    let mut options = CompileOptions::for_platform(Platform::from_word(platform).unwrap());
    options.tests.as_mut().unwrap().sidecar = true;
    if !without.is_empty() {
        let all = chatmd_compiler::resolve::features::ALL.iter().copied();
        options.features = Features::of(all.filter(|id| !without.iter().any(|w| w == id)));
    }
    let compilation = compile(&db, root, &options);
    let text = format!("{:?}", compilation.diagnostics);
    assert!(
        !text.contains(directory.as_str()),
        "a path of the machine leaks: {text}"
    );
    compilation
}

/// All problems of a case.
pub fn check(case: &Case, ignored: &[String]) -> Vec<Problem> {
    let compilation = compile_case(case);
    let mut problems = Vec::new();
    let mut open: Vec<(&str, &Expectation)> = Vec::new();
    for file in &case.files {
        open.extend(file.expectations.iter().map(|e| (file.name.as_str(), e)));
    }
    // Exact places first, so that a vague mark can not take one away.
    open.sort_by_key(|(_, expected)| {
        matches!(expected.place, Where::Line(_)) as u8
            + 2 * matches!(expected.place, Where::Anywhere) as u8
    });
    let mut found = all_found(&compilation);
    if case.authority {
        found.extend(authority(&compilation));
    }
    for (file, expected) in open {
        match found
            .iter()
            .position(|found| matches(file, expected, found))
        {
            Some(at) => {
                found.remove(at);
            }
            None => problems.push(Problem {
                line: expected.mark,
                text: format!("not found: {}", expected.code),
            }),
        }
    }
    let ignored: Vec<_> = ignored.iter().chain(&case.ignored).collect();
    found.retain(|found| !found.related && ignored.iter().all(|code| **code != found.code));
    let line = case.line;
    let unexpected = found.iter().map(|found| Problem {
        line,
        text: format!("unexpected {}", show(found)),
    });
    problems.extend(unexpected);
    let failed = compilation.count(Severity::Error) > 0;
    if failed == compilation.manifest.is_some() {
        let text = "a manifest must exist exactly without errors".to_owned();
        problems.push(Problem { line, text });
    }
    problems
}

fn matches(file: &str, expected: &Expectation, found: &Found) -> bool {
    let place = match &expected.place {
        Where::Anywhere => true,
        Where::Line(line) => found.file == file && found.line == *line,
        Where::Columns(line, columns) => {
            let empty = found.columns.is_empty() && columns.len() <= 1;
            found.file == file
                && found.line == *line
                && found.columns.start == columns.start
                && (empty || found.columns.end == columns.end)
        }
    };
    place
        && found.code == expected.code
        && found.related == expected.related
        && (expected.related || found.severity == expected.severity)
        && found.text.contains(&expected.fragment)
}

fn show(found: &Found) -> String {
    let severity = match found.severity {
        Some(Severity::Error) => "error",
        Some(Severity::Warning) => "warning",
        Some(Severity::Note) => "note",
        None => "related",
    };
    let (start, end) = (found.columns.start, found.columns.end);
    let (file, line, code) = (&found.file, found.line, &found.code);
    let text = &found.text;
    format!("{severity} {code} at {file}:{line}:{start}-{end}: {text}")
}

fn all_found(compilation: &Compilation) -> Vec<Found> {
    let mut all = Vec::new();
    for diagnostic in &compilation.diagnostics {
        let at = compilation.locate(diagnostic.primary.place).unwrap();
        all.push(found(
            diagnostic,
            Some(diagnostic.severity),
            at,
            text_of(diagnostic),
        ));
        for label in &diagnostic.secondary {
            let at = compilation.locate(label.place).unwrap();
            all.push(found(diagnostic, None, at, label.text.clone()));
        }
    }
    all
}

fn found(of: &Diagnostic, severity: Option<Severity>, at: Location<'_>, text: String) -> Found {
    // A place of several lines is marked on its first one.
    let end = if at.start.line == at.end.line {
        at.end.column
    } else {
        let line = at.file.lines().line(at.start.line - 1);
        let end = at.file.lines().position(line.end);
        assert_eq!(end.line, at.start.line);
        end.column
    };
    Found {
        // What the checker of programs finds is marked by its inner code.
        code: of.detail.unwrap_or(of.code).to_owned(),
        severity,
        related: severity.is_none(),
        file: at.file.display.clone(),
        line: at.start.line,
        columns: at.start.column..end,
        text,
    }
}

fn text_of(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    let more = std::iter::once(&diagnostic.primary.text).chain(&diagnostic.hints);
    let fixes = diagnostic.fixes.iter().map(|fix| &fix.title);
    let path = diagnostic.path.join(".");
    for part in more
        .chain(fixes)
        .chain([&path])
        .filter(|part| !part.is_empty())
    {
        text += " | ";
        text += part;
    }
    text
}

fn authority(compilation: &Compilation) -> Vec<Found> {
    let Some(manifest) = &compilation.manifest else {
        return Vec::new();
    };
    let findings = summarise(manifest).unwrap().findings;
    findings
        .into_iter()
        .map(|finding| Found {
            code: finding.code,
            severity: Some(Severity::Note),
            related: false,
            file: String::new(),
            line: 0,
            columns: 0..0,
            text: format!(
                "{} {} {}",
                finding.level.as_str(),
                finding.runtime.unwrap_or_default(),
                finding.text
            ),
        })
        .collect()
}
