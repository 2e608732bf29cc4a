//! Which codes of the declaration language no document can cause, and why.

/// Raised while binding, starting or running, or by one command alone: they have an explanation
/// and no fixture.
pub const WITHOUT_DOCUMENT: &[(&str, &[&str])] = &[
    (
        "the formatter alone refuses such a file",
        &["chatmd.format_syntax_error"],
    ),
    (
        "a converter was handed something that the parser never makes",
        &[
            "read_file.invalid_element",
            "shell.ambiguous_source_directory",
            "shell.invalid_moderator_runtime",
            "shell.unresolved_setting",
        ],
    ),
    (
        "only a program that builds declarations itself can cause it",
        &[
            "shell.duplicate_script",
            "shell.tool_duplicate_attribute",
            "shell.tool_unknown_attribute",
        ],
    ),
    (
        "it depends on files and variables of the host, which compiling never looks at",
        &[
            "shell.capability_path_invalid",
            "shell.capability_path_missing",
            "shell.executable_digest_mismatch",
            "shell.external_backend_digest_mismatch",
            "shell.file_absent",
            "shell.file_changed",
            "shell.hook_digest_mismatch",
            "shell.path_not_utf8",
        ],
    ),
    (
        "no policy that compiles is too large to be evaluated on the symbolic host",
        &["chatmd.test_indeterminate"],
    ),
    (
        "its smallest document is too large for a suite; `tests/resolution.rs` makes one",
        &["shell.manifest_too_large"],
    ),
    (
        "it speaks of a stored manifest or bundle, not of a document",
        &[
            "shell.manifest_digest_mismatch",
            "shell.manifest_encoding",
            "shell.manifest_material_mismatch",
            "shell.manifest_material_missing",
        ],
    ),
];

/// Not reported yet: names inside scripts are not looked at before ChatML is compiled. The test
/// fails as soon as one of them has a fixture, so that none stays here by oversight.
pub const NEEDS_CHATML: &[&str] = &["shell.unknown_entrypoint"];

pub fn without_document(code: &str) -> bool {
    let listed = WITHOUT_DOCUMENT.iter().flat_map(|(_, codes)| *codes);
    listed.chain(NEEDS_CHATML).any(|known| *known == code)
}
