//! Execution of commands.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "audit_unavailable",
        Invocation,
        "The command could not be recorded, and the audit policy forbids going on.",
    ),
    (
        "capability_violation",
        Invocation,
        "The command would exceed the capabilities of the runtime.",
    ),
    ("denied", Invocation, "The command was denied."),
    (
        "executable_changed",
        Invocation,
        "The program is not the one that was approved.",
    ),
    (
        "idle_timed_out",
        Invocation,
        "The command was silent for too long.",
    ),
    (
        "interceptor_rejected",
        Invocation,
        "An interceptor refused the command or failed.",
    ),
    (
        "internal_error",
        Invocation,
        "The runtime found a fault of its own.",
    ),
    (
        "output_limit_exceeded",
        Invocation,
        "The command wrote too much.",
    ),
    (
        "permission_required",
        Invocation,
        "Nobody could answer the question about this command.",
    ),
    (
        "resolution_error",
        Invocation,
        "The program could not be found or used.",
    ),
    (
        "sandbox_unavailable",
        Invocation,
        "No sandbox could be set up.",
    ),
    (
        "script_changed",
        Invocation,
        "The script is not the one that was verified.",
    ),
    (
        "shell.cwd_unreachable",
        Runtime,
        "The working directory lies outside every root of the sandbox.",
    ),
    (
        "shell.environment_missing",
        Runtime,
        "A required variable of the host is not set.",
    ),
    (
        "shell.environment_nul",
        Runtime,
        "A variable would contain a NUL character.",
    ),
    (
        "shell.environment_path_invalid",
        Runtime,
        "An element of `PATH` is relative or contains a colon.",
    ),
    (
        "shell.environment_too_large",
        Runtime,
        "The environment of the command is too large.",
    ),
    (
        "shell.environment_unresolved",
        Runtime,
        "Internal: the inheritance mode of the environment has no value.",
    ),
    (
        "shell.moderator_invalid_arguments",
        Invocation,
        "The moderator asked to run a process with malformed arguments.",
    ),
    (
        "shell.moderator_runtime_missing",
        Invocation,
        "The moderator has no runtime to run processes in.",
    ),
    (
        "shell.resource_limit_unavailable",
        Runtime,
        "The host cannot enforce a requested limit.",
    ),
    (
        "shell.runtime_instantiation_failed",
        Runtime,
        "A runtime could not be started.",
    ),
    (
        "shell.script_executable_unavailable",
        Runtime,
        "The interpreter of a script tool cannot be found.",
    ),
    (
        "shell.script_too_large",
        Runtime,
        "The file of a script tool is too large.",
    ),
    (
        "shell.script_unavailable",
        Runtime,
        "The file of a script tool is missing or no regular file.",
    ),
    (
        "shell.secret_empty",
        Warning,
        "A secret is empty and therefore ignored.",
    ),
    (
        "shell.secret_file_missing",
        Runtime,
        "The file of a required secret does not exist.",
    ),
    (
        "shell.secret_load_failed",
        Runtime,
        "A secret could not be loaded safely.",
    ),
    (
        "shell.secret_short",
        Warning,
        "A secret is so short that ordinary output will be hidden too.",
    ),
    (
        "shell.tool_missing_program",
        Runtime,
        "A fixed command reached the runtime without a program.",
    ),
    (
        "spawn_error",
        Invocation,
        "The process could not be started.",
    ),
    (
        "stdin_limit_exceeded",
        Invocation,
        "The command was given too much input.",
    ),
    ("timed_out", Invocation, "The command ran for too long."),
];
