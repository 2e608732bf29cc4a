//! The live answers to the questions of `chatmd-policy`, and facts about a resolved command.

use std::path::Path;

use chatmd_policy::facts::{
    CommandFacts, ExecutableFacts, Located, PathFault, PolicyHost, RequestKind, StdinKind,
};

use crate::canonical::canonical_or_parent;
use crate::environment::BuiltEnvironment;
use crate::resolver::{ResolvedExecutable, Resolver};
use crate::sandbox_facts::git_directories;

/// Variables that effect rules read.
const EFFECT_VARIABLES: [&str; 2] = ["HOME", "RIPGREP_CONFIG_PATH"];

/// The file system and the resolver of one runtime.
#[derive(Clone, Copy, Debug)]
pub struct LiveHost<'a> {
    resolver: &'a Resolver,
}

impl<'a> LiveHost<'a> {
    /// Answers for the runtime that owns `resolver`.
    pub fn new(resolver: &'a Resolver) -> Self {
        Self { resolver }
    }
}

impl PolicyHost for LiveHost<'_> {
    fn canonical_or_parent(&self, path: &str) -> Result<String, PathFault> {
        match canonical_or_parent(path) {
            Ok(found) => match found.to_str() {
                Some(text) => Ok(text.to_owned()),
                None => Err(PathFault("the path is not valid UTF-8".to_owned())),
            },
            Err(error) => Err(PathFault(error.to_string())),
        }
    }

    fn folds_case(&self) -> bool {
        // The default of that system; a volume that tells cases apart only loses precision.
        cfg!(target_os = "macos")
    }

    fn linked_git_directories(&self, folder: &str) -> Vec<String> {
        let found = git_directories(Path::new(folder)).into_iter();
        found
            .filter_map(|path| path.to_str().map(str::to_owned))
            .collect()
    }

    fn search(&self, program: &str, cwd: &str) -> Option<Located> {
        let found = self.resolver.search_from(program, Path::new(cwd)).ok()?;
        let canonical = crate::canonical::canonical(&found.located).ok()?;
        Some(Located {
            located: found.located.to_str()?.to_owned(),
            canonical: canonical.to_str()?.to_owned(),
        })
    }
}

/// Facts about a resolved executable. Its paths are valid UTF-8: others are not resolved.
pub fn executable_facts(resolved: &ResolvedExecutable) -> ExecutableFacts {
    ExecutableFacts {
        located: resolved.located().to_string_lossy().into_owned(),
        canonical: resolved
            .canonical()
            .as_path()
            .to_string_lossy()
            .into_owned(),
        trusted: resolved.trusted(),
        stable: resolved.stable(),
        modifiable: resolved.modifiable(),
        interpreted: resolved.interpreter().is_some(),
        set_id: resolved.set_id(),
        in_trusted_root: resolved.in_trusted_root(),
        alias: resolved.is_alias(),
    }
}

/// What a request adds to the facts of its executable.
#[derive(Clone, Debug)]
pub struct RequestFacts {
    /// Canonical working directory.
    pub cwd: String,
    /// Kind of request.
    pub kind: RequestKind,
    /// Source text of a raw shell request.
    pub script: Option<String>,
    /// Where stdin comes from.
    pub stdin: StdinKind,
    /// Bytes of supplied stdin.
    pub stdin_bytes: u64,
}

/// Facts about one prepared command. `resolved` is `None` when resolution failed and evaluation
/// goes on for a trace.
pub fn command_facts(
    resolved: Option<&ResolvedExecutable>,
    argv: Vec<String>,
    request: RequestFacts,
    environment: &BuiltEnvironment,
) -> CommandFacts {
    let variable = |name: &&str| {
        let value = environment.get(name)?;
        Some(((*name).to_owned(), value.to_string_lossy().into_owned()))
    };
    CommandFacts {
        argv,
        cwd: request.cwd,
        kind: request.kind,
        script: request.script,
        stdin: request.stdin,
        stdin_bytes: request.stdin_bytes,
        executable: resolved.map(executable_facts),
        environment: EFFECT_VARIABLES.iter().filter_map(variable).collect(),
    }
}

#[cfg(test)]
#[path = "policy_host_tests.rs"]
mod tests;
