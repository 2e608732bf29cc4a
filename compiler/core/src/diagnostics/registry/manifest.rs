//! Manifests and authority.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "authority.allow_default",
        Info,
        "Commands that no rule mentions are allowed.",
    ),
    (
        "authority.arbitrary_code",
        Info,
        "Commands may run code that the policy cannot see.",
    ),
    (
        "authority.child_processes",
        Info,
        "Commands may start further processes.",
    ),
    (
        "authority.declared_confinement",
        Info,
        "An external wrapper is believed when it says that it confines.",
    ),
    (
        "authority.direct",
        Info,
        "Commands run without a sandbox by declaration.",
    ),
    (
        "authority.direct_fallback",
        Info,
        "Commands may run without a sandbox when none works.",
    ),
    (
        "authority.durable_approvals",
        Info,
        "Approvals may outlive the session.",
    ),
    (
        "authority.effect_replacement",
        Info,
        "An analyzer may take away effects that were recognised.",
    ),
    (
        "authority.full_audit",
        Info,
        "The audit log holds complete input and output.",
    ),
    (
        "authority.legacy",
        Info,
        "Old-style tools run with unrestricted authority.",
    ),
    (
        "authority.model_reviewer",
        Info,
        "A model may approve commands.",
    ),
    (
        "authority.moderator_process",
        Info,
        "The moderator may run processes.",
    ),
    ("authority.network", Info, "Commands may use the network."),
    (
        "authority.no_audit",
        Info,
        "Powerful commands are not recorded.",
    ),
    (
        "authority.prefix_scope",
        Info,
        "One approval may cover every command with the same start.",
    ),
    (
        "authority.privilege_change",
        Info,
        "Commands may change user or privileges.",
    ),
    (
        "authority.raw_environment",
        Info,
        "Commands see every variable of the host.",
    ),
    (
        "authority.raw_shell",
        Info,
        "The model may run whole shell scripts.",
    ),
    ("authority.read", Info, "Commands may read these places."),
    (
        "authority.unpinned_hook",
        Info,
        "An extension runs a file that is not pinned.",
    ),
    (
        "authority.unrestricted",
        Info,
        "Any code runs without a sandbox and without asking.",
    ),
    ("authority.write", Info, "Commands may change these places."),
    (
        "authority.write_everything",
        Info,
        "Commands may change the whole home or file system without asking.",
    ),
    (
        "authority.yolo",
        Info,
        "The runtime rests on the profile without restrictions.",
    ),
    (
        "shell.backend_unavailable",
        Runtime,
        "No declared sandbox or backend works on this host.",
    ),
    (
        "shell.capability_path_invalid",
        Error,
        "The variable of a root does not hold an absolute path.",
    ),
    (
        "shell.capability_path_missing",
        Error,
        "The variable of a root is not set.",
    ),
    (
        "shell.directory_unavailable",
        Runtime,
        "A directory that the runtime needs does not exist.",
    ),
    (
        "shell.executable_digest_mismatch",
        Error,
        "A declared executable is not the pinned one.",
    ),
    (
        "shell.executable_unavailable",
        Runtime,
        "A declared executable is missing or cannot be run.",
    ),
    (
        "shell.external_backend_digest_mismatch",
        Error,
        "An external wrapper is not the pinned one.",
    ),
    (
        "shell.external_backend_unavailable",
        Runtime,
        "An external wrapper is missing or cannot be run.",
    ),
    (
        "shell.file_absent",
        Warning,
        "A file named by a declaration does not exist yet.",
    ),
    (
        "shell.file_changed",
        Error,
        "A file changed while it was read.",
    ),
    (
        "shell.hook_digest_mismatch",
        Error,
        "An extension executable is not the pinned one.",
    ),
    (
        "shell.hook_executable_unavailable",
        Runtime,
        "An extension executable is missing or cannot be run.",
    ),
    (
        "shell.incompatible_backend",
        Error,
        "No declared backend satisfies the sandbox mode on this platform.",
    ),
    (
        "shell.inheritance_cycle",
        Error,
        "Runtimes inherit from each other in a circle.",
    ),
    (
        "shell.manifest_digest_mismatch",
        Error,
        "A stored manifest does not have the digest that it states.",
    ),
    (
        "shell.manifest_encoding",
        Error,
        "A stored manifest is malformed or of an unknown version.",
    ),
    (
        "shell.manifest_grant_mismatch",
        Runtime,
        "The authorisation is for another manifest.",
    ),
    (
        "shell.manifest_material_mismatch",
        Error,
        "The supplied material belongs to another manifest.",
    ),
    (
        "shell.manifest_material_missing",
        Error,
        "A script text or literal secret is not available.",
    ),
    (
        "shell.manifest_too_large",
        Error,
        "Inheritance repeats more than a manifest may hold.",
    ),
    (
        "shell.path_not_utf8",
        Error,
        "A path of the host is not valid UTF-8.",
    ),
    (
        "shell.runtime_dependency_cycle",
        Error,
        "Runtimes need each other in a circle.",
    ),
    (
        "shell.search_path_cleared",
        Warning,
        "Nothing is left of the search path.",
    ),
    (
        "shell.source_dir_unavailable",
        Runtime,
        "The directory of a declaring file is not known.",
    ),
    (
        "shell.unresolved_setting",
        Error,
        "Internal: a setting has no value.",
    ),
    (
        "shell.unsupported_feature",
        Error,
        "The document needs a feature that is not supported here.",
    ),
    (
        "shell.unused_runtime",
        Warning,
        "Nothing uses this runtime.",
    ),
];
