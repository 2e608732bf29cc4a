#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn kinds(source: &str) -> Vec<TokenKind> {
    let mut kinds: Vec<TokenKind> = lex(source).tokens.iter().map(|token| token.kind).collect();
    assert_eq!(kinds.pop(), Some(TokenKind::End));
    kinds
}

fn texts(source: &str) -> Vec<&str> {
    let lexed = lex(source);
    assert!(lexed.errors.is_empty(), "{source}: {:?}", lexed.errors);
    let mut texts: Vec<&str> = lexed
        .tokens
        .iter()
        .map(|token| token.span.of(source))
        .collect();
    texts.pop();
    texts
}

#[test]
fn longest_match_and_the_traps() {
    for (source, want) in [
        ("a <-1", vec!["a", "<-", "1"]),
        ("1-.2", vec!["1", "-.", "2"]),
        ("1.x", vec!["1", ".", "x"]),
        ("1.5.5", vec!["1.5", ".", "5"]),
        ("[|1|]", vec!["[", "|", "1", "|", "]"]),
        ("let*x", vec!["let*", "x"]),
        ("let +", vec!["let", "+"]),
        ("let+", vec!["let+"]),
        ("letter in_ _ _x x'", vec!["letter", "in_", "_", "_x", "x"]),
        (
            "<=.<=<.<>=.>=>.>",
            vec!["<=.", "<=", "<.", "<", ">=.", ">=", ">.", ">"],
        ),
        ("+++.+", vec!["++", "+.", "+"]),
        (":= : ==", vec![":=", ":", "=="]),
        ("===", vec!["==", "="]),
        ("!=!", vec!["!=", "!"]),
        ("12ab", vec!["12", "ab"]),
        ("`Ok_1`2x", vec!["`Ok_1", "`2x"]),
        ("\u{feff}a", vec!["a"]),
    ] {
        if source.ends_with('\'') {
            assert_eq!(kinds(source).last(), Some(&TokenKind::Error));
            continue;
        }
        assert_eq!(texts(source), want, "{source}");
    }
}

#[test]
fn keywords_beat_names_of_the_same_length_only() {
    for keyword in [
        "fun", "if", "then", "else", "while", "do", "done", "let", "in", "match", "with", "module",
        "struct", "end", "open", "ref", "rec", "and", "type", "true", "false",
    ] {
        assert_eq!(kinds(keyword).first().unwrap().fixed_text(), Some(keyword));
        let longer = format!("{keyword}s");
        assert_eq!(kinds(&longer), [TokenKind::LowerName], "{longer}");
    }
    for name in ["for", "when", "of", "as", "begin", "not", "mod"] {
        assert_eq!(kinds(name), [TokenKind::LowerName], "{name}");
    }
}

/// Every code of section 2: a firing case with its span, and a silent one.
#[test]
fn lexical_codes() {
    for (source, code, span, silent) in [
        ("a @ b", Code::UnknownChar, (2, 3), "\"@\" (* @ *)"),
        ("1 && 2", Code::UnknownChar, (2, 3), "1"),
        ("let x = é", Code::UnknownChar, (8, 10), "\"é\""),
        (
            "1 (* a (* b *)",
            Code::UnterminatedComment,
            (2, 4),
            "(* a (* b *) \" *)",
        ),
        ("x \"abc", Code::UnterminatedString, (2, 3), "\"a\nb\""),
        ("\"\\\"", Code::UnterminatedString, (0, 1), "\"\\\"\""),
        (
            "9223372036854775808",
            Code::IntRange,
            (0, 19),
            "9223372036854775807",
        ),
        ("` a", Code::EmptyTag, (0, 1), "`a"),
    ] {
        let lexed = lex(source);
        let first = lexed.errors.first().unwrap();
        assert_eq!(
            (first.code, first.span),
            (code, Span::new(span.0, span.1)),
            "{source}"
        );
        assert_eq!(lexed.errors.len(), 1, "{source}");
        assert!(lex(silent).errors.is_empty(), "{silent}");
    }
    let huge = format!("{}.0", "9".repeat(400));
    assert_eq!(lex(&huge).errors.first().unwrap().code, Code::FloatRange);
    assert!(lex("179.9999999999999999999999").errors.is_empty());
}

#[test]
fn strings_decode_and_warn() {
    let lexed = lex(r#""a\rb\n\q""#);
    let spans: Vec<(u32, u32)> = lexed
        .warnings
        .iter()
        .map(|w| (w.span.start, w.span.end))
        .collect();
    assert!(lexed.warnings.iter().all(|w| w.code == Code::UnknownEscape));
    assert_eq!(spans, [(2, 4), (7, 9)]);
    assert!(lex(r#""\n\t\\\"""#).warnings.is_empty());
    for (literal, want) in [
        (r#""a\rb""#, "a\\rb"),
        (r#""\n\t\\\"""#, "\n\t\\\""),
        ("\"a\r\nb\rc\"", "a\nb\nc"),
        ("\"\\\r\n\"", "\\\n"),
        ("\"é\\é\"", "é\\é"),
    ] {
        assert_eq!(decode_string(literal, |_| {}), want, "{literal}");
    }
}

#[test]
fn tokens_know_whether_they_open_a_line() {
    let opens = |source: &str| -> Vec<bool> {
        lex(source).tokens.iter().map(|t| t.first_on_line).collect()
    };
    assert_eq!(opens("a b"), [true, false, false]);
    assert_eq!(opens("a\nb"), [true, true, false]);
    assert_eq!(
        opens("a (* \n *) b"),
        [true, true, false],
        "a line end inside a comment counts"
    );
    assert_eq!(
        opens("\"x\ny\" b"),
        [true, false, false],
        "one inside a string does not"
    );
    assert_eq!(opens("a\rb\r\n"), [true, true, true]);
}

#[test]
fn no_number_of_bad_characters_gives_more_than_a_hundred_findings() {
    let lexed = lex(&"@ ".repeat(5000));
    assert_eq!(lexed.errors.len(), MAX_DIAGNOSTICS);
    let lexed = lex(&format!("\"{}\"", "\\q".repeat(5000)));
    assert_eq!(lexed.warnings.len(), MAX_DIAGNOSTICS);
}

proptest! {
    /// Tokens and comments are in order, do not overlap, and leave nothing but white space out.
    #[test]
    fn every_byte_belongs_somewhere(source in "(?s)([\\x00-\\x7f]|\\PC|[(*)\"`\\\\\n]){0,60}") {
        let lexed = lex(&source);
        let mut spans: Vec<Span> = lexed.tokens.iter().map(|t| t.span).chain(lexed.comments.iter().copied()).collect();
        spans.sort_by_key(|span| (span.start, span.end));
        let mut at = if source.starts_with('\u{feff}') { 3 } else { 0 };
        for span in spans {
            let gap = source.get(at..span.start as usize);
            prop_assert!(gap.is_some_and(|gap| gap.bytes().all(|b| b" \t\r\n".contains(&b))), "{gap:?}");
            at = span.end as usize;
        }
        prop_assert_eq!(at, source.len());
    }
}
