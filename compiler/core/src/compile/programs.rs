//! What the ChatML checker says of the programs of a document, at their places in it
//! (spec 05 section 1).

use std::sync::Arc;

use chatmd_syntax::Span;
use chatml::diagnostic::MAX_DIAGNOSTICS;
use chatml::{EntryRequest, check, check_entries, parse};

use crate::db::Db;
use crate::diagnostics::{Diagnostic, Edit, Fix, Label, Place};
use crate::manifest::ScriptKind;
use crate::resolve::{Origin, Program, surface};

/// Outer code of everything that keeps a program from compiling. Warnings stand for themselves.
const OUTER: &str = "shell.chatml_compile";

/// A program by value, so that it is checked again only when its own text, kind or use changes.
#[salsa::interned(debug)]
struct ProgramKey<'db> {
    #[returns(ref)]
    text: Arc<str>,
    kind: ScriptKind,
    #[returns(ref)]
    entrypoints: Vec<String>,
}

/// Errors and warnings of a program, by place.
#[salsa::tracked(returns(clone))]
fn checked<'db>(db: &'db dyn Db, key: ProgramKey<'db>) -> Arc<Vec<chatml::diagnostic::Diagnostic>> {
    let kind = surface(*key.kind(db));
    let parsed = parse(key.text(db));
    let checked = check(&parsed.program, kind);
    let names = key.entrypoints(db);
    let requests: Vec<EntryRequest<'_>> = match names.is_empty() {
        true => vec![EntryRequest::Default],
        false => names.iter().map(|name| EntryRequest::Named(name)).collect(),
    };
    let entries = check_entries(&parsed.program, &checked, &requests);
    let errors = parsed.errors.into_iter().chain(checked.errors);
    let errors = errors.chain(entries.errors).take(MAX_DIAGNOSTICS);
    let warnings = parsed.warnings.into_iter().chain(checked.warnings);
    Arc::new(errors.chain(warnings.take(MAX_DIAGNOSTICS)).collect())
}

/// Adds the findings of one program.
pub(super) fn findings(db: &dyn Db, program: &Program, all: &mut Vec<Diagnostic>) {
    let key = ProgramKey::new(
        db,
        Arc::clone(&program.text),
        program.kind,
        program.entrypoints.clone(),
    );
    let found = checked(db, key);
    all.extend(found.iter().map(|found| placed(found, program)));
}

/// A finding of the checker as one of the document.
fn placed(found: &chatml::diagnostic::Diagnostic, program: &Program) -> Diagnostic {
    let mut diagnostic = translated(found, |span| match program.origin {
        Origin::Inline { file, item, start } => Place {
            file,
            item: Some(item),
            span: Span::new(start + span.start, start + span.end),
        },
        Origin::File(file) => Place {
            file,
            item: None,
            span: Span::new(span.start, span.end),
        },
    });
    if found.is_error() {
        diagnostic.detail = Some(found.code.as_str());
        diagnostic.code = OUTER;
    }
    diagnostic.path = vec!["script".to_owned(), program.id.clone()];
    diagnostic
}

/// A finding of the checker with its own code, its spans where `place` says.
pub(super) fn translated(
    found: &chatml::diagnostic::Diagnostic,
    place: impl Fn(chatml::span::Span) -> Place,
) -> Diagnostic {
    let code = found.code.as_str();
    let mut diagnostic = Diagnostic::new(code, place(found.span), &*found.message);
    diagnostic.secondary = found
        .labels
        .iter()
        .map(|label| Label {
            place: place(label.span),
            text: label.message.clone(),
        })
        .collect();
    diagnostic.hints = found.notes.iter().chain(&found.help).cloned().collect();
    diagnostic.fixes = found
        .fixes
        .iter()
        .map(|fix| Fix {
            title: imperative(&fix.title),
            edits: fix
                .edits
                .iter()
                .map(|edit| Edit {
                    place: place(edit.span),
                    text: edit.text.clone(),
                })
                .collect(),
        })
        .collect();
    diagnostic
}

/// Titles of repairs begin with a small letter in documents.
fn imperative(title: &str) -> String {
    let mut rest = title.chars();
    let first = rest.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use chatml::diagnostic::Code;

    use crate::diagnostics::Severity;
    use crate::diagnostics::registry;

    /// The checker knows the severity of its codes, the registry explains them: they agree.
    #[test]
    fn codes_of_the_checker_are_registered_with_their_severity() {
        for code in Code::ALL {
            let entry = registry::entry(code.as_str());
            let severity = entry.map(|entry| entry.level.severity());
            let own = match code.severity() {
                chatml::diagnostic::Severity::Error => Severity::Error,
                chatml::diagnostic::Severity::Warning => Severity::Warning,
            };
            assert_eq!(severity, Some(own), "{}", code.as_str());
        }
    }
}
