//! What is left of fuel, tasks and time while a call runs.

use std::time::Duration;

use super::stopwatch::Stopwatch;
use super::{Limits, MAX_CALL_DEPTH};

/// A limit that ends a call. The script can not catch it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Steps are used up.
    Fuel,
    /// Too many operations.
    Tasks,
    /// The wall time is over.
    Time,
    /// Too many nested calls.
    Depth,
    /// Too many bytes were built.
    Memory,
}

impl Stop {
    /// The code of the limit.
    pub fn code(self) -> &'static str {
        match self {
            Self::Fuel => "chatml.limit.fuel",
            Self::Tasks => "chatml.limit.tasks",
            Self::Time => "chatml.limit.time",
            Self::Depth => "chatml.limit.depth",
            Self::Memory => "chatml.limit.memory",
        }
    }

    /// One sentence for people, with the bound that was reached.
    pub fn message(self, limits: &Limits) -> String {
        match self {
            Self::Fuel => format!("the script used all of its {} steps", limits.fuel),
            Self::Tasks => format!(
                "the script performed more than {} operations",
                limits.max_tasks
            ),
            Self::Time => format!("the script ran longer than {:?}", limits.wall_time),
            Self::Depth => format!("more than {MAX_CALL_DEPTH} calls are nested"),
            Self::Memory => format!(
                "the script built more than {} bytes of values",
                limits.allocation()
            ),
        }
    }
}

/// Steps between two looks at the stopwatch.
const SLICE: u64 = 1024;

/// Bytes of data from which a single operation looks at the stopwatch first.
const LARGE: u64 = 64 * 1024;

/// Fuel, tasks and time of one call.
pub struct Budget<'a> {
    /// Steps until the next look at the stopwatch.
    slice: u64,
    /// Steps after this slice.
    reserve: u64,
    tasks: u32,
    wall_time: Duration,
    stopwatch: &'a dyn Stopwatch,
}

impl<'a> Budget<'a> {
    /// The whole budget of a call.
    pub fn new(limits: &Limits, stopwatch: &'a dyn Stopwatch) -> Self {
        let slice = limits.fuel.min(SLICE);
        Self {
            slice,
            reserve: limits.fuel - slice,
            tasks: limits.max_tasks,
            wall_time: limits.wall_time,
            stopwatch,
        }
    }

    /// Steps that are left.
    pub fn fuel(&self) -> u64 {
        self.slice + self.reserve
    }

    /// Counts one step.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), Stop> {
        if self.slice > 1 {
            self.slice -= 1;
            return Ok(());
        }
        self.steps(1)
    }

    /// Counts several steps at once.
    #[cold]
    pub(crate) fn steps(&mut self, count: u64) -> Result<(), Stop> {
        if count < self.slice {
            self.slice -= count;
            return Ok(());
        }
        let over = count - self.slice;
        self.slice = 0;
        self.reserve = self.reserve.checked_sub(over).ok_or(Stop::Fuel)?;
        self.slice = self.reserve.min(SLICE);
        self.reserve -= self.slice;
        self.check_time()
    }

    /// Counts one performed or spawned operation.
    pub(crate) fn operation(&mut self) -> Result<(), Stop> {
        self.tasks = self.tasks.checked_sub(1).ok_or(Stop::Tasks)?;
        Ok(())
    }

    /// Looks at the stopwatch before work on much data.
    #[inline]
    pub(crate) fn data(&mut self, bytes: u64) -> Result<(), Stop> {
        if bytes > LARGE {
            return self.check_time();
        }
        Ok(())
    }

    fn check_time(&self) -> Result<(), Stop> {
        if self.stopwatch.elapsed() > self.wall_time {
            return Err(Stop::Time);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::limits::Unlimited;

    #[test]
    fn every_step_counts_once_however_it_is_counted() {
        for fuel in [1, 2, 1023, 1024, 1025, 5000] {
            let limits = Limits {
                fuel,
                ..Limits::default()
            };
            let mut budget = Budget::new(&limits, &Unlimited);
            for left in (0..fuel).rev() {
                budget.step().unwrap();
                assert_eq!(budget.fuel(), left);
            }
            assert_eq!(budget.step(), Err(Stop::Fuel));
            let mut budget = Budget::new(&limits, &Unlimited);
            budget.steps(fuel).unwrap();
            assert_eq!(budget.steps(1), Err(Stop::Fuel));
        }
    }

    #[test]
    fn time_is_looked_at_within_1024_steps() {
        struct Late;
        impl Stopwatch for Late {
            fn elapsed(&self) -> Duration {
                Duration::from_secs(3)
            }
        }
        let mut budget = Budget::new(&Limits::default(), &Late);
        let steps = (0..2000).take_while(|_| budget.step().is_ok()).count();
        assert!(steps <= 1024, "{steps}");
        assert_eq!(budget.data(LARGE + 1), Err(Stop::Time));
        assert_eq!(budget.data(LARGE), Ok(()));
    }
}
