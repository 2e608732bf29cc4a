//! Starting git so that it does nothing but answer: no hook, no filter, no monitor, no pager, no
//! helper and no connection, whatever the repository configures; and reading what it says so that
//! nothing it does can keep us.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use camino::Utf8Path;

use super::Reason;

/// Longest silence of git before it is given up.
pub(super) const SILENCE: Duration = Duration::from_secs(30);

/// Bytes that are read at once, and how many such pieces may wait.
const PIECE: usize = 64 << 10;
const PIECES: usize = 4;

/// Most bytes of a message of git that are read, and most characters that are shown.
const MAX_ERRORS: u64 = 1 << 16;
const MAX_MESSAGE: usize = 300;

/// How long the end of a process that was told to end is waited for.
const END: Duration = Duration::from_secs(2);

/// Settings that the command line forces on git; they win over every file of the repository.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    // A directory that only looks like a repository is none.
    "safe.bareRepository=explicit",
];

/// Variables that say which repository is meant and whose settings count. Hooks get them from git.
/// Every other `GIT_…` is removed: among them are programs to start and files to write.
const KEPT: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DIR",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_WORK_TREE",
];

/// A git that can be started.
#[derive(Clone, Debug)]
pub(super) struct Git {
    program: PathBuf,
    silence: Duration,
}

impl Git {
    /// The program `git` of the search path. Relative entries are passed over: they may lead into
    /// the repository that is looked at.
    pub(super) fn find(silence: Duration) -> Result<Self, Reason> {
        let path = std::env::var_os("PATH").filter(|path| !path.is_empty());
        let path = path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let name: &OsStr = OsStr::new(if cfg!(windows) { "git.exe" } else { "git" });
        std::env::split_paths(&path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|program| program.is_file())
            .map(|program| Self { program, silence })
            .ok_or_else(|| "there is no git on the search path".to_owned())
    }

    #[cfg(test)]
    pub(super) fn fake(program: PathBuf, silence: Duration) -> Self {
        Self { program, silence }
    }

    /// Standard output of a command that succeeds, at most `limit` bytes.
    pub(super) fn answer(
        &self,
        cwd: &Utf8Path,
        args: &[&str],
        limit: u64,
    ) -> Result<Vec<u8>, Reason> {
        let mut process = self.start(cwd, args)?;
        drop(process.input.take());
        let mut bytes = Vec::new();
        match (&mut process.output)
            .take(limit + 1)
            .read_to_end(&mut bytes)
        {
            Ok(_) if bytes.len() as u64 > limit => {
                return Err(format!("git gave more than {limit} bytes"));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                return Err(format!(
                    "git said nothing for {} seconds and was stopped",
                    self.silence.as_secs()
                ));
            }
            Err(error) => return Err(format!("git cannot be read: {error}")),
        }
        if process.succeeded(self.silence) {
            return Ok(bytes);
        }
        Err(process.complaint())
    }

    /// Starts a command and leaves it running.
    pub(super) fn start(&self, cwd: &Utf8Path, args: &[&str]) -> Result<Process, Reason> {
        let mut command = command(&self.program, cwd);
        let spawned = command.args(args).spawn();
        let mut child = spawned.map_err(|error| format!("git cannot be run: {error}"))?;
        let input = child.stdin.take();
        let output = child.stdout.take().map(|stream| pieces(stream, u64::MAX));
        // Read beside standard output: a full pipe would stop git.
        let errors = child.stderr.take().map(|stream| pieces(stream, MAX_ERRORS));
        let stream = |pieces| Stream {
            pieces,
            piece: Vec::new(),
            at: 0,
            silence: self.silence,
        };
        Ok(Process {
            child,
            input,
            output: stream(output),
            errors: stream(errors),
        })
    }
}

fn command(program: &Path, cwd: &Utf8Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(cwd).arg("--no-pager");
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_removed(name)) {
        command.env_remove(name);
    }
    command
        // Wins over `protocol.NAME.allow` of the repository, which wins over `protocol.allow`.
        .env("GIT_ALLOW_PROTOCOL", "")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn is_removed(name: &OsString) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    name.starts_with("GIT_") && !KEPT.contains(&name)
}

/// A running git. It ends with this value.
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    /// Standard output.
    pub(super) output: Stream,
    errors: Stream,
}

impl Process {
    /// Writes a line to standard input. The line must be one that the pipe has room for: nothing
    /// watches over the time.
    pub(super) fn ask(&mut self, line: &str) -> std::io::Result<()> {
        let Some(input) = &mut self.input else {
            return Err(ErrorKind::BrokenPipe.into());
        };
        input.write_all(line.as_bytes())?;
        input.flush()
    }

    /// Waits for the end.
    fn succeeded(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(None) | Err(_) => return false,
            }
        }
    }

    /// The first line of what git wrote to standard error.
    fn complaint(&mut self) -> Reason {
        let mut errors = Vec::new();
        // What came until the time is over is enough.
        let _ = self.errors.read_to_end(&mut errors);
        let errors = String::from_utf8_lossy(&errors);
        let first = errors.lines().next().unwrap_or("it failed");
        let first: String = first.chars().take(MAX_MESSAGE).collect();
        format!("git: {}", first.trim_start_matches("fatal: "))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        self.succeeded(END);
    }
}

/// Output as it comes, with an end to patience.
pub(super) struct Stream {
    pieces: Option<Receiver<std::io::Result<Vec<u8>>>>,
    piece: Vec<u8>,
    at: usize,
    silence: Duration,
}

/// Reads a pipe on a thread of its own; the thread ends with the pipe or with the receiver.
fn pieces(stream: impl Read + Send + 'static, limit: u64) -> Receiver<std::io::Result<Vec<u8>>> {
    let (sender, receiver) = sync_channel(PIECES);
    std::thread::spawn(move || {
        let mut stream = stream.take(limit);
        loop {
            let mut piece = vec![0; PIECE];
            let read = match stream.read(&mut piece) {
                Ok(0) => return,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    let _ = sender.send(Err(error));
                    return;
                }
            };
            piece.truncate(read);
            if sender.send(Ok(piece)).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at >= self.piece.len() {
            let Some(pieces) = &self.pieces else {
                return Ok(0);
            };
            self.at = 0;
            self.piece = match pieces.recv_timeout(self.silence) {
                Ok(piece) => piece?,
                Err(RecvTimeoutError::Disconnected) => Vec::new(),
                Err(RecvTimeoutError::Timeout) => return Err(ErrorKind::TimedOut.into()),
            };
        }
        let rest = self.piece.get(self.at..).unwrap_or_default();
        let count = rest.len().min(out.len());
        for (to, from) in out.iter_mut().zip(rest) {
            *to = *from;
        }
        self.at += count;
        Ok(count)
    }
}
