//! `<tool>` in all its forms (spec 01 section 13, spec 03).

use super::backends::ARG;
use super::{Attribute, Children, Codes, Element, SHELL, TEXT, Type, attr, many, once, required};
use crate::manifest::{Nonzero, Presence, ResultForm, Stream};

/// Shell tools.
pub static SHELL_TOOL_CODES: Codes = Codes {
    unknown_attribute: "shell.unknown_attribute",
    unknown_attribute_warns: false,
    bare: "shell.attribute_value_required",
    duplicate: "shell.duplicate_attribute",
    missing: "shell.tool_missing_attribute",
    incompatible: "shell.tool_mode_attribute",
    unknown_child: "shell.unknown_element",
    child_of_empty: "shell.unexpected_child",
    text: "shell.unexpected_text",
};

/// Legacy command tools.
pub static LEGACY_CODES: Codes = Codes {
    unknown_attribute: "shell.unknown_attribute",
    unknown_attribute_warns: false,
    bare: "shell.attribute_value_required",
    duplicate: "shell.duplicate_attribute",
    missing: "shell.tool_missing_attribute",
    incompatible: "shell.legacy_attribute",
    unknown_child: "shell.tool_mode_child",
    child_of_empty: "shell.tool_mode_child",
    // Without a scope the tag of a shell element is text too.
    text: "shell.tool_mode_child",
};

/// `read_file` tools.
pub static READ_FILE_CODES: Codes = Codes {
    unknown_attribute: "shell.unknown_attribute",
    unknown_attribute_warns: false,
    bare: "shell.attribute_value_required",
    duplicate: "shell.duplicate_attribute",
    missing: "shell.missing_attribute",
    incompatible: "shell.unknown_attribute",
    unknown_child: "read_file.unexpected_child",
    child_of_empty: "read_file.unexpected_child",
    text: "read_file.unexpected_text",
};

/// Agent, MCP and built-in tools.
pub static OTHER_CODES: Codes = Codes {
    unknown_attribute: "chatmd.tool_unknown_attribute",
    unknown_attribute_warns: false,
    bare: "chatmd.attribute_value_missing",
    duplicate: "chatmd.duplicate_attribute",
    missing: "chatmd.tool_name_required",
    incompatible: "chatmd.tool_unknown_attribute",
    unknown_child: "chatmd.unexpected_content",
    child_of_empty: "chatmd.unexpected_content",
    text: "chatmd.unexpected_content",
};

/// The forms of `<tool>`.
pub static FORMS: &[&Element] = &[
    &SHELL_TOOL,
    &LEGACY,
    &READ_FILE,
    &AGENT_TOOL,
    &MCP,
    &BUILTIN,
];

/// Words of `mode`.
pub const MODES: &[&str] = &["fixed", "structured", "chain", "raw", "script"];

const BAD: &str = "shell.tool_invalid_attribute";
const BAD_PATH: &str = "shell.tool_invalid_path";

/// `<tool type="shell">`.
pub static SHELL_TOOL: Element = Element {
    name: "tool",
    doc: "A tool that runs commands in a declared runtime.",
    attributes: &[
        required("name", Type::ToolName, "Name that the model calls.")
            .invalid("shell.tool_invalid_name")
            .bare_is_missing()
            .identity(),
        attr(
            "type",
            Type::Words(&["shell"]),
            "Marks a shell tool; implied by `runtime`.",
        )
        .default("shell")
        .invalid("shell.tool_invalid_type")
        .identity(),
        attr("mode", Type::Words(MODES), "What the model supplies.")
            .default("fixed")
            .invalid("shell.tool_invalid_mode"),
        required(
            "runtime",
            Type::Reference,
            "Runtime that the commands run in.",
        )
        .bare_is_missing(),
        attr(
            "description",
            Type::Text(8 * 1024),
            "Guidance for the model; grants nothing.",
        )
        .may_be_empty()
        .trimmed()
        .invalid(BAD)
        .identity(),
        attr(
            "stdin",
            Type::Words(Presence::WORDS),
            "Whether the model supplies standard input.",
        )
        .default("none")
        .invalid(BAD),
        attr(
            "rationale",
            Type::Words(Presence::WORDS),
            "Whether the model says why; absent, `none` for fixed tools and else `optional`.",
        )
        .invalid(BAD),
        attr(
            "result",
            Type::Words(ResultForm::WORDS),
            "What the model gets back.",
        )
        .default("combined")
        .invalid(BAD),
        attr(
            "stream",
            Type::Words(Stream::WORDS),
            "What is published while the command runs.",
        )
        .default("finalized")
        .invalid(BAD),
        attr(
            "nonzero",
            Type::Words(Nonzero::WORDS),
            "How an unsuccessful exit is reported.",
        )
        .default("result")
        .invalid(BAD),
        attr(
            "command",
            Type::FixedCommand,
            "The command in compact form.",
        )
        .when("mode", &["fixed"])
        .empty("shell.tool_missing_command")
        .invalid("shell.tool_invalid_fixed_command"),
        attr(
            "executable_ref",
            Type::EntryRef,
            "Declared executable to run.",
        )
        .when("mode", &["fixed"]),
        required("executable", Type::Path, "The shell.")
            .when("mode", &["raw"])
            .invalid(BAD_PATH),
        attr(
            "arguments_before_script",
            Type::JsonArray,
            "Arguments between the shell and the source text.",
        )
        .when("mode", &["raw"])
        .default("[\"-c\"]")
        .invalid(BAD),
        required("script", Type::Path, "The script file.")
            .when("mode", &["script"])
            .invalid(BAD_PATH),
        attr("interpreter", Type::Path, "Program that runs the script.")
            .when("mode", &["script"])
            .invalid(BAD_PATH),
        attr(
            "executable",
            Type::Bool,
            "The file is started itself; absent, `true` without `interpreter`.",
        )
        .when("mode", &["script"])
        .invalid(BAD),
        attr(
            "fixed_arguments",
            Type::JsonArray,
            "Arguments before those of the model.",
        )
        .when("mode", &["script"])
        .default("[]")
        .invalid(BAD),
        attr(
            "verification",
            Type::Words(&["sha256"]),
            "How the file is checked before each start.",
        )
        .when("mode", &["script"])
        .default("sha256")
        .invalid(BAD),
        attr("max_source_bytes", Type::Uint, "Largest script file.")
            .when("mode", &["script"])
            .default("1048576")
            .range(1, 16_777_216)
            .invalid(BAD)
            .out_of_range(BAD),
    ],
    children: Children::List(&[once(&COMMAND), once(&ARGUMENTS)]),
    codes: &SHELL_TOOL_CODES,
};

/// `<command>` of a fixed tool.
pub static COMMAND: Element = Element {
    name: "command",
    doc: "The program of a fixed tool with its declared arguments.",
    attributes: &[
        attr(
            "program",
            TEXT,
            "Program, as the runtime's resolver would be asked for it.",
        )
        .empty("shell.tool_missing_command"),
        attr(
            "executable_ref",
            Type::EntryRef,
            "Declared executable of the runtime.",
        ),
    ],
    children: Children::List(&[many(&ARG), many(&SECRET_ARG), many(&PATH_ARG)]),
    codes: &SHELL,
};

/// `<secret_arg>`.
pub static SECRET_ARG: Element = Element {
    name: "secret_arg",
    doc: "An argument taken from a variable of the runtime and never shown.",
    attributes: &[
        required("env", Type::Env, "The variable."),
        attr("prefix", TEXT, "Text before the value.")
            .default("")
            .may_be_empty(),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<path_arg>`.
pub static PATH_ARG: Element = Element {
    name: "path_arg",
    doc: "An argument that is an absolute path.",
    attributes: &[
        required("path", Type::Path, "The path."),
        attr(
            "base",
            Type::Variable,
            "Variable below which a relative path is taken.",
        ),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<arguments>`.
pub static ARGUMENTS: Element = Element {
    name: "arguments",
    doc: "How many arguments the model may add, and how long they may be.",
    attributes: &[
        required(
            "mode",
            Type::Words(Presence::WORDS),
            "Whether the model adds arguments.",
        ),
        bound("min_count", "Least number.", 0, 4096),
        bound("max_count", "Greatest number.", 0, 4096),
        bound("max_item_bytes", "Longest argument in bytes.", 1, 131_071),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

const fn bound(name: &'static str, doc: &'static str, low: u64, high: u64) -> Attribute {
    attr(name, Type::Uint, doc)
        .range(low, high)
        .out_of_range("shell.invalid_argument_bounds")
}

/// `<tool command="…">` without a runtime.
pub static LEGACY: Element = Element {
    name: "tool",
    doc: "The old command form, which runs without a sandbox after asking.",
    attributes: &[
        required("name", Type::ToolName, "Name that the model calls.")
            .invalid("shell.tool_invalid_name")
            .bare_is_missing()
            .trimmed()
            .identity(),
        required("command", Type::FixedCommand, "The command.")
            .missing("shell.tool_missing_command")
            .invalid("shell.tool_invalid_fixed_command")
            .trimmed(),
        attr(
            "description",
            Type::Text(8 * 1024),
            "Guidance for the model.",
        )
        .may_be_empty()
        .invalid(BAD)
        .trimmed()
        .identity(),
    ],
    children: Children::Empty,
    codes: &LEGACY_CODES,
};

/// `<tool name="read_file">`.
pub static READ_FILE: Element = Element {
    name: "tool",
    doc: "Built-in reading of text files below the declared roots.",
    attributes: &[
        required(
            "name",
            Type::Any,
            "`read_file`, or `get_contents` for the same tool.",
        )
        .identity(),
        attr("description", TEXT, "Guidance for the model.")
            .may_be_empty()
            .trimmed()
            .identity(),
    ],
    children: Children::List(&[many(&READ_FILE_ROOT)]),
    codes: &READ_FILE_CODES,
};

/// `<read>` of a `read_file` tool.
pub static READ_FILE_ROOT: Element = Element {
    name: "read",
    doc: "One directory that the tool may read from.",
    attributes: &[
        required("id", Type::Any, "Name that the model uses for the root."),
        required(
            "path",
            Type::ToolPath,
            "The directory; relative to `${tool_dir}`.",
        )
        .invalid("read_file.invalid_path"),
        attr("description", TEXT, "What the root holds.")
            .may_be_empty()
            .trimmed()
            .identity(),
    ],
    children: Children::Empty,
    codes: &READ_FILE_CODES,
};

const NAME: Attribute = required("name", Type::ToolName, "Name that the model calls.")
    .invalid("chatmd.tool_invalid_name")
    .bare_is_missing()
    .trimmed()
    .identity();
const DESCRIPTION: Attribute = attr("description", Type::Any, "Guidance for the model.")
    .may_be_empty()
    .trimmed()
    .identity();

/// `<tool agent="…">`.
pub static AGENT_TOOL: Element = Element {
    name: "tool",
    doc: "Another agent as a tool.",
    attributes: &[
        NAME,
        required(
            "agent",
            Type::Any,
            "Prompt of the agent: an http(s) address, or a path with `local`.",
        )
        .missing("chatmd.tool_empty_agent")
        .invalid("chatmd.tool_invalid_agent")
        .trimmed(),
        attr("local", Type::Flag, "`agent` is a path.").default("false"),
        DESCRIPTION,
    ],
    children: Children::Empty,
    codes: &OTHER_CODES,
};

/// `<tool mcp_server="…">`.
pub static MCP: Element = Element {
    name: "tool",
    doc: "Tools of an MCP server.",
    attributes: &[
        required(
            "mcp_server",
            Type::Any,
            "Address of the server: http, https or `stdio:`.",
        )
        .missing("chatmd.tool_empty_mcp_server")
        .invalid("chatmd.tool_invalid_mcp_server")
        .trimmed(),
        attr("name", Type::Any, "Selects one tool of the server.")
            .may_be_empty()
            .trimmed(),
        attr("include", Type::Any, "Tools to take, separated by commas.")
            .empty("chatmd.tool_invalid_include"),
        attr("includes", Type::Any, "Same as `include`.").empty("chatmd.tool_invalid_include"),
        attr("strict", Type::Flag, "Checks parameters strictly.").default("false"),
        attr(
            "client_id_env",
            Type::Env,
            "Variable that holds the client id.",
        )
        .invalid("chatmd.tool_invalid_env_name"),
        attr(
            "client_secret_env",
            Type::Env,
            "Variable that holds the client secret.",
        )
        .invalid("chatmd.tool_invalid_env_name"),
        DESCRIPTION,
    ],
    children: Children::Empty,
    codes: &OTHER_CODES,
};

/// `<tool name="…"/>` for a tool of the host.
pub static BUILTIN: Element = Element {
    name: "tool",
    doc: "A tool built into the host.",
    attributes: &[NAME, DESCRIPTION],
    children: Children::Empty,
    codes: &OTHER_CODES,
};

/// Built-in tools of the default host, except `read_file` and `get_contents`.
pub const BUILTINS: &[&str] = &[
    "apply_patch",
    "append_to_file",
    "find_and_replace",
    "webpage_to_markdown",
    "index_ocaml_code",
    "query_vector_db",
    "index_markdown_docs",
    "markdown_search",
    "odoc_search",
    "import_image",
    "meta_refine",
    "fork",
    "read_dir",
];
