//! Findings as JSON (spec 10 sections 1.2 and 1.3). Members keep the order of the specification.

use chatmd_compiler::diagnostics::{Diagnostic, Fix, Place};
use chatmd_compiler::{Compilation, SafeText};
use serde::Serialize;

use super::repair::touches_secret;
use super::{Findings, severity_word};

/// One finding.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct JsonDiagnostic {
    pub code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<&'static str>,
    pub severity: &'static str,
    pub message: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub end_line: Option<u32>,
    pub end_column: Option<u32>,
    pub path: Vec<String>,
    pub runtime_id: Option<String>,
    pub hints: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub related: Vec<Related>,
    pub fixes: Vec<JsonFix>,
}

/// A related place.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Related {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub message: String,
}

/// A repair.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct JsonFix {
    pub title: String,
    pub edits: Vec<JsonEdit>,
}

/// One replacement. The text is exact: it is written into a file, not on a terminal.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct JsonEdit {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub end_line: Option<u32>,
    pub end_column: Option<u32>,
    pub text: String,
}

/// The findings of all documents in order.
pub fn diagnostics(documents: &[Findings<'_>]) -> Vec<JsonDiagnostic> {
    let of_document = |document: &Findings<'_>| -> Vec<JsonDiagnostic> {
        document
            .shown
            .iter()
            .map(|found| one(document.compilation, found))
            .collect()
    };
    documents.iter().flat_map(of_document).collect()
}

/// A finding that is about no place in a document.
pub fn without_place(code: &'static str, severity: &'static str, message: &str) -> JsonDiagnostic {
    JsonDiagnostic {
        code,
        detail: None,
        severity,
        message: safe(message),
        file: None,
        line: None,
        column: None,
        end_line: None,
        end_column: None,
        path: Vec::new(),
        runtime_id: None,
        hints: Vec::new(),
        notes: Vec::new(),
        related: Vec::new(),
        fixes: Vec::new(),
    }
}

fn one(compilation: &Compilation, found: &Diagnostic) -> JsonDiagnostic {
    let at = position(compilation, found.primary.place);
    JsonDiagnostic {
        code: found.code,
        detail: found.detail,
        severity: severity_word(found.severity),
        message: safe(&found.message),
        file: at.file,
        line: at.line,
        column: at.column,
        end_line: at.end_line,
        end_column: at.end_column,
        path: found.path.clone(),
        runtime_id: found.runtime_id.clone(),
        hints: found.hints.iter().map(|hint| safe(hint)).collect(),
        notes: found
            .notes
            .iter()
            .map(|note| SafeText::lines(note).into_string())
            .collect(),
        related: found
            .secondary
            .iter()
            .map(|label| {
                let at = position(compilation, label.place);
                let message = safe(&label.text);
                Related {
                    file: at.file,
                    line: at.line,
                    column: at.column,
                    message,
                }
            })
            .collect(),
        fixes: found
            .fixes
            .iter()
            .filter(|fix| !touches_secret(compilation, fix))
            .map(|fix| repair(compilation, fix))
            .collect(),
    }
}

fn repair(compilation: &Compilation, fix: &Fix) -> JsonFix {
    let edits = fix.edits.iter().map(|edit| {
        let at = position(compilation, edit.place);
        JsonEdit {
            file: at.file,
            line: at.line,
            column: at.column,
            end_line: at.end_line,
            end_column: at.end_column,
            text: edit.text.clone(),
        }
    });
    JsonFix {
        title: safe(&fix.title),
        edits: edits.collect(),
    }
}

fn safe(text: &str) -> String {
    SafeText::line(text).into_string()
}

#[derive(Default)]
struct Position {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
}

fn position(compilation: &Compilation, place: Place) -> Position {
    match compilation.locate(place) {
        Some(at) => Position {
            file: Some(at.file.display.clone()),
            line: Some(at.start.line),
            column: Some(at.start.column),
            end_line: Some(at.end.line),
            end_column: Some(at.end.column),
        },
        None => Position::default(),
    }
}
