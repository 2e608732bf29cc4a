//! Every file of `corpus/hostile` — finds of the fuzzers, and documents made to hurt — goes through
//! every target of `fuzz/`: no panic, no hang, every property of the target holds.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::time::{Duration, Instant};

use chatmd_tests::repository;

#[test]
fn every_hostile_file_is_met_by_every_reader() {
    let folder = repository().join("corpus/hostile");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    assert!(files.len() > 10, "{} hostile files", files.len());
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for (name, target) in targets::ALL {
            let started = Instant::now();
            let met = std::panic::catch_unwind(|| target(&bytes));
            assert!(met.is_ok(), "{name} fails on {}", file.display());
            // Generous: a debug build on a busy machine. A quadratic pass takes minutes.
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{name} takes {:?} for {}",
                started.elapsed(),
                file.display()
            );
        }
    }
}
