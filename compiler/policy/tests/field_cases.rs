//! Failures seen in other tools, each with the behaviour that this one must show.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;

use chatmd_policy::chain::{self, ChainFault};
use chatmd_policy::{
    Action, Capabilities, CompiledPolicy, EffectKind, Matcher, PolicySource, RequestKind,
    RuleSource, check_capabilities, infer_effects,
};
use common::{basename_and_argument, command, decision, effects_of, host, one_rule, short, words};

fn kinds(argv: &[&str]) -> Vec<EffectKind> {
    effects_of(&host(""), words(argv)).kinds()
}

fn refused(argv: &[&str], powers: &Capabilities) -> Option<String> {
    let host = host("");
    let effects = effects_of(&host, words(argv));
    check_capabilities(powers, &effects, &host)
        .first()
        .map(ToString::to_string)
}

fn workspace() -> Capabilities {
    Capabilities {
        read: words(&["/ws"]),
        write: words(&["/ws"]),
        network: true,
        child_processes: true,
        ..Capabilities::default()
    }
}

/// fc1-001: read-only git commands start programs that the repository's configuration names.
#[test]
fn git_always_runs_helpers() {
    for sub in ["diff", "log", "show", "status", "blame"] {
        let kinds = kinds(&["git", sub]);
        for kind in [EffectKind::ChildProcesses, EffectKind::ArbitraryCode] {
            assert!(kinds.contains(&kind), "git {sub}: {kinds:?}");
        }
        assert_eq!(
            refused(&["git", sub], &workspace()).as_deref(),
            Some("arbitrary code execution is disabled"),
            "git {sub}"
        );
    }
    assert_eq!(refused(&["cat", "a"], &workspace()), None);
}

/// fc1-002: options that make a search tool run programs.
#[test]
fn ripgrep_options_that_run_programs() {
    for argv in [
        &["rg", "--pre", "./x", "pat"][..],
        &["rg", "--pre=./x", "pat"],
        &["rg", "--hostname-bin", "./x", "pat"],
        &["rg", "--hostname-bin=./x", "pat"],
        &["rg", "-z", "pat"],
        &["rg", "-nz", "pat"],
        &["rg", "--search-zip", "pat"],
        &["rg", "pat", "src", "--pre", "./x"],
    ] {
        let kinds = kinds(argv);
        assert!(kinds.contains(&EffectKind::ChildProcesses), "{argv:?}");
        assert!(kinds.contains(&EffectKind::ArbitraryCode), "{argv:?}");
    }
    for argv in [
        &["rg", "pat", "src"][..],
        &["rg", "-n", "--", "--pre", "src"],
        &["rg", "-e", "--pre", "src"],
        &["rg", "--pre-glob", "*.z", "pat", "src"],
    ] {
        assert_eq!(
            short(&effects_of(&host(""), words(argv))),
            "R:/ws/src",
            "{argv:?}"
        );
    }
}

/// fc1-003: an assignment before a command is refused, not stripped.
#[test]
fn leading_assignments() {
    let parsed = chain::parse("NODE_OPTIONS=--require=/tmp/p.cjs npm --version").unwrap_err();
    assert_eq!(
        parsed.to_string(),
        "command parse failed at byte 0: variable assignment is not supported"
    );
    // The same through `env` is a different command that no rule for npm allows.
    let host = host("");
    let policy = one_rule(
        Action::Ask,
        Action::Allow,
        Matcher::ArgvPrefix(words(&["npm", "--version"])),
    );
    let decide = |argv: &[&str]| decision(&policy, &host, &command(&host, words(argv))).action;
    assert_eq!(decide(&["npm", "--version"]), Action::Allow);
    assert_eq!(
        decide(&[
            "env",
            "NODE_OPTIONS=--require=/tmp/p.cjs",
            "npm",
            "--version"
        ]),
        Action::Ask
    );
    for variable in [
        "LD_PRELOAD",
        "BASH_ENV",
        "PYTHONSTARTUP",
        "GIT_SSH_COMMAND",
        "PAGER",
    ] {
        let kinds = kinds(&["env", &format!("{variable}=./x"), "ls"]);
        assert!(kinds.contains(&EffectKind::ArbitraryCode), "{variable}");
    }
}

/// fc1-004: build and test runners run code that the agent can edit.
#[test]
fn build_and_test_runners() {
    for argv in [
        &["go", "test", "./..."][..],
        &["go", "generate", "./..."],
        &["cargo", "build"],
        &["npm", "test"],
        &["make"],
        &["pytest", "-q"],
        &["python3", "-m", "pytest"],
        &["bazel", "test", "//..."],
    ] {
        let kinds = kinds(argv);
        assert!(kinds.contains(&EffectKind::ArbitraryCode), "{argv:?}");
        assert!(kinds.contains(&EffectKind::ChildProcesses), "{argv:?}");
        assert!(
            refused(argv, &workspace()).is_some_and(|reason| reason.contains("arbitrary code")),
            "{argv:?}"
        );
    }
}

/// fc1-005: wrappers known and unknown.
#[test]
fn wrappers_do_not_hide_the_command() {
    let host = host("");
    let deny = one_rule(
        Action::Allow,
        Action::Deny,
        Matcher::All(vec![
            Matcher::Basename("git".to_owned()),
            Matcher::ArgvPrefix(words(&["git", "push"])),
        ]),
    );
    for argv in [
        &["env", "git", "push"][..],
        &["nice", "-n", "5", "git", "push"],
        &["stdbuf", "-oL", "git", "push"],
        &["xargs", "-a", "f", "git", "push"],
        &["setsid", "git", "push"],
    ] {
        let facts = command(&host, words(argv));
        assert_eq!(
            decision(&deny, &host, &facts).action,
            Action::Deny,
            "{argv:?}"
        );
    }
    // An unknown program may run its arguments: no allow with known effects, no start without
    // the power to start processes.
    let known = one_rule(Action::Ask, Action::Allow, Matcher::NoUnknownEffects);
    let facts = command(&host, words(&["/tmp/run-it", "git", "push"]));
    assert_eq!(decision(&known, &host, &facts).action, Action::Ask);
    let powers = Capabilities {
        child_processes: false,
        arbitrary_code: true,
        ..workspace()
    };
    assert_eq!(
        refused(&["/tmp/run-it", "git", "push"], &powers).as_deref(),
        Some("child process creation is disabled")
    );
}

/// fc1-006: global options before the sub-command, with the subcommand-aware rule.
#[test]
fn global_options_before_the_subcommand() {
    let host = host("");
    let policy = CompiledPolicy::compile(PolicySource {
        default: Action::Ask,
        rules: vec![
            RuleSource {
                id: "no-push".to_owned(),
                action: Action::Deny,
                matcher: basename_and_argument("git", "push"),
            },
            RuleSource {
                id: "git".to_owned(),
                action: Action::Allow,
                matcher: Matcher::Basename("git".to_owned()),
            },
        ],
        capabilities: Capabilities::default(),
        direct: false,
    })
    .unwrap();
    for argv in [
        &["git", "push"][..],
        &["git", "-C", ".", "push"],
        &["git", "-c", "x=y", "push"],
        &["git", "--git-dir=.git", "push"],
        &["git", "--no-pager", "push"],
    ] {
        let decision = decision(&policy, &host, &command(&host, words(argv)));
        assert_eq!(decision.action, Action::Deny, "{argv:?}");
        assert_eq!(decision.fired, ["no-push", "git"]);
        assert_eq!(decision.reason, "no-push");
    }
    let status = decision(&policy, &host, &command(&host, words(&["git", "status"])));
    assert_eq!(status.action, Action::Allow);
}

/// fc1-008: a redirection is no part of an allowed command, and a second stage is judged alone.
#[test]
fn redirections_and_later_stages() {
    let host = host("");
    let policy = one_rule(
        Action::Ask,
        Action::Allow,
        Matcher::ArgvPrefix(words(&["cargo", "check"])),
    );
    assert!(matches!(
        chain::parse("cargo check > ~/.zshrc"),
        Err(ChainFault::Syntax { offset: 12, .. })
    ));
    assert!(chain::parse("cargo check 2>&1 | tee /etc/x").is_err());
    let piped = chain::parse("cargo check | tee /etc/x").unwrap();
    let stages: Vec<_> = piped.commands().cloned().collect();
    let action = |argv: &[String]| decision(&policy, &host, &command(&host, argv.to_vec())).action;
    assert_eq!(action(&stages[0]), Action::Allow);
    assert_eq!(action(&stages[1]), Action::Ask);
    let effects = infer_effects(&command(&host, stages[1].clone()), &host, false);
    let failures = check_capabilities(&workspace(), &effects, &host);
    assert_eq!(
        failures[0].to_string(),
        "write outside allowed roots: /etc/x"
    );
}

/// fc1-010: every non-empty text gives a command or a refusal, never nothing.
#[test]
fn nothing_is_never_permitted() {
    for text in [
        "git diff --",
        "git diff --no-index -- a b",
        "cat -",
        "-- ls",
    ] {
        let chain = chain::parse(text).unwrap();
        assert!(
            chain
                .commands()
                .all(|argv| !argv.is_empty() && !argv[0].is_empty()),
            "{text}"
        );
        assert!(chain.commands().count() > 0, "{text}");
    }
    for text in ["", " ", "\n", ";", "|", "''", "\"\"", "a;;b", "a |", "&&"] {
        assert!(chain::parse(text).is_err(), "{text:?}");
    }
    let dashes = command(&host(""), words(&["--", "ls"]));
    let effects = infer_effects(&dashes, &host(""), false);
    assert!(effects.has(EffectKind::Unknown));
}

/// fc1-011 to fc1-014: dialect features of shells are refused with their offset.
#[test]
fn shell_dialect_is_refused() {
    for (text, offset) in [
        ("echo hi > $(rm x)", 8),
        ("cat < <(rm c)", 4),
        ("echo hi 2> `rm d`", 9),
        ("cat <<EOF\n$(rm e)\nEOF", 4),
        ("ls & rm -rf x", 3),
        ("(rm -rf x)", 0),
        ("{ rm -rf x; }", 0),
        ("cat <(rm -rf x)", 4),
        ("if true; then rm -rf x; fi", 0),
        ("f(){ rm -rf x; }; f", 1),
        ("r\\\nm -rf x", 1),
        ("cat ~/.ss\\\nh/id", 4),
        ("echo $\\\n(rm x)", 6),
        ("$'\\x72\\x6d' -rf $'\\x2f'", 0),
        ("$'r\\155' -rf x", 0),
        ("command $'rm' -rf x", 8),
        ("$\"rm\" x", 0),
    ] {
        match chain::parse(text) {
            Err(ChainFault::Syntax { offset: at, .. }) => assert_eq!(at, offset, "{text:?}"),
            other => panic!("{text:?}: {other:?}"),
        }
    }
    // Raw shell text never has known effects.
    let host = host("");
    let mut facts = command(&host, words(&["/bin/sh", "-c", "ls"]));
    facts.kind = RequestKind::RawShell;
    facts.script = Some("ls".to_owned());
    let policy = one_rule(Action::Ask, Action::Allow, Matcher::NoUnknownEffects);
    assert_eq!(decision(&policy, &host, &facts).action, Action::Ask);
}
