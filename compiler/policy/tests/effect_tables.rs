//! The effect tables row by row: a command line and its complete effect set (spec 06 section 6).
//! Letters: R and W with a path, A arbitrary code, C children, N network, P privilege, U unknown.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;

use chatmd_policy::effect::InnerText;
use chatmd_policy::symbolic::{SymbolicAlias, SymbolicFacts, SymbolicHost, SymbolicResolver};
use chatmd_policy::{Effect, RequestKind, infer_effects};
use common::{effects_of, host, line, short, words};

fn check(facts: &str, rows: &[(&str, &str)]) {
    let host = host(facts);
    let mut failures = Vec::new();
    for (command, expected) in rows {
        let mut wanted: Vec<&str> = expected.split_whitespace().collect();
        wanted.sort_unstable();
        let got = short(&effects_of(&host, line(command)));
        if got != wanted.join(" ") {
            failures.push(format!(
                "{command}\n  want {}\n  got  {got}",
                wanted.join(" ")
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn precise_programs() {
    check(
        "",
        &[
            ("pwd -P", ""),
            ("echo -n '>' /etc/passwd", ""),
            ("true --anything", ""),
            ("cat", ""),
            ("cat -", ""),
            ("cat a /etc/b", "R:/ws/a R:/etc/b"),
            ("cat -nA a", "R:/ws/a"),
            ("cat --numb a", "R:/ws/a"),
            ("cat -- -n", "R:/ws/-n"),
            ("cat -x a", "R:/ws/a U"),
            ("nl --frob=x f", "R:/ws/f U"),
            ("nl --frob f", "R:/ws/f"),
            ("wc --files0-from", "U"),
            ("cat --help", ""),
            ("cat /dev/null /dev/fd/3", "R:/dev/null R:/dev/fd/3"),
            ("cat ../x ./y//z", "R:/x R:/ws/y/z"),
            ("head -n 5 a", "R:/ws/a"),
            ("head -5 a", "R:/ws/a"),
            ("head -qn5 a", "R:/ws/a"),
            ("head --lines=5 a", "R:/ws/a"),
            ("tail -f -s 2 a", "R:/ws/a"),
            ("tail +5 a", "R:/ws/a"),
            ("tail --follow=name a", "R:/ws/a"),
            ("wc -lw a b", "R:/ws/a R:/ws/b"),
            ("wc --files0-from l", "R:/ws/l U"),
            ("wc --files0-from=l", "R:/ws/l U"),
            ("wc --files0 l", "R:/ws/l U"),
            ("ls", "R:/ws"),
            ("ls -1la --color=never d", "R:/ws/d"),
            ("ls -I x", "R:/ws"),
            ("grep p a b", "R:/ws/a R:/ws/b"),
            ("grep -e p a", "R:/ws/a"),
            ("grep -f pats a", "R:/ws/pats R:/ws/a"),
            ("grep -rn p", "R:/ws"),
            ("grep -d recurse p", "R:/ws"),
            ("grep --dir=recurse p", "R:/ws"),
            ("grep -d skip p", ""),
            ("grep --color p a", "R:/ws/a"),
            ("grep -A 3 -5 p a", "R:/ws/a"),
            ("grep p a -i", "R:/ws/a"),
            ("grep --exclude-from=x p a", "R:/ws/x R:/ws/a"),
            ("rg p", "R:/ws"),
            ("rg p src", "R:/ws/src"),
            ("rg --files", "R:/ws"),
            ("rg -e p src", "R:/ws/src"),
            ("rg --pre ./x p", "R:/ws A C U"),
            ("rg --pre=./x p src", "R:/ws/src A C U"),
            ("rg --hostname-bin ./x p", "R:/ws A C U"),
            ("rg -z p", "R:/ws A C U"),
            ("rg -inz p", "R:/ws A C U"),
            ("rg --search-z p", "R:/ws A C U"),
            ("rg --pre-glob '*' p s", "R:/ws/s"),
            ("rm -rf a /b", "W:/ws/a W:/b"),
            ("rm --interactive=never a", "W:/ws/a"),
            ("rmdir -p a/b/c", "W:/ws/a/b/c W:/ws/a/b W:/ws/a"),
            ("rmdir a/b", "W:/ws/a/b"),
            ("mkdir -p -m 700 d", "W:/ws/d"),
            ("mkdir --context d", "W:/ws/d"),
            ("touch -r ref a", "R:/ws/ref W:/ws/a"),
            ("touch -d now a", "W:/ws/a"),
            ("cp a b", "R:/ws/a W:/ws/b"),
            ("cp a b d", "R:/ws/a R:/ws/b W:/ws/d"),
            ("cp -rt d a b", "W:/ws/d R:/ws/a R:/ws/b"),
            ("cp --target-directory=d a", "W:/ws/d R:/ws/a"),
            ("cp a -t d", "W:/ws/d R:/ws/a"),
            ("cp a", "W:/ws/a U"),
            ("mv a b", "R:/ws/a W:/ws/a W:/ws/b"),
            ("mv -t d a", "W:/ws/d R:/ws/a W:/ws/a"),
            ("sort -o out -k 2 a", "R:/ws/a W:/ws/out"),
            ("sort -T /var/x a", "R:/ws/a W:/var/x"),
            ("sort --compress-program=./x a", "R:/ws/a A C U"),
            ("sort --files0-from=l", "R:/ws/l U"),
            ("uniq a b", "R:/ws/a W:/ws/b"),
            ("uniq --group a b", "R:/ws/a W:/ws/b"),
            ("uniq a b c", "R:/ws/a W:/ws/b U"),
            ("cut -d , -f 1 a", "R:/ws/a"),
            ("tr a b", ""),
            ("basename /a/b", ""),
            ("nl -b a f", "R:/ws/f"),
            ("tac -b f", "R:/ws/f"),
            ("fold -s f", "R:/ws/f"),
            ("stat -c %s f", "R:/ws/f"),
            ("stat -f f", "R:/ws/f"),
            ("readlink -f a", "R:/ws/a"),
            ("tee -a a -", "W:/ws/a W:/ws/-"),
            ("diff -u a b", "R:/ws/a R:/ws/b"),
            ("diff -i a b", "R:/ws/a R:/ws/b"),
            ("diff -l a b", "R:/ws/a R:/ws/b A C U"),
            ("diff --to-file=c a", "R:/ws/a R:/ws/c"),
            ("cmp a b 1 2", "R:/ws/a R:/ws/b"),
            ("date +%s", ""),
            ("date -f l", "R:/ws/l"),
            ("date -s now", "P"),
            ("date --set=now", "P"),
            ("date 0101", "P"),
            ("du -sh", "R:/ws"),
            ("du -d 1 a", "R:/ws/a"),
            ("sha256sum a", "R:/ws/a"),
            ("sha256sum -c sums", "R:/ws/sums U"),
            ("sha256sum --che sums", "R:/ws/sums U"),
        ],
    );
}

#[test]
fn find_predicates() {
    check(
        "",
        &[
            ("find", "R:/ws"),
            ("find /etc", "R:/etc"),
            ("find -L a b -name '*.x' -print0", "R:/ws/a R:/ws/b"),
            ("find . -name -exec -name rm", "R:/ws"),
            ("find . -delete", "R:/ws W:/ws"),
            ("find a -fprint out", "R:/ws/a W:/ws/out"),
            ("find a -fprintf out %p", "R:/ws/a W:/ws/out"),
            ("find a -newer ref", "R:/ws/a R:/ws/ref"),
            ("find a -neweraB ref", "R:/ws/a R:/ws/ref"),
            ("find a -newermt 2020-01-01", "R:/ws/a"),
            ("find a -newerBt 2020-01-01", "R:/ws/a"),
            ("find -D tree a", "R:/ws/a"),
            ("find -O3 a", "R:/ws/a"),
            ("find -- a", "R:/ws/a"),
            ("find a -exec rm + x ';'", "R:/ws/a W:/ws/+ W:/ws/x A C U"),
            ("find a -files0-from l", "R:/ws/a R:/ws/l U"),
            ("find a -frobnicate", "R:/ws/a U"),
            ("find a -exec true '{}' ';'", "R:/ws/a A C U"),
            ("find a -exec rm '{}' +", "R:/ws/a W:/ws/a A C U"),
            ("find a -execdir cat '{}'", "R:/ws/a A C U"),
            ("find '(' -type f ')' -o -type d", "R:/ws"),
        ],
    );
}

#[test]
fn groups_and_arguments() {
    check(
        "",
        &[
            ("python3 x.py", "A C U"),
            ("python3.11 x.py", "A C U"),
            ("unheard-of --x", "A C U"),
            ("less a", "A C U"),
            ("chmod 600 a", "P C W:/ws W:/ws/a"),
            ("chmod -x /etc/a", "P C W:/ws W:/etc/a"),
            ("chmod -R 755 /etc/a", "P C W:/ws W:/etc/a"),
            ("cargo +nightly fetch", "R:/ws W:/ws A C U N"),
            ("uv pip install x", "R:/ws W:/ws A C U N"),
            ("chown --reference=r a", "P C W:/ws W:/ws/a R:/ws/r"),
            ("systemctl stop x", "P C W:/ws A U"),
            ("mkfs.ext4 x", "P C W:/ws A U"),
            ("curl http://h", "N W:/ws U"),
            ("curl -so/tmp/f http://h", "N W:/ws W:/tmp/f U"),
            ("curl -o - http://h", "N W:/ws U"),
            ("curl -d @f http://h", "N W:/ws R:/ws/f U"),
            ("curl -F a=@f http://h", "N W:/ws R:/ws/f U"),
            ("curl -F a=f http://h", "N W:/ws U"),
            ("curl -b a=b http://h", "N W:/ws U"),
            ("curl -b jar http://h", "N W:/ws R:/ws/jar U"),
            ("curl -K conf", "N W:/ws R:/ws/conf A C U"),
            ("curl file:///etc/passwd", "N W:/ws R:/etc/passwd U"),
            ("curl FILE:///etc/passwd", "N W:/ws R:/etc/passwd U"),
            ("curl --url file:///etc/x", "N W:/ws R:/etc/x U"),
            ("curl -H @h http://h", "N W:/ws R:/ws/h U"),
            ("curl --data-urlencode a@f http://h", "N W:/ws R:/ws/f U"),
            ("curl --data-urlencode a=b@f http://h", "N W:/ws U"),
            ("curl -F 'a=@\"f\";type=x' http://h", "N W:/ws R:/ws/f U"),
            ("wget -O f http://h", "N W:/ws W:/ws/f U"),
            ("wget -i l", "N W:/ws R:/ws/l U"),
            ("wget -e x=y http://h", "N W:/ws A C U"),
            ("ssh h ls", "N W:/ws A C U"),
            ("scp a h:b", "N W:/ws R:/ws/a A C U"),
            ("scp h:b a", "N W:/ws W:/ws/a A C U"),
            ("scp ./a:b h:", "N W:/ws R:/ws/a:b A C U"),
            ("rsync -a a/ b/", "N W:/ws R:/ws/a W:/ws/b A C U"),
            ("git status", "R:/ws W:/ws A C U"),
            ("git -C d log", "R:/ws W:/ws R:/ws/d W:/ws/d A C U"),
            (
                "git --git-dir=g push",
                "R:/ws W:/ws R:/ws/g W:/ws/g A C U N",
            ),
            ("git clone https://h/x.git", "R:/ws W:/ws W:/ws/x A C U N"),
            ("git clone -b m h:x.git y", "R:/ws W:/ws W:/ws/y A C U N"),
            ("git clone h:d/x/.git", "R:/ws W:/ws W:/ws/x A C U N"),
            ("git submodule update --init", "R:/ws W:/ws A C U N"),
            ("git submodule status", "R:/ws W:/ws A C U"),
            ("git remote add -f o u", "R:/ws W:/ws A C U N"),
            ("git remote add o u", "R:/ws W:/ws A C U"),
            ("git archive --remote=h HEAD", "R:/ws W:/ws A C U N"),
            ("git init d", "R:/ws W:/ws W:/ws/d A C U"),
            ("git worktree add ../w b", "R:/ws W:/ws W:/w A C U"),
            (
                "git config --global a b",
                "R:/ws W:/ws W:/home/u/.gitconfig A C U",
            ),
            (
                "git config --system a b",
                "R:/ws W:/ws W:/etc/gitconfig A C U P",
            ),
            ("git apply p", "R:/ws W:/ws R:/ws/p A C U"),
            ("git diff --output=o", "R:/ws W:/ws W:/ws/o A C U"),
            ("git diff -- --output=o", "R:/ws W:/ws A C U"),
            ("git format-patch -oo", "R:/ws W:/ws W:/ws/o A C U"),
            ("npm test", "R:/ws W:/ws A C U"),
            ("npm ci", "R:/ws W:/ws A C U N"),
            ("npx x", "R:/ws W:/ws A C U N"),
            ("cargo build", "R:/ws W:/ws A C U"),
            ("cargo fetch", "R:/ws W:/ws A C U N"),
            (
                "cargo build --manifest-path d/Cargo.toml",
                "R:/ws W:/ws R:/ws/d W:/ws/d A C U",
            ),
            ("pip install x", "R:/ws W:/ws A C U N"),
            ("go get x", "R:/ws W:/ws A C U N"),
            ("go test", "R:/ws W:/ws A C U"),
            ("apt-get install x", "R:/ws W:/ws A C U N P"),
            ("docker ps", "R:/ws W:/ws A C U N P"),
            ("make -C d", "R:/ws W:/ws R:/ws/d W:/ws/d A C U"),
            ("tar cf a.tar d", "A C U W:/ws/a.tar R:/ws/d"),
            ("tar -xf a.tar -C d", "A C U R:/ws/a.tar W:/ws/d"),
            ("tar xzf a.tar", "A C U R:/ws/a.tar W:/ws"),
            ("tar -tf h:a.tar", "A C U N"),
            (
                "tar --append --file=a.tar d",
                "A C U R:/ws/a.tar W:/ws/a.tar R:/ws/d",
            ),
            ("sed s/a/b/ f", "A C U R:/ws/f"),
            ("sed -i s/a/b/ f", "A C U R:/ws/f W:/ws/f"),
            ("sed -n -e p f g", "A C U R:/ws/f R:/ws/g"),
            ("awk '1' f", "A C U R:/ws/f"),
            ("awk -f s f", "A C U R:/ws/f R:/ws/s"),
            ("awk 1 v=x f", "A C U R:/ws/f"),
            ("dd if=a of=b", "A C U R:/ws/a W:/ws/b"),
            ("ln -s a b", "A C U R:/ws/a W:/ws/b"),
            ("install -m 755 a b", "A C U R:/ws/a W:/ws/b"),
            ("truncate -s 0 a", "A C U W:/ws/a"),
        ],
    );
}

#[test]
fn wrappers() {
    check(
        "",
        &[
            ("env ls", "A C U R:/ws"),
            ("env -C /etc cat a", "A C U R:/etc/a"),
            ("env -i -C /etc cat a", "A C U R:/etc/a"),
            ("env -v -S 'cat a' b", "A C U R:/ws/a R:/ws/b"),
            ("env -iC/etc cat a", "A C U R:/etc/a"),
            ("env -S 'cat a' b", "A C U R:/ws/a R:/ws/b"),
            ("xargs -a l cat b", "A C U R:/ws/l R:/ws/b"),
            ("timeout -k 1 5 rm a", "A C U W:/ws/a"),
            ("nice -n 5 rm a", "A C U W:/ws/a"),
            ("sudo -u x rm a", "A C U P W:/ws W:/ws/a"),
            ("sudo -e a", "A C U P W:/ws W:/ws/a"),
            ("sh -c 'cat a; rm b'", "A C U R:/ws/a W:/ws/b"),
            ("sh -c 'cat a > b'", "A C U"),
            ("busybox cat a", "R:/ws/a"),
            ("busybox busybox cat a", "R:/ws/a"),
            ("busybox /bin/cat a", "R:/ws/a"),
            ("busybox --list", ""),
            ("busybox sh -c 'rm a'", "A C U W:/ws/a"),
            ("coreutils --coreutils-prog=cat a", "R:/ws/a"),
            ("env env env env env rm a", "A C U"),
        ],
    );
}

#[test]
fn what_the_executable_is() {
    check("program cat = local", &[("cat a", "A C U R:/ws/a")]);
    check("program cat = script", &[("cat a", "A C U R:/ws/a")]);
    check(
        "program x = missing",
        &[("x a", "A C U"), ("./cat a", "A C U R:/ws/a")],
    );
    check("file /usr/bin/cat setuid", &[("cat a", "A C U P R:/ws/a")]);
    check(
        "link /usr/bin/cat -> /usr/bin/bash",
        &[("cat a", "A C U R:/ws/a")],
    );
    check(
        "link /opt/cat -> /usr/bin/bash",
        &[("/opt/cat a", "A C U R:/ws/a")],
    );
    check(
        "link /usr/bin/wget -> /bin/busybox",
        &[("wget u", "N W:/ws U")],
    );
    check("link /usr/bin/cat -> /bin/busybox", &[("cat a", "R:/ws/a")]);
    // Distribution alternatives in a trusted root keep the name they are asked for; elsewhere the
    // file behind the link counts as well.
    check(
        "link /usr/bin/cat -> /opt/unheard-of",
        &[("cat a", "R:/ws/a")],
    );
    check(
        "link /opt/cat -> /opt/unheard-of",
        &[("/opt/cat a", "A C U R:/ws/a")],
    );
    check(
        "link /dev/stdin -> /etc/passwd",
        &[("cat /dev/stdin", "R:/dev/stdin")],
    );
    check("link /a -> /b; link /b -> /a", &[("cat /a/x", "R:/a/x U")]);
    check("link /ws/l -> /etc", &[("cat l/passwd", "R:/etc/passwd")]);
}

#[test]
fn rg_configuration_runs_programs() {
    let host = host("");
    let mut facts = common::command(&host, line("rg p s"));
    facts
        .environment
        .insert("RIPGREP_CONFIG_PATH".to_owned(), "/x".to_owned());
    let effects = |facts: &chatmd_policy::CommandFacts| {
        short(&chatmd_policy::infer_effects(facts, &host, false))
    };
    assert_eq!(effects(&facts), "A C R:/ws/s U");
    facts.argv.push("--no-config".to_owned());
    assert_eq!(effects(&facts), "R:/ws/s");
}

#[test]
fn find_follows_links_without_a_sandbox() {
    let host = host("");
    let facts = common::command(&host, line("find -L a"));
    let effects = |direct| short(&chatmd_policy::infer_effects(&facts, &host, direct));
    assert_eq!(effects(false), "R:/ws/a");
    assert_eq!(effects(true), "R:/ws/a U");
}

fn reasons(facts: &str, argv: Vec<String>) -> Vec<String> {
    let effects = effects_of(&host(facts), argv);
    let unknown = effects.iter().filter_map(|effect| match effect {
        Effect::Unknown(reason) => Some(reason.clone()),
        _ => None,
    });
    unknown.collect()
}

#[test]
fn reasons_of_unknown_effects() {
    let long = format!("--{}é", "x".repeat(37));
    for (facts, argv, reason) in [
        ("", line("cat -x a"), "unrecognised option -x of cat"),
        (
            "",
            words(&["cat", &format!("{long}yz"), "a"]),
            &*format!("unrecognised option --{} of cat", "x".repeat(37)),
        ),
        ("", line("env env env env env rm a"), "nested wrappers"),
        // The same program under two version numbers is one program.
        (
            "link /opt/unheard -> /opt/unheard-1.2",
            line("/opt/unheard"),
            "no effect specification for unheard",
        ),
    ] {
        let found = reasons(facts, argv);
        let named = found.iter().filter(|found| *found == reason).count();
        assert_eq!(named, 1, "{reason} in {found:?}");
        let others = found.iter().filter(|found| found.contains("unheard"));
        assert!(others.count() <= 1, "{found:?}");
    }
}

/// What `find` repeats for every start path is bounded in number and in bytes; beyond that the
/// command is unknown.
#[test]
fn repeated_start_paths_are_bounded() {
    for starts in [vec!["a".to_owned(); 5_000], vec!["a".repeat(100_000); 3]] {
        let mut argv = vec!["find".to_owned()];
        argv.extend(starts);
        let fewer: Vec<String> = argv.iter().take(3).cloned().collect();
        let exec = words(&["-exec", "unheard-of", "{}", ";"]);
        argv.extend(exec.clone());
        let effects = effects_of(&host(""), argv.clone());
        let InnerText::Argv(inner) = &effects.inner()[0].text else {
            panic!("not an argv");
        };
        assert!(inner.len() <= 4_200, "{} words", inner.len());
        let bytes: usize = inner.iter().map(String::len).sum();
        assert!(bytes <= 1 << 18, "{bytes} bytes");
        let reason = "too many paths for {}".to_owned();
        assert!(reasons("", argv).contains(&reason));
        assert!(!reasons("", [fewer, exec].concat()).contains(&reason));
    }
}

#[test]
fn too_many_inner_commands_are_unknown() {
    // The last one that is looked at is an applet, whose own effects do not count.
    let mut argv = words(&["find", "a"]);
    for number in 0..300 {
        argv.extend(words(&[
            "-exec",
            "busybox",
            "cat",
            &number.to_string(),
            ";",
        ]));
    }
    assert!(reasons("", argv).contains(&"too many inner commands".to_owned()));
}

/// Spec 06 section 6.7: what a replacing analyzer cannot remove.
#[test]
fn pinned_effects_survive_a_replacement() {
    let host = host("program x = local");
    for (argv, kept) in [
        ("cat a", "N"),
        ("unheard-of", "N"),
        ("x", "A C N U"),
        ("./cat a", "A C N U"),
        ("date -s now", "N P"),
    ] {
        let mut effects = effects_of(&host, line(argv));
        effects.replace("analyzer", [Effect::Network]);
        effects.finish();
        assert_eq!(short(&effects), kept, "{argv}");
    }
    let mut facts = common::command(&host, line("sh"));
    facts.kind = RequestKind::RawShell;
    facts.script = Some("ls".to_owned());
    let mut effects = infer_effects(&facts, &host, false);
    effects.replace("analyzer", []);
    effects.finish();
    let kept: Vec<String> = effects.iter().map(ToString::to_string).collect();
    assert_eq!(kept, ["unknown:opaque shell program"]);
}

/// An alias stands for the program it names.
#[test]
fn aliases_have_the_effects_of_their_program() {
    let resolver = SymbolicResolver {
        search_path: vec!["/usr/bin".to_owned()],
        trusted_roots: vec![],
        aliases: vec![SymbolicAlias {
            id: "printer".to_owned(),
            path: "/usr/bin/cat".to_owned(),
            trusted: true,
            pinned: false,
        }],
        write_roots: vec![],
    };
    let host = SymbolicHost::new(SymbolicFacts::default(), resolver);
    assert_eq!(short(&effects_of(&host, line("printer a"))), "R:/ws/a");
}
