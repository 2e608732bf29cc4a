//! Options that make no sense alone.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::process::Command;

/// An ephemeral session has a folder of its own, so the option would be ignored.
#[test]
fn a_session_directory_needs_a_session() {
    let output = Command::new(env!("CARGO_BIN_EXE_chatmd"))
        .args(["run", "--session-dir", "x", "agent.chatmd", "search", "{}"])
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("--session <ID>"), "{message}");
}
