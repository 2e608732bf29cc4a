//! Codes of section 3.2, hints, lints and recovery.

use super::dump;
use crate::diagnostic::{Code, Severity};
use crate::parse::parse;

/// Code and marked text of the first error, with a silent relative of the program.
#[test]
fn syntax_codes() {
    for (source, code, marked, silent) in [
        ("let x =", Code::UnexpectedEnd, "let", "let x = 1"),
        (
            "if true then 1",
            Code::UnexpectedEnd,
            "if",
            "if true then 1 else 2",
        ),
        ("f(1, (2)", Code::UnexpectedEnd, "(", "f(1, (2))"),
        (
            "let f x =\n  let y = 1 in",
            Code::UnexpectedEnd,
            "let",
            "let f x =\n  let y = 1 in y",
        ),
        (
            "module M = struct let a = 1",
            Code::UnexpectedEnd,
            "module",
            "module M = struct let a = 1 end",
        ),
        (
            "if a then 1 else if b then 2",
            Code::UnexpectedEnd,
            "if",
            "if a then 1 else if b then 2 else 3",
        ),
        (
            "while a do b",
            Code::UnexpectedEnd,
            "while",
            "while a do b done",
        ),
        ("let x = )", Code::UnexpectedToken, ")", "let x = ()"),
        ("(f x)", Code::UnexpectedToken, "x", "(f(x))"),
        (
            "match a with 1 -> 2",
            Code::UnexpectedToken,
            "1",
            "match a with | 1 -> 2",
        ),
        (
            "match a with | `T() -> 2",
            Code::UnexpectedToken,
            ")",
            "match a with | `T -> 2",
        ),
        (
            "match a with | (x) -> 2",
            Code::UnexpectedToken,
            "x",
            "match a with | x -> 2",
        ),
        ("(a;)", Code::UnexpectedToken, ")", "(a; b)"),
        ("r.X", Code::UnexpectedToken, "X", "M.X.x"),
        ("a[1; 2]", Code::UnexpectedToken, ";", "a[(1; 2)]"),
        ("{ a = 1; 2 }", Code::UnexpectedToken, "2", "{ a = (1; 2) }"),
        (
            "let x : int ref = 1",
            Code::UnexpectedToken,
            "ref",
            "let x : int array = 1",
        ),
        ("let f (x) = 1", Code::UnexpectedToken, "(", "let f x = 1"),
        ("fun -> 1", Code::UnexpectedToken, "->", "fun _ -> 1"),
        (
            "module M = struct type t = int end",
            Code::MisplacedType,
            "type",
            "type t = int module M = struct end",
        ),
        (
            "let x = type t = int",
            Code::MisplacedType,
            "type",
            "let x = 1 type t = int",
        ),
        ("a.b <- 1", Code::InvalidAssignment, "a.b", "a.b[0] <- 1"),
        (
            "(a[0]) <- 1",
            Code::InvalidAssignment,
            "a[0]",
            "(a)[0] <- 1",
        ),
        (
            "1 + a[0] <- 1",
            Code::InvalidAssignment,
            "1 + a[0]",
            "1 + (a[0] <- 1)",
        ),
        (
            "!a[0] <- 1",
            Code::InvalidAssignment,
            "!a[0]",
            "(!a)[0] <- 1",
        ),
    ] {
        let parsed = parse(source);
        let first = parsed
            .errors
            .first()
            .unwrap_or_else(|| panic!("{source}: no error"));
        assert_eq!(
            (first.code, first.span.of(source)),
            (code, marked),
            "{source}: {}",
            first.message
        );
        assert_eq!(parsed.errors.len(), 1, "{source}: {:?}", parsed.errors);
        assert!(
            parse(silent).is_ok(),
            "{silent}: {:?}",
            parse(silent).errors
        );
    }
}

#[test]
fn unexpected_end_marks_where_the_program_ends() {
    let found = parse("let x =").errors.remove(0);
    assert_eq!(found.labels[0].span.start, 7);
    assert!(
        parse("if true then 1").errors[0]
            .help
            .as_deref()
            .unwrap()
            .contains("else ()")
    );
}

#[test]
fn messages_name_the_token_and_what_was_expected() {
    for (source, message) in [
        ("let x = )", "unexpected `)`, expected an expression"),
        (
            "(1 `A)",
            "unexpected tag `` `A ``, expected `)`, `;` or an operator",
        ),
        ("let = 1", "unexpected `=`, expected a name or `_`"),
        (
            "fun 1 -> 2",
            "unexpected number `1`, expected a parameter or `()`",
        ),
        (
            "let x y",
            "the program ends inside what `let` starts, expected a parameter or `=`",
        ),
    ] {
        assert_eq!(parse(source).errors[0].message, message, "{source}");
    }
}

#[test]
fn hints_for_habits_from_other_languages() {
    for (source, hint) in [
        ("(if a then b)", "else"),
        ("(f x)", "`f(x)`"),
        ("(f(1) x)", "parentheses"),
        ("if a = b then 1 else 2", "`==`"),
        ("(a || b)", "no `||`"),
        ("(not a)", "no `not`"),
        ("match a with | 1 when b -> 2", "no guards"),
        ("[|1, 2|]", "`[1, 2]`"),
        ("let a = 1 && 2", "no `&&`"),
        ("let f x = let y = 1 let z = 2", "needs `in`"),
    ] {
        let parsed = parse(source);
        let help = parsed.errors[0]
            .help
            .as_deref()
            .unwrap_or_else(|| panic!("{source}: {:?}", parsed.errors[0]));
        assert!(help.contains(hint), "{source}: {help}");
    }
}

#[test]
fn lints_of_the_parser() {
    for (source, code, marked) in [
        ("[1; 2]", Code::ArraySequence, "1; 2"),
        ("f\n(x)", Code::LineContinues, "("),
        ("a\n  [0]", Code::LineContinues, "["),
        ("let y = f x", Code::SameLineStatement, "x"),
        ("let y = 1 f(y)", Code::SameLineStatement, "f(y)"),
    ] {
        let parsed = parse(source);
        assert!(parsed.is_ok(), "{source}");
        assert_eq!(parsed.warnings.len(), 1, "{source}: {:?}", parsed.warnings);
        let found = &parsed.warnings[0];
        assert_eq!(found.severity(), Severity::Warning);
        assert_eq!(
            (found.code, found.span.of(source)),
            (code, marked),
            "{source}"
        );
    }
    for silent in [
        "[1, 2]",
        "[(1; 2)]",
        "[fun x -> x; 1]",
        "f(\nx)",
        "f(x)\nlet y = 1",
        "a\n- b",
        "let y = f\nx",
        "let x = 1 let y = 2",
        "module M = struct f(1) end",
        "type t = int\nlet x = [\n1]",
    ] {
        assert!(
            parse(silent).warnings.is_empty(),
            "{silent}: {:?}",
            parse(silent).warnings
        );
    }
    let fix = &parse("[(1); 2; 3]").warnings[0].fixes[0].edits[0];
    assert_eq!((fix.span.start, fix.text.as_str()), (4, ","));
}

#[test]
fn parsing_goes_on_at_the_next_statement() {
    for (source, want, errors) in [
        ("let a = )\nlet b = 2", "error<a> ;; let b=2", 1),
        (
            "let a = (1 +\nlet b = 2\nlet c = 3",
            "error<a> ;; let b=2 ;; let c=3",
            1,
        ),
        (
            "let rec f x = y z) and g = 1\ntype t = int",
            "error<f,g> ;; type t = int",
            0,
        ),
        (
            "let f x =\n  let y = 1\n\nlet z = 2",
            "error<f> ;; let z=2",
            1,
        ),
        (
            "type t = = 3\nmodule M = struct end",
            "error<t> ;; module M<>",
            1,
        ),
        (
            "module M = struct\n  let a = )\n  let b = 1\nend\nlet c = 2",
            "module M<error<a> ;; let b=1> ;; let c=2",
            1,
        ),
        (
            "module M = struct\n  let a = 1\n  type t = int\n  let b = 1\nend\nlet c = 2",
            "module M<let a=1 ;; error<t> ;; let b=1> ;; let c=2",
            1,
        ),
        (
            "let a = 1 @ 2\nlet b = 3",
            "let a=1 ;; error<> ;; let b=3",
            1,
        ),
        (
            "let a = )\n\nlet b = )\n\nlet c = 1",
            "error<a> ;; error<b> ;; let c=1",
            2,
        ),
        (")\nlet c = 1", "error<> ;; let c=1", 1),
    ] {
        let parsed = parse(source);
        if errors > 0 {
            assert_eq!(dump::program(&parsed.program), want, "{source}");
            assert_eq!(parsed.errors.len(), errors, "{source}: {:?}", parsed.errors);
        } else {
            assert!(!parsed.errors.is_empty(), "{source}");
            assert!(
                dump::program(&parsed.program).ends_with("type t = int"),
                "{source}"
            );
        }
    }
}

#[test]
fn a_hundred_findings_are_enough() {
    let parsed = parse(&"let a = )\n".repeat(5000));
    assert_eq!(parsed.errors.len(), 100);
}
