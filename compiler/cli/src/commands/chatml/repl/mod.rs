//! `chatmdc chatml repl`: inputs one after the other, each with its answer.

mod editor;
mod history;
mod meta;

use std::fmt::Write as _;
use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;

use camino::Utf8PathBuf;
use chatmd_compiler::compile::Standalone;
use chatml::check::BindingKind;
use chatml::limits::{Limits, Monotonic};
use chatml::session::{Completeness, Defined, MAX_SESSION, Refusal, Session, Step, completeness};
use chatml::surface::Kind;

use super::Repl;
use super::eval::shown;
use super::source::MAX_SCRIPT;
use crate::commands::{complain, findings, print_human};
use crate::exit;
use crate::output::Output;

/// What becomes of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The next input.
    Done,
    /// The input failed; the next one.
    Failed,
    /// The end.
    Quit,
}

/// Runs the command.
pub fn run(args: &Repl, output: &mut Output) -> u8 {
    let kind = args.kind.unwrap_or(Kind::Core);
    let session = Session::new(kind, Limits::default());
    if std::io::stdin().is_terminal() && output.stdout_is_terminal {
        editor::run(session, output)
    } else {
        from_pipe(session, output)
    }
}

/// Inputs from a stream: no prompt, no history; the exit code tells whether all went well.
fn from_pipe(mut session: Session, output: &mut Output) -> u8 {
    let mut failed = false;
    let mut input = String::new();
    let mut lines = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        // A line is bounded like a whole session.
        let mut bounded = std::io::Read::take(&mut lines, MAX_SCRIPT + 1);
        match bounded.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => {
                complain(output, &format!("cannot read standard input: {error}"));
                return exit::IO;
            }
        }
        let Ok(line) = String::from_utf8(line) else {
            complain(output, "standard input is not UTF-8 text");
            return exit::FAILED;
        };
        let blank = line.trim().is_empty();
        input.push_str(&line);
        if input.len() <= MAX_SESSION && !ends(&input, blank) {
            continue;
        }
        let next = answer(&mut session, input.trim_end(), output);
        input.clear();
        output.flush();
        failed |= next == Next::Failed;
        if next == Next::Quit || output.has_failed() {
            break;
        }
    }
    if !input.trim().is_empty() {
        failed |= answer(&mut session, input.trim_end(), output) == Next::Failed;
    }
    if failed { exit::FAILED } else { exit::OK }
}

/// Whether an input ends with the line that was read last. A blank line ends what is open; in a
/// string or comment it takes two.
fn ends(input: &str, blank: bool) -> bool {
    if meta::is_command(input) {
        return true;
    }
    let text = input.trim_end_matches(['\n', '\r']);
    match completeness(input) {
        Completeness::Complete => true,
        // On one line an input is meant to be whole.
        Completeness::MayGoOn => blank || text.lines().count() <= 1,
        Completeness::Open => blank,
        Completeness::OpenText => input.get(text.len()..).unwrap_or("").lines().count() > 2,
    }
}

/// Answers one input.
fn answer(session: &mut Session, input: &str, output: &mut Output) -> Next {
    if input.trim().is_empty() {
        return Next::Done;
    }
    if meta::is_command(input) {
        return meta::run(session, input.trim(), output);
    }
    match session.input(input, &Monotonic::start()) {
        Ok(step) => {
            show(session, input, &step, output);
            Next::Done
        }
        Err(refusal) => {
            refuse(session, input, &refusal, output);
            Next::Failed
        }
    }
}

fn show(session: &Session, input: &str, step: &Step, output: &mut Output) {
    if !step.warnings.is_empty() {
        // The input is the last text of the session by now.
        let texts: Vec<&str> = session.texts(input).collect();
        let taken = texts.split_last().map_or(&[][..], |(_, taken)| taken);
        let report = standalone(taken).report(&step.warnings);
        print_human(&findings(&report, false), output);
        // On a terminal the value comes last.
        output.flush();
    }
    output.result(shown(&step.output));
    let ty = step.ty.as_ref().map(ToString::to_string);
    let mut text = String::new();
    if step.is_expression {
        let value = step.text.as_deref().unwrap_or("");
        let _ = writeln!(text, "- : {} = {}", ty.unwrap_or_default(), shown(value));
    }
    for (at, defined) in step.defined.iter().enumerate() {
        let last = at + 1 == step.defined.len() && !step.is_expression;
        let value = step.text.as_deref().filter(|_| last);
        write_name(defined, value, &mut text);
    }
    output.result(text);
}

/// A definition on a line of its own, with its value if that says anything.
fn write_name(defined: &Defined, value: Option<&str>, text: &mut String) {
    let name = &defined.name;
    let _ = match (defined.kind, &defined.ty) {
        (BindingKind::Module, _) => writeln!(text, "module {name}"),
        (BindingKind::Type, _) => writeln!(text, "type {name}"),
        (BindingKind::Value, Some(ty)) => {
            let opaque = ["<closure>", "<builtin>", "<task>"];
            let value = value.filter(|value| !opaque.contains(value));
            let value = value.map(|value| format!(" = {}", shown(value)));
            writeln!(text, "{name} : {ty}{}", value.unwrap_or_default())
        }
        (BindingKind::Value, None) => Ok(()),
    };
}

/// Says why an input was not taken.
fn refuse(session: &Session, input: &str, refusal: &Refusal, output: &mut Output) {
    let texts: Vec<&str> = session.texts(input).collect();
    let program = standalone(&texts);
    let report = match refusal {
        Refusal::Compile(found) => program.report(found),
        Refusal::Run(fault) => program.fault(fault),
        Refusal::Full => {
            complain(
                output,
                "the session has become too large; `:reset` begins a new one",
            );
            return;
        }
    };
    print_human(&findings(&report, false), output);
}

/// The inputs as one program whose parts have names.
fn standalone(texts: &[&str]) -> Standalone {
    let named = texts.iter().enumerate().map(|(at, text)| {
        let name = format!("<input {}>", at + 1);
        (name.clone(), Utf8PathBuf::from(name), Arc::from(*text))
    });
    Standalone::new(named)
}
