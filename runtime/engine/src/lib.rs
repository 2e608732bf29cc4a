//! Executes authorised manifests: materialisation, sandboxed processes, supervision, approvals,
//! safe output and audit (specs 06, 06b). The only crate of the product that starts processes.
//!
//! The way of a call: [`authorise`] turns a compiled document into an
//! [`authorise::AuthorizedManifest`], [`materialise`] makes it live, [`pipeline::invoke`] runs one
//! tool. `pipeline/stages.rs` holds the visible list of what happens to every command.

pub mod approval;
pub mod audit;
pub mod authorise;
pub mod identity;
pub mod ids;
pub mod journal;
pub mod materialise;
pub mod output;
pub mod pipeline;
pub mod refusal;
pub mod sandbox;
pub mod session;
pub mod supervise;
pub mod sys;
pub mod terminal;
pub mod warnings;
