//! `decide` with its index, with the index bypassed by an observer, and a plain recursive reading of
//! spec 06 section 8.3 give the same decision on random policies and commands.
//!
//! `CHATMD_POLICY_CASES` sets the number of pairs (default 5,000).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::collections::HashMap;

use chatmd_policy::decide::dequote;
use chatmd_policy::effects::infer_effects;
use chatmd_policy::facts::StdinKind;
use chatmd_policy::paths::basename;
use chatmd_policy::symbolic::{SymbolicFacts, SymbolicHost, SymbolicResolver};
use chatmd_policy::{
    Action, Capabilities, CommandFacts, CompiledPolicy, DynamicMatch, DynamicOutcome, EffectKind,
    Effects, InnerCommand, InnerText, Matcher, MatcherFailure, MatcherPath, NoObserver, Observer,
    PolicyHost, PolicySource, RequestKind, RuleEvaluation, RuleSource, Value, decide,
};
use regex_automata::meta::Regex;

/// A small deterministic generator: the cases are the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

const PROGRAMS: &[&str] = &[
    "git",
    "/usr/bin/git",
    "./git",
    "/opt/x/git",
    "g",
    "env",
    "nice",
    "sh",
    "bash",
    "cat",
    "rm",
    "/bin/rm",
    "curl",
    "xargs",
    "find",
    "missing",
    "python3.11",
    "busybox",
];
const ARGUMENTS: &[&str] = &[
    "push",
    "-C",
    ".",
    "-c",
    "git push",
    "git push > x",
    "g'i't \\push > x",
    "rm",
    "a",
    "/etc/x",
    "--force",
    "-rf",
    "",
    "git",
    "A=b",
    "echo rm; git status",
    "-exec",
    ";",
    "{}",
    "-T",
    "/ws/a",
    "/usr/bin/git",
];
const CONSTANTS: &[&str] = &[
    "git",
    "push",
    "rm",
    "-rf",
    "/usr/bin/git",
    "env",
    "a",
    "--force",
    "sh",
    "g",
    "x",
    "us",
    "-C",
];
const PATTERNS: &[&str] = &["^git$", "git", "python[0-9.]*$", "^/", "r.", "push"];
const ROOTS: &[&str] = &["/ws", "/etc", "/", "/ws/a", "/wsx"];

fn matcher(random: &mut Random, depth: usize) -> Matcher {
    let text = |random: &mut Random| random.pick(CONSTANTS).to_owned();
    match random.below(if depth == 0 { 13 } else { 19 }) {
        0 => Matcher::AnyCommand,
        1 | 2 => Matcher::Basename(text(random)),
        3 => Matcher::Program(random.pick(PROGRAMS).to_owned()),
        4 => {
            let path = random.pick(&["/usr/bin/git", "/usr/bin/rm", "/opt/x/git", "/ws/git"]);
            Matcher::ResolvedPath(if random.below(4) == 0 {
                MatcherPath::Unresolved(path.to_owned())
            } else {
                MatcherPath::Canonical(path.to_owned())
            })
        }
        5 => Matcher::TrustedExecutable,
        6 => Matcher::ProgramRegex(random.pick(PATTERNS).to_owned()),
        7 => {
            let mut values = vec![
                random
                    .pick(&["git", "/usr/bin/git", "rm", "sh", "env"])
                    .to_owned(),
            ];
            values.extend((0..random.below(3)).map(|_| random.pick(ARGUMENTS).to_owned()));
            Matcher::ArgvPrefix(values)
        }
        8 => Matcher::Argument(random.pick(ARGUMENTS).to_owned()),
        9 => Matcher::ArgumentContains(text(random)),
        10 => Matcher::Effect {
            kind: random.pick(&EffectKind::ALL),
            under: None,
        },
        11 => Matcher::Effect {
            kind: random.pick(&[EffectKind::ReadPath, EffectKind::WritePath]),
            under: Some(MatcherPath::Canonical(random.pick(ROOTS).to_owned())),
        },
        12 => match random.below(3) {
            0 => Matcher::NoUnknownEffects,
            1 => Matcher::RawShell,
            _ => Matcher::Dynamic(DynamicMatch {
                script: random.pick(&["s1", "s2", "s3"]).to_owned(),
                function: "f".to_owned(),
                failure: random.pick(&[MatcherFailure::Conservative, MatcherFailure::Deny]),
            }),
        },
        13 | 14 => Matcher::Not(Box::new(matcher(random, depth - 1))),
        n => {
            let children = (0..1 + random.below(3))
                .map(|_| matcher(random, depth - 1))
                .collect();
            if n < 17 {
                Matcher::All(children)
            } else {
                Matcher::Any(children)
            }
        }
    }
}

fn policy(random: &mut Random) -> PolicySource {
    let action = |random: &mut Random| random.pick(&[Action::Allow, Action::Ask, Action::Deny]);
    PolicySource {
        default: action(random),
        rules: (0..random.below(8))
            .map(|number| RuleSource {
                id: format!("r{number}"),
                action: action(random),
                matcher: matcher(random, 3),
            })
            .collect(),
        capabilities: Capabilities::default(),
        direct: false,
    }
}

fn facts(random: &mut Random, host: &SymbolicHost) -> CommandFacts {
    let mut argv = vec![random.pick(PROGRAMS).to_owned()];
    argv.extend((0..random.below(6)).map(|_| {
        let words = if random.below(3) == 0 {
            PROGRAMS
        } else {
            ARGUMENTS
        };
        random.pick(words).to_owned()
    }));
    let raw = random.below(8) == 0;
    CommandFacts {
        executable: host
            .resolve(&argv[0], "/ws")
            .filter(|_| random.below(12) != 0),
        cwd: "/ws".to_owned(),
        kind: if raw {
            RequestKind::RawShell
        } else {
            RequestKind::Structured
        },
        script: raw.then(|| argv.last().unwrap().clone()),
        stdin: StdinKind::Empty,
        stdin_bytes: 0,
        environment: [("HOME".to_owned(), "/home/u".to_owned())].into(),
        argv,
    }
}

/// The oracle: recursive, without index, without sharing.
struct Oracle<'a> {
    facts: &'a CommandFacts,
    effects: &'a Effects,
    host: &'a SymbolicHost,
    script: fn(&str) -> DynamicOutcome,
    refusal: Option<String>,
    /// Values of scripts for the outer command; inner commands keep them, and a script that was
    /// not run for the outer command is not run later.
    kept: HashMap<*const Matcher, Value>,
}

fn known(truth: bool) -> Value {
    if truth { Value::Yes } else { Value::No }
}

fn maybe(truth: bool) -> Value {
    if truth { Value::Maybe } else { Value::No }
}

impl Oracle<'_> {
    fn value(&mut self, matcher: &Matcher, inner: Option<&InnerCommand>, settled: bool) -> Value {
        match matcher {
            Matcher::Not(child) => match self.value(child, inner, false) {
                Value::Yes => Value::No,
                Value::Maybe => Value::Maybe,
                Value::No => Value::Yes,
            },
            Matcher::All(children) => children.iter().fold(Value::Yes, |value, child| {
                let child = self.value(child, inner, value == Value::No);
                value.min(child)
            }),
            Matcher::Any(children) => children.iter().fold(Value::No, |value, child| {
                let child = self.value(child, inner, value == Value::Yes);
                value.max(child)
            }),
            Matcher::AnyCommand => Value::Yes,
            Matcher::RawShell => known(self.facts.kind == RequestKind::RawShell),
            Matcher::NoUnknownEffects => known(!self.effects.has(EffectKind::Unknown)),
            Matcher::Effect { kind, under: None } => known(self.effects.has(*kind)),
            Matcher::Effect {
                kind,
                under: Some(root),
            } => self
                .effects
                .iter()
                .filter(|effect| effect.kind() == *kind)
                .filter_map(|effect| effect.path())
                .map(|path| self.host.contains(root.as_str(), path))
                .max()
                .unwrap_or(Value::No),
            Matcher::Dynamic(dynamic) => {
                let place = std::ptr::from_ref(matcher);
                if inner.is_some() {
                    return self.kept[&place];
                }
                let value = match (self.script)(&dynamic.script) {
                    _ if settled => Value::Maybe,
                    DynamicOutcome::Match => Value::Yes,
                    DynamicOutcome::NoMatch => Value::No,
                    DynamicOutcome::NotRun => Value::Maybe,
                    DynamicOutcome::Failed => {
                        if dynamic.failure == MatcherFailure::Deny {
                            self.refusal.get_or_insert(dynamic.script.clone());
                        }
                        Value::Maybe
                    }
                };
                self.kept.insert(place, value);
                value
            }
            textual => match inner.map(|inner| (&inner.text, &inner.cwd)) {
                None => self.outer(textual),
                Some((InnerText::Argv(argv), cwd)) => self.inner(textual, argv, cwd),
                Some((InnerText::Opaque(text), _)) => opaque(textual, text),
            },
        }
    }

    fn outer(&self, matcher: &Matcher) -> Value {
        let argv = &self.facts.argv;
        let program = &argv[0];
        let found = self.facts.executable.as_ref();
        let names: Vec<&str> = found
            .iter()
            .flat_map(|found| [basename(&found.located), basename(&found.canonical)])
            .chain([basename(program)])
            .collect();
        match matcher {
            Matcher::Program(value) => known(program == value),
            Matcher::Basename(value) => {
                let certain = found.is_some_and(|found| {
                    basename(program) == value
                        && (found.stable
                            || !program.contains('/')
                                && basename(&found.canonical) == value
                                && !found.modifiable)
                });
                if certain {
                    Value::Yes
                } else {
                    maybe(names.contains(&value.as_str()))
                }
            }
            Matcher::ResolvedPath(MatcherPath::Canonical(path)) => {
                known(found.is_some_and(|found| found.canonical == *path))
            }
            Matcher::ResolvedPath(MatcherPath::Unresolved(path)) => {
                maybe(found.is_some_and(|found| found.located == *path))
            }
            Matcher::TrustedExecutable => known(found.is_some_and(|found| found.trusted)),
            Matcher::ProgramRegex(pattern) => {
                let regex = Regex::new(pattern).unwrap();
                if regex.is_match(program.as_bytes()) {
                    Value::Yes
                } else {
                    maybe(found.is_some_and(|found| {
                        regex.is_match(found.located.as_bytes())
                            || regex.is_match(found.canonical.as_bytes())
                    }))
                }
            }
            other => common(other, argv, &names),
        }
    }

    fn inner(&self, matcher: &Matcher, argv: &[String], cwd: &str) -> Value {
        let program = &argv[0];
        let found = self.host.search(program, cwd);
        let names: Vec<&str> = found
            .iter()
            .flat_map(|found| [basename(&found.located), basename(&found.canonical)])
            .chain([basename(program)])
            .collect();
        match matcher {
            Matcher::Program(value) => known(program == value),
            Matcher::Basename(value) if basename(program) == value => Value::Yes,
            Matcher::Basename(value) => maybe(names.contains(&value.as_str())),
            Matcher::ResolvedPath(path) => maybe(found.is_some_and(|found| {
                found.canonical == path.as_str()
                    || matches!(path, MatcherPath::Unresolved(path) if found.located == *path)
            })),
            Matcher::TrustedExecutable => Value::Maybe,
            Matcher::ProgramRegex(pattern) => {
                let regex = Regex::new(pattern).unwrap();
                if regex.is_match(program.as_bytes()) {
                    Value::Yes
                } else {
                    maybe(found.is_some_and(|found| {
                        regex.is_match(found.located.as_bytes())
                            || regex.is_match(found.canonical.as_bytes())
                    }))
                }
            }
            other => common(other, argv, &names),
        }
    }
}

fn common(matcher: &Matcher, argv: &[String], names: &[&str]) -> Value {
    match matcher {
        Matcher::Argument(value) => known(argv[1..].contains(value)),
        Matcher::ArgumentContains(value) => known(
            argv[1..]
                .iter()
                .any(|argument| argument.contains(value.as_str())),
        ),
        Matcher::ArgvPrefix(values) => {
            if argv.starts_with(values) {
                Value::Yes
            } else {
                maybe(
                    argv.len() >= values.len()
                        && argv[1..values.len()] == values[1..]
                        && names.contains(&values[0].as_str()),
                )
            }
        }
        other => panic!("{other:?}"),
    }
}

fn opaque(matcher: &Matcher, text: &str) -> Value {
    let unquoted = dequote(text).unwrap_or_default();
    opaque_view(matcher, text).max(opaque_view(matcher, &unquoted))
}

fn opaque_view(matcher: &Matcher, text: &str) -> Value {
    match matcher {
        Matcher::Program(value)
        | Matcher::Basename(value)
        | Matcher::Argument(value)
        | Matcher::ArgumentContains(value) => maybe(text.contains(value.as_str())),
        Matcher::ArgvPrefix(values) => {
            maybe(values.iter().all(|value| text.contains(value.as_str())))
        }
        Matcher::ProgramRegex(pattern) => {
            let regex = Regex::new(pattern).unwrap();
            let breaks = |c: char| " \t\n\r;|&()<>\\`$\"'".contains(c);
            maybe(
                regex.is_match(text.as_bytes())
                    || text
                        .split(breaks)
                        .any(|word| regex.is_match(word.as_bytes())),
            )
        }
        Matcher::ResolvedPath(_) => Value::No,
        Matcher::TrustedExecutable => Value::Maybe,
        other => panic!("{other:?}"),
    }
}

fn scripts(script: &str) -> DynamicOutcome {
    match script {
        "s1" => DynamicOutcome::Match,
        "s2" => DynamicOutcome::NoMatch,
        _ => DynamicOutcome::Failed,
    }
}

#[derive(Default)]
struct Values(Vec<(Value, bool)>);

impl Observer for Values {
    fn wants_rules(&self) -> bool {
        true
    }

    fn rule(&mut self, evaluation: RuleEvaluation<'_>) {
        self.0.push((evaluation.value, evaluation.fired));
    }
}

/// 100,000 pairs of policy and request, in as many parts as a small machine has processors.
#[test]
fn indexed_observed_and_plain_evaluation_agree() {
    let cases = std::env::var("CHATMD_POLICY_CASES").map_or(100_000, |text| text.parse().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| agree(0x9E37_79B9_7F4A_7C15, cases / 2));
        agree(0x2545_F491_4F6C_DD1D, cases - cases / 2);
    });
}

fn agree(seed: u64, cases: usize) {
    let mut given = SymbolicFacts::default();
    given
        .add("link /usr/bin/g -> /usr/bin/git; program missing = missing")
        .unwrap();
    let host = SymbolicHost::new(
        given,
        SymbolicResolver {
            search_path: vec!["/usr/bin".to_owned()],
            trusted_roots: vec!["/usr/bin".to_owned()],
            aliases: vec![],
            write_roots: vec!["/ws".to_owned()],
        },
    );
    let mut random = Random(seed);
    let mut fired_rules = 0;
    let mut raised = 0;
    for case in 0..cases {
        let source = policy(&mut random);
        let facts = facts(&mut random, &host);
        let effects = infer_effects(&facts, &host, false);
        let compiled = CompiledPolicy::compile(source.clone()).unwrap();
        let mut run = |dynamic: &DynamicMatch| scripts(&dynamic.script);
        let indexed = decide(
            &compiled,
            &facts,
            &effects,
            &host,
            &mut run,
            &mut NoObserver,
        );
        let mut values = Values::default();
        let observed = decide(&compiled, &facts, &effects, &host, &mut run, &mut values);
        assert_eq!(indexed, observed, "case {case}: {source:#?} {facts:#?}");

        let mut refusal: Option<String> = None;
        let mut fired = Vec::new();
        for (number, rule) in source.rules.iter().enumerate() {
            let mut oracle = Oracle {
                facts: &facts,
                effects: &effects,
                host: &host,
                script: scripts,
                refusal: None,
                kept: HashMap::new(),
            };
            let outer = oracle.value(&rule.matcher, None, false);
            let mut value = outer;
            if rule.action != Action::Allow {
                for inner in effects.inner() {
                    let seen = oracle.value(&rule.matcher, Some(inner), false);
                    value = value.max(if seen == Value::No {
                        Value::No
                    } else {
                        Value::Maybe
                    });
                }
            }
            raised += usize::from(value != outer);
            refusal = refusal.or(oracle.refusal);
            assert_eq!(
                values.0[number].0, value,
                "case {case} rule {rule:#?} {facts:#?}"
            );
            if value == Value::Yes || value == Value::Maybe && rule.action != Action::Allow {
                fired.push((rule.id.clone(), rule.action));
            }
        }
        fired_rules += fired.len();
        let strongest = fired.iter().map(|(_, action)| *action).max();
        let ids: Vec<String> = fired.iter().map(|(id, _)| id.clone()).collect();
        assert_eq!(indexed.fired, ids, "case {case}");
        let expected = match refusal {
            Some(_) => Action::Deny,
            None => strongest.unwrap_or(source.default),
        };
        assert_eq!(indexed.action, expected, "case {case}");
        assert_eq!(indexed.refused_by_script, refusal, "case {case}");
    }
    // The generator must reach what it is for.
    assert!(
        fired_rules > cases / 2 && raised > cases / 100,
        "{fired_rules} fired, {raised} raised"
    );
}
