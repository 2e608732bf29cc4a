//! Writing to the standard streams; a reader that went away is no failure.

use std::io::{self, Write};

use chatmd_compiler::SafeText;
use chatmd_runtime::warnings::Warnings;
use chatmdc::args::Common;

use crate::exit::{self, Stop};

/// Writes a result to standard output.
pub fn result(bytes: &[u8]) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            Err(Stop::new(exit::BROKEN_PIPE, ""))
        }
        Err(error) => Err(Stop::new(
            exit::IO,
            format!("chatmd: cannot write the result: {error}"),
        )),
    }
}

/// Writes a message, already escaped, to standard error with a line end.
pub fn message(text: &str) {
    let mut stderr = io::stderr().lock();
    // There is no other place to say that standard error fails.
    let _ = writeln!(stderr, "{}", text.trim_end_matches('\n'));
}

/// Writes raw text to standard error.
pub fn raw_message(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Shows what the operator should know, unless only errors are wanted.
pub fn warnings(warnings: &Warnings, common: Common) {
    for (code, text) in warnings.take() {
        if !common.quiet {
            let text = SafeText::line(&text);
            message(&format!("warning[{code}]: {}", text.as_str()));
        }
    }
}

/// Shows a warning that has no code.
pub fn warning(text: &str) {
    message(&format!("warning: {}", SafeText::line(text).as_str()));
}

/// Shows a detail that was asked for with `--verbose`.
pub fn detail(common: Common, text: &str) {
    if common.verbose {
        message(SafeText::line(text).as_str());
    }
}
