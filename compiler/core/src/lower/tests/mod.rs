//! Tests of lowering on whole documents.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod vectors;

use chatmd_syntax::{LineIndex, Parse, parse};

use super::{item_starts, lower};
use crate::diagnostics::{Diagnostic, Severity};

/// One finding with its place as people count it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    line: u32,
    column: u32,
    code: String,
}

/// Findings of the parser and of lowering with severity `severity`, in source order.
fn findings(parse: &Parse, severity: Severity) -> Vec<Seen> {
    let index = LineIndex::new(parse.tree.text.clone());
    let starts = item_starts(parse);
    let at = |code: &str, offset: u32| {
        let position = index.position(offset);
        Seen {
            line: position.line,
            column: position.column,
            code: code.to_owned(),
        }
    };
    let mut all: Vec<Seen> = Vec::new();
    for finding in &parse.diagnostics {
        let same = match finding.severity {
            chatmd_syntax::SyntaxSeverity::Error => Severity::Error,
            chatmd_syntax::SyntaxSeverity::Warning => Severity::Warning,
        };
        if same == severity {
            all.push(at(finding.code, finding.primary.start));
        }
    }
    let lowered = lower(parse);
    for (index, item) in lowered.items.iter().enumerate() {
        for finding in item
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == severity)
        {
            assert_eq!(finding.primary.place.item, Some(index as u32));
            all.push(at(
                finding.code,
                starts[index] + finding.primary.place.span.start,
            ));
        }
    }
    all.sort();
    all
}

/// All findings of lowering, with absolute spans.
fn lowered(text: &str) -> Vec<Diagnostic> {
    let parse = parse(text.as_bytes());
    let starts = item_starts(&parse);
    let mut all = Vec::new();
    for (index, item) in lower(&parse).items.iter().enumerate() {
        for mut finding in item.diagnostics.clone() {
            let move_to_file = |place: &mut crate::diagnostics::Place| {
                place.span = place.span.offset_by(starts[index])
            };
            move_to_file(&mut finding.primary.place);
            for fix in &mut finding.fixes {
                fix.edits
                    .iter_mut()
                    .for_each(|edit| move_to_file(&mut edit.place));
            }
            all.push(finding);
        }
    }
    all
}

/// `code` or `code@text under the caret` of every finding.
fn shown(text: &str) -> Vec<String> {
    let show = |finding: &Diagnostic| {
        let span = finding.primary.place.span;
        format!("{}@{}", finding.code, &text[span.range()])
    };
    lowered(text).iter().map(show).collect()
}
