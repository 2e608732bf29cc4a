//! Levels, redaction and the text form of a whole trace (spec 12 sections 3.2, 3.4 and 3.5).
#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::json;

use super::*;

/// Stands in every text that comes from the request.
const SECRET: &str = "s3cr3t";

fn secret() -> String {
    format!("<{SECRET}>")
}

fn rule(id: &str, value: Value) -> RuleTrace {
    RuleTrace {
        id: id.to_owned(),
        action: Action::Deny,
        value,
        fired: value != Value::No,
        deciding: value != Value::No,
        declared_in: None,
        tree: Some(MatchTrace {
            kind: "any_command",
            attributes: Map::new(),
            value,
            on: "outer".to_owned(),
            why: Some("equal".to_owned()),
            span: None,
            decisive: true,
            children: Vec::new(),
        }),
    }
}

fn stage() -> StageTrace {
    let unknown = Known::Unknown;
    StageTrace {
        index: 0,
        argv: vec!["tool".to_owned(), secret()],
        resolution: ResolutionTrace {
            program: secret(),
            alias: None,
            search: Some(vec![SearchTrace {
                dir: "/usr/bin".to_owned(),
                found: false,
            }]),
            located: Some(secret()),
            canonical: Some(secret()),
            class: None,
            trusted: false,
            trust: TrustTrace {
                t1: unknown,
                t2: unknown,
                t3: unknown,
                t4: unknown,
                t5: unknown,
                t6: unknown,
            },
            stable: false,
            sha256: None,
            interpreter: Some(secret()),
            error: Some(secret()),
        },
        effects: vec![EffectTrace {
            effect: format!("unknown:{}", secret()),
            path: Some(secret()),
            source: "builtin".to_owned(),
            rule: "fallback".to_owned(),
        }],
        inner: vec![InnerTrace {
            argv: Some(vec![secret(), secret()]),
            opaque_bytes: None,
            via: secret(),
            depth: 1,
        }],
        admin: AdminTrace {
            hits: vec![AdminHit {
                code: "shell.admin_program_denied".to_owned(),
                value: secret(),
            }],
        },
        capability: CapabilityTrace {
            ok: false,
            failures: vec![CapabilityFailureTrace {
                kind: "read_path".to_owned(),
                path: Some(secret()),
                reason: secret(),
                nearest_root: None,
                span: None,
            }],
        },
        policy: PolicyTrace {
            evaluated: true,
            action: Some(Action::Deny),
            default_used: false,
            deciding: vec!["hit".to_owned()],
            rules: vec![
                rule("hit", Value::Yes),
                rule("near", Value::Maybe),
                rule("far", Value::No),
                rule("farther", Value::No),
            ],
            unmatched: None,
        },
        approval: None,
        backend: Some(BackendTrace {
            id: None,
            kind: "bubblewrap".to_owned(),
            confinement: "enforced".to_owned(),
            argv: vec!["bwrap".to_owned(), secret()],
        }),
        limits: Map::new(),
        outcome: Outcome::WouldReject,
    }
}

fn trace() -> Trace {
    Trace {
        version: 1,
        manifest_sha256: String::new(),
        host: HostKind::Symbolic,
        runtime: "r".to_owned(),
        tool: None,
        origin: "model".to_owned(),
        request: RequestTrace {
            kind: RequestKind::Structured,
            input: json!({"a": [secret(), {"b": secret()}], secret(): 1, "n": null}),
            cwd: secret(),
            stdin_bytes: 0,
            environment_names: Vec::new(),
        },
        input: InputTrace {
            ok: true,
            code: None,
            field: Some(secret()),
            reason: Some(secret()),
        },
        parse: None,
        stages: vec![stage()],
        outcome: Outcome::WouldReject,
        code: Some("capability_violation".to_owned()),
        reason: Some(secret()),
        decided_by: DecidedBy {
            stage: Some(0),
            step: Step::Capability,
        },
        may_change: Vec::new(),
        assumptions: Vec::new(),
    }
}

#[test]
fn no_text_of_the_request_escapes_redaction() {
    let mut trace = trace();
    let whole = serde_json::to_string(&trace).unwrap();
    let occurrences = whole.matches(SECRET).count();
    let mut edited = 0;
    trace.visit_strings(&mut |text| {
        edited += text.matches(SECRET).count();
        *text = text.replace(SECRET, "***");
    });
    assert_eq!(edited, occurrences);
    assert_eq!(
        serde_json::to_string(&trace).unwrap(),
        whole.replace(SECRET, "***")
    );
}

#[test]
fn members_whose_names_become_equal_are_all_kept() {
    let mut input = json!({"a": 1, "b": {"c": 2, "d": 3}});
    visit_json(&mut input, &mut |text| *text = "x".to_owned());
    assert_eq!(input, json!({"x": 1, "x#1": {"x": 2, "x#1": 3}}));
}

#[test]
fn a_summary_only_counts_what_did_not_match() {
    let mut full = trace();
    full.reduce(Level::Full);
    assert_eq!(full, trace());
    let mut summary = trace();
    summary.reduce(Level::Summary);
    let stage = &summary.stages[0];
    assert_eq!(stage.resolution.search, None);
    assert_eq!(stage.policy.unmatched, Some(2));
    let ids: Vec<&str> = stage.policy.rules.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["hit", "near"]);
    assert!(stage.policy.rules.iter().all(|rule| rule.tree.is_none()));
}

#[test]
fn the_text_says_why() {
    let mut trace = trace();
    trace.reason = Some("network access is disabled".to_owned());
    let last = |trace: &Trace| trace.to_string().lines().last().unwrap().to_owned();
    assert_eq!(
        last(&trace),
        "outcome    would_reject   capability_violation: network access is disabled"
    );
    trace.reason = None;
    assert_eq!(
        last(&trace),
        "outcome    would_reject   capability_violation"
    );
    trace.input = InputTrace {
        ok: false,
        code: Some("shell.tool_unknown_input".to_owned()),
        field: Some("x".to_owned()),
        reason: Some("unknown shell tool input field: x".to_owned()),
    };
    assert!(
        trace
            .to_string()
            .contains("\ninput      shell.tool_unknown_input: unknown shell tool input field: x\n")
    );
}
