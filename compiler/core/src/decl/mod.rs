//! Declarations as written: what one file says, validated by the closed schema, before references,
//! inheritance and defaults.
//!
//! Values here are independent of the document that imports the file. Spans are relative to the
//! `<` of the top-level item, so that an edit elsewhere leaves them equal.

pub mod runtime;
pub mod tool;
pub mod value;

use std::sync::Arc;

use chatmd_syntax::{Span, Tag};

use crate::diagnostics::Diagnostic;
use crate::manifest::{ScriptKind, ScriptLimits};

pub use runtime::*;
pub use tool::*;
pub use value::*;

/// All top-level items of a file in source order, layout left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDeclarations {
    /// The items. [`crate::diagnostics::Place::item`] is an index into this list.
    pub items: Vec<Arc<Item>>,
}

/// One top-level item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Element name; `None` for text, unknown elements and stray end tags.
    pub tag: Option<Tag>,
    /// Start tag from `<` to `>`.
    pub start_tag: Span,
    /// Element name in the start tag.
    pub name: Span,
    /// What it declares. `None` when there is nothing that could take part in a registry.
    pub decl: Option<Decl>,
    /// Whether the item has an error of its own, reported in `diagnostics` or by the parser.
    pub broken: bool,
    /// Findings of lowering; places have `file` [`crate::diagnostics::FileIndex::SELF`].
    pub diagnostics: Vec<Diagnostic>,
}

/// What an item declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decl {
    /// `msg`, `user`, …, `reasoning`.
    Message(MessageDecl),
    /// `config`.
    Config,
    /// `import` at top level.
    Import(ImportDecl),
    /// `script`.
    Script(ScriptDecl),
    /// `moderator_runtime`.
    Moderator(ModeratorDecl),
    /// `shell_access`.
    Runtime(Box<RuntimeDecl>),
    /// `tool` of any form.
    Tool(Box<ToolDecl>),
}

/// What the compiler needs of a message: its history id and the content imports in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageDecl {
    /// Value of `ochat-history-id` when well formed.
    pub history_id: Option<Sp<String>>,
    /// Content imports in an authored body, nested ones in `agent` included.
    pub content_imports: Vec<ImportDecl>,
}

/// A document or content import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportDecl {
    /// Start tag of the `import`.
    pub start_tag: Span,
    /// Path as written, when usable.
    pub src: Field<String>,
    /// Namespace, when written and valid.
    pub namespace: Field<String>,
    /// Name of the attribute `namespace`, when written.
    pub namespace_name: Option<Span>,
}

/// A script declaration (spec 01 section 10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptDecl {
    /// Written id; absent for a moderator without id (then `main`).
    pub id: Field<String>,
    /// Kind, when valid.
    pub kind: Option<ScriptKind>,
    /// Where the program is.
    pub source: Option<ScriptSourceDecl>,
    /// Effective limits.
    pub limits: ScriptLimits,
}

/// Where the program of a script is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptSourceDecl {
    /// Exact program text and its span.
    Inline(Sp<Arc<str>>),
    /// `src` as written; loaded relative to the declaring file's directory.
    File(Sp<String>),
}

/// `<moderator_runtime>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeratorDecl {
    /// Reference as written.
    pub shell_runtime: Field<String>,
}
