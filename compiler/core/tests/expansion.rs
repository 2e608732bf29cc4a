//! Imports (spec 01 sections 8 and 10.3), with files in memory and on disk.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use camino::Utf8Path;
use chatmd_compiler::db::{Database, LoadError, MemoryFileSystem, OsFileSystem};
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::{Compilation, CompileOptions, compile};

fn options() -> CompileOptions {
    CompileOptions::for_platform(Platform::Linux)
}

/// Compiles `/w/agent.chatmd` among the given files; other paths are relative to `/w`.
fn run(files: &[(&str, &str)]) -> Arc<Compilation> {
    let system: MemoryFileSystem = files
        .iter()
        .map(|(path, text)| (Utf8Path::new("/w").join(path), text.as_bytes()))
        .collect();
    let mut db = Database::new(system);
    let root = db
        .root_from_path("agent.chatmd".into(), "/w".into())
        .unwrap();
    compile(&db, root, &options())
}

/// `CODE FILE:LINE:COL` of every finding.
fn found(compilation: &Compilation) -> Vec<String> {
    let show = |found: &chatmd_compiler::diagnostics::Diagnostic| {
        let at = compilation.locate(found.primary.place).unwrap();
        format!(
            "{} {}:{}:{}",
            found.code, at.file.display, at.start.line, at.start.column
        )
    };
    compilation.diagnostics.iter().map(show).collect()
}

fn sources(compilation: &Compilation) -> Vec<String> {
    let manifest = compilation.manifest.as_ref().unwrap();
    let namespace = |n: &Option<String>| n.clone().unwrap_or_default();
    manifest
        .sources
        .iter()
        .map(|s| {
            format!(
                "{} [{}] {}",
                s.path,
                namespace(&s.namespace),
                s.role.as_str()
            )
        })
        .collect()
}

const RUNTIME: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\"/>\n\
                       <tool name=\"t\" runtime=\"r\" command=\"ls\"/>\n";

#[test]
fn namespaces_nest_and_qualify() {
    let compilation = run(&[
        (
            "agent.chatmd",
            "<import src=\"lib/a.chatmd\" namespace=\"x\"/>\n",
        ),
        (
            "lib/a.chatmd",
            "<import src=\"../b.chatmd\" namespace=\"y\"/>\n<import src=\"c.chatmd\"/>",
        ),
        ("b.chatmd", RUNTIME),
        ("lib/c.chatmd", "<config model=\"m\"/>"),
    ]);
    assert_eq!(found(&compilation), [""; 0]);
    let manifest = compilation.manifest.as_ref().unwrap();
    assert_eq!(manifest.runtimes[0].id, "x:y:r");
    assert_eq!(manifest.tools[0].runtime, "x:y:r");
    assert_eq!(
        sources(&compilation),
        [
            "agent.chatmd [] root",
            "b.chatmd [x:y] import",
            "lib/a.chatmd [x] import",
            "lib/c.chatmd [x] import",
        ]
    );
}

#[test]
fn cycles_are_reported_once_with_every_import() {
    let compilation = run(&[
        (
            "agent.chatmd",
            "<import src=\"a.chatmd\"/>\n<import src=\"d/b.chatmd\"/>\n",
        ),
        ("a.chatmd", "<import src=\"d/b.chatmd\"/>\n"),
        ("d/b.chatmd", "<!-- b -->\n<import src=\"../a.chatmd\"/>\n"),
    ]);
    assert_eq!(found(&compilation), ["chatmd.import_cycle d/b.chatmd:2:1"]);
    let cycle = &compilation.diagnostics[0];
    assert_eq!(
        cycle.message,
        "import cycle: a.chatmd -> d/b.chatmd -> a.chatmd"
    );
    let secondary: Vec<_> = cycle
        .secondary
        .iter()
        .map(|label| {
            let at = compilation.locate(label.place).unwrap();
            format!("{}:{} {}", at.file.display, at.start.line, label.text)
        })
        .collect();
    assert_eq!(
        secondary,
        [
            "a.chatmd:1 imports the next file",
            "agent.chatmd:1 imported here"
        ]
    );
    let own = run(&[("agent.chatmd", "<import src=\"./d/../agent.chatmd\"/>")]);
    assert_eq!(found(&own), ["chatmd.import_cycle agent.chatmd:1:1"]);
}

#[cfg(unix)]
#[test]
fn cycles_through_links_are_cycles() {
    let directory = tempfile::tempdir().unwrap();
    let base = Utf8Path::from_path(directory.path()).unwrap();
    std::fs::write(base.join("agent.chatmd"), "<import src=\"link.chatmd\"/>\n").unwrap();
    std::os::unix::fs::symlink("agent.chatmd", base.join("link.chatmd")).unwrap();
    std::fs::write(base.join("hard.chatmd"), "<import src=\"other.chatmd\"/>\n").unwrap();
    std::fs::hard_link(base.join("hard.chatmd"), base.join("other.chatmd")).unwrap();
    for name in ["agent.chatmd", "hard.chatmd"] {
        let mut db = Database::new(OsFileSystem::default());
        let root = db.root_from_path(name.into(), base).unwrap();
        let compilation = compile(&db, root, &options());
        assert_eq!(
            found(&compilation),
            [format!("chatmd.import_cycle {name}:1:1")]
        );
    }
}

#[test]
fn collisions_name_both_places() {
    let compilation = run(&[
        (
            "agent.chatmd",
            "<import src=\"a.chatmd\" namespace=\"n\"/>\n<import src=\"b.chatmd\" namespace=\"n\"/>\n",
        ),
        ("a.chatmd", RUNTIME),
        ("b.chatmd", "<user>b</user>"),
    ]);
    assert_eq!(
        found(&compilation),
        ["chatmd.import_namespace_collision agent.chatmd:2:24"]
    );
    assert_eq!(compilation.diagnostics[0].secondary.len(), 1);
    // By another route: `x` in the root, and `x` in a file that shares the root's namespace.
    let compilation = run(&[
        (
            "agent.chatmd",
            "<import src=\"a.chatmd\" namespace=\"x\"/>\n<import src=\"b.chatmd\"/>\n",
        ),
        ("a.chatmd", "<user>a</user>"),
        ("b.chatmd", "<import src=\"a.chatmd\" namespace=\"x\"/>"),
    ]);
    assert_eq!(
        found(&compilation),
        ["chatmd.import_namespace_collision b.chatmd:1:24"]
    );
    // A file imported twice repeats its imports; they are the same elements.
    let compilation = run(&[
        (
            "agent.chatmd",
            "<import src=\"b.chatmd\"/>\n<import src=\"b.chatmd\"/>\n",
        ),
        ("a.chatmd", "<user>a</user>"),
        ("b.chatmd", "<import src=\"a.chatmd\" namespace=\"x\"/>"),
    ]);
    assert_eq!(found(&compilation), [""; 0]);
}

#[test]
fn depth_and_number_of_imports_are_bounded() {
    let mut files = vec![(
        "agent.chatmd".to_owned(),
        "<import src=\"0.chatmd\"/>".to_owned(),
    )];
    for i in 0..200 {
        files.push((
            format!("{i}.chatmd"),
            format!("<import src=\"{}.chatmd\"/>", i + 1),
        ));
    }
    files.push(("200.chatmd".to_owned(), String::new()));
    let borrowed: Vec<_> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    assert_eq!(
        found(&run(&borrowed)),
        ["chatmd.import_depth 127.chatmd:1:1"]
    );

    // Ten files, each importing the next one ten times.
    let mut files = vec![(
        "agent.chatmd".to_owned(),
        "<import src=\"0.chatmd\"/>\n".repeat(10),
    )];
    for i in 0..10 {
        files.push((
            format!("{i}.chatmd"),
            format!("<import src=\"{}.chatmd\"/>\n", i + 1).repeat(10),
        ));
    }
    files.push(("10.chatmd".to_owned(), String::new()));
    let borrowed: Vec<_> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let limited = found(&run(&borrowed));
    assert_eq!(limited.len(), 1, "{limited:?}");
    assert!(limited[0].starts_with("chatmd.import_limit"));

    let many = "<import src=\"0.chatmd\"/>\n".repeat(1_024);
    assert_eq!(
        found(&run(&[("agent.chatmd", &many), ("0.chatmd", "")])),
        [""; 0]
    );
    let more = "<import src=\"0.chatmd\"/>\n".repeat(1_026);
    let limited = found(&run(&[("agent.chatmd", &more), ("0.chatmd", "")]));
    assert_eq!(limited, ["chatmd.import_limit agent.chatmd:1025:1"]);
}

#[test]
fn the_total_of_all_source_is_bounded() {
    let large = format!("<!--{}-->", "x".repeat(40 << 20));
    let root = "<import src=\"l.chatmd\"/>\n".repeat(7);
    let limited = found(&run(&[("agent.chatmd", &root), ("l.chatmd", &large)]));
    assert_eq!(limited, ["chatmd.import_limit agent.chatmd:7:1"]);
    let root = "<import src=\"l.chatmd\"/>\n".repeat(6);
    assert_eq!(
        found(&run(&[("agent.chatmd", &root), ("l.chatmd", &large)])),
        [""; 0]
    );
}

#[test]
fn findings_in_imported_files_say_who_imports_them() {
    let compilation = run(&[
        (
            "agent.chatmd",
            "<user>x</user>\n<import src=\"a.chatmd\"/>\n",
        ),
        ("a.chatmd", "<import src=\"d/b.chatmd\"/>\n"),
        ("d/b.chatmd", "<User/>\n"),
    ]);
    assert_eq!(
        found(&compilation),
        ["chatmd.unknown_element d/b.chatmd:1:1"]
    );
    let chain: Vec<_> = compilation.diagnostics[0]
        .secondary
        .iter()
        .filter(|label| label.text == "imported here")
        .map(|label| {
            let at = compilation.locate(label.place).unwrap();
            format!("{}:{}", at.file.display, at.start.line)
        })
        .collect();
    assert_eq!(chain, ["a.chatmd:1", "agent.chatmd:2"]);
}

#[test]
fn content_imports_are_text_that_may_import() {
    let compilation = run(&[
        (
            "agent.chatmd",
            "<system>\n<import src=\"rules.md\"/>\n</system>\n",
        ),
        (
            "rules.md",
            "Plain *text*.\n<import src=\"more.md\"/>\n<shell_access id=\"x\"/>\n",
        ),
        ("more.md", "More text.\n"),
    ]);
    let codes = found(&compilation);
    assert_eq!(codes, ["chatmd.literal_element rules.md:3:1"]);
    assert_eq!(
        sources(&compilation),
        [
            "agent.chatmd [] root",
            "more.md [] import",
            "rules.md [] import"
        ]
    );
    let cyclic = run(&[
        ("agent.chatmd", "<system><import src=\"a.md\"/></system>"),
        ("a.md", "text <import src=\"a.md\"/>"),
    ]);
    assert_eq!(found(&cyclic), ["chatmd.import_cycle a.md:1:6"]);
}

#[test]
fn scripts_are_read_beside_their_file() {
    let script = "<script id=\"s\" language=\"chatml\" kind=\"moderator\" src=\"m.chatml\"/>";
    let compilation = run(&[
        (
            "agent.chatmd",
            "<import src=\"lib/a.chatmd\" namespace=\"n\"/>",
        ),
        ("lib/a.chatmd", script),
        (
            "lib/m.chatml",
            "let initial_state = ()\nlet on_event ctx state event = Task.pure(state)\n",
        ),
    ]);
    assert_eq!(found(&compilation), [""; 0]);
    assert_eq!(
        sources(&compilation),
        [
            "agent.chatmd [] root",
            "lib/a.chatmd [n] import",
            "lib/m.chatml [n] script"
        ]
    );
    for (src, text, code) in [
        ("none.chatml", "", "chatmd.script_source_unavailable"),
        ("https://x.test/m", "", "chatmd.script_source_unavailable"),
        ("${workspace}/m", "", "chatmd.script_source_unavailable"),
        ("m.chatml", "a\0b", "chatmd.script_invalid_encoding"),
    ] {
        let root =
            format!("<script id=\"s\" language=\"chatml\" kind=\"moderator\" src=\"{src}\"/>");
        let compilation = run(&[("agent.chatmd", &root), ("m.chatml", text)]);
        assert_eq!(
            found(&compilation),
            [format!("{code} agent.chatmd:1:56")],
            "{src}"
        );
    }
}

#[test]
fn registries_span_files() {
    let compilation = run(&[
        (
            "agent.chatmd",
            "<config model=\"a\"/>\n<import src=\"b.chatmd\"/>\n",
        ),
        (
            "b.chatmd",
            "<config model=\"b\"/>\n<user ochat-history-id=\"1:n:1\">x</user>\n\
                      <user ochat-history-id=\"1:n:1\">y</user>\n",
        ),
    ]);
    assert_eq!(
        found(&compilation),
        [
            "chatmd.duplicate_config b.chatmd:1:1",
            "chatmd.duplicate_history_id b.chatmd:3:25"
        ]
    );
}

#[test]
fn written_namespaces_stay_in_the_root() {
    let runtime = "<shell_access id=\"a:b\" extends=\"builtin:workspace-readonly@1\"/>\n\
                   <tool name=\"t\" runtime=\"a:b\" command=\"ls\"/>\n";
    let root = run(&[("agent.chatmd", runtime)]);
    assert_eq!(
        found(&root),
        ["shell.qualified_declaration agent.chatmd:1:19"]
    );
    assert!(root.succeeded());
    let imported = run(&[
        ("agent.chatmd", "<import src=\"b.chatmd\"/>"),
        ("b.chatmd", runtime),
    ]);
    assert_eq!(found(&imported), ["shell.invalid_runtime_id b.chatmd:1:19"]);
}

#[test]
fn findings_are_sorted_and_bounded() {
    let text = "<User/>\n".repeat(1_500);
    let compilation = run(&[("agent.chatmd", &text)]);
    assert_eq!(compilation.diagnostics.len(), 1_001);
    let codes: Vec<_> = compilation
        .diagnostics
        .iter()
        .map(|found| found.code)
        .collect();
    assert_eq!(codes.last(), Some(&"chatmd.too_many_diagnostics"));
    assert_eq!(
        codes
            .iter()
            .filter(|code| **code == "chatmd.too_many_diagnostics")
            .count(),
        1
    );
    assert!(compilation.manifest.is_none());
}

#[test]
fn unreadable_roots_are_findings_or_errors() {
    let mut db = Database::new(MemoryFileSystem::default());
    assert_eq!(
        db.root_from_path("x".into(), "/w".into()),
        Err(LoadError::NotFound)
    );
    let too_large = Err(LoadError::TooLarge { limit: 64 << 20 });
    let root = db.root_from_content("<prompt>", "/w".into(), too_large, None);
    let compilation = compile(&db, root, &options());
    assert_eq!(
        found(&compilation),
        ["chatmd.document_too_large <prompt>:1:1"]
    );
}
