//! Tokens to syntax tree (spec 05 section 3).
//!
//! A hand-written descent with one function per level of the grammar. Nesting is counted where
//! brackets and keyword bodies open, before anything recurses; whatever is long without brackets
//! is collected in loops. After an error the parser goes on at the next statement.

mod cursor;
mod expr;
mod hints;
mod operand;
mod operators;
mod pattern;
mod recover;
mod statement;
#[cfg(test)]
mod tests;
mod types;

use crate::ast::Program;
use crate::diagnostic::{Diagnostic, MAX_DIAGNOSTICS};
use crate::lex::{TokenKind, lex};
use crate::span::Span;

use cursor::Parser;

/// A parsed script.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What could be parsed; statements with errors are [`StatementKind::Error`].
    ///
    /// [`StatementKind::Error`]: crate::ast::StatementKind::Error
    pub program: Program,
    /// Errors of lexing, then of parsing; the first one is what a parser that stops at the first
    /// error reports. At most 100.
    pub errors: Vec<Diagnostic>,
    /// Warnings of lexing and parsing by place; at most 100.
    pub warnings: Vec<Diagnostic>,
    /// The comments.
    pub comments: Vec<Span>,
}

impl Parsed {
    /// Whether the program may be evaluated after a clean check.
    pub fn is_ok(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Parses a script. Never fails: whatever is wrong is in the diagnostics.
pub fn parse(source: &str) -> Parsed {
    let lexed = lex(source);
    let mut parser = Parser::new(source, &lexed.tokens);
    let program = parser.program();
    let mut errors = lexed.errors;
    errors.extend(parser.errors);
    errors.truncate(MAX_DIAGNOSTICS);
    let mut warnings = lexed.warnings;
    warnings.extend(parser.warnings);
    warnings.sort_by_key(|warning| warning.span);
    warnings.truncate(MAX_DIAGNOSTICS);
    Parsed {
        program,
        errors,
        warnings,
        comments: lexed.comments,
    }
}

/// A statement could not be parsed; the diagnostic is already recorded.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Parse<T> = Result<T, Failed>;

/// Whether a token can begin an operand.
const fn starts_operand(kind: TokenKind) -> bool {
    use TokenKind as T;
    matches!(
        kind,
        T::LowerName
            | T::UpperName
            | T::Tag
            | T::Int
            | T::Float
            | T::String
            | T::True
            | T::False
            | T::LeftParen
            | T::LeftBrace
            | T::LeftBracket
            | T::While
            | T::Fun
            | T::If
            | T::Let
            | T::LetStar
            | T::LetPlus
            | T::Match
            | T::Ref
            | T::Bang
    )
}
