//! Sandbox planning: a runtime's manifest entry and facts about the host in, an exact plan out.
//!
//! Everything here is a pure function. Facts come from `chatmd-facts`, the engine carries the plan
//! out, and `chatmdc` shows it without starting anything; all three see the same plan.

pub mod backend;
pub mod bubblewrap;
pub mod error;
pub mod external;
pub mod facts;
pub mod limits;
pub mod roots;
pub mod seatbelt;
pub mod seccomp;

pub use error::PlanError;
