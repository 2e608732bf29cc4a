//! No document can make a renderer write what a terminal misreads.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::safe_text::is_unsafe;
use chatmd_compiler::{CompileOptions, compile};
use chatmdc::report::human::Style;
use chatmdc::report::{Findings, concise, github, human};
use proptest::prelude::*;

/// All text renderings of a document.
fn renderings(text: &[u8]) -> Vec<String> {
    let system: MemoryFileSystem = [("/w/a.chatmd", text)].into_iter().collect();
    let mut db = Database::new(system);
    let root = db
        .root_from_path("/w/a.chatmd".into(), "/w".into())
        .unwrap();
    let compilation = compile(&db, root, &CompileOptions::for_platform(Platform::Linux));
    let shown = compilation.diagnostics.clone();
    let findings = Findings {
        compilation: &compilation,
        shown,
    };
    let plain = Style {
        color: false,
        unicode: false,
        width: 80,
    };
    vec![
        human::render(&findings, plain),
        concise::render(&findings),
        github::render(&findings, "/w".into()),
    ]
}

fn assert_harmless(text: &[u8]) {
    for rendering in renderings(text) {
        let bad = rendering.chars().find(|c| is_unsafe(*c) && *c != '\n');
        assert_eq!(bad, None, "{rendering:?}");
        assert!(
            rendering.lines().all(|line| line.len() < 4_000),
            "a line is not cut"
        );
    }
}

#[test]
fn escapes_are_shown() {
    let text = "<\u{1b}[31mfoo>\n<user \u{202e}=\"\u{9b}2J\">\t\u{7f}\n<tool name=\"\u{200b}\u{1b}]0;x\u{7}\"/>";
    assert_harmless(text.as_bytes());
    let all = renderings(text.as_bytes()).concat();
    assert!(all.contains("\\u{1b}"), "{all}");
}

#[test]
fn long_lines_are_cut() {
    let text = format!(
        "<user>{}</assistant>\n<User>{}\n",
        "日".repeat(9_000),
        "y".repeat(9_000)
    );
    assert_harmless(text.as_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("CHATMD_PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
    ))]

    #[test]
    fn any_bytes_render_harmlessly(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("<user>".to_owned()),
                Just("</user>".to_owned()),
                Just("<shell_access id=\"".to_owned()),
                Just("<tool name='".to_owned()),
                Just("<limits ".to_owned()),
                Just("\">".to_owned()),
                Just("\r\n".to_owned()),
                Just("\r".to_owned()),
                Just("RAW|".to_owned()),
                Just("<!--".to_owned()),
                any::<String>(),
                "[\\x00-\\x1f\\x7f-\\u{9f}\\u{200b}-\\u{202e}\\u{2060}-\\u{206f}\\u{feff}]{1,4}",
            ],
            0..24,
        ),
        noise in proptest::collection::vec(any::<u8>(), 0..8),
    ) {
        let mut bytes = parts.concat().into_bytes();
        bytes.extend(noise);
        assert_harmless(&bytes);
    }
}
