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
use crate::lex::{Token, TokenKind, lex};
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
    parse_pieces(source, &[])
}

/// Parses a script that was written in pieces, such as the inputs of a session: no statement goes on
/// behind one of the byte offsets `breaks`, which ascend, although a line that begins with a bracket
/// would. Every piece has to be complete in itself.
pub fn parse_pieces(source: &str, breaks: &[u32]) -> Parsed {
    let lexed = lex(source);
    let mut parser = Parser::new(source, &lexed.tokens);
    let program = match breaks {
        [] => parser.program(),
        _ => pieces(&mut parser, &lexed.tokens, breaks),
    };
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

fn pieces(parser: &mut Parser<'_>, tokens: &[Token], breaks: &[u32]) -> Program {
    let mut statements = Vec::new();
    let mut rest = tokens;
    for at in breaks.iter().copied().chain([u32::MAX]) {
        let count = rest.partition_point(|token| token.span.start < at);
        let (piece, behind) = rest.split_at(count);
        let mut piece = piece.to_vec();
        if piece.last().is_none_or(|last| last.kind != TokenKind::End) {
            let end = piece.last().map_or(at, |last| last.span.end);
            piece.push(Token {
                kind: TokenKind::End,
                span: Span::empty(end),
                first_on_line: false,
            });
        }
        let mut inner = parser.of_piece(&piece);
        statements.extend(inner.statements(true));
        parser.take_from(inner);
        rest = behind;
    }
    parser.program_of(statements)
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
