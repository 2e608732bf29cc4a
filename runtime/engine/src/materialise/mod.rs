//! From an authorised manifest to a published registry (spec 06 section 2).
//!
//! Everything is checked before anything is published: paths, environment, secrets, executables,
//! limits, policy, backends, audit, and every tool. All problems of all runtimes are reported, and
//! any problem publishes nothing.

mod audit;
mod backend;
mod runtime;
mod state;
mod tools;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chatmd_compiler::manifest::Tool;
use chatmd_facts::Host;
use tokio::sync::Semaphore;

pub use audit::record_rejection;
pub use backend::{Examined, SelectedBackend, SelectedKind};
pub use runtime::Runtime;
pub(crate) use runtime::entry;
pub use state::Marker;
pub use tools::{Argument, PreparedMode, PreparedTool};

use crate::approval::ApprovalProvider;
use crate::audit::{Event, EventBody};
use crate::authorise::AuthorizedManifest;
use crate::journal::Moment;
use crate::refusal::Refusal;
use crate::session::StatePlaces;
use crate::warnings::Warnings;

/// Most live child processes of one registry; further commands wait.
pub const MAX_PROCESSES: usize = 64;

/// What stands in the way of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A `shell.*` code.
    pub code: &'static str,
    /// Runtime or tool that it is about, where there is one.
    pub subject: Option<String>,
    /// One sentence without secret values.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            subject: None,
            message: message.into(),
        }
    }

    fn about(mut self, subject: &str) -> Self {
        self.subject.get_or_insert_with(|| subject.to_owned());
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.subject {
            Some(subject) => write!(f, "error[{}]: {subject}: {}", self.code, self.message),
            None => write!(f, "error[{}]: {}", self.code, self.message),
        }
    }
}

/// What the host decides for all runtimes.
pub struct HostSettings {
    /// Where sessions, grants and the integrity key live. Masked in every sandbox.
    pub state: StatePlaces,
    /// The session's own directory.
    pub session_dir: PathBuf,
    /// Who answers an `ask`.
    pub approvals: Arc<dyn ApprovalProvider>,
    /// Longest wait for a person.
    pub approval_timeout: Duration,
    /// Upper bound of the wall time of every request.
    pub timeout: Option<Duration>,
    /// The document's own files: read-only inside write roots.
    pub sources: Vec<PathBuf>,
    /// For the operator.
    pub warnings: Arc<Warnings>,
}

/// One generation: immutable, shared, captured once by each invocation.
pub struct Registry {
    authorized: AuthorizedManifest,
    runtimes: BTreeMap<String, Arc<Runtime>>,
    tools: BTreeMap<String, Arc<PreparedTool>>,
    pub(crate) processes: Arc<Semaphore>,
    pub(crate) approvals: Arc<dyn ApprovalProvider>,
    pub(crate) approval_timeout: Duration,
    pub(crate) timeout: Option<Duration>,
    /// Identities approved for this session, with the ids of their grants.
    pub(crate) session_grants: Mutex<BTreeMap<String, String>>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry")
            .field("tools", &self.tools.keys())
            .finish_non_exhaustive()
    }
}

impl Registry {
    /// The manifest behind it.
    pub fn authorized(&self) -> &AuthorizedManifest {
        &self.authorized
    }

    /// A tool by name.
    pub fn tool(&self, name: &str) -> Option<&Arc<PreparedTool>> {
        self.tools.get(name)
    }

    /// Tools in manifest order.
    pub fn tools(&self) -> &[Tool] {
        &self.authorized.document().manifest.tools
    }

    /// A runtime by qualified id.
    pub fn runtime(&self, id: &str) -> Option<&Arc<Runtime>> {
        self.runtimes.get(id)
    }

    /// Writes who authorised the manifest, once into each audit file, and that each runtime lives.
    fn announce(&self) -> Result<(), Vec<Problem>> {
        let refused =
            |refusal: Refusal| vec![Problem::new("shell.audit_write_failed", refusal.reason)];
        let digest = &self.authorized.document().bound_sha256;
        let id = format!("manifest:{}", digest.get(..16).unwrap_or(digest));
        let mut told = HashSet::new();
        for runtime in self.runtimes.values() {
            if runtime
                .journal
                .path()
                .is_none_or(|path| told.insert(path.to_path_buf()))
            {
                let body = EventBody::ManifestAuthorized {
                    authorization: self.authorized.how(),
                    grant_id: None,
                    signature_key_id: None,
                    trusted_source_ids: Vec::new(),
                    admin_policy_sha256: None,
                };
                let event = Event::document(&id, body);
                runtime
                    .journal
                    .write(&event, Moment::BeforeStart)
                    .map_err(refused)?;
            }
            let tools = self
                .tools
                .values()
                .filter(|tool| tool.declared.runtime == runtime.id());
            let body = EventBody::RuntimeStarted {
                backend_names: vec![runtime.backend.choice.name.clone()],
                confinement: runtime.backend.choice.class.as_str().to_owned(),
                tool_count: tools.count() as u64,
            };
            let event = Event::request(runtime.id(), &id, body);
            runtime
                .journal
                .write(&event, Moment::BeforeStart)
                .map_err(refused)?;
        }
        Ok(())
    }

    /// Writes that each runtime ends. Called once, after the last invocation.
    pub fn close(&self, cause: &str) {
        let digest = &self.authorized.document().bound_sha256;
        let id = format!("manifest:{}", digest.get(..16).unwrap_or(digest));
        for runtime in self.runtimes.values() {
            let body = EventBody::RuntimeStopped {
                cause: cause.to_owned(),
            };
            let event = Event::request(runtime.id(), &id, body);
            // A failure is already among the warnings; there is nothing left to refuse.
            let _ = runtime.journal.write(&event, Moment::AfterStart);
        }
    }

    /// Runtimes by id.
    pub fn runtimes(&self) -> impl Iterator<Item = &Arc<Runtime>> {
        self.runtimes.values()
    }
}

/// Materialises all runtimes and tools, then publishes them as one registry.
pub async fn materialise(
    authorized: AuthorizedManifest,
    host: &Host,
    settings: HostSettings,
) -> Result<Arc<Registry>, Vec<Problem>> {
    let mut problems = Vec::new();
    authorized.bind_again(host)?;
    let logs = audit::logs(host, &authorized.document().manifest);
    audit::warn_of_logs_in_write_roots(&logs, &authorized.document().manifest, &settings);
    let logs = logs.into_values().collect();
    let wrappers = backend::declared_wrappers(host, &authorized.document().manifest);
    let shared = match state::Shared::new(host, &settings, logs, wrappers) {
        Ok(shared) => Arc::new(shared),
        Err(problem) => return Err(vec![problem]),
    };
    let mut wrappers = backend::Wrappers::default();
    let mut runtimes = BTreeMap::new();
    let manifest = &authorized.document().manifest;
    for declared in &manifest.runtimes {
        let tools: Vec<&Tool> = manifest
            .tools
            .iter()
            .filter(|tool| tool.runtime == declared.id)
            .collect();
        let work = runtime::Work {
            host,
            declared,
            tools: &tools,
            authorized: &authorized,
            settings: &settings,
            shared: &shared,
        };
        match work.build(&mut wrappers).await {
            Ok(runtime) => {
                runtimes.insert(declared.id.clone(), Arc::new(runtime));
            }
            Err(found) => {
                problems.extend(found.into_iter().map(|problem| problem.about(&declared.id)));
            }
        }
    }
    let mut tools = BTreeMap::new();
    for tool in &manifest.tools {
        // A runtime that failed has been reported; its tools add nothing.
        let Some(runtime) = runtimes.get(&tool.runtime) else {
            continue;
        };
        match tools::prepare(host, tool, runtime) {
            Ok(prepared) => {
                tools.insert(tool.name.clone(), Arc::new(prepared));
            }
            Err(found) => problems.extend(found.into_iter().map(|p| p.about(&tool.name))),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let registry = Registry {
        authorized,
        runtimes,
        tools,
        processes: Arc::new(Semaphore::new(MAX_PROCESSES)),
        approvals: settings.approvals,
        approval_timeout: settings.approval_timeout,
        timeout: settings.timeout,
        session_grants: Mutex::default(),
    };
    registry.announce()?;
    Ok(Arc::new(registry))
}
