//! `chatmdc test` (spec 12 section 2.7).

mod filter;
mod human;
mod json;
mod junit;
mod selection;

use std::sync::Arc;
use std::time::Instant;

use chatmd_compiler::compile::TestSelection;
use chatmd_compiler::diagnostics::Severity;
use chatmd_compiler::expectations::{CoverageRow, MutationReport, coverage, mutate};
use chatmd_compiler::{Compilation, compile};

use super::complain;
use crate::args::{Common, TestArgs, TestFormat};
use crate::documents::{Documents, Unreadable, compile_options};
use crate::exit;
use crate::output::Output;
use crate::report::{Findings, github};
use filter::Filter;
use selection::{Counts, Selected};

/// One document with what was found out about it.
struct Tested<'a> {
    compilation: &'a Compilation,
    /// Results that the filters leave.
    selected: Vec<Selected<'a>>,
    /// Findings that the filters leave.
    findings: Findings<'a>,
    coverage: Vec<CoverageRow>,
    mutations: Option<MutationReport>,
}

/// Runs the command.
pub fn run(args: &TestArgs, common: Common, output: &mut Output) -> u8 {
    let started = Instant::now();
    let compilations = match compile_all(args) {
        Ok(compilations) => compilations,
        Err(why) => {
            complain(output, &why.to_string());
            return match why {
                Unreadable::Directory(_) => exit::USAGE,
                _ => exit::IO,
            };
        }
    };
    let filter = Filter::new(&args.filter);
    let documents: Vec<Tested<'_>> = compilations
        .iter()
        .map(|compilation| of_document(args, &filter, compilation))
        .collect();
    let counts = Counts::of(&documents);
    let code = exit_code(args, &documents);
    match args.format {
        TestFormat::Human => {
            human::print(args, common, &documents, output);
            let time = started.elapsed().as_millis();
            output.result(format!("{} ({time} ms)\n", counts.line()));
        }
        TestFormat::Json => {
            let verbose = common.verbose;
            output.result(json::render(
                args,
                &documents,
                counts,
                code == exit::OK,
                verbose,
            ));
        }
        TestFormat::Junit => output.result(junit::render(args, &documents)),
        TestFormat::Github => {
            let cwd = match Documents::new(&args.reading) {
                Ok(documents) => documents.cwd().to_owned(),
                Err(_) => camino::Utf8PathBuf::from("."),
            };
            for document in &documents {
                output.result(github::render(&document.findings, &cwd));
            }
        }
    }
    code
}

fn compile_all(args: &TestArgs) -> Result<Vec<Arc<Compilation>>, Unreadable> {
    let mut documents = Documents::new(&args.reading)?;
    let mut options = compile_options(&args.reading);
    options.digests = args.format == TestFormat::Json;
    let tests = options.tests.get_or_insert_with(TestSelection::default);
    tests.sidecar = true;
    for file in &args.tests {
        let path = documents.cwd().join(file);
        std::fs::File::open(&path)
            .map_err(|why| Unreadable::Option(format!("cannot read `{file}`: {why}")))?;
        tests.files.push((path, file.to_string()));
    }
    let mut compiled = Vec::with_capacity(args.documents.len());
    for operand in &args.documents {
        let root = documents.open(operand, &args.reading, None)?;
        compiled.push(compile(&documents.db, root, &options));
    }
    Ok(compiled)
}

fn of_document<'a>(args: &TestArgs, filter: &Filter, compilation: &'a Compilation) -> Tested<'a> {
    let all = selection::results(compilation);
    let selected: Vec<Selected<'a>> = all
        .into_iter()
        .filter(|result| filter.takes(result))
        .collect();
    let findings = selection::findings(compilation, &selected, filter);
    let tested = &compilation.tested;
    let manifest = tested.manifest.as_deref();
    Tested {
        compilation,
        selected,
        findings,
        coverage: match manifest {
            Some(manifest) if args.coverage => coverage(manifest, &tested.run),
            _ => Vec::new(),
        },
        mutations: match manifest {
            Some(manifest) if args.mutate => Some(mutate(manifest, &tested.suite, &tested.run)),
            _ => None,
        },
    }
}

fn exit_code(args: &TestArgs, documents: &[Tested<'_>]) -> u8 {
    let failed = documents.iter().any(|document| {
        let found = document.findings.shown.iter();
        let worst = found.map(|found| found.severity).min();
        let strict = args.deny_warnings
            && (worst == Some(Severity::Warning)
                || document.coverage.iter().any(|row| row.cases == 0)
                || document
                    .mutations
                    .as_ref()
                    .is_some_and(|report| !report.survivors.is_empty()));
        let case = document.selected.iter().any(Selected::failed);
        worst == Some(Severity::Error) || case || strict
    });
    match failed {
        true => exit::FAILED,
        false => exit::OK,
    }
}
