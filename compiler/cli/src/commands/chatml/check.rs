//! `chatmdc chatml check`: lexing, parsing, type checking and entry checks of one script.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use chatmd_compiler::Compilation;
use chatmd_compiler::diagnostics::Severity;
use chatml::check::BindingKind;
use chatml::diagnostic::{Diagnostic, MAX_DIAGNOSTICS};
use chatml::surface::Kind;
use chatml::{Checked, EntryRequest, Parsed, check, check_entries, parse};
use serde::Serialize;

use super::Check;
use super::source::{Source, Unusable};
use crate::args::{CheckFormat, Common};
use crate::commands::{JsonError, complain, findings, print_human, to_json};
use crate::exit;
use crate::output::Output;
use crate::report::json::{self, JsonDiagnostic};
use crate::report::{Summary, concise, github, sarif};

/// What is known of a script.
pub struct Examined {
    /// The tree.
    pub parsed: Parsed,
    /// The types.
    pub checked: Checked,
    /// Errors, then warnings; at most 100 of each.
    pub found: Vec<Diagnostic>,
}

/// Parses and checks a text; the entry checks belong to a script that is of a kind by itself.
pub fn examine(text: &str, kind: Kind, entries: bool) -> Examined {
    let parsed = parse(text);
    let checked = check(&parsed.program, kind);
    let mut errors = parsed.errors.clone();
    errors.extend_from_slice(&checked.errors);
    if entries {
        errors.extend(check_entries(&parsed.program, &checked, &[EntryRequest::Default]).errors);
    }
    errors.truncate(MAX_DIAGNOSTICS);
    let warnings = parsed.warnings.iter().chain(&checked.warnings);
    let warnings = warnings.take(MAX_DIAGNOSTICS).cloned();
    let found = errors.into_iter().chain(warnings).collect();
    Examined {
        parsed,
        checked,
        found,
    }
}

/// A top-level name and its type.
#[derive(Serialize)]
struct Typed {
    name: String,
    #[serde(rename = "type")]
    ty: String,
}

#[derive(Serialize)]
struct Answer {
    version: u32,
    command: &'static str,
    ok: bool,
    diagnostics: Vec<JsonDiagnostic>,
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    types: Option<Vec<Typed>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
}

/// Runs the command.
pub fn run(args: &Check, common: Common, output: &mut Output) -> u8 {
    let listable = matches!(
        args.format,
        CheckFormat::Human | CheckFormat::Concise | CheckFormat::Json
    );
    if args.types && !listable {
        complain(
            output,
            "--types goes with the forms human, concise and json",
        );
        return exit::USAGE;
    }
    let (report, types) = match Source::read(&args.file) {
        Ok(source) => {
            let kind = args.kind.unwrap_or(Kind::Core);
            let examined = examine(&source.text, kind, args.kind.is_some());
            let types = types(&examined.checked);
            (source.standalone().report(&examined.found), types)
        }
        Err(Unusable::Refused(report)) => (*report, Vec::new()),
        Err(Unusable::Unreadable(why)) => {
            let message = why.to_string();
            match args.format {
                CheckFormat::Json => output.result(to_json(&unreadable(message))),
                _ => complain(output, &message),
            }
            return exit::IO;
        }
    };
    print(args, common, &report, types, output);
    match report.count(Severity::Error) {
        0 => exit::OK,
        _ => exit::FAILED,
    }
}

/// What annotations name files from; without one they are absolute.
fn current_directory() -> Utf8PathBuf {
    let found = std::env::current_dir().ok();
    let found = found.and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
    found.unwrap_or_default()
}

fn unreadable(message: String) -> Answer {
    Answer {
        version: 1,
        command: "chatml check",
        ok: false,
        diagnostics: Vec::new(),
        summary: Summary::default(),
        types: None,
        error: Some(JsonError {
            code: None,
            message,
        }),
    }
}

/// The values, in source order, whose types are known (spec 05 section 5.9).
fn types(checked: &Checked) -> Vec<Typed> {
    let values = checked.bindings.iter();
    let values = values.filter(|binding| binding.kind == BindingKind::Value);
    values
        .filter_map(|binding| {
            Some(Typed {
                name: binding.name.to_string(),
                ty: checked.scheme(binding)?.to_string(),
            })
        })
        .collect()
}

fn print(
    args: &Check,
    common: Common,
    report: &Compilation,
    types: Vec<Typed>,
    output: &mut Output,
) {
    let text = matches!(args.format, CheckFormat::Human | CheckFormat::Concise);
    let findings = findings(report, common.quiet && text);
    let all = [findings];
    let summary = Summary::of(&all);
    let [findings] = &all;
    match args.format {
        CheckFormat::Human => print_human(findings, output),
        CheckFormat::Concise => output.message(concise::render(findings)),
        CheckFormat::Sarif => output.result(sarif::render(&all)),
        CheckFormat::Github => output.result(github::render(findings, &current_directory())),
        CheckFormat::Json => {
            output.result(to_json(&Answer {
                version: 1,
                command: "chatml check",
                ok: summary.errors == 0,
                diagnostics: json::diagnostics(&all),
                summary,
                types: args.types.then_some(types),
                error: None,
            }));
            return;
        }
    }
    if text {
        if !common.quiet {
            output.message(summary.line());
        }
        if args.types {
            let mut list = String::new();
            for Typed { name, ty } in types {
                let _ = writeln!(list, "{name} : {ty}");
            }
            output.result(list);
        }
    }
}
