#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use super::super::command::{CommandContext, CommandFacts};
use super::super::event::*;
use super::super::schema::EVENTS;
use super::super::validate::{Anchor, ValidationOptions, ValidationReport, validate};
use super::*;
use crate::output::{ExitStatus, RedactorBuilder, SecretBytes};
use chatmd_policy::strict_json::Json;

const SECRET: &str = "tok-4f9a\"77c1";

pub(crate) fn key() -> Arc<IntegrityKey> {
    Arc::new(IntegrityKey::from_bytes([7; 32]))
}

pub(crate) fn redactor() -> Redactor {
    let mut builder = RedactorBuilder::new("[REDACTED]");
    builder
        .register("test", &SecretBytes::new(SECRET.as_bytes().to_vec()))
        .unwrap();
    builder.build().unwrap().0
}

pub(crate) fn options(target: Target, content: AuditContent) -> SinkOptions {
    SinkOptions {
        target,
        content,
        session_id: Some("s1".into()),
        manifest_sha256: Some("ab".repeat(32)),
        redactor: redactor(),
        key: Some(key()),
        anchors: None,
    }
}

pub(crate) fn open(path: &Path) -> Result<(AuditSink, Vec<AuditWarning>), AuditError> {
    AuditSink::open(options(
        Target::jsonl(path.to_owned()),
        AuditContent::Redacted,
    ))
}

pub(crate) fn check(path: &Path) -> ValidationReport {
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

pub(crate) fn codes(report: &ValidationReport) -> Vec<&str> {
    report.errors.iter().map(|error| error.code).collect()
}

pub(crate) fn finished() -> Event {
    Event::request(
        "main",
        "shell-0",
        EventBody::Finished {
            status: ExitStatus::Exited(0),
        },
    )
}

pub(crate) fn names(path: &Path) -> Vec<String> {
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
            created_roots: vec![text()],
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
            !text.contains("tok-4f9a") && !text.contains("\\u001b"),
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
