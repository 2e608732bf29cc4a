//! A few threads that work on snapshots, in lanes (spec 11 section 2.1).

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use chatmd_compiler::db::Database;

/// Which work goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Someone is typing and waits. One thread does nothing else.
    Urgent,
    /// The findings of the open documents, which someone looks at.
    Check,
    /// Everything else that someone waits for.
    Normal,
    /// What nobody waits for.
    Background,
}

const URGENT: &[Lane] = &[Lane::Urgent];
const CHECKS: &[Lane] = &[Lane::Check];
const ALL: &[Lane] = &[Lane::Urgent, Lane::Check, Lane::Normal, Lane::Background];

/// Work with the snapshot that it was given.
pub struct Job<W> {
    /// Which queue.
    pub lane: Lane,
    /// What to do.
    pub work: W,
    /// The state that the client had when it asked.
    pub snapshot: Database,
}

struct Shared<W> {
    queues: Mutex<[VecDeque<Job<W>>; ALL.len()]>,
    filled: Condvar,
}

impl<W> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, [VecDeque<Job<W>>; ALL.len()]> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pool. Its threads live as long as the process.
pub struct Pool<W>(Arc<Shared<W>>);

/// `max(2, min(cores, 8))`.
fn size() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    cores.clamp(2, 8)
}

impl<W: Send + 'static> Pool<W> {
    /// Starts the threads; `run` must not panic.
    pub fn start(run: impl Fn(W, Database) + Send + Sync + 'static) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            queues: Mutex::new(Default::default()),
            filled: Condvar::new(),
        });
        let run = Arc::new(run);
        // The thread for checks comes on top: however long the requests take, and on however few
        // processors, an edit is checked at once.
        let kept_free = [URGENT, CHECKS].into_iter();
        let threads = kept_free.chain(std::iter::repeat_n(ALL, size() - 1));
        for (number, lanes) in threads.enumerate() {
            let (shared, run) = (Arc::clone(&shared), Arc::clone(&run));
            std::thread::Builder::new()
                .name(format!("worker {number}"))
                .spawn(move || {
                    loop {
                        let job = next(&shared, lanes);
                        run(job.work, job.snapshot);
                    }
                })?;
        }
        Ok(Self(shared))
    }

    /// Adds a job behind the others of its lane.
    pub fn push(&self, job: Job<W>) {
        if let Some(queue) = self.0.lock().get_mut(job.lane as usize) {
            queue.push_back(job);
        }
        self.0.filled.notify_all();
    }

    /// Takes back the newest job of a lane that no thread has begun.
    pub fn take_newest(&self, lane: Lane) -> Option<W> {
        let job = self.0.lock().get_mut(lane as usize)?.pop_back()?;
        Some(job.work)
    }

    /// Takes back every job that no thread has begun, in order. Their snapshots are dropped: a
    /// write waits for all of them.
    pub fn take_back(&self) -> Vec<W> {
        let mut queues = self.0.lock();
        let jobs = queues.iter_mut().flat_map(|queue| queue.drain(..));
        jobs.map(|job| job.work).collect()
    }
}

fn next<W>(shared: &Shared<W>, lanes: &[Lane]) -> Job<W> {
    let mut queues = shared.lock();
    loop {
        let first = |lane: &Lane| queues.get_mut(*lane as usize)?.pop_front();
        if let Some(job) = lanes.iter().find_map(first) {
            return job;
        }
        queues = shared
            .filled
            .wait(queues)
            .unwrap_or_else(PoisonError::into_inner);
    }
}
