//! Findings that only an editor shows.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "chatmd.lsp.analysis_reduced",
        Info,
        "The document is over 8 MiB: the editor checks its syntax alone.",
    ),
    (
        "chatmd.lsp.import_has_errors",
        Info,
        "An imported file that is not open has errors; open it to see them.",
    ),
    (
        "chatmd.lsp.restricted",
        Info,
        "Something was not read because the workspace is not trusted.",
    ),
    (
        "chatmd.lsp.script_unreferenced",
        Info,
        "No known document names this script file.",
    ),
];
