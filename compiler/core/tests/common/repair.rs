//! Applies the repairs of findings, and compiles what comes out.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::diagnostics::Fix;
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::{Compilation, CompileOptions, compile};

/// Texts by path relative to the root's directory.
pub type Files = BTreeMap<String, String>;

/// Compiles `agent.chatmd` of these files for Linux.
pub fn compiled(files: &Files) -> Arc<Compilation> {
    let system: MemoryFileSystem = files
        .iter()
        .map(|(name, text)| (format!("/project/{name}"), text.as_bytes()))
        .collect();
    let mut db = Database::new(system);
    let root = db
        .root_from_path(Utf8Path::new("agent.chatmd"), Utf8Path::new("/project"))
        .unwrap();
    compile(&db, root, &CompileOptions::for_platform(Platform::Linux))
}

/// The files after a repair. Edits must not overlap and must lie in their files.
pub fn repaired(files: &Files, compilation: &Compilation, fix: &Fix) -> Files {
    let mut edits: Vec<_> = fix
        .edits
        .iter()
        .map(|edit| {
            let at = compilation.locate(edit.place).unwrap();
            (at.file.display.clone(), at.span, &edit.text)
        })
        .collect();
    edits.sort_by_key(|(_, span, _)| std::cmp::Reverse(span.start));
    let mut files = files.clone();
    let mut before: Option<(String, u32)> = None;
    for (name, span, text) in edits {
        if let Some((last, start)) = &before {
            assert!(*last != name || span.end <= *start, "edits overlap");
        }
        let file = files.get_mut(&name).unwrap();
        file.replace_range(span.range(), text);
        before = Some((name, span.start));
    }
    files
}
