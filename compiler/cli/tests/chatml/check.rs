use super::support::Project;

/// The examples of the kinds: the functions that a host calls.
const KINDS: [(&str, &str); 6] = [
    ("shell_matcher", "matcher"),
    ("shell_reviewer", "reviewer"),
    ("shell_before_interceptor", "before"),
    ("shell_after_interceptor", "after"),
    ("shell_effect_analyzer", "analyzer"),
    ("shell_audit_filter", "audit"),
];

fn example(name: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/compiler/chatml/src/instance/examples"
    );
    std::fs::read_to_string(format!("{folder}/{name}.chatml")).unwrap()
}

#[test]
fn every_kind_accepts_its_example_and_no_other() {
    for (kind, name) in KINDS {
        let project = Project::new(&[("script.chatml", &example(name))]);
        for (other, _) in KINDS {
            let run = project.run(&["chatml", "check", "--kind", other, "script.chatml"]);
            assert_eq!(
                run.code,
                i32::from(other != kind),
                "{name} as {other}: {}",
                run.stderr
            );
            assert_eq!(run.stdout, "");
        }
        // Without a kind there are no actions.
        assert_eq!(project.run(&["chatml", "check", "script.chatml"]).code, 1);
    }
}

#[test]
fn exit_codes_and_streams() {
    let project = Project::new(&[
        ("good.chatml", "let x = 1\n"),
        ("bad.chatml", "let x = 1 + true\n"),
        ("warned.chatml", "[1; 2]\n"),
        ("folder/x", ""),
    ]);
    project.write("latin.chatml", b"let s = \"\xe9\"\n");
    project.write("nul.chatml", b"let s = 1\0\n");
    project.write("large.chatml", &vec![b' '; (1 << 20) + 1]);
    project.write("full.chatml", &vec![b' '; 1 << 20]);
    let table: &[(&[&str], i32, &str)] = &[
        (&["good.chatml"], 0, "0 errors, 0 warnings"),
        (&["bad.chatml"], 1, "1 error, 0 warnings"),
        (&["warned.chatml"], 0, "0 errors, 1 warning"),
        (&["full.chatml"], 0, "0 errors"),
        (
            &["none.chatml"],
            4,
            "cannot read `none.chatml`: the file does not exist",
        ),
        (&["folder"], 4, "cannot read `folder`: it is a directory"),
        (&["latin.chatml"], 1, "chatmd.script_invalid_encoding"),
        (&["nul.chatml"], 1, "chatmd.script_invalid_encoding"),
        (&["large.chatml"], 1, "chatmd.script_source_too_large"),
        (
            &["--kind", "shell_matcher", "good.chatml"],
            1,
            "chatml.entry.missing_state",
        ),
        (&["--kind", "shell", "good.chatml"], 2, "shell_matcher"),
        (&["--format", "dot", "good.chatml"], 2, "--format"),
        (
            &["--types", "--format", "sarif", "good.chatml"],
            2,
            "--types",
        ),
        (&[], 2, "<FILE>"),
        (&["good.chatml", "bad.chatml"], 2, "bad.chatml"),
    ];
    for (args, code, said) in table {
        let args: Vec<&str> = ["chatml", "check"].iter().chain(*args).copied().collect();
        let run = project.run(&args);
        assert_eq!(run.code, *code, "{args:?}\n{}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(said), "{args:?}\n{}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
    }
    assert_eq!(
        project
            .run(&["chatml", "check", "-q", "warned.chatml"])
            .stderr,
        ""
    );
}

#[test]
fn places_are_those_of_an_editor() {
    let project = Project::new(&[("a.chatml", "let s = \"é\" let n = s + 1\n")]);
    let run = project.run(&["chatml", "check", "--format", "concise", "a.chatml"]);
    let line = run.stderr.lines().next().unwrap();
    assert!(
        line.starts_with("a.chatml:1:21: error[chatml.type.mismatch]: "),
        "{line}"
    );
    let run = project.run_with_stdin(&["chatml", "check", "--format", "concise", "-"], b"1 +");
    assert!(
        run.stderr
            .starts_with("<stdin>:1:1: error[chatml.syntax.unexpected_end]"),
        "{}",
        run.stderr
    );
    let run = project.run(&["chatml", "check", "--format", "github", "a.chatml"]);
    assert!(
        run.stdout
            .starts_with("::error file=a.chatml,line=1,endLine=1,col=21,"),
        "{}",
        run.stdout
    );
    let run = project.run(&["chatml", "check", "--format", "sarif", "a.chatml"]);
    assert!(
        run.stdout.contains("\"ruleId\": \"chatml.type.mismatch\""),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("/a.chatml\""), "{}", run.stdout);
}

#[test]
fn types_of_top_level_names() {
    let script = "type t = { n : int }\nlet k a b = a\nmodule M = struct let x = 1 end\n\
                  let v : t = { n = 1 }\nlet rec f x = g(x) and g x = f(x) + 1\nlet _ = 1\nlet k = ref([])\n";
    let project = Project::new(&[("a.chatml", script)]);
    let run = project.run(&["chatml", "check", "--types", "a.chatml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(
        run.stdout,
        "k : 'a -> 'b -> 'a\nv : { n : int }\nf : 'a -> int\ng : 'a -> int\nk : '_a array ref\n"
    );
    let run = project.run(&["chatml", "check", "--types", "--format", "json", "a.chatml"]);
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["types"][0]["name"], "k");
    assert_eq!(answer["types"][0]["type"], "'a -> 'b -> 'a");
    assert_eq!(answer["types"].as_array().unwrap().len(), 5);
}

#[test]
fn json_has_the_members_of_reports() {
    let project = Project::new(&[("a.chatml", "let x = 1 + true\n")]);
    let run = project.run(&["chatml", "check", "--format", "json", "a.chatml"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["command"], "chatml check");
    assert_eq!(answer["ok"], false);
    let found = &answer["diagnostics"][0];
    assert_eq!(found["code"], "chatml.type.mismatch");
    assert!(found.get("detail").is_none() && found["path"].as_array().unwrap().is_empty());
    assert_eq!(
        (found["line"].as_u64(), found["column"].as_u64()),
        (Some(1), Some(13))
    );
    assert_eq!(answer["summary"]["errors"], 1);
    assert!(answer.get("types").is_none());
    let run = project.run(&["chatml", "check", "--format", "json", "none.chatml"]);
    assert_eq!((run.code, run.stderr.as_str()), (4, ""));
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("none.chatml")
    );
    assert_eq!(answer["diagnostics"], serde_json::json!([]));
}

/// Control characters of a script never reach a terminal as they are.
#[test]
fn hostile_text_is_escaped() {
    let project = Project::new(&[("a.chatml", "let x = \u{1b}[2J\u{202e}\n")]);
    for format in ["human", "concise", "json", "github", "sarif"] {
        let run = project.run(&["chatml", "check", "--format", format, "a.chatml"]);
        assert_eq!(run.code, 1);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(!all.contains(['\u{1b}', '\u{202e}']), "{format}: {all:?}");
    }
    let run = project.run(&["chatml", "eval", "-e", "\"\u{1b}[2J a\tb\""]);
    assert_eq!(run.stdout, "\\u{1b}[2J a\tb\n");
}

#[test]
fn the_same_bytes_every_time() {
    let script: String = (0..60)
        .map(|at| format!("let v{at} = undefined_{at}\n"))
        .collect();
    let project = Project::new(&[("a.chatml", &script)]);
    for format in ["human", "json", "sarif"] {
        let args = ["chatml", "check", "--format", format, "a.chatml"];
        let (first, second) = (project.run(&args), project.run(&args));
        assert_eq!((first.stdout, first.stderr), (second.stdout, second.stderr));
    }
}
