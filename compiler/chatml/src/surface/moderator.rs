//! The moderator's modules: types only (spec 05b section 6).

use super::{Kind, KindSet, ModuleTable, perform, pure, spawn};

const MODERATOR: KindSet = KindSet::of(&[Kind::Moderator]);
const NO_ARGUMENT: &str = "unit -> unit task";
const ONE_TEXT: &str = "string -> unit task";
const MODEL_RESULT: &str =
    "string -> json -> [ `Error(string) | `Ok(json) | `Refused(string) ] task";
const LAST_ITEM: &str = "context -> option item";
const ITEM_TEXT: &str = "item -> option string";
const IS_ITEM: &str = "item -> bool";
const NEW_MESSAGE: &str = "string -> string -> item";
const ONE_ITEM: &str = "item -> unit task";
const PLACED_ITEM: &str = "string -> item -> unit task";

pub(super) static MODULES: &[ModuleTable] = &[
    ModuleTable {
        name: "Log",
        doc: "The host's log.",
        kinds: MODERATOR,
        functions: &[
            perform("debug", ONE_TEXT, "Logs for debugging."),
            perform("info", ONE_TEXT, "Logs for information."),
            perform("warn", ONE_TEXT, "Logs a warning."),
            perform("error", ONE_TEXT, "Logs an error."),
        ],
    },
    ModuleTable {
        name: "Item",
        doc: "Items of the conversation.",
        kinds: MODERATOR,
        functions: &[
            pure(
                "create",
                "string -> json -> item",
                "An item from its identifier and value.",
            ),
            pure("id", "item -> string", "Its identifier."),
            pure("value", "item -> json", "Its value."),
            pure("kind", ITEM_TEXT, "Its type, when it states one."),
            pure("role", ITEM_TEXT, "Its role, when it states one."),
            pure("text", ITEM_TEXT, "Its text, when it has one."),
            pure(
                "text_parts",
                "item -> string array",
                "The texts of its parts.",
            ),
            pure(
                "input_text_message",
                "string -> string -> string -> item",
                "An input message from identifier, role and text.",
            ),
            pure(
                "output_text_message",
                NEW_MESSAGE,
                "An output message from identifier and text.",
            ),
            pure(
                "user_text",
                NEW_MESSAGE,
                "A user message from identifier and text.",
            ),
            pure(
                "assistant_text",
                NEW_MESSAGE,
                "An assistant message from identifier and text.",
            ),
            pure(
                "system_text",
                NEW_MESSAGE,
                "A system message from identifier and text.",
            ),
            pure("notice", NEW_MESSAGE, "A notice from identifier and text."),
            pure("is_user", IS_ITEM, "Whether a user wrote it."),
            pure("is_assistant", IS_ITEM, "Whether the assistant wrote it."),
            pure("is_system", IS_ITEM, "Whether it is a system message."),
            pure("is_tool_call", IS_ITEM, "Whether it is a tool call."),
            pure(
                "is_tool_result",
                IS_ITEM,
                "Whether it is the result of a tool call.",
            ),
        ],
    },
    ModuleTable {
        name: "Tool_call",
        doc: "Calls of the model.",
        kinds: MODERATOR,
        functions: &[
            pure("arg", "tool_call -> string -> option json", "An argument."),
            pure(
                "arg_string",
                "tool_call -> string -> option string",
                "An argument that is a text.",
            ),
            pure(
                "arg_bool",
                "tool_call -> string -> option bool",
                "An argument that is true or false.",
            ),
            pure(
                "arg_array",
                "tool_call -> string -> option (json array)",
                "An argument that is an array.",
            ),
            pure(
                "is_named",
                "tool_call -> string -> bool",
                "Whether it calls the tool of that name.",
            ),
            pure(
                "is_one_of",
                "tool_call -> string array -> bool",
                "Whether it calls one of these tools.",
            ),
        ],
    },
    ModuleTable {
        name: "Context",
        doc: "The conversation.",
        kinds: MODERATOR,
        functions: &[
            pure("last_item", LAST_ITEM, "The last item."),
            pure("last_user_item", LAST_ITEM, "The last item a user wrote."),
            pure(
                "last_assistant_item",
                LAST_ITEM,
                "The last item the assistant wrote.",
            ),
            pure("last_system_item", LAST_ITEM, "The last system message."),
            pure("last_tool_call", LAST_ITEM, "The last tool call."),
            pure(
                "last_tool_result",
                LAST_ITEM,
                "The last result of a tool call.",
            ),
            pure(
                "find_item",
                "context -> string -> option item",
                "The item with that identifier.",
            ),
            pure(
                "items_since_last_user_turn",
                "context -> item array",
                "Everything after the last item a user wrote.",
            ),
            pure(
                "items_since_last_assistant_turn",
                "context -> item array",
                "Everything after the last item the assistant wrote.",
            ),
            pure(
                "items_by_role",
                "context -> string -> item array",
                "All items of a role.",
            ),
            pure(
                "find_tool",
                "context -> string -> option tool_desc",
                "The tool of that name.",
            ),
            pure(
                "has_tool",
                "context -> string -> bool",
                "Whether a tool of that name is available.",
            ),
        ],
    },
    ModuleTable {
        name: "Turn",
        doc: "Changes to the conversation.",
        kinds: MODERATOR,
        functions: &[
            perform(
                "prepend_system",
                ONE_TEXT,
                "Puts a system message in front.",
            ),
            perform("append_notice", ONE_TEXT, "Appends a notice."),
            perform("halt", ONE_TEXT, "Ends the turn, for this reason."),
            perform(
                "delete_item",
                ONE_TEXT,
                "Removes the item with that identifier.",
            ),
            perform(
                "delete_message",
                ONE_TEXT,
                "Removes the message with that identifier.",
            ),
            perform("append_item", ONE_ITEM, "Appends an item."),
            perform("append_message", ONE_ITEM, "Appends a message."),
            perform(
                "replace_item",
                PLACED_ITEM,
                "Replaces the item with that identifier.",
            ),
            perform(
                "replace_message",
                PLACED_ITEM,
                "Replaces the message with that identifier.",
            ),
            perform(
                "replace_or_append",
                "option string -> item -> unit task",
                "Replaces the item with that identifier, or appends.",
            ),
        ],
    },
    ModuleTable {
        name: "Tool",
        doc: "Decisions about a tool call, and calls of tools.",
        kinds: MODERATOR,
        functions: &[
            perform("approve", NO_ARGUMENT, "Lets the call go on."),
            perform("reject", ONE_TEXT, "Refuses the call, for this reason."),
            perform(
                "rewrite_args",
                "json -> unit task",
                "Replaces the arguments of the call.",
            ),
            perform(
                "redirect",
                "string -> json -> unit task",
                "Calls another tool instead.",
            ),
            perform(
                "call",
                "string -> json -> [ `Error(string) | `Ok(json) ] task",
                "Calls a tool and waits.",
            ),
            spawn(
                "spawn",
                "string -> json -> string task",
                "Calls a tool without waiting; gives an identifier.",
            ),
        ],
    },
    ModuleTable {
        name: "Model",
        doc: "Calls of models.",
        kinds: MODERATOR,
        functions: &[
            perform("call", MODEL_RESULT, "Runs a model recipe and waits."),
            perform(
                "call_json",
                MODEL_RESULT,
                "Runs a model recipe with a JSON answer and waits.",
            ),
            perform(
                "call_text",
                "string -> string -> [ `Error(string) | `Ok(json) | `Refused(string) ] task",
                "Runs a model recipe on a text and waits.",
            ),
            spawn(
                "spawn",
                "string -> json -> string task",
                "Runs a model recipe without waiting; gives an identifier.",
            ),
            spawn(
                "spawn_text",
                "string -> string -> string task",
                "Runs a model recipe on a text without waiting; gives an identifier.",
            ),
        ],
    },
    ModuleTable {
        name: "Process",
        doc: "Commands, through the runtime the document binds to the moderator.",
        kinds: MODERATOR,
        functions: &[spawn(
            "run",
            "string -> string array -> string task",
            "Runs a program with arguments.",
        )],
    },
    ModuleTable {
        name: "Schedule",
        doc: "Later events.",
        kinds: MODERATOR,
        functions: &[
            spawn(
                "after_ms",
                "int -> 'e -> string task",
                "Sends an event to the moderator later; gives an identifier.",
            ),
            perform("cancel", ONE_TEXT, "Withdraws a later event."),
        ],
    },
    ModuleTable {
        name: "Runtime",
        doc: "The session itself.",
        kinds: MODERATOR,
        functions: &[
            perform(
                "emit",
                "'e -> unit task",
                "Sends an event to the moderator.",
            ),
            perform(
                "request_compaction",
                NO_ARGUMENT,
                "Asks the host to shorten the conversation.",
            ),
            perform(
                "request_turn",
                NO_ARGUMENT,
                "Asks the host for another turn.",
            ),
            perform(
                "end_session",
                ONE_TEXT,
                "Ends the session, for this reason.",
            ),
        ],
    },
    ModuleTable {
        name: "Ui",
        doc: "The person at the screen; interactive hosts only.",
        kinds: MODERATOR,
        functions: &[perform("notify", ONE_TEXT, "Shows a text.")],
    },
    ModuleTable {
        name: "Approval",
        doc: "Questions to the person at the screen; interactive hosts only.",
        kinds: MODERATOR,
        functions: &[
            perform("ask_text", "string -> string task", "Asks for a text."),
            perform(
                "ask_choice",
                "string -> string array -> string task",
                "Asks for one of the choices.",
            ),
        ],
    },
];
