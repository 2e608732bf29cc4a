//! Pages of `chatmdc explain` (spec 10 sections 1.3 and 2.5).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::Value;
use support::Project;

fn json(args: &[&str]) -> (i32, Value) {
    let run = Project::new(&[]).run(args);
    assert_eq!(run.stderr, "");
    (run.code, serde_json::from_str(&run.stdout).unwrap())
}

#[test]
fn a_page_for_people() {
    let run = Project::new(&[]).run(&["explain", "shell.duplicate_section"]);
    insta::assert_snapshot!("explain_human", run.stdout);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn a_page_as_json_has_all_members_in_order() {
    let project = Project::new(&[]);
    let run = project.run(&["explain", "--format", "json", "shell.invalid_role"]);
    assert_eq!(run.code, 1);
    let run = project.run(&["explain", "--format", "json", "chatmd.invalid_role"]);
    let members = [
        "version",
        "command",
        "ok",
        "code",
        "severity",
        "title",
        "meaning",
        "cause",
        "failing",
        "corrected",
        "related",
    ];
    let places: Vec<_> = members
        .iter()
        .map(|member| {
            run.stdout
                .find(&format!("\n  \"{member}\": "))
                .expect(member)
        })
        .collect();
    assert!(places.is_sorted(), "{}", run.stdout);
    let page: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(page.as_object().unwrap().len(), members.len());
    assert_eq!(page["severity"], "error");
    assert!(
        page["failing"]
            .as_str()
            .unwrap()
            .starts_with("<msg role=\"usr\">")
    );
    assert!(!page["failing"].as_str().unwrap().contains('^'));
}

/// What a page promises holds: the first example has the fault, the second has not.
#[test]
fn examples_of_pages_check_as_they_say() {
    let (_, list) = json(&["explain", "--list", "--format", "json"]);
    let mut checked = 0;
    for listed in list["codes"].as_array().unwrap() {
        let code = listed["code"].as_str().unwrap();
        // One of many pages; the fixtures themselves are all compiled elsewhere.
        if !code.starts_with("shell.in") {
            continue;
        }
        let (_, page) = json(&["explain", "--format", "json", code]);
        let Some(failing) = page["failing"].as_str() else {
            continue;
        };
        if failing.contains("-- agent.chatmd --") || failing.contains('⟦') {
            continue;
        }
        let project = Project::new(&[
            ("failing.chatmd", failing),
            ("corrected.chatmd", page["corrected"].as_str().unwrap()),
        ]);
        let check =
            |file| project.run(&["check", "--format", "concise", "--platform", "linux", file]);
        assert!(
            check("failing.chatmd")
                .stderr
                .contains(&format!("[{code}]")),
            "{code}"
        );
        let corrected = check("corrected.chatmd");
        assert_eq!(corrected.code, 0, "{code}: {}", corrected.stderr);
        assert!(!corrected.stderr.contains(&format!("[{code}]")), "{code}");
        checked += 1;
    }
    assert!(checked > 15, "{checked}");
}

#[test]
fn a_code_of_the_host_has_words_and_no_example() {
    let (code, page) = json(&["explain", "--format", "json", "shell.audit_truncated"]);
    assert_eq!(code, 0);
    assert_eq!(
        (&page["failing"], &page["corrected"]),
        (&Value::Null, &Value::Null)
    );
    assert!(page["meaning"].as_str().unwrap().len() > 10);
}

#[test]
fn an_unknown_code_gets_up_to_three_suggestions() {
    let project = Project::new(&[]);
    for (written, offered) in [
        ("shell.duplicate_secton", "`shell.duplicate_section`"),
        ("duplicate_attribute", "`chatmd.duplicate_attribute`"),
    ] {
        let run = project.run(&["explain", written]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""));
        assert!(run.stderr.contains(offered), "{}", run.stderr);
        assert!(run.stderr.matches('`').count() <= 8, "{}", run.stderr);
    }
    let (code, answer) = json(&["explain", "--format", "json", "shell.duplicate_secton"]);
    assert_eq!((code, &answer["ok"]), (1, &Value::Bool(false)));
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("shell.duplicate_section")
    );
}
