//! `chatmd`: runs the tools of ChatMD documents under their declared authority (spec 10 section 3).
//! A library, so that manual pages can be made from its command line.

mod admin;
pub mod args;
mod audit;
mod document;
mod duration;
mod exit;
mod input;
mod run;
mod show;
mod tools;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// Parses the command line of this process and does what it says.
pub fn main() -> ExitCode {
    report_panics_briefly();
    // A panic unwinds to here after the hook has reported it; children are reaped on the way.
    std::panic::catch_unwind(run_process).unwrap_or(ExitCode::from(exit::INTERNAL))
}

fn run_process() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(args::usage(&error)),
    };
    let result = match &cli.command {
        args::Command::Run(run) => run::run(run, cli.common),
        args::Command::Tools(tools) => tools::tools(tools, cli.common),
        args::Command::Audit {
            command: args::AuditCommand::Validate(validate),
        } => audit::validate(validate, cli.common),
        args::Command::Completions(args) => completions(args.shell),
    };
    ExitCode::from(match result {
        Ok(code) => code,
        Err(stop) => stop.report(),
    })
}

/// A panic is a bug: one line that says so, and a backtrace only on request (spec 10 section 1.1).
fn report_panics_briefly() {
    let debug = std::env::var_os("CHATMD_SHELL_LOG").is_some_and(|level| level == "debug");
    let verbose = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let place = info
            .location()
            .map(|at| format!(" at {}:{}", at.file(), at.line()));
        let _ = writeln!(
            std::io::stderr(),
            "chatmd {}: internal error{}; please report it (CHATMD_SHELL_LOG=debug shows more)",
            env!("CARGO_PKG_VERSION"),
            place.unwrap_or_default(),
        );
        if debug {
            verbose(info);
        }
    }));
}

fn completions(shell: clap_complete::Shell) -> Result<u8, exit::Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::Cli::command(), "chatmd", &mut script);
    show::result(&script)?;
    Ok(exit::OK)
}
