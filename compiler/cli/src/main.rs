//! The `chatmdc` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(chatmdc::run_process(std::env::args_os()))
}
