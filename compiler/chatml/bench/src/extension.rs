//! One call of a reviewer as the host makes it, and the compilation of a script.

use std::time::Instant;

use chatml::bridge::{Capabilities, Executable, Policy, PolicyMatch, ShellContext, decode_action};
use chatml::check::EntryRequest;
use chatml::instance::{Instance, Lifecycle, Script};
use chatml::limits::{Limits, Monotonic};
use chatml::surface::Kind;

use crate::median;

const REVIEWER: &str = include_str!("../../src/instance/examples/reviewer.chatml");

fn context() -> ShellContext {
    ShellContext {
        phase: "shell_reviewer".into(),
        request_id: "shell-0123456789abcdef".into(),
        runtime_id: "main".into(),
        manifest_sha256: "0".repeat(64),
        argv: ["cat", "src/main.rs", "src/lib.rs"].map(String::from).to_vec(),
        executable: Executable {
            requested: "cat".into(),
            path: "/usr/bin/cat".into(),
            canonical_path: "/usr/bin/cat".into(),
            sha256: "1".repeat(64),
            trusted: true,
        },
        cwd: "/project".into(),
        origin: "tool".into(),
        request_kind: "structured".into(),
        stdin_kind: "empty".into(),
        stdin_sha256: None,
        stdin_bytes: 0,
        script_sha256: None,
        script_preview: None,
        effects: ["read:/project/src/main.rs", "read:/project/src/lib.rs"].map(String::from).to_vec(),
        capabilities: Capabilities {
            read_roots: vec!["/project".into()],
            write_roots: vec!["/project/target".into()],
            network: false,
            child_processes: false,
            arbitrary_code: false,
            privilege_change: false,
            sandbox: "required".into(),
        },
        session_id: Some("session".into()),
        policy: Some(Policy {
            action: "ask".into(),
            reason: "rule reads".into(),
            matches: vec![PolicyMatch {
                rule_id: "reads".into(),
                action: "ask".into(),
                reason: None,
            }],
        }),
    }
}

fn repeat(rounds: usize, mut work: impl FnMut()) -> f64 {
    let samples = (0..rounds).map(|_| {
        let started = Instant::now();
        work();
        started.elapsed().as_secs_f64() * 1e6
    });
    median(samples.collect())
}

/// Name and median of each measurement.
pub fn measure() -> Vec<(&'static str, f64)> {
    let prepare = |source: &str| {
        Script::prepare(
            source,
            Kind::ShellReviewer,
            EntryRequest::Default,
            Limits::default(),
        )
        .expect("the script is well typed")
    };
    let script = prepare(REVIEWER);
    let context = context();
    let mut results = Vec::new();
    for (name, lifecycle) in [
        ("reviewer_call_session", Lifecycle::Session),
        ("reviewer_call_invocation", Lifecycle::Invocation),
    ] {
        let mut instance = Instance::start(script.clone(), lifecycle, &Monotonic::start())
            .expect("the script starts");
        let took = repeat(2001, || {
            let outcome = instance
                .call(&context.to_data(), &Monotonic::start())
                .expect("the call succeeds");
            decode_action(&outcome.action).expect("the action is valid");
            instance.commit(outcome.state).expect("the call commits");
        });
        results.push((name, took));
    }
    let mut long = REVIEWER.to_owned();
    let mut number = 0;
    while long.lines().count() < 200 {
        number += 1;
        long.push_str(&format!(
            "\nlet helper_{number} xs limit =\n  let kept = Array.filter(xs, fun x -> String.length(x) < limit) in\n  match Array.find(kept, fun x -> String.starts_with(x, \"read:\")) with\n  | `None -> {{ count = 0; first = \"\" }}\n  | `Some(text) -> {{ count = Array.length(kept); first = text }}\n"
        ));
    }
    results.push(("prepare_200_lines", repeat(101, || drop(prepare(&long)))));
    results
}
