//! Tests of lowering on whole documents.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod codes;
mod documents;
mod hostile;
mod messages;
mod policies;
mod runtimes;
mod tools;
mod vectors;

use chatmd_syntax::{LineIndex, Parse, parse};

use super::{item_starts, lower};
use crate::diagnostics::{Diagnostic, Place, Severity};

/// One finding with its place as people count it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    line: u32,
    column: u32,
    code: String,
}

/// Findings of the parser and of lowering with that severity, in source order.
fn findings(parse: &Parse, severity: Severity) -> Vec<Seen> {
    let index = LineIndex::new(parse.tree.text.clone());
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
    for finding in lowered(parse) {
        if finding.severity == severity {
            all.push(at(finding.code, finding.primary.place.span.start));
        }
    }
    all.sort();
    all
}

/// All findings of lowering, with absolute spans.
fn lowered(parse: &Parse) -> Vec<Diagnostic> {
    let starts = item_starts(parse);
    let mut all = Vec::new();
    for (index, item) in lower(parse).items.iter().enumerate() {
        for mut finding in item.diagnostics.clone() {
            let absolute = |place: &mut Place| {
                assert_eq!(place.item, Some(index as u32));
                place.span = place.span.offset_by(starts[index]);
            };
            absolute(&mut finding.primary.place);
            finding
                .secondary
                .iter_mut()
                .for_each(|label| absolute(&mut label.place));
            for fix in &mut finding.fixes {
                fix.edits
                    .iter_mut()
                    .for_each(|edit| absolute(&mut edit.place));
            }
            all.push(finding);
        }
    }
    all
}

/// `code@text under the caret` of every finding of lowering, parser errors first.
fn shown(text: &str) -> Vec<String> {
    let parse = parse(text.as_bytes());
    let under =
        |span: chatmd_syntax::Span| text.get(span.range()).unwrap_or("<no boundary>").to_owned();
    let syntax = parse
        .diagnostics
        .iter()
        .filter(|found| found.severity == chatmd_syntax::SyntaxSeverity::Error);
    let mut all: Vec<String> = syntax
        .map(|found| format!("{}@{}", found.code, under(found.primary)))
        .collect();
    all.extend(
        lowered(&parse)
            .iter()
            .map(|found| format!("{}@{}", found.code, under(found.primary.place.span))),
    );
    all
}

/// A document and what [`shown`] must give for it.
type Case<'a> = (&'a str, &'a [&'a str]);

/// Checks a table; `wrap` puts each fragment into a document.
fn check(cases: &[Case<'_>], wrap: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (fragment, expected) in cases {
        let text = wrap(fragment);
        let found = shown(&text);
        if found != *expected {
            wrong.push(format!(
                "{text}\n  expected {expected:?}\n  found    {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The document after the first fix of the first finding that has one.
fn fixed(text: &str) -> Option<String> {
    let findings = lowered(&parse(text.as_bytes()));
    let fix = findings.iter().find_map(|finding| finding.fixes.first())?;
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|edit| core::cmp::Reverse(edit.place.span.start));
    let mut out = text.to_owned();
    for edit in edits {
        out.replace_range(edit.place.span.range(), &edit.text);
    }
    Some(out)
}
