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
    (db, log, root)
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
            "item_starts",
            "load_error",
            "parse",
            "size_kib"
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
