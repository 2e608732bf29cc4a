//! Times `decide` in process, for `cargo xtask bench decide`.
//!
//! Prints one JSON object: number of rules to `{"median_us", "p95_us"}`. A request goes through the
//! whole of it, effects included; 2.5 % of the rules have no key that an index could use.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::hint::black_box;
use std::time::Instant;

use chatmd_policy::effects::infer_effects;
use chatmd_policy::facts::StdinKind;
use chatmd_policy::symbolic::{SymbolicFacts, SymbolicHost, SymbolicResolver};
use chatmd_policy::{
    Action, Capabilities, CommandFacts, CompiledPolicy, Matcher, NoObserver, PolicySource,
    RequestKind, RuleSource, ScriptsNotRun, decide,
};

const ROUNDS: usize = 4_000;

fn rule(number: usize) -> RuleSource {
    let name = Matcher::Basename(format!("program{number}"));
    let argument = Matcher::Argument(format!("sub{}", number % 7));
    let (action, matcher) = match number % 20 {
        0 => (
            Action::Deny,
            Matcher::ArgumentContains(format!("--danger{number}")),
        ),
        1 => (
            Action::Allow,
            Matcher::ArgvPrefix(vec![format!("tool{number}"), "run".to_owned()]),
        ),
        2 => (
            Action::Ask,
            Matcher::Any(vec![name, Matcher::Basename(format!("other{number}"))]),
        ),
        // Without a key.
        3 if number % 40 == 3 => (Action::Ask, Matcher::Not(Box::new(Matcher::AnyCommand))),
        4..=7 => (Action::Allow, Matcher::All(vec![name, argument])),
        // A policy holds some thousand matchers, so most rules have one.
        8..=13 => (Action::Allow, name),
        _ => (
            Action::Ask,
            Matcher::ArgvPrefix(vec![format!("program{number}"), "sub".to_owned()]),
        ),
    };
    RuleSource {
        id: format!("rule{number}"),
        action,
        matcher,
    }
}

fn request(host: &SymbolicHost, number: usize) -> CommandFacts {
    let argv = match number % 4 {
        0 => vec!["git".to_owned(), "status".to_owned()],
        1 => vec![
            format!("program{}", number % 997),
            format!("sub{}", number % 7),
            "a".to_owned(),
        ],
        2 => vec![
            "env".to_owned(),
            "timeout".to_owned(),
            "5".to_owned(),
            "cat".to_owned(),
            "a".to_owned(),
        ],
        _ => vec![
            "grep".to_owned(),
            "-rn".to_owned(),
            "TODO".to_owned(),
            "src".to_owned(),
        ],
    };
    CommandFacts {
        executable: host.resolve(&argv[0], "/ws"),
        cwd: "/ws".to_owned(),
        kind: RequestKind::Structured,
        script: None,
        stdin: StdinKind::Empty,
        stdin_bytes: 0,
        environment: [("HOME".to_owned(), "/home/u".to_owned())].into(),
        argv,
    }
}

fn main() {
    let host = SymbolicHost::new(
        SymbolicFacts::default(),
        SymbolicResolver {
            search_path: vec!["/usr/bin".to_owned()],
            trusted_roots: vec!["/usr/bin".to_owned()],
            aliases: vec![],
            write_roots: vec!["/ws".to_owned()],
        },
    );
    let mut report = serde_json::Map::new();
    for count in [50, 2_000] {
        let policy = CompiledPolicy::compile(PolicySource {
            default: Action::Ask,
            rules: (0..count).map(rule).collect(),
            capabilities: Capabilities::default(),
            direct: false,
        })
        .unwrap();
        let requests: Vec<CommandFacts> = (0..64).map(|number| request(&host, number)).collect();
        let mut times: Vec<f64> = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS + 200 {
            let facts = &requests[round % requests.len()];
            let started = Instant::now();
            let effects = infer_effects(facts, &host, false);
            let decision = decide(
                &policy,
                facts,
                &effects,
                &host,
                &mut ScriptsNotRun,
                &mut NoObserver,
            );
            let took = started.elapsed();
            black_box(decision);
            if round >= 200 {
                times.push(took.as_secs_f64() * 1e6);
            }
        }
        times.sort_by(f64::total_cmp);
        let at = |part: f64| (times[(times.len() as f64 * part) as usize] * 100.0).round() / 100.0;
        let row = serde_json::json!({ "median_us": at(0.5), "p95_us": at(0.95) });
        report.insert(format!("{count} rules"), row);
    }
    println!("{}", serde_json::Value::Object(report));
}
