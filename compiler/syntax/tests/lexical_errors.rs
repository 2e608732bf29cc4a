//! Spec 01 section 16.2 row by row: comments, RAW, values and tags without an end, bytes that are no text.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_syntax::parse;
use common::{check, check_cover, findings, outline};

#[test]
fn comment_without_end() {
    let parsed = check(
        "<user>a</user>\n<!-- open\n<user>b</user>\n",
        &[("chatmd.unterminated_comment", "<!--", &[])],
    );
    assert!(outline(&parsed).contains("text \"b\""));
}

#[test]
fn raw_without_end() {
    // Ends before the end tag of an open element that starts a line …
    let parsed = check(
        "<user>RAW| x </tool>\n</assistant>\n</user>\n<user>b</user>",
        &[("chatmd.unterminated_raw", "RAW|", &["<user>"])],
    );
    assert!(outline(&parsed).starts_with("user\n  raw \" x </tool>\\n</assistant>\\n\"\n"));
    // … else before the next fence …
    let parsed = check(
        "<user>RAW| x\n <doc src=\"a\"/>\n<system>b</system>",
        &[
            ("chatmd.unclosed_element", "<user>", &["<system>"]),
            ("chatmd.unterminated_raw", "RAW|", &["<user>"]),
        ],
    );
    assert!(outline(&parsed).contains("system\n  text \"b\""));
    // … else at the end of the file.
    let parsed = check(
        "<user>RAW| x",
        &[
            ("chatmd.unclosed_element", "<user>", &[""]),
            ("chatmd.unterminated_raw", "RAW|", &["<user>"]),
        ],
    );
    assert_eq!(outline(&parsed), "user unclosed\n  raw \" x\"\n");
}

#[test]
fn quoted_value_without_end() {
    check(
        "<tool name=\"t\" command=\"a",
        &[("chatmd.unterminated_attribute", "\"a", &["command"])],
    );
    // Ends at the first `/>`, `>` or line end, and the tag continues there.
    let parsed = check(
        "<tool name=\"t\" command='a/>\n<user>b</user>",
        &[("chatmd.unterminated_attribute", "'a/>", &["command"])],
    );
    assert_eq!(
        outline(&parsed),
        "tool name=\"t\" command=\"a\"! broken\ntext \"\\n\"\nuser\n  text \"b\"\n"
    );
    let parsed = check(
        "<user name=\"x\n id=\"y\">b</user>\n<user>c</user>",
        &[("chatmd.unterminated_attribute", "\"x", &["name"])],
    );
    // A "closing" quote behind `id=` opens the value of `id`: the one in front of it is missing.
    assert!(outline(&parsed).starts_with("user name=\"x\"! id=\"y\" broken\n"));
    let parsed = check(
        "<user name=\"x\n>b</user>\n<user>c</user>",
        &[("chatmd.unterminated_attribute", "\"x", &["name"])],
    );
    assert!(outline(&parsed).starts_with("user name=\"x\"! broken\n  text \"b\"\n"));
    // Shell names count where they are recognised.
    check(
        "<shell_access id=\"r\n  <limits wall_time=\"1m\"/></shell_access>",
        &[("chatmd.unterminated_attribute", "\"r", &["id"])],
    );
    check(
        "<tool name=\"t\" runtime=\"r\n  <command program=\"x\"/></tool>",
        &[("chatmd.unterminated_attribute", "\"r", &["runtime"])],
    );
    let described =
        |given: &str| format!("<tool {given} description=\"a\n  <path> b\"></path></tool>");
    for given in [
        "type=\"shell\"",
        "name=\"read_file\"",
        "name=\"get_contents\"",
    ] {
        check(
            &described(given),
            &[("chatmd.unterminated_attribute", "\"a", &["description"])],
        );
    }
    for given in ["name=\"shell\"", "type=\"read_file\"", "agent=\"shell\""] {
        check(&described(given), &[]);
    }
    // Tag-like text on one line is part of the value.
    check("<user name=\"<user>\">x</user>", &[]);
    // Everything behind the open quote is uncertain: one report for the tag.
    check(
        "<user name=\"x\n%% a=\n<doc src=\"y\"/></user>",
        &[("chatmd.unterminated_attribute", "\"x", &["name"])],
    );
}

#[test]
fn tag_without_end() {
    for name in ["config", "import", "moderator_runtime", "doc", "img"] {
        let text = format!("<user>a</user>\n<{name} src=\"m\"\n<user>b</user></{name}>");
        let parsed = parse(text.as_bytes());
        check_cover(&parsed);
        let found = findings(&parsed);
        let tag = format!("<{name} src=\"m\"");
        let want = (
            "chatmd.unterminated_tag".to_owned(),
            tag,
            vec!["<".to_owned()],
        );
        assert!(found.contains(&want), "{name}: {found:?}");
        assert!(
            outline(&parsed).contains("user\n  text \"b\""),
            "{name} is empty"
        );
    }
    // No later end tag of its name: empty. With one: open.
    let parsed = check(
        "<tool name=\"t\"\n<user>b</user>",
        &[("chatmd.unterminated_tag", "<tool name=\"t\"", &["<"])],
    );
    assert!(outline(&parsed).contains("\nuser\n"));
    let parsed = check(
        "<system id=\"t\" <agent src=\"m\"/></system>",
        &[("chatmd.unterminated_tag", "<system id=\"t\"", &["<"])],
    );
    assert_eq!(
        outline(&parsed),
        "system id=\"t\" broken\n  agent src=\"m\"\n"
    );
    check(
        "<tool name=\"t\"",
        &[("chatmd.unterminated_tag", "<tool name=\"t\"", &[""])],
    );
    check(
        "<user>a</user  ",
        &[("chatmd.unterminated_tag", "</user", &[""])],
    );
}

#[test]
fn end_tag_with_junk() {
    let parsed = check(
        "<user>x</user y>\n<user>z</user/>",
        &[
            ("chatmd.malformed_end_tag", "y", &[]),
            ("chatmd.malformed_end_tag", "/", &[]),
        ],
    );
    assert_eq!(
        outline(&parsed),
        "user\n  text \"x\"\ntext \"\\n\"\nuser\n  text \"z\"\n"
    );
    check("<user>x</user\n>", &[]);
}

#[test]
fn stray_less_than() {
    check("<user>a < b <- c </ d <1></user>", &[]);
    check(
        "a < b\nc <d\n<user/>",
        &[("chatmd.top_level_text", "a < b", &[])],
    );
}

#[test]
fn script_without_end() {
    let tag = "<script id=\"a\">";
    let parsed = check(
        "<script id=\"a\">\nf <doc>\n<user>x</user>",
        &[("chatmd.unclosed_element", tag, &["<user>"])],
    );
    assert!(outline(&parsed).contains("  script \"\\nf <doc>\\n\"\nuser\n"));
    let parsed = check(
        "<script id=\"a\">\nf </script x",
        &[("chatmd.unclosed_element", tag, &[""])],
    );
    assert_eq!(
        outline(&parsed),
        "script id=\"a\" unclosed\n  script \"\\nf </script x\"\n"
    );
}

#[test]
fn script_bodies() {
    for (body, program) in [
        ("let s = \"<user>RAW|\"", "let s = \"<user>RAW|\""),
        ("<!-- \" ", "<!-- \" "),
        ("\n RAW|a</script>b|RAW \n", "a</script>b"),
        ("x RAW|a|RAW", "x RAW|a|RAW"),
        ("RAW||RAW", ""),
        ("</scripts>", "</scripts>"),
    ] {
        let parsed = check(&format!("<script id=\"s\">{body}</script >\n"), &[]);
        assert!(
            outline(&parsed).contains(&format!("  script {program:?}\n")),
            "{body}"
        );
    }
    check(
        "<script>RAW|a|RAW tail\nmore</script>",
        &[("chatmd.script_trailing_text", "tail", &[])],
    );
    let parsed = check(
        "<script>RAW|a</script>",
        &[("chatmd.unterminated_raw", "RAW|", &["<script>"])],
    );
    assert_eq!(outline(&parsed), "script\n  script \"a\"\n");
    check("<user>x <script a=b></user>RAW|</script> y</user>", &[]);
}

#[test]
fn bytes_that_are_no_text() {
    let parsed = parse(b"<user>ok</user>\n<user>a\xff\xfe b \xc3</user>\0\0");
    check_cover(&parsed);
    assert!(!parsed.lowerable);
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(
        codes,
        [
            "chatmd.invalid_utf8",
            "chatmd.invalid_utf8",
            "chatmd.top_level_text",
            "chatmd.nul_byte"
        ]
    );
    assert_eq!(
        parsed.original_offset(parsed.diagnostics[1].primary.start),
        28
    );
    let many = parse(&b"<user>\xff \xff</user>".repeat(40));
    assert_eq!(
        many.diagnostics
            .iter()
            .filter(|found| found.code == "chatmd.invalid_utf8")
            .count(),
        20
    );
    let large = parse(&vec![b' '; 64 * 1024 * 1024 + 1]);
    assert_eq!(large.diagnostics[0].code, "chatmd.document_too_large");
    assert!(!large.lowerable);
}
