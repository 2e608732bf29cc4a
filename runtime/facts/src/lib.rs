//! Read-only facts about the host.
//!
//! This crate opens, reads and hashes; it never runs, creates or changes anything. What it finds
//! is handed to the pure crates (`chatmd-policy`, `chatmd-plan`) as data and to the engine as open
//! descriptors.

pub mod bind;
pub mod canonical;
pub mod environment;
pub mod error;
pub mod host;
pub mod policy;
pub mod policy_host;
pub mod resolver;
pub mod roots;
pub mod runtime;
pub mod sandbox_facts;
pub mod secret_forms;
pub mod secrets;

pub use bind::{BindFinding, Bound, HostDirs, Purpose, bind};
pub use canonical::{CanonicalPath, canonical, canonical_or_parent};
pub use error::FactsError;
pub use host::{Host, HostInput, Snapshot};
