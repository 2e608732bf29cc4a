//! All findings of a compilation in their final order (spec 01 section 15.3).

use std::collections::HashSet;

use chatmd_syntax::SyntaxDiagnostic;
use chatmd_syntax::tree::SyntaxSeverity;

use super::{CompiledFile, position, programs};
use crate::db::{self, Db};
use crate::diagnostics::{Diagnostic, Edit, FileIndex, Fix, IMPORTED_HERE, Label, Place, Severity};
use crate::expand::{ExpandedFile, Expansion, Reading};
use crate::resolve::Resolution;

/// Most findings of one compilation (spec 01 section 20).
pub const MAX_DIAGNOSTICS: usize = 1_000;

/// The findings of all passes but the tests, in no order.
pub(super) fn gather(
    db: &dyn Db,
    expansion: &Expansion,
    resolution: &Resolution,
) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for (index, file) in expansion.files.iter().enumerate() {
        of_file(db, FileIndex(index as u32), file, &mut all);
    }
    all.extend(expansion.diagnostics.iter().cloned());
    all.extend(resolution.diagnostics.iter().cloned());
    for program in &resolution.programs {
        programs::findings(db, program, &mut all);
    }
    all
}

/// Orders all findings, bounds their number and adds how their files were reached.
pub(super) fn finish(
    all: Vec<Diagnostic>,
    expansion: &Expansion,
    files: &[CompiledFile],
) -> Vec<Diagnostic> {
    let mut all = ordered(all, files);
    cap(&mut all);
    for found in &mut all {
        hide_secrets(found, files);
    }
    for found in &mut all {
        add_import_chain(found, expansion);
    }
    all
}

/// Takes out of a finding's words what stands in a literal secret: a secret with a quote in it reads
/// as names of attributes and elements, which findings quote.
fn hide_secrets(found: &mut Diagnostic, files: &[CompiledFile]) {
    let places = std::iter::once(&found.primary).chain(&found.secondary);
    let mut words: Vec<String> = Vec::new();
    for label in places {
        let Some(file) = files.get(label.place.file.0 as usize) else {
            continue;
        };
        let span = file.location(label.place).span;
        words.extend(file.secret_parts(span).map(str::to_owned));
    }
    words.retain(|word| !word.trim().is_empty());
    if words.is_empty() {
        return;
    }
    let secret = |part: &str| {
        let part = part.strip_suffix('…').unwrap_or(part);
        !part.is_empty() && words.iter().any(|word| word.contains(part))
    };
    let texts = [&mut found.message, &mut found.primary.text];
    let labels = found.secondary.iter_mut().map(|label| &mut label.text);
    for text in texts
        .into_iter()
        .chain(labels)
        .chain(&mut found.hints)
        .chain(&mut found.notes)
    {
        if text.split('`').skip(1).step_by(2).any(secret) {
            let parts = text.split('`').enumerate();
            let kept = parts.map(|(number, part)| match number % 2 {
                1 if secret(part) => "…",
                _ => part,
            });
            *text = kept.collect::<Vec<_>>().join("`");
        }
    }
    for part in &mut found.path {
        if secret(part) {
            *part = "…".to_owned();
        }
    }
    found
        .fixes
        .retain(|fix| !fix.title.split('`').skip(1).step_by(2).any(secret));
}

/// Findings of parsing and lowering.
fn of_file(db: &dyn Db, index: FileIndex, file: &ExpandedFile, all: &mut Vec<Diagnostic>) {
    if file.readings.contains(&Reading::Document) {
        let source = db::source(db, file.input);
        all.extend(source.diagnostics.iter().map(|found| in_file(index, found)));
        let declarations = db::declarations(db, file.input);
        for (item, lowered) in declarations.items.iter().enumerate() {
            let found = lowered.diagnostics.iter();
            all.extend(found.map(|found| placed(found, index, Some(item as u32))));
        }
    }
    if file.readings.contains(&Reading::Content) {
        let source = db::content_source(db, file.input);
        all.extend(source.diagnostics.iter().map(|found| in_file(index, found)));
        let content = db::content_declarations(db, file.input);
        all.extend(
            content
                .diagnostics
                .iter()
                .map(|found| placed(found, index, None)),
        );
    }
}

/// A finding of the parser or the formatter as one about the root document.
pub fn from_syntax(found: &SyntaxDiagnostic) -> Diagnostic {
    in_file(FileIndex(0), found)
}

fn in_file(file: FileIndex, found: &SyntaxDiagnostic) -> Diagnostic {
    let place = |span| Place {
        file,
        item: None,
        span,
    };
    let fix = found.fix.as_ref().map(|(title, edits)| Fix {
        title: title.clone(),
        edits: edits
            .iter()
            .map(|(span, text)| Edit {
                place: place(*span),
                text: text.clone(),
            })
            .collect(),
    });
    Diagnostic {
        code: found.code,
        detail: None,
        severity: match found.severity {
            SyntaxSeverity::Error => Severity::Error,
            SyntaxSeverity::Warning => Severity::Warning,
        },
        message: found.message.clone(),
        path: found.path.clone(),
        primary: Label {
            place: place(found.primary),
            text: found.label.clone(),
        },
        secondary: found
            .secondary
            .iter()
            .map(|(span, text)| Label {
                place: place(*span),
                text: text.clone(),
            })
            .collect(),
        hints: found.help.iter().cloned().collect(),
        notes: Vec::new(),
        fixes: fix.into_iter().collect(),
        runtime_id: None,
    }
}

/// A finding of lowering, which knows neither its file nor its item.
fn placed(found: &Diagnostic, file: FileIndex, item: Option<u32>) -> Diagnostic {
    let mut found = found.clone();
    let settle = |place: &mut Place| {
        if place.file == FileIndex::SELF {
            place.file = file;
            place.item = place.item.or(item);
        }
    };
    settle(&mut found.primary.place);
    found
        .secondary
        .iter_mut()
        .for_each(|label| settle(&mut label.place));
    for edit in found.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
        settle(&mut edit.place);
    }
    found
}

/// Sorted by file, start, code, with exact repetitions left out.
pub(super) fn ordered(all: Vec<Diagnostic>, files: &[CompiledFile]) -> Vec<Diagnostic> {
    let absolute = |place: Place| match files.get(place.file.0 as usize) {
        Some(file) => position::absolute(place, &file.item_starts, &file.text),
        None => place.span,
    };
    let mut keyed: Vec<_> = all
        .into_iter()
        .map(|found| {
            let span = absolute(found.primary.place);
            (
                (found.primary.place.file, span.start, found.code, span.end),
                found,
            )
        })
        .collect();
    keyed.sort_by(|(a, x), (b, y)| {
        a.cmp(b)
            .then(x.severity.cmp(&y.severity))
            .then_with(|| x.message.cmp(&y.message))
    });
    let mut seen = HashSet::new();
    keyed.retain(|(key, found)| {
        let secondary: Vec<_> = found
            .secondary
            .iter()
            .map(|label| (label.place, label.text.clone()))
            .collect();
        seen.insert((*key, found.message.clone(), found.path.clone(), secondary))
    });
    keyed.into_iter().map(|(_, found)| found).collect()
}

/// Keeps [`MAX_DIAGNOSTICS`] findings, errors before others, and says so.
pub(super) fn cap(all: &mut Vec<Diagnostic>) {
    if all.len() <= MAX_DIAGNOSTICS {
        return;
    }
    let mut ranks: Vec<(Severity, usize)> = all
        .iter()
        .enumerate()
        .map(|(at, found)| (found.severity, at))
        .collect();
    ranks.sort_unstable();
    let kept: HashSet<usize> = ranks
        .iter()
        .take(MAX_DIAGNOSTICS)
        .map(|(_, at)| *at)
        .collect();
    let first_left_out = all.iter().enumerate().find(|(at, _)| !kept.contains(at));
    let place = first_left_out.map(|(_, found)| found.primary.place);
    let mut at = 0;
    all.retain(|_| {
        at += 1;
        kept.contains(&(at - 1))
    });
    let Some(place) = place else { return };
    all.push(Diagnostic {
        code: "chatmd.too_many_diagnostics",
        detail: None,
        severity: Severity::Error,
        message: format!(
            "more than {MAX_DIAGNOSTICS} findings; the first that is not shown is here"
        ),
        path: Vec::new(),
        primary: Label {
            place,
            text: "not shown from here on".to_owned(),
        },
        secondary: Vec::new(),
        hints: vec!["repair the findings above first".to_owned()],
        notes: Vec::new(),
        fixes: Vec::new(),
        runtime_id: None,
    });
}

/// One label per import on the way to the file of the finding, innermost first.
fn add_import_chain(found: &mut Diagnostic, expansion: &Expansion) {
    let Some(file) = expansion.file(found.primary.place.file) else {
        return;
    };
    for place in file.chain.iter().rev() {
        let known = found.secondary.iter().any(|label| label.place == *place);
        if !known && found.primary.place != *place {
            found.secondary.push(Label {
                place: *place,
                text: IMPORTED_HERE.to_owned(),
            });
        }
    }
}
