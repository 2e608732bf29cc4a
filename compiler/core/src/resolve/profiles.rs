//! Conservative defaults and built-in profiles as data (spec 04 sections 5 and 6).
//!
//! A version is immutable: a changed value needs a new version of the profile.

use super::reference::BUILTIN;
use super::report::nearest;
use crate::manifest::{
    Action, ApprovalProvider, Inherit, Limits, PathBase, Sandbox, Scope, Unavailable, When,
};

/// Values of a runtime that no document wrote. What is not here is equal for all of them: no
/// `pipefail`, no executables, no relative search path, no environment operations, no declared
/// confinement, no reviewers, interceptors, analyzers or secrets, no audit.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) cwd: PathBase,
    pub(crate) sandbox: Sandbox,
    pub(crate) network: bool,
    pub(crate) child_processes: bool,
    pub(crate) arbitrary_code: bool,
    pub(crate) privilege_change: bool,
    pub(crate) read: &'static [Place],
    pub(crate) write: &'static [Place],
    pub(crate) search_path: &'static [&'static str],
    pub(crate) trusted_roots: &'static [&'static str],
    pub(crate) inherit: Inherit,
    pub(crate) limits: Limits,
    pub(crate) backends: &'static [BuiltinBackend],
    pub(crate) policy: Action,
    pub(crate) rules: &'static [BuiltinRule],
    pub(crate) provider: ApprovalProvider,
    pub(crate) unavailable: Unavailable,
    pub(crate) scopes: &'static [Scope],
    pub(crate) durable: bool,
}

/// A root of a built-in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// A variable itself.
    Base(PathBase),
    /// An absolute path.
    Absolute(&'static str),
}

/// A backend of a built-in, with default options.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BuiltinBackend {
    Seatbelt(&'static str),
    Bubblewrap(&'static str),
    Direct(&'static str, When),
}

/// A rule of a built-in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltinRule {
    pub(crate) id: &'static str,
    pub(crate) action: Action,
    pub(crate) matcher: BuiltinMatcher,
}

/// A matcher of a built-in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BuiltinMatcher {
    Trusted,
    Basename(&'static str),
    All(&'static [BuiltinMatcher]),
    Any(&'static [BuiltinMatcher]),
}

const SANDBOXES: &[BuiltinBackend] = &[
    BuiltinBackend::Seatbelt("builtin-seatbelt"),
    BuiltinBackend::Bubblewrap("builtin-bubblewrap"),
];

/// Section 5: the parent of every runtime without `extends`.
pub(crate) const CONSERVATIVE: Settings = Settings {
    cwd: PathBase::ToolDir,
    sandbox: Sandbox::Required,
    network: false,
    child_processes: false,
    arbitrary_code: false,
    privilege_change: false,
    read: &[],
    write: &[],
    search_path: &[],
    trusted_roots: &[],
    inherit: Inherit::Safe,
    limits: Limits {
        wall_time_ms: 180_000,
        idle_time_ms: Some(60_000),
        max_stdin_bytes: 1_048_576,
        stdout_bytes: 1_000_000,
        stderr_bytes: 1_000_000,
        total_output_bytes: 1_500_000,
        cpu_time_ms: None,
        memory_bytes: None,
        file_size_bytes: None,
        open_files: None,
    },
    backends: SANDBOXES,
    policy: Action::Ask,
    rules: &[],
    provider: ApprovalProvider::Ui,
    unavailable: Unavailable::Deny,
    scopes: &[Scope::Once, Scope::ExactSession],
    durable: false,
};

const STANDARD: Settings = Settings {
    search_path: &["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"],
    trusted_roots: &["/usr", "/bin"],
    ..CONSERVATIVE
};

/// A profile of one version.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// Name with prefix, without version: also the alias.
    pub(crate) name: &'static str,
    /// Name with version.
    pub(crate) versioned: &'static str,
    pub(crate) settings: Settings,
}

/// Section 6.
pub(crate) const PROFILES: &[Profile] = &[
    Profile {
        name: "builtin:workspace-readonly",
        versioned: "builtin:workspace-readonly@1",
        settings: Settings {
            cwd: PathBase::Workspace,
            read: &[Place::Base(PathBase::Workspace)],
            rules: READONLY_RULES,
            ..STANDARD
        },
    },
    Profile {
        name: "builtin:workspace-development",
        versioned: "builtin:workspace-development@1",
        settings: Settings {
            cwd: PathBase::Workspace,
            sandbox: Sandbox::Preferred,
            child_processes: true,
            arbitrary_code: true,
            read: &[Place::Base(PathBase::Workspace)],
            write: &[Place::Base(PathBase::Workspace)],
            backends: &[
                BuiltinBackend::Seatbelt("builtin-seatbelt"),
                BuiltinBackend::Bubblewrap("builtin-bubblewrap"),
                BuiltinBackend::Direct("builtin-direct", When::Any),
            ],
            ..STANDARD
        },
    },
    Profile {
        name: "builtin:hook-worker",
        versioned: "builtin:hook-worker@1",
        settings: Settings {
            cwd: PathBase::SourceDir,
            arbitrary_code: true,
            read: &[Place::Base(PathBase::SourceDir)],
            limits: Limits {
                wall_time_ms: 5_000,
                idle_time_ms: Some(2_000),
                max_stdin_bytes: 1_048_576,
                stdout_bytes: 262_144,
                stderr_bytes: 65_536,
                total_output_bytes: 327_680,
                ..CONSERVATIVE.limits
            },
            policy: Action::Deny,
            provider: ApprovalProvider::None,
            ..STANDARD
        },
    },
    Profile {
        name: "builtin:yolo",
        versioned: "builtin:yolo@1",
        settings: Settings {
            cwd: PathBase::Workspace,
            trusted_roots: &["/"],
            backends: &[BuiltinBackend::Direct("builtin-direct", When::Any)],
            policy: Action::Allow,
            provider: ApprovalProvider::None,
            ..UNCONFINED
        },
    },
];

/// Section 6.5: the synthetic runtime of legacy tools.
pub(crate) const LEGACY: Settings = Settings {
    backends: &[BuiltinBackend::Direct("legacy-direct", When::Any)],
    ..UNCONFINED
};

/// Id of the synthetic runtime of legacy tools.
pub(crate) const LEGACY_ID: &str = "legacy:custom";

const UNCONFINED: Settings = Settings {
    sandbox: Sandbox::DirectUnsafe,
    network: true,
    child_processes: true,
    arbitrary_code: true,
    privilege_change: true,
    read: &[Place::Absolute("/")],
    write: &[Place::Absolute("/")],
    inherit: Inherit::Raw,
    ..CONSERVATIVE
};

const READONLY_RULES: &[BuiltinRule] = &[
    BuiltinRule {
        id: "builtin-deny-destructive",
        action: Action::Deny,
        matcher: BuiltinMatcher::Any(&[
            BuiltinMatcher::Basename("rm"),
            BuiltinMatcher::Basename("mv"),
            BuiltinMatcher::Basename("cp"),
            BuiltinMatcher::Basename("chmod"),
            BuiltinMatcher::Basename("chown"),
            BuiltinMatcher::Basename("sudo"),
        ]),
    },
    BuiltinRule {
        id: "builtin-allow-read-tools",
        action: Action::Allow,
        matcher: BuiltinMatcher::All(&[
            BuiltinMatcher::Any(&[
                BuiltinMatcher::Basename("pwd"),
                BuiltinMatcher::Basename("ls"),
                BuiltinMatcher::Basename("cat"),
                BuiltinMatcher::Basename("head"),
                BuiltinMatcher::Basename("tail"),
                BuiltinMatcher::Basename("wc"),
                BuiltinMatcher::Basename("grep"),
                BuiltinMatcher::Basename("rg"),
            ]),
            BuiltinMatcher::Trusted,
        ]),
    },
];

/// The parts of a name that may name a profile: no prefix, no version, dashes, lowercase.
fn stem(name: &str) -> String {
    let name = name.rsplit([':', '/']).next().unwrap_or_default();
    let name = name.split('@').next().unwrap_or_default();
    name.trim().to_ascii_lowercase().replace(['_', ' '], "-")
}

/// The profile that is named without its prefix or with another version.
pub(crate) fn named(name: &str) -> Option<&'static str> {
    let stem = stem(name);
    let found = PROFILES
        .iter()
        .find(|known| known.name.strip_prefix(BUILTIN) == Some(stem.as_str()));
    found.map(|known| known.versioned)
}

/// The profile that a name without one most likely means: by its stem, a part of it, or one that is
/// nearly it.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    let stems = || {
        let names = PROFILES.iter().map(|known| (known.name, known.versioned));
        names.map(|(name, versioned)| (name.strip_prefix(BUILTIN).unwrap_or(name), versioned))
    };
    let stem = stem(name);
    if stem.len() > 64 {
        return None;
    }
    let part = |known: &str| {
        known
            .split('-')
            .any(|part| part == stem && part != "workspace")
    };
    let near = || nearest(&stem, stems().map(|(known, _)| known));
    named(name).or_else(|| {
        let found = stems().find(|(known, _)| part(known));
        let found =
            found.or_else(|| near().and_then(|near| stems().find(|(known, _)| *known == near)));
        found.map(|(_, versioned)| versioned)
    })
}

/// The profile that a reference with prefix names: a version, or the alias of the newest version
/// that is compatible with version 1.
pub(crate) fn find(reference: &str) -> Option<&'static Profile> {
    PROFILES
        .iter()
        .find(|profile| profile.versioned == reference || profile.name == reference)
}
