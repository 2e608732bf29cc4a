//! Scripts of documents in every form of the report (spec 05 section 1, spec 10 section 1.2).

use serde_json::Value;

use super::support::Project;

const DOCUMENT: &str = "<user>é</user>\n\
    <script id=\"matcher\" language=\"chatml\" kind=\"shell_matcher\">\n\
    let initial_state = ()\n\
    let match_command ctx st = let n = 1 + \"é\" in Task.pure(st)\n\
    </script>\n\
    <script id=\"filed\" language=\"chatml\" kind=\"shell_reviewer\" src=\"review.chatml\"/>\n\
    <shell_access id=\"r\">\n\
    \x20 <reviewers><reviewer id=\"x\" kind=\"chatml\" script=\"matcher\"/></reviewers>\n\
    </shell_access>\n";

const REVIEW: &str =
    "let initial_state = ()\n\nlet review ctx st =\n  Task.map(Match.yes(\"a\"), fun _ -> st)\n";

fn project() -> Project {
    Project::new(&[("a.chatmd", DOCUMENT), ("review.chatml", REVIEW)])
}

fn report(format: &str) -> String {
    let run = project().run(&["check", "--format", format, "a.chatmd"]);
    assert_eq!(run.code, 1);
    run.stdout + &run.stderr
}

/// File, line, column, code and detail of each finding.
const FOUND: [(&str, u64, u64, &str, Option<&str>); 4] = [
    (
        "a.chatmd",
        4,
        40,
        "shell.chatml_compile",
        Some("chatml.type.mismatch"),
    ),
    ("a.chatmd", 6, 1, "chatmd.unused_script", None),
    ("a.chatmd", 8, 53, "shell.script_kind_mismatch", None),
    (
        "review.chatml",
        4,
        12,
        "shell.chatml_compile",
        Some("chatml.type.unknown_variable"),
    ),
];

#[test]
fn json_has_outer_and_inner_code() {
    let answer: Value = serde_json::from_str(&report("json")).unwrap();
    let all = answer["diagnostics"].as_array().unwrap();
    for (file, line, column, code, detail) in FOUND {
        let found = all
            .iter()
            .find(|found| found["file"] == file && found["line"] == line && found["code"] == code)
            .unwrap_or_else(|| panic!("no {code} at {file}:{line} in {all:#?}"));
        assert_eq!(found.get("detail").and_then(Value::as_str), detail);
        if detail.is_some() {
            assert_eq!(found["column"], column, "{found:#}");
            assert_eq!(found["path"][0], "script");
        }
    }
}

#[test]
fn texts_show_both_codes_at_the_place() {
    let human = report("human");
    let concise = report("concise");
    let github = report("github");
    for (file, line, column, code, detail) in FOUND {
        let Some(detail) = detail else {
            assert!(human.contains(&format!("[{code}]")) && concise.contains(&format!("[{code}]")));
            continue;
        };
        assert!(
            human.contains(&format!("error[{code}/{detail}] at script.")),
            "{human}"
        );
        assert!(
            human.contains(&format!("{file}:{line}:{column}")),
            "{human}"
        );
        let start = format!("{file}:{line}:{column}: error[{code}/{detail}] at script.");
        assert!(
            concise.lines().any(|found| found.starts_with(&start)),
            "{start}\n{concise}"
        );
        let start = format!("::error file={file},line={line},");
        let found = github
            .lines()
            .find(|found| found.starts_with(&start))
            .unwrap();
        assert!(found.contains(&format!("col={column},")), "{found}");
        assert!(
            found.contains(&format!("title={code}/{detail}::")),
            "{found}"
        );
    }
    assert!(human.contains("1 + \"é\""), "{human}");
}

#[test]
fn sarif_keeps_the_inner_code_as_a_property() {
    let sarif: Value = serde_json::from_str(&report("sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    for (file, line, column, code, detail) in FOUND {
        let found = results
            .iter()
            .find(|found| {
                let place = &found["locations"][0]["physicalLocation"];
                let uri = place["artifactLocation"]["uri"].as_str().unwrap_or("");
                uri.ends_with(file)
                    && place["region"]["startLine"] == line
                    && found["ruleId"] == code
            })
            .unwrap_or_else(|| panic!("no {code} at {file}:{line} in {results:#?}"));
        assert_eq!(found["properties"]["detail"].as_str(), detail, "{found:#}");
        if detail.is_some() {
            let region = &found["locations"][0]["physicalLocation"]["region"];
            assert_eq!(region["startColumn"], column);
        }
    }
}

/// Either code of a warning silences it, and either code of an error can not.
#[test]
fn either_code_is_taken() {
    let project = project();
    for code in ["chatml.type.mismatch", "shell.chatml_compile"] {
        let run = project.run(&["check", "--allow", code, "a.chatmd"]);
        assert_eq!(run.code, 2, "{code}");
        assert_eq!(project.run(&["explain", code]).code, 0);
    }
    let lint = "<script id=\"s\" language=\"chatml\" kind=\"moderator\">\n\
                let initial_state = [1; 2]\nlet on_event c s e = Task.pure(s)\n</script>\n";
    let project = Project::new(&[("a.chatmd", lint)]);
    let all = [
        "check",
        "--format",
        "concise",
        "--allow",
        "chatmd.unused_script",
        "a.chatmd",
    ];
    let run = project.run(&all);
    assert!(
        run.stderr
            .contains("a.chatmd:2:22: warning[chatml.lint.array_sequence]"),
        "{}",
        run.stderr
    );
    let run = project.run(&["check", "--deny", "chatml.lint.array_sequence", "a.chatmd"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
}
