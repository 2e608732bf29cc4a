//! Reviewers, interceptors, analyzers and audit filters (spec 02 sections 12 to 15).

use super::policy::MATCHING;
use super::sections::MERGE;
use super::{Attribute, Children, Element, SHELL, TEXT, Type, attr, many, required};
use crate::manifest::{Lifecycle, Phase, Strategy};

/// Failure words of the language; which are legal depends on the extension point.
pub const FAILURE: &[&str] = &["deny", "error", "no_match", "unknown", "keep"];
/// The same words at a matcher.
pub const MATCHER_FAILURE: &[&str] = FAILURE;

const MIB: u64 = 1 << 20;

const fn failure(default: &'static str) -> Attribute {
    attr(
        "failure",
        Type::Words(FAILURE),
        "What a failing extension means; never a permission.",
    )
    .default(default)
}

const fn lifecycle(default: &'static str) -> Attribute {
    attr(
        "lifecycle",
        Type::Words(Lifecycle::WORDS),
        "How long the state of the script lives.",
    )
    .default(default)
}

const SHA256: Attribute = attr(
    "sha256",
    Type::Sha256,
    "Digest that the executable must have when the runtime starts.",
);
const PROTOCOL: Attribute = attr(
    "protocol",
    Type::Words(&["shell-hook-json-v1"]),
    "Format of requests and answers.",
)
.default("shell-hook-json-v1");
const TIMEOUT: Attribute = attr(
    "timeout",
    Type::Duration,
    "Longest run of one call; absent, the worker's `wall_time`.",
);
const MAX_INPUT: Attribute = attr("max_input", Type::Bytes, "Most bytes of one request.")
    .default("1MiB")
    .range(1, 16 * MIB);
const MAX_OUTPUT: Attribute = attr("max_output", Type::Bytes, "Most bytes of one answer.")
    .default("256KiB")
    .range(1, 16 * MIB);
const RUNTIME: Attribute = attr(
    "runtime",
    Type::Reference,
    "Declared runtime that runs the executable.",
);
const EXECUTABLE: Attribute = attr(
    "executable",
    Type::Path,
    "Program that answers the requests.",
);
const ID: Attribute =
    required("id", Type::EntryId, "Name in reports; unique in its list.").identity();

const fn when_executable(mut row: Attribute) -> Attribute {
    row = row.when("kind", &["executable"]);
    row
}

const fn need(mut row: Attribute) -> Attribute {
    row.required = true;
    row
}

/// `<reviewers>`.
pub static REVIEWERS: Element = Element {
    name: "reviewers",
    doc: "An explicit chain of reviewers for commands that the policy asks about.",
    attributes: &[
        attr(
            "strategy",
            Type::Words(Strategy::WORDS),
            "How answers are combined.",
        )
        .default("first_terminal"),
        MERGE,
    ],
    children: Children::List(&[many(&REVIEWER)]),
    codes: &SHELL,
};

/// `<reviewer>`.
pub static REVIEWER: Element = Element {
    name: "reviewer",
    doc: "One reviewer of the chain.",
    attributes: &[
        ID,
        required(
            "kind",
            Type::Words(&["ui", "chatml", "model", "executable"]),
            "What answers.",
        ),
        required(
            "script",
            Type::Reference,
            "Script of kind `shell_reviewer`.",
        )
        .when("kind", &["chatml"]),
        lifecycle("session").when("kind", &["chatml"]),
        required("agent", Type::EntryRef, "Agent that answers.").when("kind", &["model"]),
        attr("model", TEXT, "Model used instead of the host's.").when("kind", &["model"]),
        failure("deny").when("kind", &["chatml", "model", "executable"]),
        need(when_executable(EXECUTABLE)),
        when_executable(SHA256),
        need(when_executable(RUNTIME)),
        when_executable(PROTOCOL),
        when_executable(TIMEOUT),
        when_executable(MAX_INPUT),
        when_executable(MAX_OUTPUT),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<interceptors>`.
pub static INTERCEPTORS: Element = Element {
    name: "interceptors",
    doc: "Extensions that see a command before it runs, or its output afterwards.",
    attributes: &[MERGE],
    children: Children::List(&[many(&INTERCEPTOR)]),
    codes: &SHELL,
};

/// `<interceptor>`.
pub static INTERCEPTOR: Element = Element {
    name: "interceptor",
    doc: "One interceptor: a script or an executable.",
    attributes: &[
        ID,
        required("phase", Type::Words(Phase::WORDS), "When it is called."),
        attr(
            "script",
            Type::Reference,
            "Script of kind `shell_before_interceptor` or `shell_after_interceptor`.",
        ),
        lifecycle("session"),
        failure("deny"),
        EXECUTABLE,
        SHA256,
        RUNTIME,
        PROTOCOL,
        TIMEOUT,
        MAX_INPUT,
        MAX_OUTPUT,
    ],
    children: Children::List(&[many(&MATCH)]),
    codes: &SHELL,
};

/// `<match>`.
pub static MATCH: Element = Element {
    name: "match",
    doc: "Calls the interceptor only for commands that its matcher describes.",
    attributes: &[],
    children: Children::Matchers { min: 1, max: 1 },
    codes: &MATCHING,
};

/// `<effect_analysis>`.
pub static EFFECT_ANALYSIS: Element = Element {
    name: "effect_analysis",
    doc: "Extensions that add to what is known about the effects of a command.",
    attributes: &[MERGE],
    children: Children::List(&[many(&ANALYZER)]),
    codes: &SHELL,
};

/// `<analyzer>`.
pub static ANALYZER: Element = Element {
    name: "analyzer",
    doc: "One analyzer: a script or an executable.",
    attributes: &[
        ID,
        attr(
            "kind",
            Type::Words(&["chatml", "executable"]),
            "What analyses.",
        )
        .default("chatml"),
        required(
            "script",
            Type::Reference,
            "Script of kind `shell_effect_analyzer`.",
        )
        .when("kind", &["chatml"]),
        lifecycle("invocation").when("kind", &["chatml"]),
        attr(
            "replace",
            Type::Bool,
            "Lets the analyzer take built-in effects away.",
        )
        .default("false"),
        failure("unknown"),
        need(when_executable(EXECUTABLE)),
        when_executable(SHA256),
        need(when_executable(RUNTIME)),
        when_executable(PROTOCOL),
        when_executable(TIMEOUT),
        when_executable(MAX_INPUT),
        when_executable(MAX_OUTPUT),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<filter>`.
pub static FILTER: Element = Element {
    name: "filter",
    doc: "Removes content from audit events before they are written.",
    attributes: &[
        attr(
            "script",
            Type::Reference,
            "Script of kind `shell_audit_filter`.",
        ),
        lifecycle("session"),
        EXECUTABLE,
        SHA256,
        RUNTIME,
        PROTOCOL,
        TIMEOUT,
        MAX_INPUT,
        MAX_OUTPUT,
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// Attributes that only an executable extension takes.
pub const HOOK_ONLY: &[&str] = &[
    "sha256",
    "runtime",
    "protocol",
    "timeout",
    "max_input",
    "max_output",
];
