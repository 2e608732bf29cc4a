//! Files of the document itself in a folder that its commands may write (06b B2.4 rule 6): neither
//! they nor a folder above them can be exchanged, so the next run reads what this one read.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::{Command, Stdio};

use chatmd_tests::{Project, program};

const IMPORTED: &str = r#"<shell_access id="base" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true"><write path="${workspace}"/></capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <policy default="allow"/>
</shell_access>
"#;

const DOCUMENT: &str = r#"<import src="../parts/deep/base.chatmd" namespace="parts"/>
<shell_access id="r" extends="parts:base"/>
<tool name="sh" type="shell" mode="structured" runtime="r"/>
"#;

/// Exchanges the file and every folder above it, each way there is.
fn attack(folders: &[&str], file: &str) -> String {
    let path = format!("{}/{file}", folders.last().unwrap());
    let mut script = format!("echo attack >> {path}; rm -f {path}; ");
    for folder in folders.iter().rev() {
        script += &format!("mv {folder} {folder}.gone; ");
    }
    script
        + &format!(
            "mkdir -p {}; echo attack > {path}; ",
            folders.last().unwrap()
        )
}

#[test]
fn sources_in_sub_folders_can_not_be_exchanged() {
    let project = Project::new("");
    let files = [
        ("agents/main.chatmd", DOCUMENT),
        ("parts/deep/base.chatmd", IMPORTED),
        ("plain/deep/base.chatmd", IMPORTED),
    ];
    for (name, text) in files {
        project.write(name, text);
    }
    let document = "agents/main.chatmd";
    let words = [
        "manifest",
        "--bound",
        "--digest",
        "--workspace",
        ".",
        document,
    ];
    let digest = project.chatmdc(&words);
    let digest = digest.expect(0).stdout.trim().to_owned();
    // The same attack on a folder with no file of the document succeeds.
    let script = [
        attack(&["agents"], "main.chatmd"),
        attack(&["parts", "parts/deep"], "base.chatmd"),
        attack(&["plain", "plain/deep"], "base.chatmd"),
        "echo end".to_owned(),
    ]
    .concat();
    let input = serde_json::json!({"program": "sh", "arguments": ["-c", script]}).to_string();
    let mut command = Command::new(program("chatmd"));
    command
        .args(["run", "--no-approval", "--workspace", ".", "--state-dir"])
        .arg(project.state())
        .args([
            "--session",
            "s",
            "--authorize-manifest",
            &digest,
            document,
            "sh",
            &input,
        ])
        .stdin(Stdio::null());
    let outcome = project.run(&mut command);
    assert!(outcome.expect(0).stdout.starts_with("end\n"), "{outcome:?}");
    let read = |name: &str| std::fs::read_to_string(project.path().join(name)).unwrap();
    assert_eq!(read("plain/deep/base.chatmd"), "attack\n");
    assert_eq!(read("agents/main.chatmd"), DOCUMENT);
    assert_eq!(read("parts/deep/base.chatmd"), IMPORTED);
    assert_eq!(project.chatmdc(&words).expect(0).stdout.trim(), digest);
}
