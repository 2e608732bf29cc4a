//! Going on after a statement with a syntax error (spec 05 section 1).

use super::cursor::Parser;
use crate::ast::{Ident, Statement};
use crate::diagnostic::MAX_DIAGNOSTICS;
use crate::lex::{Token, TokenKind};
use crate::span::Span;

impl Parser<'_> {
    /// Skips the statement that starts at token `first` and failed. The next one starts at a
    /// statement keyword that opens a line in the column where this one started. In a module,
    /// `end` outside of brackets and inner modules, or a statement further left, ends the search.
    pub(super) fn recover(&mut self, first: usize, top_level: bool) -> Statement {
        let column = self.column(first);
        // A statement that fails where one before failed would fail there again.
        let failed_at = std::mem::replace(&mut self.last_failure, self.at);
        let mut at = if failed_at == self.at {
            self.at.max(first + 1)
        } else {
            first + 1
        };
        let mut brackets = 0i32;
        let mut modules = i32::from(self.token_at(first).kind == TokenKind::Module);
        loop {
            let token = self.token_at(at);
            match token.kind {
                TokenKind::End => break,
                TokenKind::LeftParen | TokenKind::LeftBrace | TokenKind::LeftBracket => {
                    brackets += 1
                }
                TokenKind::RightParen | TokenKind::RightBrace | TokenKind::RightBracket => {
                    brackets = (brackets - 1).max(0)
                }
                TokenKind::Struct if at > first + 3 => modules += 1,
                TokenKind::EndKeyword if brackets == 0 && modules == 0 && !top_level => break,
                TokenKind::EndKeyword => modules = (modules - 1).max(0),
                _ => {}
            }
            let here = if token.first_on_line {
                Some(self.column(at))
            } else {
                None
            };
            let left = here.is_some_and(|here| here == column || (!top_level && here < column));
            // A statement that did not open its own line ends at any that does.
            let outer = !self.token_at(first).first_on_line && here.is_some() && brackets == 0;
            if starts_statement(token) && (left || outer) {
                break;
            }
            at += 1;
        }
        self.at = at;
        let span = Span::new(self.token_at(first).span.start, self.previous_end());
        let names = self.names_between(first, at);
        self.error_statement(names, span)
    }

    /// Whether enough was reported; each recovery may read the rest of the program again.
    pub(super) fn gave_up(&mut self) -> bool {
        self.recoveries += 1;
        let enough = self.recoveries >= MAX_DIAGNOSTICS;
        if enough {
            self.skip_to_end();
        }
        enough
    }

    fn column(&self, index: usize) -> u32 {
        let start = self.token_at(index).span.start;
        let before = self.source.get(..start as usize).unwrap_or("");
        let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        u32::try_from(before.len() - line).unwrap_or(u32::MAX)
    }

    /// Names the skipped statement would have defined.
    fn names_between(&mut self, first: usize, end: usize) -> Vec<Ident> {
        let mut names = Vec::new();
        let mut name_at = |parser: &mut Self, at: usize| {
            if at < end
                && matches!(
                    parser.token_at(at).kind,
                    TokenKind::LowerName | TokenKind::UpperName
                )
            {
                let ident = parser.ident_at(at);
                names.push(ident);
            }
        };
        match self.token_at(first).kind {
            TokenKind::Let if self.token_at(first + 1).kind == TokenKind::Rec => {
                name_at(self, first + 2);
                for at in first..end {
                    if self.token_at(at).kind == TokenKind::And {
                        name_at(self, at + 1);
                    }
                }
            }
            TokenKind::Let | TokenKind::Module | TokenKind::Type => name_at(self, first + 1),
            _ => {}
        }
        names
    }
}

fn starts_statement(token: Token) -> bool {
    matches!(
        token.kind,
        TokenKind::Let | TokenKind::Type | TokenKind::Module | TokenKind::Open
    )
}
