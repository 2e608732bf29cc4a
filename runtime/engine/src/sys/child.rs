//! The code of the guard and of the stage: everything between `fork` and `exec` (06b B5.1).
//!
//! The parent has many threads, so this code may use system calls and its own stack only: no
//! allocation, no locks, no formatting, no panics. All strings and arrays are made before the fork
//! and read here through [`Prepared`].
//!
//! The guard exists because a parent-death signal is lost while a sandbox is being set up: the end
//! of file on the *life pipe*, whose only write end the runtime holds, can not be missed.

use std::os::fd::RawFd;

use libc::{c_char, c_int, pid_t};

use super::launch::LaunchStep;
use super::proc_walk;

/// Status-pipe record: the value is the process number of the stage.
pub(super) const TAG_PID: u32 = 1;
/// Status-pipe record: the value is the stage's wait status.
pub(super) const TAG_STATUS: u32 = 2;
/// Status-pipe record: the guard could not create the stage; the value is `errno`.
pub(super) const TAG_FORK_FAILED: u32 = 3;
/// A byte on the life pipe that asks for SIGTERM to the stage's process group.
pub(super) const ASK_TERMINATE: u8 = b'T';
/// How long the guard goes on killing descendants, in milliseconds.
const KILL_BOUND_MS: i64 = 5_000;

/// Everything the two processes need, made before the fork.
pub(super) struct Prepared {
    /// Read end of the life pipe.
    pub life: RawFd,
    /// Write end of the status pipe.
    pub status: RawFd,
    /// Write end of the pipe on which the stage reports a failed set-up or `exec`.
    pub report: RawFd,
    /// All descriptors that survive in the guard until the stage exists; sorted, without repeats.
    pub keep: Vec<RawFd>,
    /// Descriptors whose close-on-exec flag is cleared.
    pub inherit: Vec<RawFd>,
    /// Becomes descriptor 0; -1: `/dev/null` is opened after the private `/dev` exists.
    pub stdin: RawFd,
    /// Becomes descriptor 1.
    pub stdout: RawFd,
    /// Becomes descriptor 2.
    pub stderr: RawFd,
    /// Working directory, or -1.
    pub cwd: RawFd,
    /// `/proc/self/fd/N` of the program.
    pub path: std::ffi::CString,
    /// NULL-terminated.
    pub argv: Vec<*const c_char>,
    /// NULL-terminated.
    pub env: Vec<*const c_char>,
    /// Resource number, soft and hard value.
    pub limits: Vec<(u32, libc::rlimit)>,
    /// Set `no_new_privs`.
    pub no_new_privs: bool,
    /// Give the stage an own `/dev` in an own mount namespace (uid 0 only, 06b B2.1).
    pub private_dev: bool,
}

/// Runs the guard; never returns.
///
/// # Safety
/// Called once, in a fresh single-threaded child, with all signals blocked. The descriptors and
/// pointers in `prepared` are valid.
pub(super) unsafe fn guard(prepared: &Prepared) -> ! {
    // SAFETY: plain system calls on integers; `prepared` is valid by contract; the stack of the
    // forked thread is a private copy.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"chatmd-guard".as_ptr());
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        close_all_but(&prepared.keep);
        let guard_pid = libc::getpid();
        let stage_pid = fork_plain();
        if stage_pid == 0 {
            stage(prepared, guard_pid);
        }
        if stage_pid < 0 {
            write_record(prepared.status, TAG_FORK_FAILED, errno());
            libc::_exit(1);
        }
        for fd in &prepared.keep {
            if *fd != prepared.life && *fd != prepared.status {
                libc::close(*fd);
            }
        }
        // The guard keeps no view of a directory that could hinder an unmount.
        libc::chdir(c"/".as_ptr());
        write_record(prepared.status, TAG_PID, stage_pid);
        watch(prepared.life, stage_pid);
        let status = end_all(stage_pid);
        if let Some(status) = status {
            write_record(prepared.status, TAG_STATUS, status);
        }
        libc::_exit(0);
    }
}

/// Waits until the life pipe ends or the stage has exited.
unsafe fn watch(life: RawFd, stage_pid: pid_t) {
    // SAFETY: system calls on integers and on this stack frame's own memory.
    unsafe {
        let pidfd = libc::syscall(libc::SYS_pidfd_open, stage_pid, 0) as c_int;
        let mut fds = [
            libc::pollfd {
                fd: life,
                events: libc::POLLIN,
                revents: 0,
            },
            libc::pollfd {
                fd: pidfd,
                events: libc::POLLIN,
                revents: 0,
            },
        ];
        // Without a pidfd (very old kernels) the exit is noticed by looking every 20 ms.
        let timeout = if pidfd < 0 { 20 } else { -1 };
        loop {
            if libc::poll(fds.as_mut_ptr(), 2, timeout) < 0 && errno() != libc::EINTR {
                return;
            }
            if fds[0].revents != 0 {
                let mut byte = 0_u8;
                let got = libc::read(life, (&raw mut byte).cast(), 1);
                if got == 0 || (got < 0 && errno() != libc::EINTR && errno() != libc::EAGAIN) {
                    return;
                }
                // The stage is not reaped here, so its number can not have been reused.
                if got == 1 && byte == ASK_TERMINATE && libc::kill(-stage_pid, libc::SIGTERM) != 0 {
                    libc::kill(stage_pid, libc::SIGTERM);
                }
            }
            let exited = fds[1].revents != 0
                || (pidfd < 0 && libc::kill(stage_pid, 0) != 0)
                || (pidfd < 0 && is_zombie(stage_pid));
            if exited {
                return;
            }
        }
    }
}

/// True when the child has exited and waits to be reaped (it is left so).
unsafe fn is_zombie(pid: pid_t) -> bool {
    // SAFETY: an all-zero `siginfo_t` is valid, and the kernel writes only into it.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, flags) == 0 && info.si_pid() == pid
    }
}

/// Kills every descendant until there is none, at most [`KILL_BOUND_MS`], and returns the wait
/// status of the stage when it could be reaped.
unsafe fn end_all(stage_pid: pid_t) -> Option<c_int> {
    // SAFETY: system calls on integers and on this stack frame's own memory.
    unsafe {
        let started = now_ms();
        let mut status = None;
        // Whole group first, as one act: members that fork right now are caught below.
        libc::kill(-stage_pid, libc::SIGKILL);
        loop {
            kill_children();
            loop {
                let mut raw: c_int = 0;
                let pid = libc::waitpid(-1, &mut raw, libc::WNOHANG | libc::__WALL);
                if pid == stage_pid {
                    status = Some(raw);
                }
                if pid < 0 && errno() == libc::ECHILD {
                    return status;
                }
                if pid <= 0 {
                    break;
                }
            }
            if now_ms() - started > KILL_BOUND_MS {
                return status;
            }
            libc::poll(std::ptr::null_mut(), 0, 1);
        }
    }
}

/// SIGKILL to every present child. They are ours to reap, so no number can be reused meanwhile.
unsafe fn kill_children() {
    // SAFETY: the literals are NUL-terminated; `kill` takes integers.
    unsafe {
        let kill = |pid: c_int| {
            libc::kill(pid, libc::SIGKILL);
        };
        if proc_walk::numbers_in_file(c"/proc/thread-self/children".as_ptr(), kill) {
            return;
        }
        let me = libc::getpid();
        proc_walk::numbers_in_directory(c"/proc".as_ptr(), |pid, _| {
            if proc_walk::parent_of(pid) == Some(me) {
                libc::kill(pid, libc::SIGKILL);
            }
        });
    }
}

/// Runs the stage; never returns.
unsafe fn stage(prepared: &Prepared, guard_pid: pid_t) -> ! {
    // SAFETY: plain system calls; pointers in `prepared` are valid and NULL-terminated where the
    // kernel expects it, by the contract of `guard`.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        if libc::getppid() != guard_pid {
            libc::_exit(1);
        }
        if prepared.private_dev && private_dev() != 0 {
            fail(prepared.report, LaunchStep::PrivateDev);
        }
        for (resource, value) in &prepared.limits {
            if libc::setrlimit(*resource as _, value) != 0 {
                fail(prepared.report, LaunchStep::Limits);
            }
        }
        connect_stdio(prepared);
        default_signals();
        if prepared.cwd >= 0 && libc::fchdir(prepared.cwd) != 0 {
            fail(prepared.report, LaunchStep::WorkingDirectory);
        }
        if prepared.no_new_privs && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            fail(prepared.report, LaunchStep::Privileges);
        }
        for fd in &prepared.keep {
            libc::fcntl(*fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        for fd in &prepared.inherit {
            libc::fcntl(*fd, libc::F_SETFD, 0);
        }
        libc::execve(
            prepared.path.as_ptr(),
            prepared.argv.as_ptr(),
            prepared.env.as_ptr(),
        );
        fail(prepared.report, LaunchStep::Exec);
    }
}

/// Descriptors 0, 1 and 2. Sources are numbered above 2, so no `dup2` destroys another source.
unsafe fn connect_stdio(prepared: &Prepared) {
    // SAFETY: system calls on integers; the literal is NUL-terminated.
    unsafe {
        let mut stdin = prepared.stdin;
        if stdin < 0 {
            stdin = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            if stdin < 0 {
                fail(prepared.report, LaunchStep::Stdio);
            }
        }
        let pairs = [(stdin, 0), (prepared.stdout, 1), (prepared.stderr, 2)];
        for (from, to) in pairs {
            // `open` may have returned 0 itself; then only the flag has to go.
            let done = if from == to {
                libc::fcntl(from, libc::F_SETFD, 0)
            } else {
                libc::dup2(from, to)
            };
            if done < 0 {
                fail(prepared.report, LaunchStep::Stdio);
            }
        }
        if prepared.stdin < 0 && stdin > 2 {
            libc::close(stdin);
        }
    }
}

/// Default disposition for every signal, then an empty mask.
unsafe fn default_signals() {
    // The C library refuses to touch the two real-time signals that it uses itself, and a parent
    // may have left them ignored: so the system call, with an action of handler SIG_DFL, no flags,
    // no restorer and an empty mask.
    const ACTION: [u64; 4] = [0; 4];
    const SET_BYTES: libc::c_long = 8;
    // SAFETY: the kernel reads 32 bytes of `ACTION` (handler, flags, restorer, mask) and writes
    // nothing; SIGKILL, SIGSTOP and unused numbers answer EINVAL. An all-zero signal set is valid.
    unsafe {
        for signal in 1..65_i64 {
            let old = std::ptr::null_mut::<u64>();
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                ACTION.as_ptr(),
                old,
                SET_BYTES,
            );
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}

/// An own `/dev` in an own mount namespace: a command that runs as uid 0 must not be able to change
/// the host's device nodes, and later mounts of the host must not appear inside. 0 on success.
unsafe fn private_dev() -> c_int {
    const NODES: [(&std::ffi::CStr, u32, u32); 6] = [
        (c"/dev/null", 1, 3),
        (c"/dev/zero", 1, 5),
        (c"/dev/full", 1, 7),
        (c"/dev/random", 1, 8),
        (c"/dev/urandom", 1, 9),
        (c"/dev/tty", 5, 0),
    ];
    // SAFETY: all strings are literals with NUL; the other arguments are integers or NULL where the
    // calls allow it.
    unsafe {
        if libc::unshare(libc::CLONE_NEWNS) != 0 {
            return -1;
        }
        let none = c"none".as_ptr();
        let nothing = std::ptr::null();
        let private = libc::MS_REC | libc::MS_PRIVATE;
        if libc::mount(none, c"/".as_ptr(), nothing, private, nothing.cast()) != 0 {
            return -1;
        }
        let tmpfs = c"tmpfs".as_ptr();
        let options = c"size=64k,mode=0755".as_ptr();
        if libc::mount(
            tmpfs,
            c"/dev".as_ptr(),
            tmpfs,
            libc::MS_NOSUID,
            options.cast(),
        ) != 0
        {
            return -1;
        }
        let mask = libc::umask(0);
        for (path, major, minor) in NODES {
            let device = libc::makedev(major, minor);
            if libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o666, device) != 0 {
                return -1;
            }
        }
        libc::umask(mask);
        0
    }
}

/// Closes every descriptor that is not in `keep` (sorted).
unsafe fn close_all_but(keep: &[RawFd]) {
    // SAFETY: closing descriptors of this process; nothing here owns them any more.
    unsafe {
        let mut from: RawFd = 3;
        for fd in keep.iter().chain(std::iter::once(&RawFd::MAX)) {
            if *fd > from {
                let last = if *fd == RawFd::MAX {
                    u32::MAX
                } else {
                    *fd as u32 - 1
                };
                if libc::syscall(libc::SYS_close_range, from as u32, last, 0) != 0 {
                    close_listed(keep);
                    return;
                }
            }
            from = fd.saturating_add(1).max(from);
        }
    }
}

/// [`close_all_but`] for kernels without `close_range`.
unsafe fn close_listed(keep: &[RawFd]) {
    // SAFETY: as for `close_all_but`; the literal is NUL-terminated.
    unsafe {
        loop {
            let mut closed = false;
            proc_walk::numbers_in_directory(c"/proc/self/fd".as_ptr(), |fd, dir| {
                if fd > 2 && fd != dir && keep.binary_search(&fd).is_err() {
                    closed |= libc::close(fd) == 0;
                }
            });
            if !closed {
                return;
            }
        }
    }
}

/// `fork` without the C library's handlers, which could wait for a lock of another thread.
pub(super) unsafe fn fork_plain() -> pid_t {
    // SAFETY: with SIGCHLD alone and no stack, `clone` is `fork`: the child gets a copy of this
    // address space and returns here.
    unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as pid_t }
}

/// Tells the runtime which step failed, then ends the stage.
unsafe fn fail(report: RawFd, step: LaunchStep) -> ! {
    // SAFETY: system calls on integers.
    unsafe {
        write_record(report, step as u32, errno());
        libc::_exit(127);
    }
}

/// Writes one record of eight bytes; shorter than `PIPE_BUF`, so it arrives whole.
unsafe fn write_record(fd: RawFd, tag: u32, value: c_int) {
    let mut record = [0_u8; 8];
    let bytes = tag.to_ne_bytes().into_iter().chain(value.to_ne_bytes());
    for (slot, byte) in record.iter_mut().zip(bytes) {
        *slot = byte;
    }
    // SAFETY: `record` is eight readable bytes. SIGPIPE is blocked or default: in the guard it is
    // blocked, so that a dead runtime can not end the guard before it has killed its children.
    unsafe {
        libc::write(fd, record.as_ptr().cast(), record.len());
    }
}

fn errno() -> c_int {
    // SAFETY: the location is this thread's own and always valid.
    unsafe { *libc::__errno_location() }
}

unsafe fn now_ms() -> i64 {
    // SAFETY: an all-zero `timespec` is valid, and the call writes only into it.
    unsafe {
        let mut now: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now);
        now.tv_sec * 1000 + now.tv_nsec / 1_000_000
    }
}
