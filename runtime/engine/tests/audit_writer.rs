//! Audit writers as processes: many at once, killed at any moment, and with a file system that
//! fails. The writer is this test binary itself, started with [`LOG`] set.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use chatmd_compiler::manifest::AuditContent;
use chatmd_runtime::audit::{
    AuditSink, Event, EventBody, IntegrityKey, SinkOptions, Target, ValidationOptions,
    ValidationReport, validate,
};
use chatmd_runtime::output::{ExitStatus, Redactor};

/// Path of the log; makes [`writer`] a writer.
const LOG: &str = "CHATMD_TEST_AUDIT_LOG";

/// How many events it writes.
const COUNT: &str = "CHATMD_TEST_AUDIT_COUNT";

fn key() -> Arc<IntegrityKey> {
    Arc::new(IntegrityKey::from_bytes([7; 32]))
}

fn open(path: &Path) -> AuditSink {
    let options = SinkOptions {
        target: Target::jsonl(path.to_owned()),
        content: AuditContent::Redacted,
        session_id: None,
        manifest_sha256: None,
        redactor: Redactor::default(),
        key: Some(key()),
        anchors: None,
    };
    AuditSink::open(options).unwrap().0
}

fn event(id: &str) -> Event {
    Event::request(
        "main",
        id,
        EventBody::Finished {
            status: ExitStatus::Exited(0),
        },
    )
}

/// Not a test: the body of the child processes. Prints one line per event, `ok SEQUENCE` only after
/// the sink said that it is durable.
#[test]
fn writer() {
    let (Some(path), Ok(count)) = (std::env::var_os(LOG), std::env::var(COUNT)) else {
        return;
    };
    let sink = open(Path::new(&path));
    let mut out = std::io::stderr().lock();
    for number in 0..count.parse::<u64>().unwrap() {
        let id = format!("{}-{number}", std::process::id());
        let line = match sink.emit(&event(&id)) {
            Ok(receipt) => format!("ok {}", receipt.unwrap().sequence),
            Err(error) => format!("failed {}", error.code),
        };
        let length = std::fs::metadata(&path).unwrap().len();
        writeln!(out, "{line} {length}").unwrap();
    }
}

fn command(program: &[&str], log: &Path, count: u64) -> Command {
    let own = std::env::current_exe().unwrap();
    let arguments = ["--exact", "writer", "--nocapture", "--test-threads=1"];
    let mut command = match program {
        [] => Command::new(&own),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(&own);
            command
        }
    };
    command
        .args(arguments)
        .env(LOG, log)
        .env(COUNT, count.to_string());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn start(log: &Path, count: u64) -> Child {
    command(&[], log, count).spawn().unwrap()
}

/// The lines of a writer: word, detail, length of the file behind it.
fn lines(output: &Output) -> Vec<(String, String, u64)> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("ok ") || line.starts_with("failed "))
        .map(|line| {
            let mut words = line.split(' ').map(str::to_owned);
            let mut word = || words.next().unwrap();
            (word(), word(), word().parse().unwrap())
        })
        .collect();
    assert!(!lines.is_empty(), "{text}");
    lines
}

fn check(log: &Path) -> ValidationReport {
    let key = key();
    validate(
        log,
        ValidationOptions {
            key: Some(&key),
            require_chain: true,
            ..Default::default()
        },
    )
    .unwrap()
}

fn directory() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log.jsonl");
    (directory, log)
}

#[test]
fn four_processes_keep_one_chain() {
    let (_directory, log) = directory();
    let writers: Vec<Child> = (0..4).map(|_| start(&log, 250)).collect();
    let mut sequences = BTreeSet::new();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        for (word, sequence, _) in lines(&output) {
            assert_eq!(word, "ok");
            sequences.insert(sequence.parse::<u64>().unwrap());
        }
    }
    assert_eq!(sequences.len(), 1000);
    let report = check(&log);
    assert!(
        report.is_valid() && report.warnings.is_empty(),
        "{report:#?}"
    );
    // Each process also wrote `log_opened`.
    assert_eq!((report.events, report.last_sequence), (1004, Some(1003)));
}

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged() {
    for round in 0..20 {
        let (_directory, log) = directory();
        let mut writer = start(&log, 1_000_000);
        let mut reader = BufReader::new(writer.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("ok ") {
            line.clear();
            assert_ne!(
                reader.read_line(&mut line).unwrap(),
                0,
                "the writer stopped"
            );
        }
        std::thread::sleep(Duration::from_micros(round * 1371));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let rest: Vec<String> = reader.lines().map_while(Result::ok).collect();
        let acknowledged = rest
            .iter()
            .rfind(|line| line.starts_with("ok "))
            .unwrap_or(&line);
        let acknowledged: u64 = acknowledged.split(' ').nth(1).unwrap().parse().unwrap();
        let report = check(&log);
        assert!(report.is_valid(), "{report:#?}");
        assert!(report.last_sequence.unwrap() >= acknowledged);
        // The next host continues.
        open(&log).emit(&event("next")).unwrap();
        let after = check(&log);
        assert!(after.is_valid() && after.warnings.is_empty(), "{after:#?}");
        assert!(after.last_sequence.unwrap() >= report.last_sequence.unwrap() + 2);
    }
}

/// Runs the writer under `strace` with one injected failure.
fn under_strace(log: &Path, inject: &str) -> Vec<(String, String, u64)> {
    let found = Command::new("strace").arg("--version").output();
    assert!(
        found.is_ok(),
        "this test needs strace: apt-get install strace"
    );
    let trace = log.with_extension("trace");
    let path = log.to_str().unwrap();
    let inject = format!("inject={inject}");
    let strace = [
        "strace",
        "-f",
        "-o",
        trace.to_str().unwrap(),
        "-P",
        path,
        "-e",
        "trace=write,fdatasync",
        "-e",
        &inject,
    ];
    let output = command(&strace, log, 4).output().unwrap();
    let lines = lines(&output);
    let trace = std::fs::read_to_string(&trace).unwrap();
    assert!(trace.contains("INJECTED"), "nothing was injected: {trace}");
    lines
}

/// A failed event leaves the file as it was and the next one says what was lost.
fn assert_recovered(log: &Path, lines: &[(String, String, u64)]) {
    let words: Vec<&str> = lines.iter().map(|(word, _, _)| word.as_str()).collect();
    assert_eq!(words, ["ok", "failed", "ok", "ok"]);
    assert_eq!(lines[1].1, "shell.audit_write_failed");
    assert_eq!(
        lines[1].2, lines[0].2,
        "the file was not cut back to the acknowledged length"
    );
    let report = check(log);
    assert!(
        report.is_valid() && report.warnings.is_empty(),
        "{report:#?}"
    );
    let text = std::fs::read_to_string(log).unwrap();
    assert_eq!(
        text.matches("\"event\":\"audit_recovered\",\"lost_events\":1,")
            .count(),
        1
    );
    assert_eq!(text.matches("\"event\":\"finished\"").count(), 3);
}

#[test]
fn a_failed_flush_is_cut_back_and_reported() {
    let (_directory, log) = directory();
    // The first flush is that of `log_opened`.
    let lines = under_strace(&log, "fdatasync:error=EIO:when=3");
    assert_recovered(&log, &lines);
}

#[test]
fn a_full_disk_is_reported() {
    let (_directory, log) = directory();
    let lines = under_strace(&log, "write:error=ENOSPC:when=3");
    assert_recovered(&log, &lines);
}

#[test]
fn a_short_write_is_cut_back() {
    let (_directory, log) = directory();
    // A file size limit inside the next line: the write is short, the one after it fails.
    let shell = [
        "bash",
        "-c",
        "trap '' XFSZ; ulimit -f 1; exec \"$@\"",
        "bash",
    ];
    let output = command(&shell, &log, 6).output().unwrap();
    let lines = lines(&output);
    let written = lines.iter().filter(|(word, _, _)| word == "ok").count();
    assert!((1..6).contains(&written), "{lines:?}");
    assert!(
        lines
            .iter()
            .any(|(word, code, _)| word == "failed" && code == "shell.audit_write_failed")
    );
    let length = lines.last().unwrap().2;
    assert!(
        length < 1024 && std::fs::metadata(&log).unwrap().len() == length,
        "{lines:?}"
    );
    let report = check(&log);
    assert!(
        report.is_valid() && report.warnings.is_empty(),
        "{report:#?}"
    );
    assert_eq!(report.events, written as u64 + 1);
}
