//! Standard output and standard error, with colour decided once and a closed pipe met quietly.

use std::io::{self, IsTerminal as _, Write};

use crate::args::ColorChoice;
use crate::exit;
use crate::report::human::Style;
use crate::report::wrap;

/// Columns of the terminal on standard error.
fn width() -> usize {
    match terminal_size::terminal_size_of(io::stderr()) {
        Some((width, _)) => usize::from(width.0).max(wrap::MIN_WIDTH),
        None => wrap::DEFAULT_WIDTH,
    }
}

/// How human text on the standard error of this process looks.
pub fn style_of_stderr(choice: ColorChoice) -> Style {
    let terminal = io::stderr().is_terminal();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let color = match choice {
        ColorChoice::Auto => terminal && !no_color,
        ColorChoice::Always => true,
        ColorChoice::Never => false,
    };
    Style {
        color,
        unicode: color,
        width: width(),
    }
}

/// Where a command writes.
pub struct Output {
    stdout: Box<dyn Write>,
    stderr: Box<dyn Write>,
    /// Standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Human text on standard error has colour.
    pub color: bool,
    /// Human text on standard error may use characters beyond ASCII for drawing.
    pub unicode: bool,
    /// Columns of a line of human text on standard error.
    pub width: usize,
    failure: Option<io::Error>,
}

impl Output {
    /// The streams of the process.
    pub fn process(choice: ColorChoice) -> Self {
        let Style {
            color,
            unicode,
            width,
        } = style_of_stderr(choice);
        Self {
            stdout: Box::new(io::BufWriter::new(io::stdout().lock())),
            stderr: Box::new(io::BufWriter::new(io::stderr().lock())),
            stdout_is_terminal: io::stdout().is_terminal(),
            color,
            unicode,
            width,
            failure: None,
        }
    }

    /// Writes a result.
    pub fn result(&mut self, text: impl AsRef<[u8]>) {
        if self.failure.is_none() {
            self.failure = self.stdout.write_all(text.as_ref()).err();
        }
    }

    /// Writes diagnostics, notes and failures.
    pub fn message(&mut self, text: impl AsRef<[u8]>) {
        // A result that nobody reads any more must not hide behind its messages.
        if self.failure.is_none() {
            self.failure = self.stderr.write_all(text.as_ref()).err();
        }
    }

    /// Brings what was written so far before the reader's eyes.
    pub fn flush(&mut self) {
        if self.failure.is_none() {
            let flushed = self.stdout.flush().and(self.stderr.flush());
            self.failure = flushed.err();
        }
    }

    /// Whether a stream can not be written any more.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Flushes; turns a failure to write into the exit code that stands for it.
    pub fn finish(mut self, code: u8) -> u8 {
        let flushed = self.stdout.flush().and(self.stderr.flush());
        match self.failure.or(flushed.err()) {
            None => code,
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => exit::BROKEN_PIPE,
            Some(error) => {
                // Standard error may be the stream that failed; there is nowhere else to say it.
                let _ = writeln!(io::stderr(), "chatmdc: cannot write the output: {error}");
                exit::IO
            }
        }
    }
}
