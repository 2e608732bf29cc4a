//! The two ways to read a file: as a document and as the content of a message.

use chatmd_syntax::{NodeId, Parse, Tree};

use crate::decl::{FileDeclarations, MessageDecl};
use crate::diagnostics::Diagnostic;

/// What a content import contributes (spec 01 section 8.2): no declarations, but further imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentDeclarations {
    /// Content imports in the file; spans count from its start.
    pub message: MessageDecl,
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

pub(super) fn lower_document(_parse: &Parse) -> FileDeclarations {
    FileDeclarations::default()
}

pub(super) fn lower_content(_parse: &Parse) -> ContentDeclarations {
    ContentDeclarations::default()
}

/// Offsets of the top-level items of a document, in the order of [`FileDeclarations::items`].
pub(super) fn item_starts(tree: &Tree) -> Vec<u32> {
    tree.top
        .iter()
        .filter(|id| is_item(tree, **id))
        .map(|id| tree.node(*id).span().start)
        .collect()
}

fn is_item(_tree: &Tree, _id: NodeId) -> bool {
    true
}
