//! What groups with what (spec 05 sections 3.1 and 3.2).

use super::dump;
use crate::parse::parse;

#[test]
fn programs_read_as_tabled() {
    for (source, want) in [
        // Levels and associativity.
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("1 * 2 / 3", "((1 * 2) / 3)"),
        ("a == b < c", "((a == b) < c)"),
        ("a + b == c - d", "((a + b) == (c - d))"),
        ("a ++ b ++ c", "((a ++ b) ++ c)"),
        ("a := b := c", "(a := (b := c))"),
        ("a[0] <- b[1] <- 2", "(a[0] <- (b[1] <- 2))"),
        ("r := 1 + 2", "(r := (1 + 2))"),
        // S1 and S2.
        ("if a then b else c; d", "if<a><b><<c; d>>"),
        ("fun x -> a; b", "fun<x><<a; b>>"),
        ("1 + fun x -> x", "(1 + fun<x><x>)"),
        ("1 + if a then 2 else 3; 4", "(1 + if<a><2><<3; 4>>)"),
        ("1 + let x = 2 in x; 3", "(1 + <let x=2; x; 3>)"),
        (
            "match a with | 1 -> b; c | _ -> d; e",
            "match<a><1-><b; c> | _-><d; e>>",
        ),
        (
            "match a with | 1 -> match b with | 2 -> c | 3 -> d",
            "match<a><1->match<b><2->c | 3->d>>",
        ),
        (
            "match a with | 1 -> (match b with | 2 -> c) | 3 -> d",
            "match<a><1->match<b><2->c> | 3->d>",
        ),
        (
            "if a then b else if c then d else e",
            "if<a><b><if<c><d><e>>",
        ),
        ("if a then b; c else d", "if<a><<b; c>><d>"),
        // S4 to S7.
        ("!f(x)", "(!f(x))"),
        ("!a[0]", "(!a[0])"),
        ("-f(x)", "(-f(x))"),
        ("!r.x", "(!r.x)"),
        ("-a * b", "(-(a * b))"),
        ("-a + b", "((-a) + b)"),
        ("8 / -2 * 2", "(8 / (-(2 * 2)))"),
        ("a * -b + c", "((a * (-b)) + c)"),
        ("a - -b", "(a - (-b))"),
        ("!-x * y", "(!(-(x * y)))"),
        ("- - !x", "(-(-(!x)))"),
        ("-.x *. y", "(-.(x *. y))"),
        ("ref 1 + 2", "ref((1 + 2))"),
        ("ref(1)", "ref(1)"),
        ("ref x := y", "ref((x := y))"),
        ("!r := v", "((!r) := v)"),
        ("r.x := v", "(r.x := v)"),
        ("n := !n + 2", "(n := ((!n) + 2))"),
        // S8 and S9.
        ("let y = f x", "let y=f ;; x"),
        ("a\n(b)", "a(b)"),
        ("a\n- b", "(a - b)"),
        ("a; b", "<a; b>"),
        ("let a = 1\nlet b = 2", "let a=1 ;; let b=2"),
        ("let a = 1; 2", "let a=<1; 2>"),
        ("let x = 1 in x; let y = 2 in y", "<let x=1; x; let y=2; y>"),
        ("let x = 1 in x let y = 2", "<let x=1; x> ;; let y=2"),
        // S10 to S14.
        ("[1, 2]", "[1, 2]"),
        ("[]", "[]"),
        ("[1; 2]", "[<1; 2>]"),
        ("f(a; b, c)", "f(<a; b>, c)"),
        ("`T(a; b, c)", "`T(<a; b>, c)"),
        ("{ f = fun x -> x; n = 1 }", "{f=fun<x><x>; n=1}"),
        ("{ f = fun x -> x; y; n = 1 }", "{f=fun<x><<x; y>>; n=1}"),
        ("{ f = fun x -> x; }", "{f=fun<x><x>}"),
        ("{ f = (fun x -> x; y); n = 1 }", "{f=fun<x><<x; y>>; n=1}"),
        ("{ f = if a then b else c; n = 1 }", "{f=if<a><b><c>; n=1}"),
        (
            "{ f = match a with | _ -> b; n = 1 }",
            "{f=match<a><_->b>; n=1}",
        ),
        ("{ f = let x = a in x; n = 1; }", "{f=<let x=a; x>; n=1}"),
        ("{ a = 1; b = 2 }", "{a=1; b=2}"),
        ("{ }", "{}"),
        ("{ r with a = 1; b = 2 }", "{r with a=1; b=2}"),
        ("{ f(x); y with a = 1 }", "{<f(x); y> with a=1}"),
        ("f()", "f()"),
        ("f(())", "f(())"),
        ("`T()", "`T"),
        ("`T", "`T"),
        ("e.x(a).y[0](b)", "e.x(a).y[0](b)"),
        ("(f)(x)", "f(x)"),
        ("f(\n  x,\n  y)", "f(x, y)"),
        // S15 and S16.
        ("M.x", "M.x"),
        ("M.N.x.y", "M.N.x.y"),
        ("M.f(1)", "M.f(1)"),
        ("record_keys(M)", "record_keys(M)"),
        ("let* x = t in b", "<let* x=t; b>"),
        ("let* () = t in let+ y = u in b", "<let* _=t; let+ y=u; b>"),
        ("let* _ = t in b; c", "<let* _=t; b; c>"),
        // S17 and patterns.
        ("let _ = 1", "let _=1"),
        ("let f _ x = x", "let f=fun<_ x><x>"),
        ("let z () = 3", "let z=fun<><3>"),
        ("fun () -> 1", "fun<><1>"),
        (
            "match a with | -1 -> 0 | -.2.5 -> 0 | \"s\" -> 0 | () -> 0 | true -> 0",
            "match<a><-1->0 | -2.5->0 | \"s\"->0 | ()->0 | true->0>",
        ),
        (
            "match a with | `A -> 0 | `B(x, `C(_)) -> 1 | { l = p; m = 1; _ } -> 2 | { } -> 3 | { k = z; } -> 4",
            "match<a><`A->0 | `B(x, `C(_))->1 | {l=p; m=1; _}->2 | {}->3 | {k=z}->4>",
        ),
        (
            "match a with | { l = p; _ ; } -> 2",
            "match<a><{l=p; _}->2>",
        ),
        // Statements and types.
        (
            "let rec f x = g(x) and g y = y",
            "letrec f=fun<x><g(x)> and g=fun<y><y>",
        ),
        (
            "let rec f : int -> int = fun x -> x",
            "letrec f:(int -> int)=fun<x><x>",
        ),
        ("let rec f x = x in f(1)", "<letrec f=fun<x><x>; f(1)>"),
        ("let x : int array task = e", "let x:(int array.task)=e"),
        ("let x : a -> b -> r = e", "let x:(a, b -> r)=e"),
        ("let x : a -> (b -> r) = e", "let x:(a -> (b -> r))=e"),
        (
            "type t = { a : int; b : t array; }",
            "type t = {a:int; b:(t array)}",
        ),
        (
            "type t = [ `A | `B(int, t) ]",
            "type t = [`A() | `B(int, t)]",
        ),
        ("type t = [ | `A ]", "type t = [`A()]"),
        ("type t = [ ]", "type t = []"),
        ("type t = int\nf(x)", "type t = int ;; f(x)"),
        (
            "module M = struct let a = 1 module N = struct end open K f(a) end M.a",
            "module M<let a=1 ;; module N<> ;; open K ;; f(a)> ;; M.a",
        ),
        ("while a do b; c done; d", "<while<a><<b; c>>; d>"),
        ("(* a (* b *) c *) 1", "1"),
        ("", ""),
    ] {
        let parsed = parse(source);
        assert!(parsed.errors.is_empty(), "{source}: {:?}", parsed.errors);
        assert_eq!(dump::program(&parsed.program), want, "{source}");
    }
}

#[test]
fn expression_numbers_are_dense_and_unique() {
    let parsed = parse("let f x = { a = x; b = [1, -x.y[0] + 2] } f(`T(1; 2))");
    assert!(parsed.errors.is_empty());
    let text = format!("{:?}", parsed.program);
    let mut ids: Vec<u32> = text
        .split("ExprId(")
        .skip(1)
        .filter_map(|rest| rest.split(')').next()?.parse().ok())
        .collect();
    ids.sort_unstable();
    let want: Vec<u32> = (0..parsed.program.expr_count).collect();
    assert_eq!(ids, want);
}

#[test]
fn spans_cover_the_text_of_their_node() {
    let source = "let f x = (x.a + 1) * g(x)[0]";
    let parsed = parse(source);
    let text = format!("{:#?}", parsed.program);
    assert!(text.contains("start: 10"), "{text}");
    let crate::ast::StatementKind::Let(binding) = &parsed.program.statements[0].kind else {
        panic!()
    };
    let crate::ast::ExprKind::Fun(lambda) = &binding.value.kind else {
        panic!()
    };
    assert_eq!(lambda.body.span.of(source), "(x.a + 1) * g(x)[0]");
    let crate::ast::ExprKind::Binary { first, rest } = &lambda.body.kind else {
        panic!()
    };
    assert_eq!(first.span.of(source), "x.a + 1");
    assert!(first.parenthesized);
    assert_eq!(rest[0].right.span.of(source), "g(x)[0]");
}
