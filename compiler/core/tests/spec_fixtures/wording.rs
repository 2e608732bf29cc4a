//! Every finding of every suite, whole: the words, the related places, the advice, the repairs and
//! the declaration path, as a reader gets them.

use std::fmt::Write as _;

use chatmd_compiler::Compilation;
use chatmd_compiler::diagnostics::{Diagnostic, Place};

use crate::run::{Named, compile_case};

/// The findings of a suite as text, by the heading's line of each case.
pub fn of(suite: &Named) -> String {
    let mut text = String::new();
    for case in suite.content.sections.iter().flat_map(|s| &s.cases) {
        let compilation = compile_case(case);
        if compilation.diagnostics.is_empty() {
            continue;
        }
        let code = case.files.iter().flat_map(|file| &file.expectations).next();
        let code = code.map_or("-", |expected| expected.code.as_str());
        let _ = writeln!(text, "# {code}");
        for diagnostic in &compilation.diagnostics {
            write(&mut text, &compilation, diagnostic);
        }
    }
    text
}

fn write(text: &mut String, compilation: &Compilation, diagnostic: &Diagnostic) {
    let place = |place: Place| {
        let at = compilation.locate(place).unwrap();
        format!(
            "{}:{}:{}-{}:{}",
            at.file.display, at.start.line, at.start.column, at.end.line, at.end.column
        )
    };
    let _ = writeln!(
        text,
        "{} {:?}[{}] {}",
        place(diagnostic.primary.place),
        diagnostic.severity,
        diagnostic.code,
        diagnostic.message
    );
    let _ = writeln!(text, "  here: {}", diagnostic.primary.text);
    for label in &diagnostic.secondary {
        let _ = writeln!(text, "  also: {} {}", place(label.place), label.text);
    }
    for hint in &diagnostic.hints {
        let _ = writeln!(text, "  help: {hint}");
    }
    for fix in &diagnostic.fixes {
        let _ = writeln!(text, "  fix: {}", fix.title);
        for edit in &fix.edits {
            let _ = writeln!(text, "    {} {:?}", place(edit.place), edit.text);
        }
    }
    let runtime = diagnostic.runtime_id.as_deref().unwrap_or("-");
    let _ = writeln!(
        text,
        "  path: {} (runtime {runtime})",
        diagnostic.path.join(" / ")
    );
}
