//! Shell tools.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "shell.invalid_argument_bounds",
        Error,
        "Bounds on the arguments contradict each other.",
    ),
    (
        "shell.legacy_attribute",
        Error,
        "The old command form has no such attribute.",
    ),
    (
        "shell.legacy_tool",
        Warning,
        "The old command form runs without a sandbox.",
    ),
    (
        "shell.raw_prefix_scope",
        Warning,
        "Approving a prefix of a raw shell command approves every script.",
    ),
    (
        "shell.script_not_executable",
        Error,
        "A script tool has neither an interpreter nor an executable file.",
    ),
    (
        "shell.tool_argument_too_large",
        Invocation,
        "An argument is too long.",
    ),
    (
        "shell.tool_arguments_forbidden",
        Invocation,
        "The tool takes no arguments.",
    ),
    (
        "shell.tool_arguments_required",
        Invocation,
        "The tool needs its arguments.",
    ),
    (
        "shell.tool_chain_parse",
        Invocation,
        "The command does not fit the supported grammar.",
    ),
    (
        "shell.tool_command_required",
        Invocation,
        "The tool needs a command.",
    ),
    (
        "shell.tool_command_too_large",
        Invocation,
        "The command is too long or has too many parts.",
    ),
    (
        "shell.tool_conflicting_command",
        Error,
        "The command of a tool is given twice.",
    ),
    (
        "shell.tool_conflicting_script",
        Error,
        "A script runs either by its interpreter or by itself.",
    ),
    (
        "shell.tool_duplicate_attribute",
        Error,
        "An attribute handed over by an embedder is repeated.",
    ),
    (
        "shell.tool_duplicate_input",
        Invocation,
        "A field of the input is repeated.",
    ),
    (
        "shell.tool_field_forbidden",
        Invocation,
        "The input has a field of another mode.",
    ),
    (
        "shell.tool_input_too_large",
        Invocation,
        "The input is too large.",
    ),
    (
        "shell.tool_invalid_attribute",
        Error,
        "An attribute of a tool has a value that is not permitted.",
    ),
    (
        "shell.tool_invalid_fixed_command",
        Error,
        "The compact command is not exactly one simple command.",
    ),
    (
        "shell.tool_invalid_input",
        Invocation,
        "The input is not an object with fields of the right types.",
    ),
    (
        "shell.tool_invalid_mode",
        Error,
        "There is no such tool mode.",
    ),
    (
        "shell.tool_invalid_name",
        Error,
        "A tool name may hold letters, digits, `_` and `-` only.",
    ),
    (
        "shell.tool_invalid_path",
        Error,
        "A path of a tool is malformed or names an unknown variable.",
    ),
    (
        "shell.tool_invalid_type",
        Error,
        "The only tool type is `shell`.",
    ),
    (
        "shell.tool_missing_attribute",
        Error,
        "A tool lacks an attribute that it needs.",
    ),
    (
        "shell.tool_missing_command",
        Error,
        "A tool does not say what to run.",
    ),
    (
        "shell.tool_mode_attribute",
        Error,
        "The attribute belongs to another tool mode.",
    ),
    (
        "shell.tool_mode_child",
        Error,
        "This form of tool takes no such element.",
    ),
    (
        "shell.tool_never_permitted",
        Warning,
        "The runtime lacks a capability that every call needs.",
    ),
    (
        "shell.tool_nonzero",
        Invocation,
        "The command ended unsuccessfully.",
    ),
    (
        "shell.tool_nul_byte",
        Invocation,
        "The input contains a NUL character.",
    ),
    (
        "shell.tool_program_required",
        Invocation,
        "The tool needs a program.",
    ),
    (
        "shell.tool_rationale_forbidden",
        Invocation,
        "The tool takes no rationale.",
    ),
    (
        "shell.tool_rationale_required",
        Invocation,
        "The tool needs a rationale.",
    ),
    (
        "shell.tool_runtime_missing",
        Invocation,
        "The runtime of the tool is not running.",
    ),
    (
        "shell.tool_script_missing",
        Invocation,
        "The script of the tool was not prepared.",
    ),
    (
        "shell.tool_script_required",
        Invocation,
        "The tool needs the text of a script.",
    ),
    (
        "shell.tool_script_too_large",
        Invocation,
        "The script is too long for one argument.",
    ),
    (
        "shell.tool_secret_missing",
        Runtime,
        "The variable of a secret argument is not set.",
    ),
    (
        "shell.tool_secret_unavailable",
        Warning,
        "The variable of a secret argument can never reach the command.",
    ),
    (
        "shell.tool_status_hidden",
        Info,
        "The model cannot tell a failed command from a successful one.",
    ),
    (
        "shell.tool_stdin_forbidden",
        Invocation,
        "The tool takes no standard input.",
    ),
    (
        "shell.tool_stdin_required",
        Invocation,
        "The tool needs standard input.",
    ),
    (
        "shell.tool_stdin_too_large",
        Invocation,
        "The standard input is too large.",
    ),
    (
        "shell.tool_stream_unsupported",
        Error,
        "Output cannot be streamed before an interceptor has seen it.",
    ),
    (
        "shell.tool_too_few_arguments",
        Invocation,
        "There are too few arguments.",
    ),
    (
        "shell.tool_too_many_arguments",
        Invocation,
        "There are too many arguments.",
    ),
    (
        "shell.tool_unknown_attribute",
        Error,
        "An attribute handed over by an embedder is unknown.",
    ),
    (
        "shell.tool_unknown_input",
        Invocation,
        "The input has an unknown field.",
    ),
    (
        "shell.unknown_executable",
        Error,
        "The runtime declares no executable of this name.",
    ),
];
