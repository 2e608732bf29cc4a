//! Read-only facts about the host.
//!
//! This crate opens, reads and hashes; it never runs, creates or changes anything. What it finds
//! is handed to the pure crates (`chatmd-policy`, `chatmd-plan`) as data and to the engine as open
//! descriptors.

pub mod canonical;
