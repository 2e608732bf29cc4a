//! Times the phases of the compiler on one document, in process, for `cargo xtask bench` (B3).
//!
//! Prints one JSON object: phase to `{"ms": median, "mb_per_s": rate}`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use chatmd_compiler::compile::{CompileOptions, compile};
use chatmd_compiler::db::{self, Database};
use chatmd_compiler::manifest::sha256_hex;

const ROUNDS: usize = 15;

fn main() {
    let path = std::env::args().nth(1).expect("usage: phases FILE");
    let bytes = std::fs::read(&path).expect("the file can be read");
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        time(&mut times, "digest", || sha256_hex(&bytes));
        time(&mut times, "parse", || chatmd_syntax::parse(&bytes));
        let mut database = Database::default();
        let path = std::path::absolute(&path).expect("a path");
        let path = camino::Utf8PathBuf::from_path_buf(path).expect("a UTF-8 path");
        let root = database
            .root_from_path(&path, &path)
            .expect("the root loads");
        let file = root.file(&database);
        black_box(db::parse(&database, file));
        time(&mut times, "lower", || db::declarations(&database, file));
        let options = CompileOptions::for_this_machine();
        let whole = time(&mut times, "resolve", || compile(&database, root, &options));
        assert!(whole.succeeded(), "the document has errors");
    }
    let megabytes = bytes.len() as f64 / 1e6;
    let report: serde_json::Map<String, serde_json::Value> = times
        .into_iter()
        .map(|(name, mut list)| {
            list.sort_by(f64::total_cmp);
            let median = list[list.len() / 2];
            let row = serde_json::json!({"ms": median, "mb_per_s": megabytes / median * 1e3});
            (name.to_owned(), row)
        })
        .collect();
    println!("{}", serde_json::Value::Object(report));
}

fn time<T>(
    times: &mut BTreeMap<&'static str, Vec<f64>>,
    name: &'static str,
    work: impl FnOnce() -> T,
) -> T {
    let started = Instant::now();
    let result = black_box(work());
    times
        .entry(name)
        .or_default()
        .push(started.elapsed().as_secs_f64() * 1e3);
    result
}
