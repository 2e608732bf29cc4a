//! Log lines on standard error or in a file. Never the text of documents, never standard output.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chatmd_compiler::SafeText;
use crossbeam_channel::{Sender, bounded};

/// Longest line, in characters.
const MAX_CHARACTERS: usize = 400;

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What ends or damages the session.
    Error,
    /// What the client did wrong.
    #[default]
    Warn,
    /// Life cycle.
    Info,
    /// Every decision.
    Debug,
}

/// Lines that may wait. Nobody waits for the reader of the log: what does not fit is dropped, and the
/// next line says how many were.
const CAPACITY: usize = 1_024;

/// A handle on the log.
#[derive(Clone)]
pub struct Log {
    level: Level,
    lines: Sender<Entry>,
    dropped: Arc<AtomicUsize>,
}

enum Entry {
    Line(String),
    /// Everything before it is written.
    Mark(Sender<()>),
}

impl Log {
    /// A log up to a level, to a file or to standard error, written by a thread of its own.
    pub fn start(level: Level, file: Option<File>) -> std::io::Result<Self> {
        match file {
            Some(file) => Self::to(level, file),
            None => Self::to(level, std::io::stderr()),
        }
    }

    fn to(level: Level, mut out: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (lines, entries) = bounded(CAPACITY);
        let dropped = Arc::new(AtomicUsize::new(0));
        let lost = Arc::clone(&dropped);
        let write_all = move || {
            for entry in entries {
                // Failure to log is no failure of the server.
                match entry {
                    Entry::Line(line) => {
                        let missing = lost.swap(0, Ordering::Relaxed);
                        if missing > 0 {
                            let _ = out.write_all(
                                format!("chatmdc lsp: warn: {missing} lines were not written\n")
                                    .as_bytes(),
                            );
                        }
                        let _ = out.write_all(line.as_bytes());
                    }
                    Entry::Mark(done) => {
                        let _ = out.flush();
                        let _ = done.try_send(());
                    }
                }
            }
        };
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(write_all)?;
        Ok(Self {
            level,
            lines,
            dropped,
        })
    }

    /// Waits until everything is written, but not longer than that.
    pub fn drain(&self, limit: Duration) {
        let (done, written) = bounded(1);
        if self.lines.send_timeout(Entry::Mark(done), limit).is_ok() {
            let _ = written.recv_timeout(limit);
        }
    }

    /// Writes a line, soon.
    pub fn write(&self, level: Level, message: &str) {
        if level > self.level {
            return;
        }
        let message: String = message.chars().take(MAX_CHARACTERS).collect();
        let word = match level {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        };
        let line = format!("chatmdc lsp: {word}: {}\n", SafeText::line(&message));
        if self.lines.try_send(Entry::Line(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What the client did wrong.
    pub fn warn(&self, message: &str) {
        self.write(Level::Warn, message);
    }

    /// What ends or damages the session.
    pub fn error(&self, message: &str) {
        self.write(Level::Error, message);
    }

    /// Life cycle.
    pub fn info(&self, message: &str) {
        self.write(Level::Info, message);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::sync::{Condvar, Mutex};

    use super::*;

    #[derive(Default)]
    struct State {
        open: bool,
        /// Somebody waits for it to open.
        waited_for: bool,
        taken: Vec<u8>,
    }

    /// Takes nothing until it is opened.
    #[derive(Clone, Default)]
    struct Slow(Arc<(Mutex<State>, Condvar)>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let (state, changed) = &*self.0;
            let mut state = state.lock().unwrap();
            state.waited_for = true;
            changed.notify_all();
            let mut state = changed.wait_while(state, |state| !state.open).unwrap();
            state.taken.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_the_reader_of_the_log() {
        let out = Slow::default();
        let log = Log::to(Level::Warn, out.clone()).unwrap();
        log.warn("line 0");
        let (state, changed) = &*out.0;
        // Now the log's thread holds one line; what it has lost is counted from here on.
        drop(changed.wait_while(state.lock().unwrap(), |state| !state.waited_for));
        for number in 1..10_000 {
            log.warn(&format!("line {number}"));
            log.info("not at this level");
        }
        log.drain(Duration::from_millis(1));
        state.lock().unwrap().open = true;
        changed.notify_all();
        log.drain(Duration::from_secs(20));
        log.error("the last one");
        log.drain(Duration::from_secs(20));
        let text = String::from_utf8(state.lock().unwrap().taken.clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            (CAPACITY..CAPACITY + 4).contains(&lines.len()),
            "{}",
            lines.len()
        );
        assert!(lines[0].ends_with("line 0"));
        assert_eq!(lines.last(), Some(&"chatmdc lsp: error: the last one"));
        assert_eq!(
            lines
                .iter()
                .filter(|line| line.ends_with("lines were not written"))
                .count(),
            1
        );
    }
}
