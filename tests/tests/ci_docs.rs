//! The workflows of `docs/ci.md`: they are YAML, name hooks that exist, and their commands do what
//! the page says when they are run here.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::process::Command;

use chatmd_tests::python::{commit_all, environment, git, succeed};
use chatmd_tests::{
    Outcome, Project, assert_sarif_refers_right, program, repository, sarif_schema,
};
use serde_json::Value;

const GOOD: &str = r#"<shell_access id="r" extends="builtin:workspace-readonly@1"/>
<tool name="list" runtime="r" command="ls"/>
"#;

/// The YAML blocks of the page as JSON, read by PyYAML, which comes with pre-commit.
fn blocks() -> Vec<Value> {
    let page = fs::read_to_string(repository().join("docs/ci.md")).unwrap();
    let blocks = page.split("```yaml\n").skip(1);
    let python = environment("pre-commit==4.7.0").join("python");
    // YAML 1.1 reads the key `on` as true; JSON wants text.
    let script = "import sys,yaml,json;print(json.dumps(yaml.safe_load(sys.argv[1])))";
    blocks
        .map(|block| {
            let text = block.split("```").next().unwrap();
            let json = succeed(Command::new(&python).args(["-c", script, text]));
            serde_json::from_str(&json).unwrap()
        })
        .collect()
}

/// The command of a step.
fn step(workflow: &Value, job: &str, name: &str) -> String {
    let steps = workflow["jobs"][job]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name).unwrap();
    step["run"].as_str().unwrap().to_owned()
}

/// Runs a step as the runner does.
fn run(project: &Project, command: &str, base: &str) -> Outcome {
    let ours = program("chatmdc").parent().unwrap().display().to_string();
    let path = format!("{ours}:{}", std::env::var("PATH").unwrap());
    let words = [
        "--noprofile",
        "--norc",
        "-e",
        "-o",
        "pipefail",
        "-c",
        command,
    ];
    project.run(
        Command::new("bash")
            .args(words)
            .envs([("PATH", &*path), ("BASE", base)]),
    )
}

#[test]
fn the_hooks_of_the_page_are_the_hooks_of_this_repository() {
    let page = blocks();
    assert_eq!(page.len(), 3);
    let python = environment("pre-commit==4.7.0").join("python");
    let script = "import sys,yaml,json;print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    let file = repository().join(".pre-commit-hooks.yaml");
    let hooks = succeed(Command::new(python).args(["-c", script]).arg(file));
    let hooks: Value = serde_json::from_str(&hooks).unwrap();
    let ids = |hooks: &Value| -> Vec<String> {
        let hooks = hooks.as_array().unwrap().iter();
        hooks
            .map(|hook| hook["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&page[0]["repos"][0]["hooks"]), ids(&hooks));
}

#[test]
fn check_and_layout_annotate_and_fail() {
    let workflow = &blocks()[1];
    let (check, layout) = (
        step(workflow, "documents", "Check"),
        step(workflow, "documents", "Layout"),
    );
    let project = Project::new(GOOD);
    commit_all(&project.path(), "start");
    run(&project, &check, "").expect(0);
    run(&project, &layout, "").expect(0);

    project.write("a b/other.chatmd", GOOD.replace("command=", "comand="));
    commit_all(&project.path(), "mistake");
    // xargs turns a failure of what it starts into its own exit status.
    let failed = run(&project, &check, "");
    failed.expect(123);
    assert!(
        failed
            .stdout
            .starts_with("::error file=a b/other.chatmd,line=2,"),
        "{}",
        failed.stdout
    );

    project.write("a b/other.chatmd", GOOD.replace("<tool ", "<tool   "));
    run(&project, &layout, "").expect(123);
    let empty = Project::new("");
    fs::remove_file(empty.path().join("agent.chatmd")).unwrap();
    succeed(git(&empty.path()).args(["init", "--quiet"]));
    run(&empty, &check, "").expect(0);
}

#[test]
fn a_pull_request_that_widens_authority_fails() {
    let authority = step(&blocks()[1], "documents", "Authority");
    let project = Project::new(GOOD);
    commit_all(&project.path(), "start");
    let base = succeed(git(&project.path()).args(["rev-parse", "HEAD"]));
    run(&project, &authority, base.trim()).expect(0);
    let wider = GOOD.replace(
        "readonly@1\"/>",
        "readonly@1\"><capabilities network=\"true\"/></shell_access>",
    );
    project.write("a b/agent.chatmd", "<user>x</user>\n");
    project.write("agent.chatmd", &wider);
    commit_all(&project.path(), "more");
    let more = run(&project, &authority, base.trim());
    more.expect(1);
    assert!(
        more.stdout
            .starts_with("::error file=agent.chatmd,title=authority widening::"),
        "{}",
        more.stdout
    );
    let head = succeed(git(&project.path()).args(["rev-parse", "HEAD"]));
    run(&project, &authority, head.trim()).expect(0);
}

#[test]
fn the_uploaded_file_is_sarif() {
    let workflow = &blocks()[2];
    let mut upload = workflow["jobs"]["scan"]["steps"].as_array().unwrap().iter();
    let upload = upload.rfind(|step| step["name"] == "Upload").unwrap();
    let file = upload["with"]["sarif_file"].as_str().unwrap();
    let project = Project::new(&GOOD.replace("command=", "comand="));
    commit_all(&project.path(), "mistake");
    run(&project, &step(workflow, "scan", "Check"), "").expect(123);

    let log = fs::read_to_string(project.path().join(file)).unwrap();
    let log: Value = serde_json::from_str(&log).unwrap();
    assert_sarif_refers_right(&log);
    let schema = jsonschema::validator_for(&sarif_schema()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&log).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{log:#}");
    assert_eq!(log["runs"][0]["results"][0]["level"], "error");
}
