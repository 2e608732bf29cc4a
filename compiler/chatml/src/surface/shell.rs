//! Context accessors and action functions of the shell kinds (spec 05b sections 4.2 and 5).

use super::{Kind, KindSet, ModuleTable, perform, pure};

const NO_ARGUMENT: &str = "unit -> unit task";
const ONE_TEXT: &str = "string -> unit task";
const TWO_TEXTS: &str = "string -> string -> unit task";
const TEXTS: &str = "string array -> unit task";

pub(super) static MODULES: &[ModuleTable] = &[
    ModuleTable {
        name: "Shell",
        doc: "Fields of the command under decision.",
        kinds: KindSet::of(&[
            Kind::ShellMatcher,
            Kind::ShellReviewer,
            Kind::ShellBeforeInterceptor,
            Kind::ShellEffectAnalyzer,
        ]),
        functions: &[
            pure(
                "request_id",
                "shell_context -> string",
                "Identifier of the request.",
            ),
            pure(
                "runtime_id",
                "shell_context -> string",
                "Identifier of the shell runtime.",
            ),
            pure(
                "manifest_sha256",
                "shell_context -> string",
                "Digest of the authorised manifest.",
            ),
            pure(
                "cwd",
                "shell_context -> string",
                "Working directory, absolute.",
            ),
            pure(
                "origin",
                "shell_context -> string",
                "`tool`, `moderator` or `host:NAME`.",
            ),
            pure(
                "request_kind",
                "shell_context -> string",
                "`structured`, `script_file` or `raw_shell`.",
            ),
            pure(
                "stdin_kind",
                "shell_context -> string",
                "`empty`, `pipeline` or `supplied`.",
            ),
            pure(
                "argv",
                "shell_context -> string array",
                "Program as requested, then its arguments.",
            ),
            pure(
                "effects",
                "shell_context -> string array",
                "Effects found so far, such as `read:/srv` or `network`.",
            ),
            pure(
                "executable",
                "shell_context -> { canonical_path : string; path : string; requested : string; sha256 : string; trusted : bool }",
                "The program that would run.",
            ),
            pure(
                "stdin_bytes",
                "shell_context -> int",
                "Size of standard input.",
            ),
            pure(
                "capabilities",
                "shell_context -> { arbitrary_code : bool; child_processes : bool; network : bool; privilege_change : bool; read_roots : string array; sandbox : string; write_roots : string array }",
                "What the runtime allows at most.",
            ),
            pure(
                "stdin_sha256",
                "shell_context -> option string",
                "Digest of standard input.",
            ),
            pure(
                "script_sha256",
                "shell_context -> option string",
                "Digest of the script text.",
            ),
            pure(
                "script_preview",
                "shell_context -> option string",
                "Start of the script text.",
            ),
            pure(
                "session_id",
                "shell_context -> option string",
                "Identifier of the session.",
            ),
            pure(
                "policy",
                "shell_context -> option shell_policy",
                "The policy's decision; `` `Some `` for reviewers and before-interceptors.",
            ),
        ],
    },
    ModuleTable {
        name: "Match",
        doc: "Answers of a matcher.",
        kinds: KindSet::of(&[Kind::ShellMatcher]),
        functions: &[
            perform("yes", ONE_TEXT, "The command matches, for this reason."),
            perform(
                "no",
                ONE_TEXT,
                "The command does not match, for this reason.",
            ),
        ],
    },
    ModuleTable {
        name: "Review",
        doc: "Answers of a reviewer.",
        kinds: KindSet::of(&[Kind::ShellReviewer]),
        functions: &[
            perform("approve", NO_ARGUMENT, "Approves this execution."),
            perform(
                "defer",
                NO_ARGUMENT,
                "Leaves the decision to the next reviewer.",
            ),
            perform(
                "approve_for",
                ONE_TEXT,
                "Approves for a scope: `once`, `exact_session`, `prefix_session` or `durable_exact`.",
            ),
            perform("deny", ONE_TEXT, "Denies, for this reason."),
            perform(
                "rewrite",
                TEXTS,
                "Replaces the command; the new one is decided from the start.",
            ),
        ],
    },
    ModuleTable {
        name: "Intercept",
        doc: "Answers of a before-interceptor.",
        kinds: KindSet::of(&[Kind::ShellBeforeInterceptor]),
        functions: &[
            perform("continue", NO_ARGUMENT, "Lets the command go on."),
            perform(
                "rewrite",
                TEXTS,
                "Replaces the command; the new one is decided from the start.",
            ),
            perform(
                "respond",
                TWO_TEXTS,
                "Answers with these two outputs (standard output, standard error) instead of running anything.",
            ),
            perform("reject", ONE_TEXT, "Refuses the command, for this reason."),
        ],
    },
    ModuleTable {
        name: "Result",
        doc: "Answers of an after-interceptor.",
        kinds: KindSet::of(&[Kind::ShellAfterInterceptor]),
        functions: &[
            perform("keep", NO_ARGUMENT, "Leaves the result as it is."),
            perform(
                "replace",
                TWO_TEXTS,
                "Replaces standard output and standard error; they are redacted again.",
            ),
            perform(
                "reject_disclosure",
                ONE_TEXT,
                "Withholds the result, for this reason.",
            ),
        ],
    },
    ModuleTable {
        name: "Effect",
        doc: "Answers of an effect analyzer.",
        kinds: KindSet::of(&[Kind::ShellEffectAnalyzer]),
        functions: &[
            perform("add", ONE_TEXT, "Adds one effect, such as `read:/srv`."),
            perform(
                "replace",
                TEXTS,
                "Replaces all effects; only where the document allows it.",
            ),
            perform("read_path", ONE_TEXT, "Adds reading of a path."),
            perform("write_path", ONE_TEXT, "Adds writing of a path."),
            perform("network", NO_ARGUMENT, "Adds use of the network."),
            perform(
                "child_processes",
                NO_ARGUMENT,
                "Adds starting of other programs.",
            ),
            perform(
                "arbitrary_code",
                NO_ARGUMENT,
                "Adds execution of arbitrary code.",
            ),
            perform(
                "privilege_change",
                NO_ARGUMENT,
                "Adds a change of privileges.",
            ),
        ],
    },
    ModuleTable {
        name: "Audit",
        doc: "Answers of an audit filter.",
        kinds: KindSet::of(&[Kind::ShellAuditFilter]),
        functions: &[
            perform("keep", NO_ARGUMENT, "Leaves the event as it is."),
            perform(
                "drop_field",
                ONE_TEXT,
                "Removes one field that may change; nothing happens when it is absent.",
            ),
            perform(
                "replace",
                ONE_TEXT,
                "Replaces fields by the members of a JSON object of texts.",
            ),
        ],
    },
];
