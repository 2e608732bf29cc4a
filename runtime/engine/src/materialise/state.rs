//! What all runtimes of a registry share: facts about the system, the runtime's own files that no
//! command may see, and the marker file that proves a sandbox hides them.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use chatmd_facts::sandbox_facts::{
    ControlInput, audit_file, control_paths, state_path, system_facts,
};
use chatmd_facts::{CanonicalPath, Host};
use chatmd_plan::facts::{ControlPath, StatePath, SystemFacts};

use chatmd_compiler::manifest::PathBase;

use super::{HostSettings, Problem};
use crate::audit::load::ROTATED_MAX;
use crate::audit::secure_file::sibling;

/// A private file of the host that must not be visible in any sandbox (06b B1.3).
#[derive(Debug)]
pub struct Marker {
    path: PathBuf,
}

impl Marker {
    /// In the session's private folder, where what a killed host leaves is found again.
    fn new(session_dir: &Path) -> std::io::Result<Self> {
        let folder = session_dir.join(".chatmd");
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let path = folder.canonicalize()?.join("marker");
        fs::write(&path, b"not for commands\n")?;
        Ok(Self { path })
    }

    /// The file; `None` when a root covers it.
    pub fn outside<'a>(&self, mut roots: impl Iterator<Item = &'a CanonicalPath>) -> Option<&Path> {
        let covered = roots.any(|root| self.path.starts_with(root.as_path()));
        (!covered).then_some(self.path.as_path())
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        // It is of no use to anybody, and harms nobody where it stays.
        let _ = fs::remove_file(&self.path);
    }
}

/// A log with its head record, its lock and its older files, as far as they exist.
fn log_files(log: &Path) -> impl Iterator<Item = StatePath> {
    let beside = ["", ".head", ".lock"].map(|suffix| sibling(log, suffix));
    let log = log.to_path_buf();
    let older = (1..=ROTATED_MAX).map_while(move |n| audit_file(&sibling(&log, &format!(".{n}"))));
    let beside = beside.into_iter().filter_map(|path| audit_file(&path));
    beside.chain(older)
}

/// Facts and files that all runtimes share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) system: SystemFacts,
    state: Vec<PathBuf>,
    /// The audit logs that the runtimes of the document place by path.
    logs: Vec<PathBuf>,
    /// The document's files and the wrappers that it names: a command that could write one of them
    /// would decide what later runs may do.
    sources: Vec<PathBuf>,
    projects: Vec<CanonicalPath>,
    pub(crate) marker: Marker,
}

impl Shared {
    pub(super) fn new(
        host: &Host,
        settings: &HostSettings,
        logs: Vec<PathBuf>,
        wrappers: Vec<PathBuf>,
    ) -> Result<Self, Problem> {
        let failed = |message: String| Problem::new("shell.runtime_instantiation_failed", message);
        let marker = Marker::new(&settings.session_dir).map_err(|error| {
            failed(format!(
                "the private folder of the runtime can not be made: {error}"
            ))
        })?;
        let system = system_facts().map_err(|error| failed(error.to_string()))?;
        let workspace = host.directory(PathBase::Workspace, None);
        Ok(Self {
            system,
            state: vec![
                settings.state.root.clone(),
                settings.state.integrity_key.clone(),
                settings.session_dir.join(".chatmd"),
            ],
            logs,
            sources: settings.sources.iter().cloned().chain(wrappers).collect(),
            projects: workspace.into_iter().collect(),
            marker,
        })
    }

    /// The runtime's own files as they stand now, and the audit files of all runtimes: no runtime
    /// may change what another one recorded. What lies below something that is covered is covered
    /// with it.
    pub(crate) fn state_paths(&self) -> Vec<StatePath> {
        let masked = self.state.iter().filter_map(|path| state_path(path));
        let logs = self.logs.iter().flat_map(|log| log_files(log));
        let mut paths: Vec<StatePath> = Vec::new();
        for path in masked.chain(logs) {
            if !paths.iter().any(|outer| path.path.starts_with(&outer.path)) {
                paths.push(path);
            }
        }
        paths
    }

    /// Files inside write roots that a person's next command would execute.
    pub(crate) fn control_paths(&self, write_roots: &[CanonicalPath]) -> Vec<ControlPath> {
        let (sources, projects) = (&self.sources, &self.projects);
        control_paths(&ControlInput {
            write_roots,
            sources,
            projects,
        })
    }
}
