//! Which names a ChatML program defines at top level, and which of them is called (spec 04 section
//! 8.9, spec 05 sections 2, 3).
//!
//! Entry points are chosen by name before the program is checked, and in programs that are broken,
//! so this asks no more of the text than its tokens: a `let` that no `in` closes, outside brackets
//! and modules, is a definition. It is linear, and total on malformed programs.

use std::collections::HashSet;

use chatml::lex::{Token, TokenKind, lex};
use chatml::surface::Kind;

use crate::manifest::ScriptKind;

/// Name that is used when the default entry point of a kind is not defined.
pub(crate) const FALLBACK: &str = "on_event";

/// Default entry point of a kind.
pub(crate) fn default_name(kind: ScriptKind) -> &'static str {
    surface(kind)
        .contract()
        .map_or(FALLBACK, |contract| contract.default_name)
}

/// The surface that scripts of a kind are written against.
pub(crate) fn surface(kind: ScriptKind) -> Kind {
    match kind {
        ScriptKind::Moderator => Kind::Moderator,
        ScriptKind::Matcher => Kind::ShellMatcher,
        ScriptKind::Reviewer => Kind::ShellReviewer,
        ScriptKind::BeforeInterceptor => Kind::ShellBeforeInterceptor,
        ScriptKind::AfterInterceptor => Kind::ShellAfterInterceptor,
        ScriptKind::EffectAnalyzer => Kind::ShellEffectAnalyzer,
        ScriptKind::AuditFilter => Kind::ShellAuditFilter,
    }
}

enum Open<'a> {
    Let(Vec<&'a str>),
    Bracket,
}

/// Names defined by top-level `let` and `let rec … and …` statements.
pub(crate) fn definitions(program: &str) -> HashSet<String> {
    let lexed = lex(program);
    let mut tokens = lexed.tokens.iter().peekable();
    let name = |token: Option<&&Token>| {
        let token = token.filter(|token| token.kind == TokenKind::LowerName)?;
        Some(token.span.of(program))
    };
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut brackets = 0_usize;
    while let Some(token) = tokens.next() {
        match token.kind {
            TokenKind::Let => {
                tokens.next_if(|token| token.kind == TokenKind::Rec);
                open.push(Open::Let(name(tokens.peek()).into_iter().collect()));
            }
            TokenKind::LetStar | TokenKind::LetPlus => open.push(Open::Let(Vec::new())),
            TokenKind::And => {
                if let Some(Open::Let(names)) = open.last_mut() {
                    names.extend(name(tokens.peek()));
                }
            }
            TokenKind::In => {
                if matches!(open.last(), Some(Open::Let(_))) {
                    open.pop();
                }
            }
            TokenKind::LeftParen
            | TokenKind::LeftBracket
            | TokenKind::LeftBrace
            | TokenKind::Struct => {
                brackets += 1;
                open.push(Open::Bracket);
            }
            TokenKind::RightParen
            | TokenKind::RightBracket
            | TokenKind::RightBrace
            | TokenKind::EndKeyword
                if brackets > 0 =>
            {
                brackets -= 1;
                while !matches!(open.pop(), Some(Open::Bracket) | None) {}
            }
            _ => {}
        }
    }
    let mut names = HashSet::new();
    for entry in open {
        match entry {
            Open::Let(defined) => names.extend(defined.into_iter().map(str::to_owned)),
            Open::Bracket => break,
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_top_level_statements_define() {
        for (program, expected) in [
            (
                "let initial_state = ()\nlet review ctx st = Task.pure(st)",
                "initial_state review",
            ),
            ("let f x = let g = 1 in g\nlet h = 2", "f h"),
            ("let rec even n = odd(n)\nand odd n = even(n)", "even odd"),
            (
                "module M = struct let inner = 1 end\nlet outer = M.inner",
                "outer",
            ),
            (
                "(* let a = 1 (* nested *) let b = 2 *) let c = \"let d = 1\"",
                "c",
            ),
            ("let a = (let b = 1 in b)", "a"),
            (
                "let a = let* x = t in let+ () = u in x\nlet b = `let",
                "a b",
            ),
            ("\u{feff}\nlet match_command ctx st = 1", "match_command"),
            ("let a = \"\\\" let b = 1\"", "a"),
            ("let letter = 1 let_x", "letter"),
            ("let", ""),
            ("(* never closed let a = 1", ""),
            ("\"never closed let a = 1", ""),
            (")]} end in and let z = 1", "z"),
        ] {
            let mut found: Vec<String> = definitions(program).into_iter().collect();
            found.sort();
            let expected: Vec<&str> = expected.split_whitespace().collect();
            assert_eq!(found, expected, "{program}");
        }
    }

    #[test]
    fn hostile_programs_take_linear_time() {
        for piece in ["(", "let x = ", ")", "in ", "(*", "struct ", "\"", "and "] {
            assert!(definitions(&piece.repeat(200_000)).len() <= 200_000);
        }
        assert!(definitions(&"(let x = 1 ".repeat(100_000)).is_empty());
        let closing = "let x = 1 ".repeat(100_000) + &")".repeat(100_000);
        assert_eq!(definitions(&closing).len(), 1);
    }
}
