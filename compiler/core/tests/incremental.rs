//! An edit re-runs only what it touches: counted in queries, not in time.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use chatmd_compiler::db::{Database, Db as _, MemoryFileSystem, Root};
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::{Compilation, CompileOptions, compile};

const ROOT: &str = "<import src=\"lib/a.chatmd\" namespace=\"a\"/>\n\
                    <user>Please look at the sources.</user>\n\
                    <shell_access id=\"r\" extends=\"a:base\"/>\n\
                    <tool name=\"t\" runtime=\"r\" command=\"git status\"/>\n";
const LIB: &str = "<!-- shared -->\n<shell_access id=\"base\" \
                   extends=\"builtin:workspace-readonly@1\"/>\n";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// How often each query ran since the last call.
    fn take(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for name in self.0.lock().unwrap().drain(..) {
            *counts.entry(name).or_default() += 1;
        }
        counts
    }
}

fn database(files: &[(&str, &str)]) -> (Database, Log, Root) {
    let system: MemoryFileSystem = files
        .iter()
        .map(|(path, text)| (*path, text.as_bytes()))
        .collect();
    let log = Log::default();
    let events = log.clone();
    let mut db = Database::with_events(
        system,
        Some(Box::new(move |event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                let key = format!("{database_key:?}");
                let name = key.split('(').next().unwrap().to_owned();
                events.0.lock().unwrap().push(name);
            }
        })),
    );
    let root = db
        .root_from_path("/w/agent.chatmd".into(), "/w".into())
        .unwrap();
    open(&mut db, files.iter().map(|(path, _)| *path));
    (db, log, root)
}

/// As an editor does with the files that it shows.
fn open<'a>(db: &mut Database, paths: impl Iterator<Item = &'a str>) {
    for path in paths {
        let target = db.path_input(path.into()).target(db).unwrap();
        db.expect_edits(target.file, true);
    }
}

fn run(db: &Database, root: Root) -> Arc<Compilation> {
    compile(db, root, &CompileOptions::for_platform(Platform::Linux))
}

fn edit(db: &mut Database, path: &str, text: &str) {
    let target = db.path_input(path.into()).target(db).unwrap();
    db.set_content(target.file, text.as_bytes().into());
}

fn names(counts: &BTreeMap<String, usize>) -> Vec<&str> {
    counts.keys().map(String::as_str).collect()
}

#[test]
fn prose_wakes_no_resolution() {
    let (mut db, log, root) = database(&[("/w/agent.chatmd", ROOT), ("/w/lib/a.chatmd", LIB)]);
    let before = run(&db, root);
    assert_eq!(before.diagnostics, []);
    assert!(log.take().contains_key("resolution"));
    run(&db, root);
    assert_eq!(names(&log.take()), [""; 0], "nothing changed, nothing runs");

    edit(
        &mut db,
        "/w/agent.chatmd",
        &ROOT.replace("the sources", "all of the sources, please"),
    );
    let after = run(&db, root);
    let ran = log.take();
    assert_eq!(
        names(&ran),
        [
            "compile_query",
            "declarations",
            "digest",
            "directives",
            "load_error",
            "parse",
            "size_kib",
            "source"
        ]
    );
    assert!(ran.values().all(|count| *count == 1), "{ran:?}");
    assert_ne!(
        before.requested_sha256, after.requested_sha256,
        "sources have new digests"
    );

    // A comment above a declaration moves it and changes nothing else.
    edit(
        &mut db,
        "/w/lib/a.chatmd",
        &LIB.replace("shared", "shared by\nmany"),
    );
    run(&db, root);
    let ran = log.take();
    assert!(
        !ran.contains_key("resolution") && !ran.contains_key("expand"),
        "{ran:?}"
    );
    assert_eq!(ran.get("declarations"), Some(&1));
}

#[test]
fn prose_runs_no_test_and_a_rule_runs_them_once() {
    let text = "<user>Please look at it.</user>\n<!-- expect deny: git push -->\n\
                <shell_access id=\"r\"><policy default=\"deny\"/></shell_access>\n";
    let (mut db, log, root) = database(&[("/w/agent.chatmd", text)]);
    assert_eq!(run(&db, root).tested.run.results.len(), 1);
    assert_eq!(log.take().get("run"), Some(&1));
    edit(
        &mut db,
        "/w/agent.chatmd",
        &text.replace("look at it", "look at it <!-- expect allow: ls -->"),
    );
    let after = run(&db, root);
    assert_eq!(after.tested.run.results.len(), 1);
    let codes = |compilation: &Compilation| -> Vec<_> {
        let found = compilation.diagnostics.iter().map(|found| found.code);
        found
            .filter(|code| code.starts_with("chatmd.test"))
            .collect()
    };
    assert_eq!(codes(&after), ["chatmd.test_unattached"]);
    let ran = log.take();
    assert!(
        !ran.contains_key("run") && !ran.contains_key("resolution"),
        "{ran:?}"
    );
    edit(
        &mut db,
        "/w/agent.chatmd",
        &text.replace("\"deny\"", "\"ask\""),
    );
    assert_eq!(codes(&run(&db, root)), ["chatmd.test_failed"]);
    assert_eq!(log.take().get("run"), Some(&1));
}

#[test]
fn a_changed_declaration_wakes_resolution_once() {
    let (mut db, log, root) = database(&[("/w/agent.chatmd", ROOT), ("/w/lib/a.chatmd", LIB)]);
    run(&db, root);
    log.take();
    edit(
        &mut db,
        "/w/lib/a.chatmd",
        &LIB.replace("readonly", "development"),
    );
    let after = run(&db, root);
    assert!(after.succeeded(), "{:?}", after.diagnostics);
    let ran = log.take();
    for (query, count) in [
        ("parse", 1),
        ("declarations", 1),
        ("expand", 1),
        ("resolution", 1),
    ] {
        assert_eq!(ran.get(query), Some(&count), "{query} in {ran:?}");
    }
}

#[test]
fn one_edit_among_many_files_parses_one_file() {
    let imports = (0..500).map(|i| format!("<import src=\"lib/{i}.chatmd\"/>\n"));
    let mut files = vec![("/w/agent.chatmd".to_owned(), imports.collect::<String>())];
    for i in 0..500 {
        files.push((
            format!("/w/lib/{i}.chatmd"),
            format!("<user>note {i}</user>\n"),
        ));
    }
    let borrowed: Vec<_> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let (mut db, log, root) = database(&borrowed);
    assert!(run(&db, root).succeeded());
    assert_eq!(log.take().get("parse"), Some(&501));
    edit(&mut db, "/w/lib/250.chatmd", "<user>another note</user>\n");
    run(&db, root);
    let ran = log.take();
    assert_eq!(ran.get("parse"), Some(&1), "{ran:?}");
    assert!(!ran.contains_key("expand"), "{ran:?}");
}

/// Many documents in one database, as an editor or a check of a workspace holds them.
fn workspace(files: &[(String, String)]) -> (Database, Log, Vec<Root>) {
    let system: MemoryFileSystem = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_bytes()))
        .collect();
    let log = Log::default();
    let events = log.clone();
    let mut db = Database::with_events(
        system,
        Some(Box::new(move |event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                let key = format!("{database_key:?}");
                let name = key.split('(').next().unwrap().to_owned();
                events.0.lock().unwrap().push(name);
            }
        })),
    );
    let roots = files.iter().map(|(path, _)| {
        db.root_from_path(path.as_str().into(), "/w".into())
            .unwrap()
    });
    let roots = roots.collect();
    (db, log, roots)
}

#[test]
fn one_character_among_a_thousand_documents_checks_one_again() {
    let files: Vec<_> = (0..1_000)
        .map(|i| {
            let text = format!(
                "<user>Please look at {i}.</user>\n\
                 <shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\"/>\n\
                 <tool name=\"t\" runtime=\"r\" command=\"git status\"/>\n"
            );
            (format!("/w/{i}.chatmd"), text)
        })
        .collect();
    let (mut db, log, roots) = workspace(&files);
    open(&mut db, ["/w/500.chatmd"].into_iter());
    for root in &roots {
        assert!(run(&db, *root).succeeded());
    }
    assert_eq!(log.take().get("compile_query"), Some(&1_000));
    let (path, text) = &files[500];
    edit(&mut db, path, &text.replace("look at", "look  at"));
    for root in &roots {
        run(&db, *root);
    }
    let ran = log.take();
    assert_eq!(
        names(&ran),
        [
            "compile_query",
            "declarations",
            "digest",
            "directives",
            "load_error",
            "parse",
            "size_kib",
            "source"
        ]
    );
    assert!(ran.values().all(|count| *count == 1), "{ran:?}");

    // A declaration of that file: its own resolution and nobody else's.
    edit(&mut db, path, &text.replace("git status", "git diff"));
    for root in &roots {
        run(&db, *root);
    }
    let ran = log.take();
    for query in [
        "parse",
        "declarations",
        "expand",
        "resolution",
        "compile_query",
    ] {
        assert_eq!(ran.get(query), Some(&1), "{query} in {ran:?}");
    }
}

#[test]
fn an_exported_id_with_five_hundred_importers_is_read_once() {
    let mut files = vec![("/w/shared.chatmd".to_owned(), LIB.to_owned())];
    for i in 0..1_000 {
        let text = if i < 500 {
            ROOT.replace("lib/a.chatmd", "shared.chatmd")
        } else {
            format!("<user>Nothing shared in {i}.</user>\n")
        };
        files.push((format!("/w/{i}.chatmd"), text));
    }
    let (mut db, log, roots) = workspace(&files);
    open(&mut db, ["/w/shared.chatmd"].into_iter());
    for root in &roots {
        let compilation = run(&db, *root);
        assert!(compilation.succeeded(), "{:?}", compilation.diagnostics);
    }
    log.take();
    edit(
        &mut db,
        "/w/shared.chatmd",
        &LIB.replace("\"base\"", "\"basis\""),
    );
    let failed = roots.iter().filter(|root| !run(&db, **root).succeeded());
    assert_eq!(failed.count(), 500);
    let ran = log.take();
    // The file itself is read once however many import it; its importers and itself as a root are
    // resolved again, and the 500 others sleep.
    for (query, count) in [
        ("parse", 1),
        ("declarations", 1),
        ("expand", 501),
        ("resolution", 501),
        ("compile_query", 501),
    ] {
        assert_eq!(ran.get(query), Some(&count), "{query} in {ran:?}");
    }

    // Prose above the declaration reaches no resolution at all.
    edit(
        &mut db,
        "/w/shared.chatmd",
        &LIB.replace("\"base\"", "\"basis\"")
            .replace("shared", "shared by many"),
    );
    for root in &roots {
        run(&db, *root);
    }
    let ran = log.take();
    assert_eq!(ran.get("parse"), Some(&1), "{ran:?}");
    assert_eq!(ran.get("expand"), None, "{ran:?}");
    assert_eq!(ran.get("resolution"), None, "{ran:?}");
}

#[test]
fn a_file_that_was_not_expected_to_change_changes_all_the_same() {
    let (mut db, _, root) = database(&[("/w/agent.chatmd", ROOT), ("/w/lib/a.chatmd", LIB)]);
    let file = |db: &Database| {
        db.path_input("/w/lib/a.chatmd".into())
            .target(db)
            .unwrap()
            .file
    };
    let lib = file(&db);
    for expected in [true, false, false, true, true, false] {
        db.expect_edits(lib, expected);
        assert!(run(&db, root).succeeded());
        edit(&mut db, "/w/lib/a.chatmd", "<user>nothing</user>\n");
        assert!(!run(&db, root).succeeded());
        edit(&mut db, "/w/lib/a.chatmd", LIB);
        assert!(run(&db, root).succeeded());
    }
}
