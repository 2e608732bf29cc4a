//! What may stand where: spec 01 sections 3 to 5 and the end of 16.2.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_syntax::parse;
use common::{check, outline};

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
fn only_the_start_of_a_broken_tag_is_text() {
    // A tag that is not recognised hides nothing: what looks like its value is read again.
    for (text, inner) in [
        (
            "<user>a <command x=\"<doc src='p'/> b</user>",
            "doc src=\"p\"",
        ),
        (
            "<user>a </command x=\"<doc src='p'/> b</user>",
            "doc src=\"p\"",
        ),
    ] {
        let parsed = check(text, &[]);
        assert!(outline(&parsed).contains(inner), "{}", outline(&parsed));
    }
}

#[test]
fn nothing_inside_an_unknown_element_is_reported() {
    for inside in [
        "<user a a %%/>",
        "<user>x</user y>",
        "<user>x</assistant>y</user>",
        "<user>x</user",
        "<!-- META_REFINE -->",
        "<!-- open",
        "<script id=\"s\">RAW|a|RAW tail</script>",
        "<script id=\"s\">RAW|a</script>",
        "<tool name=\"t\"><user>",
    ] {
        check(
            &format!("<foo>{inside}\n</foo>"),
            &[("chatmd.unknown_element", "<foo>", &[])],
        );
    }
}

#[test]
fn the_role_of_a_message_decides_what_its_imports_are() {
    for (role, found) in [
        (" role=\"assistant\"", false),
        (" role=\"tool\"", false),
        (" role=\"user\"", true),
        (" role=\"system\"", true),
        ("", true),
    ] {
        let want: &[(&str, &str, &[&str])] = match found {
            true => &[("chatmd.duplicate_attribute", "a", &["a"])],
            false => &[],
        };
        check(&format!("<msg{role}><import a a/></msg>"), want);
    }
    // The attribute counts on `msg` alone.
    check(
        "<user role=\"tool\"><import a a/></user>",
        &[("chatmd.duplicate_attribute", "a", &["a"])],
    );
}

#[test]
fn an_unknown_name_is_corrected_at_both_ends() {
    for (text, corrected) in [
        ("<sytem>x</sytem>", "<system>x</system>"),
        ("<User>x<b></User>", "<user>x<b></user>"),
        ("<sytem/>", "<system/>"),
        // Which end tag belongs to it is not certain.
        (
            "<sytem><sytem></sytem></sytem>",
            "<system><sytem></sytem></sytem>",
        ),
        ("<sytem>\n<user/>\n</sytem>", "<system>\n<user/>\n</sytem>"),
    ] {
        let parsed = parse(text.as_bytes());
        let (_, edits) = parsed.diagnostics[0].fix.clone().unwrap();
        let mut fixed = text.to_owned();
        for (span, new) in edits.iter().rev() {
            fixed.replace_range(span.range(), new);
        }
        assert_eq!(fixed, corrected);
    }
}
