//! `<backends>` (spec 02 section 10).

use super::sections::MERGE;
use super::{Attribute, Children, Element, LITERAL, SHELL, TEXT, Type, attr, many, required};
use crate::manifest::{Confinement, DevMode, When};

/// `<backends>`.
pub static BACKENDS: Element = Element {
    name: "backends",
    doc: "Mechanisms that may run a command, tried in the order written.",
    attributes: &[
        attr(
            "accept_declared_confinement",
            Type::Bool,
            "Counts an external wrapper that claims to confine as a sandbox.",
        ),
        MERGE,
    ],
    children: Children::List(&[
        many(&SEATBELT),
        many(&BUBBLEWRAP),
        many(&DIRECT),
        many(&EXTERNAL_BACKEND),
    ]),
    codes: &SHELL,
};

const ID: Attribute = attr("id", Type::EntryId, "Name of the backend in reports.").identity();
const fn when(default: &'static str) -> Attribute {
    attr(
        "when",
        Type::Words(When::WORDS),
        "Platform on which the backend is considered.",
    )
    .default(default)
}

/// `<seatbelt>`.
pub static SEATBELT: Element = Element {
    name: "seatbelt",
    doc: "The sandbox of macOS.",
    attributes: &[
        ID,
        when("macos"),
        attr("executable", Type::Path, "The `sandbox-exec` program.")
            .default("/usr/bin/sandbox-exec"),
        attr(
            "allow_system_reads",
            Type::Bool,
            "Permits reading the operating system's own files.",
        )
        .default("true"),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<bubblewrap>`.
pub static BUBBLEWRAP: Element = Element {
    name: "bubblewrap",
    doc: "The namespace sandbox of Linux.",
    attributes: &[
        ID,
        when("linux"),
        attr(
            "executable",
            Type::Path,
            "The `bwrap` program; absent, the first fixed system location.",
        ),
        attr(
            "private_tmp",
            Type::Bool,
            "Gives the command an empty `/tmp` of its own.",
        )
        .default("true"),
        attr("proc", Type::Bool, "Mounts a fresh `/proc`.").default("true"),
        attr("dev", Type::Words(DevMode::WORDS), "Which devices exist.").default("minimal"),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<direct>`.
pub static DIRECT: Element = Element {
    name: "direct",
    doc: "Runs the command without a sandbox.",
    attributes: &[ID, when("any")],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<external_backend>`.
pub static EXTERNAL_BACKEND: Element = Element {
    name: "external_backend",
    doc: "A wrapper program that starts the command; its arguments are the atoms below it.",
    attributes: &[
        ID,
        when("any"),
        required("executable", Type::Path, "The wrapper."),
        attr(
            "sha256",
            Type::Sha256,
            "Digest that the wrapper must have when the runtime starts.",
        ),
        attr(
            "confinement",
            Type::Words(Confinement::WORDS),
            "What the wrapper claims about confinement.",
        )
        .default("none"),
    ],
    children: Children::List(&[
        many(&ARG),
        many(&CWD_VALUE),
        many(&TARGET_EXECUTABLE),
        many(&COMMAND_ARGV),
        many(&READ_ROOTS),
        many(&WRITE_ROOTS),
        many(&NETWORK_FLAG),
        many(&RESOURCE_LIMIT_ARGS),
    ]),
    codes: &SHELL,
};

/// `<arg>`, in a template and in a fixed command.
pub static ARG: Element = Element {
    name: "arg",
    doc: "One literal argument.",
    attributes: &[required("value", LITERAL, "The argument; nothing is expanded.").may_be_empty()],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<cwd_value>`.
pub static CWD_VALUE: Element = atom(
    "cwd_value",
    "The working directory of the command, as one argument.",
);
/// `<target_executable>`.
pub static TARGET_EXECUTABLE: Element = atom(
    "target_executable",
    "The resolved path of the program, as one argument.",
);
/// `<command_argv>`.
pub static COMMAND_ARGV: Element = atom(
    "command_argv",
    "The complete command; exactly one, and the last atom.",
);
/// `<resource_limit_args>`.
pub static RESOURCE_LIMIT_ARGS: Element = atom(
    "resource_limit_args",
    "Arguments that state the resource limits of the request.",
);

const fn atom(name: &'static str, doc: &'static str) -> Element {
    Element {
        name,
        doc,
        attributes: &[],
        children: Children::Empty,
        codes: &SHELL,
    }
}

const FLAG: &[Attribute] = &[required("flag", TEXT, "Argument put before each root.")];

/// `<read_roots>`.
pub static READ_ROOTS: Element = Element {
    name: "read_roots",
    doc: "For each read root the flag and the root, as two arguments.",
    attributes: FLAG,
    children: Children::Empty,
    codes: &SHELL,
};

/// `<write_roots>`.
pub static WRITE_ROOTS: Element = Element {
    name: "write_roots",
    doc: "For each write root the flag and the root, as two arguments.",
    attributes: FLAG,
    children: Children::Empty,
    codes: &SHELL,
};

/// `<network_flag>`.
pub static NETWORK_FLAG: Element = Element {
    name: "network_flag",
    doc: "One argument, passed only when the network is permitted.",
    attributes: &[required("value", TEXT, "The argument.")],
    children: Children::Empty,
    codes: &SHELL,
};
