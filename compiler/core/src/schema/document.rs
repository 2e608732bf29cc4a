//! Conversation elements, content helpers, `config`, `import`, `script` and `moderator_runtime`
//! (spec 01 sections 5 to 11).

use super::{
    Attribute, BodyClass, Children, Codes, Element, SHELL, Type, attr, many, required, sections,
};
use crate::manifest::ScriptKind;

/// Conversation and content elements: unknown attributes warn.
pub static MESSAGE_CODES: Codes = Codes {
    unknown_attribute: "chatmd.unknown_attribute",
    unknown_attribute_warns: true,
    bare: "chatmd.attribute_value_missing",
    duplicate: "chatmd.duplicate_attribute",
    missing: "chatmd.missing_attribute",
    incompatible: "chatmd.attribute_ignored",
    unknown_child: "chatmd.unexpected_content",
    child_of_empty: "chatmd.unexpected_content",
    text: "chatmd.unexpected_content",
};

/// `config`.
pub static CONFIG_CODES: Codes = Codes {
    unknown_attribute: "chatmd.unknown_attribute",
    unknown_attribute_warns: false,
    bare: "chatmd.attribute_value_missing",
    duplicate: "chatmd.duplicate_attribute",
    missing: "chatmd.config_invalid_value",
    incompatible: "chatmd.unknown_attribute",
    unknown_child: "chatmd.unexpected_content",
    child_of_empty: "chatmd.unexpected_content",
    text: "chatmd.unexpected_content",
};

/// `import`.
pub static IMPORT_CODES: Codes = Codes {
    unknown_attribute: "chatmd.unknown_attribute",
    unknown_attribute_warns: false,
    bare: "chatmd.attribute_value_missing",
    duplicate: "chatmd.duplicate_attribute",
    missing: "chatmd.import_missing_src",
    incompatible: "chatmd.unknown_attribute",
    unknown_child: "chatmd.import_content",
    child_of_empty: "chatmd.import_content",
    text: "chatmd.import_content",
};

/// `moderator_runtime`.
pub static MODERATOR_CODES: Codes = Codes {
    unknown_attribute: "shell.unknown_attribute",
    unknown_attribute_warns: false,
    bare: "shell.attribute_value_required",
    duplicate: "shell.duplicate_attribute",
    missing: "shell.missing_attribute",
    incompatible: "shell.unknown_attribute",
    unknown_child: "shell.moderator_runtime_content",
    child_of_empty: "shell.moderator_runtime_content",
    text: "shell.moderator_runtime_content",
};

/// Elements that may stand at top level, `tool` in its shell form.
pub static TOP_LEVEL: &[&Element] = &[
    &MSG,
    &USER,
    &ASSISTANT,
    &SYSTEM,
    &DEVELOPER,
    &TOOL_CALL,
    &TOOL_RESPONSE,
    &REASONING,
    &CONFIG,
    &IMPORT,
    &SCRIPT,
    &MODERATOR_RUNTIME,
    &sections::SHELL_ACCESS,
];

/// Elements with a meaning inside message bodies.
pub static CONTENT: &[&Element] = &[&IMG, &DOC, &AGENT];

const fn text(name: &'static str, doc: &'static str) -> Attribute {
    attr(name, Type::Any, doc).may_be_empty().identity()
}

const fn needed(name: &'static str, doc: &'static str) -> Attribute {
    required(name, Type::Any, doc).bare_is_missing().identity()
}

const ID: Attribute = text("id", "Identifier that the model provider gave the item.");
const NAME: Attribute = text("name", "Name of the speaker.");
const STATUS: Attribute = text("status", "Completion status of a stored reply.");
const PHASE: Attribute = text("phase", "Phase of a stored reply.");
const KIND: Attribute = text(
    "type",
    "`custom_tool_call` selects the free-form kind of call.",
);
const HISTORY: Attribute = text(
    "ochat-history-id",
    "Identity of the item in a stored history, `<n>:<ns>:<seq>`.",
);
const CALL_ID: Attribute = needed("tool_call_id", "Ties a result to its call.");
const FUNCTION_NAME: Attribute = needed("function_name", "Tool that was called.");

const fn message(
    name: &'static str,
    doc: &'static str,
    class: BodyClass,
    attributes: &'static [Attribute],
) -> Element {
    Element {
        name,
        doc,
        attributes,
        children: Children::Body(class),
        codes: &MESSAGE_CODES,
    }
}

/// `<msg>`.
pub static MSG: Element = message(
    "msg",
    "A message whose speaker is the `role` attribute.",
    BodyClass::Authored,
    &[
        required("role", Type::Words(ROLES), "Who speaks.")
            .invalid("chatmd.invalid_role")
            .bare_is_missing()
            .identity(),
        ID,
        NAME,
        KIND,
        STATUS,
        PHASE,
        text("function_name", "Tool that was called."),
        text("tool_call_id", "Ties a result to its call."),
        attr(
            "tool_call",
            Type::Flag,
            "With role `tool`: the message is a call.",
        )
        .identity(),
        attr("function_call", Type::Flag, "Obsolete; ignored.").identity(),
        HISTORY,
    ],
);

/// Roles of `msg`.
pub const ROLES: &[&str] = &["user", "assistant", "system", "developer", "tool"];

/// `<user>`.
pub static USER: Element = message(
    "user",
    "A message of the user.",
    BodyClass::Authored,
    &[ID, NAME, HISTORY],
);
/// `<system>`.
pub static SYSTEM: Element = message(
    "system",
    "A system instruction.",
    BodyClass::Authored,
    &[ID, NAME, HISTORY],
);
/// `<developer>`.
pub static DEVELOPER: Element = message(
    "developer",
    "A developer instruction.",
    BodyClass::Authored,
    &[ID, NAME, HISTORY],
);
/// `<assistant>`.
pub static ASSISTANT: Element = message(
    "assistant",
    "A reply of the model.",
    BodyClass::Transcript,
    &[ID, NAME, STATUS, PHASE, HISTORY],
);
/// `<tool_call>`.
pub static TOOL_CALL: Element = message(
    "tool_call",
    "A recorded tool call of the model.",
    BodyClass::Transcript,
    &[ID, NAME, KIND, FUNCTION_NAME, CALL_ID, HISTORY],
);
/// `<tool_response>`.
pub static TOOL_RESPONSE: Element = message(
    "tool_response",
    "A recorded result of a tool call.",
    BodyClass::Transcript,
    &[ID, NAME, KIND, CALL_ID, HISTORY],
);
/// `<reasoning>`.
pub static REASONING: Element = message(
    "reasoning",
    "Recorded reasoning of the model.",
    BodyClass::Reasoning,
    &[
        needed("id", "Identifier that the model provider gave the item."),
        STATUS,
        HISTORY,
    ],
);
/// `<summary>` below `<reasoning>`.
pub static SUMMARY: Element = message(
    "summary",
    "One part of a reasoning summary.",
    BodyClass::Reasoning,
    &[text("type", "Kind of the part.").default("summary_text")],
);

const SRC: Attribute = needed("src", "Address, or a path when `local` is given.");
const LOCAL: Attribute = attr("local", Type::Flag, "`src` is a path.")
    .default("false")
    .identity();

/// `<img>`.
pub static IMG: Element = Element {
    name: "img",
    doc: "An image in a message.",
    attributes: &[SRC, LOCAL, text("alt", "Description for people; not sent.")],
    children: Children::Empty,
    codes: &MESSAGE_CODES,
};
/// `<doc>`.
pub static DOC: Element = Element {
    name: "doc",
    doc: "A document in a message.",
    attributes: &[
        SRC,
        LOCAL,
        attr("strip", Type::Flag, "Turns HTML into plain text.")
            .default("false")
            .identity(),
        attr("markdown", Type::Flag, "Turns HTML into Markdown.")
            .default("false")
            .identity(),
    ],
    children: Children::Empty,
    codes: &MESSAGE_CODES,
};
/// `<agent>` in a message.
pub static AGENT: Element = Element {
    name: "agent",
    doc: "The answer of another agent, taken into the message.",
    attributes: &[SRC, LOCAL],
    children: Children::Body(BodyClass::Authored),
    codes: &MESSAGE_CODES,
};

/// `<config>`.
pub static CONFIG: Element = Element {
    name: "config",
    doc: "Request parameters of the conversation.",
    attributes: &[
        attr("model", Type::Any, "Model to use.")
            .invalid("chatmd.config_invalid_value")
            .identity(),
        attr("max_tokens", Type::Uint, "Longest answer in tokens.")
            .range(1, 2_147_483_647)
            .invalid("chatmd.config_invalid_value")
            .out_of_range("chatmd.config_invalid_value")
            .identity(),
        attr(
            "temperature",
            Type::Temperature,
            "Sampling temperature, 0 to 2.",
        )
        .invalid("chatmd.config_invalid_value")
        .identity(),
        attr(
            "reasoning_effort",
            Type::Any,
            "Passed to the model as written.",
        )
        .invalid("chatmd.config_invalid_value")
        .identity(),
        text("id", "A label."),
        attr(
            "show_tool_call",
            Type::Flag,
            "Keeps tool payloads in the document.",
        )
        .default("false")
        .identity(),
    ],
    children: Children::Empty,
    codes: &CONFIG_CODES,
};

/// `<import>`.
pub static IMPORT: Element = Element {
    name: "import",
    doc: "Takes another file in: at top level its declarations, in a message its text.",
    attributes: &[
        required("src", Type::Any, "Path of the file, relative to this one.")
            .bare_is_missing()
            .invalid("chatmd.import_invalid_src"),
        attr(
            "namespace",
            Type::Namespace,
            "Prefix for the ids that the file declares.",
        )
        .invalid("chatmd.import_invalid_namespace"),
    ],
    children: Children::Empty,
    codes: &IMPORT_CODES,
};

const SHELL_KINDS: &[&str] = &[
    "shell_matcher",
    "shell_reviewer",
    "shell_before_interceptor",
    "shell_after_interceptor",
    "shell_effect_analyzer",
    "shell_audit_filter",
];

const fn limit(
    name: &'static str,
    ty: Type,
    default: &'static str,
    high: u64,
    doc: &'static str,
) -> Attribute {
    attr(name, ty, doc)
        .default(default)
        .range(1, high)
        .invalid("chatmd.script_invalid_limit")
        .out_of_range("chatmd.script_invalid_limit")
}

const MIB: u64 = 1 << 20;

/// `<script>`.
pub static SCRIPT: Element = Element {
    name: "script",
    doc: "A ChatML program that the host runs at an extension point.",
    attributes: &[
        required(
            "id",
            Type::ScriptId,
            "Name by which extensions refer to the script.",
        )
        .when("kind", SHELL_KINDS)
        .missing("chatmd.script_id_required")
        .invalid("chatmd.script_invalid_id")
        .identity(),
        attr("id", Type::ScriptId, "Name of the script.")
            .when("kind", &["moderator"])
            .default("main")
            .invalid("chatmd.script_invalid_id")
            .identity(),
        required(
            "language",
            Type::Words(&["chatml"]),
            "Language of the program.",
        )
        .invalid("chatmd.script_invalid_language"),
        required(
            "kind",
            Type::Words(ScriptKind::WORDS),
            "Extension point that the program serves.",
        )
        .invalid("chatmd.script_invalid_kind"),
        attr("src", Type::Any, "File of the program, instead of a body.")
            .empty("chatmd.script_empty_source"),
        limit(
            "wall_time",
            Type::Duration,
            "2s",
            3_600_000,
            "Longest run of one call.",
        ),
        limit(
            "fuel",
            Type::Uint,
            "100000",
            1_000_000_000,
            "Most evaluation steps of one call.",
        ),
        limit(
            "max_tasks",
            Type::Uint,
            "256",
            65_536,
            "Most operations of one call.",
        ),
        limit(
            "max_value",
            Type::Bytes,
            "256KiB",
            64 * MIB,
            "Largest value.",
        ),
        limit(
            "max_output",
            Type::Bytes,
            "16KiB",
            16 * MIB,
            "Most bytes printed by one call.",
        ),
        limit(
            "max_array_items",
            Type::Uint,
            "256",
            1_000_000,
            "Longest array.",
        ),
        limit(
            "max_depth",
            Type::Uint,
            "32",
            1_024,
            "Deepest nesting of a value.",
        ),
    ],
    children: Children::Script,
    codes: &SHELL,
};

/// `<moderator_runtime>`.
pub static MODERATOR_RUNTIME: Element = Element {
    name: "moderator_runtime",
    doc: "Lets the conversation moderator run processes, in the named runtime.",
    attributes: &[required("shell_runtime", Type::Reference, "The runtime.")],
    children: Children::Empty,
    codes: &MODERATOR_CODES,
};

/// Content model of `<reasoning>`, for completion.
pub static REASONING_CHILDREN: &[super::Child] = &[many(&SUMMARY)];
