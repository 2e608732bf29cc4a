//! The two ways to read a file: as a document and as the content of a message.

use chatmd_syntax::Parse;

use crate::decl::{FileDeclarations, ImportDecl};
use crate::diagnostics::Diagnostic;
use crate::expectations::{self, FileDirectives};
use crate::lower;
use crate::schema::BodyClass;

/// What a content import contributes (spec 01 section 8.2): no declarations, but further imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentDeclarations {
    /// Content imports in the file; spans count from its start.
    pub imports: Vec<ImportDecl>,
    /// Findings of lowering; places have no item.
    pub diagnostics: Vec<Diagnostic>,
}

pub(super) fn parse_document(bytes: &[u8]) -> Parse {
    chatmd_syntax::parse(bytes)
}

pub(super) fn parse_content(bytes: &[u8]) -> Parse {
    // Imports exist in authored bodies alone; elsewhere they are text (spec 01 section 5.1).
    chatmd_syntax::parse_content(bytes, false)
}

pub(super) fn lower_document(parse: &Parse) -> FileDeclarations {
    lower::lower(parse)
}

pub(super) fn lower_content(parse: &Parse) -> ContentDeclarations {
    let (diagnostics, imports) = lower::lower_content(parse, BodyClass::Authored);
    ContentDeclarations {
        imports,
        diagnostics,
    }
}

pub(super) fn directives(parse: &Parse) -> FileDirectives {
    expectations::of_document(parse, |id| lower::is_item(&parse.tree, id))
}

/// Offsets of the top-level items of a document, in the order of [`FileDeclarations::items`], and
/// behind them of the directives between the items.
pub(super) fn item_starts(parse: &Parse) -> Vec<u32> {
    let mut starts = lower::item_starts(parse);
    starts.extend(expectations::starts_between_items(parse));
    starts
}
