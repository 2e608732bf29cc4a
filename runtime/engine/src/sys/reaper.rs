//! Collecting guards that have ended, so that no zombie is left.
//!
//! A guard ends by itself: at the latest five seconds after the runtime lets go of its life pipe.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use libc::pid_t;
use nix::sys::wait::{Id, WaitPidFlag, waitid};

enum Ended {
    Guard(OwnedFd),
    Number(pid_t),
}

/// Guards that are handed over and not yet collected.
struct Open {
    count: Mutex<usize>,
    changed: Condvar,
}

static OPEN: Open = Open {
    count: Mutex::new(0),
    changed: Condvar::new(),
};

fn queue() -> Option<&'static Mutex<mpsc::Sender<Ended>>> {
    static QUEUE: OnceLock<Option<Mutex<mpsc::Sender<Ended>>>> = OnceLock::new();
    QUEUE
        .get_or_init(|| {
            let (sender, receiver) = mpsc::channel();
            std::thread::Builder::new()
                .name("chatmd-reap".into())
                .spawn(move || collect_all(&receiver))
                .ok()
                .map(|_| Mutex::new(sender))
        })
        .as_ref()
}

/// Collects a guard in the background.
pub(super) fn reap(guard: OwnedFd) {
    hand_over(Ended::Guard(guard));
}

/// Collects a child of which only the number is known.
pub(super) fn reap_number(pid: pid_t) {
    hand_over(Ended::Number(pid));
}

fn hand_over(ended: Ended) {
    *OPEN.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    let rest = match queue() {
        Some(queue) => {
            let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.send(ended).err().map(|error| error.0)
        }
        None => Some(ended),
    };
    // Without the thread it is collected here; a guard ends within a bounded time.
    if let Some(ended) = rest {
        collect(ended);
    }
}

fn collect_all(receiver: &mpsc::Receiver<Ended>) {
    while let Ok(ended) = receiver.recv() {
        collect(ended);
    }
}

fn collect(ended: Ended) {
    let wait = || {
        let id = match &ended {
            Ended::Guard(guard) => Id::PIDFd(guard.as_fd()),
            Ended::Number(pid) => Id::Pid(nix::unistd::Pid::from_raw(*pid)),
        };
        waitid(id, WaitPidFlag::WEXITED)
    };
    while wait() == Err(nix::errno::Errno::EINTR) {}
    let mut count = OPEN.count.lock().unwrap_or_else(PoisonError::into_inner);
    *count = count.saturating_sub(1);
    OPEN.changed.notify_all();
}

/// Waits until every guard that was let go of has ended; false when `bound` passed first.
/// A host calls it before it exits.
pub fn wait_until_collected(bound: Duration) -> bool {
    let deadline = Instant::now() + bound;
    let mut count = OPEN.count.lock().unwrap_or_else(PoisonError::into_inner);
    while *count > 0 {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let (next, _) = OPEN
            .changed
            .wait_timeout(count, left)
            .unwrap_or_else(PoisonError::into_inner);
        count = next;
    }
    true
}
