//! End tags that are missing, misspelt or astray: what was left open ends where a person would say
//! it ends, and nothing behind it is lost (spec 01 section 16.3).
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_syntax::{Parse, parse};
use common::{check_cover, outline};

fn parsed(text: &str) -> Parse {
    let parsed = parse(text.as_bytes());
    check_cover(&parsed);
    parsed
}

fn codes(parsed: &Parse) -> Vec<&str> {
    parsed.diagnostics.iter().map(|found| found.code).collect()
}

/// The text after the repair of its only finding.
fn repaired(text: &str) -> String {
    let parsed = parsed(text);
    assert_eq!(codes(&parsed).len(), 1, "{text}: {:?}", codes(&parsed));
    let (_, edits) = parsed.diagnostics[0].fix.as_ref().unwrap();
    let mut edits = edits.clone();
    edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = text.to_owned();
    for (span, new) in edits {
        text.replace_range(span.range(), &new);
    }
    text
}

/// The names of the top-level elements.
fn top(parsed: &Parse) -> Vec<String> {
    let outline = outline(parsed);
    let lines = outline.lines().filter(|line| {
        !line.starts_with(' ') && !line.starts_with("text") && !line.starts_with("stray")
    });
    lines
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

const DECLARATIONS: &str =
    "<shell_access id=\"r\"/>\n<tool name=\"t\" runtime=\"r\" command=\"ls\"/>\n";

#[test]
fn an_end_tag_astray_does_not_swallow_what_stands_before_it() {
    let stray = "chatmd.unexpected_end_tag";
    for open in [
        "user",
        "assistant",
        "system",
        "developer",
        "msg role=\"user\"",
        "reasoning",
    ] {
        for astray in ["tool_call", "msg", "summary", "agent", "config"] {
            let name = open.split(' ').next().unwrap();
            if name == astray {
                continue;
            }
            let text = format!("<{open}>\nHello\n{DECLARATIONS}</{astray}>\n<user>More</user>\n");
            let parsed = parsed(&text);
            assert_eq!(codes(&parsed), ["chatmd.unclosed_element", stray], "{text}");
            assert_eq!(
                top(&parsed),
                [name, "shell_access", "tool", "user"],
                "{text}"
            );
            let outline = outline(&parsed);
            assert!(
                outline.contains(&format!("stray \"</{astray}>\"")),
                "{outline}"
            );
            let (title, edits) = parsed.diagnostics[0].fix.as_ref().unwrap();
            assert_eq!(title, &format!("insert `</{name}>`"));
            let fence = text.find("<shell_access").unwrap() as u32;
            assert_eq!(edits[0].0.start, fence);
        }
    }
}

#[test]
fn what_was_parsed_behind_the_fence_is_dropped_with_its_findings() {
    let text = "<user>\n<system a=\"1\" a=\"2\">x</system>\n<tool name=\"t\"/>\n</agent>\n";
    let parsed = parsed(text);
    let duplicates = codes(&parsed);
    let count = |code: &str| duplicates.iter().filter(|found| **found == code).count();
    assert_eq!(count("chatmd.duplicate_attribute"), 1, "{duplicates:?}");
    assert_eq!(count("chatmd.unclosed_element"), 1, "{duplicates:?}");
    assert_eq!(top(&parsed), ["user", "system", "tool"]);
}

#[test]
fn a_wrong_end_tag_closes_what_holds_no_fence_and_what_is_nested() {
    // Nothing was swallowed: the end tag is the one with the slip.
    let parsed = parsed("<user>Hello <doc src=\"a\"/>\n</assistant>\n<user>More</user>\n");
    assert_eq!(codes(&parsed), ["chatmd.mismatched_tag"]);
    assert_eq!(top(&parsed), ["user", "user"]);
    // A fence in the middle of a line is none.
    let text = "<user>Call <tool name=\"t\"/> now</assistant>\n<user>More</user>\n";
    assert_eq!(codes(&self::parsed(text)), ["chatmd.mismatched_tag"]);
    // The outer element is closed: only the inner end tag is wrong.
    let text = "<shell_access id=\"r\">\n<policy>\n<tool name=\"t\"/>\n</user>\n</shell_access>\n";
    let parsed = self::parsed(text);
    assert_eq!(codes(&parsed), ["chatmd.mismatched_tag"]);
    assert_eq!(top(&parsed), ["shell_access"]);
}

#[test]
fn a_file_is_resumed_at_most_64_times() {
    let one = "<user>\n<tool name=\"t\"/>\n</agent>\n";
    let parsed = parsed(&one.repeat(80));
    let found = codes(&parsed);
    let count = |code: &str| found.iter().filter(|found| **found == code).count();
    assert_eq!(count("chatmd.unexpected_end_tag"), 64, "{found:?}");
    assert_eq!(count("chatmd.unclosed_element"), 64, "{found:?}");
    assert_eq!(count("chatmd.mismatched_tag"), 16, "{found:?}");
}

#[test]
fn a_misspelt_end_tag_is_renamed() {
    let table = [
        ("<user>Hello</usr>\n", "<user>Hello</user>\n"),
        ("<user>Hello</User>\n", "<user>Hello</user>\n"),
        (
            "<user>\nHello\n</usre>\n<assistant>Hi</assistant>\n",
            "<user>\nHello\n</user>\n<assistant>Hi</assistant>\n",
        ),
        (
            "<assistant>\nHello\n</asistant>\n<user>Hi</user>\n",
            "<assistant>\nHello\n</assistant>\n<user>Hi</user>\n",
        ),
        (
            "<user>a</usr>\n<user>b</user>\n<tool name=\"fork\"/>\n",
            "<user>a</user>\n<user>b</user>\n<tool name=\"fork\"/>\n",
        ),
        (
            "<user><agent src=\"a\">words</agnet> more</user>\n",
            "<user><agent src=\"a\">words</agent> more</user>\n",
        ),
        (
            "<reasoning><summary>x</sumary></reasoning>\n",
            "<reasoning><summary>x</summary></reasoning>\n",
        ),
        (
            "<tool name=\"fork\"></tol>\n",
            "<tool name=\"fork\"></tool>\n",
        ),
        (
            "<config model=\"m\"></confg>\n",
            "<config model=\"m\"></config>\n",
        ),
    ];
    for (text, want) in table {
        let found = repaired(text);
        assert_eq!(found, want, "{text}");
        assert_eq!(codes(&parsed(&found)), [""; 0], "{found}");
    }
}

#[test]
fn an_end_tag_of_the_text_is_not_renamed() {
    for text in [
        // It closes an unknown element of the text.
        "<user>Write <usr>x</usr> here\n",
        // Nothing like it.
        "<user>Write </b> here\n",
    ] {
        let parsed = parsed(text);
        let (title, _) = parsed.diagnostics[0].fix.as_ref().unwrap();
        assert_eq!(title, "insert `</user>`", "{text}");
    }
}

#[test]
fn end_tags_in_the_wrong_order_are_one_mistake() {
    let table = [
        (
            "<user><agent src=\"a\">x</user></agent>\n",
            "<user><agent src=\"a\">x</agent></user>\n",
        ),
        (
            "<shell_access id=\"r\">\n<policy>\n</shell_access>\n</policy>\n<user>a</user>\n",
            "<shell_access id=\"r\">\n<policy>\n</policy></shell_access>\n\n<user>a</user>\n",
        ),
        (
            "<shell_access id=\"r\"><policy><rule id=\"a\"></policy></rule></shell_access>",
            "<shell_access id=\"r\"><policy><rule id=\"a\"></rule></policy></shell_access>",
        ),
    ];
    for (text, want) in table {
        let found = repaired(text);
        assert_eq!(found, want, "{text}");
        assert_eq!(codes(&parsed(&found)), [""; 0], "{found}");
    }
    // Two of them are two.
    let text = "<shell_access id=\"r\"><policy><rule id=\"a\"></shell_access></rule> </policy>";
    assert_eq!(codes(&parsed(text)), ["chatmd.unclosed_element"; 2]);
    // With something in between, or of another name, it is astray.
    for text in [
        "<user><agent src=\"a\">x</user><user>y</user></agent>",
        "<user><agent src=\"a\">x</user></doc>",
        "<user><agent src=\"a\">x</user></agent></agent>",
    ] {
        let found = parsed(text);
        let want = ["chatmd.unclosed_element", "chatmd.unexpected_end_tag"];
        assert_eq!(codes(&found), want, "{text}");
    }
}
