//! Administrative policy, trust and signatures.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "shell.admin_approval_scope_denied",
        Runtime,
        "The administrator does not permit an approval scope.",
    ),
    (
        "shell.admin_arbitrary_code_denied",
        Runtime,
        "The administrator does not permit commands that run arbitrary code.",
    ),
    (
        "shell.admin_argument_denied",
        Invocation,
        "The administrator does not permit some text in the arguments.",
    ),
    (
        "shell.admin_audit_failure_required",
        Runtime,
        "The administrator demands that commands stop when they cannot be recorded.",
    ),
    (
        "shell.admin_audit_required",
        Runtime,
        "The administrator demands an audit log.",
    ),
    (
        "shell.admin_child_processes_denied",
        Runtime,
        "The administrator does not permit commands that start processes.",
    ),
    (
        "shell.admin_declared_confinement_denied",
        Runtime,
        "The administrator does not believe wrappers that claim to confine.",
    ),
    (
        "shell.admin_direct_backend_denied",
        Runtime,
        "The administrator does not permit commands without a sandbox.",
    ),
    (
        "shell.admin_durable_audit_required",
        Runtime,
        "The administrator demands a lasting audit log.",
    ),
    (
        "shell.admin_effect_denied",
        Invocation,
        "The administrator does not permit an effect of the command.",
    ),
    (
        "shell.admin_executable_hash_required",
        Runtime,
        "The administrator demands pinned executables.",
    ),
    (
        "shell.admin_external_backend_denied",
        Runtime,
        "The administrator does not permit external wrappers.",
    ),
    (
        "shell.admin_full_audit_denied",
        Runtime,
        "The administrator does not permit complete input and output in the log.",
    ),
    (
        "shell.admin_hook_hash_required",
        Runtime,
        "The administrator demands pinned hooks and wrappers.",
    ),
    (
        "shell.admin_hooks_denied",
        Runtime,
        "The administrator does not permit extensions.",
    ),
    (
        "shell.admin_insecure_file",
        Runtime,
        "An administrative file could be changed by others.",
    ),
    (
        "shell.admin_limit_cpu_time",
        Runtime,
        "The processor time is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_limit_file_size",
        Runtime,
        "The file size is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_limit_idle_time",
        Runtime,
        "The idle time is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_limit_max_stdin",
        Runtime,
        "The standard input is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_limit_memory",
        Runtime,
        "The memory is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_limit_open_files",
        Runtime,
        "The number of open files is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_limit_stderr",
        Runtime,
        "The standard error is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_limit_stdout",
        Runtime,
        "The standard output is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_limit_total_output",
        Runtime,
        "The total output is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_limit_wall_time",
        Runtime,
        "The wall time is above the ceiling of the administrator.",
    ),
    (
        "shell.admin_network_denied",
        Runtime,
        "The administrator does not permit the network.",
    ),
    (
        "shell.admin_policy_load_failed",
        Runtime,
        "The policy of the administrator cannot be read.",
    ),
    (
        "shell.admin_privilege_change_denied",
        Runtime,
        "The administrator does not permit changes of privilege.",
    ),
    (
        "shell.admin_program_denied",
        Invocation,
        "The administrator does not permit the program.",
    ),
    (
        "shell.admin_raw_environment_denied",
        Runtime,
        "The administrator does not permit the whole host environment.",
    ),
    (
        "shell.admin_raw_prefix_grant_denied",
        Runtime,
        "The administrator does not permit prefix approvals beside raw scripts.",
    ),
    (
        "shell.admin_raw_shell_denied",
        Runtime,
        "The administrator does not permit raw scripts.",
    ),
    (
        "shell.admin_read_root_denied",
        Runtime,
        "A read root lies outside what the administrator permits.",
    ),
    (
        "shell.admin_reviewer_denied",
        Runtime,
        "The administrator does not permit this kind of reviewer.",
    ),
    (
        "shell.admin_sandbox_required",
        Runtime,
        "The administrator demands a verified sandbox.",
    ),
    (
        "shell.admin_trusted_executable_required",
        Runtime,
        "The administrator demands trusted executables.",
    ),
    (
        "shell.admin_write_root_denied",
        Runtime,
        "A write root lies outside what the administrator permits.",
    ),
    (
        "shell.admin_yolo_denied",
        Runtime,
        "The administrator does not permit the profile without restrictions.",
    ),
    (
        "shell.environment_conflict",
        Warning,
        "A setting of the host is given twice with different values.",
    ),
    (
        "shell.environment_unknown",
        Warning,
        "A host setting has a name that means nothing.",
    ),
    (
        "shell.manifest_rejected",
        Runtime,
        "The manifest was not authorised.",
    ),
    (
        "shell.manifest_security_configuration_missing",
        Runtime,
        "A required trust or signature setting is not made.",
    ),
    (
        "shell.signature_algorithm",
        Runtime,
        "The signature uses an algorithm other than ed25519.",
    ),
    (
        "shell.signature_audience",
        Runtime,
        "The signature is meant for someone else.",
    ),
    (
        "shell.signature_encoding",
        Runtime,
        "The signature is not correctly encoded.",
    ),
    (
        "shell.signature_expired",
        Runtime,
        "The signature has expired.",
    ),
    (
        "shell.signature_invalid",
        Runtime,
        "The signature does not belong to this text and key.",
    ),
    (
        "shell.signature_key_missing",
        Runtime,
        "The key of the signature is not known.",
    ),
    (
        "shell.signature_key_revoked",
        Runtime,
        "The key of the signature is no longer valid.",
    ),
    (
        "shell.signature_keys_load_failed",
        Runtime,
        "The set of keys cannot be read.",
    ),
    (
        "shell.signature_load_failed",
        Runtime,
        "The signature cannot be read.",
    ),
    (
        "shell.signature_not_yet_valid",
        Runtime,
        "The signature lies in the future.",
    ),
    (
        "shell.signature_payload_mismatch",
        Runtime,
        "The signature is for another manifest.",
    ),
    (
        "shell.signature_public_key",
        Runtime,
        "A public key is malformed or weak.",
    ),
    (
        "shell.trusted_source_load_failed",
        Runtime,
        "The list of trusted sources cannot be read.",
    ),
    (
        "shell.trusted_source_mismatch",
        Runtime,
        "A source file is not on the list of trusted ones.",
    ),
];
