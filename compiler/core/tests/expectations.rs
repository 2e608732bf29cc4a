//! Tests in documents: verdicts, targets, facts, and what they leave alone (spec 12 sections 1, 2).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::sync::Arc;

use camino::Utf8Path;
use chatmd_compiler::compile::TestSelection;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::diagnostics::Severity;
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::{Compilation, CompileOptions, compile};

fn compiled(files: &[(&str, &str)], platform: Platform) -> Arc<Compilation> {
    let system: MemoryFileSystem = files
        .iter()
        .map(|(path, text)| (*path, text.as_bytes()))
        .collect();
    let mut db = Database::new(system);
    let root = db
        .root_from_path("/w/agent.chatmd".into(), Utf8Path::new("/w"))
        .unwrap();
    let mut options = CompileOptions::for_platform(platform);
    options.tests = Some(TestSelection {
        sidecar: true,
        ..TestSelection::default()
    });
    compile(&db, root, &options)
}

fn one(document: &str) -> Arc<Compilation> {
    compiled(&[("/w/agent.chatmd", document)], Platform::Linux)
}

/// Codes and messages of everything that a test causes.
fn found(compilation: &Compilation) -> Vec<String> {
    let found = compilation.diagnostics.iter();
    found
        .filter(|found| found.code.starts_with("chatmd.test") || found.severity == Severity::Error)
        .map(|found| format!("{}: {}", found.code, found.message))
        .collect()
}

/// Roots, powers and rules for which every step of a call can be reached.
const RUNTIME: &str = "<shell_access id=\"dev\">\
    <capabilities child_processes=\"true\" arbitrary_code=\"true\">\
    <read path=\"${workspace}\"/><write path=\"${workspace}\"/></capabilities>\
    <resolver><search_path path=\"/usr/bin\"/><trusted_root path=\"/usr/bin\"/></resolver>\
    <policy default=\"ask\">\
    <rule id=\"push\" action=\"deny\"><all><basename value=\"git\"/><argument value=\"push\"/></all></rule>\
    <rule id=\"ls\" action=\"allow\"><all><basename value=\"ls\"/><trusted_executable/></all></rule>\
    <rule id=\"at\" action=\"deny\"><resolved_path value=\"/opt/x/tool\"/></rule>\
    </policy></shell_access>\n\
    <tool name=\"sh\" type=\"shell\" mode=\"chain\" runtime=\"dev\" result=\"structured\"/>\n\
    <tool name=\"one\" type=\"shell\" mode=\"structured\" runtime=\"dev\" result=\"structured\"/>\n\
    <tool name=\"fix\" runtime=\"dev\" command=\"ls -l\" result=\"structured\"><arguments mode=\"optional\" max_count=\"2\"/></tool>\n";

fn with(test: &str) -> String {
    format!("{RUNTIME}<config/>\n<!-- {test} -->\n<config/>\n")
}

#[test]
fn verdicts() {
    // Runtime tests: text, and the verbs that hold; every other verb must fail.
    let verbs = ["allow", "ask", "deny", "reject", "blocked", "guarded"];
    for (options, text, holds) in [
        ("", "ls", &["allow"][..]),
        ("", "cargo build", &["ask", "guarded"]),
        (
            "program=missing",
            "cargo build",
            &["reject", "blocked", "guarded"],
        ),
        // The network is refused first, the policy denies all the same.
        ("", "git push", &["deny", "reject", "blocked", "guarded"]),
        (
            "layer=policy",
            "git push",
            &["deny", "reject", "blocked", "guarded"],
        ),
        ("", "cat /etc/shadow", &["reject", "blocked", "guarded"]),
        (
            "layer=policy",
            "cat /etc/shadow",
            &["ask", "reject", "blocked", "guarded"],
        ),
        ("", "ls > x", &["reject", "blocked", "guarded"]),
        // The worst command of a chain.
        ("", "ls | cargo build", &["ask", "guarded"]),
        ("stage=1", "ls | cargo build", &["allow"]),
        (
            "stage=2",
            "ls | git push",
            &["deny", "reject", "blocked", "guarded"],
        ),
        ("program=local", "ls", &["ask", "guarded"]),
        (
            "program=path:/opt/x/tool",
            "tool",
            &["deny", "blocked", "guarded"],
        ),
        ("as=argv", "[\"ls\", \"a b\"]", &["allow"]),
        ("cwd=/etc", "cat shadow", &["reject", "blocked", "guarded"]),
        ("origin=moderator stdin=3", "ls", &["allow"]),
    ] {
        for verb in verbs {
            let document = with(&format!("expect {verb} [runtime=dev {options}]: {text}"));
            let compilation = one(&document);
            let found = found(&compilation);
            assert_eq!(
                found.is_empty(),
                holds.contains(&verb),
                "{verb} [{options}]: {text}: {found:?}"
            );
            assert!(
                found
                    .iter()
                    .all(|it| it.starts_with("chatmd.test_failed: expected"))
            );
            assert_eq!(compilation.succeeded(), found.is_empty());
        }
    }
}

#[test]
fn options_that_narrow_a_verdict() {
    for (test, fragment) in [
        ("expect deny [rule=push]: git push", ""),
        ("expect deny [rule=push,at]: git push", "not by `at`"),
        ("expect ask [default]: cargo build", ""),
        ("expect allow [default]: ls", "`ls` fired"),
        ("expect ask [rule=ls]: cargo build", "no rule decides"),
        ("expect reject [code=capability_violation]: git push", ""),
        (
            "expect reject [code=denied]: git push",
            "the code is `capability_violation`",
        ),
        ("expect allow [code=denied]: ls", "no refusal"),
        ("expect reject [capability=network]: git push", ""),
        (
            "expect reject [capability=read_path]: git push",
            "ceiling of `network`",
        ),
        ("expect allow [effects=read_path:${workspace}/a]: ls a", ""),
        ("expect allow [effects=read_path:/ws/a]: ls a", ""),
        (
            "expect allow [effects=read_path:/ws/b]: ls a",
            "no effect `read_path` of `/ws/b`",
        ),
        ("expect allow [only_effects=read_path]: ls a", ""),
        (
            "expect allow [only_effects='']: ls a",
            "the effects are `read_path`",
        ),
        ("expect allow [stage=3]: ls", "there is no stage 3"),
        ("expect match [rule=push]: git push", ""),
        ("expect match [rule=push]: ls", "got no_match"),
        ("expect no_match [rule=push]: ls", ""),
        ("expect no_match [rule=push]: ls | git push", "got match"),
        ("expect match [rule=push]: ls | git push", ""),
        ("expect allow [skip='not yet']: git push", ""),
        ("expect allow [platform=macos]: git push", ""),
    ] {
        let test = test.replacen(" [", " [runtime=dev ", 1);
        let found = found(&one(&with(&test)));
        match fragment {
            "" => assert_eq!(found, [""; 0], "{test}"),
            _ => assert!(
                found.len() == 1 && found[0].contains(fragment),
                "{test}: {found:?}"
            ),
        }
    }
}

#[test]
fn tools_read_texts_as_they_read_calls() {
    for (test, fragment) in [
        ("expect allow [tool=sh]: ls | ls", ""),
        (
            "expect reject [tool=sh code=shell.tool_chain_parse]: ls > x",
            "",
        ),
        ("expect allow [tool=one]: ls a", ""),
        ("expect allow [tool=one]: ls | ls", "test_syntax"),
        ("expect allow [tool=fix]:", ""),
        ("expect allow [tool=fix]: a 'b c'", ""),
        (
            "expect reject [tool=fix code=shell.tool_too_many_arguments]: a b c",
            "",
        ),
        (
            "expect reject [tool=one as=json code=shell.tool_duplicate_input]: {\"program\":\"ls\",\"program\":\"ls\"}",
            "",
        ),
        (
            "expect allow [tool=one as=json]: {\"program\":\"ls\",\"arguments\":[]}",
            "",
        ),
        ("expect allow [tool=one as=script]: ls", "test_syntax"),
        ("expect allow [tool=one]:", "nothing to test"),
        ("expect match [tool=one]: ls", "speaks of one rule"),
        ("expect allow [tool=one inherited]: ls", "`inherited`"),
        ("expect allow [tool=one runtime=dev]: ls", "both given"),
    ] {
        let found = found(&one(&with(test)));
        match fragment {
            "" => assert_eq!(found, [""; 0], "{test}"),
            _ => assert!(
                found.len() == 1 && found[0].contains(fragment),
                "{test}: {found:?}"
            ),
        }
    }
}

#[test]
fn facts_reach_what_they_stand_at_and_nothing_else() {
    let rule = |inside: &str| {
        format!(
            "<shell_access id=\"a\"><capabilities><read path=\"/\"/></capabilities>\
             <resolver><search_path path=\"/usr/bin\"/><trusted_root path=\"/usr/bin\"/></resolver>\
             <policy default=\"deny\"><rule id=\"r\" action=\"allow\">{inside}<all>\
             <basename value=\"ls\"/><trusted_executable/></all></rule></policy></shell_access>\n"
        )
    };
    let local = "<!-- expect-given: program ls = local -->";
    let expects = |verb: &str| format!("<!-- expect {verb}: ls -->");
    for document in [
        rule(&format!("{local}{}", expects("no_match"))),
        rule(&format!("{}{local}", expects("no_match"))),
        format!("{local}\n{}", rule(&expects("no_match"))),
        format!("{local}<config/>\n{}", rule(&expects("no_match"))),
        // Of the rule alone: the test of the runtime does not see it.
        format!("{}{}", expects("allow"), rule(local)),
        // Later facts win, options win over facts.
        rule(&format!(
            "{local}<!-- expect-given: program ls = trusted -->{}",
            expects("match")
        )),
        rule(&format!(
            "{local}<!-- expect match [program=trusted]: ls -->"
        )),
    ] {
        assert_eq!(found(&one(&document)), [""; 0], "{document}");
    }
}

#[test]
fn imported_tests_run_under_their_namespace_and_inherited_ones_under_heirs() {
    let lib = "<shell_access id=\"base\"><capabilities child_processes=\"true\" \
               arbitrary_code=\"true\" network=\"true\"><read path=\"/\"/><write path=\"/\"/>\
               </capabilities><policy default=\"ask\"><rule id=\"r\" action=\"deny\">\
               <basename value=\"git\"/></rule></policy>\n\
               <!-- expect deny [inherited]: git push -->\n</shell_access>\n";
    let root = "<import src=\"lib.chatmd\" namespace=\"n\"/>\n\
                <shell_access id=\"child\" extends=\"n:base\"><policy merge=\"replace\" \
                default=\"ask\"/></shell_access>\n\
                <!-- expect deny [runtime=n:base]: git pull -->\n";
    let files = [("/w/agent.chatmd", root), ("/w/lib.chatmd", lib)];
    let compilation = compiled(&files, Platform::Linux);
    let failed: Vec<_> = compilation
        .diagnostics
        .iter()
        .filter(|found| found.code == "chatmd.test_failed")
        .collect();
    assert_eq!(failed.len(), 1, "{:?}", found(&compilation));
    let only = failed[0];
    assert!(
        only.message.starts_with("in `child`: expected deny"),
        "{}",
        only.message
    );
    let at = compilation.locate(only.primary.place).unwrap();
    assert_eq!((at.file.display.as_str(), at.start.line), ("lib.chatmd", 2));
    let extends = compilation.locate(only.secondary[0].place).unwrap();
    assert_eq!(
        (extends.file.display.as_str(), extends.start.line),
        ("/w/agent.chatmd", 2)
    );
    let results: Vec<_> = compilation
        .tested
        .run
        .results
        .iter()
        .map(|result| result.runtime.as_str())
        .collect();
    assert_eq!(results, ["n:base", "n:base", "child"]);
}

#[test]
fn a_failure_that_only_the_place_of_a_program_causes_names_the_fact() {
    let document = with("expect match [runtime=dev rule=at]: tool");
    let compilation = one(&document);
    let failed = compilation
        .diagnostics
        .iter()
        .find(|found| found.code == "chatmd.test_failed")
        .unwrap();
    let hint = "it passes with `tool` at that path: `expect-given: program tool = /opt/x/tool`";
    assert_eq!(failed.hints, [hint]);
    let fixed = document.replace(
        "<!-- expect match",
        "<!-- expect-given: program tool = /opt/x/tool --><!-- expect match",
    );
    assert_eq!(found(&one(&fixed)), [""; 0]);
}

#[test]
fn directives_leave_the_payload_alone() {
    let plain = "<shell_access id=\"dev\"><policy default=\"ask\">\
                 <rule id=\"r\" action=\"deny\"><basename value=\"git\"/></rule></policy>\
                 </shell_access>\n<tool name=\"sh\" type=\"shell\" mode=\"chain\" \
                 runtime=\"dev\" result=\"structured\"/>\n";
    let all = plain
        .replace(
            "<policy",
            "<!-- expect-given: env A=b --><!-- expect blocked: git --><policy",
        )
        .replace(
            "<basename",
            "<!-- why: x --><!-- instead: y --><!-- expect match: git --><basename",
        )
        .replace(
            "<tool",
            "<!-- why: z --><!-- expect guarded: git | ls -->\n<tool",
        );
    let (before, after) = (one(plain), one(&all));
    assert_eq!(found(&after), [""; 0]);
    let without_digests = |compilation: &Compilation| {
        let mut manifest = Arc::unwrap_or_clone(compilation.manifest.clone().unwrap());
        for source in &mut manifest.sources {
            source.sha256.clear();
        }
        manifest
    };
    assert_eq!(without_digests(&before), without_digests(&after));
    assert_ne!(
        before.requested_sha256, after.requested_sha256,
        "the source changed"
    );
    let annotations = &after.tested.suite.annotations;
    let manifest = after.manifest.as_ref().unwrap();
    let rule = annotations.rule(&manifest.runtimes[0], "r").unwrap();
    assert_eq!(
        (rule.why.as_deref(), rule.instead.as_deref()),
        (Some("x"), Some("y"))
    );
    let tool = annotations.tool("sh").unwrap();
    assert_eq!(
        (tool.why.as_deref(), tool.runtime.as_deref()),
        (Some("z"), Some("dev"))
    );
}

#[test]
fn no_report_shows_a_literal_secret() {
    let document = with("expect allow [runtime=dev]: git push hunter2-hunter2").replace(
        "<policy",
        "<secrets><literal value=\"hunter2-hunter2\"/></secrets><policy",
    );
    let compilation = one(&document);
    let failed = compilation
        .diagnostics
        .iter()
        .find(|found| found.code == "chatmd.test_failed")
        .unwrap();
    assert!(failed.notes[0].contains("***"), "{:?}", failed.notes);
    assert!(!format!("{failed:?}").contains("hunter2"));
}

#[test]
fn results_are_the_same_for_every_platform_that_is_compiled_for() {
    let document = with("expect allow [runtime=dev]:\n  ls\n  git push\n  cargo build");
    let results = |platform| {
        let compilation = compiled(&[("/w/agent.chatmd", &document)], platform);
        compilation.tested.run.clone()
    };
    let linux = results(Platform::Linux);
    assert_eq!(linux.results.len(), 3);
    assert_eq!(linux, results(Platform::Macos));
}

#[test]
fn limits_hold() {
    let many: String = (0..2_001).map(|n| format!("ls {n}\n")).collect();
    let document = with(&format!("expect allow [runtime=dev]:\n{many}"));
    let compilation = one(&document);
    assert_eq!(compilation.tested.suite.cases.len(), 2_000);
    let all = found(&compilation);
    assert_eq!(
        all,
        ["chatmd.test_limit: more than 2000 tests in the document and its imports"]
    );
    let line =
        |n: u32| format!("{{\"tool\":\"sh\",\"expect\":\"allow\",\"command\":\"ls {n}\"}}\n");
    let lines: String = (0..20_001).map(line).collect();
    let files = [
        ("/w/agent.chatmd", RUNTIME),
        ("/w/agent.chatmd.tests.jsonl", &lines),
    ];
    let compilation = compiled(&files, Platform::Linux);
    assert_eq!(compilation.tested.suite.cases.len(), 20_000);
    assert_eq!(
        found(&compilation),
        ["chatmd.test_limit: more than 20000 tests in one file"]
    );
}
