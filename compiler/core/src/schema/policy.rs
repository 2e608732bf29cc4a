//! `<policy>` and the matchers (spec 02 section 11).

use super::extensions::MATCHER_FAILURE;
use super::sections::MERGE;
use super::{Attribute, Children, Codes, Element, SHELL, TEXT, Type, attr, many, required};
use crate::manifest::{Action, EffectName};

/// Codes where children are matchers.
pub static MATCHING: Codes = Codes {
    unknown_attribute: "shell.unknown_attribute",
    unknown_attribute_warns: false,
    bare: "shell.attribute_value_required",
    duplicate: "shell.duplicate_attribute",
    missing: "shell.missing_attribute",
    incompatible: "shell.incompatible_attribute",
    unknown_child: "shell.unknown_matcher",
    child_of_empty: "shell.unexpected_child",
    text: "shell.unexpected_text",
};

/// `<policy>`.
pub static POLICY: Element = Element {
    name: "policy",
    doc: "Rules that allow, ask about or deny commands. Of all rules that match, the strictest wins.",
    attributes: &[
        attr(
            "default",
            Type::Words(Action::WORDS),
            "What happens when no rule matches.",
        ),
        MERGE,
    ],
    children: Children::List(&[many(&RULE)]),
    codes: &SHELL,
};

/// `<rule>`.
pub static RULE: Element = Element {
    name: "rule",
    doc: "One decision about the commands that its matcher describes.",
    attributes: &[
        required(
            "id",
            Type::EntryId,
            "Name of the rule in reports and overrides.",
        )
        .identity(),
        required(
            "action",
            Type::Words(Action::WORDS),
            "What to do with a matching command.",
        ),
        attr(
            "override",
            Type::Bool,
            "Replaces the inherited rule of the same id.",
        )
        .default("false")
        .identity(),
    ],
    children: Children::Matchers { min: 1, max: 1 },
    codes: &MATCHING,
};

/// Every matcher element.
pub static MATCHERS: &[&Element] = &[
    &ANY_COMMAND,
    &PROGRAM,
    &BASENAME,
    &RESOLVED_PATH,
    &TRUSTED_EXECUTABLE,
    &PROGRAM_REGEX,
    &ARGV_PREFIX,
    &ARGUMENT,
    &ARGUMENT_CONTAINS,
    &EFFECT,
    &NO_UNKNOWN_EFFECTS,
    &RAW_SHELL,
    &CHATML_MATCH,
    &ALL,
    &ANY,
    &NOT,
];

const fn leaf(name: &'static str, attributes: &'static [Attribute], doc: &'static str) -> Element {
    Element {
        name,
        doc,
        attributes,
        children: Children::Empty,
        codes: &MATCHING,
    }
}

/// `<any_command>`.
pub static ANY_COMMAND: Element = leaf("any_command", &[], "Matches every command.");
/// `<program>`.
pub static PROGRAM: Element = leaf(
    "program",
    &[required(
        "value",
        TEXT,
        "Program text exactly as it was asked for.",
    )],
    "Matches the program text of the request; another spelling of the same file does not match.",
);
/// `<basename>`.
pub static BASENAME: Element = leaf(
    "basename",
    &[required("value", TEXT, "Name without a directory.")],
    "Matches the file name of the program, wherever it lies.",
);
/// `<resolved_path>`.
pub static RESOLVED_PATH: Element = leaf(
    "resolved_path",
    &[required("value", Type::Path, "The executable file.")],
    "Matches the file that the program name resolves to.",
);
/// `<trusted_executable>`.
pub static TRUSTED_EXECUTABLE: Element = leaf(
    "trusted_executable",
    &[],
    "Matches a program that the resolver marks as trusted.",
);
/// `<program_regex>`.
pub static PROGRAM_REGEX: Element = leaf(
    "program_regex",
    &[required(
        "value",
        Type::Regex,
        "Pattern searched anywhere in the program text.",
    )
    .empty("shell.empty_regex")],
    "Matches the program text of the request by a regular expression.",
);
/// `<argv_prefix>`.
pub static ARGV_PREFIX: Element = leaf(
    "argv_prefix",
    &[required(
        "values",
        Type::ArgvPrefix,
        "Program and first arguments, separated by commas or as a JSON array.",
    )
    .empty("shell.invalid_argv_prefix")],
    "Matches a command line that starts with these items.",
);
/// `<argument>`.
pub static ARGUMENT: Element = leaf(
    "argument",
    &[required("value", TEXT, "The argument.").may_be_empty()],
    "Matches when one argument is exactly the value.",
);
/// `<argument_contains>`.
pub static ARGUMENT_CONTAINS: Element = leaf(
    "argument_contains",
    &[required("value", TEXT, "Text to look for.")],
    "Matches when one argument contains the value.",
);
/// `<effect>`.
pub static EFFECT: Element = leaf(
    "effect",
    &[
        required("name", Type::Words(EffectName::WORDS), "Kind of effect."),
        attr(
            "under",
            Type::Path,
            "Counts only effects on files below this place.",
        )
        .when("name", &["read_path", "write_path"]),
    ],
    "Matches when the command is known to have an effect of this kind.",
);
/// `<no_unknown_effects>`.
pub static NO_UNKNOWN_EFFECTS: Element = leaf(
    "no_unknown_effects",
    &[],
    "Matches when everything that the command does is known.",
);
/// `<raw_shell>`.
pub static RAW_SHELL: Element = leaf("raw_shell", &[], "Matches the request of a raw-mode tool.");
/// `<chatml_match>`.
pub static CHATML_MATCH: Element = leaf(
    "chatml_match",
    &[
        required("script", Type::Reference, "Script of kind `shell_matcher`."),
        attr(
            "function",
            Type::Function,
            "Function to call; absent, the entry point of the kind.",
        ),
        attr(
            "failure",
            Type::Words(MATCHER_FAILURE),
            "How a failing script is read; absent, as maybe.",
        ),
    ],
    "Lets a script decide.",
);
/// `<all>`.
pub static ALL: Element = Element {
    name: "all",
    doc: "Matches when every matcher in it does.",
    attributes: &[],
    children: Children::Matchers {
        min: 1,
        max: usize::MAX,
    },
    codes: &MATCHING,
};
/// `<any>`.
pub static ANY: Element = Element {
    name: "any",
    doc: "Matches when at least one matcher in it does.",
    attributes: &[],
    children: Children::Matchers {
        min: 1,
        max: usize::MAX,
    },
    codes: &MATCHING,
};
/// `<not>`.
pub static NOT: Element = Element {
    name: "not",
    doc: "Matches when the matcher in it does not.",
    attributes: &[],
    children: Children::Matchers { min: 1, max: 1 },
    codes: &MATCHING,
};
