//! A runtime of a manifest on the symbolic host (spec 12 section 2.5).

use std::collections::BTreeMap;

use chatmd_policy::symbolic::{
    CACHE_DIR, ENV_ROOTS, HOME, SESSION_DIR, SymbolicAlias, SymbolicFacts, SymbolicHost,
    SymbolicResolver, WORKSPACE,
};
use chatmd_policy::{CompiledPolicy, MatcherPath, PolicyFault, PolicyHost, paths};

use crate::manifest::{self, Inherit, Manifest, PathBase, Root};

use crate::policy_lowering::{PolicyRoots, compiled_policy};

/// A runtime with everything that a decision needs, on the symbolic host.
#[derive(Debug)]
pub struct SymbolicRuntime {
    /// Answers questions about paths and programs.
    pub host: SymbolicHost,
    /// The compiled policy.
    pub policy: CompiledPolicy,
    /// Canonical working directory.
    pub cwd: String,
    /// Variables of the runtime that effect rules may read.
    pub environment: BTreeMap<String, String>,
}

/// Directories of the symbolic host for one manifest.
#[derive(Clone, Debug)]
pub struct SymbolicDirectories {
    /// `source_dir` of files that lie above the root document's directory.
    outside: BTreeMap<String, String>,
}

impl SymbolicDirectories {
    /// Numbers the outside directories in the order of the manifest's sources.
    pub fn new(manifest: &Manifest) -> Self {
        let mut outside = BTreeMap::new();
        for source in &manifest.sources {
            let directory = paths::parent(&source.path);
            if directory == ".." || directory.starts_with("../") || directory.starts_with('/') {
                let next = format!("/src/{}", outside.len() + 1);
                outside.entry(directory.to_owned()).or_insert(next);
            }
        }
        Self { outside }
    }

    /// The absolute path that an expression stands for.
    pub fn resolve(&self, path: &manifest::Path) -> String {
        let base = match path.base {
            PathBase::Absolute => "/".to_owned(),
            PathBase::PromptDir | PathBase::ToolDir | PathBase::Workspace => WORKSPACE.to_owned(),
            PathBase::Home => HOME.to_owned(),
            PathBase::CacheDir => CACHE_DIR.to_owned(),
            PathBase::SessionDir => SESSION_DIR.to_owned(),
            PathBase::SourceDir => {
                let directory = path.source.as_deref().map_or("", paths::parent);
                match self.outside.get(directory) {
                    Some(known) => known.clone(),
                    None => paths::join(WORKSPACE, directory),
                }
            }
        };
        paths::join(&base, &path.path)
    }
}

/// Puts `runtime` on the symbolic host. `cwd` overrides the declared directory.
pub fn symbolic_runtime(
    manifest: &Manifest,
    runtime: &manifest::Runtime,
    facts: SymbolicFacts,
    cwd: Option<&manifest::Path>,
) -> Result<SymbolicRuntime, PolicyFault> {
    let directories = SymbolicDirectories::new(manifest);
    // Links of the facts apply to declared paths as well.
    let links = SymbolicHost::new(facts.clone(), SymbolicResolver::default());
    let canonical = |path: &str| {
        links
            .canonical_or_parent(path)
            .unwrap_or_else(|_| paths::normalise(path))
    };
    let absolute = |path: &manifest::Path| canonical(&directories.resolve(path));
    let roots = |roots: &[Root]| -> Vec<String> {
        roots
            .iter()
            .map(|root| match root {
                Root::Path { path } => absolute(path),
                Root::PathEnv { name, .. } => format!("{ENV_ROOTS}/{name}"),
            })
            .collect()
    };
    let write_roots = roots(&runtime.capabilities.write);
    let resolver = SymbolicResolver {
        search_path: runtime.resolver.search_path.iter().map(absolute).collect(),
        trusted_roots: runtime
            .resolver
            .trusted_roots
            .iter()
            .map(absolute)
            .collect(),
        aliases: runtime
            .resolver
            .executables
            .iter()
            .map(|executable| SymbolicAlias {
                id: executable.id.clone(),
                path: directories.resolve(&executable.path),
                trusted: executable.trusted,
                pinned: executable.sha256.is_some(),
            })
            .collect(),
        write_roots: write_roots.clone(),
    };
    let environment = environment(runtime, &facts);
    let host = SymbolicHost::new(facts, resolver);
    let roots = PolicyRoots {
        read: roots(&runtime.capabilities.read),
        write: write_roots,
    };
    let policy = compiled_policy(runtime, roots, &mut |path| {
        let path = directories.resolve(path);
        match host.canonical_or_parent(&path) {
            Ok(path) => MatcherPath::Canonical(path),
            Err(_) => MatcherPath::Unresolved(path),
        }
    })?;
    Ok(SymbolicRuntime {
        policy,
        cwd: absolute(cwd.unwrap_or(&runtime.cwd)),
        environment,
        host,
    })
}

/// `HOME` and `RIPGREP_CONFIG_PATH` as the environment of spec 06 section 2.5 would have them.
fn environment(runtime: &manifest::Runtime, facts: &SymbolicFacts) -> BTreeMap<String, String> {
    let given = facts.environment();
    let inherited: &[&str] = match runtime.environment.inherit {
        Inherit::None | Inherit::Selected => &[],
        Inherit::Safe | Inherit::AllSanitized => &["HOME"],
        Inherit::Raw => &["HOME", "RIPGREP_CONFIG_PATH"],
    };
    let mut environment: BTreeMap<String, String> = inherited
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), given.get(*name)?.clone())))
        .collect();
    for operation in &runtime.environment.operations {
        match operation {
            manifest::EnvOp::Set { name, value } => {
                environment.insert(name.clone(), value.clone());
            }
            manifest::EnvOp::Pass { name, .. } => {
                if let Some(value) = given.get(name) {
                    environment.insert(name.clone(), value.clone());
                }
            }
            manifest::EnvOp::Unset { name } => {
                environment.remove(name);
            }
            manifest::EnvOp::UnsetPrefix { prefix } => {
                environment.retain(|name, _| !name.starts_with(prefix.as_str()));
            }
            manifest::EnvOp::Path { .. } | manifest::EnvOp::PathEnv { .. } => {}
        }
    }
    environment
}
