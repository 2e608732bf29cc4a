//! `chatmd audit validate` where there is no log to read.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::process::{Command, Output};

fn validate(path: &str, format: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chatmd"))
        .args(["audit", "validate", "--format", format, path])
        .output()
        .unwrap()
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    for (path, code) in [
        ("/dev/zero", Some("shell.audit_read_failed")),
        ("/proc/self/fd", Some("shell.audit_read_failed")),
        ("no-such-log", None),
    ] {
        let output = validate(path, "human");
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{message}");
        assert!(output.stdout.is_empty());
        assert!(message.contains(code.unwrap_or("cannot read")), "{message}");

        let output = validate(path, "json");
        assert_eq!(output.status.code(), Some(4));
        assert!(output.stderr.is_empty());
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["ok"], false);
        assert_eq!(answer["error"]["code"].as_str(), code, "{answer}");
    }
}

#[test]
fn every_help_page_ends_with_exit_codes_and_an_example() {
    for page in [&["audit"][..], &["audit", "validate"], &["run"], &["tools"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_chatmd"))
            .args(page)
            .arg("--help")
            .output()
            .unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(help.contains("Exit codes:"), "{page:?}\n{help}");
        let last = help.split("Example").nth(1).unwrap_or_default();
        assert!(last.contains("chatmd "), "{page:?}\n{help}");
    }
}
