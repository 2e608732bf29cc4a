//! The limits of spec 05 section 8.3 and their accounting.
//!
//! Fuel, tasks, depth and allocation are counted in steps and bytes and therefore the same on every
//! machine. Wall time is the host's: a [`Stopwatch`] that it hands in.

mod budget;
mod stopwatch;
mod value;

pub use budget::{Budget, Stop};
pub use stopwatch::{Monotonic, Stopwatch, Unlimited};
pub use value::{Excess, ExcessKind, check};
pub(crate) use value::{Meter, Path, Segment, Walk};

use std::time::Duration;

/// Nested calls that are not tail calls.
pub const MAX_CALL_DEPTH: usize = 10_000;

/// The limits of a script (spec 01 section 10 has syntax and bounds of the attributes).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Steps of one call.
    pub fuel: u64,
    /// Performed and spawned operations of one call.
    pub max_tasks: u32,
    /// Wall time of one call.
    pub wall_time: Duration,
    /// Bytes of an event, a state or the arguments of an action.
    pub max_value: u64,
    /// Bytes of one string in those.
    pub max_output: u64,
    /// Items of one array or fields of one record in those.
    pub max_array_items: u64,
    /// Nesting of those; the root has depth 0.
    pub max_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 100_000,
            max_tasks: 256,
            wall_time: Duration::from_secs(2),
            max_value: 256 * 1024,
            max_output: 16 * 1024,
            max_array_items: 256,
            max_depth: 32,
        }
    }
}

impl Limits {
    /// Bytes that one call may build.
    pub fn allocation(&self) -> u64 {
        const LEAST: u64 = 16 * 1024 * 1024;
        self.max_value.saturating_mul(16).max(LEAST)
    }
}
