//! SARIF and GitHub annotations.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::Value;
use support::Project;

const BAD: &str = "<user>ä 😀 <doc src=\"\"/></user>\n<User/>\n<shell_access id=\"r\" \
                   extends=\"builtin:workspace-readonly@1\"/>\n";

fn sarif(project: &Project, args: &[&str]) -> Value {
    let run = project.run(&[&["check", "--format", "sarif"], args].concat());
    assert_eq!(run.stderr, "");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn sarif_has_rules_regions_and_uris() {
    let project = Project::new(&[("a b.chatmd", BAD)]);
    let log = sarif(&project, &["a b.chatmd"]);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "chatmdc");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{log:#}");
    let expected = [
        ("chatmd.missing_attribute", "error", 1),
        ("chatmd.unknown_element", "error", 2),
        ("shell.unused_runtime", "warning", 3),
    ];
    for (result, (code, level, line)) in results.iter().zip(expected) {
        assert_eq!(
            (&result["ruleId"], &result["level"]),
            (&code.into(), &level.into())
        );
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], code);
        assert_eq!(rule["helpUri"], format!("urn:chatmd:code:{code}"));
        assert!(
            !rule["shortDescription"]["text"]
                .as_str()
                .unwrap()
                .is_empty()
        );
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["region"]["startLine"], line);
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(
            uri.starts_with("file:///") && uri.ends_with("/a%20b.chatmd"),
            "{uri}"
        );
    }
    // Columns count characters: `<user>ä 😀 <doc src="` is 20 of them, the empty value follows.
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startColumn"], 21, "{region}");
}

#[test]
fn fingerprints_survive_an_edit_above() {
    let prints = |text: &str| -> Vec<String> {
        let project = Project::new(&[("a.chatmd", text)]);
        let log = sarif(&project, &["a.chatmd"]);
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        let print = |r: &Value| {
            r["partialFingerprints"]["chatmd/v1"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        results.iter().map(print).collect()
    };
    let before = prints(BAD);
    assert_eq!(before, prints(&format!("<!-- a comment\n -->\n{BAD}")));
    let twice = prints(&format!("{BAD}<User/>\n"));
    assert_eq!(
        twice
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        4
    );
}

#[test]
fn github_annotations_are_one_line_each_and_escaped() {
    let project = Project::new(&[("d/a,b.chatmd", BAD)]);
    let run = project.run(&["check", "--format", "github", "d/a,b.chatmd"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.stdout);
    let start = "::error file=d/a%2Cb.chatmd,line=2,endLine=2,col=1,endColumn=8,\
                 title=chatmd.unknown_element::";
    assert!(lines[1].starts_with(start), "{}", lines[1]);
    assert!(lines[2].starts_with("::warning "));
}

#[test]
fn an_unreadable_document_is_no_silent_success() {
    let project = Project::new(&[("a.chatmd", "<user>x</user>\n")]);
    for format in ["sarif", "github", "human", "concise"] {
        let run = project.run(&["check", "--format", format, "a.chatmd", "none.chatmd"]);
        assert_eq!(run.code, 4);
        assert!(
            run.stderr.contains("none.chatmd"),
            "{format}: {}",
            run.stderr
        );
    }
    let run = project.run(&["check", "--format", "json", "a.chatmd", "none.chatmd"]);
    let value: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &value["ok"]), (4, &Value::Bool(false)));
    assert!(
        value["error"]["message"]
            .as_str()
            .unwrap()
            .contains("none.chatmd")
    );
}

#[test]
fn a_size_limit_is_a_finding() {
    let project = Project::new(&[("a.chatmd", "<user>0123456789</user>\n")]);
    let args = [
        "check",
        "--format",
        "concise",
        "--max-source",
        "10",
        "a.chatmd",
    ];
    let run = project.run(&args);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("chatmd.document_too_large"),
        "{}",
        run.stderr
    );
}
