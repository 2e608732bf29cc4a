//! The token stream of a file, nothing left out: for tools that look at bytes before there is a
//! tree, and for the proof that the lexer loses none.

use crate::attributes::Kind;
use crate::item::{Body, ItemKind, Scanner};
use crate::tree::BOM;
use crate::{Span, Tag};

/// Kind of a token (spec 01 section 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// The byte order mark at the start of the file.
    ByteOrderMark,
    /// Text.
    Text,
    /// A comment; one that is never closed ends with its line.
    Comment,
    /// A RAW block with its markers.
    Raw,
    /// `RAW|` that is never closed.
    RawOpener,
    /// The body of a script.
    ScriptBody,
    /// `<`
    StartOpen,
    /// `</`
    EndOpen,
    /// A name of the vocabulary directly behind `<` or `</`.
    TagName(Tag),
    /// Any other name of a well-formed tag.
    UnknownTagName,
    /// Whitespace in a tag.
    Space,
    /// An attribute name.
    AttributeName,
    /// `=`
    Equals,
    /// An attribute value with its quotes.
    Value,
    /// `>`
    Close,
    /// `/>`
    SelfClose,
    /// Anything that belongs nowhere in a tag.
    Junk,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its bytes; never empty.
    pub span: Span,
}

/// The tokens of a text; their spans concatenate to it. Shell names are read as tags everywhere:
/// only the tree knows which of them stand in shell scope.
pub fn tokens(text: &str) -> Vec<Token> {
    let bom = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let mut scanner = Scanner::new(text);
    let mut out = Out {
        tokens: Vec::new(),
        at: 0,
    };
    out.to(bom as u32, TokenKind::ByteOrderMark);
    for item in scanner.all(bom) {
        match item.kind {
            ItemKind::Text => out.to(item.span.end, TokenKind::Text),
            ItemKind::Comment { .. } => out.to(item.span.end, TokenKind::Comment),
            ItemKind::Raw { .. } => out.to(item.span.end, TokenKind::Raw),
            ItemKind::RawOpener => out.to(item.span.end, TokenKind::RawOpener),
            ItemKind::Start(tag) => {
                out.to(tag.name.start, TokenKind::StartOpen);
                out.name(tag.name.end, tag.tag);
                for token in scanner.tokens_of(&tag) {
                    out.to(token.span.end, inside(token.kind));
                }
                if let Body::Closed(index) = tag.body
                    && let Some(body) = scanner.script(index)
                {
                    out.to(body.span.end, TokenKind::ScriptBody);
                }
            }
            ItemKind::End(tag) => {
                out.to(tag.name.start, TokenKind::EndOpen);
                out.name(tag.name.end, tag.tag);
                let close = item.span.end - u32::from(tag.closed);
                let junk = tag.junk.unwrap_or(Span::empty(close));
                out.to(junk.start, TokenKind::Space);
                out.to(junk.end, TokenKind::Junk);
                out.to(close, TokenKind::Space);
                out.to(item.span.end, TokenKind::Close);
            }
        }
    }
    out.tokens
}

struct Out {
    tokens: Vec<Token>,
    at: u32,
}

impl Out {
    fn to(&mut self, end: u32, kind: TokenKind) {
        if end > self.at {
            self.tokens.push(Token {
                kind,
                span: Span::new(self.at, end),
            });
            self.at = end;
        }
    }

    fn name(&mut self, end: u32, tag: Option<Tag>) {
        self.to(
            end,
            tag.map_or(TokenKind::UnknownTagName, TokenKind::TagName),
        );
    }
}

fn inside(kind: Kind) -> TokenKind {
    match kind {
        Kind::Space => TokenKind::Space,
        Kind::Name => TokenKind::AttributeName,
        Kind::Equals => TokenKind::Equals,
        Kind::Quoted { .. } | Kind::Unquoted => TokenKind::Value,
        Kind::Close => TokenKind::Close,
        Kind::SelfClose => TokenKind::SelfClose,
        Kind::Junk => TokenKind::Junk,
    }
}
