//! What to say about a token that does not fit (spec 05 section 3.2).

use super::cursor::Parser;
use super::{Failed, starts_operand};
use crate::diagnostic::{Code, Diagnostic, quoted};
use crate::lex::{Token, TokenKind};
use crate::span::Span;

/// Most expected tokens a message names.
const MAX_EXPECTED: usize = 5;

/// What may follow an expression, for messages.
pub(super) const AN_EXPRESSION: &[&str] = &["an expression"];

impl Parser<'_> {
    /// The current token fits no production.
    pub(super) fn unexpected(&mut self, expected: &[&str]) -> Failed {
        let token = self.token();
        match token.kind {
            // Reported by the lexer.
            TokenKind::Error => Failed,
            TokenKind::End => self.unexpected_end(expected),
            _ => {
                let message = format!(
                    "unexpected {}, expected {}",
                    describe(token, self.text(token.span)),
                    list(expected)
                );
                let mut found = Diagnostic::new(Code::UnexpectedToken, token.span, message);
                if let Some(help) = self.hint(token, expected) {
                    found = found.help(help);
                }
                self.fail(found)
            }
        }
    }

    fn unexpected_end(&mut self, expected: &[&str]) -> Failed {
        let opening = self.innermost_opening();
        let end = self.token().span;
        let what = quoted(self.text(opening));
        let message = format!(
            "the program ends inside what `{what}` starts, expected {}",
            list(expected)
        );
        let mut found = Diagnostic::new(Code::UnexpectedEnd, opening, message)
            .label(end, "the program ends here");
        if expected.contains(&"`else`") {
            found = found.help(MISSING_ELSE);
        }
        self.fail(found)
    }

    fn hint(&self, token: Token, expected: &[&str]) -> Option<String> {
        let text = self.text(token.span);
        let before = self.at.checked_sub(1).map(|at| self.token_at(at));
        let previous = before.map_or("", |before| self.text(before.span));
        let adjacent = before.is_some_and(|before| before.span.end == token.span.start);
        match token.kind {
            TokenKind::Bar if previous == "[" && adjacent => {
                return Some(
                    "arrays are written `[1, 2]`; `[|1, 2|]` is only how they are printed"
                        .to_owned(),
                );
            }
            TokenKind::Bar if (previous == "|" && adjacent) || self.bar_follows(token) => {
                return Some("there is no `||`: write `if a then true else b`".to_owned());
            }
            TokenKind::Equal => {
                return Some(
                    "equality is written `==`; `=` stands in bindings and record fields".to_owned(),
                );
            }
            TokenKind::LowerName if text == "when" => {
                return Some("patterns have no guards: put an `if` into the arm's body".to_owned());
            }
            _ => {}
        }
        if expected.contains(&"`else`") {
            return Some(MISSING_ELSE.to_owned());
        }
        if previous == "not" && starts_operand(token.kind) {
            return Some("there is no `not`: write `e == false`".to_owned());
        }
        let callee = before.is_some_and(|before| {
            matches!(
                before.kind,
                TokenKind::LowerName | TokenKind::UpperName | TokenKind::RightParen
            )
        });
        if callee && starts_operand(token.kind) && !expected.contains(&"an expression") {
            let argument = quoted(text);
            return Some(format!(
                "arguments stand in parentheses: write `{}({argument})`",
                quoted(previous)
            ));
        }
        (token.kind == TokenKind::Let && expected.contains(&"`in`"))
            .then(|| "a `let` inside an expression needs `in` after its right side".to_owned())
    }

    fn bar_follows(&self, token: Token) -> bool {
        let next = self.token_at(self.at + 1);
        next.kind == TokenKind::Bar && next.span.start == token.span.end
    }

    /// S20.
    pub(super) fn misplaced_type(&mut self, span: Span) -> Failed {
        self.fail(
            Diagnostic::new(
                Code::MisplacedType,
                span,
                "types can be declared at the top level only",
            )
            .help("move the declaration in front of the statement that uses it"),
        )
    }
}

const MISSING_ELSE: &str = "every `if` needs an `else`; without a value to give, write `else ()`";

fn describe(token: Token, text: &str) -> String {
    let text = quoted(text);
    match token.kind {
        TokenKind::LowerName | TokenKind::UpperName => format!("name `{text}`"),
        TokenKind::Tag => format!("tag `` {text} ``"),
        TokenKind::Int | TokenKind::Float => format!("number `{text}`"),
        TokenKind::String => format!("string {text}"),
        _ => format!("`{text}`"),
    }
}

fn list(expected: &[&str]) -> String {
    let shown = expected.get(..MAX_EXPECTED).unwrap_or(expected);
    match shown {
        [] => "something else".to_owned(),
        [only] => (*only).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
