//! `chatmdc lsp` (spec 11 section 1.1).

use chatmd_lsp::{LogLevel, Options, Transport};

use crate::args;

/// Runs the language server until its client ends it.
pub fn run(args: &args::Lsp) -> u8 {
    chatmd_lsp::run(&Options {
        transport: args.pipe.clone().map_or(Transport::Stdio, Transport::Pipe),
        client_process_id: args.client_process_id,
        log_file: args.log.clone(),
        log_level: match args.log_level {
            args::LogLevel::Error => LogLevel::Error,
            args::LogLevel::Warn => LogLevel::Warn,
            args::LogLevel::Info => LogLevel::Info,
            args::LogLevel::Debug => LogLevel::Debug,
        },
        test_requests: args.test_requests,
    })
}
