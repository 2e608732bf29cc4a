//! Deep, long and random text.

use proptest::prelude::*;

use crate::ast::MAX_NESTING;
use crate::diagnostic::Code;
use crate::parse::parse;

/// Runs on a stack smaller than that of any thread the project starts. Without optimisation
/// frames are several times larger, so there the default must do.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let size = if cfg!(debug_assertions) {
        2048 * 1024
    } else {
        512 * 1024
    };
    std::thread::Builder::new()
        .stack_size(size)
        .spawn(test)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn the_limit_of_nesting_is_exact() {
    on_a_small_stack(|| {
        let nested = |open: &str, middle: &str, close: &str, depth: u32| {
            let depth = depth as usize;
            format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
        };
        for (open, middle, close) in [
            ("(", "1", ")"),
            ("[", "1", "]"),
            ("{ a = ", "1", "}"),
            ("f(", "1", ")"),
            ("`A(", "1", ")"),
            ("fun x -> ", "1", ""),
            ("if ", "a", " then 1 else 2"),
            ("match 1 with | _ -> ", "1", ""),
            ("ref ", "1", ""),
            ("while a do ", "b", " done"),
            ("a := ", "1", ""),
            ("a[", "1", "]"),
            ("1 * -", "1", ""),
            ("!-", "1", ""),
            ("let x = ", "1", " in 1"),
        ] {
            let extra = u32::from(open == "let x = ");
            let fits = parse(&nested(open, middle, close, MAX_NESTING + extra));
            assert!(fits.is_ok(), "{open}: {:?}", fits.errors);
            drop(fits);
            let deep = parse(&nested(open, middle, close, MAX_NESTING + 1 + extra));
            assert_eq!(deep.errors[0].code, Code::TooDeep, "{open}");
            let deeper = parse(&nested(open, middle, close, 10_000));
            assert_eq!(deeper.errors[0].code, Code::TooDeep, "{open}");
            let open_only = parse(&open.repeat(10_000));
            assert_eq!(open_only.errors[0].code, Code::TooDeep, "{open}");
        }
        for (open, middle, close) in [
            ("(", "int", ")"),
            ("{ a : ", "int", "}"),
            ("[ `A(", "int", ") ]"),
        ] {
            let ty = |depth| format!("type t = {}", nested(open, middle, close, depth));
            assert!(parse(&ty(MAX_NESTING / 2)).is_ok(), "{open}");
            assert_eq!(parse(&ty(10_000)).errors[0].code, Code::TooDeep, "{open}");
        }
        for (open, middle, close) in [("`A(", "_", ")"), ("{ a = ", "_", "}")] {
            let pattern =
                |depth| format!("match 1 with | {} -> 1", nested(open, middle, close, depth));
            assert!(parse(&pattern(MAX_NESTING - 1)).is_ok(), "{open}");
            assert_eq!(
                parse(&pattern(10_000)).errors[0].code,
                Code::TooDeep,
                "{open}"
            );
        }
        let modules = nested("module M = struct ", "", " end", 10_000);
        assert_eq!(parse(&modules).errors[0].code, Code::TooDeep);
    });
}

/// Whatever is long without brackets has no limit and needs no stack.
#[test]
fn long_programs_are_not_deep() {
    on_a_small_stack(|| {
        const COUNT: usize = 100_000;
        for (head, part, tail) in [
            ("", "a; ", "b"),
            ("", "let x = 1 in ", "x"),
            ("", "let* x = t in ", "x"),
            ("", "let+ () = t in a; ", "x"),
            ("1", " + 1", ""),
            ("1", " * 1", ""),
            ("1", " == 1", ""),
            ("f", "(1)", ""),
            ("r", ".x", ""),
            ("a", "[0]", ""),
            ("M", ".N", ""),
            ("", "-", "1"),
            ("", "!", "x"),
            ("", "if a then b else ", "c"),
            ("match a with", " | 1 -> 2", ""),
            ("let rec f x = x", " and f x = x", ""),
            ("let x = [1", ", 1", "]"),
            ("", "let x = 1\n", ""),
            ("type t = int", " array", ""),
            ("type t = int", " -> int", ""),
            ("let f x", " y", " = 1"),
        ] {
            let source = format!("{head}{}{tail}", part.repeat(COUNT));
            let parsed = parse(&source);
            assert!(parsed.is_ok(), "{part}: {:?}", parsed.errors.first());
        }
    });
}

/// A statement that can not be parsed is read at most a hundred times.
#[test]
fn failing_chains_are_not_read_again_and_again() {
    let started = std::time::Instant::now();
    let parsed = parse(&format!("{})", "let x = 1 in\n".repeat(4_000)));
    assert_eq!(parsed.errors.len(), 1);
    let parsed = parse(&"let x = (\n".repeat(4_000));
    assert!(!parsed.errors.is_empty());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn any_text_parses_or_has_an_error(source in "(?s)([\\x00-\\x7f]|\\PC){0,80}") {
        parse(&source);
    }

    /// Token soup reaches deeper than random characters do.
    #[test]
    fn any_tokens_parse_or_have_an_error(
        words in proptest::collection::vec(proptest::sample::select(WORDS), 0..60),
        breaks in proptest::collection::vec(any::<bool>(), 60),
    ) {
        let mut source = String::new();
        for (word, line) in words.iter().zip(breaks) {
            source.push_str(word);
            source.push(if line { '\n' } else { ' ' });
        }
        let parsed = parse(&source);
        for found in parsed.errors.iter().chain(&parsed.warnings) {
            prop_assert!(found.span.end as usize <= source.len() && found.span.start <= found.span.end);
        }
        let failed = parsed.program.statements.iter().any(|s| matches!(s.kind, crate::ast::StatementKind::Error { .. }));
        prop_assert!(!failed || !parsed.errors.is_empty(), "a statement failed without a word");
    }
}

const WORDS: &[&str] = &[
    "let", "let*", "let+", "rec", "and", "in", "=", "x", "f", "M", ".", "(", ")", "()", "[", "]",
    "{", "}", ";", ",", "|", "->", "<-", ":=", ":", "`T", "1", "2.5", "\"s\"", "true", "_", "fun",
    "if", "then", "else", "match", "with", "while", "do", "done", "module", "struct", "end",
    "open", "type", "ref", "!", "-", "-.", "+", "*", "==", "int", "array", "@", "`", "(* c *)",
];
