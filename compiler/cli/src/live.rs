//! What a manifest means on this machine (spec 04 section 9, rule 7). Opens and hashes files, and
//! runs nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::manifest::{self, Backend, FileRole, Manifest, Platform, Runtime};
use chatmd_compiler::{Compilation, CompileOptions};
use chatmd_facts::sandbox_facts::find_wrapper;
use chatmd_facts::{BindFinding, Host, HostDirs, HostInput, Purpose, Snapshot};
use chatmd_plan::backend::{self, Probe, Probed, Requirements};
use chatmd_plan::bubblewrap::Features;
use serde::Serialize;

use crate::args::Reading;
use crate::documents::Documents;
use crate::env_file;
use crate::live_host::LiveEvaluation;

/// The live view of a manifest.
pub struct Live {
    /// The bound manifest.
    pub manifest: Manifest,
    /// Its digest.
    pub sha256: String,
    /// Warnings of binding.
    pub findings: Vec<BindFinding>,
    /// One entry for each runtime, in the order of the manifest.
    pub runtimes: Vec<LiveRuntime>,
    /// Directories and variables of this machine.
    pub host: Host,
}

/// Why there is no live view.
#[derive(Clone, Debug)]
pub struct Unavailable {
    /// One sentence.
    pub reason: String,
    /// What binding found.
    pub findings: Vec<BindFinding>,
}

impl Unavailable {
    /// For a reason outside binding.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            findings: Vec::new(),
        }
    }

    /// Whether a file is not the one that the document pins: that is an error of the document.
    pub fn is_mismatch(&self) -> bool {
        self.findings
            .iter()
            .any(|found| found.code.ends_with("_digest_mismatch"))
    }
}

/// A runtime on this machine. Members are those of spec 10 section 1.3.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct LiveRuntime {
    pub runtime: String,
    pub roots: LiveRoots,
    pub backend: Option<LiveBackend>,
    pub excluded_backends: Vec<Excluded>,
    /// What is weaker here than one would expect, or in the way of every command.
    pub warnings: Vec<String>,
}

/// Resolved roots.
#[derive(Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct LiveRoots {
    pub read: Vec<String>,
    pub write: Vec<String>,
}

/// The backend that would be chosen.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct LiveBackend {
    pub id: Option<String>,
    pub kind: &'static str,
    pub confinement: &'static str,
    pub wrapper: Option<LiveWrapper>,
}

/// The program that confines.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct LiveWrapper {
    pub path: String,
    pub sha256: String,
    /// What bubblewrap can do, where its own bytes tell.
    #[serde(skip)]
    pub features: Option<Features>,
}

/// A backend that can not be used here.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Excluded {
    pub id: Option<String>,
    pub reason: String,
}

/// The variables that `path_env` reads.
///
/// # Errors
/// One sentence when `--env-file` can not be read.
pub fn environment(reading: &Reading) -> Result<Snapshot, String> {
    match &reading.env_file {
        Some(path) => env_file::read(path),
        None => Ok(Snapshot::of_process()),
    }
}

/// Binds a manifest to this machine.
///
/// # Errors
/// Why it is unavailable.
pub fn bind(
    reading: &Reading,
    environment: Snapshot,
    compilation: &Compilation,
    documents: &Documents,
) -> Result<Live, Unavailable> {
    let Some(requested) = &compilation.manifest else {
        return Err(Unavailable::because("the document has errors"));
    };
    let here = CompileOptions::for_this_machine().platform;
    if requested.platform != here {
        let (wanted, here) = (requested.platform.as_str(), here.as_str());
        let reason = format!("compiled for {wanted}, this machine is {here}");
        return Err(Unavailable::because(reason));
    }
    let host = host(reading, environment, compilation, documents, requested);
    let bound = chatmd_facts::bind(requested, &host, Purpose::Compile).map_err(|findings| {
        let first = findings.iter().find(|found| found.error);
        let reason = first.map_or_else(
            || "binding failed".to_owned(),
            |found| format!("{}: {}", found.code, found.message),
        );
        Unavailable { reason, findings }
    })?;
    let sha256 = manifest::digest(&bound.manifest)
        .map_err(|error| Unavailable::because(error.to_string()))?;
    let mut wrappers = Wrappers {
        host: &host,
        found: BTreeMap::new(),
    };
    let runtimes: Vec<LiveRuntime> = bound
        .manifest
        .runtimes
        .iter()
        .map(|runtime| live_runtime(runtime, &bound.manifest, &mut wrappers))
        .collect();
    Ok(Live {
        manifest: bound.manifest,
        sha256,
        findings: bound.findings,
        runtimes,
        host,
    })
}

impl Live {
    /// Looks at every runtime for [`LiveRuntime::warnings`].
    pub fn examine(&mut self, compilation: &Compilation) {
        let warnings: Vec<Vec<String>> = self
            .manifest
            .runtimes
            .iter()
            .map(
                |runtime| match LiveEvaluation::of(self, runtime, compilation) {
                    Ok(host) => host.warnings(),
                    Err(errors) => errors
                        .into_iter()
                        .map(|error| format!("the runtime would not start here: {error}"))
                        .collect(),
                },
            )
            .collect();
        for (runtime, warnings) in self.runtimes.iter_mut().zip(warnings) {
            runtime.warnings = warnings;
        }
    }
}

fn host(
    reading: &Reading,
    environment: Snapshot,
    compilation: &Compilation,
    documents: &Documents,
    requested: &Manifest,
) -> Host {
    let cwd = documents.cwd();
    let absolute = |path: &Utf8PathBuf| cwd.join(path).into_std_path_buf();
    let prompt: &Utf8Path = &compilation.directory;
    let mut directories = HostDirs::defaults(cwd.as_std_path(), prompt.as_std_path(), &environment);
    let given = |option: &Option<Utf8PathBuf>, default: Option<PathBuf>| {
        option.as_ref().map(absolute).or(default)
    };
    directories.workspace = given(&reading.workspace, directories.workspace);
    directories.tool_dir = given(&reading.tool_dir, directories.tool_dir);
    directories.cache_dir = given(&reading.cache_dir, directories.cache_dir);
    directories.home = given(&reading.home, directories.home);
    directories.session_dir = given(&reading.session_dir, directories.session_dir);
    Host::new(HostInput {
        directories: directories.directories(),
        source_dirs: directories.source_dirs(requested),
        environment,
        session_id: None,
    })
}

/// Bubblewrap by declared path: each is opened and hashed once.
struct Wrappers<'a> {
    host: &'a Host,
    found: BTreeMap<Option<PathBuf>, Result<LiveWrapper, String>>,
}

impl Wrappers<'_> {
    fn find(&mut self, declared: Option<&manifest::Path>) -> Result<LiveWrapper, String> {
        let path = match declared {
            Some(path) => Some(self.host.resolve(path).map_err(|error| error.to_string())?),
            None => None,
        };
        let look = || {
            let wrapper = find_wrapper(path.as_deref()).map_err(|error| error.to_string())?;
            Ok(LiveWrapper {
                path: wrapper.path().as_path().display().to_string(),
                sha256: wrapper.fingerprint().sha256.to_string(),
                features: wrapper.features().map_err(|error| error.to_string())?,
            })
        };
        self.found.entry(path.clone()).or_insert_with(look).clone()
    }
}

fn live_runtime(runtime: &Runtime, bound: &Manifest, wrappers: &mut Wrappers<'_>) -> LiveRuntime {
    let entries = &runtime.backends.entries;
    let mut probed = Vec::new();
    let mut used: BTreeMap<usize, LiveWrapper> = BTreeMap::new();
    for index in backend::declared_for(&runtime.backends, bound.platform) {
        let Some(entry) = entries.get(index) else {
            continue;
        };
        let probe = match look(entry, runtime, bound, wrappers) {
            Ok(wrapper) => {
                used.extend(wrapper.map(|wrapper| (index, wrapper)));
                Probe::Usable
            }
            Err(reason) => Probe::Unusable(reason),
        };
        let name = backend::name(entry, None);
        probed.push(Probed {
            index,
            name,
            class: backend::class(entry),
            probe,
        });
    }
    let requirements = Requirements {
        sandbox: runtime.capabilities.sandbox,
        accept_declared: runtime.backends.accept_declared_confinement,
        require_sandbox: false,
    };
    let chosen = backend::select(requirements, &probed)
        .ok()
        .and_then(|choice| {
            let entry = entries.get(choice.index)?;
            Some(LiveBackend {
                id: backend::id(entry).map(str::to_owned),
                kind: backend::kind(entry),
                confinement: choice.class.as_str(),
                wrapper: used.get(&choice.index).cloned(),
            })
        });
    let excluded = probed.iter().filter_map(|probed| match &probed.probe {
        Probe::Unusable(reason) => {
            let id = entries
                .get(probed.index)
                .and_then(|entry| backend::id(entry).map(str::to_owned));
            Some(Excluded {
                id,
                reason: reason.clone(),
            })
        }
        Probe::Usable => None,
    });
    let binding = bound.binding.as_ref();
    let roots = binding.and_then(|b| b.roots.iter().find(|roots| roots.runtime == runtime.id));
    LiveRuntime {
        runtime: runtime.id.clone(),
        roots: roots
            .map(|roots| LiveRoots {
                read: roots.read.clone(),
                write: roots.write.clone(),
            })
            .unwrap_or_default(),
        backend: chosen,
        excluded_backends: excluded.collect(),
        warnings: Vec::new(),
    }
}

/// Whether a backend's program is there. Nothing is started, so this promises less than a probe.
fn look(
    entry: &Backend,
    runtime: &Runtime,
    bound: &Manifest,
    wrappers: &mut Wrappers<'_>,
) -> Result<Option<LiveWrapper>, String> {
    match entry {
        Backend::Bubblewrap { executable, .. } => wrappers.find(executable.as_ref()).map(Some),
        Backend::Direct { .. } => Ok(None),
        Backend::Seatbelt { .. } if bound.platform == Platform::Macos => Ok(None),
        Backend::Seatbelt { .. } => Err("only on macos".to_owned()),
        Backend::External { id, .. } => {
            let owner = format!(
                "runtime:{}/{}",
                runtime.id,
                id.as_deref().unwrap_or("external")
            );
            let files = bound.binding.iter().flat_map(|binding| &binding.files);
            let mut wrapper =
                files.filter(|file| file.role == FileRole::ExternalBackend && file.owner == owner);
            let file = wrapper.next().ok_or("its program is not bound")?;
            let sha256 = file.sha256.clone().ok_or("its program does not exist")?;
            Ok(Some(LiveWrapper {
                path: file.path.clone(),
                sha256,
                features: None,
            }))
        }
    }
}
