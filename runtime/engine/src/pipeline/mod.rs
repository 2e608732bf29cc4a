//! One invocation from payload to result (spec 06 section 11).
//!
//! [`stages::PREPARATION`] is the visible list of what happens to every command before it may start:
//! no stage can be skipped by another, and every refusal is audited in one place. [`fn@invoke`] wraps
//! the commands of a request in `request_received` and `request_completed`, whatever happens.

mod approval;
mod context;
mod execute;
mod finalise;
mod invoke;
mod plan;
mod request;
mod stages;

pub use invoke::{Invoked, UnknownTool, invoke};
pub use stages::{PREPARATION, Stage};
