//! What an evaluation asks its host.

use std::collections::BTreeMap;

use chatmd_policy::trace::{BackendTrace, HostKind, SearchTrace, TrustTrace};
use chatmd_policy::{CompiledPolicy, ExecutableFacts, PolicyHost};

use crate::manifest::Path;

/// A runtime on a host. Nothing in it starts a process or writes.
pub trait EvaluationHost {
    /// Symbolic or live.
    fn kind(&self) -> HostKind;
    /// Answers about paths.
    fn paths(&self) -> &dyn PolicyHost;
    /// The compiled policy of the runtime.
    fn policy(&self) -> &CompiledPolicy;
    /// Canonical working directory.
    fn cwd(&self) -> &str;
    /// Whether commands of the runtime may start without confinement.
    fn direct(&self) -> bool;
    /// Variables that effect rules read.
    fn effect_variables(&self) -> &BTreeMap<String, String>;
    /// Names of all variables of the command's environment, sorted.
    fn environment_names(&self) -> Vec<String>;
    /// Bytes of all `NAME=VALUE` strings.
    fn environment_bytes(&self) -> usize;
    /// Absolute form of a path expression.
    ///
    /// # Errors
    /// Code and sentence when a directory that it begins with is not known.
    fn path(&self, path: &Path) -> Result<String, (&'static str, String)>;
    /// Value of a secret argument.
    fn secret(&self, name: &str) -> Option<String>;
    /// Finds and judges a program.
    ///
    /// # Errors
    /// One sentence.
    fn resolve(&self, program: &str) -> Result<ExecutableFacts, String>;
    /// The same for a trace.
    fn describe(&self, program: &str) -> ResolutionDetails;
    /// The backend that would run the command, with its exact argv where the host knows it.
    fn backend(&self, argv: &[String]) -> Option<BackendTrace>;
    /// Facts that this host takes rather than observes, one sentence each.
    fn assumptions(&self) -> Vec<String>;
}

/// How a program was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolutionDetails {
    /// Declared executable id.
    pub alias: Option<String>,
    /// Folders that were searched.
    pub search: Vec<SearchTrace>,
    /// `local` or `system`.
    pub class: Option<String>,
    /// Conditions T1 to T6; `None` when nothing was found.
    pub trust: Option<TrustTrace>,
    /// Digest of the file, when the host has it.
    pub sha256: Option<String>,
    /// Program of a `#!` line.
    pub interpreter: Option<String>,
}
