//! What a manifest permits, for people (spec 04 section 11): the summary, and the difference of
//! two manifests ([`mod@diff`]).
//!
//! Pure functions of a payload, shared by compiler, language server and runtime, so that all three
//! show the same.

pub mod diff;
mod findings;
mod show;
mod summary;
mod text;

pub use findings::{Finding, Level};
pub use summary::{
    AuditSummary, BackendSummary, EnvironmentSummary, ExtensionSummary, PolicySummary,
    ReviewerSummary, ReviewersSummary, RuntimeSummary, Summary, ToolSummary, summarise,
    summarise_here,
};

#[cfg(test)]
mod tests;
