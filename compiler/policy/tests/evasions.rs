//! Families of spellings for one denied command, each beside harmless look-alikes. Expectations
//! come from what the programs do, not from how the matcher is written.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;

use chatmd_policy::{Action, CommandFacts, Matcher, RequestKind};
use common::{basename_and_argument, command, decision, host, one_rule, words};

const FACTS: &str = "link /usr/bin/g -> /usr/bin/git; link /opt/tools/vcs -> git; \
    link /usr/bin/applet -> /usr/bin/busybox; file /ws/git local; file /tmp/git local";

/// `(family, argv, denied)` against "deny git push" by basename and argument.
const GIT_PUSH: &[(&str, &[&str], bool)] = &[
    ("plain", &["git", "push"], true),
    ("plain", &["git", "push", "--force", "origin"], true),
    ("plain", &["git", "status"], false),
    ("plain", &["gitk", "push"], false),
    ("path", &["/x/git", "push"], true),
    ("path", &["./git", "push"], true),
    ("path", &["/tmp/git", "push"], true),
    ("path", &["/usr/bin/../bin/git", "push"], true),
    ("path", &["/x/git/push"], false),
    ("path", &["/git/x", "push"], false),
    ("options first", &["git", "-C", ".", "push"], true),
    ("options first", &["git", "-c", "a=b", "push"], true),
    ("options first", &["git", "--no-pager", "push"], true),
    ("options first", &["git", "--git-dir=.git", "push"], true),
    ("options first", &["git", "log", "--grep=push"], false),
    ("options first", &["git", "stash", "pushed"], false),
    ("renamed", &["g", "push"], true),
    ("renamed", &["/opt/tools/vcs", "push"], true),
    ("renamed", &["g", "pull"], false),
    ("renamed", &["h", "push"], false),
    ("env", &["env", "git", "push"], true),
    ("env", &["env", "-i", "A=b", "git", "push"], true),
    ("env", &["env", "-u", "A", "-C", "/x", "git", "push"], true),
    ("env", &["env", "-S", "git push"], true),
    ("env", &["env", "-vS", "git push"], true),
    ("env", &["env", "--split-string=git 'push'"], true),
    ("env", &["env", "-S", "g\"i\"t push"], true),
    ("env", &["env", "-", "git", "push"], true),
    ("env", &["env", "--", "git", "push"], true),
    ("env", &["env", "--unknown-option", "git", "push"], true),
    ("env", &["env", "git", "pull"], false),
    ("env", &["env", "--", "A=b", "git", "push"], true),
    ("env", &["env", "-S", "git\\_push"], true),
    ("env", &["env", "-S", "git\\tpush"], true),
    ("env", &["env", "-S", "${X}", "git", "push"], true),
    ("env", &["env", "-S", "ls\\c git push"], false),
    ("env", &["env", "-S", "git # push"], false),
    ("env", &["env", "GIT=push", "ls"], false),
    ("env", &["env", "-u", "git", "ls", "push"], false),
    ("env", &["env", "-S", "ls 'git push'"], false),
    (
        "nested",
        &["env", "timeout", "5", "nice", "git", "push"],
        true,
    ),
    (
        "nested",
        &["env", "env", "env", "env", "env", "git", "push"],
        true,
    ),
    (
        "nested",
        &[
            "sudo", "env", "nohup", "setsid", "stdbuf", "-oL", "git", "push",
        ],
        true,
    ),
    ("nested", &["nice", "nice", "nice", "ls", "push"], false),
    ("timeout", &["timeout", "5", "git", "push"], true),
    (
        "timeout",
        &["timeout", "-k", "1", "--signal", "KILL", "5", "git", "push"],
        true,
    ),
    (
        "timeout",
        &["timeout", "--preserve-status", "-s9", "5", "git", "push"],
        true,
    ),
    ("timeout", &["timeout", "5", "echo", "git", "push"], false),
    (
        "timeout",
        &["timeout", "--new-option", "x", "5", "git", "push"],
        true,
    ),
    ("nice", &["nice", "-n", "5", "git", "push"], true),
    ("nice", &["nice", "-5", "git", "push"], true),
    ("nice", &["nice", "--adjustment=5", "git", "push"], true),
    ("nice", &["ionice", "-c2", "-n", "0", "git", "push"], true),
    ("nice", &["chrt", "-r", "10", "git", "push"], true),
    ("nice", &["taskset", "-c", "0,1", "git", "push"], true),
    ("nice", &["nice", "-n", "5", "ls", "git", "push"], false),
    ("nohup", &["nohup", "git", "push"], true),
    ("nohup", &["setsid", "--wait", "git", "push"], true),
    ("nohup", &["stdbuf", "-o", "L", "git", "push"], true),
    ("nohup", &["time", "-f", "%e", "git", "push"], true),
    ("nohup", &["nohup", "ls", "push"], false),
    ("sudo", &["sudo", "git", "push"], true),
    (
        "sudo",
        &["sudo", "-u", "bob", "--", "A=b", "git", "push"],
        true,
    ),
    ("sudo", &["sudo", "-ubob", "-n", "git", "push"], true),
    ("sudo", &["sudo", "-s", "git", "push"], true),
    ("sudo", &["doas", "-u", "bob", "git", "push"], true),
    ("sudo", &["su", "-c", "git push"], true),
    ("sudo", &["sudo", "-s", "ls; git push"], true),
    ("sudo", &["su", "bob", "--", "-c", "git push"], true),
    ("sudo", &["su", "bob", "--command=git push"], true),
    ("sudo", &["runuser", "-u", "bob", "git", "push"], true),
    ("sudo", &["sudo", "-u", "git", "ls", "push"], false),
    ("sudo", &["su", "-c", "git pull"], false),
    ("shell", &["bash", "-c", "git push"], true),
    ("shell", &["sh", "-ec", "git push"], true),
    ("shell", &["bash", "--norc", "-x", "-c", "git push"], true),
    ("shell", &["bash", "-o", "pipefail", "-c", "git push"], true),
    ("shell", &["bash", "-c", "-x", "git push"], true),
    ("shell", &["bash", "-c", "-", "git push"], true),
    ("shell", &["bash", "+x", "-c", "git push"], true),
    ("shell", &["bash", "+c", "git push"], false),
    ("shell", &["bash", "--rcfile", "x", "-c", "git push"], true),
    ("shell", &["fish", "--command", "git push"], true),
    ("shell", &["fish", "--command=git push"], true),
    ("shell", &["/bin/zsh", "-lc", "git -C . push"], true),
    ("shell", &["dash", "-c", "cd x && git push"], true),
    ("shell", &["bash", "-c", "ls; git push > log"], true),
    ("shell", &["bash", "-c", "git \"$1\"", "x", "push"], true),
    ("shell", &["bash", "-c", "sh -c \"git push\""], true),
    ("shell", &["bash", "-c", "eval \"git push\""], true),
    ("shell", &["bash", "-c", "if true; then git push; fi"], true),
    ("shell", &["bash", "-c", "(git push)"], true),
    ("shell", &["bash", "-c", "git pu\\\nsh"], true),
    ("shell", &["bash", "-c", "echo git push"], false),
    ("shell", &["bash", "-c", "git pull > log"], false),
    ("shell", &["bash", "-c", "echo 'git push'"], false),
    ("shell", &["bash", "script.sh", "git", "push"], false),
    ("quoting", &["bash", "-c", "g'i't \"push\""], true),
    ("quoting", &["bash", "-c", "\\git pus\\h"], true),
    ("quoting", &["bash", "-c", "'git push'"], false),
    ("multi-call", &["busybox", "sh", "-c", "git push"], true),
    ("multi-call", &["busybox", "env", "git", "push"], true),
    (
        "multi-call",
        &["toybox", "timeout", "5", "git", "push"],
        true,
    ),
    (
        "multi-call",
        &["busybox", "busybox", "sh", "-c", "git push"],
        true,
    ),
    ("multi-call", &["busybox", "echo", "git", "push"], false),
    ("find", &["find", ".", "-exec", "git", "push", ";"], true),
    (
        "find",
        &["find", ".", "-okdir", "git", "-C", "{}", "push", ";"],
        true,
    ),
    (
        "find",
        &[
            "find", ".", "-name", "x", "-exec", "sh", "-c", "git push", "{}", "+",
        ],
        true,
    ),
    ("find", &["find", ".", "-exec", "git", "push"], true),
    ("find", &["find", "git", "-name", "push"], false),
    (
        "find",
        &[
            "find", ".", "-name", "-exec", "-name", "git", "-name", "push",
        ],
        false,
    ),
    ("xargs", &["xargs", "git", "push"], true),
    ("xargs", &["xargs", "-a", "f", "-n1", "git", "push"], true),
    ("xargs", &["xargs", "-I", "{}", "git", "push", "{}"], true),
    ("xargs", &["xargs", "-i", "git", "push", "{}"], true),
    (
        "xargs",
        &["xargs", "-0r", "--max-procs=4", "git", "push"],
        true,
    ),
    ("xargs", &["xargs", "-I", "git", "echo", "push"], false),
    ("xargs", &["xargs", "-a", "git", "cat", "push"], false),
    ("others", &["watch", "-n", "1", "git push"], true),
    ("others", &["watch", "git", "push"], true),
    ("others", &["flock", "/tmp/l", "git", "push"], true),
    ("others", &["flock", "/tmp/l", "-c", "git push"], true),
    ("others", &["chroot", "/x", "git", "push"], true),
    ("others", &["unshare", "-r", "--net", "git", "push"], true),
    ("others", &["nsenter", "-t", "1", "-m", "git", "push"], true),
    (
        "others",
        &["setpriv", "--reuid", "1", "--clear-groups", "git", "push"],
        true,
    ),
    (
        "others",
        &["strace", "-f", "-o", "log", "git", "push"],
        true,
    ),
    ("others", &["valgrind", "--tool=none", "git", "push"], true),
    ("others", &["gdb", "--args", "git", "push"], true),
    ("others", &["parallel", "git", "push", ":::", "a"], true),
    ("others", &["script", "-qc", "git push", "/dev/null"], true),
    ("others", &["entr", "-r", "git", "push"], true),
    ("others", &["perf", "stat", "git", "push"], true),
    ("others", &["watch", "-n", "1", "git pull"], false),
    ("others", &["watch", "-x", "echo", "a; git push"], false),
    ("others", &["flock", "git", "ls", "push"], false),
    ("others", &["chroot", "/x", "ls", "git", "push"], false),
    ("others", &["strace", "-o", "git", "ls", "push"], false),
    ("others", &["script", "-qc", "git pull", "/dev/null"], false),
    ("look-alikes", &["echo", "git", "push"], false),
    ("look-alikes", &["cat", "push", "git"], false),
    ("look-alikes", &["grep", "git push", "log"], false),
    ("look-alikes", &["git-push-notes", "push"], false),
    ("look-alikes", &["ls", "git", "push"], false),
];

#[test]
fn deny_by_basename_and_argument() {
    let host = host(FACTS);
    let policy = one_rule(
        Action::Allow,
        Action::Deny,
        basename_and_argument("git", "push"),
    );
    let mut failures = Vec::new();
    for (family, argv, denied) in GIT_PUSH {
        let decision = decision(&policy, &host, &command(&host, words(argv)));
        if (decision.action == Action::Deny) != *denied {
            failures.push(format!(
                "{family}: {argv:?} should be {}",
                if *denied { "denied" } else { "allowed" }
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Each denied spelling with another sub-command, or of another program, is harmless: the rule
/// must not hit more than it says.
#[test]
fn the_same_spellings_of_other_commands_are_not_denied() {
    let host = host(FACTS);
    let policy = one_rule(
        Action::Allow,
        Action::Deny,
        basename_and_argument("git", "push"),
    );
    for (family, argv, _) in GIT_PUSH.iter().filter(|(_, _, denied)| *denied) {
        let other: Vec<String> = argv
            .iter()
            .map(|word| word.replace("pus", "pul").replace("\\\nsh", "\\\nll"))
            .collect();
        let decision = decision(&policy, &host, &command(&host, other.clone()));
        assert_eq!(decision.action, Action::Allow, "{family}: {other:?}");
    }
}

/// The same commands never satisfy an allow rule for plain `git status`, nor does a wrapper that
/// holds the allowed command.
#[test]
fn an_allow_rule_sees_no_inner_command() {
    let host = host(FACTS);
    let policy = one_rule(
        Action::Ask,
        Action::Allow,
        Matcher::All(vec![
            Matcher::ArgvPrefix(words(&["git", "status"])),
            Matcher::TrustedExecutable,
        ]),
    );
    for (argv, allowed) in [
        (&["git", "status"][..], true),
        (&["git", "status", "--short"], true),
        (&["env", "git", "status"], false),
        (&["sh", "-c", "git status"], false),
        (&["/usr/bin/git", "status"], false),
        (&["./git", "status"], false),
        (&["g", "status"], false),
        (&["git", "-C", ".", "status"], false),
    ] {
        let decision = decision(&policy, &host, &command(&host, words(argv)));
        assert_eq!(decision.action == Action::Allow, allowed, "{argv:?}");
    }
}

/// Deny by basename alone: copies, links and versions; an allow for the same name does not apply
/// to a copy.
#[test]
fn basename_of_copies_and_links() {
    let host = host(FACTS);
    let name = || Matcher::Basename("git".to_owned());
    let deny = one_rule(Action::Ask, Action::Deny, name());
    let allow = one_rule(Action::Ask, Action::Allow, name());
    for (argv, denied, allowed) in [
        (&["git", "log"][..], true, true),
        (&["/usr/bin/git", "log"], true, true),
        (&["/tmp/git", "push"], true, false),
        (&["./git", "push"], true, false),
        (&["/usr/bin/../bin/git", "push"], true, true),
        (&["g", "log"], true, false),
        (&["git2", "log"], false, false),
    ] {
        let facts = command(&host, words(argv));
        assert_eq!(
            decision(&deny, &host, &facts).action == Action::Deny,
            denied,
            "{argv:?}"
        );
        assert_eq!(
            decision(&allow, &host, &facts).action == Action::Allow,
            allowed,
            "{argv:?}"
        );
    }
}

/// A restriction written with `not` fires on an inner command that cannot be ruled out.
#[test]
fn not_around_trust_sees_wrappers() {
    let host = host(FACTS);
    let policy = one_rule(
        Action::Allow,
        Action::Deny,
        Matcher::Not(Box::new(Matcher::TrustedExecutable)),
    );
    for (argv, denied) in [
        (&["ls"][..], false),
        (&["./ls"], true),
        (&["timeout", "5", "ls"], true),
        (&["bash", "-c", "echo $x"], true),
    ] {
        let decision = decision(&policy, &host, &command(&host, words(argv)));
        assert_eq!(decision.action == Action::Deny, denied, "{argv:?}");
    }
}

fn raw(host: &chatmd_policy::symbolic::SymbolicHost, script: &str) -> CommandFacts {
    CommandFacts {
        kind: RequestKind::RawShell,
        script: Some(script.to_owned()),
        ..command(host, words(&["/bin/sh", "-c", script]))
    }
}

/// Raw scripts: what a shell would run in substitutions, here-documents, groups and background
/// jobs is found as text; a name that is not there is not.
#[test]
fn raw_scripts_are_matched_as_text() {
    let host = host(FACTS);
    let policy = one_rule(
        Action::Allow,
        Action::Deny,
        Matcher::Basename("rm".to_owned()),
    );
    for (script, denied) in [
        ("echo hi > $(rm x)", true),
        ("cat < <(rm c)", true),
        ("echo hi 2> `rm d`", true),
        ("cat <<EOF\n$(rm e)\nEOF", true),
        ("ls & rm -rf x", true),
        ("(rm -rf x)", true),
        ("{ rm -rf x; }", true),
        ("if true; then rm -rf x; fi", true),
        ("f(){ rm -rf x; }; f", true),
        ("ls; rm x", true),
        ("r\\\nm -rf x", true),
        ("$'\\x72\\x6d' -rf $'\\x2f'", true),
        ("$'r\\155' -rf x", true),
        ("command $'rm' -rf x", true),
        ("$\"rm\" x > y", true),
        ("'r'\\m x > y", true),
        ("ls; echo rm", false),
        ("cat <<EOF\nhello\nEOF", false),
        ("ls > out", false),
    ] {
        assert_eq!(
            decision(&policy, &host, &raw(&host, script)).action == Action::Deny,
            denied,
            "{script}"
        );
    }
}

/// What a wrapper starts when it is told nothing.
#[test]
fn wrappers_without_a_command() {
    let host = host("");
    for (argv, name) in [
        (&["su", "bob"][..], "sh"),
        (&["sudo", "-i"], "sh"),
        (&["xargs"], "echo"),
    ] {
        let deny = |name: &str| {
            let matcher = Matcher::Basename(name.to_owned());
            let policy = one_rule(Action::Allow, Action::Deny, matcher);
            decision(&policy, &host, &command(&host, words(argv))).action
        };
        assert_eq!(deny(name), Action::Deny, "{argv:?}");
        assert_eq!(deny("unheard-of"), Action::Allow, "{argv:?}");
    }
}
