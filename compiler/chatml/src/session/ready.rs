//! Where an input ends that a person writes line by line.

use crate::diagnostic::Code;
use crate::lex::{TokenKind, lex};
use crate::parse::parse;

/// Whether an input can be taken as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// The end of an input.
    Complete,
    /// Something is open that further lines may close.
    Open,
    /// A string or a comment is open; it may hold blank lines.
    OpenText,
    /// Complete, but the next line may hold another arm of its `match`.
    MayGoOn,
}

/// Whether an input ends here.
pub fn completeness(input: &str) -> Completeness {
    if let Some(first) = parse(input).errors.first() {
        // What is wrong before the end stays wrong however the input goes on.
        return match first.code {
            Code::UnexpectedEnd => Completeness::Open,
            Code::UnterminatedComment | Code::UnterminatedString => Completeness::OpenText,
            _ => Completeness::Complete,
        };
    }
    let has_match = || {
        lex(input)
            .tokens
            .iter()
            .any(|token| token.kind == TokenKind::Match)
    };
    match has_match() && parse(&format!("{input}\n| _ -> ()")).is_ok() {
        true => Completeness::MayGoOn,
        false => Completeness::Complete,
    }
}
