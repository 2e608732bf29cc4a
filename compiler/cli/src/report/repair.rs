//! The source lines that a fix would leave.

use chatmd_compiler::Compilation;
use chatmd_compiler::compile::Span;
use chatmd_compiler::diagnostics::Fix;

/// Most lines of repaired text that are worth showing.
const MAX_LINES: usize = 6;
/// Longest line that is shown whole, in bytes.
const MAX_LINE_BYTES: usize = 400;

/// Whether a fix rewrites a literal secret: its text then holds the secret.
pub fn touches_secret(compilation: &Compilation, fix: &Fix) -> bool {
    fix.edits.iter().any(|edit| {
        compilation
            .locate(edit.place)
            .is_some_and(|at| at.file.holds_secret(at.span))
    })
}

/// The touched lines after the fix with their numbers. Empty when the edits lie in several files,
/// overlap, or touch too much to be shown.
pub fn lines(compilation: &Compilation, fix: &Fix) -> Vec<(u32, String)> {
    let mut edits: Vec<_> = fix
        .edits
        .iter()
        .filter_map(|edit| {
            compilation
                .locate(edit.place)
                .map(|at| (at, edit.text.as_str()))
        })
        .collect();
    edits.sort_by_key(|(at, _)| (at.span.start, at.span.end));
    let (Some((first, _)), Some((last, _))) = (edits.first(), edits.last()) else {
        return Vec::new();
    };
    if edits.len() != fix.edits.len() || edits.iter().any(|(at, _)| at.index != first.index) {
        return Vec::new();
    }
    let file = first.file;
    let index = file.lines();
    let (first_line, last_line) = (first.start.line - 1, last.end.line - 1);
    let begin = index.line(first_line).start;
    let end = index.line(last_line).end;
    // What a fix makes of a secret is not for the eye.
    if file.holds_secret(Span::new(begin, end)) {
        return Vec::new();
    }
    let mut repaired = String::new();
    let mut copied = begin;
    for (at, text) in &edits {
        let Some(between) = file.text.get(copied as usize..at.span.start as usize) else {
            return Vec::new();
        };
        repaired.push_str(between);
        repaired.push_str(text);
        copied = at.span.end;
        if repaired.len() > MAX_LINES * MAX_LINE_BYTES {
            return Vec::new();
        }
    }
    repaired.push_str(
        file.text
            .get(copied as usize..end as usize)
            .unwrap_or_default(),
    );
    let shown: Vec<_> = repaired
        .trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .map(|(at, line)| (first_line + at as u32 + 1, line.trim_end().to_owned()))
        .collect();
    if shown.len() > MAX_LINES || shown.iter().any(|(_, line)| line.len() > MAX_LINE_BYTES) {
        return Vec::new();
    }
    shown
}
