//! The parser's state and its smallest steps.

use std::sync::Arc;

use std::collections::HashSet;

use super::{Failed, Parse};
use crate::ast::{Expr, ExprId, ExprKind, Ident, MAX_NESTING, Name};
use crate::diagnostic::{Code, Diagnostic, MAX_DIAGNOSTICS};
use crate::lex::{Token, TokenKind};
use crate::span::Span;

pub(super) struct Parser<'s> {
    pub(super) source: &'s str,
    tokens: &'s [Token],
    pub(super) at: usize,
    pub(super) errors: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
    names: HashSet<Arc<str>>,
    next_id: u32,
    depth: u32,
    /// Opening tokens of the constructs around the current token.
    openings: Vec<Span>,
    /// Whether a `;` may end a record field here (S12).
    in_field: bool,
    /// Statements that failed so far.
    pub(super) recoveries: usize,
    /// The token at which a statement failed last.
    pub(super) last_failure: usize,
}

impl<'s> Parser<'s> {
    pub(super) fn new(source: &'s str, tokens: &'s [Token]) -> Self {
        Self {
            source,
            tokens,
            at: 0,
            errors: Vec::new(),
            warnings: Vec::new(),
            names: HashSet::default(),
            next_id: 0,
            depth: 0,
            openings: Vec::new(),
            in_field: false,
            recoveries: 0,
            last_failure: usize::MAX,
        }
    }

    /// A parser of some of the tokens that goes on numbering where this one stopped.
    pub(super) fn of_piece<'t>(&self, tokens: &'t [Token]) -> Parser<'t>
    where
        's: 't,
    {
        Parser {
            next_id: self.next_id,
            names: self.names.clone(),
            ..Parser::new(self.source, tokens)
        }
    }

    /// Takes over what the parser of a piece found.
    pub(super) fn take_from(&mut self, piece: Parser<'_>) {
        self.next_id = piece.next_id;
        self.names = piece.names;
        self.errors.extend(piece.errors);
        self.warnings.extend(piece.warnings);
    }

    pub(super) fn token_at(&self, index: usize) -> Token {
        let end = Token {
            kind: TokenKind::End,
            span: Span::empty(u32::try_from(self.source.len()).unwrap_or(u32::MAX)),
            first_on_line: false,
        };
        self.tokens
            .get(index)
            .or(self.tokens.last())
            .copied()
            .unwrap_or(end)
    }

    pub(super) fn token(&self) -> Token {
        self.token_at(self.at)
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.token().kind
    }

    pub(super) fn kind_at(&self, ahead: usize) -> TokenKind {
        self.token_at(self.at.saturating_add(ahead)).kind
    }

    pub(super) fn text(&self, span: Span) -> &'s str {
        span.of(self.source)
    }

    /// Reads the current token.
    pub(super) fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// The first token of a kind at or after a byte, among the tokens already read.
    pub(super) fn first_after(&self, byte: u32, kind: TokenKind) -> Option<Span> {
        let from = self.tokens.partition_point(|token| token.span.start < byte);
        let read = self.tokens.get(from..self.at)?;
        read.iter()
            .find(|token| token.kind == kind)
            .map(|token| token.span)
    }

    pub(super) fn skip_to_end(&mut self) {
        self.at = self.tokens.len().saturating_sub(1);
    }

    /// Reads the current token if it is of this kind.
    pub(super) fn eat(&mut self, kind: TokenKind) -> Option<Token> {
        (self.kind() == kind).then(|| self.bump())
    }

    /// Reads a token of this kind.
    pub(super) fn expect(&mut self, kind: TokenKind, expected: &[&str]) -> Parse<Token> {
        match self.eat(kind) {
            Some(token) => Ok(token),
            None => Err(self.unexpected(expected)),
        }
    }

    /// End of the token before the current one.
    pub(super) fn previous_end(&self) -> u32 {
        match self.at.checked_sub(1) {
            Some(before) => self.token_at(before).span.end,
            None => 0,
        }
    }

    /// From `start` to the last token read.
    pub(super) fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.previous_end().max(start))
    }

    pub(super) fn name(&mut self, text: &str) -> Name {
        if let Some(known) = self.names.get(text) {
            return known.clone();
        }
        let name: Name = Arc::from(text);
        self.names.insert(name.clone());
        name
    }

    pub(super) fn ident(&mut self, token: Token) -> Ident {
        let text = self.text(token.span);
        Ident {
            name: self.name(text.strip_prefix('`').unwrap_or(text)),
            span: token.span,
        }
    }

    pub(super) fn new_id(&mut self) -> ExprId {
        let id = ExprId(self.next_id);
        self.next_id += 1;
        id
    }

    pub(super) fn expr_count(&self) -> u32 {
        self.next_id
    }

    pub(super) fn make(&mut self, kind: ExprKind, start: u32) -> Expr {
        Expr {
            kind,
            span: self.span_from(start),
            id: self.new_id(),
            parenthesized: false,
        }
    }

    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    pub(super) fn set_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// Goes one level deeper without a bracket; the caller restores the depth.
    pub(super) fn deepen(&mut self, opening: Span) -> Parse<()> {
        if self.depth >= MAX_NESTING {
            return Err(self.too_deep(opening));
        }
        self.depth += 1;
        Ok(())
    }

    fn too_deep(&mut self, opening: Span) -> Failed {
        let message = format!("this is nested more than {MAX_NESTING} levels deep");
        let found = Diagnostic::new(Code::TooDeep, opening, message)
            .help("give inner parts names with `let` and use those");
        self.fail(found)
    }

    /// Reads the inside of a construct that `opening` starts and that may nest.
    #[inline(always)]
    pub(super) fn nested<T>(
        &mut self,
        opening: Span,
        inside: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<T> {
        self.deepen(opening)?;
        self.openings.push(opening);
        let result = inside(self);
        self.openings.pop();
        self.depth -= 1;
        result
    }

    /// Like [`Self::nested`], inside brackets: a `;` there never ends a field further out.
    #[inline(always)]
    pub(super) fn bracketed<T>(
        &mut self,
        opening: Span,
        inside: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<T> {
        let outer = std::mem::replace(&mut self.in_field, false);
        let result = self.nested(opening, inside);
        self.in_field = outer;
        result
    }

    /// Reads a record field value, which a `;` may end.
    pub(super) fn field_value(&mut self) -> Parse<Expr> {
        let outer = std::mem::replace(&mut self.in_field, true);
        let result = self.expr();
        self.in_field = outer;
        result
    }

    /// Reads the inside of a construct that does not nest, such as a statement.
    #[inline(always)]
    pub(super) fn opened<T>(
        &mut self,
        opening: Span,
        inside: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<T> {
        self.openings.push(opening);
        let result = inside(self);
        self.openings.pop();
        result
    }

    /// The opening token of the innermost construct that is not closed yet.
    pub(super) fn innermost_opening(&self) -> Span {
        self.openings.last().copied().unwrap_or_default()
    }

    /// Whether the `;` at the current token ends a record field (S12).
    pub(super) fn field_ends_here(&self) -> bool {
        self.in_field
            && match self.kind_at(1) {
                TokenKind::RightBrace => true,
                TokenKind::LowerName => self.kind_at(2) == TokenKind::Equal,
                _ => false,
            }
    }

    /// Records an error, unless the same place was already found bad.
    pub(super) fn fail(&mut self, diagnostic: Diagnostic) -> Failed {
        let repeats = self
            .errors
            .iter()
            .any(|known| known.span == diagnostic.span);
        if !repeats && self.errors.len() < MAX_DIAGNOSTICS {
            self.errors.push(diagnostic);
        }
        Failed
    }

    pub(super) fn warn(&mut self, diagnostic: Diagnostic) {
        if self.warnings.len() < MAX_DIAGNOSTICS {
            self.warnings.push(diagnostic);
        }
    }
}
