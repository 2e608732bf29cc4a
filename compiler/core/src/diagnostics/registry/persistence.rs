//! Persistence and audit.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "shell.approval_file_integrity",
        Runtime,
        "The file of lasting approvals was changed by someone else.",
    ),
    (
        "shell.approval_file_locked",
        Runtime,
        "The file of lasting approvals is in use.",
    ),
    (
        "shell.approval_file_read_failed",
        Runtime,
        "The file of lasting approvals cannot be read.",
    ),
    (
        "shell.approval_file_version",
        Runtime,
        "The file of lasting approvals has an unknown version.",
    ),
    (
        "shell.approval_file_write_failed",
        Runtime,
        "The file of lasting approvals cannot be written.",
    ),
    (
        "shell.approval_grant_not_found",
        Runtime,
        "There is no approval of this id.",
    ),
    (
        "shell.approval_secret_identity",
        Runtime,
        "A command that carries a secret cannot be approved for later.",
    ),
    (
        "shell.approval_session_write_failed",
        Runtime,
        "An approval for the session cannot be stored.",
    ),
    (
        "shell.audit_chain_digest",
        Runtime,
        "The digest of an audit event is wrong.",
    ),
    (
        "shell.audit_chain_invalid_tail",
        Runtime,
        "The end of an audit file is damaged.",
    ),
    (
        "shell.audit_chain_missing_digest",
        Runtime,
        "An audit event lacks its digest.",
    ),
    (
        "shell.audit_chain_previous",
        Runtime,
        "An audit event does not follow the one before it.",
    ),
    (
        "shell.audit_chain_read_failed",
        Runtime,
        "The last digest of an audit file cannot be read.",
    ),
    (
        "shell.audit_clock",
        Warning,
        "The times of the audit log go backwards.",
    ),
    (
        "shell.audit_field",
        Runtime,
        "An audit event lacks a field or has one of the wrong type.",
    ),
    (
        "shell.audit_head_mismatch",
        Runtime,
        "The audit head record contradicts the log.",
    ),
    (
        "shell.audit_in_write_root",
        Warning,
        "Commands can write to their own audit log.",
    ),
    (
        "shell.audit_json",
        Runtime,
        "A line of the audit log is not a JSON object.",
    ),
    ("shell.audit_locked", Runtime, "The audit file is in use."),
    (
        "shell.audit_management_locked",
        Runtime,
        "An administrative event could not get hold of the audit file.",
    ),
    (
        "shell.audit_management_write_failed",
        Runtime,
        "An administrative event could not be recorded.",
    ),
    (
        "shell.audit_open_failed",
        Runtime,
        "The audit log cannot be opened.",
    ),
    (
        "shell.audit_read_failed",
        Runtime,
        "The audit log cannot be read.",
    ),
    (
        "shell.audit_request_not_found",
        Runtime,
        "No audit event has this request id.",
    ),
    (
        "shell.audit_rotation_invalid",
        Runtime,
        "A rotation limit of the audit log must be positive.",
    ),
    (
        "shell.audit_schema_version",
        Runtime,
        "A line of the audit log has an unknown version.",
    ),
    (
        "shell.audit_sequence_conflict",
        Runtime,
        "Someone else wrote to the locked audit file.",
    ),
    (
        "shell.audit_sequence_gap",
        Runtime,
        "Audit events are missing.",
    ),
    (
        "shell.audit_sequence_invalid_tail",
        Runtime,
        "The last audit event has no usable number.",
    ),
    (
        "shell.audit_sequence_missing",
        Runtime,
        "The last audit event has no number.",
    ),
    (
        "shell.audit_sequence_overflow",
        Runtime,
        "The audit log has used up its numbers.",
    ),
    (
        "shell.audit_sequence_read_failed",
        Runtime,
        "The last number of an audit file cannot be read.",
    ),
    (
        "shell.audit_truncated",
        Runtime,
        "Newer audit events were removed.",
    ),
    (
        "shell.audit_truncated_tail",
        Warning,
        "The last line of the audit log is incomplete.",
    ),
    (
        "shell.audit_write_failed",
        Runtime,
        "An audit event cannot be written.",
    ),
    (
        "shell.integrity_key_missing",
        Runtime,
        "The key that protects stored state is gone.",
    ),
    (
        "shell.manifest_grant_not_found",
        Runtime,
        "There is no manifest authorisation of this id.",
    ),
    (
        "shell.session_in_use",
        Runtime,
        "Another host is using the session.",
    ),
    (
        "shell.session_invalid_id",
        Runtime,
        "This is not a session id.",
    ),
    (
        "shell.session_not_found",
        Runtime,
        "There is no session of this id.",
    ),
    (
        "shell.session_state_identity",
        Runtime,
        "A state file belongs to another session.",
    ),
    (
        "shell.session_state_integrity",
        Runtime,
        "A state file was changed by someone else.",
    ),
    (
        "shell.session_state_invalid",
        Runtime,
        "A state file is malformed or of another version.",
    ),
    (
        "shell.session_state_limit",
        Runtime,
        "The stored state of extensions is too large.",
    ),
    (
        "shell.state_in_write_root",
        Runtime,
        "Commands could change protected state.",
    ),
    (
        "shell.state_insecure_file",
        Runtime,
        "A state file has an unsafe type, owner or mode.",
    ),
    (
        "shell.state_permissions_repaired",
        Warning,
        "The mode of a state file was made stricter.",
    ),
    (
        "shell.state_unprotected",
        Warning,
        "Commands without a sandbox can change protected state.",
    ),
];
