#![allow(clippy::unwrap_used, clippy::expect_used)]

//! The file behind a sink: damage, removal, unsafe files, other writers.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use chatmd_compiler::manifest::AuditContent;

use super::AuditSink;
use super::head::{Head, head_path};
use super::key::IntegrityKey;
use super::line::{Chain, Envelope, encode};
use super::schema::Level;
use super::sink::tests::{check, codes, finished, names, open, redactor};
use super::stream_file::StreamFile;
use super::tail::Last;
use super::validate::{Anchor, SessionAnchor, ValidationOptions, validate};

/// A log of three events, with the sink closed.
fn small(path: &Path) -> Vec<u8> {
    let (sink, _) = open(path).unwrap();
    sink.emit(&finished()).unwrap();
    sink.emit(&finished()).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn an_interrupted_write_is_set_aside() {
    for torn in [
        "{\"schema_version\":\"chat",
        "{\"schema_version\":\"chat\n",
        "\u{0}\u{0}\n",
        "{\"sequence\":3}\n",
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.jsonl");
        let before = small(&path);
        std::fs::write(&path, [&before, torn.as_bytes()].concat()).unwrap();
        let (sink, _) = open(&path).unwrap();
        sink.emit(&finished()).unwrap();
        assert_eq!(
            names(&path)[3..],
            ["log_recovered", "log_opened", "finished"],
            "{torn:?}"
        );
        let report = check(&path);
        assert!(
            report.is_valid() && report.warnings.is_empty(),
            "{torn:?} {report:#?}"
        );
        let aside = std::fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let aside = aside
            .into_iter()
            .find(|path| path.to_str().unwrap().contains(".torn-"))
            .unwrap();
        assert_eq!(std::fs::read(aside).unwrap(), torn.as_bytes());
    }
    // Even the first line.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    std::fs::write(&path, "{\"sche").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    open(&path).unwrap();
    assert_eq!(names(&path), ["log_recovered", "log_opened"]);
    assert!(check(&path).is_valid());
}

#[test]
fn a_damaged_end_is_not_continued() {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    type Damage = fn(String) -> String;
    let cases: [(&str, Damage); 6] = [
        ("shell.audit_chain_invalid_tail", |log| {
            format!("{log}garbage\ngarbage\n")
        }),
        ("shell.audit_chain_invalid_tail", |log| {
            log.replacen("exited", "exitEd", 2)
        }),
        ("shell.audit_chain_invalid_tail", |log| {
            format!("{log}garbage\n{}", "x".repeat(10))
        }),
        ("shell.audit_chain_missing_digest", |log| {
            let at = log.rfind(",\"previous_event").unwrap();
            format!("{}}}\n", &log[..at])
        }),
        ("shell.audit_sequence_missing", |log| {
            format!("{log}{{\"timestamp\":1}}\n")
        }),
        ("shell.audit_sequence_invalid_tail", |log| {
            format!("{log}{{\"sequence\":-1}}\n")
        }),
    ];
    for (code, damage) in cases {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.jsonl");
        let damaged = damage(text(&small(&path)));
        std::fs::write(&path, &damaged).unwrap();
        assert_eq!(open(&path).unwrap_err().code, code);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
    }
}

#[test]
fn removed_events_are_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let log = small(&path);
    let without_last = &log[..log[..log.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1];
    let torn = [without_last, b"{\"sche"].concat();
    for content in [without_last, b"", &torn] {
        std::fs::write(&path, content).unwrap();
        assert_eq!(codes(&check(&path)), ["shell.audit_truncated"]);
        // Refused, and left as it was found.
        assert_eq!(
            open(&path).err().map(|error| error.code),
            Some("shell.audit_chain_invalid_tail")
        );
        assert_eq!(std::fs::read(&path).unwrap(), content);
        assert_eq!(
            open(&path).unwrap_err().code,
            "shell.audit_chain_invalid_tail"
        );
    }
    // The session state alone is an anchor too.
    std::fs::write(&path, without_last).unwrap();
    std::fs::remove_file(head_path(&path)).unwrap();
    let plain = validate(&path, ValidationOptions::default()).unwrap();
    assert!(plain.is_valid());
    let summary = plain.summary();
    let [count, tail] = summary.as_slice() else {
        panic!("{summary:?}")
    };
    assert_eq!(count, "valid audit log: 2 events");
    for part in [
        "tail not provable: ",
        "up to event 1",
        "no head record beside the log",
        "integrity key",
        "compare event 1 with a copy",
    ] {
        assert!(tail.contains(part), "{part}: {tail}");
    }
    for (sequence, digest, expected) in [
        (2, None, vec!["shell.audit_truncated"]),
        (1, Some("00".repeat(32)), vec!["shell.audit_head_mismatch"]),
        (1, plain.last_event_sha256.clone(), vec![]),
    ] {
        let session = SessionAnchor {
            sequence,
            event_sha256: digest,
        };
        let report = validate(
            &path,
            ValidationOptions {
                session: Some(&session),
                ..Default::default()
            },
        )
        .unwrap();
        assert_eq!((codes(&report), report.anchor), (expected, Anchor::Session));
    }
}

#[test]
fn every_byte_of_every_event_counts() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let log = small(&path);
    for at in 0..log.len() {
        for new in [log[at] ^ 1, log[at] ^ 0x20, b'\n', b' ', 0xFF] {
            if new == log[at] {
                continue;
            }
            let mut changed = log.clone();
            changed[at] = new;
            std::fs::write(&path, &changed).unwrap();
            assert!(!check(&path).is_valid(), "byte {at} of {}", log.len());
        }
    }
}

#[test]
fn a_head_that_can_not_be_written_is_told() {
    for blocked in ["directory", "link", "hard link"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.jsonl");
        let other = directory.path().join("other");
        std::fs::write(&other, "mine").unwrap();
        match blocked {
            "directory" => std::fs::create_dir(head_path(&path)).unwrap(),
            "link" => symlink(&other, head_path(&path)).unwrap(),
            _ => std::fs::hard_link(&other, head_path(&path)).unwrap(),
        }
        let (sink, warnings) = open(&path).unwrap();
        assert_eq!(warnings.len(), 1, "{blocked}");
        assert!(
            warnings[0].message.contains("log.jsonl.head"),
            "{warnings:?}"
        );
        sink.emit(&finished()).unwrap();
        assert_eq!(sink.take_warnings(), warnings, "{blocked}");
        assert_eq!(std::fs::read(&other).unwrap(), b"mine", "{blocked}");
        assert!(check(&path).is_valid());
    }
}

#[test]
fn a_forged_head_is_not_an_anchor() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    small(&path);
    let forged = Head {
        sequence: 99,
        event_sha256: "0".repeat(64),
    }
    .encode(&IntegrityKey::from_bytes([8; 32]));
    std::fs::write(head_path(&path), forged).unwrap();
    let report = check(&path);
    assert!(report.is_valid() && !report.tail_provable());
    let summary = report.summary();
    assert!(
        summary
            .iter()
            .any(|line| line.starts_with("tail not provable")
                && line.contains("because the head record is not authentic; ")),
        "{summary:?}"
    );
    let without_key = validate(&path, ValidationOptions::default()).unwrap();
    let summary = without_key.summary();
    assert!(
        summary.iter().any(|line| line.contains("--state-dir")),
        "{summary:?}"
    );
    open(&path).unwrap();
    assert!(check(&path).tail_provable());
}

#[test]
fn unsafe_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("real"), "").unwrap();
    symlink(at("real"), at("link")).unwrap();
    std::fs::write(at("hard"), "").unwrap();
    std::fs::hard_link(at("hard"), at("hard2")).unwrap();
    std::fs::write(at("writable"), "").unwrap();
    std::fs::set_permissions(at("writable"), PermissionsExt::from_mode(0o620)).unwrap();
    nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    for name in ["link", "hard", "writable", "fifo"] {
        assert_eq!(
            open(&at(name)).unwrap_err().code,
            "shell.state_insecure_file",
            "{name}"
        );
    }
    std::fs::create_dir(at("dir")).unwrap();
    assert_eq!(
        open(&at("dir")).unwrap_err().code,
        "shell.audit_open_failed"
    );
    std::fs::write(at("readable"), "").unwrap();
    std::fs::set_permissions(at("readable"), PermissionsExt::from_mode(0o644)).unwrap();
    let (_, warnings) = open(&at("readable")).unwrap();
    assert_eq!(warnings[0].code, "shell.state_permissions_repaired");
    let mode = |name: &str| std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("readable"), 0o600);
    // Missing parents are created private; so are all files.
    open(&at("a/b/log")).unwrap();
    assert_eq!(
        [
            mode("a"),
            mode("a/b"),
            mode("a/b/log"),
            mode("a/b/log.lock"),
            mode("a/b/log.head")
        ],
        [0o700, 0o700, 0o600, 0o600, 0o600]
    );
}

#[test]
fn the_key_is_created_once_and_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state/integrity.key");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || {
                IntegrityKey::load_or_create(&path)
                    .unwrap()
                    .hmac_hex(&[b"x"])
            })
        })
        .collect();
    let mut made: Vec<String> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    made.dedup();
    assert_eq!(made.len(), 1);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!((text.len(), text.ends_with("=\n")), (45, true));
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    assert!(IntegrityKey::load(&path).is_err());
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::write(&path, "AAAA\n").unwrap();
    assert!(IntegrityKey::load(&path).is_err());
    assert!(
        IntegrityKey::load(&directory.path().join("none"))
            .unwrap()
            .is_none()
    );
}

#[test]
fn renaming_and_two_writers_are_followed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let (one, _) = open(&path).unwrap();
    let (two, _) = open(&path).unwrap();
    for _ in 0..10 {
        one.emit(&finished()).unwrap();
        two.emit(&finished()).unwrap();
    }
    assert_eq!(two.last().unwrap().sequence, 21);
}

/// Whatever happens to the files of a log that is being written: its host says so, and what follows
/// never passes for a whole log.
#[test]
fn a_log_that_vanishes_is_continued_and_never_looks_whole() {
    type Attack = fn(&Path);
    let attacks: [(&str, Attack); 4] = [
        ("removed with its head", |path| {
            std::fs::remove_file(path).unwrap();
            std::fs::remove_file(head_path(path)).unwrap();
        }),
        ("removed", |path| std::fs::remove_file(path).unwrap()),
        ("emptied", |path| {
            std::fs::remove_file(head_path(path)).unwrap();
            std::fs::write(path, "").unwrap();
        }),
        ("folder exchanged", |path| {
            let folder = path.parent().unwrap();
            std::fs::rename(folder, folder.with_file_name("away")).unwrap();
        }),
    ];
    for (name, attack) in attacks {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/log.jsonl");
        let (sink, _) = open(&path).unwrap();
        sink.emit(&finished()).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let digest = sink.last().unwrap().event_sha256;
        attack(&path);
        let error = sink.emit(&finished()).unwrap_err();
        assert_eq!(error.code, "shell.audit_sequence_conflict", "{name}");
        sink.emit(&finished()).unwrap();
        assert_eq!(names(&path), ["log_opened", "audit_recovered", "finished"]);
        let warned = sink.take_warnings();
        assert_eq!(warned.len(), 1, "{name} {warned:?}");
        assert_eq!(warned[0].code, "shell.audit_truncated");
        let report = check(&path);
        assert_eq!(codes(&report), ["shell.audit_truncated"], "{name}");
        assert_eq!(report.first_sequence, Some(2));
        let first = std::fs::read_to_string(&path).unwrap();
        let lost = format!("\"lost_sequence\":1,\"lost_event_sha256\":{digest:?}");
        assert!(
            first.contains(&lost.replace("Some(", "").replace(')', "")),
            "{first}"
        );
        // With the lost file back as the older one the chain is whole.
        std::fs::write(super::secure_file::sibling(&path, ".1"), whole).unwrap();
        assert!(check(&path).is_valid(), "{name}");
    }
}

/// A log may vanish between two runs too, with everything that lies beside it.
#[test]
fn the_state_folder_remembers_a_log_that_was_removed_between_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let anchors = directory.path().join("state/heads");
    let start = || {
        let target = super::sink::Target::jsonl(path.clone());
        let mut options = super::sink::tests::options(target, AuditContent::Redacted);
        options.anchors = Some(anchors.clone());
        AuditSink::open(options)
    };
    let key = super::sink::tests::key();
    let with_anchors = || {
        let options = ValidationOptions {
            key: Some(&key),
            anchors: Some(&anchors),
            ..Default::default()
        };
        validate(&path, options).unwrap()
    };
    start().unwrap().0.emit(&finished()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    assert!(with_anchors().is_valid() && with_anchors().tail_provable());
    std::fs::remove_file(head_path(&path)).unwrap();
    assert!(with_anchors().tail_provable());
    // The newest event and the head beside the log are gone.
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    std::fs::write(&path, &whole[..first]).unwrap();
    assert_eq!(codes(&with_anchors()), ["shell.audit_truncated"]);
    assert_eq!(start().unwrap_err().code, "shell.audit_chain_invalid_tail");
    // All of it is.
    std::fs::remove_file(&path).unwrap();
    let (sink, warnings) = start().unwrap();
    assert_eq!(warnings[0].code, "shell.audit_truncated");
    assert_eq!(sink.last().unwrap().sequence, 2);
    assert_eq!(codes(&with_anchors()), ["shell.audit_truncated"]);
}

/// The folder of a log may be a link that a command can turn elsewhere.
#[test]
fn a_link_that_is_turned_does_not_make_a_new_log() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("one")).unwrap();
    std::fs::create_dir(at("two")).unwrap();
    symlink("one", at("logs")).unwrap();
    let path = at("logs/log.jsonl");
    let start = || {
        let target = super::sink::Target::jsonl(path.clone());
        let mut options = super::sink::tests::options(target, AuditContent::Redacted);
        options.anchors = Some(at("heads"));
        AuditSink::open(options)
    };
    let (sink, _) = start().unwrap();
    sink.emit(&finished()).unwrap();
    std::fs::remove_file(at("logs")).unwrap();
    symlink("two", at("logs")).unwrap();
    // The host that runs goes on in its own place.
    sink.emit(&finished()).unwrap();
    assert!(check(&at("one/log.jsonl")).is_valid());
    assert!(!at("two/log.jsonl").exists());
    // The next one knows what stood under that name.
    let (next, warnings) = start().unwrap();
    assert_eq!(warnings[0].code, "shell.audit_truncated");
    assert_eq!(next.last().unwrap().sequence, 3);
    assert_eq!(codes(&check(&path)), ["shell.audit_truncated"]);
}

#[test]
fn log_opened_tells_whether_it_continues_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    open(&path).unwrap();
    open(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let told: Vec<_> = text
        .lines()
        .map(|line| line.contains("\"continues_file\":true"))
        .collect();
    assert_eq!(told, [false, true]);
}

/// An empty older file only keeps the name from being taken.
#[test]
fn an_empty_older_file_ends_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let at = |suffix: &str| super::secure_file::sibling(&path, suffix);
    std::fs::write(at(".1"), "").unwrap();
    std::fs::write(at(".2"), "junk\n").unwrap();
    std::fs::set_permissions(at(".1"), PermissionsExt::from_mode(0o600)).unwrap();
    open(&path).unwrap();
    assert!(check(&path).is_valid());
    std::fs::write(at(".1"), "junk\n").unwrap();
    assert!(!check(&path).is_valid());
}

#[test]
fn a_writer_that_ignores_the_lock_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let log = small(&path);
    let mut stream = StreamFile::new(path.clone(), None, None, None).unwrap();
    let mut appender = stream.begin().unwrap();
    std::fs::write(&path, [&log[..], b"x"].concat()).unwrap();
    let last = Last {
        sequence: 3,
        event_sha256: "0".repeat(64),
    };
    assert_eq!(
        appender.append(b"{}\n", last).unwrap_err().code,
        "shell.audit_sequence_conflict"
    );
    assert_eq!(std::fs::read(&path).unwrap().len(), log.len() + 1);
}

#[test]
fn the_sequence_has_an_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let event = finished();
    let envelope = Envelope {
        sequence: (1 << 53) - 1,
        micros: 1,
        session_id: None,
        runtime_id: "main",
        manifest_sha256: "none",
        request_id: "audit:0",
        plan_id: None,
        event: "finished",
    };
    let mut members = event.body.fields().1;
    let line = encode(
        &envelope,
        &mut members,
        Level::Full,
        Chain::After(Some("00")),
        &redactor(),
    );
    std::fs::write(&path, line.bytes).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(
        open(&path).unwrap_err().code,
        "shell.audit_sequence_overflow"
    );
}

#[test]
fn the_lock_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let (sink, _) = open(&path).unwrap();
    let lock = super::secure_file::LockFile::of(&path).unwrap();
    let held = lock.lock().unwrap();
    let writer = std::thread::spawn(move || sink.emit(&finished()).unwrap().unwrap().sequence);
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(!writer.is_finished());
    drop(held);
    assert_eq!(writer.join().unwrap(), 1);
}
