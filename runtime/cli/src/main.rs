//! `chatmd`: runs the tools of ChatMD documents under their declared authority (spec 10 section 3).

mod admin;
mod args;
mod audit;
mod document;
mod duration;
mod exit;
mod input;
mod run;
mod show;
mod tools;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return std::process::ExitCode::from(args::usage(&error)),
    };
    let result = match &cli.command {
        args::Command::Run(run) => run::run(run),
        args::Command::Tools(tools) => tools::tools(tools),
        args::Command::Audit {
            command: args::AuditCommand::Validate(validate),
        } => audit::validate(validate),
    };
    std::process::ExitCode::from(match result {
        Ok(code) => code,
        Err(stop) => stop.report(),
    })
}
