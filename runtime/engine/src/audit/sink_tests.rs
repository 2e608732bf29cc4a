#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::super::command::{CommandContext, CommandFacts};
use super::super::event::*;
use super::super::head::{Head, head_path};
use super::super::schema::EVENTS;
use super::super::strict_json::Json;
use super::super::validate::{
    Anchor, SessionAnchor, ValidationOptions, ValidationReport, validate,
};
use super::*;
use crate::output::{ExitStatus, RedactorBuilder, SecretBytes};

const SECRET: &str = "tok-4f9a\"77c1";

fn key() -> Arc<IntegrityKey> {
    Arc::new(IntegrityKey::from_bytes([7; 32]))
}

fn redactor() -> Redactor {
    let mut builder = RedactorBuilder::new("[REDACTED]");
    builder
        .register("test", &SecretBytes::new(SECRET.as_bytes().to_vec()))
        .unwrap();
    builder.build().unwrap().0
}

fn options(target: Target, content: AuditContent) -> SinkOptions {
    SinkOptions {
        target,
        content,
        session_id: Some("s1".into()),
        manifest_sha256: Some("ab".repeat(32)),
        redactor: redactor(),
        key: Some(key()),
    }
}

fn open(path: &Path) -> Result<(AuditSink, Vec<AuditWarning>), AuditError> {
    AuditSink::open(options(
        Target::jsonl(path.to_owned()),
        AuditContent::Redacted,
    ))
}

fn check(path: &Path) -> ValidationReport {
    let key = key();
    validate(
        path,
        ValidationOptions {
            key: Some(&key),
            ..Default::default()
        },
    )
    .unwrap()
}

fn codes(report: &ValidationReport) -> Vec<&str> {
    report.errors.iter().map(|error| error.code).collect()
}

fn finished() -> Event {
    Event::request(
        "main",
        "shell-0",
        EventBody::Finished {
            status: ExitStatus::Exited(0),
        },
    )
}

fn names(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = |line: &str| {
        Json::parse(line.as_bytes()).map(|json| match json {
            Json::Object(members) => members
                .into_iter()
                .find(|(name, _)| name == "event")
                .unwrap()
                .1
                .as_text()
                .unwrap()
                .to_owned(),
            _ => String::new(),
        })
    };
    text.lines().map(|line| name(line).unwrap()).collect()
}

/// One of each body; every text holds the secret.
fn bodies() -> Vec<EventBody> {
    let text = || format!("a {SECRET} \u{1b}[1mb");
    let some = || Some(text());
    vec![
        EventBody::ManifestAuthorized {
            authorization: Authorization::Process,
            grant_id: None,
            signature_key_id: some(),
            trusted_source_ids: vec![text()],
            admin_policy_sha256: None,
        },
        EventBody::ManifestRejected {
            code: "shell.manifest_rejected".into(),
            reason: text(),
        },
        EventBody::RuntimeStarted {
            backend_names: vec![text()],
            confinement: "verified".into(),
            tool_count: 2,
        },
        EventBody::RuntimeStopped { cause: text() },
        EventBody::RequestReceived {
            tool_name: text(),
            origin: "tool".into(),
            stdin_kind: "empty",
            stdin_bytes: 0,
            stdin_sha256: None,
        },
        EventBody::Resolved {
            executable_sha256: "cd".repeat(32),
            trusted: true,
            command_index: 0,
            rewrite_depth: 0,
            analyzers: vec![(text(), text())],
        },
        EventBody::PolicyDecided {
            action: "allow",
            matches: vec![text()],
            reason: some(),
        },
        EventBody::ExtensionInvoked {
            extension_id: text(),
            extension_kind: text(),
            mechanism: Mechanism::Executable,
            hook_request_id: None,
        },
        EventBody::ExtensionCompleted {
            extension_id: text(),
            outcome: text(),
            code: None,
            latency_ms: 1,
            diagnostic: some(),
        },
        EventBody::Intercepted {
            interceptor: text(),
            action: InterceptAction::Rewrite,
            rewrite_depth: 1,
            previous_command_sha256: Some("ef".repeat(32)),
        },
        EventBody::ApprovalRequested {
            offered_scopes: vec!["once"],
            rationale: some(),
        },
        EventBody::ReviewerCompleted {
            reviewer_id: some(),
            reviewer_kind: text(),
            model: some(),
            response_action: text(),
            input_tokens: Some(1),
            output_tokens: None,
            latency_ms: 1,
            reason: some(),
            prompt: some(),
            response: some(),
        },
        EventBody::ApprovalAnswered {
            answer: AnswerKind::Deny,
            reviewer_id: some(),
            scope: None,
            expires_at: None,
            grant_id: None,
        },
        EventBody::GrantCreated {
            grant_id: "0".repeat(32),
            scope: "once",
            expires_at_ns: None,
            store: text(),
        },
        EventBody::PlanCreated {
            backend: text(),
            confinement: text(),
        },
        EventBody::Started {
            backend: text(),
            pid: Some(1),
        },
        EventBody::Output {
            channel: Channel::Stdout,
            bytes: 1,
            last: true,
        },
        EventBody::Finished {
            status: ExitStatus::Signaled(9),
        },
        EventBody::Terminated {
            kind: TerminationKind::TimedOut(1500),
        },
        EventBody::Rejected {
            code: "denied".into(),
            stage: RejectStage::Verification,
            subject: Some("target"),
            reason: text(),
        },
        EventBody::RequestCompleted {
            outcome: CompletionOutcome::Result,
            code: None,
            commands: 1,
            stdout_bytes: 1,
            stderr_bytes: 0,
            duration_ms: 1,
            stdout: some(),
            stderr: some(),
        },
        EventBody::RequestInterrupted {
            last_event: text(),
            interrupted_sequence: 1,
        },
        EventBody::GrantRevoked {
            grant_id: "0".repeat(32),
            scope: "once",
            reason: text(),
        },
        EventBody::ManifestGrantCreated {
            grant_id: "0".repeat(32),
            reason: some(),
        },
        EventBody::ManifestGrantRevoked {
            grant_id: "0".repeat(32),
            reason: text(),
        },
        EventBody::LogRecovered {
            discarded_bytes: 1,
            discarded_sha256: "ab".repeat(32),
            last_valid_sequence: None,
        },
        EventBody::AuditRecovered {
            lost_events: 1,
            first_failure_micros: 1_500_000,
        },
    ]
}

fn command() -> Arc<CommandFacts> {
    Arc::new(CommandFacts::new(
        &redactor(),
        &CommandContext {
            request_kind: "structured",
            argv: &[b"curl".to_vec(), format!("-p{SECRET}").into_bytes()],
            cwd: format!("/srv/{SECRET}").as_bytes(),
            executable: Some(b"/usr/bin/curl"),
            effects: &["read_path", "network", "read_path"],
            effect_details: &[format!("read:/srv/{SECRET}")],
            display: None,
        },
    ))
}

#[test]
fn every_event_has_its_members_at_every_level_and_no_secret() {
    for content in [
        AuditContent::Metadata,
        AuditContent::Redacted,
        AuditContent::Full,
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.jsonl");
        let (sink, _) = AuditSink::open(options(Target::jsonl(path.clone()), content)).unwrap();
        for body in bodies() {
            sink.emit(
                &Event::request("main", "shell-0", body)
                    .with_command(&command())
                    .with_plan("plan-0"),
            )
            .unwrap();
        }
        let mut seen = names(&path);
        seen.sort();
        let mut all: Vec<&str> = EVENTS.iter().map(|schema| schema.name).collect();
        all.sort_unstable();
        assert_eq!(seen, all);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            !text.contains("4f9a") && !text.contains("\\u001b"),
            "{text}"
        );
        let level = Level::of(content);
        assert_eq!(
            text.contains("\"command\":\"curl '-p[REDACTED]'\""),
            level >= Level::Redacted
        );
        assert_eq!(
            text.contains("\"argv\":[\"curl\",\"-p[REDACTED]\"]"),
            level == Level::Full
        );
        assert_eq!(text.contains("\"policy_reason\""), level >= Level::Redacted);
        assert_eq!(text.contains("\"prompt\""), level == Level::Full);
        assert!(text.contains("\"command_redacted\":true,\"cwd_sha256\""));
        assert!(text.contains("\"effects\":[\"network\",\"read_path\"]"));
        assert!(
            text.contains("\"timeout_seconds\":1.500")
                && text.contains("\"first_failure_timestamp\":1.500000")
        );
        let report = check(&path);
        assert!(
            report.is_valid() && report.anchor == Anchor::Head,
            "{report:#?}"
        );
        assert_eq!(report.events, bodies().len() as u64 + 1);
        for name in text.lines().flat_map(member_names) {
            let known = EVENTS
                .iter()
                .flat_map(|schema| schema.fields)
                .any(|(field, _)| *field == name);
            assert!(
                known
                    || super::super::schema::COMMAND
                        .iter()
                        .any(|(field, _)| *field == name),
                "{name}"
            );
        }
    }
}

/// Members behind the envelope and before the digests.
fn member_names(line: &str) -> Vec<String> {
    let Ok(Json::Object(members)) = Json::parse(line.as_bytes()) else {
        panic!("{line}");
    };
    let count = members.len();
    members
        .into_iter()
        .map(|(name, _)| name)
        .take(count - 2)
        .skip(9)
        .collect()
}

#[test]
fn a_line_is_at_most_one_mebibyte() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let (sink, _) =
        AuditSink::open(options(Target::jsonl(path.clone()), AuditContent::Full)).unwrap();
    let argv: Vec<Vec<u8>> = (0..40_000)
        .map(|n| format!("argument-{n}-with-some-length").into_bytes())
        .collect();
    let facts = CommandFacts::new(
        &redactor(),
        &CommandContext {
            request_kind: "structured",
            argv: &argv,
            cwd: b"/",
            executable: None,
            effects: &[],
            effect_details: &[],
            display: None,
        },
    );
    let body = EventBody::Rejected {
        code: "denied".into(),
        stage: RejectStage::Policy,
        subject: None,
        reason: "\n".repeat(900_000),
    };
    sink.emit(&Event::request("main", "shell-0", body).with_command(&Arc::new(facts)))
        .unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let line = text.lines().last().unwrap();
    assert!(line.len() < 1024 * 1024);
    assert!(
        line.contains("\"argv\":[\"<truncated ")
            && line.contains("\"reason\":\"<truncated 900000 bytes>\"")
    );
    assert!(check(&path).is_valid());
}

#[test]
fn rotation_continues_the_chain() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let target = Target::File {
        path: path.clone(),
        rotation: Some(Rotation {
            max_bytes: 2000,
            files: 3,
        }),
    };
    let (sink, _) = AuditSink::open(options(target, AuditContent::Redacted)).unwrap();
    for _ in 0..4 {
        sink.emit(&finished()).unwrap();
    }
    assert!(check(&path).is_valid() && check(&path).window_start().is_none());
    for _ in 0..40 {
        sink.emit(&finished()).unwrap();
    }
    let report = check(&path);
    assert!(report.is_valid(), "{report:#?}");
    assert_eq!(report.last_sequence, Some(44));
    assert!(report.window_start().is_some_and(|first| first > 0));
    assert!(
        directory.path().join("log.jsonl.3").exists()
            && !directory.path().join("log.jsonl.4").exists()
    );
    // A crash between the two steps of a rotation.
    drop(sink);
    for (from, to) in [
        ("log.jsonl.2", "log.jsonl.3"),
        ("log.jsonl.1", "log.jsonl.2"),
        ("log.jsonl", "log.jsonl.1"),
    ] {
        std::fs::rename(directory.path().join(from), directory.path().join(to)).unwrap();
    }
    let (sink, _) = open(&path).unwrap();
    assert_eq!(sink.last().unwrap().sequence, 45);
    assert!(check(&path).is_valid());
    let zero = Target::File {
        path,
        rotation: Some(Rotation {
            max_bytes: 0,
            files: 3,
        }),
    };
    let error = AuditSink::open(options(zero, AuditContent::Redacted)).unwrap_err();
    assert_eq!(error.code, "shell.audit_rotation_invalid");
}

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
    for content in [without_last, b""] {
        std::fs::write(&path, content).unwrap();
        assert_eq!(codes(&check(&path)), ["shell.audit_truncated"]);
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
    assert_eq!(
        plain.summary(),
        ["valid audit log: 2 events", "tail not provable"]
    );
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
    assert!(
        report
            .summary()
            .contains(&"head record not used: the head record is not authentic".to_owned())
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
    // Somebody moves the whole log away: the next event starts a new one.
    std::fs::rename(&path, directory.path().join("old")).unwrap();
    std::fs::rename(head_path(&path), directory.path().join("old.head")).unwrap();
    one.emit(&finished()).unwrap();
    assert_eq!(one.last().unwrap().sequence, 0);
    assert!(check(&path).is_valid() && check(&directory.path().join("old")).is_valid());
}

#[test]
fn a_writer_that_ignores_the_lock_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let log = small(&path);
    let mut stream = StreamFile::new(path.clone(), None, None).unwrap();
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
    let lock = super::super::secure_file::LockFile::of(&path).unwrap();
    let held = lock.lock().unwrap();
    let writer = std::thread::spawn(move || sink.emit(&finished()).unwrap().unwrap().sequence);
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(!writer.is_finished());
    drop(held);
    assert_eq!(writer.join().unwrap(), 1);
}

#[test]
fn no_sink_writes_nothing() {
    let (sink, _) = AuditSink::open(options(Target::None, AuditContent::Full)).unwrap();
    assert_eq!(sink.emit(&finished()), Ok(None));
    assert_eq!(sink.last(), None);
}

#[test]
fn timeline_and_request() {
    use super::super::replay::{Refused, ReplayOptions, replay};
    use super::super::request::reconstruct;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let (sink, _) = open(&path).unwrap();
    let id = "shell-0123456789abcdef0123456789abcdef";
    let bodies = [
        EventBody::RequestReceived {
            tool_name: "t\u{7f}".into(),
            origin: "tool".into(),
            stdin_kind: "empty",
            stdin_bytes: 0,
            stdin_sha256: None,
        },
        EventBody::Output {
            channel: Channel::Stdout,
            bytes: 3,
            last: false,
        },
        EventBody::Output {
            channel: Channel::Stdout,
            bytes: 4,
            last: true,
        },
        EventBody::Finished {
            status: ExitStatus::Exited(-1),
        },
    ];
    for body in bodies {
        sink.emit(&Event::request("main", id, body).with_command(&command()))
            .unwrap();
    }
    let lines = |options: &ReplayOptions| {
        let mut lines = Vec::new();
        replay(&path, ValidationOptions::default(), options, |line| {
            lines.push(line.to_owned())
        })
        .map(|()| lines)
    };
    let all = lines(&ReplayOptions::default()).unwrap();
    assert_eq!(all.len(), 5);
    assert!(
        all[1].starts_with("1  ")
            && all[1].ends_with(&format!("  request_received      request={id}")),
        "{}",
        all[1]
    );
    let some = lines(&ReplayOptions {
        since: Some(2),
        until: Some(3),
        wide: true,
        ..Default::default()
    })
    .unwrap();
    assert_eq!(some.len(), 2);
    assert!(
        some[1].ends_with(" channel=\"stdout\" bytes=4 final=true"),
        "{}",
        some[1]
    );
    let (report, _) =
        reconstruct(&path, ValidationOptions::default(), "shell-01234567", false).unwrap();
    assert_eq!(
        (
            report.request_id.as_str(),
            report.stdout_bytes,
            report.exit_code,
            report.completed
        ),
        (id, 7, Some(-1), false)
    );
    assert!(report.lines().contains(&"result: <unfinished>".to_owned()));
    let short = reconstruct(&path, ValidationOptions::default(), "shell-0123", false);
    assert!(
        matches!(short, Err(Refused::RequestNotFound(finding)) if finding.code == "shell.audit_request_not_found")
    );
    // A changed log is refused, or shown behind a warning.
    let changed = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\"bytes\":3", "\"bytes\":1");
    std::fs::write(&path, changed).unwrap();
    assert!(matches!(
        lines(&ReplayOptions::default()),
        Err(Refused::Invalid(_))
    ));
    let shown = lines(&ReplayOptions {
        allow_invalid: true,
        ..Default::default()
    })
    .unwrap();
    assert_eq!((shown.len(), shown[0].starts_with("warning: ")), (6, true));
}
