//! `chatmdc test`, and tests in `check`, as processes (spec 12 section 2.7).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod support;

use serde_json::Value;
use support::Project;

const RULES: &str = "<shell_access id=\"dev\">\n\
    <capabilities child_processes=\"true\" arbitrary_code=\"true\" network=\"true\">\
    <read path=\"/\"/><write path=\"/\"/></capabilities>\n\
    <policy default=\"ask\">\n\
    <rule id=\"no-push\" action=\"deny\">\n\
    <!-- expect match: git push -->\n\
    <all><basename value=\"git\"/><argument value=\"push\"/></all>\n\
    </rule>\n\
    </policy>\n";
const END: &str = "</shell_access>\n\
    <tool name=\"sh\" type=\"shell\" mode=\"chain\" runtime=\"dev\" result=\"structured\"/>\n";

fn document(tests: &str) -> String {
    format!("{RULES}{tests}{END}")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The report without the time it took.
fn timeless(text: &str) -> String {
    text.split(" (").next().unwrap().to_owned()
}

#[test]
fn a_failure_is_an_error_of_check_at_its_own_characters() {
    let text = document("<!-- expect allow:\n  git status\n  git push\n-->\n");
    let project = Project::new(&[("a.chatmd", &text)]);
    let run = project.run(&[
        "check",
        "--platform",
        "linux",
        "--format",
        "json",
        "a.chatmd",
    ]);
    assert_eq!(run.code, 1);
    let report = json(&run.stdout);
    let found = report["diagnostics"].as_array().unwrap();
    let failed: Vec<&Value> = found
        .iter()
        .filter(|found| found["code"] == "chatmd.test_failed")
        .collect();
    assert_eq!(failed.len(), 2, "{found:?}");
    let push = failed[1];
    assert_eq!(
        push["message"],
        "expected allow, got would_deny: `deny` by rule `no-push`"
    );
    let place = ["line", "column", "end_line", "end_column"].map(|m| push[m].as_u64().unwrap());
    assert_eq!(place, [11, 3, 11, 11]);
    assert_eq!(push["related"][0]["line"], 4);
    assert_eq!(push["runtime_id"], "dev");
    let note = push["notes"][0].as_str().unwrap();
    assert!(
        note.contains("no-push") && note.contains("found_at:1"),
        "{note}"
    );

    let run = project.run(&["check", "--platform", "linux", "--no-tests", "a.chatmd"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("note: tests were not run"),
        "{}",
        run.stderr
    );
    // A document whose tests fail is not compiled for anything else either.
    assert_eq!(project.run(&["manifest", "a.chatmd"]).code, 1);
}

#[test]
fn the_report_counts_filters_and_selects() {
    let text = document(
        "<!-- expect ask: git status -->\n<!-- expect allow: ls -->\n\
         <!-- expect deny [skip='later']: ls -->\n<!-- expect ask [platform=macos]: ps -->\n",
    );
    let project = Project::new(&[("a.chatmd", &text)]);
    let run = project.run(&["test", "a.chatmd"]);
    assert_eq!(run.code, 1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("failed          a.chatmd:10  dev: expect allow: ls ("));
    assert_eq!(
        lines[1],
        "not run         a.chatmd:11  dev: expect deny: ls (later)"
    );
    let last = timeless(lines[2]);
    assert_eq!(last, "2 passed, 1 failed, 1 not run, 1 not applicable");

    let last = |args: &[&str]| {
        let run = project.run(args);
        (run.code, timeless(run.stdout.lines().last().unwrap()))
    };
    for (filter, expected) in [
        (
            "git *",
            (0, "2 passed, 0 failed, 0 not run, 0 not applicable"),
        ),
        (
            "no-push",
            (0, "1 passed, 0 failed, 0 not run, 0 not applicable"),
        ),
        (
            "a.chatmd:10",
            (1, "0 passed, 1 failed, 0 not run, 0 not applicable"),
        ),
        (
            "nothing",
            (0, "0 passed, 0 failed, 0 not run, 0 not applicable"),
        ),
    ] {
        let found = last(&["test", "--filter", filter, "a.chatmd"]);
        assert_eq!((found.0, found.1.as_str()), expected, "{filter}");
    }
    let run = project.run(&["test", "--failed-only", "a.chatmd"]);
    assert_eq!(run.stdout.lines().count(), 2, "{}", run.stdout);
    let macos = last(&["test", "--platform", "macos", "--filter", "ps", "a.chatmd"]);
    assert_eq!(macos.0, 0);
    assert!(macos.1.starts_with("1 passed"), "{}", macos.1);
}

#[test]
fn json_has_cases_with_traces_of_failures() {
    let text = document("<!-- expect deny: ls -->\n");
    let sidecar = "{\"id\":\"s1\",\"tool\":\"sh\",\"expect\":\"deny\",\"command\":\"git push\"}\n";
    let project = Project::new(&[("a.chatmd", &text), ("a.chatmd.tests.jsonl", sidecar)]);
    let run = project.run(&[
        "test",
        "--format",
        "json",
        "--coverage",
        "--mutate",
        "a.chatmd",
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let report = json(&run.stdout);
    assert_eq!(report["command"], "test");
    assert_eq!(report["ok"], false);
    let cases = report["cases"].as_array().unwrap();
    let status: Vec<&str> = cases
        .iter()
        .map(|case| case["status"].as_str().unwrap())
        .collect();
    assert_eq!(status, ["passed", "failed", "passed"]);
    assert_eq!(cases[1]["trace"]["host"], "symbolic");
    assert_eq!(
        cases[1]["trace"]["stages"][0]["policy"]["default_used"],
        true
    );
    assert_eq!(cases[2]["id"], "s1");
    assert_eq!(cases[2]["tool"], "sh");
    assert_eq!(cases[2]["file"], "a.chatmd.tests.jsonl");
    assert!(cases[0].get("trace").is_none());
    assert_eq!(
        report["summary"],
        json("{\"passed\":2,\"failed\":1,\"not_run\":0,\"not_applicable\":0}")
    );
    let rows = report["coverage"].as_array().unwrap();
    let rule = rows.iter().find(|row| row["kind"] == "rule").unwrap();
    assert_eq!(
        (rule["name"].as_str(), rule["cases"].as_u64()),
        (Some("no-push"), Some(2))
    );
    assert!(
        rows.iter()
            .any(|row| row["name"] == "network" && row["cases"] == 0)
    );
    let survivors = report["survivors"].as_array().unwrap();
    assert!(
        survivors
            .iter()
            .all(|one| one["mutation"] != "without rule no-push")
    );
}

#[test]
fn a_survivor_shows_a_witness_only_from_the_tests_at_hand() {
    let rules = RULES.replace("    <!-- expect match: git push -->\n", "");
    let rules = rules.replace("<!-- expect match: git push -->\n", "");
    let weak = format!("{rules}<!-- expect guarded: git push -->\n{END}");
    let none = format!("{rules}<!-- expect guarded: ls -->\n{END}");
    let project = Project::new(&[("weak.chatmd", &weak), ("none.chatmd", &none)]);
    let run = project.run(&["test", "--mutate", "weak.chatmd"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(
        run.stdout.contains("survivor  dev: without rule no-push\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains("          add: <!-- expect deny [runtime=dev]: git push -->\n"),
        "{}",
        run.stdout
    );
    let run = project.run(&["test", "--mutate", "none.chatmd"]);
    assert!(run.stdout.contains("survivor  dev: without rule no-push\n"));
    assert!(!run.stdout.contains("git push"), "{}", run.stdout);
    let run = project.run(&["test", "--mutate", "--deny-warnings", "none.chatmd"]);
    assert_eq!(run.code, 1);
}

#[test]
fn junit_and_github() {
    let text = document("<!-- expect deny [name='a <b> &amp; \"c\"']: ls -->\n");
    let project = Project::new(&[("a.chatmd", &text)]);
    let run = project.run(&["test", "--format", "junit", "a.chatmd"]);
    assert_eq!(run.code, 1);
    for part in [
        "<testsuite name=\"a.chatmd\" tests=\"2\" failures=\"1\" skipped=\"0\">",
        "<testcase classname=\"dev\" name=\"expect match: git push\" file=\"a.chatmd\" line=\"5\"/>",
        "name=\"expect deny: a &lt;b&gt; &amp;amp; &quot;c&quot;\"",
        "<failure type=\"chatmd.test_failed\" message=\"expected deny, got would_ask:",
    ] {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
    let run = project.run(&["test", "--format", "github", "a.chatmd"]);
    assert!(
        run.stdout.contains("::error file=a.chatmd,line=9,"),
        "{}",
        run.stdout
    );
}

#[test]
fn documents_that_do_not_compile_and_files_that_are_not_there() {
    let project = Project::new(&[("a.chatmd", "<shell_access/>"), ("b.chatmd", &document(""))]);
    let run = project.run(&["test", "a.chatmd"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("its tests were not run"),
        "{}",
        run.stderr
    );
    assert_eq!(project.run(&["test", "missing.chatmd"]).code, 4);
    assert_eq!(
        project
            .run(&["test", "--tests", "missing", "b.chatmd"])
            .code,
        4
    );
    project
        .run(&["test", "--format", "sarif", "b.chatmd"])
        .code
        .eq(&2)
        .then_some(())
        .unwrap();
}

#[test]
fn nothing_of_the_machine_changes_a_byte() {
    let examples = ["development-build", "git-status", "repository-search"];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/examples");
    let texts = examples
        .map(|name| std::fs::read_to_string(folder.join(name).with_extension("chatmd")).unwrap());
    let plain: Vec<(&str, &str)> = examples
        .iter()
        .zip(&texts)
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let here = Project::new(&plain);
    // Another folder, in which files lie that the tests speak of.
    let mut crowded = plain.clone();
    crowded.extend([
        ("bin/make", "#!/bin/sh\n"),
        ("src/TODO", "x"),
        ("notes", "x"),
    ]);
    let there = Project::new(&crowded);
    let mut args = vec![
        "test",
        "--format",
        "json",
        "--verbose",
        "--coverage",
        "--mutate",
    ];
    args.extend(examples);
    let expected = here.run(&args);
    assert_eq!(expected.code, 0, "{}", expected.stdout);
    for (name, value) in [
        ("PATH", "/nowhere"),
        ("HOME", "/root/elsewhere"),
        ("USER", "somebody"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("TZ", "Asia/Tokyo"),
        ("GIT_DIR", "/x"),
    ] {
        let mut command = there.command(&args);
        let output = command.env(name, value).output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        assert_eq!(found, expected.stdout, "{name}={value}");
    }
}

#[test]
fn every_example_kills_the_removal_of_every_deny_rule() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "chatmd")
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let project = Project::new(&[("a.chatmd", &text)]);
        let run = project.run(&["test", "--format", "json", "--mutate", "a.chatmd"]);
        assert_eq!(run.code, 0, "{}", run.stdout);
        let report = json(&run.stdout);
        let cases = report["cases"].as_array().unwrap().len();
        assert!(cases >= 10, "{} has {cases} tests", path.display());
        let inspect = project.run(&["manifest", "--platform", "linux", "a.chatmd"]);
        let manifest = json(&inspect.stdout);
        for runtime in manifest["runtimes"].as_array().unwrap() {
            for rule in runtime["policy"]["rules"].as_array().unwrap() {
                if rule["action"] != "deny" {
                    continue;
                }
                seen += 1;
                let what = format!("without rule {}", rule["id"].as_str().unwrap());
                let survives =
                    report["survivors"].as_array().unwrap().iter().any(|one| {
                        one["runtime"] == runtime["id"] && one["mutation"] == what.as_str()
                    });
                assert!(!survives, "{}: {what}", path.display());
            }
        }
    }
    assert!(seen >= 4, "only {seen} deny rules");
}

#[test]
fn fmt_keeps_directives_byte_for_byte() {
    let directives = [
        "<!--  expect   match:\n        git push\n\n          # remark\n   git  -C . push\n  -->",
        "<!-- why:  two   blanks -->",
        "<!--expect-given:env A=b;  file /x local-->",
        "<!-- expect deny [ rule=no-push   name='a  b' ]:   git push   -->",
    ];
    let text = format!(
        "{}\n<shell_access  id='dev'>\n <policy   default=\"ask\">\n{}\n\
         <rule id='no-push'    action=\"deny\">\n{}\n\
         <all><basename value='git'/><argument value=\"push\"/></all></rule></policy>\n{}\n\
         </shell_access>\n",
        directives[2].replace("A=b", "B=c"),
        directives[1],
        directives[0],
        directives[3]
    );
    let project = Project::new(&[("a.chatmd", &text)]);
    assert_eq!(project.run(&["fmt", "a.chatmd"]).code, 0);
    let after = std::fs::read_to_string(project.path().join("a.chatmd")).unwrap();
    assert_ne!(after, text, "there was something to lay out");
    for directive in [
        directives[0],
        directives[1],
        &directives[2].replace("A=b", "B=c"),
        directives[3],
    ] {
        assert!(after.contains(directive), "{directive}\n{after}");
    }
    assert_eq!(project.run(&["test", "a.chatmd"]).code, 0);
}
