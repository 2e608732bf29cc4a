//! Executes authorised manifests: materialisation, sandboxed processes, supervision, approvals,
//! safe output and audit (specs 06, 06b). The only crate of the product that starts processes.

pub mod audit;
pub mod identity;
pub mod output;
pub mod sandbox;
pub mod supervise;
pub mod sys;
