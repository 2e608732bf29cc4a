//! Commands on the symbolic host, for tests.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use chatmd_policy::effects::infer_effects;
use chatmd_policy::facts::StdinKind;
use chatmd_policy::symbolic::{SymbolicFacts, SymbolicHost, SymbolicResolver};
use chatmd_policy::{
    Action, Capabilities, CommandFacts, CompiledPolicy, Decision, Effects, Matcher, NoObserver,
    PolicySource, RequestKind, RuleSource, ScriptsNotRun, chain, decide,
};

/// `/ws` is the working directory and the write root; `/usr/bin` is trusted.
pub fn host(facts: &str) -> SymbolicHost {
    let mut given = SymbolicFacts::default();
    given.add(facts).unwrap();
    SymbolicHost::new(
        given,
        SymbolicResolver {
            search_path: vec!["/usr/bin".to_owned()],
            trusted_roots: vec!["/usr/bin".to_owned()],
            aliases: vec![],
            write_roots: vec!["/ws".to_owned()],
        },
    )
}

pub fn words(argv: &[&str]) -> Vec<String> {
    argv.iter().map(|word| (*word).to_owned()).collect()
}

/// argv of a command line without operators.
pub fn line(text: &str) -> Vec<String> {
    chain::parse(text)
        .unwrap_or_else(|fault| panic!("{text}: {fault}"))
        .single()
        .unwrap_or_else(|| panic!("{text} is a chain"))
        .to_vec()
}

pub fn command(host: &SymbolicHost, argv: Vec<String>) -> CommandFacts {
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

pub fn effects_of(host: &SymbolicHost, argv: Vec<String>) -> Effects {
    infer_effects(&command(host, argv), host, false)
}

/// Sorted effects, unknown ones without their reason; `A C N P U` for the bare kinds.
pub fn short(effects: &Effects) -> String {
    let mut all: Vec<String> = effects
        .iter()
        .map(|effect| match effect {
            chatmd_policy::Effect::Read(path) => format!("R:{path}"),
            chatmd_policy::Effect::Write(path) => format!("W:{path}"),
            chatmd_policy::Effect::Network => "N".to_owned(),
            chatmd_policy::Effect::ChildProcesses => "C".to_owned(),
            chatmd_policy::Effect::ArbitraryCode => "A".to_owned(),
            chatmd_policy::Effect::PrivilegeChange => "P".to_owned(),
            chatmd_policy::Effect::Unknown(_) => "U".to_owned(),
        })
        .collect();
    all.sort();
    all.dedup();
    all.join(" ")
}

/// A policy of one rule.
pub fn one_rule(default: Action, action: Action, matcher: Matcher) -> CompiledPolicy {
    CompiledPolicy::compile(PolicySource {
        default,
        rules: vec![RuleSource {
            id: "rule".to_owned(),
            action,
            matcher,
        }],
        capabilities: Capabilities::default(),
        direct: false,
    })
    .unwrap()
}

pub fn decision(policy: &CompiledPolicy, host: &SymbolicHost, facts: &CommandFacts) -> Decision {
    let effects = infer_effects(facts, host, false);
    decide(
        policy,
        facts,
        &effects,
        host,
        &mut ScriptsNotRun,
        &mut NoObserver,
    )
}

/// Basename and an argument, the hardened form of a deny.
pub fn basename_and_argument(name: &str, argument: &str) -> Matcher {
    Matcher::All(vec![
        Matcher::Basename(name.to_owned()),
        Matcher::Argument(argument.to_owned()),
    ])
}
