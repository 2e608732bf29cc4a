//! How a host tells the time that a call has taken.

use std::time::{Duration, Instant};

/// Monotonic time since the call began. The evaluator asks; it has no clock of its own.
pub trait Stopwatch {
    /// Time since the call began.
    fn elapsed(&self) -> Duration;
}

/// The monotonic clock of the operating system, for hosts. Checking never uses it.
#[derive(Debug, Clone, Copy)]
pub struct Monotonic(Instant);

impl Monotonic {
    /// Starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Stopwatch for Monotonic {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// No time passes: fuel alone bounds the call, and results do not depend on the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

impl Stopwatch for Unlimited {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}
