//! Spec 01 section 16.3 row by row: end tags, rewinds and the depth limit.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_syntax::parse;
use common::{check, check_cover, outline};

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
fn misspelt_start_tags_of_declarations() {
    // The end tag says what was meant: what follows stands where it should.
    let parsed = check(
        "<shell_access id=\"a\"><polcy><rule id=\"x\"/></policy><limits/></shell_access>",
        &[],
    );
    assert_eq!(
        outline(&parsed),
        "shell_access id=\"a\"\n  ?polcy\n    rule id=\"x\"\n  limits\n"
    );
    let parsed = check(
        "<sytem>x</system>",
        &[("chatmd.unknown_element", "<sytem>", &[])],
    );
    assert_eq!(outline(&parsed), "?sytem\n  text \"x\"\n");
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
fn at_most_a_thousand_and_one_findings() {
    assert_eq!(
        parse("<yo/>".repeat(5_000).as_bytes()).diagnostics.len(),
        1_001
    );
}
