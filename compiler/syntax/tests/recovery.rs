//! Spec 01 sections 16.2 and 16.3 row by row, and the structural rows of sections 2, 3 and 20.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_syntax::{Parse, SyntaxSeverity, parse};
use common::{check_cover, outline};

/// `code` or `warning code`, the primary text, then each secondary text.
type Finding<'t> = (&'t str, &'t str, &'t [&'t str]);

fn findings(parsed: &Parse) -> Vec<(String, String, Vec<String>)> {
    let slice = |span| parsed.tree.slice(span).to_owned();
    parsed
        .diagnostics
        .iter()
        .map(|found| {
            let warning = if found.severity == SyntaxSeverity::Warning {
                "warning "
            } else {
                ""
            };
            let secondary = found
                .secondary
                .iter()
                .map(|(span, _)| slice(*span))
                .collect();
            (
                format!("{warning}{}", found.code),
                slice(found.primary),
                secondary,
            )
        })
        .collect()
}

#[track_caller]
fn check(text: &str, want: &[Finding<'_>]) -> Parse {
    let parsed = parse(text.as_bytes());
    check_cover(&parsed);
    let want: Vec<_> = want
        .iter()
        .map(|(code, primary, second)| {
            (
                code.to_string(),
                primary.to_string(),
                second.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(findings(&parsed), want, "{text}");
    parsed
}

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
    check("<tool name=\"t\" description=\"a\n  <path> here\"/>", &[]);
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
fn attribute_findings() {
    check(
        "<config id=\"a\" model=/>",
        &[("chatmd.attribute_value_missing", "model=", &[])],
    );
    check(
        "<user id= >x</user>",
        &[("chatmd.attribute_value_missing", "id=", &[])],
    );
    check(
        "<config model=\"a\" %% id=\"b\"/>",
        &[("chatmd.invalid_attribute", "%%", &[])],
    );
    check(
        "<config / >x</config>",
        &[("chatmd.invalid_attribute", "/", &[])],
    );
    check(
        "<user %%>x</user>",
        &[("warning chatmd.invalid_attribute", "%%", &[])],
    );
    check(
        "<user id=\"a\"name=\"b\"/>",
        &[("warning chatmd.invalid_attribute", "name", &[])],
    );
    check(
        "<user id=a-b/c>x</user>",
        &[("warning chatmd.unquoted_attribute", "a-b/c", &[])],
    );
    check(
        "<user id=a/>",
        &[("warning chatmd.unquoted_attribute", "a", &[])],
    );
    check(
        "<user id=\"&nbsp;&lt;\"/>",
        &[("warning chatmd.unknown_entity", "&nbsp;", &[])],
    );
    check(
        "<user id='&#10;'/>",
        &[("warning chatmd.unknown_entity", "&#10;", &[])],
    );
    check("<user id=\"a & b; &amp;\"/>", &[]);
    // The value may be a secret: the finding is at its name.
    let secret = "<shell_access><secrets><literal value=\"p&nbsp;w\"/></secrets></shell_access>";
    check(secret, &[("warning chatmd.unknown_entity", "value", &[])]);
    check(&format!("<config {}=\"x\"/>", "a".repeat(128)), &[]);
    let long = "a".repeat(129);
    check(
        &format!("<config {long}=\"x\"/>"),
        &[("chatmd.invalid_attribute", &long, &[])],
    );
}

#[test]
fn duplicate_attributes_by_element() {
    let shell = "shell.duplicate_attribute";
    let chatmd = "chatmd.duplicate_attribute";
    for (element, code) in [
        ("shell_access", shell),
        ("script src=\"s\"", shell),
        ("moderator_runtime", shell),
        ("tool type=\"shell\"", shell),
        ("tool runtime=\"r\"", shell),
        ("tool command=\"c\"", shell),
        ("tool name=\"read_file\"", shell),
        ("tool name=\"apply_patch\"", chatmd),
        ("tool agent=\"a\"", chatmd),
        ("tool mcp_server=\"a\"", chatmd),
        ("config", chatmd),
        ("import", chatmd),
        ("user", chatmd),
        ("tool_call", chatmd),
        ("reasoning", chatmd),
    ] {
        check(
            &format!("<{element} x=\"1\" y x=\"2\" x/>"),
            &[(code, "x", &["x"]), (code, "x", &["x"])],
        );
    }
    let parsed = check(
        "<shell_access id=\"r\"><limits a=\"1\" a=\"2\"/></shell_access>",
        &[(shell, "a", &["a"])],
    );
    assert!(
        outline(&parsed).contains("limits a=\"1\"! a=\"2\"!"),
        "both are poisoned"
    );
    assert_eq!(parsed.diagnostics[0].primary.start, 35, "the later name");
    assert_eq!(
        parsed.diagnostics[0].secondary[0].0.start, 29,
        "the first name"
    );
    assert_eq!(parsed.diagnostics[0].path, ["shell_access", "limits", "a"]);
    check(
        "<user><doc src=\"a\" src=\"b\"/></user>",
        &[(chatmd, "src", &["src"])],
    );
    let many: String = (0..40).map(|n| format!(" a{n}=\"\"")).collect();
    check(
        &format!("<config{many} a7=\"\"/>"),
        &[(chatmd, "a7", &["a7"])],
    );
}

#[test]
fn attribute_limits() {
    let list = |count: usize| {
        (0..count)
            .map(|n| format!(" a{n}=\"1\""))
            .collect::<String>()
    };
    check(&format!("<user{}>x</user>", list(128)), &[]);
    check(
        &format!("<user{}>x</user>", list(131)),
        &[("chatmd.attribute_too_large", "a128", &[])],
    );
    let mebibyte = "x".repeat(1024 * 1024);
    check(&format!("<user name=\"{mebibyte}\"/>"), &[]);
    check(&format!("<user name=\"&lt;{}\"/>", &mebibyte[1..]), &[]);
    let parsed = check(
        &format!("<user name=\"{mebibyte}x\"/>"),
        &[("chatmd.attribute_too_large", "name", &[])],
    );
    assert!(outline(&parsed).ends_with("x\"!\n"), "poisoned");
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
fn top_level_text_is_reported_once_a_run() {
    check("plain", &[("chatmd.top_level_text", "plain", &[])]);
    check(
        "\n\n  two words \t\nmore\n<user/>\nRAW|x\ny|RAW\n<user/>  \u{a0}",
        &[
            ("chatmd.top_level_text", "two words", &[]),
            ("chatmd.top_level_text", "RAW|x", &[]),
            ("chatmd.top_level_text", "\u{a0}", &[]),
        ],
    );
    check(
        "a <!-- c --> b\n<!-- d -->c\n",
        &[("chatmd.top_level_text", "a", &[])],
    );
    check(" RAW||RAW ", &[("chatmd.top_level_text", "RAW||RAW", &[])]);
    check(
        "\u{FEFF}  \u{FEFF}x",
        &[("chatmd.top_level_text", "\u{FEFF}x", &[])],
    );
    check("", &[]);
    check("\u{FEFF}", &[]);
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

#[test]
fn row_end_tag_of_the_top() {
    check("<user>a<agent src=\"x\">b</agent></user>", &[]);
}

#[test]
fn row_end_tag_of_an_element_below() {
    let parsed = check(
        "<reasoning>\n<summary>\na<agent src=\"x\"></reasoning>\n<user/>",
        &[
            ("chatmd.unclosed_element", "<summary>", &["</reasoning>"]),
            (
                "chatmd.unclosed_element",
                "<agent src=\"x\">",
                &["</reasoning>"],
            ),
        ],
    );
    assert_eq!(parsed.diagnostics[0].help, None);
    assert!(
        parsed.diagnostics[1]
            .help
            .as_deref()
            .unwrap()
            .contains("RAW|<agent>|RAW"),
        "it stands in prose"
    );
    assert!(outline(&parsed).ends_with("text \"\\n\"\nuser\n"));
}

#[test]
fn row_mismatched_end_tag_closes_the_top() {
    let parsed = check(
        "<user>a</assistant>\n<user>b</user>",
        &[("chatmd.mismatched_tag", "</assistant>", &["<user>"])],
    );
    assert_eq!(
        outline(&parsed),
        "user\n  text \"a\"\ntext \"\\n\"\nuser\n  text \"b\"\n"
    );
    let (_, edits) = parsed.diagnostics[0].fix.clone().unwrap();
    assert_eq!(edits[0].1, "</user>");
}

#[test]
fn row_mismatched_end_tag_is_ignored() {
    let parsed = check(
        "<user>a</assistant>b</user>\n<user/>",
        &[("chatmd.mismatched_tag", "</assistant>", &["<user>"])],
    );
    assert_eq!(
        outline(&parsed),
        "user\n  text \"a\"\n  stray \"</assistant>\"\n  text \"b\"\ntext \"\\n\"\nuser\n"
    );
}

#[test]
fn row_end_tag_with_nothing_open() {
    check(
        "<user>a</user>\n</user>",
        &[("chatmd.unexpected_end_tag", "</user>", &["</user>"])],
    );
    check(
        "</user>\n<user>a</user>",
        &[("chatmd.unexpected_end_tag", "</user>", &[])],
    );
    check("</wat>", &[("chatmd.unexpected_end_tag", "</wat>", &[])]);
}

#[test]
fn misspelt_end_tags_of_declarations() {
    let parsed = check(
        "<shell_access id=\"a\"><policy><rule id=\"x\"/></polcy></shell_access>\n<user/>",
        &[("chatmd.mismatched_tag", "</polcy>", &["<policy>"])],
    );
    assert!(outline(&parsed).ends_with("text \"\\n\"\nuser\n"));
    check(
        "<shell_access id=\"a\"><policy><rule id=\"x\"></polcy></shell_access>",
        &[
            ("chatmd.unclosed_element", "<rule id=\"x\">", &["</polcy>"]),
            ("chatmd.mismatched_tag", "</polcy>", &["<rule id=\"x\">"]),
        ],
    );
    check(
        "<shell_access id=\"a\"></zzzzz></shell_access>",
        &[(
            "chatmd.mismatched_tag",
            "</zzzzz>",
            &["<shell_access id=\"a\">"],
        )],
    );
}

#[test]
fn row_end_of_file_rewinds_to_a_fence() {
    let parsed = check(
        "<user>\n<user>a</user>\n<user>b</user>\n",
        &[("chatmd.unclosed_element", "<user>", &["<user>"])],
    );
    assert_eq!(parsed.diagnostics[0].primary.start, 0);
    assert_eq!(
        outline(&parsed),
        "user unclosed\n  text \"\\n\"\nuser\n  text \"a\"\ntext \"\\n\"\nuser\n  text \"b\"\ntext \"\\n\"\n"
    );
    // What the dropped part reported is gone; what stands before the fence stays.
    let parsed = check(
        "<user id=a>x <agent src=\"p\"> y </tool_call> z\n <system id=b>s</agent> t</system> u\n",
        &[
            ("chatmd.unclosed_element", "<user id=a>", &["<system id=b>"]),
            ("warning chatmd.unquoted_attribute", "a", &[]),
            (
                "chatmd.mismatched_tag",
                "</tool_call>",
                &["<agent src=\"p\">"],
            ),
            ("warning chatmd.unquoted_attribute", "b", &[]),
            ("chatmd.mismatched_tag", "</agent>", &["<system id=b>"]),
            ("chatmd.top_level_text", "u", &[]),
        ],
    );
    assert!(
        outline(&parsed).starts_with("user id=\"a\" unclosed\n  text \"x \"\n  agent src=\"p\"")
    );
    // No fence: everything closes at the end of the file.
    check(
        "<system>a <agent src=\"x\"><user>",
        &[("chatmd.unclosed_element", "<system>", &[""])],
    );
    // Three in a row: three reports.
    check(
        "<user>a\n<assistant>b\n<user>c\n",
        &[
            ("chatmd.unclosed_element", "<user>", &["<assistant>"]),
            ("chatmd.unclosed_element", "<assistant>", &["<user>"]),
            ("chatmd.unclosed_element", "<user>", &[""]),
        ],
    );
}

#[test]
fn sixty_four_rewinds() {
    let parsed = parse("<user>x\n".repeat(100).as_bytes());
    check_cover(&parsed);
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, ["chatmd.unclosed_element"; 65]);
}

#[test]
fn nested_unclosed_tags() {
    for tag in ["<user>", "<agent src=\"a\">", "<shell_access id=\"a\">"] {
        let body = |count: usize| format!("<system>{}", tag.repeat(count - 1));
        let codes = |count: usize| {
            let parsed = parse(body(count).as_bytes());
            check_cover(&parsed);
            let mut codes: Vec<&str> = parsed.diagnostics.iter().map(|found| found.code).collect();
            codes.sort_unstable();
            codes
        };
        assert_eq!(codes(20), ["chatmd.unclosed_element"], "{tag}");
        for count in [1_000, 100_000] {
            assert_eq!(
                codes(count),
                ["chatmd.nesting_too_deep", "chatmd.unclosed_element"],
                "{tag} {count}"
            );
        }
    }
    let shell = format!(
        "<shell_access id=\"a\"><policy><rule id=\"r\" action=\"ask\">{}",
        "<all>".repeat(17)
    );
    check(
        &shell,
        &[("chatmd.unclosed_element", "<shell_access id=\"a\">", &[""])],
    );
}

#[test]
fn depth_limit() {
    let nested = |depth: usize| {
        let inner = "<agent src=\"a\">".repeat(depth - 1);
        format!("<user>{inner}x{}</user>", "</agent>".repeat(depth - 1))
    };
    check(&nested(256), &[]);
    let parsed = check(
        &nested(257),
        &[("chatmd.nesting_too_deep", "<agent src=\"a\">", &[])],
    );
    assert!(outline(&parsed).contains("skipped 24\n"));
    check(
        &nested(400),
        &[("chatmd.nesting_too_deep", "<agent src=\"a\">", &[])],
    );
    // What stands behind the skipped part is read again.
    check(
        &format!("{}</wrong>", nested(300)),
        &[
            ("chatmd.nesting_too_deep", "<agent src=\"a\">", &[]),
            ("chatmd.unexpected_end_tag", "</wrong>", &[]),
        ],
    );
}

#[test]
fn unknown_elements_at_the_top() {
    check("<yo/>", &[("chatmd.unknown_element", "<yo/>", &[])]);
    let parsed = check(
        "<User>hi <b> </x></User>\n<user/>",
        &[("chatmd.unknown_element", "<User>", &[])],
    );
    assert!(
        parsed.diagnostics[0]
            .help
            .as_deref()
            .unwrap()
            .contains("`<user>`")
    );
    let parsed = check(
        "<sytem>x</sytem>",
        &[("chatmd.unknown_element", "<sytem>", &[])],
    );
    assert!(
        parsed.diagnostics[0]
            .help
            .as_deref()
            .unwrap()
            .contains("`<system>`")
    );
    // No end tag before the next fence: only the tag.
    check(
        "<foo>\n<user>a</user>\n</foo>",
        &[("chatmd.unknown_element", "<foo>", &[])],
    );
    check(
        "<foo> text\n<user>a</user>",
        &[
            ("chatmd.unknown_element", "<foo>", &[]),
            ("chatmd.top_level_text", "text", &[]),
        ],
    );
    check(
        "<foo><foo></foo> x </foo>",
        &[("chatmd.unknown_element", "<foo>", &[])],
    );
    let parsed = check(
        "<limits wall_time=\"1m\"/>",
        &[("shell.unknown_element", "<limits wall_time=\"1m\"/>", &[])],
    );
    assert!(
        parsed.diagnostics[0]
            .help
            .as_deref()
            .unwrap()
            .contains("<shell_access>")
    );
    check(
        "<policy><rule id=\"x\"></policy>",
        &[("shell.unknown_element", "<policy>", &[])],
    );
    check(
        "<user@host.example> <tool/x>",
        &[("chatmd.top_level_text", "<user@host.example> <tool/x>", &[])],
    );
}

#[test]
fn misplaced_elements() {
    for name in ["doc", "img", "agent", "summary"] {
        let tag = format!("<{name}>");
        check(
            &format!("{tag}x</{name}>"),
            &[("chatmd.misplaced_element", &tag, &[])],
        );
    }
}

#[test]
fn meta_refine_marker() {
    check(
        "<!-- META_REFINE -->",
        &[(
            "warning chatmd.meta_refine_ignored",
            "<!-- META_REFINE -->",
            &[],
        )],
    );
    check(
        "<!-- about META_REFINE --><user>RAW|<!-- META_REFINE -->|RAW</user>",
        &[],
    );
}

#[test]
fn literal_elements_are_not_validated_but_balanced() {
    check("<user>a <config x=1 x=2 %% =\"&no;\"/> b</user>", &[]);
    check(
        "<assistant>a <tool name=\"x\" name> b</assistant>",
        &[(
            "chatmd.unclosed_element",
            "<tool name=\"x\" name>",
            &["</assistant>"],
        )],
    );
    check("<assistant><import a a/></assistant>", &[]);
    check(
        "<user><import a a/></user>",
        &[("chatmd.duplicate_attribute", "a", &["a"])],
    );
    check("<msg role=\"tool\"><import a a/></msg>", &[]);
    let parsed = check(
        "<user><shell_access><wat>x</wat></y> z</shell_access></user>",
        &[],
    );
    assert_eq!(
        outline(&parsed),
        "user\n  shell_access\n    text \"<wat>x</wat></y> z\"\n"
    );
}

#[test]
fn at_most_a_thousand_and_one_findings() {
    assert_eq!(
        parse("<yo/>".repeat(5_000).as_bytes()).diagnostics.len(),
        1_001
    );
}
