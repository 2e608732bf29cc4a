//! The command line of the ChatMD compiler (spec 10).
//!
//! Nothing here runs a command of a document or writes to a store; everything goes through
//! [`mod@chatmd_compiler::compile`].

pub mod administration;
pub mod args;
pub mod codes;
pub mod commands;
pub mod documents;
pub mod env_file;
pub mod exit;
pub mod files;
pub mod git;
pub mod live;
pub mod live_host;
pub mod output;
pub mod report;

use std::ffi::OsString;
use std::io::Write as _;

use chatmd_compiler::SafeText;
use clap::{CommandFactory as _, Parser as _};

use args::{Cli, ColorChoice, Command};
use output::Output;

/// Runs the program on the streams of this process and gives its exit code.
pub fn run_process(args: impl Iterator<Item = OsString>) -> u8 {
    report_panics_briefly();
    let args = reference_forms(args);
    // A panic unwinds to here after the hook has reported it.
    std::panic::catch_unwind(|| run(args)).unwrap_or(exit::INTERNAL)
}

fn run(args: Vec<OsString>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut output = Output::process(cli.common.color);
    let code = match &cli.command {
        Command::Check(args) => commands::check::run(args, cli.common, &mut output),
        Command::Inspect(args) => commands::inspect::run(args, cli.common, &mut output),
        Command::Manifest(args) => commands::manifest::run(args, cli.common, &mut output),
        Command::Diff(args) => commands::diff::run(args, cli.common, &mut output),
        Command::Eval(args) => commands::eval::run(args, cli.common, &mut output),
        Command::Graph(args) => commands::graph::run(args, cli.common, &mut output),
        Command::Test(args) => commands::test::run(args, cli.common, &mut output),
        Command::Explain(args) => commands::explain::run(args, &mut output),
        Command::Fmt(args) => commands::fmt::run(args, cli.common, &mut output),
        Command::Init(args) => commands::init::run(args, cli.common, &mut output),
        Command::Schema(args) => commands::schema::run(args, cli.common, &mut output),
        Command::Chatml(args) => commands::chatml::run(args, cli.common, &mut output),
        Command::Lsp(args) => {
            // The server writes on standard output from a thread of its own.
            drop(output);
            return commands::lsp::run(args);
        }
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "chatmdc", &mut script);
            output.result(script);
            exit::OK
        }
    };
    output.finish(code)
}

/// Help and version go to standard output with success, all else is a usage error. The text may
/// quote arguments, so it is escaped.
fn usage(error: &clap::Error) -> u8 {
    let text = SafeText::lines(&error.render().to_string());
    let mut output = Output::process(ColorChoice::Never);
    if error.use_stderr() {
        output.message(text.as_str());
        output.finish(exit::USAGE)
    } else {
        output.result(text.as_str());
        output.finish(exit::OK)
    }
}

/// The single-dash forms of the reference command line (spec 10 section 1): accepted before `--`.
fn reference_forms(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut options = true;
    args.map(|arg| {
        options &= arg != "--";
        match arg.to_str() {
            Some(form @ ("-confirm" | "-canonical" | "-reason")) if options => {
                format!("-{form}").into()
            }
            _ => arg,
        }
    })
    .collect()
}

/// A panic is a bug: one line that says so, and a backtrace only on request.
fn report_panics_briefly() {
    let debug = std::env::var_os("CHATMD_SHELL_LOG").is_some_and(|level| level == "debug");
    let verbose = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let place = info
            .location()
            .map(|at| format!(" at {}:{}", at.file(), at.line()));
        let _ = writeln!(
            std::io::stderr(),
            "chatmdc {}: internal error{}; please report it (CHATMD_SHELL_LOG=debug shows more)",
            env!("CARGO_PKG_VERSION"),
            place.unwrap_or_default(),
        );
        if debug {
            verbose(info);
        }
    }));
}
