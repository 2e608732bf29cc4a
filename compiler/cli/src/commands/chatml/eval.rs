//! `chatmdc chatml eval`: the value of a script, or one call of its entry function.

use chatmd_compiler::Compilation;
use chatmd_compiler::SafeText;
use chatmd_compiler::diagnostics::Severity;
use chatmd_compiler::safe_text::escape;
use chatml::bridge::data_to_json;
use chatml::diagnostic::Diagnostic;
use chatml::eval::Fault;
use chatml::instance::{Evaluation, Outcome, evaluate, prepare};
use chatml::limits::{Limits, Monotonic};
use chatml::surface::Kind;
use chatml::types::TypeGraph;
use serde::Serialize;

use super::Eval;
use super::check::examine;
use super::invoke;
use super::source::{Source, Unusable};
use crate::args::{Common, InspectFormat};
use crate::commands::{complain, findings, print_human, to_json};
use crate::exit;
use crate::output::Output;

/// Why there is no answer.
pub enum Failure {
    /// The script, or its evaluation, at a place in it.
    Reported(Box<Compilation>),
    /// Something outside of the script, such as the event.
    Outside {
        /// Its code.
        code: &'static str,
        /// One sentence.
        message: String,
    },
    /// Nothing could be read.
    Unreadable(String),
}

/// First members of every answer.
#[derive(Serialize)]
struct Envelope {
    version: u32,
    command: &'static str,
    ok: bool,
}

const fn envelope(ok: bool) -> Envelope {
    Envelope {
        version: 1,
        command: "chatml eval",
        ok,
    }
}

#[derive(Serialize)]
struct Failed {
    #[serde(flatten)]
    envelope: Envelope,
    code: Option<&'static str>,
    message: String,
    line: Option<u32>,
    column: Option<u32>,
}

#[derive(Serialize)]
struct Valued {
    #[serde(flatten)]
    envelope: Envelope,
    #[serde(rename = "type")]
    ty: Option<String>,
    value: Option<String>,
    output: String,
}

/// Runs the command.
pub fn run(args: &Eval, common: Common, output: &mut Output) -> u8 {
    let kind = args.kind.unwrap_or(Kind::Core);
    if args.event.is_some() && kind.contract().is_none() {
        let name = kind.as_str();
        complain(
            output,
            &format!(
                "--event is for the shell kinds; scripts of the kind `{name}` have no such event"
            ),
        );
        return exit::USAGE;
    }
    let source = match source(args) {
        Ok(source) => source,
        Err(failure) => return fail(args, &failure, output),
    };
    let examined = examine(&source.text, kind, args.event.is_some());
    let report = source.standalone().report(&examined.found);
    if report.count(Severity::Error) > 0 {
        return fail(args, &Failure::Reported(Box::new(report)), output);
    }
    if args.format == InspectFormat::Human && !common.quiet {
        print_human(&findings(&report, false), output);
        output.flush();
    }
    let outcome = match &args.event {
        Some(event) => invoke::call(&source, kind, event, args.state.as_deref())
            .map(|called| print_call(args.format, &called, output)),
        None => value(&source, kind).map(|found| print_value(args.format, found, output)),
    };
    match outcome {
        Ok(()) => exit::OK,
        Err(failure) => fail(args, &failure, output),
    }
}

fn source(args: &Eval) -> Result<Source, Failure> {
    let read = match (&args.program, &args.file) {
        (Some(program), _) => Source::given(program),
        (None, Some(file)) => Source::read(file),
        // The command line asks for one of the two.
        (None, None) => Source::given(""),
    };
    read.map_err(|why| match why {
        Unusable::Unreadable(why) => Failure::Unreadable(why.to_string()),
        Unusable::Refused(report) => Failure::Reported(report),
    })
}

/// What keeps a script from being started.
pub fn refused(source: &Source, found: &[Diagnostic]) -> Failure {
    Failure::Reported(Box::new(source.standalone().report(found)))
}

/// A fault at its place; one that no expression caused has none.
pub fn faulted(source: &Source, fault: Fault) -> Failure {
    if fault.span == chatml::span::Span::default() {
        return Failure::Outside {
            code: fault.code,
            message: fault.message,
        };
    }
    Failure::Reported(Box::new(source.standalone().fault(&fault)))
}

fn value(source: &Source, kind: Kind) -> Result<(Option<TypeGraph>, Evaluation), Failure> {
    let (program, ty) = prepare(&source.text, kind).map_err(|found| refused(source, &found))?;
    let evaluation = evaluate(&program, &Limits::default(), &Monotonic::start())
        .map_err(|fault| faulted(source, fault))?;
    Ok((ty, evaluation))
}

/// Text of a script as it may be shown: line ends and tabs stay.
pub fn shown(text: &str) -> String {
    escape(text, |c| matches!(c, '\n' | '\t')).into_owned()
}

fn print_value(
    format: InspectFormat,
    (ty, evaluation): (Option<TypeGraph>, Evaluation),
    output: &mut Output,
) {
    match format {
        InspectFormat::Human => {
            output.result(shown(&evaluation.output));
            if let Some(text) = &evaluation.text {
                output.result(format!("{}\n", shown(text)));
            }
        }
        InspectFormat::Json => output.result(to_json(&Valued {
            envelope: envelope(true),
            ty: ty.map(|ty| ty.to_string()),
            value: evaluation.text,
            output: evaluation.output,
        })),
    }
}

/// One JSON object on one line, whose values keep the order of their parts.
fn print_call(format: InspectFormat, called: &Outcome, output: &mut Output) {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let arguments: Vec<String> = called.action.arguments.iter().map(data_to_json).collect();
    let envelope = match format {
        InspectFormat::Human => "",
        InspectFormat::Json => "\"version\":1,\"command\":\"chatml eval\",\"ok\":true,",
    };
    let answer = format!(
        "{{{envelope}\"action\":{},\"args\":[{}],\"state\":{},\"state_json\":{}}}\n",
        quoted(called.action.name()),
        arguments.join(","),
        quoted(&called.state.text()),
        data_to_json(&called.state),
    );
    match format {
        InspectFormat::Human => output.result(escape(&answer, |c| c == '\n').as_bytes()),
        InspectFormat::Json => output.result(answer),
    }
}

fn fail(args: &Eval, failure: &Failure, output: &mut Output) -> u8 {
    let code = match failure {
        Failure::Unreadable(_) => exit::IO,
        _ => exit::FAILED,
    };
    match args.format {
        InspectFormat::Json => output.result(to_json(&failed(failure))),
        InspectFormat::Human => match failure {
            Failure::Reported(report) => print_human(&findings(report, false), output),
            Failure::Outside { code, message } => {
                output.message(format!("error[{code}]: {}\n", SafeText::line(message)));
            }
            Failure::Unreadable(message) => complain(output, message),
        },
    }
    code
}

/// The first error; that is the one which the language defines.
fn failed(failure: &Failure) -> Failed {
    let envelope = envelope(false);
    match failure {
        Failure::Reported(report) => {
            let mut errors = report.diagnostics.iter();
            let first = errors.find(|found| found.severity == Severity::Error);
            let at = first.and_then(|found| report.locate(found.primary.place));
            Failed {
                envelope,
                code: first.map(|found| found.code),
                message: first.map(|found| found.message.clone()).unwrap_or_default(),
                line: at.map(|at| at.start.line),
                column: at.map(|at| at.start.column),
            }
        }
        Failure::Outside { code, message } => Failed {
            envelope,
            code: Some(code),
            message: message.clone(),
            line: None,
            column: None,
        },
        Failure::Unreadable(message) => Failed {
            envelope,
            code: None,
            message: message.clone(),
            line: None,
            column: None,
        },
    }
}
