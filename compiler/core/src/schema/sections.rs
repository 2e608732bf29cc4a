//! `<shell_access>` and the sections without sub-vocabulary of their own (spec 02 sections 5 to 9,
//! 12 and 13).

use super::{
    Attribute, Children, Element, LITERAL, SHELL, TEXT, Type, attr, backends, extensions, many,
    once, policy, required,
};
use crate::manifest::{
    ApprovalProvider, AuditContent, AuditFailure, AuditFormat, Inherit, Position, Sandbox, Scope,
    Unavailable,
};

const GIB: u64 = 1 << 30;
/// Longest duration, 8760 hours, in milliseconds.
pub const MAX_DURATION_MS: u64 = 8760 * 3_600_000;

/// `merge` of a section.
pub const MERGE: Attribute = attr(
    "merge",
    Type::Words(&["append", "replace"]),
    "Whether the lists of this section extend the inherited ones or take their place.",
)
.default("append");

/// `<shell_access>`.
pub static SHELL_ACCESS: Element = Element {
    name: "shell_access",
    doc: "Declares a runtime: what commands may touch, which may run, and who decides.",
    attributes: &[
        required(
            "id",
            Type::RuntimeId,
            "Name by which tools, hooks and children refer to the runtime.",
        )
        .identity(),
        attr(
            "extends",
            Type::ParentReference,
            "Runtime or built-in profile that supplies everything not written here.",
        )
        .empty("shell.invalid_reference"),
        attr(
            "cwd",
            Type::Path,
            "Working directory of commands; must exist when the runtime starts.",
        ),
        attr(
            "pipefail",
            Type::Bool,
            "With `true` a pipeline fails as soon as one stage failed.",
        ),
    ],
    children: Children::List(&[
        once(&CAPABILITIES),
        once(&RESOLVER),
        once(&ENVIRONMENT),
        once(&LIMITS),
        once(&backends::BACKENDS),
        once(&policy::POLICY),
        once(&APPROVALS),
        once(&extensions::REVIEWERS),
        once(&extensions::INTERCEPTORS),
        once(&extensions::EFFECT_ANALYSIS),
        once(&SECRETS),
        once(&AUDIT),
    ]),
    codes: &SHELL,
};

/// `<capabilities>`.
pub static CAPABILITIES: Element = Element {
    name: "capabilities",
    doc: "Upper bounds of what a command may do. No rule, approval or reviewer can lift them.",
    attributes: &[
        attr(
            "sandbox",
            Type::Words(Sandbox::WORDS),
            "Whether commands must run in a verified sandbox.",
        ),
        attr(
            "network",
            Type::Bool,
            "Whether commands may use the network.",
        ),
        attr(
            "child_processes",
            Type::Bool,
            "Whether commands may start further processes.",
        ),
        attr(
            "arbitrary_code",
            Type::Bool,
            "Whether commands may run code that the policy cannot see.",
        ),
        attr(
            "privilege_change",
            Type::Bool,
            "Whether commands may change user or privileges.",
        ),
        MERGE,
    ],
    children: Children::List(&[many(&READ), many(&WRITE)]),
    codes: &SHELL,
};

const ROOT_ATTRIBUTES: &[Attribute] = &[
    attr(
        "path",
        Type::Path,
        "Directory or file that the root grants.",
    ),
    attr(
        "path_env",
        Type::Env,
        "Host variable whose value is the root; an absolute path.",
    ),
    attr(
        "optional",
        Type::Bool,
        "Drops the root when the variable of `path_env` is not set.",
    )
    .default("false"),
];

/// `<read>` below `<capabilities>`.
pub static READ: Element = Element {
    name: "read",
    doc: "A place that commands may read, with everything below it.",
    attributes: ROOT_ATTRIBUTES,
    children: Children::Empty,
    codes: &SHELL,
};

/// `<write>`.
pub static WRITE: Element = Element {
    name: "write",
    doc: "A place that commands may read and change, with everything below it.",
    attributes: ROOT_ATTRIBUTES,
    children: Children::Empty,
    codes: &SHELL,
};

/// `<resolver>`.
pub static RESOLVER: Element = Element {
    name: "resolver",
    doc: "How a program name becomes a file, and which files are trusted.",
    attributes: &[
        attr(
            "allow_relative_search_path",
            Type::Bool,
            "Permits search paths written relative to the declaring file.",
        ),
        MERGE,
    ],
    children: Children::List(&[many(&SEARCH_PATH), many(&TRUSTED_ROOT), many(&EXECUTABLE)]),
    codes: &SHELL,
};

/// `<search_path>`.
pub static SEARCH_PATH: Element = Element {
    name: "search_path",
    doc: "A directory searched for programs, in the order written.",
    attributes: &[required("path", Type::Path, "The directory.")],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<trusted_root>`.
pub static TRUSTED_ROOT: Element = Element {
    name: "trusted_root",
    doc: "A directory whose programs count as trusted.",
    attributes: &[required(
        "path",
        Type::Path,
        "The directory; never a relative literal.",
    )],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<executable>`.
pub static EXECUTABLE: Element = Element {
    name: "executable",
    doc: "Gives one executable file a name, and optionally a pinned digest.",
    attributes: &[
        required(
            "id",
            Type::ExecutableId,
            "Name usable as program and as `executable_ref`.",
        ),
        required("path", Type::Path, "The file."),
        attr(
            "sha256",
            Type::Sha256,
            "Digest that the file must have when the runtime starts.",
        ),
        attr("trusted", Type::Bool, "Marks the file as trusted.").default("false"),
        attr(
            "override",
            Type::Bool,
            "Replaces the inherited entry of the same id.",
        )
        .default("false")
        .identity(),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<environment>`.
pub static ENVIRONMENT: Element = Element {
    name: "environment",
    doc: "Which variables commands see.",
    attributes: &[
        attr(
            "inherit",
            Type::Words(Inherit::WORDS),
            "The starting set taken from the host.",
        ),
        MERGE,
    ],
    children: Children::List(&[
        many(&SET),
        many(&PASS),
        many(&UNSET),
        many(&UNSET_PREFIX),
        many(&PATH),
        many(&PATH_ENV),
    ]),
    codes: &SHELL,
};

/// `<set>`.
pub static SET: Element = Element {
    name: "set",
    doc: "Sets a variable to literal text.",
    attributes: &[
        required("name", Type::Env, "Variable to set."),
        required("value", LITERAL, "Its value; nothing is expanded.").may_be_empty(),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<pass>`.
pub static PASS: Element = Element {
    name: "pass",
    doc: "Copies a variable of the host.",
    attributes: &[
        required("name", Type::Env, "Variable to copy."),
        attr(
            "required",
            Type::Bool,
            "Fails at start when the host does not set it.",
        )
        .default("false"),
        attr(
            "secret",
            Type::Bool,
            "Hides the value wherever output is shown or recorded.",
        )
        .default("false"),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<unset>`.
pub static UNSET: Element = Element {
    name: "unset",
    doc: "Removes a variable.",
    attributes: &[required("name", Type::Env, "Variable to remove.")],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<unset_prefix>`.
pub static UNSET_PREFIX: Element = Element {
    name: "unset_prefix",
    doc: "Removes every variable whose name starts with the value.",
    attributes: &[required("value", TEXT, "Start of the names to remove.")],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<path>`.
pub static PATH: Element = Element {
    name: "path",
    doc: "Adds one directory to `PATH`.",
    attributes: &[
        attr("prepend", Type::Path, "Directory to put first."),
        attr("append", Type::Path, "Directory to put last."),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<path_env>`.
pub static PATH_ENV: Element = Element {
    name: "path_env",
    doc: "Adds the directory named by a host variable to `PATH`.",
    attributes: &[
        required(
            "name",
            Type::Env,
            "Host variable that holds an absolute directory.",
        ),
        attr(
            "suffix",
            Type::Suffix,
            "Relative path below that directory.",
        ),
        attr(
            "position",
            Type::Words(Position::WORDS),
            "Which end of `PATH` it goes to.",
        )
        .default("append"),
        attr(
            "required",
            Type::Bool,
            "Fails at start when the host does not set it.",
        )
        .default("false"),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<limits>`.
pub static LIMITS: Element = Element {
    name: "limits",
    doc: "Bounds of one request: time, input, output and resources.",
    attributes: &[
        attr("wall_time", Type::Duration, "Longest run of a request.")
            .range(1, MAX_DURATION_MS)
            .finite(),
        attr(
            "idle_time",
            Type::DurationOrNone,
            "Longest time without any output or input.",
        )
        .range(1, MAX_DURATION_MS),
        attr("max_stdin", Type::Bytes, "Most bytes of standard input.")
            .range(0, GIB)
            .finite(),
        attr("stdout", Type::Bytes, "Most bytes kept of standard output.")
            .range(1, GIB)
            .finite(),
        attr("stderr", Type::Bytes, "Most bytes kept of standard error.")
            .range(1, GIB)
            .finite(),
        attr(
            "total_output",
            Type::Bytes,
            "Most bytes of both streams; more ends the request.",
        )
        .range(1, GIB)
        .finite(),
        attr(
            "cpu_time",
            Type::DurationOrNone,
            "Most processor time, enforced in whole seconds.",
        ),
        attr("memory", Type::BytesOrNone, "Most memory of a process.").range(1 << 20, u64::MAX),
        attr(
            "file_size",
            Type::BytesOrNone,
            "Largest file that a process may write.",
        )
        .range(1, u64::MAX),
        attr(
            "open_files",
            Type::UintOrNone,
            "Most open descriptors of a process.",
        )
        .range(8, 1_048_576),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<approvals>`.
pub static APPROVALS: Element = Element {
    name: "approvals",
    doc: "Who answers when the policy asks, and what an answer may cover.",
    attributes: &[
        attr(
            "provider",
            Type::Words(ApprovalProvider::WORDS),
            "Where questions go.",
        ),
        attr(
            "unavailable",
            Type::Words(Unavailable::WORDS),
            "Outcome when nobody can answer.",
        ),
        attr(
            "scopes",
            Type::WordList(Scope::WORDS),
            "Approval scopes that may be offered; replaces the inherited set.",
        ),
        attr(
            "durable",
            Type::Bool,
            "Permits approvals that outlive the session.",
        ),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<secrets>`.
pub static SECRETS: Element = Element {
    name: "secrets",
    doc: "Values that must never be shown, and the text that stands for them.",
    attributes: &[
        attr(
            "replacement",
            TEXT,
            "Text shown instead of a secret, 1 to 64 bytes without control characters.",
        ),
        MERGE,
    ],
    children: Children::List(&[many(&FROM_ENV), many(&FROM_FILE), many(&LITERAL_SECRET)]),
    codes: &SHELL,
};

/// `<from_env>`.
pub static FROM_ENV: Element = Element {
    name: "from_env",
    doc: "A secret held by a host variable.",
    attributes: &[
        required("name", Type::Env, "The variable."),
        attr(
            "optional",
            Type::Bool,
            "Skips the secret when the variable is not set.",
        )
        .default("false"),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<from_file>`.
pub static FROM_FILE: Element = Element {
    name: "from_file",
    doc: "A secret held by a file.",
    attributes: &[
        required("path", Type::Path, "The file."),
        attr(
            "optional",
            Type::Bool,
            "Skips the secret when the file is missing.",
        )
        .default("false"),
        attr(
            "strip",
            Type::Bool,
            "Removes one line end at the end of the file.",
        )
        .default("true"),
    ],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<literal>`.
pub static LITERAL_SECRET: Element = Element {
    name: "literal",
    doc: "A secret written into the document. Prefer `from_env`: everyone who reads the file reads it.",
    attributes: &[required(
        "value",
        LITERAL,
        "The secret; never copied into a manifest.",
    )],
    children: Children::Empty,
    codes: &SHELL,
};

/// `<audit>`.
pub static AUDIT: Element = Element {
    name: "audit",
    doc: "Where every request is recorded, and how much of it.",
    attributes: &[
        required(
            "format",
            Type::Words(AuditFormat::WORDS),
            "Kind of the audit sink.",
        ),
        required("path", Type::Path, "File of a `jsonl` sink.")
            .when("format", &["jsonl"])
            .missing("shell.audit_path_required"),
        attr(
            "content",
            Type::Words(AuditContent::WORDS),
            "How much of a request is recorded.",
        ),
        attr(
            "failure",
            Type::Words(AuditFailure::WORDS),
            "What happens when an event cannot be recorded.",
        ),
    ],
    children: Children::List(&[once(&extensions::FILTER)]),
    codes: &SHELL,
};
