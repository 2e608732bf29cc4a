//! Token rules (spec 01 section 2.3 and 2.4): one mode for text, one for the inside of a tag.
//!
//! Nothing is skipped: the tokens of a file concatenate to it.

use logos::{Lexer, Logos};
use memchr::memchr2;

/// Tokens of text mode. Names are not yet looked up; [`crate::item`] decides what a `<name` is.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(utf8 = false)]
pub(crate) enum TextToken {
    /// `<!--`
    #[token(b"<!--")]
    CommentOpen,
    /// `RAW|`
    #[token(b"RAW|")]
    RawOpen,
    /// `</` and a name.
    #[regex(b"</[A-Za-z_][A-Za-z0-9_.:-]*")]
    EndOpen,
    /// `<` and a name.
    #[regex(b"<[A-Za-z_][A-Za-z0-9_.:-]*")]
    StartOpen,
    /// Anything else, up to the next byte that could start another token.
    #[regex(b"(?s-u:.)", to_next_candidate, priority = 1)]
    Text,
}

fn to_next_candidate(lexer: &mut Lexer<'_, TextToken>) {
    let rest = lexer.remainder();
    lexer.bump(memchr2(b'<', b'R', rest).unwrap_or(rest.len()));
}

/// Tokens of tag mode.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(utf8 = false)]
pub(crate) enum TagToken {
    /// The six whitespace characters of section 2.1.
    #[regex(b"[\t\n\x0B\x0C\r ]+")]
    Space,
    /// A run of attribute-name characters.
    #[regex(b"[A-Za-z0-9_:-]+")]
    Name,
    /// `=`
    #[token(b"=")]
    Equals,
    /// `"`
    #[token(b"\"")]
    Double,
    /// `'`
    #[token(b"'")]
    Single,
    /// `>`
    #[token(b">")]
    Close,
    /// `/>`
    #[token(b"/>")]
    SelfClose,
    /// `<`: the tag was never closed.
    #[token(b"<")]
    Open,
    /// Any other byte; the bytes of a character stay together.
    #[regex(b"(?s-u:.)", priority = 1)]
    #[regex(b"(?-u:[\x80-\xFF])+", priority = 2)]
    Other,
}

/// Whether a byte is `ws` of section 2.1.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0B | 0x0C | b'\r' | b' ')
}

/// Whether a byte may stand in an unquoted value.
pub(crate) const fn is_unquoted(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'>' | b'<' | b'"' | b'\'' | b'=' | b'`')
}

/// Whether text holds nothing but `ws`.
pub fn is_blank(text: &str) -> bool {
    text.bytes().all(is_space)
}
