#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::instance::Performance;
use crate::limits::Limits;
use crate::surface::{self, Kind};
use crate::value::data::Data;

fn context() -> ShellContext {
    ShellContext {
        phase: "shell_reviewer".into(),
        request_id: "r".into(),
        runtime_id: "main".into(),
        manifest_sha256: "00".into(),
        argv: vec!["ls".into(), "-l".into()],
        executable: Executable {
            requested: "ls".into(),
            path: "/bin/ls".into(),
            canonical_path: "/usr/bin/ls".into(),
            sha256: "11".into(),
            trusted: true,
        },
        cwd: "/project".into(),
        origin: "tool".into(),
        request_kind: "structured".into(),
        stdin_kind: "empty".into(),
        stdin_sha256: None,
        stdin_bytes: 0,
        script_sha256: Some("22".into()),
        script_preview: None,
        effects: vec!["read:/project".into()],
        capabilities: Capabilities {
            read_roots: vec!["/project".into()],
            write_roots: Vec::new(),
            network: false,
            child_processes: true,
            arbitrary_code: false,
            privilege_change: false,
            sandbox: "required".into(),
        },
        session_id: None,
        policy: Some(Policy {
            action: "ask".into(),
            reason: "why".into(),
            matches: vec![PolicyMatch {
                rule_id: "one".into(),
                action: "ask".into(),
                reason: None,
            }],
        }),
    }
}

fn audit() -> AuditEvent {
    AuditEvent {
        sequence: 12,
        timestamp: 1.5,
        session_id: None,
        runtime_id: "main".into(),
        manifest_sha256: "00".into(),
        request_id: "r".into(),
        plan_id: Some("p".into()),
        event: "started".into(),
        fields: vec![AuditField {
            name: "command".into(),
            value: "ls".into(),
        }],
    }
}

fn result() -> CommandResult {
    CommandResult {
        argv: vec!["ls".into()],
        status_kind: "exited".into(),
        status_code: 0,
        stdout: "out".into(),
        stderr: String::new(),
        stdout_truncated: false,
        stderr_truncated: false,
        intercepted_by: None,
        untrusted_output: true,
    }
}

/// One good record of each kind.
fn samples() -> Vec<(Record, Data)> {
    vec![
        (Record::Context, context().to_data()),
        (Record::Policy, context().policy.unwrap().to_data()),
        (Record::Approval, Approval::Deny("no".into()).to_data()),
        (
            Record::Interceptor,
            Interception::Reject("no".into()).to_data(),
        ),
        (
            Record::Effect,
            EffectResponse::Add(vec!["network".into()]).to_data(),
        ),
        (Record::Result, result().to_data()),
        (Record::ResultResponse, ResultResponse::Keep.to_data()),
        (Record::Audit, audit().to_data()),
        (
            Record::AuditResponse,
            AuditResponse::DropField("x".into()).to_data(),
        ),
    ]
}

fn edit(data: &Data, change: impl FnOnce(&mut std::collections::BTreeMap<String, Data>)) -> Data {
    let mut data = data.clone();
    if let Data::Record(values) = &mut data {
        change(values);
    }
    data
}

fn error(record: Record, data: &Data) -> CodecError {
    decode(record, data, &Limits::default()).unwrap_err()
}

#[test]
fn every_record_has_exactly_its_fields() {
    for (record, good) in samples() {
        decode(record, &good, &Limits::default()).unwrap();
        let root = record.root();
        let Data::Record(values) = &good else {
            unreachable!("a record")
        };
        for label in values.keys() {
            let missing = error(
                record,
                &edit(&good, |values| {
                    values.remove(label);
                }),
            );
            assert_eq!(missing.code, "shell.chatml_codec");
            assert_eq!(missing.path, format!("{root}.{label}"), "{missing}");
            let wrong = error(
                record,
                &edit(&good, |values| {
                    values.insert(label.clone(), Data::Unit);
                }),
            );
            assert_eq!(wrong.path, format!("{root}.{label}"), "{wrong}");
        }
        // Foreign labels come before missing ones and before the version.
        let foreign = edit(&good, |values| {
            values.insert("zz".into(), Data::Unit);
            values.insert("version".into(), Data::string("v0"));
        });
        assert_eq!(error(record, &foreign).path, format!("{root}.zz"));
        let version = edit(&good, |values| {
            values.insert("version".into(), Data::string("v2"));
        });
        assert_eq!(error(record, &version).path, format!("{root}.version"));
        assert_eq!(error(record, &Data::Unit).path, root);
    }
}

#[test]
fn details_of_the_codec() {
    let deep = edit(&context().to_data(), |values| {
        let executable = edit(&values["executable"], |part| {
            part.insert("extra".into(), Data::Unit);
        });
        values.insert("executable".into(), executable);
    });
    assert_eq!(
        error(Record::Context, &deep).path,
        "context.executable.extra"
    );
    let item = edit(&context().to_data(), |values| {
        values.insert(
            "argv".into(),
            Data::Array(vec![Data::string("a"), Data::Int(1)]),
        );
    });
    assert_eq!(error(Record::Context, &item).path, "context.argv[1]");
    let inner = edit(&context().to_data(), |values| {
        values.insert(
            "policy".into(),
            Data::option(Some(Data::record([("version", Data::Unit)]))),
        );
    });
    assert_eq!(error(Record::Context, &inner).path, "context.policy.action");
    for (sequence, fits) in [
        ("0", true),
        ("12", true),
        ("01", false),
        ("+1", false),
        ("", false),
        ("18446744073709551616", false),
    ] {
        let changed = edit(&audit().to_data(), |values| {
            values.insert("sequence".into(), Data::string(sequence));
        });
        assert_eq!(
            decode(Record::Audit, &changed, &Limits::default()).is_ok(),
            fits,
            "{sequence}"
        );
    }
    let mut twice = audit();
    twice.fields.push(twice.fields[0].clone());
    assert_eq!(
        error(Record::Audit, &twice.to_data()).path,
        "audit.fields[1].name"
    );
    let argument = edit(&Approval::Approve.to_data(), |values| {
        values.insert("argument".into(), Data::option(Some(Data::string("x"))));
    });
    assert_eq!(error(Record::Approval, &argument).path, "approval.argument");
    let foreign = edit(&Interception::Continue.to_data(), |values| {
        values.insert("reason".into(), Data::string("x"));
    });
    assert_eq!(
        error(Record::Interceptor, &foreign).path,
        "interceptor.reason"
    );
    let unknown = edit(&ResultResponse::Keep.to_data(), |values| {
        values.insert("action".into(), Data::string("drop"));
    });
    assert_eq!(
        error(Record::ResultResponse, &unknown).path,
        "result_response.action"
    );
    let mut large = result();
    large.stdout = "x".repeat(17_000);
    let found = error(Record::Result, &large.to_data());
    assert_eq!(found.code, "chatml.limit.value");
    assert_eq!(
        found.to_string(),
        "result.stdout: a string is longer than 16384 bytes"
    );
}

#[test]
fn answers_survive_their_record() {
    let limits = Limits::default();
    for answer in [
        Approval::Approve,
        Approval::ApproveFor("once".into()),
        Approval::Deny("r".into()),
        Approval::Rewrite(vec!["a".into()]),
        Approval::Defer,
    ] {
        assert_eq!(
            Approval::from_data(&answer.to_data(), &limits).unwrap(),
            answer
        );
    }
    let (stdout, stderr) = ("o".to_owned(), "e".to_owned());
    for answer in [
        Interception::Continue,
        Interception::Rewrite(vec!["a".into()]),
        Interception::Respond {
            stdout: stdout.clone(),
            stderr: stderr.clone(),
        },
        Interception::Reject("r".into()),
    ] {
        assert_eq!(
            Interception::from_data(&answer.to_data(), &limits).unwrap(),
            answer
        );
    }
    for answer in [
        ResultResponse::Keep,
        ResultResponse::Replace { stdout, stderr },
        ResultResponse::RejectDisclosure("r".into()),
    ] {
        assert_eq!(
            ResultResponse::from_data(&answer.to_data(), &limits).unwrap(),
            answer
        );
    }
    for answer in [
        EffectResponse::Add(vec!["network".into()]),
        EffectResponse::Replace(Vec::new()),
    ] {
        assert_eq!(
            EffectResponse::from_data(&answer.to_data(), &limits).unwrap(),
            answer
        );
    }
    for answer in [
        AuditResponse::Keep,
        AuditResponse::DropField("x".into()),
        AuditResponse::Replace(audit().fields),
    ] {
        assert_eq!(
            AuditResponse::from_data(&answer.to_data(), &limits).unwrap(),
            answer
        );
    }
}

fn act(name: &str, arguments: Vec<Data>) -> Result<Action, String> {
    let operation = surface::builtins()
        .iter()
        .find(|builtin| builtin.qualified == name)
        .unwrap()
        .id;
    let performed = Performance {
        operation,
        arguments,
    };
    decode_action(&performed).map_err(|fault| {
        assert_eq!(fault.code, "chatml.task.invalid_action");
        fault.message
    })
}

#[test]
fn actions_within_their_bounds() {
    let text = |text: &str| vec![Data::string(text)];
    assert_eq!(
        act("Match.yes", text(" \n why\t")).unwrap(),
        Action::Match {
            matches: true,
            reason: "why".into()
        }
    );
    assert_eq!(
        act("Review.approve_for", text("once")).unwrap(),
        Action::Review(Approval::Approve)
    );
    assert_eq!(
        act("Effect.read_path", text("a b")).unwrap(),
        Action::Effect(EffectResponse::Add(vec!["read:a b".into()]))
    );
    assert_eq!(
        act("Effect.network", Vec::new()).unwrap(),
        Action::Effect(EffectResponse::Add(vec!["network".into()]))
    );
    assert_eq!(
        act(
            "Effect.replace",
            vec![Data::strings(["network", "network"])]
        )
        .unwrap(),
        Action::Effect(EffectResponse::Replace(vec!["network".into()]))
    );
    assert_eq!(
        act("Audit.replace", text("{\"command\":\"x\"}")).unwrap(),
        Action::Audit(AuditResponse::Replace(vec![AuditField {
            name: "command".into(),
            value: "x".into()
        }]))
    );
    let long = "x".repeat(4097);
    let many = vec![Data::strings(vec!["a"; 4097])];
    let effects = vec![Data::strings((0..257).map(|n| format!("e{n}")))];
    let members: Vec<String> = (0..65).map(|n| format!("\"f{n}\":\"\"")).collect();
    let bad = [
        ("Match.no", text(" \t\r\n")),
        ("Match.yes", text(&long)),
        ("Match.yes", vec![Data::Int(1)]),
        ("Match.yes", Vec::new()),
        ("Review.approve", text("x")),
        ("Review.approve_for", text("forever")),
        ("Review.deny", text("")),
        ("Review.rewrite", vec![Data::Array(Vec::new())]),
        ("Review.rewrite", vec![Data::strings([""])]),
        ("Review.rewrite", vec![Data::strings(["a", "b\0c"])]),
        ("Intercept.rewrite", many),
        (
            "Intercept.rewrite",
            vec![Data::strings(["a".repeat(131_072)])],
        ),
        ("Intercept.respond", text("x")),
        ("Effect.add", text("")),
        ("Effect.add", text("read:")),
        ("Effect.add", text("a\nb")),
        ("Effect.add", text(&long)),
        ("Effect.write_path", text("")),
        ("Effect.replace", effects),
        ("Audit.drop_field", text("sequence")),
        ("Audit.drop_field", text("event_sha256")),
        ("Audit.drop_field", text("Upper")),
        ("Audit.drop_field", text("")),
        ("Audit.replace", text("[]")),
        ("Audit.replace", text("{\"a\":1}")),
        ("Audit.replace", text("{\"a\":\"1\"} x")),
        ("Audit.replace", text("{\"a\":\"1\",\"\\u0061\":\"2\"}")),
        ("Audit.replace", text("{\"request_id\":\"1\"}")),
        (
            "Audit.replace",
            vec![Data::string(format!("{{{}}}", members.join(",")))],
        ),
        ("Tool.approve", Vec::new()),
    ];
    for (name, arguments) in bad {
        let message = act(name, arguments).unwrap_err();
        assert!(message.starts_with(name), "{message}");
    }
}

#[test]
fn effect_texts() {
    for (text, effect) in [
        ("read:/a", Some(Effect::Read("/a".into()))),
        ("write:x", Some(Effect::Write("x".into()))),
        ("network", Some(Effect::Network)),
        ("Network", Some(Effect::Unknown("Network".into()))),
        ("unknown:why", Some(Effect::Unknown("why".into()))),
        (" network", Some(Effect::Unknown(" network".into()))),
        (
            "unknown:unknown:x",
            Some(Effect::Unknown("unknown:x".into())),
        ),
        ("", None),
        ("read:", None),
        ("write:", None),
        ("a\u{1}", None),
    ] {
        assert_eq!(Effect::parse(text), effect, "{text}");
    }
}

#[test]
fn json_stands_for_events_and_states() {
    let event = context().to_data();
    assert_eq!(
        event_from_json(&data_to_json(&event), Kind::ShellReviewer).unwrap(),
        event
    );
    let plain = data_to_json(&event).replace("{\"tag\":\"None\",\"args\":[]}", "null");
    assert!(plain.contains("\"session_id\":null"));
    assert_eq!(event_from_json(&plain, Kind::ShellReviewer).unwrap(), event);
    assert_eq!(
        event_from_json(
            &data_to_json(&result().to_data()),
            Kind::ShellAfterInterceptor
        )
        .unwrap(),
        result().to_data()
    );
    assert_eq!(
        event_from_json(&data_to_json(&audit().to_data()), Kind::ShellAuditFilter).unwrap(),
        audit().to_data()
    );
    assert!(event_from_json("{}", Kind::Core).is_err());
    let ty = crate::types::parse_type(
        "{ n : int; f : float; u : unit; v : [ `A | `B(int) ] }",
        &|_| None,
    )
    .unwrap();
    let good = "{\"n\":1,\"f\":2,\"u\":null,\"v\":{\"tag\":\"B\",\"args\":[3]}}";
    assert_eq!(
        json_to_data(good, &ty, "state").unwrap(),
        Data::record([
            ("n", Data::Int(1)),
            ("f", Data::Float(2.0)),
            ("u", Data::Unit),
            ("v", Data::variant("B", vec![Data::Int(3)])),
        ])
    );
    for (bad, path) in [
        (
            "{\"n\":1.5,\"f\":2,\"u\":null,\"v\":{\"tag\":\"A\",\"args\":[]}}",
            "state.n",
        ),
        (
            "{\"n\":1,\"f\":2,\"u\":0,\"v\":{\"tag\":\"A\",\"args\":[]}}",
            "state.u",
        ),
        (
            "{\"n\":1,\"f\":2,\"u\":null,\"v\":{\"tag\":\"A\",\"args\":[1]}}",
            "state.v",
        ),
        (
            "{\"n\":1,\"f\":2,\"u\":null,\"v\":{\"tag\":\"C\",\"args\":[]}}",
            "state.v",
        ),
        ("{\"n\":1,\"f\":2,\"u\":null,\"v\":null}", "state.v"),
        ("{\"n\":1,\"f\":2,\"u\":null}", "state"),
        ("{\"n\":1,\"n\":1,\"f\":2,\"u\":null,\"v\":null}", "state"),
        ("{\"x\":1}", "state"),
        ("[", "state"),
    ] {
        assert_eq!(
            json_to_data(bad, &ty, "state").unwrap_err().path,
            path,
            "{bad}"
        );
    }
}
