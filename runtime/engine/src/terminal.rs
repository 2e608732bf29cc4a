//! Questions on the controlling terminal.
//!
//! A question is answered on `/dev/tty`, whatever standard input is. Keys that were typed before
//! the question was drawn are thrown away, so that nobody answers what they have not read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, tcflush};

/// Longest answer that is read, in bytes.
const MAX_ANSWER: usize = 256;
/// How soon a withdrawn question is noticed, in milliseconds.
const LOOK_AGAIN_MS: i32 = 50;

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A line was typed.
    Line(String),
    /// The end of input.
    End,
    /// Nobody answered in time.
    TimedOut,
    /// The question was withdrawn.
    Withdrawn,
}

/// The controlling terminal of this process.
#[derive(Debug)]
pub struct Terminal {
    device: File,
    withdrawn: Option<Arc<AtomicBool>>,
}

impl Terminal {
    /// Opens it; `None` when the process has none.
    pub fn open() -> Option<Self> {
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/tty")
            .ok()?;
        Some(Self::on(device))
    }

    /// A terminal given by its open device, for tests.
    pub fn on(device: File) -> Self {
        Self {
            device,
            withdrawn: None,
        }
    }

    /// The same; once the flag is set, nobody waits for an answer any more.
    pub fn withdrawn_by(self, flag: Arc<AtomicBool>) -> Self {
        Self {
            withdrawn: Some(flag),
            ..self
        }
    }

    /// Asks a yes-or-no question. Everything but `y` and `yes` is no: the end of input and a time
    /// that runs out too. The caller has escaped the text.
    pub fn confirm(&mut self, question: &str, bound: Option<Duration>) -> io::Result<bool> {
        let Reply::Line(line) = self.ask(question, bound)? else {
            return Ok(false);
        };
        let answer = line.trim();
        Ok(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
    }

    /// Asks, and says how that ended.
    pub fn ask(&mut self, question: &str, bound: Option<Duration>) -> io::Result<Reply> {
        // Before the text is drawn: what was typed until now answers something else.
        tcflush(&self.device, FlushArg::TCIFLUSH)?;
        self.device.write_all(question.as_bytes())?;
        self.device.flush()?;
        let deadline = bound.map(|bound| Instant::now() + bound);
        let mut line = Vec::new();
        while line.len() < MAX_ANSWER {
            if let Some(end) = self.wait(deadline)? {
                self.device.write_all(b"\n")?;
                return Ok(end);
            }
            let mut byte = [0_u8; 1];
            match self.device.read(&mut byte) {
                Ok(0) => {
                    self.device.write_all(b"\n")?;
                    return Ok(Reply::End);
                }
                Ok(_) if byte == *b"\n" => break,
                Ok(_) => line.extend_from_slice(&byte),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Reply::Line(String::from_utf8_lossy(&line).into_owned()))
    }

    /// Waits for a key; `Some` when the question ends without one.
    fn wait(&self, deadline: Option<Instant>) -> io::Result<Option<Reply>> {
        loop {
            let most = match &self.withdrawn {
                Some(flag) if flag.load(Ordering::Relaxed) => return Ok(Some(Reply::Withdrawn)),
                Some(_) => LOOK_AGAIN_MS,
                None => i32::MAX,
            };
            let timeout = match deadline {
                None if self.withdrawn.is_none() => PollTimeout::NONE,
                None => PollTimeout::try_from(most).unwrap_or(PollTimeout::MAX),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Ok(Some(Reply::TimedOut));
                    }
                    // At least one millisecond, so that a short rest does not spin.
                    let ms = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
                    PollTimeout::try_from(ms.clamp(1, most)).unwrap_or(PollTimeout::MAX)
                }
            };
            let mut fds = [PollFd::new(self.device.as_fd(), PollFlags::POLLIN)];
            match poll(&mut fds, timeout) {
                Ok(0) => {}
                Ok(_) => return Ok(None),
                Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use nix::pty::openpty;

    /// A thread that went on reading would take the keys of the next question.
    #[test]
    fn a_withdrawn_question_ends_and_takes_no_keys() {
        let pty = openpty(None, None).unwrap();
        let flag = Arc::new(AtomicBool::new(false));
        let mut terminal = Terminal::on(File::from(pty.slave.try_clone().unwrap()))
            .withdrawn_by(Arc::clone(&flag));
        let asked = std::thread::spawn(move || terminal.ask("Allow? ", None).unwrap());
        let mut master = File::from(pty.master);
        let mut drawn = [0_u8; 7];
        master.read_exact(&mut drawn).unwrap();
        assert_eq!(&drawn, b"Allow? ");
        assert!(!asked.is_finished());
        flag.store(true, Ordering::Relaxed);
        assert_eq!(asked.join().unwrap(), Reply::Withdrawn);
        master.write_all(b"y\n").unwrap();
        let mut line = [0_u8; 8];
        let read = nix::unistd::read(&pty.slave, &mut line).unwrap();
        assert_eq!(&line[..read], b"y\n");
    }
}
