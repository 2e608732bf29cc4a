//! The symbolic host as an evaluation asks it (spec 12 section 2.5).

use std::collections::BTreeMap;

use chatmd_policy::symbolic::SymbolicFacts;
use chatmd_policy::trace::{BackendTrace, HostKind, SearchTrace};
use chatmd_policy::{CompiledPolicy, ExecutableFacts, PolicyFault, PolicyHost};

use super::{EvaluationHost, ResolutionDetails};
use crate::manifest::{Manifest, Path, Runtime};
use crate::symbolic::{SymbolicDirectories, SymbolicRuntime, symbolic_runtime};

/// Stands for a secret value in a command line.
const SECRET: &str = "[secret]";

/// A runtime of a manifest on the symbolic host.
#[derive(Debug)]
pub struct SymbolicEvaluation {
    directories: SymbolicDirectories,
    runtime: SymbolicRuntime,
}

impl SymbolicEvaluation {
    /// Puts `runtime` on the symbolic host. `cwd` overrides its directory.
    ///
    /// # Errors
    /// The policy does not compile (a bound of spec 06 section 8).
    pub fn new(
        manifest: &Manifest,
        runtime: &Runtime,
        facts: SymbolicFacts,
        cwd: Option<&Path>,
    ) -> Result<Self, PolicyFault> {
        Ok(Self {
            directories: SymbolicDirectories::new(manifest),
            runtime: symbolic_runtime(manifest, runtime, facts, cwd)?,
        })
    }
}

impl EvaluationHost for SymbolicEvaluation {
    fn kind(&self) -> HostKind {
        HostKind::Symbolic
    }

    fn paths(&self) -> &dyn PolicyHost {
        &self.runtime.host
    }

    fn policy(&self) -> &CompiledPolicy {
        &self.runtime.policy
    }

    fn cwd(&self) -> &str {
        &self.runtime.cwd
    }

    fn direct(&self) -> bool {
        self.runtime.policy.direct()
    }

    fn effect_variables(&self) -> &BTreeMap<String, String> {
        &self.runtime.environment
    }

    fn environment_names(&self) -> Vec<String> {
        self.runtime.environment.keys().cloned().collect()
    }

    fn environment_bytes(&self) -> usize {
        let variables = self.runtime.environment.iter();
        variables
            .map(|(name, value)| name.len() + value.len() + 1)
            .sum()
    }

    fn path(&self, path: &Path) -> Result<String, (&'static str, String)> {
        Ok(self.directories.resolve(path))
    }

    fn secret(&self, _: &str) -> Option<String> {
        // No test knows a secret; that it is set is taken for granted.
        Some(SECRET.to_owned())
    }

    fn resolve(&self, program: &str) -> Result<ExecutableFacts, String> {
        self.runtime
            .host
            .resolve(program, &self.runtime.cwd)
            .ok_or_else(|| format!("{program}: not found"))
    }

    fn describe(&self, program: &str) -> ResolutionDetails {
        let host = &self.runtime.host;
        let Some(found) = host.resolve(program, &self.runtime.cwd) else {
            return ResolutionDetails::default();
        };
        let folder = chatmd_policy::paths::parent(&found.located).to_owned();
        let searched = !found.alias && !program.contains('/');
        ResolutionDetails {
            alias: found.alias.then(|| program.to_owned()),
            search: searched
                .then_some(SearchTrace {
                    dir: folder,
                    found: true,
                })
                .into_iter()
                .collect(),
            class: host.class(program, &self.runtime.cwd).map(str::to_owned),
            trust: host.trust(program, &self.runtime.cwd),
            sha256: None,
            interpreter: None,
        }
    }

    fn backend(&self, _: &[String]) -> Option<BackendTrace> {
        None
    }

    fn assumptions(&self) -> Vec<String> {
        vec!["paths, programs and variables are those of the symbolic host".to_owned()]
    }
}
