//! `chatmdc check` (spec 10 section 2.1).

use std::mem::ManuallyDrop;
use std::sync::Arc;

use camino::Utf8PathBuf;
use chatmd_compiler::diagnostics::registry::Level;
use chatmd_compiler::diagnostics::{Diagnostic, Severity};
use chatmd_compiler::{Compilation, CompileOptions, SafeText, compile};
use serde::Serialize;

use super::{JsonError, complain, print_human, to_json};
use crate::args::{Check, CheckFormat, Common};
use crate::documents::{Documents, Unreadable, compile_options};
use crate::output::Output;
use crate::report::json::{self, JsonDiagnostic};
use crate::report::{Findings, Summary, concise, github, sarif};
use crate::{administration, codes, exit};

/// Runs the command.
pub fn run(args: &Check, common: Common, output: &mut Output) -> u8 {
    let levels = match Levels::new(args) {
        Ok(levels) => levels,
        Err(message) => return usage(output, &message),
    };
    if args.stdin_name.is_some() && !args.documents.iter().any(|operand| operand == "-") {
        return usage(
            output,
            "--stdin-name names standard input, but no document is `-`",
        );
    }
    if args.admin
        && let Err(message) = administration::nothing_configured()
    {
        complain(output, &message);
        return exit::REFUSED;
    }
    // The process ends with the report: taking the database apart first would only take time.
    let mut documents = match Documents::new(&args.reading) {
        Ok(documents) => ManuallyDrop::new(documents),
        Err(why) => {
            complain(output, &why.to_string());
            return exit::IO;
        }
    };
    let (compilations, unreadable) = match compile_all(args, &mut documents) {
        Ok((compilations, unreadable)) => (ManuallyDrop::new(compilations), unreadable),
        Err(message) => return usage(output, &message),
    };
    let quiet = common.quiet && matches!(args.format, CheckFormat::Human | CheckFormat::Concise);
    let reported: Vec<Findings<'_>> = compilations
        .iter()
        .map(|compilation| {
            let shown = levels.apply(&compilation.diagnostics);
            Findings { compilation, shown }
        })
        .collect();
    let summary = Summary::of(&reported);
    let failed = summary.errors > 0 || args.deny_warnings && summary.warnings > 0;
    let code = match (unreadable.is_empty(), failed) {
        (false, _) => exit::IO,
        (true, true) => exit::FAILED,
        (true, false) => exit::OK,
    };
    if common.verbose && matches!(args.format, CheckFormat::Human | CheckFormat::Concise) {
        for compilation in compilations.iter() {
            let files: Vec<&str> = compilation
                .files
                .iter()
                .map(|file| file.display.as_str())
                .collect();
            output.message(format!("read {}\n", SafeText::line(&files.join(", "))));
        }
    }
    let report = Report {
        args,
        reported,
        summary,
        unreadable,
        code,
        quiet,
    };
    report.print(&documents, output);
    code
}

fn usage(output: &mut Output, message: &str) -> u8 {
    complain(output, message);
    output.message("\nFor more information, try 'chatmdc check --help'.\n");
    exit::USAGE
}

type Compiled = (Vec<Arc<Compilation>>, Vec<String>);

/// Compiles every document that can be read; the second list says which cannot.
fn compile_all(args: &Check, documents: &mut Documents) -> Result<Compiled, String> {
    if args
        .documents
        .iter()
        .filter(|operand| *operand == "-")
        .count()
        > 1
    {
        return Err("standard input can be read only once".to_owned());
    }
    let mut options = compile_options(&args.reading);
    options.digests = false;
    match &mut options.tests {
        Some(tests) if !args.no_tests => tests.sidecar = true,
        tests => *tests = None,
    }
    let mut compiled = Vec::with_capacity(args.documents.len());
    let mut unreadable = Vec::new();
    for outcome in each(args, documents, &options) {
        match outcome {
            Ok(compilation) => compiled.push(compilation),
            Err(why @ Unreadable::Directory(_)) => return Err(why.to_string()),
            Err(why) => unreadable.push(why.to_string()),
        }
    }
    Ok((compiled, unreadable))
}

type Outcome = Result<Arc<Compilation>, Unreadable>;

/// Fewer documents than this are compiled one after the other: starting threads costs more.
const WORTH_THREADS: usize = 64;

/// Stack of a thread that compiles, in bytes.
const STACK: usize = 16 << 20;

/// What becomes of each document, in the order of the command line.
fn each(args: &Check, documents: &mut Documents, options: &CompileOptions) -> Vec<Outcome> {
    let some = |documents: &mut Documents, operands: &[Utf8PathBuf]| -> Vec<Outcome> {
        let one = |operand: &Utf8PathBuf| {
            let root = documents.open(operand, &args.reading, args.stdin_name.as_deref())?;
            Ok(compile(&documents.db, root, options))
        };
        operands.iter().map(one).collect()
    };
    let all = args.documents.as_slice();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if all.len() < WORTH_THREADS || threads < 2 {
        return some(documents, all);
    }
    std::thread::scope(|scope| {
        let (own, others) = all.split_at(all.len().div_ceil(threads));
        let workers: Vec<_> = others
            .chunks(all.len().div_ceil(threads))
            .map(|operands| {
                let mut documents = ManuallyDrop::new(documents.clone());
                let worker = std::thread::Builder::new().stack_size(STACK);
                let started = worker.spawn_scoped(scope, move || some(&mut documents, operands));
                (operands, started)
            })
            .collect();
        let mut outcomes = some(documents, own);
        for (operands, worker) in workers {
            match worker.map(|worker| worker.join()) {
                Ok(Ok(list)) => outcomes.extend(list),
                // A bug shows as one, wherever it happens.
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // No thread to be had.
                Err(_) => outcomes.extend(some(documents, operands)),
            }
        }
        outcomes
    })
}

/// What `--allow` and `--deny` say.
struct Levels<'a> {
    allow: &'a [String],
    deny: &'a [String],
}

impl<'a> Levels<'a> {
    fn new(args: &'a Check) -> Result<Self, String> {
        for code in &args.allow {
            if matches!(
                codes::find(code)?.level,
                Level::Error | Level::Runtime | Level::Invocation
            ) {
                return Err(format!("`{code}` is an error and cannot be allowed"));
            }
        }
        for code in &args.deny {
            codes::find(code)?;
            if args.allow.contains(code) {
                return Err(format!("`{code}` is both allowed and denied"));
            }
        }
        Ok(Self {
            allow: &args.allow,
            deny: &args.deny,
        })
    }

    fn apply(&self, found: &[Diagnostic]) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = found
            .iter()
            .filter(|one| {
                // A code that is a warning in one place and an error in another stays an error.
                one.severity == Severity::Error || !self.allow.iter().any(|code| one.has_code(code))
            })
            .cloned()
            .collect();
        for one in &mut found {
            if self.deny.iter().any(|code| one.has_code(code)) {
                one.severity = Severity::Error;
            }
        }
        found
    }
}

/// What is to be printed.
struct Report<'a> {
    args: &'a Check,
    reported: Vec<Findings<'a>>,
    summary: Summary,
    unreadable: Vec<String>,
    code: u8,
    quiet: bool,
}

/// The JSON answer.
#[derive(Serialize)]
struct Envelope {
    version: u32,
    command: &'static str,
    ok: bool,
    diagnostics: Vec<JsonDiagnostic>,
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
}

impl Report<'_> {
    fn print(mut self, documents: &Documents, output: &mut Output) {
        match self.args.format {
            CheckFormat::Human | CheckFormat::Concise => self.print_text(output),
            CheckFormat::Json => output.result(to_json(&self.envelope())),
            CheckFormat::Sarif => {
                output.result(sarif::render(&self.reported));
                self.print_unreadable(output);
            }
            CheckFormat::Github => {
                for findings in &self.reported {
                    output.result(github::render(findings, documents.cwd()));
                }
                self.print_unreadable(output);
            }
        }
    }

    fn print_text(&mut self, output: &mut Output) {
        self.print_unreadable(output);
        for findings in &mut self.reported {
            if self.quiet && !self.args.deny_warnings {
                findings
                    .shown
                    .retain(|found| found.severity == Severity::Error);
            }
            match self.args.format {
                CheckFormat::Human => print_human(findings, output),
                _ => output.message(concise::render(findings)),
            }
        }
        let nothing_compiled = self.reported.is_empty();
        if !self.quiet && !nothing_compiled {
            output.message(self.summary.line());
            if self.args.no_tests {
                output.message("note: tests were not run (--no-tests)\n");
            }
            if self.args.deny_warnings && self.summary.errors == 0 && self.summary.warnings > 0 {
                output.message("warnings are denied here (--deny-warnings)\n");
            }
        }
    }

    /// With a machine format too: the program failed at something outside the documents.
    fn print_unreadable(&self, output: &mut Output) {
        for message in &self.unreadable {
            complain(output, message);
        }
    }

    fn envelope(&self) -> Envelope {
        let error = (!self.unreadable.is_empty()).then(|| JsonError {
            code: None,
            message: self.unreadable.join("; "),
        });
        Envelope {
            version: 1,
            command: "check",
            ok: self.code == exit::OK,
            diagnostics: json::diagnostics(&self.reported),
            summary: self.summary,
            error,
        }
    }
}
