//! Starting bubblewrap with a plan.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use chatmd_plan::bubblewrap::{BubblewrapPlan, BwrapOption, Descriptor, Item};

use super::held::{self, Expectation, HeldRoot, Readiness};
use super::verdict::child_pid;
use super::{FilterWatch, StartError, Wrapper};
use crate::sys::{Guarded, Launch, Limit, descriptor, launch, launcher};

/// A file that was verified for this start (06 section 3.5).
#[derive(Debug)]
pub struct VerifiedFile {
    /// Descriptor of the verified inode.
    pub held: OwnedFd,
    /// Sealed copy of the hashed bytes, for files that are not stable.
    pub sealed: Option<OwnedFd>,
}

/// The verified files of a plan.
#[derive(Debug)]
pub struct Files {
    /// The program.
    pub executable: VerifiedFile,
    /// Interpreter of its `#!` line.
    pub interpreter: Option<VerifiedFile>,
    /// Script that an interpreter opens.
    pub script: Option<VerifiedFile>,
}

impl Files {
    fn get(&self, item: Item) -> Option<&VerifiedFile> {
        match item {
            Item::Executable => Some(&self.executable),
            Item::Interpreter => self.interpreter.as_ref(),
            Item::Script => self.script.as_ref(),
        }
    }
}

/// Standard streams of a stage.
#[derive(Debug)]
pub struct Streams {
    /// `None`: the null device.
    pub stdin: Option<OwnedFd>,
    /// Standard output.
    pub stdout: OwnedFd,
    /// Standard error.
    pub stderr: OwnedFd,
}

/// Whether a started stage already runs its command.
#[derive(Debug)]
pub enum Start {
    /// It runs.
    Running,
    /// The finished sandbox waits; the command starts with [`Started::release`].
    Held(OwnedFd),
    /// The sandbox ended before its command could start. Its standard error says why.
    Ended,
}

/// A started stage.
#[derive(Debug)]
pub struct Started {
    /// The process and its guard.
    pub process: Guarded,
    /// Side channel of the sandbox: what was read from it, and its read end.
    pub side: Option<(Vec<u8>, OwnedFd)>,
    /// Whether it waits.
    pub hold: Start,
    /// To be watched while the command runs, where it must have a filter and can be seen.
    pub filter: Option<FilterWatch>,
}

impl Started {
    /// Lets a held command start.
    pub fn release(&mut self) -> Result<(), StartError> {
        if let Start::Held(block) = &self.hold {
            launch::release(block.as_fd()).map_err(StartError::sandbox)?;
            self.hold = Start::Running;
        }
        Ok(())
    }
}

/// What one start needs beside its plan.
#[derive(Debug)]
pub struct BubblewrapStart<'a> {
    /// The fingerprinted wrapper.
    pub wrapper: &'a Wrapper,
    /// The plan.
    pub plan: &'a BubblewrapPlan,
    /// The verified files it names.
    pub files: &'a Files,
    /// Resource limits.
    pub limits: Vec<Limit>,
    /// The runtime has no network.
    pub no_network: bool,
    /// File that must not be visible inside.
    pub marker: Option<&'a Path>,
}

/// Descriptors that a plan names, opened.
struct Opened {
    /// Number of slot `i`.
    numbers: Vec<i32>,
    /// All of them; bubblewrap inherits and closes them.
    inherit: Vec<OwnedFd>,
    /// Read end of the status pipe.
    status: Option<OwnedFd>,
    /// Write end of the pipe that holds the start.
    block: Option<OwnedFd>,
    /// What must be found inside.
    roots: Vec<HeldRoot>,
}

/// Starts bubblewrap. On return the sandbox is finished and checked, and its command waits where
/// the plan holds the start.
pub async fn start_bubblewrap(
    start: BubblewrapStart<'_>,
    streams: Streams,
) -> Result<Started, StartError> {
    let mut opened = open_all(start.plan, start.files)?;
    let options = start
        .plan
        .encode_args(&opened.numbers)
        .map_err(StartError::sandbox)?;
    let args =
        descriptor::sealed_bytes(c"chatmd-args", &options, false).map_err(StartError::spawn)?;
    let argv = argv(&args, &start.plan.command)?;
    opened.inherit.push(args);
    let launch = Launch {
        program: start.wrapper.program().map_err(StartError::spawn)?,
        keep_program: false,
        argv,
        // Nothing in its environment may act on the wrapper itself.
        env: Vec::new(),
        cwd: None,
        stdin: streams.stdin,
        stdout: streams.stdout,
        stderr: streams.stderr,
        inherit: opened.inherit,
        limits: start.limits,
        no_new_privs: false,
        private_dev: start.wrapper.private_dev(),
    };
    let process = launcher()
        .map_err(StartError::spawn)?
        .start(launch)
        .await
        .map_err(|error| {
            match error.step {
                // Everything before the wrapper runs is set-up of the sandbox.
                launch::LaunchStep::Fork | launch::LaunchStep::Runtime => StartError::from(error),
                _ => StartError::sandbox(error),
            }
        })?;
    let Some(status) = opened.status else {
        return Ok(Started {
            process,
            side: None,
            hold: Start::Running,
            filter: None,
        });
    };
    let mut side = Vec::new();
    let Some(block) = opened.block else {
        return Ok(Started {
            process,
            side: Some((side, status)),
            hold: Start::Running,
            filter: None,
        });
    };
    let status = descriptor::watch(status).map_err(StartError::spawn)?;
    let expected = Expectation {
        roots: opened.roots,
        no_network: start.no_network,
        marker: start.marker.map(Path::to_path_buf),
    };
    // On an error the process is dropped first, and so killed before the pipe that holds it ends.
    let ready = held::wait_and_check(&status, &mut side, process.pid(), &expected).await;
    let ready = match ready {
        Ok(ready) => ready,
        Err(error) => {
            end(process).await;
            drop(block);
            return Err(error);
        }
    };
    let hold = match ready {
        Readiness::Ready => Start::Held(block),
        Readiness::Ended => Start::Ended,
    };
    let first = start.plan.seccomp.as_ref().and_then(|_| child_pid(&side));
    Ok(Started {
        process,
        side: Some((side, status.into_inner())),
        hold,
        filter: first.map(FilterWatch::of),
    })
}

/// Kills a stage and waits until its guard has gone.
async fn end(mut process: Guarded) {
    process.kill();
    if let Some(status) = process.take_status_pipe()
        && let Ok(status) = descriptor::watch(status)
    {
        let mut record = [0_u8; 8];
        let wait = crate::supervise::read_some(&status, &mut record);
        let _ = tokio::time::timeout(std::time::Duration::from_secs(6), wait).await;
    }
}

fn open_all(plan: &BubblewrapPlan, files: &Files) -> Result<Opened, StartError> {
    let mut opened = Opened {
        numbers: Vec::with_capacity(plan.descriptors.len()),
        inherit: Vec::with_capacity(plan.descriptors.len() + 1),
        status: None,
        block: None,
        roots: Vec::new(),
    };
    for descriptor in &plan.descriptors {
        let fd = open_one(descriptor, plan, files, &mut opened)?;
        opened.numbers.push(fd.as_raw_fd());
        opened.inherit.push(fd);
    }
    opened.roots = expected_roots(plan, &opened.inherit)?;
    Ok(opened)
}

fn open_one(
    wanted: &Descriptor,
    plan: &BubblewrapPlan,
    files: &Files,
    opened: &mut Opened,
) -> Result<OwnedFd, StartError> {
    let unverified = || StartError::sandbox("the plan names a file that was not verified");
    let result = match wanted {
        Descriptor::MountPoint(path) => descriptor::open_without_links(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        Descriptor::Held(item) => {
            descriptor::duplicate(files.get(*item).ok_or_else(unverified)?.held.as_fd())
        }
        Descriptor::Sealed(item) => {
            let file = files.get(*item).ok_or_else(unverified)?;
            reopen(file.sealed.as_ref().ok_or_else(unverified)?)
        }
        Descriptor::Seccomp => {
            let program = plan.seccomp.as_ref().ok_or_else(unverified)?;
            descriptor::sealed_bytes(c"chatmd-filter", &program.bytes(), false)
        }
        Descriptor::Status => descriptor::pipe().map(|(read, write)| {
            opened.status = Some(read);
            write
        }),
        Descriptor::Block => descriptor::pipe().map(|(read, write)| {
            opened.block = Some(write);
            read
        }),
    };
    result.map_err(|error| StartError::sandbox(format!("a descriptor can not be opened: {error}")))
}

/// A sealed copy as an open file description of its own, at offset 0.
fn reopen(sealed: &OwnedFd) -> io::Result<OwnedFd> {
    let file = File::open(format!("/proc/self/fd/{}", sealed.as_raw_fd()))?;
    descriptor::above_stdio(file.into())
}

/// What the mounts of the roots must show. A later mount at the same place wins.
fn expected_roots(plan: &BubblewrapPlan, fds: &[OwnedFd]) -> Result<Vec<HeldRoot>, StartError> {
    let mut roots: Vec<HeldRoot> = Vec::new();
    for option in &plan.options {
        let (slot, dest, read_only) = match option {
            BwrapOption::RoBindFd { slot, dest } => (slot, dest, true),
            BwrapOption::BindFd { slot, dest } => (slot, dest, false),
            BwrapOption::RoBind { dest, .. } | BwrapOption::Bind { dest, .. } => {
                roots.retain(|root| root.dest != *dest);
                continue;
            }
            BwrapOption::RoBindData { dest, .. } | BwrapOption::Tmpfs(dest) => {
                roots.retain(|root| !root.dest.starts_with(dest));
                continue;
            }
            _ => continue,
        };
        let Some(fd) = fds.get(slot.0) else { continue };
        let identity = descriptor::identity(fd.as_fd()).map_err(StartError::sandbox)?;
        roots.retain(|root| root.dest != *dest);
        roots.push(HeldRoot {
            dest: dest.clone(),
            identity,
            read_only,
        });
    }
    Ok(roots)
}

fn argv(args: &OwnedFd, command: &[impl AsRef<OsStr>]) -> Result<Vec<CString>, StartError> {
    let fixed = [
        "bwrap".into(),
        "--args".into(),
        args.as_raw_fd().to_string(),
        "--".into(),
    ];
    let fixed = fixed.into_iter().map(|word: String| CString::new(word));
    let command = command
        .iter()
        .map(|word| CString::new(word.as_ref().as_bytes()));
    fixed
        .chain(command)
        .collect::<Result<_, _>>()
        .map_err(|_| StartError::sandbox("an argument holds a NUL byte"))
}

/// Creates missing write roots of a plan (B2.4 rule 3): the directories that were made.
pub fn create_roots(plan: &BubblewrapPlan) -> Result<Vec<PathBuf>, StartError> {
    let mut made = Vec::new();
    for path in &plan.create {
        // Never writable for others, whatever the umask (06b B2.4 rule 3).
        match std::fs::DirBuilder::new().mode(0o755).create(path) {
            Ok(()) => made.push(path.clone()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                let reason = format!("write root is unavailable: {}: {error}", path.display());
                return Err(StartError::Sandbox(reason));
            }
        }
    }
    Ok(made)
}
