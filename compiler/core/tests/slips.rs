//! One slip gives one finding, and an offered fix repairs it without breaking anything else.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;
use std::time::Instant;

use camino::Utf8Path;
use chatmd_compiler::db::Database;
use chatmd_compiler::diagnostics::Fix;
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::{Compilation, CompileOptions, compile};

const SOUND: &str = r#"<shell_access id="main" extends="builtin:workspace-readonly@1">
  <limits wall_time="30s" stdout="1KiB"/>
  <policy default="ask">
    <rule id="a" action="allow"><all><basename value="ls"/><trusted_executable/></all></rule>
  </policy>
  <approvals provider="ui"/>
</shell_access>
<tool name="t" type="shell" runtime="main" command="ls"/>
<user>
hello
</user>
"#;

fn compile_text(text: &str) -> Arc<Compilation> {
    let mut db = Database::default();
    let content = Ok(text.as_bytes().into());
    let root = db.root_from_content("agent.chatmd", Utf8Path::new("/d"), content, None);
    compile(&db, root, &CompileOptions::for_platform(Platform::Linux))
}

fn codes(compilation: &Compilation) -> Vec<&str> {
    compilation.diagnostics.iter().map(|d| d.code).collect()
}

fn apply(compilation: &Compilation, text: &str, fix: &Fix) -> String {
    let mut edits: Vec<_> = fix
        .edits
        .iter()
        .map(|edit| {
            (
                compilation.locate(edit.place).unwrap().span.range(),
                &edit.text,
            )
        })
        .collect();
    edits.sort_by_key(|(range, _)| range.start);
    let mut text = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        text.replace_range(range, new);
    }
    text
}

fn slip(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    SOUND.replace(from, to)
}

#[test]
fn the_sound_document_has_no_finding() {
    assert_eq!(codes(&compile_text(SOUND)), [""; 0]);
}

/// A slip, what is reported, and that the only fix gives back a sound document.
#[test]
fn a_misspelt_name_is_offered_and_the_fix_repairs_the_document() {
    let table: &[(&str, &str, &[&str])] = &[
        ("policy>", "policy>", &[]),
        ("shell_access", "shell_acess", &["chatmd.unknown_element"]),
        ("user>", "User>", &["chatmd.unknown_element"]),
        ("user>", "usr>", &["chatmd.unknown_element"]),
        ("policy", "polcy", &["shell.unknown_element"]),
        ("<limits", "<Limits", &["shell.unknown_element"]),
        ("basename", "basname", &["shell.unknown_matcher"]),
        ("wall_time", "waltime", &["shell.unknown_attribute"]),
        (
            "action=\"allow\"",
            "action=\"alow\"",
            &["shell.invalid_attribute"],
        ),
        (
            "runtime=\"main\"",
            "runtime=\"mian\"",
            &["shell.unknown_runtime"],
        ),
        (
            "workspace-readonly@1",
            "workspace-readonli@1",
            &["shell.unknown_builtin_profile"],
        ),
        (
            "type=\"shell\"",
            "type=\"shel\"",
            &["shell.tool_invalid_type"],
        ),
        (
            "type=\"shell\" runtime=\"main\"",
            "type",
            &["shell.tool_invalid_type"],
        ),
        ("</policy>", "</polcy>", &["chatmd.mismatched_tag"]),
        (
            "wall_time=\"30s\" stdout",
            "wall_time=\"30s\"stdout",
            &["chatmd.invalid_attribute"],
        ),
        (
            "wall_time=\"30s\"",
            "wall_time=30s",
            &["chatmd.unquoted_attribute"],
        ),
    ];
    for (from, to, expected) in table {
        let text = slip(from, to);
        let compilation = compile_text(&text);
        assert_eq!(codes(&compilation), *expected, "{text}");
        for found in &compilation.diagnostics {
            for fix in &found.fixes {
                let repaired = apply(&compilation, &text, fix);
                let left = compile_text(&repaired);
                let left = codes(&left);
                assert!(!left.contains(&found.code), "{}: {repaired}", fix.title);
                if *to != "type" {
                    assert_eq!(left, [""; 0], "{}: {repaired}", fix.title);
                }
            }
        }
        let fixes = compilation.diagnostics.iter().map(|d| d.fixes.len());
        assert_eq!(
            fixes.sum::<usize>(),
            usize::from(!expected.is_empty()),
            "{to}"
        );
    }
}

#[test]
fn nothing_that_can_not_be_meant_is_offered() {
    let table = [
        // A runtime is not its own parent, nor its own worker.
        "<shell_access id=\"a\" extends=\"b\"/>",
        "<shell_access id=\"a\"><interceptors><interceptor id=\"i\" phase=\"before\" \
         executable=\"/x\" runtime=\"b\"/></interceptors></shell_access>",
        // An id that is refused is no name to refer to.
        "<shell_access id=\"ma in\"/><tool name=\"t\" runtime=\"main\" command=\"ls\"/>",
    ];
    for text in table {
        let compilation = compile_text(text);
        let unknown = compilation
            .diagnostics
            .iter()
            .find(|found| found.code.starts_with("shell.unknown_"))
            .unwrap();
        assert!(unknown.fixes.is_empty(), "{text}: {:?}", unknown.fixes);
    }
    let other = "<shell_access id=\"ab\"/><shell_access id=\"abc\" extends=\"abd\"/>";
    let compilation = compile_text(other);
    let fix = compilation
        .diagnostics
        .iter()
        .find_map(|found| found.fixes.first());
    assert_eq!(fix.unwrap().edits[0].text, "ab");
}

#[test]
fn one_slip_is_not_reported_twice() {
    let table: &[(&str, &str, &[&str])] = &[
        // An empty element that is not closed swallows what follows; that is no second mistake.
        (
            "stdout=\"1KiB\"/>",
            "stdout=\"1KiB\">",
            &["chatmd.unclosed_element"],
        ),
        (
            "value=\"ls\"/>",
            "value=\"ls\">",
            &["chatmd.unclosed_element"],
        ),
        (
            "provider=\"ui\"/>",
            "provider=\"ui\">",
            &["chatmd.unclosed_element"],
        ),
        ("</policy>", "", &["chatmd.unclosed_element"]),
        (
            "action=\"allow\">",
            "action=\"allow\"",
            &["chatmd.unterminated_tag"],
        ),
    ];
    for (from, to, expected) in table {
        let text = slip(from, to);
        assert_eq!(codes(&compile_text(&text)), *expected, "{text}");
    }
    // What is no element at all is a mistake of its own.
    let text = slip("</policy>", "").replace("<approvals", "<wat/><approvals");
    assert_eq!(
        codes(&compile_text(&text)),
        ["chatmd.unclosed_element", "shell.unknown_element"]
    );
    // With an end tag the content itself is the mistake.
    let text = slip("stdout=\"1KiB\"/>", "stdout=\"1KiB\"><set/></limits>");
    assert_eq!(codes(&compile_text(&text)), ["shell.unexpected_child"]);
}

#[test]
fn a_tag_with_very_many_attributes_costs_no_more_than_its_length() {
    for start in [
        "<config",
        "<user",
        "<import",
        "<tool name=\"t\" runtime=\"main\"",
        "<shell_access",
    ] {
        let text = |count: usize| {
            let attributes: String = (0..count).map(|n| format!(" a{n}=\"x\"")).collect();
            format!("{start}{attributes}/>")
        };
        let compilation = compile_text(&text(200));
        let too_many = codes(&compilation);
        let count = too_many
            .iter()
            .filter(|code| **code == "chatmd.attribute_too_large")
            .count();
        assert_eq!(count, 1, "{start}: {too_many:?}");
        // All of it is far below the time of one look at every pair: 2,500,000,000 of them.
        let begin = Instant::now();
        let compilation = compile_text(&text(50_000));
        assert!(begin.elapsed().as_secs() < 10, "{start}");
        assert!(
            compilation.diagnostics.len() <= 200,
            "one finding covers the rest: {start}"
        );
    }
    // What stands behind the limit is not called missing.
    let attributes: String = (0..200).map(|n| format!(" a{n}=\"x\"")).collect();
    let compilation = compile_text(&format!("<shell_access{attributes} id=\"r\"/>"));
    assert!(!codes(&compilation).contains(&"shell.missing_attribute"));
}

/// The end tag is spelt well: it still closes what its misspelt start tag opened.
#[test]
fn a_misspelt_start_tag_alone_is_one_finding() {
    let table = [
        ("<shell_access", "<shell_acces", "chatmd.unknown_element"),
        ("<user", "<usr", "chatmd.unknown_element"),
        ("<user", "<User", "chatmd.unknown_element"),
        ("<policy", "<polcy", "shell.unknown_element"),
        ("<rule", "<rul", "shell.unknown_element"),
        ("<all", "<al", "shell.unknown_matcher"),
    ];
    for (from, to, code) in table {
        let text = slip(from, to);
        let compilation = compile_text(&text);
        assert_eq!(codes(&compilation), [code], "{text}");
        let fix = &compilation.diagnostics[0].fixes[0];
        assert_eq!(apply(&compilation, &text, fix), SOUND);
    }
}

#[test]
fn a_missing_quote_is_one_finding() {
    for (from, to) in [
        ("readonly@1\"", "readonly@1"),
        ("default=\"ask\"", "default=\"ask"),
        ("value=\"ls\"", "value=\"ls"),
    ] {
        let text = slip(from, to);
        let found = compile_text(&text);
        assert_eq!(codes(&found).len(), 1, "{text}\n{:?}", codes(&found));
    }
}

#[test]
fn a_wrong_end_tag_is_replaced_only_where_the_element_is_not_closed_later() {
    for (text, repaired) in [
        ("<user>Hello</doc>\n", "<user>Hello</user>\n"),
        ("<user>Hello</doc></user>\n", "<user>Hello</user>\n"),
    ] {
        let compilation = compile_text(text);
        assert_eq!(codes(&compilation), ["chatmd.mismatched_tag"], "{text}");
        let fix = &compilation.diagnostics[0].fixes[0];
        assert_eq!(apply(&compilation, text, fix), repaired);
        assert_eq!(codes(&compile_text(repaired)), [""; 0]);
    }
}

#[test]
fn names_of_other_formats_are_led_to_ours() {
    let table = [
        (
            "<approvals",
            "<network/><approvals",
            "<capabilities network=\"true\"/>",
        ),
        ("<approvals", "<allow/><approvals", "action=\"allow\""),
        (
            "<basename value=\"ls\"/>",
            "<command/>",
            "<argv_prefix values=",
        ),
        (
            "command=\"ls\"/>",
            "command=\"ls\"><description/></tool>",
            "description=\"…\"",
        ),
        (
            "command=\"ls\"",
            "command=\"ls\" args=\"-l\"",
            "command=\"git status\"",
        ),
        (
            "command=\"ls\"",
            "command=\"ls\" timeout=\"5m\"",
            "<limits wall_time=\"30s\"/>",
        ),
        ("wall_time", "timeout", "wall_time"),
        (
            "builtin:workspace-readonly@1",
            "workspace-readonly",
            "`builtin:workspace-readonly@1`",
        ),
    ];
    for (from, to, hint) in table {
        let compilation = compile_text(&slip(from, to));
        let [found] = &compilation.diagnostics[..] else {
            panic!("{to}: {:?}", codes(&compilation));
        };
        assert!(
            found.hints.iter().any(|text| text.contains(hint)),
            "{to}: {:?}",
            found.hints
        );
    }
}

/// Every way to lose one closing quote of the sound document, and to misspell one of its tags at
/// one end or both.
fn single_slips() -> Vec<String> {
    let mut slips = Vec::new();
    let mut open = false;
    for (at, _) in SOUND.match_indices('"') {
        if open {
            slips.push(format!("{}{}", &SOUND[..at], &SOUND[at + 1..]));
        }
        open = !open;
    }
    for name in [
        "shell_access",
        "policy",
        "rule",
        "all",
        "user",
        "limits",
        "basename",
        "trusted_executable",
        "approvals",
        "tool",
    ] {
        let wrong = format!("{}{}", &name[..1], &name[2..]);
        for mark in ["<", "</"] {
            let (from, to) = (format!("{mark}{name}"), format!("{mark}{wrong}"));
            if SOUND.contains(&from) {
                slips.push(SOUND.replacen(&from, &to, 1));
            }
        }
    }
    slips
}

#[test]
fn one_lost_quote_or_one_misspelt_tag_is_one_finding() {
    let slips = single_slips();
    assert!(slips.len() > 25, "{}", slips.len());
    let mut report = String::new();
    for text in slips {
        let compilation = compile_text(&text);
        let found = codes(&compilation);
        if found.len() != 1 {
            let line = text.lines().zip(SOUND.lines()).find(|(a, b)| a != b);
            report += &format!("{:?}: {found:?}\n", line.unwrap().0);
        }
        for fix in compilation
            .diagnostics
            .iter()
            .flat_map(|found| &found.fixes)
        {
            let left = compile_text(&apply(&compilation, &text, fix));
            if !codes(&left).is_empty() {
                report += &format!("{} leaves {:?} in\n{text}", fix.title, codes(&left));
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}
