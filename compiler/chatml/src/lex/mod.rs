//! Text to tokens (spec 05 section 2).

mod string;
#[cfg(test)]
mod tests;
mod token;

use logos::Logos;

pub use string::decode_string;
pub use token::{Token, TokenKind, keywords};

use crate::diagnostic::{Code, Diagnostic, MAX_DIAGNOSTICS, quoted};
use crate::span::Span;

/// The tokens of a script and what was wrong with its characters.
#[derive(Clone, Debug)]
pub struct Lexed {
    /// The tokens in order; the last one is [`TokenKind::End`], empty, at the end of the text.
    pub tokens: Vec<Token>,
    /// The comments, outermost ones only.
    pub comments: Vec<Span>,
    /// Errors in source order, at most 100.
    pub errors: Vec<Diagnostic>,
    /// Warnings in source order, at most 100.
    pub warnings: Vec<Diagnostic>,
}

/// Splits `source` into tokens. Every byte belongs to a token, a comment or white space; what
/// starts no token becomes [`TokenKind::Error`] and is reported, runs of such characters once.
pub fn lex(source: &str) -> Lexed {
    let mut scanner = Scanner {
        source,
        out: Lexed {
            tokens: Vec::new(),
            comments: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
        },
        line_ended: true,
        scanned_to: 0,
    };
    scanner.run();
    scanner.out
}

struct Scanner<'s> {
    source: &'s str,
    out: Lexed,
    line_ended: bool,
    /// End of what has been searched for line ends.
    scanned_to: usize,
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Scanner<'_> {
    fn run(&mut self) {
        let start = if self.source.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        self.scanned_to = start;
        let text = self.source.get(start..).unwrap_or("");
        let mut lexer = TokenKind::lexer(text);
        while let Some(token) = lexer.next() {
            let mut range = lexer.span();
            match token {
                Ok(TokenKind::String) => lexer.bump(string::length(lexer.remainder()).0),
                Ok(TokenKind::Comment) => lexer.bump(comment_length(lexer.remainder()).0),
                // logos may stop inside a character; an error covers whole ones.
                Err(()) => {
                    let inner = lexer.span().end;
                    let end = text.get(range.start..).and_then(|rest| rest.chars().next());
                    let end = range.start + end.map_or(1, char::len_utf8);
                    if end > inner {
                        lexer.bump(end - inner);
                    }
                }
                Ok(_) => {}
            }
            range.end = lexer.span().end;
            let range = range.start + start..range.end + start;
            self.note_line_ends(range.start);
            self.token(token.unwrap_or(TokenKind::Error), range);
        }
        let end = self.source.len();
        self.note_line_ends(end);
        self.push(TokenKind::End, Span::empty(offset(end)));
    }

    /// Notes whether a line ends before `to`.
    fn note_line_ends(&mut self, to: usize) {
        let gap = self.source.get(self.scanned_to..to).unwrap_or("");
        self.line_ended |= gap.bytes().any(|b| matches!(b, b'\n' | b'\r'));
        self.scanned_to = to;
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        self.out.tokens.push(Token {
            kind,
            span,
            first_on_line: std::mem::take(&mut self.line_ended),
        });
        self.scanned_to = span.end as usize;
    }

    fn token(&mut self, kind: TokenKind, range: std::ops::Range<usize>) {
        let span = Span::new(offset(range.start), offset(range.end));
        let text = self.source.get(range.clone()).unwrap_or("");
        match kind {
            TokenKind::Comment => self.comment(text, span),
            TokenKind::String => self.string(text, span),
            TokenKind::Error if text == "`" => {
                self.error(
                    Diagnostic::new(Code::EmptyTag, span, "a grave accent must be followed by a tag name")
                        .help("write a tag as `` `Name ``: letters, digits and `_` directly after the accent"),
                );
                self.push(kind, span);
            }
            TokenKind::Error => {
                let continues = self.out.tokens.last().is_some_and(|last| {
                    last.kind == TokenKind::Error && last.span.end == span.start
                });
                if !continues {
                    self.error(unknown_char(text, span));
                }
                self.push(kind, span);
            }
            TokenKind::Int => {
                if text.parse::<i64>().is_err() {
                    let message = format!("the integer `{}` does not fit 64 bits", quoted(text));
                    self.error(
                        Diagnostic::new(Code::IntRange, span, message)
                            .help("the largest integer is 9223372036854775807"),
                    );
                }
                self.push(kind, span);
            }
            TokenKind::Float => {
                if !text.parse::<f64>().is_ok_and(f64::is_finite) {
                    let message = format!("the number `{}` is too large for a float", quoted(text));
                    self.error(Diagnostic::new(Code::FloatRange, span, message));
                }
                self.push(kind, span);
            }
            _ => self.push(kind, span),
        }
    }

    fn comment(&mut self, text: &str, span: Span) {
        let (_, closed) = comment_length(text.get(2..).unwrap_or(""));
        if closed {
            self.out.comments.push(span);
            return;
        }
        let opening = Span::new(span.start, span.start + 2);
        self.error(
            Diagnostic::new(
                Code::UnterminatedComment,
                opening,
                "this comment is never closed",
            )
            .help("close it with `*)`; comments nest, so each `(*` needs its own"),
        );
        self.push(TokenKind::Error, span);
    }

    fn string(&mut self, text: &str, span: Span) {
        let (_, closed) = string::length(text.get(1..).unwrap_or(""));
        if !closed {
            let opening = Span::new(span.start, span.start + 1);
            self.error(
                Diagnostic::new(
                    Code::UnterminatedString,
                    opening,
                    "this string is never closed",
                )
                .help("close it with `\"`"),
            );
            self.push(TokenKind::Error, span);
            return;
        }
        let warnings = &mut self.out.warnings;
        decode_string(text, |range| {
            if warnings.len() < MAX_DIAGNOSTICS {
                let escape = Span::new(
                    span.start + offset(range.start),
                    span.start + offset(range.end),
                );
                let message = format!(
                    "`{}` is no escape, so the backslash stays in the text",
                    quoted(text.get(range).unwrap_or(""))
                );
                warnings.push(
                    Diagnostic::new(Code::UnknownEscape, escape, message)
                        .help("escapes are `\\n`, `\\t`, `\\\\` and `\\\"`; write `\\\\` for a backslash")
                        .fix("Double the backslash", Span::empty(escape.start), "\\"),
                );
            }
        });
        self.push(TokenKind::String, span);
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        if self.out.errors.len() < MAX_DIAGNOSTICS {
            self.out.errors.push(diagnostic);
        }
    }
}

/// Length of a comment after its opening, and whether it is closed. Comments nest.
fn comment_length(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let mut depth = 1usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'(', Some(b'*')) => {
                depth += 1;
                at += 2;
            }
            (b'*', Some(b')')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return (at, true);
                }
            }
            _ => at += 1,
        }
    }
    (bytes.len(), false)
}

fn unknown_char(text: &str, span: Span) -> Diagnostic {
    let message = match text.chars().next() {
        Some(c) if c.is_control() => {
            format!("the control character U+{:04X} starts no token", c as u32)
        }
        Some(c) if c.is_whitespace() => {
            format!(
                "the space U+{:04X} is no ChatML space; only space, tab and line ends are",
                c as u32
            )
        }
        _ => format!("the character `{text}` starts no token"),
    };
    let help = match text {
        "&" => "there is no `&&`: write `if a then b else false`",
        "%" => "there is no remainder operator: write `a - a / b * b`",
        "^" => "texts are joined with `++`",
        "'" => "there are no character literals and no type variables: texts stand in `\"`",
        "#" => "a comment is written `(* … *)`",
        "~" | "?" | "@" | "$" | "\\" => {
            "outside of strings and comments only the operators of the language may stand"
        }
        _ if !text.is_ascii() => {
            "names are ASCII letters, digits and `_`; other text belongs in a string or a comment"
        }
        _ => return Diagnostic::new(Code::UnknownChar, span, message),
    };
    Diagnostic::new(Code::UnknownChar, span, message).help(help)
}
