//! Which names a ChatML program defines at top level (spec 04 section 8.9, spec 05 sections 2, 3).
//!
//! Entry points are chosen by name before the program is checked, so this scan asks no more of the
//! text than its tokens: a `let` that no `in` closes, outside brackets and modules, is a
//! definition. It is linear, and total on malformed programs.

use std::collections::HashSet;

use crate::manifest::ScriptKind;

/// Name that is used when the default entry point of a kind is not defined.
pub(crate) const FALLBACK: &str = "on_event";

/// Default entry point of a kind.
pub(crate) fn default_name(kind: ScriptKind) -> &'static str {
    match kind {
        ScriptKind::Moderator => FALLBACK,
        ScriptKind::Matcher => "match_command",
        ScriptKind::Reviewer => "review",
        ScriptKind::BeforeInterceptor => "before",
        ScriptKind::AfterInterceptor => "after",
        ScriptKind::EffectAnalyzer => "analyze",
        ScriptKind::AuditFilter => "filter",
    }
}

enum Open<'a> {
    Let(Vec<&'a str>),
    Bracket,
}

/// Names defined by top-level `let` and `let rec … and …` statements.
pub(crate) fn definitions(program: &str) -> HashSet<String> {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut brackets = 0_usize;
    let mut tokens = Tokens {
        text: program.as_bytes(),
        program,
        at: 0,
    }
    .peekable();
    while let Some(token) = tokens.next() {
        match token {
            "let" => {
                if tokens.peek() == Some(&"rec") {
                    tokens.next();
                }
                open.push(Open::Let(tokens.peek().copied().into_iter().collect()));
            }
            "let*" | "let+" => open.push(Open::Let(Vec::new())),
            "and" => {
                if let (Some(Open::Let(names)), Some(name)) = (open.last_mut(), tokens.peek()) {
                    names.push(name);
                }
            }
            "in" => {
                if matches!(open.last(), Some(Open::Let(_))) {
                    open.pop();
                }
            }
            "(" | "[" | "{" | "struct" => {
                brackets += 1;
                open.push(Open::Bracket);
            }
            ")" | "]" | "}" | "end" if brackets > 0 => {
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

/// Words and brackets; everything else is left out.
struct Tokens<'a> {
    text: &'a [u8],
    program: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn skip_comment(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match self.text.get(self.at..self.at + 2) {
                Some(b"(*") => {
                    depth += 1;
                    self.at += 2;
                }
                Some(b"*)") => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            self.at += match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => 2,
                _ => 1,
            };
        }
    }

    fn word(&mut self) -> &'a str {
        let start = self.at;
        while matches!(
            self.text.get(self.at),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_')
        ) {
            self.at += 1;
        }
        let word = self.program.get(start..self.at).unwrap_or_default();
        if word == "let" && matches!(self.text.get(self.at), Some(b'*' | b'+')) {
            self.at += 1;
            return self.program.get(start..self.at).unwrap_or_default();
        }
        word
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'(' if self.text.get(self.at + 1) == Some(&b'*') => self.skip_comment(),
                b'"' => self.skip_string(),
                // A tag is no word, even when it is spelled like a keyword.
                b'`' => {
                    self.at += 1;
                    self.word();
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => return Some(self.word()),
                b'(' | b')' | b'[' | b']' | b'{' | b'}' => {
                    self.at += 1;
                    return self.program.get(self.at - 1..self.at);
                }
                _ => self.at += 1,
            }
        }
        None
    }
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
