//! Documents, messages, imports, scripts and tool forms.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "agent.duplicate_tool_name",
        Error,
        "Two tools would have the same name for the model.",
    ),
    (
        "agent.tool_construction_failed",
        Runtime,
        "A declared tool could not be set up when the agent started.",
    ),
    (
        "chatmd.assistant_status_without_id",
        Error,
        "A stored reply has a status but no id to attach it to.",
    ),
    (
        "chatmd.attribute_ignored",
        Warning,
        "An attribute is permitted here but changes nothing.",
    ),
    (
        "chatmd.attribute_too_large",
        Error,
        "A tag has too many attributes, or one value is too long.",
    ),
    (
        "chatmd.attribute_value_missing",
        Error,
        "An attribute needs a value and has none.",
    ),
    (
        "chatmd.config_invalid_value",
        Error,
        "A request parameter of `config` is empty, malformed or out of bounds.",
    ),
    (
        "chatmd.deprecated_attribute",
        Warning,
        "An obsolete attribute is written; it is ignored.",
    ),
    (
        "chatmd.document_too_large",
        Error,
        "The document is larger than 64 MiB.",
    ),
    (
        "chatmd.duplicate_attribute",
        Error,
        "An attribute is written twice on one element.",
    ),
    (
        "chatmd.duplicate_config",
        Warning,
        "Only the first `config` counts; this one is ignored.",
    ),
    (
        "chatmd.duplicate_history_id",
        Error,
        "Two items of the conversation claim the same history id.",
    ),
    (
        "chatmd.duplicate_script",
        Error,
        "Two scripts have the same id.",
    ),
    (
        "chatmd.format_syntax_error",
        Error,
        "A file with syntax errors cannot be formatted.",
    ),
    (
        "chatmd.import_content",
        Error,
        "An import stands for another file and cannot have content.",
    ),
    (
        "chatmd.import_cycle",
        Error,
        "A file imports itself, perhaps by way of others.",
    ),
    (
        "chatmd.import_depth",
        Error,
        "Imports are nested more than 128 deep.",
    ),
    (
        "chatmd.import_invalid_namespace",
        Error,
        "The namespace of an import is not a plain name.",
    ),
    (
        "chatmd.import_invalid_src",
        Error,
        "An import must name a local file by a plain path.",
    ),
    (
        "chatmd.import_limit",
        Error,
        "The document pulls in too many files or too many bytes.",
    ),
    (
        "chatmd.import_missing_src",
        Error,
        "An import does not say which file to take in.",
    ),
    (
        "chatmd.import_namespace_collision",
        Error,
        "Two imports put their declarations into the same namespace.",
    ),
    (
        "chatmd.import_namespace_in_content",
        Error,
        "Text taken into a message declares nothing, so it has no namespace.",
    ),
    (
        "chatmd.import_unavailable",
        Error,
        "An imported file cannot be read.",
    ),
    (
        "chatmd.invalid_attribute",
        Error,
        "A tag contains something that is no attribute.",
    ),
    (
        "chatmd.invalid_flag",
        Error,
        "A flag is written with a value other than true or false.",
    ),
    (
        "chatmd.invalid_history_id",
        Error,
        "A history id is not in its exact form.",
    ),
    (
        "chatmd.invalid_role",
        Error,
        "A message names a speaker that does not exist.",
    ),
    (
        "chatmd.invalid_utf8",
        Error,
        "The file is not valid UTF-8 text.",
    ),
    (
        "chatmd.literal_element",
        Warning,
        "An element in a message has no effect there and reaches the model as text.",
    ),
    (
        "chatmd.malformed_end_tag",
        Error,
        "An end tag contains more than its name.",
    ),
    (
        "chatmd.mcp_stdio_unmanaged",
        Warning,
        "An MCP server is started as a process that no shell policy governs.",
    ),
    (
        "chatmd.meta_refine_ignored",
        Warning,
        "The marker for rewriting the prompt is ignored.",
    ),
    (
        "chatmd.mismatched_tag",
        Error,
        "An end tag closes something other than the open element.",
    ),
    (
        "chatmd.misplaced_element",
        Error,
        "This element belongs inside a message.",
    ),
    (
        "chatmd.missing_attribute",
        Error,
        "A message or content element lacks an attribute that it needs.",
    ),
    (
        "chatmd.multiple_moderators",
        Error,
        "A document can have only one moderator script.",
    ),
    (
        "chatmd.nesting_too_deep",
        Error,
        "Elements are nested more than 256 deep.",
    ),
    (
        "chatmd.nul_byte",
        Error,
        "The file contains a NUL character.",
    ),
    (
        "chatmd.reserved_attribute",
        Error,
        "Attributes starting with `ochat-` are reserved.",
    ),
    (
        "chatmd.role_conflict",
        Error,
        "The element name already says who speaks.",
    ),
    (
        "chatmd.script_conflicting_source",
        Error,
        "A script has both a file and a body.",
    ),
    (
        "chatmd.script_empty_source",
        Error,
        "A script has no program.",
    ),
    (
        "chatmd.script_id_required",
        Error,
        "A script used by a shell runtime needs an id.",
    ),
    (
        "chatmd.script_invalid_encoding",
        Error,
        "The program of a script is not plain UTF-8 text.",
    ),
    (
        "chatmd.script_invalid_id",
        Error,
        "The id of a script is not a plain name.",
    ),
    (
        "chatmd.script_invalid_kind",
        Error,
        "The kind of a script is not one of the extension points.",
    ),
    (
        "chatmd.script_invalid_language",
        Error,
        "Scripts are written in ChatML only.",
    ),
    (
        "chatmd.script_invalid_limit",
        Error,
        "A limit of a script is malformed or out of bounds.",
    ),
    (
        "chatmd.script_source_too_large",
        Error,
        "The program of a script is larger than 1 MiB.",
    ),
    (
        "chatmd.script_source_unavailable",
        Error,
        "The file of a script cannot be read.",
    ),
    (
        "chatmd.script_trailing_text",
        Error,
        "Something follows the RAW block that holds the program.",
    ),
    (
        "chatmd.too_many_diagnostics",
        Error,
        "There are more findings than are shown.",
    ),
    (
        "chatmd.tool_conflicting_source",
        Error,
        "A tool says in two ways what it is.",
    ),
    (
        "chatmd.tool_empty_agent",
        Error,
        "An agent tool does not name its prompt.",
    ),
    (
        "chatmd.tool_empty_mcp_server",
        Error,
        "An MCP tool does not name its server.",
    ),
    (
        "chatmd.tool_invalid_agent",
        Error,
        "The prompt of an agent tool is neither a usable path nor an http(s) address.",
    ),
    (
        "chatmd.tool_invalid_env_name",
        Error,
        "A credential of an MCP tool is not the name of a variable.",
    ),
    (
        "chatmd.tool_invalid_include",
        Error,
        "The list of tools to take from a server has an empty or repeated entry.",
    ),
    (
        "chatmd.tool_invalid_mcp_server",
        Error,
        "The address of an MCP server has an unknown scheme.",
    ),
    (
        "chatmd.tool_invalid_name",
        Error,
        "A tool name may hold letters, digits, `_` and `-` only.",
    ),
    ("chatmd.tool_name_required", Error, "A tool needs a name."),
    (
        "chatmd.tool_reserved",
        Warning,
        "The tool name is a placeholder without function.",
    ),
    (
        "chatmd.tool_unknown_attribute",
        Error,
        "This form of tool has no such attribute.",
    ),
    (
        "chatmd.tool_unknown_builtin",
        Error,
        "No built-in tool has this name.",
    ),
    (
        "chatmd.top_level_text",
        Error,
        "Text stands outside every message.",
    ),
    (
        "chatmd.unclosed_element",
        Error,
        "An element is never closed.",
    ),
    (
        "chatmd.unexpected_content",
        Error,
        "This element must be empty.",
    ),
    (
        "chatmd.unexpected_end_tag",
        Error,
        "An end tag closes nothing.",
    ),
    (
        "chatmd.unknown_attribute",
        Warning,
        "The element has no attribute of this name.",
    ),
    (
        "chatmd.unknown_element",
        Error,
        "There is no element of this name.",
    ),
    (
        "chatmd.unknown_entity",
        Warning,
        "The value contains an entity that is not decoded.",
    ),
    (
        "chatmd.unquoted_attribute",
        Warning,
        "An attribute value is written without quotes.",
    ),
    (
        "chatmd.unterminated_attribute",
        Error,
        "A quoted value is never closed.",
    ),
    (
        "chatmd.unterminated_comment",
        Error,
        "A comment is never closed.",
    ),
    (
        "chatmd.unterminated_raw",
        Error,
        "A RAW block is never closed.",
    ),
    ("chatmd.unterminated_tag", Error, "A tag is never closed."),
    (
        "chatmd.unused_moderator_runtime",
        Warning,
        "A runtime is given to a moderator that does not exist.",
    ),
    (
        "chatmd.unused_script",
        Warning,
        "No runtime uses this script.",
    ),
    (
        "read_file.duplicate_root",
        Error,
        "Two roots of the file reader have the same id.",
    ),
    (
        "read_file.host_wide_root",
        Warning,
        "The file reader may read the whole host.",
    ),
    (
        "read_file.invalid_element",
        Error,
        "Internal: the reader of `read_file` tools was given another element.",
    ),
    (
        "read_file.invalid_name",
        Error,
        "The tool name has spaces around it.",
    ),
    (
        "read_file.invalid_path",
        Error,
        "A root of the file reader is not a usable path.",
    ),
    (
        "read_file.invalid_root_id",
        Error,
        "The id of a root is blank, too long or has control characters.",
    ),
    (
        "read_file.unexpected_child",
        Error,
        "A file reader holds `read` elements only.",
    ),
    (
        "read_file.unexpected_text",
        Error,
        "A file reader holds no text.",
    ),
    (
        "shell.ambiguous_source_directory",
        Error,
        "Internal: two source files share one key.",
    ),
    (
        "shell.duplicate_moderator_runtime",
        Error,
        "Only one runtime can serve the moderator.",
    ),
    (
        "shell.duplicate_runtime",
        Error,
        "Two runtimes have the same id.",
    ),
    (
        "shell.duplicate_script",
        Error,
        "Two scripts with one id were handed to the manifest compiler.",
    ),
    (
        "shell.duplicate_tool",
        Error,
        "Two tools would have the same name for the model.",
    ),
    (
        "shell.invalid_moderator_runtime",
        Error,
        "Internal: the reader of `moderator_runtime` was given another element.",
    ),
    (
        "shell.moderator_runtime_content",
        Error,
        "A `moderator_runtime` element must be empty.",
    ),
];
