#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;

use super::*;
use crate::output::{RedactorBuilder, SecretBytes};

fn redactor() -> Redactor {
    let mut builder = RedactorBuilder::new("[REDACTED]");
    let secret = SecretBytes::new(b"S3cr3tPw".to_vec());
    builder.register("test", &secret).unwrap();
    builder.build().unwrap().0
}

fn shown(argv: &[&str]) -> String {
    display_command(&redactor(), argv).into_string()
}

/// The commands of an audit whose harmful part was not shown, and field case fc1-032.
#[test]
fn nothing_of_a_command_is_hidden() {
    for (argv, expected) in [
        (
            &["sh", "-c", "echo ok \u{1b}]\nrm -rf out\n#\u{7}"][..],
            r"sh -c $'echo ok \x1b]\nrm -rf out\n#\x07'",
        ),
        (
            &["rm", "-r", "-f", "harmless\u{1b}]", "out2", "\u{7}"],
            r"rm -r -f $'harmless\x1b]' out2 $'\x07'",
        ),
        (&["echo", "a\u{1b}[", "-rf", "x"], r"echo $'a\x1b[' -rf x"),
        (
            &["sh", "-c", "echo ok # tidy up later:\nrm -rf out"],
            r"sh -c $'echo ok # tidy up later:\nrm -rf out'",
        ),
        (
            &["rm", "-rf", "safe\u{202e}/../home\u{200b}"],
            r"rm -rf $'safe\u202e/../home\u200b'",
        ),
        (
            &["a\u{200d}b", "\u{85}", "\u{e0041}", "x\ty", "\u{a0}"],
            r"$'a\u200db' $'\u0085' $'\U000e0041' $'x\ty' $'\u00a0'",
        ),
        // What looks like an escape is not one, and what ends the form is escaped in it.
        (&[r"\x1b", r"a\'b", "'\\\n"], r"'\x1b' 'a\'\''b' $'\'\\\n'"),
        (&["$'x'", "é", "\u{301}x"], r"'$'\''x'\''' 'é' $'\u0301x'"),
        (&["a\rb"], r"$'a\rb'"),
    ] {
        assert_eq!(shown(argv), expected);
    }
    let bytes: &[&[u8]] = &[b"\xff", b"a\xc3"];
    let shown = display_command(&redactor(), bytes.iter().copied());
    assert_eq!(shown.as_str(), r"$'\xff' $'a\xc3'");
}

#[test]
fn secrets_are_replaced_before_anything_is_escaped() {
    assert_eq!(shown(&["x", "-pS3cr3tPw\n"]), r"x $'-p[REDACTED]\n'");
    let mut builder = RedactorBuilder::new("[REDACTED]");
    let secret = SecretBytes::new(b"two\nlines of it".to_vec());
    builder.register("test", &secret).unwrap();
    let lines = builder.build().unwrap().0;
    let argv = ["x", "two\nlines of it\u{7}"];
    assert_eq!(
        display_command(&lines, argv).as_str(),
        r"x $'[REDACTED]\x07'"
    );
    let prose = display_prose(&lines, b"no two\nlines of it\nhere");
    assert_eq!(prose.as_str(), r"no [REDACTED]\nhere");
}

#[test]
fn an_element_alone_needs_quotes_only_when_something_is_hidden() {
    let element = |text: &str| display_element(&redactor(), text.as_bytes()).into_string();
    assert_eq!(element("it's a b\\n"), "it's a b\\n");
    assert_eq!(element("a\nb"), r"$'a\nb'");
    assert_eq!(element("$'a\\nb'"), r"$'$\'a\\nb\''");
    assert_eq!(element(""), "");
}

#[test]
fn prose_is_one_line_that_can_not_be_forged() {
    let prose = |text: &str| display_prose(&redactor(), text.as_bytes()).into_string();
    assert_eq!(prose("ok\nApproved: yes"), r"ok\nApproved: yes");
    assert_eq!(prose("a \u{202e}b\u{1b}[2J"), r"a \u202eb\x1b[2J");
    assert!(prose(&"\u{1b}".repeat(9000)).len() <= MAX_LINE_BYTES);
}

#[test]
fn a_raw_script_is_quoted_like_an_argument() {
    let shown = display_raw_shell(&redactor(), b"/bin/s h", "ab", b"x\">\ny");
    assert_eq!(
        shown.as_str(),
        r#"'/bin/s h' <script sha256=ab preview=$'x">\ny'>"#
    );
}

/// Reads a line back as a shell does.
fn read_back(line: &str) -> Vec<String> {
    let mut chars = line.chars().peekable();
    let mut argv = vec![String::new()];
    while let Some(c) = chars.next() {
        let word = argv.last_mut().unwrap();
        match c {
            ' ' => argv.push(String::new()),
            '\\' => word.push(chars.next().unwrap()),
            '\'' => word.extend(chars.by_ref().take_while(|c| *c != '\'')),
            '$' if chars.peek() == Some(&'\'') => {
                chars.next();
                loop {
                    match chars.next().unwrap() {
                        '\'' => break,
                        '\\' => {
                            let kind = chars.next().unwrap();
                            let mut number = |digits: usize| {
                                let text: String = chars.by_ref().take(digits).collect();
                                char::from_u32(u32::from_str_radix(&text, 16).unwrap()).unwrap()
                            };
                            word.push(match kind {
                                't' => '\t',
                                'n' => '\n',
                                'r' => '\r',
                                'x' => number(2),
                                'u' => number(4),
                                'U' => number(8),
                                other => other,
                            });
                        }
                        c => word.push(c),
                    }
                }
            }
            c => word.push(c),
        }
    }
    argv
}

fn word() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<char>().prop_map(String::from),
        "[ -~]{0,4}",
        prop::sample::select(vec![
            "\u{1b}]", "\u{1b}[", "\n", "'", "\\", "$'", "\u{7}", "\u{9b}", "\u{202e}", "\r\n"
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// The line tells every argv exactly, and shows nothing that a terminal acts on.
    #[test]
    fn a_line_stands_for_one_argv(argv in prop::collection::vec(word(), 1..5)) {
        let plain = Redactor::default();
        let line = display_command(&plain, &argv).into_string();
        prop_assert!(!line.chars().any(is_hidden), "{line:?}");
        prop_assert_eq!(read_back(&line), argv);
    }
}
