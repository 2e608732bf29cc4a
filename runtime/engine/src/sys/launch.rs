//! Starting one stage under its guard (06b B5.1).
//!
//! All starts happen on one thread that lives as long as the process: a parent-death signal fires
//! when the *thread* that forked ends, so a pool that shrinks would kill commands.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Mutex, OnceLock, mpsc};

use chatmd_plan::limits::{Resource, ResourceLimit};
use libc::pid_t;
use tokio::sync::oneshot;

use super::child::{self, Prepared};
use super::{descriptor, reaper};

/// What a stage could not do before its program ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LaunchStep {
    /// Making pipes or processes in the runtime itself.
    Runtime = 0,
    /// The guard could not fork.
    Fork = 1,
    /// The private `/dev` of uid 0.
    PrivateDev = 2,
    /// Resource limits.
    Limits = 3,
    /// Standard streams.
    Stdio = 4,
    /// Working directory.
    WorkingDirectory = 5,
    /// `no_new_privs`.
    Privileges = 6,
    /// `execve`.
    Exec = 7,
}

impl LaunchStep {
    fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Fork,
            2 => Self::PrivateDev,
            3 => Self::Limits,
            4 => Self::Stdio,
            5 => Self::WorkingDirectory,
            6 => Self::Privileges,
            7 => Self::Exec,
            _ => Self::Runtime,
        }
    }

    /// For messages: what was being done.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Runtime => "preparing the process",
            Self::Fork => "creating the process",
            Self::PrivateDev => "setting up a private /dev",
            Self::Limits => "setting resource limits",
            Self::Stdio => "connecting the standard streams",
            Self::WorkingDirectory => "entering the working directory",
            Self::Privileges => "setting no_new_privs",
            Self::Exec => "executing the program",
        }
    }
}

/// A start that did not reach its program. Nothing of it is left running.
#[derive(Debug, thiserror::Error)]
#[error("{} failed: {source}", step.describe())]
pub struct LaunchError {
    /// Which step failed.
    pub step: LaunchStep,
    /// Why.
    pub source: io::Error,
}

impl LaunchError {
    fn runtime(source: io::Error) -> Self {
        Self {
            step: LaunchStep::Runtime,
            source,
        }
    }
}

/// One resource limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// `RLIMIT_*` number.
    pub resource: u32,
    /// Soft value.
    pub soft: u64,
    /// Hard value.
    pub hard: u64,
}

impl From<ResourceLimit> for Limit {
    fn from(limit: ResourceLimit) -> Self {
        Limit {
            resource: number(limit.resource),
            soft: limit.soft,
            hard: limit.hard,
        }
    }
}

fn number(resource: Resource) -> u32 {
    match resource {
        Resource::Core => libc::RLIMIT_CORE,
        Resource::Cpu => libc::RLIMIT_CPU,
        Resource::AddressSpace => libc::RLIMIT_AS,
        Resource::FileSize => libc::RLIMIT_FSIZE,
        Resource::OpenFiles => libc::RLIMIT_NOFILE,
    }
}

/// The present hard limit of this process; `None` = unlimited.
pub fn present_hard_limit(resource: Resource) -> io::Result<Option<u64>> {
    let mut value = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the kernel writes only into `value`.
    if unsafe { libc::getrlimit(number(resource) as _, &mut value) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((value.rlim_max != libc::RLIM_INFINITY).then_some(value.rlim_max))
}

/// What is started. Every descriptor is owned: it is closed in this process once the stage runs.
#[derive(Debug)]
pub struct Launch {
    /// Open file that is executed.
    pub program: OwnedFd,
    /// Leave `program` open in the new process. Needed for `#!` files alone: the interpreter opens
    /// the script through it.
    pub keep_program: bool,
    /// Argument vector, its first element included.
    pub argv: Vec<CString>,
    /// `NAME=VALUE` strings.
    pub env: Vec<CString>,
    /// Working directory; `None` leaves the present one.
    pub cwd: Option<OwnedFd>,
    /// Standard input; `None` is `/dev/null`.
    pub stdin: Option<OwnedFd>,
    /// Standard output.
    pub stdout: OwnedFd,
    /// Standard error.
    pub stderr: OwnedFd,
    /// Descriptors that the program gets under the numbers that they have here.
    pub inherit: Vec<OwnedFd>,
    /// Resource limits.
    pub limits: Vec<Limit>,
    /// Set `no_new_privs` before `exec`.
    pub no_new_privs: bool,
    /// Own mount namespace with a private `/dev`; needs `CAP_SYS_ADMIN` and `CAP_MKNOD`.
    pub private_dev: bool,
}

/// A running stage and its guard. Dropping it kills the stage and all its descendants.
#[derive(Debug)]
pub struct Guarded {
    guard: Option<OwnedFd>,
    life: Option<OwnedFd>,
    status: Option<OwnedFd>,
    stage_pid: pid_t,
}

impl Guarded {
    /// Process number of the stage, for audit and for reading its `/proc` entry. It may be reused
    /// once the stage has ended: never signal by it.
    pub fn pid(&self) -> pid_t {
        self.stage_pid
    }

    /// Asks the stage's process group to end (SIGTERM).
    pub fn terminate(&self) {
        if let Some(life) = &self.life {
            // A full or broken pipe means that the guard is already ending everything.
            let _ = nix::unistd::write(life, &[child::ASK_TERMINATE]);
        }
    }

    /// Kills the stage and all its descendants; returns at once, the guard does the work.
    pub fn kill(&mut self) {
        self.life = None;
    }

    /// The pipe on which the guard reports the end of the stage, see [`decode_status`]. At its end
    /// without a record the status is unknown. Taken once.
    pub fn take_status_pipe(&mut self) -> Option<OwnedFd> {
        self.status.take()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.life = None;
        self.status = None;
        if let Some(guard) = self.guard.take() {
            reaper::reap(guard);
        }
    }
}

/// The wait status in the record that the guard wrote.
pub fn decode_status(record: [u8; 8]) -> Option<WaitStatus> {
    let (tag, value) = split_record(record);
    if tag != child::TAG_STATUS {
        return None;
    }
    if libc::WIFEXITED(value) {
        return Some(WaitStatus::Exited(libc::WEXITSTATUS(value)));
    }
    libc::WIFSIGNALED(value).then(|| WaitStatus::Signaled(libc::WTERMSIG(value)))
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStatus {
    /// Exit code, 0 to 255.
    Exited(i32),
    /// Signal number.
    Signaled(i32),
}

fn split_record(record: [u8; 8]) -> (u32, i32) {
    let [a, b, c, d, e, f, g, h] = record;
    (
        u32::from_ne_bytes([a, b, c, d]),
        i32::from_ne_bytes([e, f, g, h]),
    )
}

type Reply = oneshot::Sender<Result<Guarded, LaunchError>>;

/// Hands starts to the one thread that forks.
#[derive(Debug)]
pub struct Launcher {
    jobs: Mutex<mpsc::Sender<(Box<Launch>, Reply)>>,
}

/// The launcher of this process.
pub fn launcher() -> io::Result<&'static Launcher> {
    static LAUNCHER: OnceLock<Launcher> = OnceLock::new();
    static STARTING: Mutex<()> = Mutex::new(());
    if let Some(launcher) = LAUNCHER.get() {
        return Ok(launcher);
    }
    let _one = STARTING
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(launcher) = LAUNCHER.get() {
        return Ok(launcher);
    }
    let (jobs, queue) = mpsc::channel::<(Box<Launch>, Reply)>();
    std::thread::Builder::new()
        .name("chatmd-spawn".into())
        .spawn(move || serve(&queue))?;
    Ok(LAUNCHER.get_or_init(|| Launcher {
        jobs: Mutex::new(jobs),
    }))
}

/// Never returns: the sender lives in a static, so the queue never ends.
fn serve(queue: &mpsc::Receiver<(Box<Launch>, Reply)>) {
    block_all_signals();
    while let Ok((launch, reply)) = queue.recv() {
        if reply.is_closed() {
            continue;
        }
        // An undelivered stage is dropped here and so killed.
        let _ = reply.send(start(*launch));
    }
}

/// No signal handler of the runtime may ever run in a forked child.
fn block_all_signals() {
    // SAFETY: an all-zero signal set is valid; the calls touch only it and this thread's mask.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
}

impl Launcher {
    /// Starts one stage. When the returned future is dropped, the stage is not started or killed.
    pub async fn start(&self, launch: Launch) -> Result<Guarded, LaunchError> {
        let (reply, answer) = oneshot::channel();
        let gone = || LaunchError::runtime(io::Error::other("the starting thread has ended"));
        {
            let jobs = self
                .jobs
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            jobs.send((Box::new(launch), reply)).map_err(|_| gone())?;
        }
        answer.await.map_err(|_| gone())?
    }
}

/// The pipes between runtime, guard and stage.
struct Pipes {
    life: (OwnedFd, OwnedFd),
    status: (OwnedFd, OwnedFd),
    report: (OwnedFd, OwnedFd),
}

fn start(launch: Launch) -> Result<Guarded, LaunchError> {
    let launch = raise_descriptors(launch).map_err(LaunchError::runtime)?;
    let pipes = (|| {
        io::Result::Ok(Pipes {
            life: descriptor::pipe()?,
            status: descriptor::pipe()?,
            report: descriptor::pipe()?,
        })
    })()
    .map_err(LaunchError::runtime)?;
    let prepared = prepare(&launch, &pipes);
    // SAFETY: this thread blocks all signals; the child runs `guard` alone, which keeps to system
    // calls and its stack and never returns. `prepared` and everything it points to live in this
    // frame, which the child has as its own copy.
    let pid = unsafe {
        let pid = child::fork_plain();
        if pid == 0 {
            child::guard(&prepared);
        }
        pid
    };
    if pid < 0 {
        let source = io::Error::last_os_error();
        return Err(LaunchError {
            step: LaunchStep::Fork,
            source,
        });
    }
    // The guard stays a zombie until it is reaped through this descriptor, so the number is its.
    let guard = match descriptor::pidfd_open(pid) {
        Ok(guard) => guard,
        Err(source) => {
            drop(pipes);
            reaper::reap_number(pid);
            return Err(LaunchError::runtime(source));
        }
    };
    let Pipes {
        life,
        status,
        report,
    } = pipes;
    drop((life.0, status.1, report.1, launch));
    let mut running = Guarded {
        guard: Some(guard),
        life: Some(life.1),
        status: None,
        stage_pid: 0,
    };
    let mut status = File::from(status.0);
    let mut report = File::from(report.0);
    // On every error below `running` is dropped, which kills whatever has been created.
    running.stage_pid = match read_record(&mut status).map_err(LaunchError::runtime)? {
        Some((child::TAG_PID, pid)) => pid,
        Some((_, errno)) => {
            let source = io::Error::from_raw_os_error(errno);
            return Err(LaunchError {
                step: LaunchStep::Fork,
                source,
            });
        }
        None => {
            let source = io::Error::other("the guard ended before it created the process");
            return Err(LaunchError::runtime(source));
        }
    };
    if let Some((step, errno)) = read_record(&mut report).map_err(LaunchError::runtime)? {
        let source = io::Error::from_raw_os_error(errno);
        return Err(LaunchError {
            step: LaunchStep::from_number(step),
            source,
        });
    }
    descriptor::set_nonblocking(status.as_fd()).map_err(LaunchError::runtime)?;
    running.status = Some(status.into());
    Ok(running)
}

/// Gives every descriptor a number above stdio, so that `dup2` in the child destroys none.
fn raise_descriptors(launch: Launch) -> io::Result<Launch> {
    let raise = descriptor::above_stdio;
    Ok(Launch {
        program: raise(launch.program)?,
        cwd: launch.cwd.map(raise).transpose()?,
        stdin: launch.stdin.map(raise).transpose()?,
        stdout: raise(launch.stdout)?,
        stderr: raise(launch.stderr)?,
        // Their numbers are already written in the arguments: they must be right as they are.
        inherit: launch
            .inherit
            .into_iter()
            .map(|fd| {
                let low = fd.as_raw_fd() < 3;
                if low {
                    Err(io::Error::other("an inherited descriptor is below 3"))
                } else {
                    Ok(fd)
                }
            })
            .collect::<io::Result<_>>()?,
        ..launch
    })
}

fn prepare(launch: &Launch, pipes: &Pipes) -> Prepared {
    let number = |fd: &OwnedFd| fd.as_raw_fd();
    let optional = |fd: &Option<OwnedFd>| fd.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    let program = number(&launch.program);
    let mut inherit: Vec<RawFd> = launch.inherit.iter().map(number).collect();
    if launch.keep_program {
        inherit.push(program);
    }
    let life = number(&pipes.life.0);
    let status = number(&pipes.status.1);
    let report = number(&pipes.report.1);
    let (stdin, cwd) = (optional(&launch.stdin), optional(&launch.cwd));
    let (stdout, stderr) = (number(&launch.stdout), number(&launch.stderr));
    let mut keep = vec![life, status, report, program, stdin, stdout, stderr, cwd];
    keep.extend(&inherit);
    keep.retain(|fd| *fd >= 3);
    keep.sort_unstable();
    keep.dedup();
    let pointers = |strings: &[CString]| {
        strings
            .iter()
            .map(|s| s.as_ptr())
            .chain(std::iter::once(std::ptr::null()))
            .collect()
    };
    Prepared {
        life,
        status,
        report,
        keep,
        inherit,
        stdin,
        stdout,
        stderr,
        cwd,
        // Decimal digits hold no NUL, so this never falls back to the empty path.
        path: CString::new(format!("/proc/self/fd/{program}")).unwrap_or_default(),
        argv: pointers(&launch.argv),
        env: pointers(&launch.env),
        limits: launch
            .limits
            .iter()
            .map(|l| {
                (
                    l.resource,
                    libc::rlimit {
                        rlim_cur: l.soft,
                        rlim_max: l.hard,
                    },
                )
            })
            .collect(),
        no_new_privs: launch.no_new_privs,
        private_dev: launch.private_dev,
    }
}

/// One record, or `None` at the end of the pipe.
fn read_record(pipe: &mut File) -> io::Result<Option<(u32, i32)>> {
    let mut record = [0_u8; 8];
    match pipe.read_exact(&mut record) {
        Ok(()) => Ok(Some(split_record(record))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Releases a process that waits on the read end of `pipe` for one byte.
pub fn release(pipe: BorrowedFd<'_>) -> io::Result<()> {
    let mut pipe = File::from(descriptor::duplicate(pipe)?);
    pipe.write_all(b"x")
}
