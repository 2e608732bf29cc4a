//! All host facts of one runtime in the order of materialisation (spec 06 section 2.1, steps 2 to 7).

use chatmd_compiler::manifest::Runtime;
use zeroize::Zeroizing;

use crate::canonical::CanonicalPath;
use crate::environment::{self, BuiltEnvironment};
use crate::error::FactsError;
use crate::host::Host;
use crate::resolver::Resolver;
use crate::roots::{self, FrozenRoots};
use crate::secrets::{self, LoadedSecrets};

/// What a live runtime knows about its host.
#[derive(Debug)]
pub struct RuntimeFacts {
    /// Canonical working directory.
    pub cwd: CanonicalPath,
    /// Environment, fixed for the life of the runtime.
    pub environment: BuiltEnvironment,
    /// Values to hide. Secret arguments of tools are added by the caller.
    pub secrets: LoadedSecrets,
    /// Capability roots, frozen.
    pub roots: FrozenRoots,
    /// Finds and fingerprints programs; every declared executable has been checked.
    pub resolver: Resolver,
}

/// Collects the facts. Steps that do not depend on a failed one still run, so that every failure is
/// reported. `literal` gives the text of the secret literal with an index. Blocking: hashes every
/// declared executable.
pub fn collect(
    host: &Host,
    runtime: &Runtime,
    literal: impl Fn(u64) -> Option<Zeroizing<Vec<u8>>>,
) -> Result<RuntimeFacts, Vec<FactsError>> {
    let mut errors = Vec::new();
    let cwd = host
        .working_directory(&runtime.cwd)
        .map_err(|error| errors.push(error))
        .ok();
    let relative = runtime.resolver.allow_relative_search_path;
    let environment = environment::build(host, &runtime.environment, relative)
        .map_err(|mut found| errors.append(&mut found))
        .ok();
    let secrets = environment.as_ref().and_then(|environment| {
        secrets::load(host, environment, &runtime.secrets, literal)
            .map_err(|mut found| errors.append(&mut found))
            .ok()
    });
    let roots = roots::freeze(host, &runtime.capabilities)
        .map_err(|mut found| errors.append(&mut found))
        .ok();
    let (Some(cwd), Some(environment), Some(roots)) = (cwd, environment, roots) else {
        return Err(errors);
    };
    let resolver = match Resolver::new(host, &runtime.resolver, &cwd, &environment, &roots) {
        Ok(resolver) => resolver,
        Err(mut found) => {
            errors.append(&mut found);
            return Err(errors);
        }
    };
    errors.append(&mut resolver.check_declared());
    match secrets {
        Some(secrets) if errors.is_empty() => Ok(RuntimeFacts {
            cwd,
            environment,
            secrets,
            roots,
            resolver,
        }),
        _ => Err(errors),
    }
}

#[cfg(test)]
#[path = "runtime_tests.rs"]
mod tests;
