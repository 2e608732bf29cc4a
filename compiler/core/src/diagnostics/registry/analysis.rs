//! Tests inside documents, and what else is found out about a document without running it.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "chatmd.annotation_duplicate",
        Warning,
        "One element has two rationales, or two alternatives.",
    ),
    (
        "chatmd.lint.deny_prefix_global_options",
        Warning,
        "A rule restricts a subcommand by the first words of a command, and an option before it gets past.",
    ),
    (
        "chatmd.lint.rule_never_matches",
        Warning,
        "A rule asks for two things that no command has at once.",
    ),
    (
        "chatmd.test_contradiction",
        Error,
        "Two tests of the same request cannot both pass.",
    ),
    (
        "chatmd.test_duplicate",
        Warning,
        "The same test is written twice.",
    ),
    (
        "chatmd.test_failed",
        Error,
        "A request would not become what its test expects.",
    ),
    (
        "chatmd.test_indeterminate",
        Error,
        "What would become of a request cannot be found out.",
    ),
    (
        "chatmd.test_limit",
        Error,
        "There are too many tests, or one directive is too long.",
    ),
    (
        "chatmd.test_needs_scripts",
        Info,
        "The result of a test hangs on a script that is not run here.",
    ),
    (
        "chatmd.test_sidecar",
        Error,
        "A line of a file of tests cannot be used.",
    ),
    (
        "chatmd.test_syntax",
        Error,
        "A test, one of its options or a fact cannot be read.",
    ),
    (
        "chatmd.test_unattached",
        Error,
        "A test does not say which runtime or tool it is about.",
    ),
    (
        "chatmd.test_unknown_target",
        Error,
        "A test names a tool, runtime or rule that does not exist.",
    ),
];
