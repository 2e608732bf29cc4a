//! The lossless syntax tree.
//!
//! Nodes live in one arena, so building, walking and dropping a tree never recurses.

use std::borrow::Cow;
use std::sync::Arc;

use crate::encoding::Replacement;
use crate::value::{self, Decoded};
use crate::{Span, Tag};

/// Index of a node in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Name of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// A name of the vocabulary that is recognised where it stands.
    Known(Tag),
    /// Any other name. Such elements exist in the tree only at top level and in shell scope, where
    /// they are errors; in bodies their tags are text. The name is [`Element::name_span`].
    Unknown,
}

/// How an attribute value was delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// `"…"`
    Double,
    /// `'…'`
    Single,
    /// No quotes: entities and backslashes are literal.
    None,
}

/// One attribute of a start tag, in source order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The name.
    pub name: Span,
    /// Bytes between the quotes (or of the unquoted value); `None` for a bare attribute.
    pub value: Option<Span>,
    /// Delimiter of the value; [`Quote::None`] when there is none.
    pub quote: Quote,
    /// From the first byte of the name to the end of the closing quote.
    pub span: Span,
    /// The attribute occurs more than once on this element, or its value is unterminated, too
    /// large or missing after `=`: it counts as present, its value must not be used and needs no
    /// further diagnostic.
    pub poisoned: bool,
}

/// An element, complete or closed by recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Vocabulary entry or unknown.
    pub name: Name,
    /// The name inside the start tag.
    pub name_span: Span,
    /// From `<` to `>` of the start tag.
    pub start_tag: Span,
    /// From `</` to `>`; `None` for `<x/>` and for elements closed by recovery.
    pub end_tag: Option<Span>,
    /// From `<` of the start tag to the end of the element.
    pub span: Span,
    /// All attributes in source order, repeated ones included.
    pub attributes: Box<[Attribute]>,
    /// Direct children in source order.
    pub children: Vec<NodeId>,
    /// Whether the start tag ended in `/>`.
    pub self_closing: bool,
    /// The start tag is not sound (unterminated tag or attribute value): reported once already, the
    /// element must not be lowered (spec 01 section 16.1 rule 2).
    pub broken_start: bool,
    /// The element stands in shell scope, that is below a scope root.
    pub in_shell_scope: bool,
}

/// A node of the tree. The top-level nodes cover every byte behind [`Tree::bom`] once; so do the
/// start tag, the children and the end tag of an element for its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// An element.
    Element(Element),
    /// A run of text, unknown tags in bodies included.
    Text {
        /// The run.
        span: Span,
    },
    /// A RAW block, markers included.
    Raw {
        /// From `RAW|` to the end of `|RAW`.
        span: Span,
        /// The bytes between the markers.
        content: Span,
    },
    /// `<!-- … -->`.
    Comment {
        /// The whole comment.
        span: Span,
    },
    /// The raw body of a `<script>` (spec 01 section 2.6). `content` is the program text: the
    /// whole body, or the content of its RAW block.
    ScriptBody {
        /// Everything between the start tag and the end tag.
        span: Span,
        /// The program.
        content: Span,
    },
    /// An end tag that closes nothing; already reported.
    StrayEnd {
        /// From `</` to `>`.
        span: Span,
    },
    /// Elements below the depth limit; already reported.
    Skipped {
        /// From the first tag past the limit to the end of its element.
        span: Span,
    },
}

impl Node {
    /// The bytes that the node covers.
    pub fn span(&self) -> Span {
        match self {
            Node::Element(element) => element.span,
            Node::Text { span }
            | Node::Raw { span, .. }
            | Node::Comment { span }
            | Node::ScriptBody { span, .. }
            | Node::Skipped { span }
            | Node::StrayEnd { span } => *span,
        }
    }
}

/// Severity of a syntax diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyntaxSeverity {
    /// No manifest is made.
    Error,
    /// Reported, changes nothing.
    Warning,
}

/// A finding of the lexer or the tree builder (spec 01 sections 2, 3 and 16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxDiagnostic {
    /// Stable code, for example `chatmd.unclosed_element`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: SyntaxSeverity,
    /// One sentence. May quote source text; renderers escape it.
    pub message: String,
    /// Where a person would point.
    pub primary: Span,
    /// Short text to show at `primary`, for example `never closed`.
    pub label: String,
    /// Further places with a short text each.
    pub secondary: Vec<(Span, String)>,
    /// What to do.
    pub help: Option<String>,
    /// A mechanical repair: title and text edits.
    pub fix: Option<(String, Vec<(Span, String)>)>,
    /// Declaration path, when the finding is about an element or attribute.
    pub path: Vec<String>,
}

/// A parsed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parse {
    /// The tree, always present.
    pub tree: Tree,
    /// Findings in source order, at most [`MAX_DIAGNOSTICS`] and one more.
    pub diagnostics: Vec<SyntaxDiagnostic>,
    /// False when the bytes were not UTF-8 or too many: the tree is for display only and must not
    /// be lowered.
    pub lowerable: bool,
    /// Invalid runs of the file in order; empty for valid UTF-8.
    pub replacements: Vec<Replacement>,
}

impl Parse {
    /// Offset in the file of an offset in the text. They differ only behind invalid UTF-8.
    pub fn original_offset(&self, offset: u32) -> u32 {
        crate::encoding::original_offset(&self.replacements, offset)
    }

    /// Whether there is a finding of severity error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == SyntaxSeverity::Error)
    }
}

/// Most findings of a compilation (spec 01 section 20). A parse may hold one more, so that a
/// counter behind it sees that the bound was passed.
pub const MAX_DIAGNOSTICS: usize = 1_000;

/// The byte order mark.
pub(crate) const BOM: &str = "\u{FEFF}";

/// The syntax tree of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The text that all spans refer to.
    pub text: Arc<str>,
    /// All nodes.
    pub nodes: Vec<Node>,
    /// Top-level nodes in source order.
    pub top: Vec<NodeId>,
    /// The skipped byte order mark: `[0, 3)`, or empty when there is none.
    pub bom: Span,
}

impl Tree {
    /// The node of that id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The source text of a span.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.range()]
    }

    /// The element of that id, if it is one.
    pub fn element(&self, id: NodeId) -> Option<&Element> {
        match self.node(id) {
            Node::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The decoded value of an attribute (spec 01 section 2.4), or `None` for a bare one.
    pub fn value(&self, attribute: &Attribute) -> Option<Cow<'_, str>> {
        let span = attribute.value?;
        Some(value::decode_text(self.slice(span), attribute.quote))
    }

    /// The decoded value with a map from its bytes to the source, or `None` for a bare attribute.
    pub fn decoded(&self, attribute: &Attribute) -> Option<Decoded<'_>> {
        let span = attribute.value?;
        Some(value::decode(self.slice(span), attribute.quote, span.start))
    }
}

impl Element {
    /// The first attribute of that name.
    pub fn attribute(&self, tree: &Tree, name: &str) -> Option<&Attribute> {
        self.attributes
            .iter()
            .find(|attribute| tree.slice(attribute.name) == name)
    }

    /// The vocabulary entry, if the name is one.
    pub fn tag(&self) -> Option<Tag> {
        match self.name {
            Name::Known(tag) => Some(tag),
            Name::Unknown => None,
        }
    }
}
