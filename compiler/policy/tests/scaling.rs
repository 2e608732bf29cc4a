//! Hostile sizes: no panic, bounded results, time in proportion to the input. Counted in work done
//! or compared between sizes, with generous margins.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;

use std::time::{Duration, Instant};

use chatmd_policy::{Action, Matcher, chain, infer_effects};
use common::{basename_and_argument, command, decision, host, one_rule, words};

fn timed(work: impl Fn()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Eight times the input may take at most 40 times as long (linear would be 8). The best of several
/// rounds counts: load of the machine only ever adds to one of them.
fn grows_linearly(name: &str, work: impl Fn(usize)) {
    let mut seen = Vec::new();
    for _ in 0..6 {
        let small = timed(|| work(1)).max(Duration::from_micros(500));
        let large = timed(|| work(8));
        if large < small * 40 {
            return;
        }
        seen.push((small, large));
    }
    panic!("{name}: {seen:?}");
}

#[test]
fn hostile_commands() {
    let host = host("");
    let policy = one_rule(
        Action::Allow,
        Action::Deny,
        basename_and_argument("git", "push"),
    );
    let run = |argv: Vec<String>| decision(&policy, &host, &command(&host, argv)).action;
    grows_linearly("many paths", |n| {
        let mut argv = words(&["cat"]);
        argv.extend((0..500 * n).map(|number| format!("d{number}/f")));
        run(argv);
    });
    grows_linearly("many wrappers", |n| {
        let mut argv: Vec<String> = (0..500 * n).map(|_| "env".to_owned()).collect();
        argv.extend(words(&["git", "push"]));
        assert_eq!(run(argv), Action::Deny);
    });
    grows_linearly("many applets", |n| {
        let mut argv: Vec<String> = (0..500 * n).map(|_| "busybox".to_owned()).collect();
        argv.extend(words(&["sh", "-c", "git push"]));
        assert_eq!(run(argv), Action::Deny);
    });
    grows_linearly("many -S strings", |n| {
        let mut argv = words(&["env"]);
        for _ in 0..250 * n {
            argv.extend(words(&["-S", "A=b"]));
        }
        argv.extend(words(&["git", "push"]));
        assert_eq!(run(argv), Action::Deny);
    });
    grows_linearly("many find actions", |n| {
        let mut argv = words(&["find"]);
        argv.extend((0..60 * n).map(|number| format!("d{number}")));
        for number in 0..60 * n {
            argv.extend(words(&["-exec", "cat", "{}", "{}", ";"]));
            argv.push(format!("-name{number}"));
        }
        argv.extend(words(&["-exec", "git", "push", ";"]));
        assert_eq!(run(argv), Action::Deny);
    });
    grows_linearly("ambiguous abbreviations", |n| {
        let mut argv = words(&["rg"]);
        argv.extend((0..500 * n).map(|_| "--no".to_owned()));
        run(argv);
    });
    grows_linearly("long cluster", |n| {
        run(vec!["ls".to_owned(), format!("-{}", "Zq".repeat(8000 * n))]);
    });
    grows_linearly("shell text", |n| {
        let text = format!("{} > x; git push", "a'b\\c\"".repeat(2000 * n));
        assert_eq!(
            run(vec!["bash".to_owned(), "-c".to_owned(), text]),
            Action::Deny
        );
    });
}

#[test]
fn inner_commands_are_bounded_and_nothing_is_lost() {
    let host = host("");
    let policy = one_rule(
        Action::Allow,
        Action::Deny,
        basename_and_argument("git", "push"),
    );
    // 40 * 60 commands of nested shells, the denied one last.
    let mut outer = String::new();
    for _ in 0..40 {
        let inner = "ls -a;".repeat(60);
        outer.push_str(&format!("sh -c '{inner}'; "));
    }
    outer.push_str("sh -c 'env git push'");
    let facts = command(&host, vec!["bash".to_owned(), "-c".to_owned(), outer]);
    let effects = infer_effects(&facts, &host, false);
    assert!(effects.inner().len() <= 300, "{}", effects.inner().len());
    assert_eq!(decision(&policy, &host, &facts).action, Action::Deny);
    let mut many = words(&["find", "."]);
    for number in 0..800 {
        many.extend(words(&["-exec", "cat"]));
        many.push(format!("f{number}"));
        many.push(";".to_owned());
    }
    many.extend(words(&["-exec", "git", "push", ";"]));
    let facts = command(&host, many);
    assert!(infer_effects(&facts, &host, false).inner().len() <= 300);
    assert_eq!(decision(&policy, &host, &facts).action, Action::Deny);
}

#[test]
fn the_parser_is_linear_and_total() {
    for piece in [
        "a ", "'a'", "\"a\"", "\\a", "a;", "a|b;", "$", "\n", "a'\n'", "[ ", "é",
    ] {
        let text = |n: usize| piece.repeat(n * 1000);
        grows_linearly(piece, |n| {
            let _ = chain::parse(&text(n));
        });
    }
    // Every pair and triple of characters that mean something parses or is refused in place.
    let characters = [
        "a", " ", "\t", "\n", "\r", "'", "\"", "\\", "$", "`", "|", "&", ";", "<", ">", "(", "{",
        "*", "[", "~", "#", "=", "!", "\0", "é",
    ];
    for first in characters {
        for second in characters {
            for third in characters {
                let text = format!("{first}{second}{third}");
                if let Err(chain::ChainFault::Syntax { offset, .. }) = chain::parse(&text) {
                    assert!(
                        offset <= text.len() && text.is_char_boundary(offset),
                        "{text:?}"
                    );
                }
            }
        }
    }
}

/// What was parsed can be quoted again and parses to the same argv.
#[test]
fn argv_round_trips_through_quotes() {
    let pieces = [
        "a", "", " ", "'", "\"", "$x", "\n", "*", "a b", "\\", "é", "|", "-n",
    ];
    for first in pieces.iter().filter(|piece| !piece.is_empty()) {
        for second in pieces {
            let argv = vec![(*first).to_owned(), second.to_owned()];
            let quoted: Vec<String> = argv
                .iter()
                .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
                .collect();
            let chain = chain::parse(&quoted.join(" ")).unwrap();
            assert_eq!(chain.single().unwrap(), argv);
        }
    }
}

/// Many rules: candidates come from the index, so a rule that cannot match costs nothing.
#[test]
fn two_thousand_rules() {
    use chatmd_policy::{Capabilities, CompiledPolicy, PolicySource, RuleSource};
    let host = host("");
    let policy = |count: usize| {
        CompiledPolicy::compile(PolicySource {
            default: Action::Ask,
            rules: (0..count)
                .map(|number| RuleSource {
                    id: format!("r{number}"),
                    action: Action::Deny,
                    matcher: match number % 3 {
                        0 => Matcher::Basename(format!("p{number}")),
                        1 => Matcher::ArgumentContains(format!("needle{number}x")),
                        _ => Matcher::ArgvPrefix(words(&["git", &format!("sub{number}")])),
                    },
                })
                .collect(),
            capabilities: Capabilities::default(),
            direct: false,
        })
        .unwrap()
    };
    let (small, large) = (policy(20), policy(2000));
    let facts = command(
        &host,
        words(&["git", "-C", ".", "log", "--oneline", "-n", "5", "x"]),
    );
    let cost = |policy| timed(|| (0..200).for_each(|_| drop(decision(policy, &host, &facts))));
    let (few, many) = (cost(&small), cost(&large));
    assert!(
        many < few.max(Duration::from_millis(5)) * 40,
        "{few:?} then {many:?}"
    );
}
