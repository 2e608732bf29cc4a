//! Between plain data and protocol types. Nothing else knows the types of a diagnostic.

use std::str::FromStr as _;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::compile::{CompiledFile, Span};
use chatmd_compiler::diagnostics::{FileIndex, Severity};
use serde_json::json;
use tower_lsp::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Location, NumberOrString, Position, PositionEncodingKind, Range,
    TextDocumentContentChangeEvent, Uri,
};

use super::settings::Settings;
use super::text::{Change, ClientPosition, Encoding};
use crate::ide::{Analysis, Finding, Tag};

/// The encoding to use of those that the client offers (spec 11 section 1.3).
pub fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Encoding {
    let offered = offered.unwrap_or_default();
    if offered.is_empty() || offered.contains(&PositionEncodingKind::UTF8) {
        return if offered.is_empty() {
            Encoding::Utf16
        } else {
            Encoding::Utf8
        };
    }
    if !offered.contains(&PositionEncodingKind::UTF16)
        && offered.contains(&PositionEncodingKind::UTF32)
    {
        return Encoding::Utf32;
    }
    Encoding::Utf16
}

/// The protocol's name of an encoding.
pub fn encoding_kind(encoding: Encoding) -> PositionEncodingKind {
    match encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
        Encoding::Utf32 => PositionEncodingKind::UTF32,
    }
}

/// Edits of the client.
pub fn changes(events: Vec<TextDocumentContentChangeEvent>) -> Vec<Change> {
    let place = |at: Position| ClientPosition {
        line: at.line,
        character: at.character,
    };
    let one = |event: TextDocumentContentChangeEvent| Change {
        range: event
            .range
            .map(|range| (place(range.start), place(range.end))),
        text: event.text,
    };
    events.into_iter().map(one).collect()
}

/// The path of a `file:` URI.
pub fn file_path(uri: &Uri) -> Option<Utf8PathBuf> {
    if !uri.scheme().as_str().eq_ignore_ascii_case("file") {
        return None;
    }
    let path = uri.to_file_path()?.into_owned();
    let path = Utf8PathBuf::from_path_buf(path).ok()?;
    path.is_absolute().then_some(path)
}

/// The URI of a path.
pub fn file_uri(path: &Utf8Path) -> Option<Uri> {
    Uri::from_file_path(path.as_std_path())
}

/// Turns findings into diagnostics for one client.
pub struct Converter<'a> {
    /// How the client counts.
    pub encoding: Encoding,
    /// Settings.
    pub settings: &'a Settings,
    /// The URI by which the client knows a file, when it is open.
    pub uri_of: &'a dyn Fn(&Utf8Path) -> Option<Uri>,
}

impl Converter<'_> {
    /// A finding as a diagnostic of its file.
    pub fn diagnostic(&self, analysis: &Analysis, found: &Finding) -> Option<Diagnostic> {
        let file = analysis.file(found.file)?;
        let related = found.related.iter().filter_map(|related| {
            Some(DiagnosticRelatedInformation {
                location: self.location(analysis, related.file, related.span)?,
                message: match related.text.as_str() {
                    "" => "see here".to_owned(),
                    text => text.to_owned(),
                },
            })
        });
        let related: Vec<_> = related.collect();
        let repairs: Vec<usize> = (0..found.repairs.len().min(MAX_REPAIRS)).collect();
        Some(Diagnostic {
            range: self.range(file, found.span),
            severity: Some(match found.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Note => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(found.code.to_owned())),
            code_description: self.code_description(found.code),
            source: Some(if found.in_script { "chatml" } else { "chatmd" }.to_owned()),
            message: found.message.clone(),
            related_information: (!related.is_empty()).then_some(related),
            tags: found.tag.map(|tag| {
                vec![match tag {
                    Tag::Unnecessary => DiagnosticTag::UNNECESSARY,
                    Tag::Deprecated => DiagnosticTag::DEPRECATED,
                }]
            }),
            data: Some(match found.detail {
                Some(detail) => {
                    json!({"v": 1, "code": found.code, "detail": detail, "fix": repairs})
                }
                None => json!({"v": 1, "code": found.code, "fix": repairs}),
            }),
        })
    }

    fn code_description(&self, code: &str) -> Option<CodeDescription> {
        let base = &self.settings.docs_base_url;
        if base.is_empty() {
            return None;
        }
        let href = Uri::from_str(&format!("{base}{code}")).ok()?;
        Some(CodeDescription { href })
    }

    fn location(&self, analysis: &Analysis, index: FileIndex, span: Span) -> Option<Location> {
        let file = analysis.file(index)?;
        let canonical = analysis.canonical.get(index.0 as usize)?;
        let uri = (self.uri_of)(canonical).or_else(|| file_uri(&file.path))?;
        Some(Location {
            uri,
            range: self.range(file, span),
        })
    }

    /// A span in the units of the client.
    pub fn range(&self, file: &CompiledFile, span: Span) -> Range {
        Range {
            start: self.position(file, span.start),
            end: self.position(file, span.end),
        }
    }

    fn position(&self, file: &CompiledFile, offset: u32) -> Position {
        let lines = file.lines();
        let utf16 = lines.utf16(offset);
        let character = match self.encoding {
            Encoding::Utf16 => utf16.character,
            Encoding::Utf32 => lines.position(offset).column.saturating_sub(1),
            Encoding::Utf8 => {
                // By way of UTF-16, so that an offset inside a line end is moved alike.
                let at = lines.offset_utf16(utf16);
                at.saturating_sub(lines.line(utf16.line).start)
            }
        };
        Position {
            line: utf16.line,
            character,
        }
    }
}

/// Most repairs named in the data of a diagnostic.
const MAX_REPAIRS: usize = 64;
