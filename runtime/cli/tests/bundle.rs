//! A compiled bundle runs where its documents are not.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::process::{Command, Output, Stdio};

use chatmd_compiler::db::Database;
use chatmd_compiler::manifest::bundle;
use chatmd_compiler::{CompileOptions, compile};

const DOCUMENT: &str = r#"
<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true">
    <read path="${workspace}"/>
  </capabilities>
  <resolver><search_path path="/usr/bin"/></resolver>
  <policy default="deny"><rule id="grep" action="allow"><basename value="grep"/></rule></policy>
</shell_access>
<tool name="search" type="shell" mode="fixed" runtime="r">
  <command program="grep"><arg value="-rF"/><arg value="--"/></command>
  <arguments mode="required" min_count="2"/>
</tool>
"#;

fn bundled() -> Vec<u8> {
    let mut db = Database::default();
    let content = Ok(DOCUMENT.as_bytes().into());
    let root = db.root_from_content("agent.chatmd", "/".into(), content, None);
    let compilation = compile(&db, root, &CompileOptions::for_this_machine());
    let manifest = compilation.manifest.as_ref().unwrap();
    bundle::write(manifest, &compilation.material.scripts).unwrap()
}

fn chatmd(folder: &std::path::Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chatmd"))
        .current_dir(folder)
        .args(words)
        .stdin(Stdio::null())
        .env("HOME", folder.join("home"))
        .env_remove("XDG_STATE_HOME")
        .output()
        .unwrap()
}

#[test]
fn a_bundle_runs_alone_and_only_unchanged() {
    let folder = tempfile::Builder::new()
        .prefix("chatmd-bundle")
        .tempdir_in("/var/tmp")
        .unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/a"), "TODO one\n").unwrap();
    let bytes = bundled();
    std::fs::write(folder.join("agent.json"), &bytes).unwrap();

    let listed = chatmd(folder, &["tools", "--format", "json", "agent.json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["tools"][0]["name"], "search");
    let digest = listed["manifest_sha256"].as_str().unwrap();
    let input = r#"{"arguments":["TODO","src"]}"#;
    let words = [
        "run",
        "--authorize-manifest",
        digest,
        "--result",
        "text",
        "agent.json",
        "search",
        input,
    ];
    let ran = chatmd(folder, &words);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{errors}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "src/a:TODO one\n");

    let text = String::from_utf8(bytes).unwrap();
    let changed = text.replace("\"network\":false", "\"network\":true");
    assert_ne!(changed, text);
    std::fs::write(folder.join("agent.json"), changed).unwrap();
    for words in [&words[..], &["tools", "agent.json"]] {
        let refused = chatmd(folder, words);
        let errors = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{errors}");
        assert!(
            errors.contains("shell.manifest_digest_mismatch"),
            "{errors}"
        );
        assert!(refused.stdout.is_empty());
    }
}
