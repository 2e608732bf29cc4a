//! Backend classes and selection (spec 06b B1.1, B1.2).

use chatmd_compiler::manifest::{Backend, Backends, Confinement, Platform, Sandbox, When};

/// Confinement class of a backend; fixed by its kind and never upgraded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The runtime itself proves the confinement.
    Verified,
    /// The document's author vouches for it.
    Declared,
    /// No confinement.
    None,
}

impl Class {
    /// Word for reports and approval requests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Declared => "declared",
            Self::None => "none",
        }
    }
}

/// Class of a declared backend.
pub fn class(backend: &Backend) -> Class {
    match backend {
        Backend::Bubblewrap { .. } | Backend::Seatbelt { .. } => Class::Verified,
        Backend::Direct { .. } => Class::None,
        Backend::External { confinement, .. } => match confinement {
            // `verified` is refused by the compiler; a manifest that holds it all the same gains
            // nothing from it.
            Confinement::Declared => Class::Declared,
            Confinement::Verified | Confinement::None => Class::None,
        },
    }
}

/// Name under which a backend is reported. `wrapper` is the canonical path of an external wrapper.
pub fn name(backend: &Backend, wrapper: Option<&str>) -> String {
    match backend {
        Backend::Bubblewrap { .. } => "linux-bubblewrap".to_owned(),
        Backend::Seatbelt { .. } => "macos-seatbelt".to_owned(),
        Backend::Direct { .. } => "direct-unsafe".to_owned(),
        Backend::External { id: Some(id), .. } => id.clone(),
        Backend::External { id: None, .. } => {
            format!("external:{}", wrapper.unwrap_or("unresolved wrapper"))
        }
    }
}

/// Declared id of a backend.
pub fn id(backend: &Backend) -> Option<&str> {
    match backend {
        Backend::Seatbelt { id, .. }
        | Backend::Bubblewrap { id, .. }
        | Backend::Direct { id, .. }
        | Backend::External { id, .. } => id.as_deref(),
    }
}

/// The word of the document for the kind of a backend.
pub fn kind(backend: &Backend) -> &'static str {
    match backend {
        Backend::Seatbelt { .. } => "seatbelt",
        Backend::Bubblewrap { .. } => "bubblewrap",
        Backend::Direct { .. } => "direct",
        Backend::External { .. } => "external",
    }
}

/// Platform predicate of a backend.
pub fn when(backend: &Backend) -> When {
    match backend {
        Backend::Seatbelt { when, .. }
        | Backend::Bubblewrap { when, .. }
        | Backend::Direct { when, .. }
        | Backend::External { when, .. } => *when,
    }
}

/// Whether a backend is declared for `platform`.
pub fn applies(backend: &Backend, platform: Platform) -> bool {
    match when(backend) {
        When::Any => true,
        When::Linux => platform == Platform::Linux,
        When::Macos => platform == Platform::Macos,
        When::Windows => platform == Platform::Windows,
    }
}

/// Indices into `backends.entries` that are declared for `platform`, in declaration order. These
/// are the ones to probe.
pub fn declared_for(backends: &Backends, platform: Platform) -> Vec<usize> {
    let entries = backends.entries.iter().enumerate();
    entries
        .filter(|(_, entry)| applies(entry, platform))
        .map(|(index, _)| index)
        .collect()
}

/// Result of probing one backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It works here.
    Usable,
    /// It does not, and why (already safe to show).
    Unusable(String),
}

/// A backend that was probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// Index into the runtime's `backends.entries`.
    pub index: usize,
    /// Name reported.
    pub name: String,
    /// Confinement class.
    pub class: Class,
    /// What the probe found.
    pub probe: Probe,
}

/// Who decides beside the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// The runtime's `sandbox`.
    pub sandbox: Sandbox,
    /// The runtime's `accept_declared_confinement`.
    pub accept_declared: bool,
    /// Administrative `require_sandbox`: backends that do not confine are out of the question.
    pub require_sandbox: bool,
}

impl Requirements {
    /// Whether a class may serve `sandbox="required"`.
    pub fn confines(&self, class: Class) -> bool {
        match class {
            Class::Verified => true,
            Class::Declared => self.accept_declared,
            Class::None => false,
        }
    }
}

/// The backend of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Index into the runtime's `backends.entries`.
    pub index: usize,
    /// Name reported.
    pub name: String,
    /// Confinement class.
    pub class: Class,
    /// Under `preferred`: confinement was wanted and none of the confining backends works. Shown in
    /// inspection and in each approval request.
    pub unconfined_fallback: bool,
}

/// No backend can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NoBackend {
    /// The reason of `sandbox_unavailable` at an invocation.
    pub message: &'static str,
    /// One `name: reason` for each declared backend, for `shell.backend_unavailable` at
    /// materialisation.
    pub reasons: Vec<String>,
}

/// Chooses from the probed backends (B1.2). `required` never falls back and nothing is inserted
/// that was not declared.
pub fn select(requirements: Requirements, probed: &[Probed]) -> Result<Choice, NoBackend> {
    let usable = |entry: &&Probed| entry.probe == Probe::Usable;
    let confining = probed
        .iter()
        .filter(usable)
        .find(|entry| requirements.confines(entry.class));
    let open = probed
        .iter()
        .filter(usable)
        .filter(|_| !requirements.require_sandbox)
        .find(|entry| !requirements.confines(entry.class));
    let (found, message) = match requirements.sandbox {
        Sandbox::Required => (confining, "no configured sandbox backend is available"),
        Sandbox::Preferred => (confining.or(open), "no execution backend is available"),
        Sandbox::DirectUnsafe => (open, "direct execution backend is unavailable"),
    };
    match found {
        Some(entry) => Ok(Choice {
            index: entry.index,
            name: entry.name.clone(),
            class: entry.class,
            unconfined_fallback: requirements.sandbox == Sandbox::Preferred
                && confining.is_none()
                && probed
                    .iter()
                    .any(|entry| requirements.confines(entry.class)),
        }),
        None => Err(NoBackend {
            message,
            reasons: reasons(requirements, probed),
        }),
    }
}

fn reasons(requirements: Requirements, probed: &[Probed]) -> Vec<String> {
    let mut reasons = Vec::with_capacity(probed.len().max(1));
    for entry in probed {
        let reason = match &entry.probe {
            Probe::Unusable(reason) => reason.as_str(),
            Probe::Usable if requirements.confines(entry.class) => {
                "it confines, and sandbox=\"direct_unsafe\" wants a backend that does not"
            }
            Probe::Usable if requirements.require_sandbox => {
                "it does not confine, and the administrator requires a sandbox"
            }
            Probe::Usable if entry.class == Class::Declared => {
                "its confinement is only declared, and accept_declared_confinement is not \"true\""
            }
            Probe::Usable => "it does not confine, and sandbox=\"required\" wants a sandbox",
        };
        reasons.push(format!("{}: {reason}", entry.name));
    }
    if reasons.is_empty() {
        reasons.push("no backend is declared for this platform".to_owned());
    }
    reasons
}

#[cfg(test)]
#[path = "backend_tests.rs"]
mod tests;
