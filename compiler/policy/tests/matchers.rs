//! Rows of the matcher table of spec 06 section 8.3 that depend on the host: links, names that
//! differ by case, paths that cannot be resolved, files that may change, scripts.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;

use chatmd_policy::symbolic::SymbolicHost;
use chatmd_policy::{
    Action, CommandFacts, DynamicMatch, DynamicOutcome, EffectKind, ExecutableFacts, Located,
    Matcher, MatcherFailure, MatcherPath, NoObserver, Observer, PathFault, PolicyHost,
    RuleEvaluation, Value, decide, infer_effects,
};
use common::{command, decision, host, line, one_rule, words};

/// A file system that compares names without regard to case.
struct Folding(SymbolicHost);

impl PolicyHost for Folding {
    fn canonical_or_parent(&self, path: &str) -> Result<String, PathFault> {
        self.0.canonical_or_parent(path)
    }

    fn search(&self, program: &str, cwd: &str) -> Option<Located> {
        self.0.search(program, cwd)
    }

    fn folds_case(&self) -> bool {
        true
    }
}

/// Value of the only rule.
struct Seen(Option<Value>);

impl Observer for Seen {
    fn wants_rules(&self) -> bool {
        true
    }

    fn rule(&mut self, evaluation: RuleEvaluation<'_>) {
        self.0 = Some(evaluation.value);
    }
}

/// Value of the matcher under an ask rule, inner commands included; that an unobserved decision
/// comes to the same is part of the question.
#[track_caller]
fn value(host: &dyn PolicyHost, facts: &CommandFacts, matcher: Matcher) -> Value {
    let policy = one_rule(Action::Allow, Action::Ask, matcher);
    let effects = infer_effects(facts, host, false);
    let mut scripts = |_: &DynamicMatch| DynamicOutcome::NotRun;
    let mut seen = Seen(None);
    decide(&policy, facts, &effects, host, &mut scripts, &mut seen);
    let value = seen.0.unwrap();
    let plain = decide(
        &policy,
        facts,
        &effects,
        host,
        &mut scripts,
        &mut NoObserver,
    );
    assert_eq!(plain.fired.is_empty(), value == Value::No);
    value
}

fn canonical(path: &str) -> MatcherPath {
    MatcherPath::Canonical(path.to_owned())
}

fn unresolved(path: &str) -> MatcherPath {
    MatcherPath::Unresolved(path.to_owned())
}

fn reads(under: MatcherPath) -> Matcher {
    Matcher::Effect {
        kind: EffectKind::ReadPath,
        under: Some(under),
    }
}

#[test]
fn paths_under_a_root() {
    for (facts, argv, root, expected) in [
        ("", "cat a", canonical("/ws"), Value::Yes),
        ("", "cat a", canonical("/ws/a"), Value::Yes),
        ("", "cat a", canonical("/"), Value::Yes),
        ("", "cat ab", canonical("/ws/a"), Value::No),
        ("", "cat a/../../etc/x", canonical("/ws"), Value::No),
        ("", "cat a", unresolved("/ws"), Value::Maybe),
        ("", "true", unresolved("/ws"), Value::No),
        (
            "link /ws/l -> /etc",
            "cat l/x",
            canonical("/etc"),
            Value::Yes,
        ),
        (
            "link /ws/l -> /ws/l",
            "cat l/x",
            canonical("/etc"),
            Value::Maybe,
        ),
        (
            "link /ws/l -> /ws/l",
            "cat l/x a",
            canonical("/etc"),
            Value::Maybe,
        ),
        (
            "link /ws/l -> /ws/l",
            "cat l/x a",
            canonical("/ws"),
            Value::Yes,
        ),
        (
            "link /dev/stdin -> /etc/x",
            "cat /dev/stdin",
            canonical("/etc"),
            Value::No,
        ),
        (
            "link /dev/stdin -> /etc/x",
            "cat /dev/stdin",
            canonical("/dev"),
            Value::Yes,
        ),
        ("", "cat Secret", canonical("/ws/secret"), Value::No),
        ("", "cat c b a", canonical("/ws/b"), Value::Yes),
    ] {
        let host = host(facts);
        let command = command(&host, line(argv));
        let found = value(&host, &command, reads(root.clone()));
        assert_eq!(found, expected, "{facts}: {argv} under {root:?}");
    }
}

/// What holds only after folding restricts and never grants (spec 06 section 2.3).
#[test]
fn paths_under_a_root_of_another_case() {
    let host = Folding(host(""));
    for (argv, root, expected) in [
        ("cat Secret", "/ws/secret", Value::Maybe),
        ("cat secret", "/ws/secret", Value::Yes),
        ("cat Secrets", "/ws/secret", Value::No),
        // Sorted by their bytes, `/B` stands before `/a`.
        ("cat /B/x /a/x /A2/x", "/A", Value::Maybe),
        ("cat /B/x /a/x /A2/x", "/b", Value::Maybe),
        ("cat /B/x /a/x /A2/x", "/c", Value::No),
    ] {
        let facts = command(&host.0, line(argv));
        assert_eq!(
            value(&host, &facts, reads(canonical(root))),
            expected,
            "{argv} under {root}"
        );
        let policy = one_rule(Action::Deny, Action::Allow, reads(canonical(root)));
        let effects = infer_effects(&facts, &host, false);
        let mut scripts = |_: &DynamicMatch| DynamicOutcome::NotRun;
        let granted = decide(
            &policy,
            &facts,
            &effects,
            &host,
            &mut scripts,
            &mut NoObserver,
        );
        assert_eq!(granted.action == Action::Allow, expected == Value::Yes);
    }
    for (root, path, expected) in [
        ("/ws", "/ws/a", Value::Yes),
        ("/ws", "/WS/a", Value::Maybe),
        ("/ws", "/WS2", Value::No),
    ] {
        assert_eq!(host.contains(root, path), expected, "{root} {path}");
    }
    assert_eq!(host.0.contains("/ws", "/WS/a"), Value::No);
}

/// `basename git` by the requested text, where the file is, and what is known of the file.
#[test]
fn basename_by_what_is_known_of_the_file() {
    let base = || ExecutableFacts {
        located: "/ws/git".to_owned(),
        canonical: "/ws/git".to_owned(),
        trusted: false,
        stable: false,
        modifiable: true,
        interpreted: false,
        set_id: false,
        in_trusted_root: false,
        alias: false,
    };
    let fixed = || ExecutableFacts {
        modifiable: false,
        ..base()
    };
    let at = |located: &str, canonical: &str| ExecutableFacts {
        located: located.to_owned(),
        canonical: canonical.to_owned(),
        ..base()
    };
    for (row, program, executable, expected) in [
        ("not found", "git", None, Value::Maybe),
        ("not found", "gitk", None, Value::No),
        ("may be replaced", "git", Some(base()), Value::Maybe),
        ("fixed", "git", Some(fixed()), Value::Yes),
        ("fixed, by path", "/ws/git", Some(fixed()), Value::Maybe),
        (
            "fixed, leads elsewhere",
            "git",
            Some(ExecutableFacts {
                canonical: "/ws/other".to_owned(),
                ..fixed()
            }),
            Value::Maybe,
        ),
        (
            "stable",
            "/x/git",
            Some(ExecutableFacts {
                stable: true,
                ..base()
            }),
            Value::Yes,
        ),
        (
            "alias",
            "git",
            Some(ExecutableFacts {
                alias: true,
                ..at("/ws/a", "/ws/b")
            }),
            Value::Yes,
        ),
        (
            "alias of that path",
            "vcs",
            Some(ExecutableFacts {
                alias: true,
                ..at("/ws/git", "/ws/b")
            }),
            Value::Yes,
        ),
        (
            "requested only",
            "./git",
            Some(at("/ws/a", "/ws/b")),
            Value::Maybe,
        ),
        (
            "located only",
            "vcs",
            Some(at("/ws/git", "/ws/b")),
            Value::Maybe,
        ),
        (
            "canonical only",
            "vcs",
            Some(at("/ws/a", "/ws/git")),
            Value::Maybe,
        ),
        ("none", "vcs", Some(at("/ws/a", "/ws/b")), Value::No),
    ] {
        let host = host("");
        let facts = CommandFacts {
            executable,
            argv: words(&[program]),
            ..command(&host, words(&["git"]))
        };
        let found = value(&host, &facts, Matcher::Basename("git".to_owned()));
        assert_eq!(found, expected, "{row}: {program}");
    }
}

#[test]
fn names_and_paths_through_links() {
    let prefix = |items: &[&str]| Matcher::ArgvPrefix(words(items));
    let basename = |name: &str| Matcher::Basename(name.to_owned());
    for (argv, matcher, expected) in [
        ("g push", prefix(&["g", "push"]), Value::Yes),
        ("g push", prefix(&["git", "push"]), Value::Maybe),
        ("g pull", prefix(&["git", "push"]), Value::No),
        ("/usr/bin/g push", prefix(&["g", "push"]), Value::Maybe),
        ("env g push", prefix(&["git", "push"]), Value::Maybe),
        ("env /x/git push", prefix(&["git", "push"]), Value::Maybe),
        ("env g push", basename("git"), Value::Maybe),
        ("env h push", basename("git"), Value::No),
        (
            "g",
            Matcher::ResolvedPath(canonical("/usr/bin/git")),
            Value::Yes,
        ),
        (
            "g",
            Matcher::ResolvedPath(canonical("/usr/bin/g")),
            Value::No,
        ),
        (
            "g",
            Matcher::ResolvedPath(unresolved("/usr/bin/g")),
            Value::Maybe,
        ),
        (
            "g",
            Matcher::ResolvedPath(unresolved("/usr/bin/git")),
            Value::No,
        ),
        (
            "env g",
            Matcher::ResolvedPath(canonical("/usr/bin/git")),
            Value::Maybe,
        ),
        (
            "env g",
            Matcher::ResolvedPath(canonical("/usr/bin/g")),
            Value::No,
        ),
        (
            "env g",
            Matcher::ResolvedPath(unresolved("/usr/bin/g")),
            Value::Maybe,
        ),
        (
            "env g",
            Matcher::ResolvedPath(unresolved("/usr/bin/h")),
            Value::No,
        ),
    ] {
        let host = host("link /usr/bin/g -> /usr/bin/git");
        let facts = command(&host, line(argv));
        let found = value(&host, &facts, matcher.clone());
        assert_eq!(found, expected, "{argv} against {matcher:?}");
    }
}

fn script(script: &str, function: &str, failure: MatcherFailure) -> Matcher {
    Matcher::Dynamic(DynamicMatch {
        script: script.to_owned(),
        function: function.to_owned(),
        failure,
    })
}

/// One run for each script and function of a rule, in document order.
#[test]
fn scripts_run_once_for_each_function() {
    let any = |script_name: &str, function: &str| {
        script(script_name, function, MatcherFailure::Conservative)
    };
    let policy = one_rule(
        Action::Allow,
        Action::Deny,
        Matcher::Any(vec![
            any("a", "f"),
            any("a", "g"),
            any("b", "f"),
            any("a", "f"),
        ]),
    );
    let host = host("");
    let facts = command(&host, line("ls"));
    let effects = infer_effects(&facts, &host, false);
    let mut asked = Vec::new();
    let mut scripts = |matcher: &DynamicMatch| {
        asked.push(format!("{}.{}", matcher.script, matcher.function));
        DynamicOutcome::NoMatch
    };
    let found = decide(
        &policy,
        &facts,
        &effects,
        &host,
        &mut scripts,
        &mut NoObserver,
    );
    assert_eq!(found.action, Action::Allow);
    assert_eq!(asked, ["a.f", "a.g", "b.f"]);
}

#[test]
fn the_first_script_that_fails_is_named() {
    let host = host("");
    let facts = command(&host, line("ls"));
    let effects = infer_effects(&facts, &host, false);
    for (first, reason) in [
        (MatcherFailure::Deny, "matcher a failed"),
        (MatcherFailure::Conservative, "matcher b failed"),
    ] {
        let matcher = Matcher::Any(vec![
            script("a", "f", first),
            script("b", "f", MatcherFailure::Deny),
        ]);
        let policy = one_rule(Action::Deny, Action::Allow, matcher);
        let mut scripts = |_: &DynamicMatch| DynamicOutcome::Failed;
        let found = decide(
            &policy,
            &facts,
            &effects,
            &host,
            &mut scripts,
            &mut NoObserver,
        );
        assert_eq!((found.action, &*found.reason), (Action::Deny, reason));
    }
}

/// A script that did not run may match: it restricts and does not grant.
#[test]
fn scripts_that_did_not_run() {
    let host = host("");
    let facts = command(&host, line("ls"));
    let matcher = || script("a", "f", MatcherFailure::Conservative);
    for (matcher, action, expected) in [
        (matcher(), Action::Deny, Action::Deny),
        (matcher(), Action::Allow, Action::Ask),
        (
            Matcher::Not(Box::new(matcher())),
            Action::Deny,
            Action::Deny,
        ),
        (
            Matcher::Not(Box::new(matcher())),
            Action::Allow,
            Action::Ask,
        ),
    ] {
        let policy = one_rule(Action::Ask, action, matcher);
        assert_eq!(decision(&policy, &host, &facts).action, expected);
    }
}
