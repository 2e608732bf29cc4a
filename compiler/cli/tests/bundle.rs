//! Compiled bundles in the place of their documents.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod support;

use serde_json::Value;
use support::Project;

const DOCUMENT: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly\">\
    <capabilities><read path=\"${source_dir}/data\"/></capabilities></shell_access>\n\
    <tool name=\"t\" type=\"shell\" runtime=\"r\" command=\"ls -l\"/>\n";

/// The bundle `out/b.json` alone, and the digest of its document.
fn bundled() -> (Project, String) {
    let project = Project::new(&[("a.chatmd", DOCUMENT), ("out/keep", ""), ("out/data/x", "")]);
    let made = project.run(&["manifest", "--bundle", "-o", "out/b.json", "a.chatmd"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let digest = project.run(&["manifest", "--digest", "a.chatmd"]).stdout;
    std::fs::remove_file(project.path().join("a.chatmd")).unwrap();
    (project, digest.trim().to_owned())
}

#[test]
fn a_bundle_alone_is_inspected_and_bound() {
    let (project, digest) = bundled();
    let same = project.run(&["manifest", "--digest", "out/b.json"]);
    assert_eq!(
        (same.code, same.stdout.trim()),
        (0, digest.as_str()),
        "{}",
        same.stderr
    );
    let inspected = project.run(&["inspect", "--format", "json", "out/b.json"]);
    let answer: Value = serde_json::from_str(&inspected.stdout).unwrap();
    assert_eq!(answer["requested_sha256"], digest);
    assert_eq!(answer["tools"][0]["name"], "t");
    // The sources of a bundle lie beside it, wherever it is.
    let bound = project.run(&["manifest", "--bound", "out/b.json"]);
    let bound: Value = serde_json::from_str(&bound.stdout).unwrap();
    let directory = project.path().canonicalize().unwrap().join("out");
    assert_eq!(
        bound["binding"]["source_dirs"]["a.chatmd"],
        directory.to_str().unwrap()
    );
    let moved = project.run(&["manifest", "--bound", "--source-dir", ".", "out/b.json"]);
    let moved: Value = serde_json::from_str(&moved.stdout).unwrap();
    assert_eq!(
        moved["binding"]["source_dirs"]["a.chatmd"],
        project.path().canonicalize().unwrap().to_str().unwrap()
    );
    // Written again it is the same, byte for byte.
    let again = project.run(&["manifest", "--bundle", "out/b.json"]);
    let bytes = std::fs::read_to_string(project.path().join("out/b.json")).unwrap();
    assert_eq!(again.stdout, bytes);
}

#[test]
fn one_changed_value_is_refused_everywhere() {
    let (project, _) = bundled();
    let text = std::fs::read_to_string(project.path().join("out/b.json")).unwrap();
    let changed = text.replace("\"network\":false", "\"network\":true");
    assert_ne!(changed, text);
    project.write("out/b.json", changed.as_bytes());
    for args in [
        &["inspect", "out/b.json"][..],
        &["manifest", "out/b.json"],
        &["manifest", "--bound", "out/b.json"],
        &["graph", "out/b.json"],
    ] {
        let run = project.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{args:?}");
        let expected = "out/b.json: error[shell.manifest_digest_mismatch]: requested_sha256 says";
        assert!(run.stderr.starts_with(expected), "{args:?}: {}", run.stderr);
    }
    let run = project.run(&["inspect", "--format", "json", "out/b.json"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["error"]["code"], "shell.manifest_digest_mismatch");
}

#[test]
fn a_plain_manifest_is_no_document() {
    let project = Project::new(&[("a.chatmd", DOCUMENT)]);
    assert_eq!(
        project.run(&["manifest", "-o", "m.json", "a.chatmd"]).code,
        0
    );
    for command in ["inspect", "graph", "manifest"] {
        let run = project.run(&[command, "m.json"]);
        assert_eq!(run.code, 1);
        let code = "shell.manifest_material_missing";
        assert!(run.stderr.contains(code), "{command}: {}", run.stderr);
    }
}
