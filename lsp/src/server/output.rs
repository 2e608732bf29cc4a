//! The only writer of the output stream.
//!
//! Whoever has a frame puts it into a bounded queue; a thread of its own writes, so that a client
//! that does not read stops nothing but that thread, until the queue is full.

use std::collections::VecDeque;
use std::io::Write;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;

use super::life::{self, End};

/// Bytes that may wait.
const MAX_BYTES: usize = 64 << 20;

#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    writing: bool,
    failed: bool,
    /// Who waits for room.
    waiting: Option<Waker>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// A handle on the queue.
#[derive(Clone, Default)]
pub struct Output(Arc<Shared>);

impl Output {
    /// A queue that is written to a stream by a new thread; a write error ends the process.
    pub fn start(stream: impl Write + Send + 'static, end: End) -> std::io::Result<Self> {
        let output = Self::default();
        let shared = Arc::clone(&output.0);
        std::thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || {
                if write_all(&shared, stream).is_err() {
                    shared.lock().failed = true;
                    shared.changed.notify_all();
                    end.with(life::FAILED);
                }
            })?;
        Ok(output)
    }

    /// Adds a whole frame, whatever waits already.
    fn push(&self, frame: Vec<u8>) {
        let mut queue = self.0.lock();
        queue.bytes += frame.len();
        queue.frames.push_back(frame);
        drop(queue);
        self.0.changed.notify_all();
    }

    /// Adds a whole frame as soon as there is room, but not later than that; says whether it did.
    pub fn push_within(&self, frame: Vec<u8>, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut queue = self.0.lock();
        while queue.bytes >= MAX_BYTES && !queue.failed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            queue = self
                .0
                .changed
                .wait_timeout(queue, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(queue, _)| queue);
        }
        drop(queue);
        self.push(frame);
        true
    }

    /// Waits until everything is written, but not longer than that.
    pub fn drain(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut queue = self.0.lock();
        while !queue.failed && (queue.writing || !queue.frames.is_empty()) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queue = self
                .0
                .changed
                .wait_timeout(queue, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(queue, _)| queue);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_all(shared: &Shared, mut stream: impl Write) -> std::io::Result<()> {
    loop {
        let mut queue = shared.lock();
        let frame = loop {
            match queue.frames.pop_front() {
                Some(frame) => break frame,
                None => {
                    queue = shared
                        .changed
                        .wait(queue)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        };
        queue.writing = true;
        drop(queue);
        stream.write_all(&frame)?;
        stream.flush()?;
        let mut queue = shared.lock();
        queue.writing = false;
        queue.bytes = queue.bytes.saturating_sub(frame.len());
        let waiting = queue.waiting.take();
        drop(queue);
        shared.changed.notify_all();
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}

impl AsyncWrite for Output {
    /// Takes everything or nothing: the framework writes whole frames.
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let mut queue = self.0.lock();
        if queue.failed {
            return Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into()));
        }
        if queue.bytes >= MAX_BYTES {
            queue.waiting = Some(context.waker().clone());
            return Poll::Pending;
        }
        drop(queue);
        self.push(bytes.to_vec());
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    /// A client that does not read costs no more than the bound, and time only up to the limit.
    #[test]
    fn nothing_is_added_to_a_full_queue() {
        let output = Output::default();
        let frame = || vec![0; MAX_BYTES / 4];
        for _ in 0..4 {
            assert!(output.push_within(frame(), Duration::ZERO));
        }
        assert!(!output.push_within(frame(), Duration::from_millis(20)));
        assert_eq!(output.0.lock().frames.len(), 4);
        let (end, _ended) = End::new();
        let shared = Arc::clone(&output.0);
        let writer = std::thread::spawn(move || {
            let _ = write_all(&shared, Failing(2));
            shared.lock().failed = true;
            shared.changed.notify_all();
            end.with(life::FAILED);
        });
        assert!(output.push_within(frame(), Duration::from_secs(20)));
        writer.join().unwrap();
    }

    /// Takes some frames, then fails.
    struct Failing(usize);

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(1)
                .ok_or(std::io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
}
