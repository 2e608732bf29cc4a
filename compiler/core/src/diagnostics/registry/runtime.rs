//! Runtime declarations.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "shell.after_interceptor_match",
        Error,
        "An interceptor that runs afterwards cannot choose its commands.",
    ),
    (
        "shell.ambiguous_reference",
        Error,
        "A reference fits two declarations.",
    ),
    (
        "shell.analyzer_keep",
        Warning,
        "A failing analyzer is told to keep its effects; the effect `unknown` is added all the same.",
    ),
    (
        "shell.attribute_value_required",
        Error,
        "An attribute is written without a value.",
    ),
    (
        "shell.audit_filter_unused",
        Warning,
        "A filter is declared, but nothing is recorded.",
    ),
    (
        "shell.audit_full_content",
        Warning,
        "The audit log will hold complete command input and output.",
    ),
    (
        "shell.audit_path_required",
        Error,
        "A log file needs a path.",
    ),
    (
        "shell.backend_platform",
        Error,
        "This sandbox does not exist on that platform.",
    ),
    (
        "shell.deny_by_text",
        Warning,
        "A restriction looks at the spelling of the program, which a caller can vary.",
    ),
    (
        "shell.duplicate_attribute",
        Error,
        "An attribute is written twice on one element.",
    ),
    (
        "shell.duplicate_named_entry",
        Error,
        "Two entries of one list have the same id.",
    ),
    (
        "shell.duplicate_section",
        Error,
        "An element that may occur once is repeated.",
    ),
    (
        "shell.durable_scope_disabled",
        Error,
        "Lasting approvals are offered although they are switched off.",
    ),
    (
        "shell.durable_scope_unused",
        Warning,
        "Lasting approvals are permitted but never offered.",
    ),
    (
        "shell.empty_matcher",
        Error,
        "A group of matchers is empty.",
    ),
    ("shell.empty_regex", Error, "A pattern is empty."),
    (
        "shell.empty_reviewers",
        Warning,
        "A reviewer chain without reviewers denies every question.",
    ),
    (
        "shell.environment_sensitive_name",
        Warning,
        "A variable that can change what programs do is set or passed.",
    ),
    (
        "shell.external_backend_atom_arity",
        Error,
        "A part of a wrapper command is written twice.",
    ),
    (
        "shell.external_backend_command_argv",
        Error,
        "A wrapper command must end in exactly one `command_argv`.",
    ),
    (
        "shell.external_backend_roots_unused",
        Warning,
        "A wrapper claims to confine but is never told the roots.",
    ),
    (
        "shell.external_backend_unverifiable",
        Error,
        "Nothing can verify the confinement of an external wrapper.",
    ),
    (
        "shell.identifier_style",
        Warning,
        "An id is legal but outside the usual pattern.",
    ),
    (
        "shell.incompatible_attribute",
        Error,
        "An attribute does not go with the chosen kind or format.",
    ),
    (
        "shell.invalid_argv_prefix",
        Error,
        "A command prefix has no program.",
    ),
    (
        "shell.invalid_attribute",
        Error,
        "A value is not one of those permitted.",
    ),
    (
        "shell.invalid_bytes",
        Error,
        "A size is malformed or too large.",
    ),
    (
        "shell.invalid_duration",
        Error,
        "A duration is malformed, zero or too long.",
    ),
    (
        "shell.invalid_env_name",
        Error,
        "This is not the name of an environment variable.",
    ),
    (
        "shell.invalid_extension",
        Error,
        "An extension is either a script or an executable.",
    ),
    (
        "shell.invalid_failure_mode",
        Error,
        "This failure word would weaken the extension point.",
    ),
    (
        "shell.invalid_identifier",
        Error,
        "An id is empty, padded, too long or has control characters.",
    ),
    (
        "shell.invalid_integer",
        Error,
        "A number is malformed or too large.",
    ),
    (
        "shell.invalid_list",
        Error,
        "A comma list has an empty or repeated item.",
    ),
    (
        "shell.invalid_path",
        Error,
        "A path is malformed or names an unknown variable.",
    ),
    (
        "shell.invalid_path_operation",
        Error,
        "A `path` element needs either `prepend` or `append`.",
    ),
    (
        "shell.invalid_program_regex",
        Error,
        "A pattern is not accepted by the linear-time engine.",
    ),
    (
        "shell.invalid_reference",
        Error,
        "A reference is malformed, or names a profile where a runtime is needed.",
    ),
    (
        "shell.invalid_root",
        Error,
        "A root is given by either `path` or `path_env`.",
    ),
    (
        "shell.invalid_runtime_id",
        Error,
        "The id of a runtime is not a plain name.",
    ),
    (
        "shell.invalid_sha256",
        Error,
        "A digest is not 64 hexadecimal digits.",
    ),
    (
        "shell.limit_ineffective",
        Warning,
        "A limit can never take effect.",
    ),
    (
        "shell.limit_out_of_range",
        Error,
        "A limit lies outside its bounds.",
    ),
    (
        "shell.literal_secret_in_source",
        Warning,
        "A secret is written into the document.",
    ),
    (
        "shell.matcher_arity",
        Error,
        "This element takes exactly one matcher.",
    ),
    (
        "shell.matcher_failure_clamped",
        Warning,
        "A failing script cannot lift a restriction.",
    ),
    (
        "shell.matcher_too_deep",
        Error,
        "Matchers are nested too deep, or there are too many.",
    ),
    (
        "shell.missing_attribute",
        Error,
        "A required attribute is absent or empty.",
    ),
    (
        "shell.override_without_target",
        Warning,
        "There is no inherited entry to override.",
    ),
    (
        "shell.path_escapes_base",
        Warning,
        "A path climbs above the place where it starts.",
    ),
    (
        "shell.qualified_declaration",
        Warning,
        "A declared id contains a namespace.",
    ),
    (
        "shell.relative_search_path",
        Error,
        "A search path or trusted root must not be relative.",
    ),
    (
        "shell.required_limit_disabled",
        Error,
        "This limit cannot be switched off.",
    ),
    (
        "shell.reserved_namespace",
        Error,
        "The names `builtin` and `legacy` are reserved.",
    ),
    (
        "shell.reviewer_agent_is_shell_tool",
        Error,
        "A reviewer must be an agent, not a shell tool.",
    ),
    (
        "shell.rule_matcher_arity",
        Error,
        "A rule takes exactly one matcher.",
    ),
    (
        "shell.script_kind_mismatch",
        Error,
        "The script is of another kind.",
    ),
    (
        "shell.ui_reviewer_without_provider",
        Warning,
        "A reviewer waits for a person whom nobody can reach.",
    ),
    (
        "shell.unexpanded_variable",
        Warning,
        "Literal text contains a variable that is not expanded.",
    ),
    (
        "shell.unexpected_child",
        Error,
        "This element must be empty.",
    ),
    (
        "shell.unexpected_text",
        Error,
        "Text stands among declarations.",
    ),
    (
        "shell.unknown_attribute",
        Error,
        "The element has no attribute of this name.",
    ),
    (
        "shell.unknown_builtin_profile",
        Error,
        "There is no built-in profile of this name and version.",
    ),
    (
        "shell.unknown_element",
        Error,
        "The element is not permitted here.",
    ),
    (
        "shell.unknown_entrypoint",
        Error,
        "The script does not define this function.",
    ),
    ("shell.unknown_matcher", Error, "The element is no matcher."),
    ("shell.unknown_runtime", Error, "No runtime has this name."),
    ("shell.unknown_script", Error, "No script has this name."),
    (
        "shell.unknown_worker_runtime",
        Error,
        "The runtime that should run a hook does not exist.",
    ),
    (
        "shell.unpinned_hook",
        Warning,
        "An executable extension is not pinned by a digest.",
    ),
    (
        "shell.untrusted_allow",
        Info,
        "A program is allowed by name, whoever put it there.",
    ),
    (
        "shell.worker_cannot_run_hook",
        Warning,
        "The worker runtime has no rule that surely allows its hook.",
    ),
    (
        "shell.worker_interactive",
        Warning,
        "The worker runtime has reviewers or interceptors that hooks never reach.",
    ),
    (
        "shell.worker_network",
        Warning,
        "The worker runtime of a hook may use the network.",
    ),
    (
        "shell.worker_unsandboxed",
        Warning,
        "The worker runtime of a hook does not require a sandbox.",
    ),
];
