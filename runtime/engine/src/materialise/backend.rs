//! Choosing and probing the backend of a runtime (06b B1.2, B1.3).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chatmd_compiler::manifest::{self, Backend, DevMode, Manifest, Platform};
use chatmd_facts::Host;
use chatmd_plan::backend::{self, Choice, Probe, Probed, Requirements};
use chatmd_plan::bubblewrap::Settings;
use chatmd_plan::seccomp::Arch;

use super::Problem;
use crate::sandbox::Wrapper;

/// The backend that runs the commands of a runtime.
#[derive(Debug)]
pub struct SelectedBackend {
    /// Name, class and whether it is a fallback.
    pub choice: Choice,
    /// How it works.
    pub kind: SelectedKind,
    /// Every backend that is declared for this platform, in order.
    pub examined: Vec<Examined>,
}

/// A declared backend and whether it can be used here.
#[derive(Debug)]
pub struct Examined {
    /// Declared id, else the name under which it is reported.
    pub id: String,
    /// Word of the document.
    pub kind: &'static str,
    /// `verified`, `declared` or `none`.
    pub confinement: &'static str,
    /// Why it can not be used; `None`: it can.
    pub reason: Option<String>,
    /// Commands run in this one.
    pub selected: bool,
}

/// What a selected backend needs.
#[derive(Debug)]
pub enum SelectedKind {
    /// bubblewrap with these settings.
    Bubblewrap {
        /// The pinned wrapper.
        wrapper: Arc<Wrapper>,
        /// Settings of backend and ceilings.
        settings: Settings,
    },
    /// No confinement.
    Direct,
}

/// Wrappers found so far, by declared path.
#[derive(Default)]
pub(super) struct Wrappers(BTreeMap<Option<PathBuf>, Result<Arc<Wrapper>, String>>);

impl Wrappers {
    async fn find(&mut self, declared: Option<PathBuf>) -> Result<Arc<Wrapper>, String> {
        if let Some(known) = self.0.get(&declared) {
            return known.clone();
        }
        let found = Wrapper::find(declared.as_deref()).await.map(Arc::new);
        self.0.insert(declared, found.clone());
        found
    }
}

/// Probes the declared backends in order and chooses one.
pub(super) async fn select(
    host: &Host,
    runtime: &manifest::Runtime,
    wrappers: &mut Wrappers,
) -> Result<SelectedBackend, Problem> {
    let declared = &runtime.backends;
    let mut probed = Vec::new();
    let mut found: BTreeMap<usize, Arc<Wrapper>> = BTreeMap::new();
    for index in backend::declared_for(declared, Platform::Linux) {
        let Some(entry) = declared.entries.get(index) else {
            continue;
        };
        let probe = match probe(host, entry, wrappers).await {
            Ok(wrapper) => {
                found.extend(wrapper.map(|wrapper| (index, wrapper)));
                Probe::Usable
            }
            Err(reason) => Probe::Unusable(reason),
        };
        probed.push(Probed {
            index,
            name: backend::name(entry, None),
            class: backend::class(entry),
            probe,
        });
    }
    let requirements = Requirements {
        sandbox: runtime.capabilities.sandbox,
        accept_declared: declared.accept_declared_confinement,
        require_sandbox: false,
    };
    let choice = backend::select(requirements, &probed).map_err(|none| {
        let message = format!("{} ({})", none.message, none.reasons.join("; "));
        Problem::new("shell.backend_unavailable", message)
    })?;
    let kind = match (
        declared.entries.get(choice.index),
        found.remove(&choice.index),
    ) {
        (
            Some(Backend::Bubblewrap {
                private_tmp,
                proc,
                dev,
                ..
            }),
            Some(wrapper),
        ) => SelectedKind::Bubblewrap {
            wrapper,
            settings: settings(runtime, *private_tmp, *proc, *dev),
        },
        _ => SelectedKind::Direct,
    };
    let examined = probed.iter().filter_map(|probed| {
        let entry = declared.entries.get(probed.index)?;
        Some(Examined {
            id: backend::id(entry).unwrap_or(&probed.name).to_owned(),
            kind: backend::kind(entry),
            confinement: probed.class.as_str(),
            reason: match &probed.probe {
                Probe::Usable => None,
                Probe::Unusable(reason) => Some(reason.clone()),
            },
            selected: probed.index == choice.index,
        })
    });
    Ok(SelectedBackend {
        examined: examined.collect(),
        choice,
        kind,
    })
}

fn settings(runtime: &manifest::Runtime, private_tmp: bool, proc: bool, dev: DevMode) -> Settings {
    Settings {
        private_tmp,
        proc,
        dev,
        network: runtime.capabilities.network,
        child_processes: runtime.capabilities.child_processes,
        privilege_change: runtime.capabilities.privilege_change,
        disable_userns: true,
        hold: true,
        arch: Arch::host(),
    }
}

/// The sandbox wrappers that a document names by path. One that can not be resolved is reported when
/// its runtime looks for it.
pub(super) fn declared_wrappers(host: &Host, manifest: &Manifest) -> Vec<PathBuf> {
    let entries = manifest
        .runtimes
        .iter()
        .flat_map(|runtime| &runtime.backends.entries);
    entries
        .filter_map(|entry| match entry {
            Backend::Bubblewrap { executable, .. } => executable.as_ref(),
            _ => None,
        })
        .filter_map(|path| host.resolve(path).ok())
        .collect()
}

/// Whether a backend can be used here. The held start of each command is its own proof (06b B1.3).
async fn probe(
    host: &Host,
    entry: &Backend,
    wrappers: &mut Wrappers,
) -> Result<Option<Arc<Wrapper>>, String> {
    match entry {
        Backend::Direct { .. } => Ok(None),
        Backend::Bubblewrap { executable, .. } => {
            let declared = match executable {
                Some(path) => Some(host.resolve(path).map_err(|error| error.to_string())?),
                None => None,
            };
            wrappers.find(declared).await.map(Some)
        }
        Backend::Seatbelt { .. } => Err("it exists on macOS only".to_owned()),
        Backend::External { .. } => Err("this version does not start external wrappers".to_owned()),
    }
}
