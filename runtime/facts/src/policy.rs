//! The policy of a runtime with its paths resolved on this host (06 section 2.1, step 9).

use chatmd_compiler::manifest;
use chatmd_compiler::policy_lowering::{PolicyRoots, compiled_policy};
use chatmd_policy::{CompiledPolicy, MatcherPath};

use crate::canonical::{CanonicalPath, canonical};
use crate::host::Host;
use crate::roots::FrozenRoots;

/// Why the rules of a runtime can not be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyProblem {
    /// A `shell.*` code.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

/// Compiles the rules of a runtime with canonical paths.
///
/// # Errors
/// Every path that can not be resolved, and a policy beyond its bounds.
pub fn compile_policy(
    host: &Host,
    runtime: &manifest::Runtime,
    roots: &FrozenRoots,
) -> Result<CompiledPolicy, Vec<PolicyProblem>> {
    let mut problems = Vec::new();
    let mut locate = |path: &manifest::Path| match host.resolve(path) {
        Ok(resolved) => {
            match canonical(&resolved)
                .ok()
                .as_ref()
                .and_then(CanonicalPath::to_str)
            {
                Some(text) => MatcherPath::Canonical(text.to_owned()),
                None => MatcherPath::Unresolved(resolved.to_string_lossy().into_owned()),
            }
        }
        Err(error) => {
            problems.push(PolicyProblem {
                code: error.code(),
                message: error.to_string(),
            });
            MatcherPath::Unresolved(String::new())
        }
    };
    let texts = |list: &[CanonicalPath]| {
        list.iter()
            .filter_map(|path| path.to_str().map(str::to_owned))
            .collect()
    };
    let lowered = PolicyRoots {
        read: texts(&roots.read),
        write: texts(&roots.write),
    };
    let policy = compiled_policy(runtime, lowered, &mut locate);
    match policy {
        Ok(policy) if problems.is_empty() => Ok(policy),
        Ok(_) => Err(problems),
        Err(fault) => {
            problems.push(PolicyProblem {
                code: fault.code(),
                message: fault.to_string(),
            });
            Err(problems)
        }
    }
}
