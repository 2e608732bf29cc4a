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

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// Parses the command line of this process and does what it says.
pub fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(args::usage(&error)),
    };
    let result = match &cli.command {
        args::Command::Run(run) => run::run(run),
        args::Command::Tools(tools) => tools::tools(tools),
        args::Command::Audit {
            command: args::AuditCommand::Validate(validate),
        } => audit::validate(validate),
        args::Command::Completions(args) => completions(args.shell),
    };
    ExitCode::from(match result {
        Ok(code) => code,
        Err(stop) => stop.report(),
    })
}

fn completions(shell: clap_complete::Shell) -> Result<u8, exit::Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::Cli::command(), "chatmd", &mut script);
    show::result(&script)?;
    Ok(exit::OK)
}
