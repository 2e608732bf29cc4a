//! Times the check after an edit, in process, for `cargo xtask bench incremental`.
//!
//! Two workspaces of 1,000 documents. In the first every document stands alone and is two kilobytes
//! long; in the second 500 of them import one shared file. After each edit every document is asked
//! for its findings, as an editor with all of them open does.
//!
//! Prints one JSON object: edit to `{"median_ms": …, "p95_ms": …, "queries": …}`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use chatmd_compiler::db::{Database, Db as _, MemoryFileSystem, Root};
use chatmd_compiler::{CompileOptions, compile};
use serde_json::{Value, json};

/// The allocator of `chatmdc`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DOCUMENTS: usize = 1_000;
const IMPORTERS: usize = 500;
const ROUNDS: usize = 40;
const WARM: usize = 5;

struct Workspace {
    db: Database,
    roots: Vec<Root>,
    options: CompileOptions,
    ran: Arc<AtomicUsize>,
}

impl Workspace {
    fn new(files: &[(String, String)]) -> Self {
        let system: MemoryFileSystem = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_bytes()))
            .collect();
        let ran = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ran);
        let mut db = Database::with_events(
            system,
            Some(Box::new(move |event| {
                if let salsa::EventKind::WillExecute { .. } = event.kind {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })),
        );
        let root = |(path, _): &(String, String)| {
            db.root_from_path(path.as_str().into(), "/w".into())
                .expect("a document")
        };
        let roots = files.iter().map(root).collect();
        let options = CompileOptions {
            digests: false,
            ..CompileOptions::for_this_machine()
        };
        let workspace = Self {
            db,
            roots,
            options,
            ran,
        };
        assert_eq!(workspace.check(), 0, "the workspace has no errors");
        workspace
    }

    fn set(&mut self, path: &str, text: &str) {
        let target = self.db.path_input(path.into()).target(&self.db).unwrap();
        self.db.set_content(target.file, text.as_bytes().into());
    }

    /// Documents with errors.
    fn check(&self) -> usize {
        let failed = self.roots.iter().filter(|root| {
            let compilation = compile(&self.db, **root, &self.options);
            !black_box(compilation).succeeded()
        });
        failed.count()
    }

    /// Times changes from one text to the other and back.
    fn time(&mut self, path: &str, texts: [&str; 2], failing: [usize; 2]) -> Value {
        let target = self.db.path_input(path.into()).target(&self.db).unwrap();
        self.db.expect_edits(target.file, true);
        let mut times = Vec::new();
        let mut cpu = Vec::new();
        let mut queries = 0;
        for round in 0..WARM + ROUNDS {
            let side = (round + 1) % 2;
            self.ran.store(0, Ordering::Relaxed);
            let worked = cpu_ms();
            let started = Instant::now();
            self.set(path, texts[side]);
            let failed = self.check();
            let elapsed = started.elapsed().as_secs_f64() * 1e3;
            assert_eq!(failed, failing[side]);
            queries = self.ran.load(Ordering::Relaxed);
            if round >= WARM {
                times.push(elapsed);
                cpu.push(cpu_ms() - worked);
            }
        }
        times.sort_by(f64::total_cmp);
        cpu.sort_by(f64::total_cmp);
        json!({
            "median_ms": times[times.len() / 2],
            "p95_ms": times[times.len() * 95 / 100],
            "cpu_median_ms": cpu[cpu.len() / 2],
            "queries": queries,
        })
    }
}

/// Processor time of this thread in milliseconds, which other programs disturb less. Not a number
/// where the kernel does not count it.
fn cpu_ms() -> f64 {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = counted
        .split(' ')
        .next()
        .and_then(|first| first.parse().ok());
    nanoseconds.unwrap_or(f64::NAN) / 1e6
}

fn main() {
    let mut report = serde_json::Map::new();
    let mut alone = Workspace::new(&standing_alone());
    let text = document(500);
    report.insert(
        "one character of prose".into(),
        alone.time(
            "/w/500.chatmd",
            [&text, &text.replacen("answers", "answer", 1)],
            [0, 0],
        ),
    );
    report.insert(
        "one character of a command".into(),
        alone.time(
            "/w/500.chatmd",
            [&text, &text.replacen("git status", "git statu", 1)],
            [0, 0],
        ),
    );
    let mut shared = Workspace::new(&with_importers());
    let prose = SHARED.replacen("shared", "share", 1);
    report.insert(
        "one character of prose in a file with 500 importers".into(),
        shared.time("/w/shared.chatmd", [SHARED, &prose], [0, 0]),
    );
    let renamed = SHARED.replacen("\"base\"", "\"basis\"", 1);
    report.insert(
        "an exported id with 500 importers".into(),
        shared.time("/w/shared.chatmd", [SHARED, &renamed], [0, IMPORTERS]),
    );
    let widened = SHARED.replacen("readonly", "development", 1);
    report.insert(
        "an exported declaration with 500 importers".into(),
        shared.time("/w/shared.chatmd", [SHARED, &widened], [0, 0]),
    );
    println!("{}", Value::Object(report));
}

/// About two kilobytes with a runtime, two tools and some messages.
fn document(number: usize) -> String {
    let mut text = format!(
        "<system>\nAgent {number} answers questions about this repository.\n</system>\n\
         <shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\"/>\n\
         <tool name=\"status\" runtime=\"r\" command=\"git status\"/>\n\
         <tool name=\"log\" runtime=\"r\" command=\"git log\"/>\n"
    );
    for message in 0..10 {
        let _ = write!(
            text,
            "<user>\nQuestion {message} of {number}: which line of code means that the build folder \
             is read before the tests run?\n</user>\n<assistant>\nIt is read when unsure.\n\
             </assistant>\n"
        );
    }
    text
}

fn standing_alone() -> Vec<(String, String)> {
    (0..DOCUMENTS)
        .map(|number| (format!("/w/{number}.chatmd"), document(number)))
        .collect()
}

const SHARED: &str = "<!-- shared -->\n\
     <shell_access id=\"base\" extends=\"builtin:workspace-readonly@1\"/>\n";

fn with_importers() -> Vec<(String, String)> {
    let mut files = vec![("/w/shared.chatmd".to_owned(), SHARED.to_owned())];
    for number in 0..DOCUMENTS - 1 {
        let text = if number < IMPORTERS {
            let imported = document(number).replace("builtin:workspace-readonly@1", "lib:base");
            format!("<import src=\"shared.chatmd\" namespace=\"lib\"/>\n{imported}")
        } else {
            document(number)
        };
        files.push((format!("/w/{number}.chatmd"), text));
    }
    files
}
