//! Checking a finished sandbox from outside before its command runs (06b B1.3, held start).
//!
//! bubblewrap waits on `--block-fd` after its mounts and after it gave up its capabilities. At that
//! point its first process shows in `/proc` exactly what the command will get, so every run is
//! proved, not one before it.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::statvfs::{FsFlags, fstatvfs};
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, sleep};

use super::StartError;
use super::verdict::child_pid;
use crate::sys::descriptor;

/// Longest wait for a sandbox to be ready.
const READY_BOUND: Duration = Duration::from_secs(5);
/// Between two looks at a sandbox that is being made.
const LOOK_AGAIN: Duration = Duration::from_micros(250);

/// Longest text of `/proc/PID/status` that is read, in bytes.
const MAX_STATUS: usize = 1024 * 1024;

/// What must be true inside.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Mounted roots.
    pub roots: Vec<HeldRoot>,
    /// No interface but `lo` may exist.
    pub no_network: bool,
    /// A file of the host that must not be visible; `None` when a root covers it.
    pub marker: Option<PathBuf>,
}

/// One root inside the sandbox.
#[derive(Clone, Debug)]
pub struct HeldRoot {
    /// Where it is mounted.
    pub dest: PathBuf,
    /// Device and inode of the host's file.
    pub identity: (u64, u64),
    /// The mount must be read-only.
    pub read_only: bool,
}

/// How the wait ended.
pub(super) enum Readiness {
    /// All checks hold; the sandbox waits.
    Ready,
    /// bubblewrap has ended before.
    Ended,
}

/// Waits until the sandbox holds, then checks it. `side` collects what was read from the pipe.
pub(super) async fn wait_and_check(
    status: &AsyncFd<OwnedFd>,
    side: &mut Vec<u8>,
    stage_pid: i32,
    expected: &Expectation,
) -> Result<Readiness, StartError> {
    let deadline = Instant::now() + READY_BOUND;
    let late = || {
        StartError::sandbox("after 5 seconds the sandbox was not ready or still had capabilities")
    };
    let wait = tokio::time::timeout_at(deadline, first_record(status, side));
    let Some(child) = wait.await.map_err(|_| late())? else {
        return Ok(Readiness::Ended);
    };
    let mut process = ProcessStatus::of(child);
    loop {
        match look(process.as_mut(), stage_pid) {
            Look::Holding => break,
            Look::Gone => return Ok(Readiness::Ended),
            Look::Foreign => {
                return Err(StartError::sandbox(
                    "the reported process is not of this sandbox",
                ));
            }
            Look::Busy => {}
        }
        if Instant::now() >= deadline {
            return Err(late());
        }
        sleep(LOOK_AGAIN).await;
    }
    check(child, expected).map_err(StartError::sandbox)?;
    Ok(Readiness::Ready)
}

/// Reads the status pipe until it names the first process; `None` at its end.
async fn first_record(status: &AsyncFd<OwnedFd>, side: &mut Vec<u8>) -> Option<i32> {
    let mut buffer = [0_u8; 4096];
    loop {
        if let Some(pid) = child_pid(side) {
            return Some(pid);
        }
        match crate::supervise::read_some(status, &mut buffer).await {
            Ok(read @ 1..) => side.extend_from_slice(buffer.get(..read).unwrap_or_default()),
            _ => return None,
        }
    }
}

enum Look {
    Holding,
    Busy,
    Gone,
    Foreign,
}

/// `/proc/PID/status`, opened once and read anew at every look; it ends with its process, so another
/// one that gets the number is never taken for it.
struct ProcessStatus {
    file: File,
    buffer: Vec<u8>,
}

impl ProcessStatus {
    fn of(pid: i32) -> Option<Self> {
        let file = File::open(format!("/proc/{pid}/status")).ok()?;
        let buffer = vec![0; 4096];
        Some(Self { file, buffer })
    }

    /// Its text now; `None` when the process is gone.
    fn read(&mut self) -> Option<&str> {
        loop {
            match self.file.read_at(&mut self.buffer, 0) {
                Ok(0) => return None,
                // A long list of groups; one read has to give all of it, at one moment.
                Ok(full) if full == self.buffer.len() && full < MAX_STATUS => {
                    self.buffer.resize(full * 2, 0);
                }
                Ok(read) => return std::str::from_utf8(self.buffer.get(..read)?).ok(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }
}

/// Capabilities are dropped directly before bubblewrap waits, so none left means that it waits.
fn look(process: Option<&mut ProcessStatus>, stage_pid: i32) -> Look {
    let Some(status) = process.and_then(ProcessStatus::read) else {
        return Look::Gone;
    };
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(str::trim)
    };
    if field("State").is_none_or(|state| state.starts_with('Z')) {
        return Look::Gone;
    }
    if field("PPid") != Some(stage_pid.to_string().as_str()) {
        return Look::Foreign;
    }
    let none = field("CapEff").is_some_and(|set| set.bytes().all(|digit| digit == b'0'));
    if none && field("NoNewPrivs") == Some("1") {
        Look::Holding
    } else {
        Look::Busy
    }
}

/// All checks; the text names the first that failed.
fn check(child: i32, expected: &Expectation) -> Result<(), String> {
    let root = open_root(child).map_err(|error| format!("the sandbox can not be seen: {error}"))?;
    if let Some(marker) = &expected.marker
        && inside(&root, marker).is_ok()
    {
        return Err("a private file of the host is visible inside".into());
    }
    for expected in &expected.roots {
        check_root(&root, expected)?;
    }
    if expected.no_network {
        check_network(child)?;
    }
    Ok(())
}

fn check_root(root: &OwnedFd, expected: &HeldRoot) -> Result<(), String> {
    let shown = expected.dest.display();
    let found = inside(root, &expected.dest)
        .map_err(|error| format!("the root {shown} is not visible inside: {error}"))?;
    let identity = descriptor::identity(found.as_fd())
        .map_err(|error| format!("the root {shown} can not be identified: {error}"))?;
    if identity != expected.identity {
        return Err(format!("the root {shown} is another file inside"));
    }
    if expected.read_only {
        let flags = fstatvfs(&found)
            .map_err(|error| format!("the mount of {shown} can not be read: {error}"))?
            .flags();
        if !flags.contains(FsFlags::ST_RDONLY) {
            return Err(format!("the root {shown} is writable inside"));
        }
    }
    Ok(())
}

fn check_network(child: i32) -> Result<(), String> {
    let table = fs::read_to_string(format!("/proc/{child}/net/dev"))
        .map_err(|error| format!("the network interfaces can not be read: {error}"))?;
    // Two lines of heading, then `NAME: counters`.
    for line in table.lines().skip(2) {
        let name = line.split(':').next().unwrap_or_default().trim();
        if name != "lo" {
            return Err(format!("the network interface {name} exists inside"));
        }
    }
    Ok(())
}

fn open_root(child: i32) -> io::Result<OwnedFd> {
    let flags =
        nix::fcntl::OFlag::O_PATH | nix::fcntl::OFlag::O_DIRECTORY | nix::fcntl::OFlag::O_CLOEXEC;
    let path = format!("/proc/{child}/root");
    Ok(nix::fcntl::open(
        path.as_str(),
        flags,
        nix::sys::stat::Mode::empty(),
    )?)
}

fn inside(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let relative = path.strip_prefix("/").unwrap_or(path);
    if relative.as_os_str().is_empty() {
        return descriptor::duplicate(root.as_fd());
    }
    descriptor::open_below(root.as_fd(), relative)
}
