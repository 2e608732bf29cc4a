//! The directories that path variables denote (spec 02 section 3).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chatmd_compiler::manifest::{Manifest, PathBase};

use crate::host::Snapshot;

/// Folder of this product below a cache directory.
const CACHE_FOLDER: &str = "chatmd";

/// Directories of the path variables, not yet canonical. `None`: the host has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostDirs {
    /// Directory of the root document.
    pub prompt_dir: Option<PathBuf>,
    /// Working directory chosen by the invocation.
    pub tool_dir: Option<PathBuf>,
    /// Workspace root.
    pub workspace: Option<PathBuf>,
    /// Product cache directory.
    pub cache_dir: Option<PathBuf>,
    /// Home directory of the user.
    pub home: Option<PathBuf>,
    /// Directory owned by the session; never bound.
    pub session_dir: Option<PathBuf>,
}

impl HostDirs {
    /// The defaults of the command lines: `working` is the working directory of the process,
    /// `prompt` the directory of the root document.
    pub fn defaults(working: &Path, prompt: &Path, environment: &Snapshot) -> Self {
        let absolute = |name: &str| {
            environment
                .get(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = absolute("HOME").or_else(account_home);
        let cache = absolute("XDG_CACHE_HOME")
            .or_else(|| home.as_ref().map(|home| home.join(".cache")))
            .map(|cache| cache.join(CACHE_FOLDER));
        Self {
            prompt_dir: Some(prompt.to_path_buf()),
            tool_dir: Some(working.to_path_buf()),
            workspace: Some(working.to_path_buf()),
            cache_dir: cache,
            home,
            session_dir: None,
        }
    }

    /// For [`crate::HostInput::directories`].
    pub fn directories(&self) -> BTreeMap<PathBase, PathBuf> {
        [
            (PathBase::PromptDir, &self.prompt_dir),
            (PathBase::ToolDir, &self.tool_dir),
            (PathBase::Workspace, &self.workspace),
            (PathBase::CacheDir, &self.cache_dir),
            (PathBase::Home, &self.home),
            (PathBase::SessionDir, &self.session_dir),
        ]
        .into_iter()
        .filter_map(|(base, path)| Some((base, path.clone()?)))
        .collect()
    }

    /// For [`crate::HostInput::source_dirs`]: the directory of every source of a manifest, which
    /// are named relative to the root document.
    pub fn source_dirs(&self, manifest: &Manifest) -> BTreeMap<String, PathBuf> {
        let Some(prompt) = &self.prompt_dir else {
            return BTreeMap::new();
        };
        let directory = |source: &str| prompt.join(source).parent().map(Path::to_path_buf);
        manifest
            .sources
            .iter()
            .filter_map(|source| Some((source.path.clone(), directory(&source.path)?)))
            .collect()
    }
}

/// Home directory of the account, when the environment has no usable one.
fn account_home() -> Option<PathBuf> {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid())
        .ok()
        .flatten()?;
    Some(user.dir).filter(|home| home.is_absolute())
}
