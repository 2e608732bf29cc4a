//! Extensions and hooks.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "shell.audit_filter_failed",
        Runtime,
        "An audit filter failed; the event was recorded without the fields that it could have changed.",
    ),
    (
        "shell.chatml_codec",
        Runtime,
        "A value passed to or from a script has the wrong shape or version.",
    ),
    (
        "shell.chatml_compile",
        Error,
        "A script does not compile for its extension point.",
    ),
    (
        "shell.chatml_instantiate",
        Runtime,
        "A script could not be started.",
    ),
    (
        "shell.chatml_restore",
        Runtime,
        "The stored state of a script cannot be restored.",
    ),
    (
        "shell.chatml_runtime",
        Runtime,
        "A script failed or exceeded a limit.",
    ),
    (
        "shell.chatml_snapshot",
        Runtime,
        "The state of a script cannot be stored.",
    ),
    (
        "shell.extension_snapshot_duplicate",
        Runtime,
        "Two stored states fit one extension.",
    ),
    (
        "shell.extension_snapshot_secret",
        Runtime,
        "The state of an extension contains a secret.",
    ),
    (
        "shell.hook_action",
        Runtime,
        "A hook asked for something that it may not do.",
    ),
    (
        "shell.hook_encoding",
        Runtime,
        "A request to a hook cannot be written as text.",
    ),
    ("shell.hook_execution", Runtime, "A hook could not be run."),
    (
        "shell.hook_input_limit",
        Runtime,
        "The request to a hook is too large.",
    ),
    (
        "shell.hook_nonzero_exit",
        Runtime,
        "A hook ended unsuccessfully.",
    ),
    (
        "shell.hook_output_limit",
        Runtime,
        "A hook answered too much.",
    ),
    (
        "shell.hook_protocol",
        Runtime,
        "The answer of a hook is not exactly one valid object.",
    ),
    (
        "shell.hook_reject",
        Runtime,
        "A hook rejected the command or its result.",
    ),
    (
        "shell.hook_request_id",
        Runtime,
        "The answer of a hook belongs to another request.",
    ),
    (
        "shell.hook_rewrite",
        Runtime,
        "A hook proposed a command that cannot be used.",
    ),
    (
        "shell.hook_scope",
        Runtime,
        "A reviewer granted a scope that was not offered.",
    ),
    (
        "shell.hook_timeout",
        Runtime,
        "A hook did not answer in time.",
    ),
    (
        "shell.reviewer_configuration",
        Runtime,
        "The settings of the model reviewer are missing or unreadable.",
    ),
    (
        "shell.worker_runtime_unavailable",
        Runtime,
        "The runtime that should run a hook is not running.",
    ),
];
