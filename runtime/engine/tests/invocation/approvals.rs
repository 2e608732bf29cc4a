//! Policy `ask` and people (06 section 10).

use chatmd_runtime::approval::Answer;
use chatmd_runtime::pipeline::invoke;

use crate::harness::{Person, Project, code, script, stdout};

const ASK: &str = r#"
<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true">
    <read path="${workspace}"/><write path="${workspace}/out"/>
  </capabilities>
  <resolver><search_path path="${workspace}"/><search_path path="/usr/bin"/></resolver>
  <environment inherit="safe"/>
  <policy default="ask">
    <rule id="never" action="deny"><argument value="forbidden"/></rule>
  </policy>
  <approvals scopes="once,exact_session" UNAVAILABLE/>
  <audit format="session" content="full"/>
</shell_access>
<tool name="run" type="shell" mode="structured" runtime="r" rationale="optional"/>
"#;

fn project(unavailable: &str) -> Project {
    let project = Project::new(&ASK.replace("UNAVAILABLE", unavailable));
    std::fs::create_dir(project.root.join("out")).unwrap();
    project
}

const ECHO: &str = r#"{"program":"echo","arguments":["hi"],"rationale":"to greet"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn nobody_to_ask_ends_as_declared() {
    let denied = project("").call("run", ECHO).await;
    assert_eq!(code(&denied), "denied");
    assert!(denied.text.contains("approval is unavailable"));
    let error = project("unavailable=\"error\"").call("run", ECHO).await;
    assert_eq!(code(&error), "permission_required");
    assert!(error.text.contains("permission required for echo hi"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_what_would_run_and_decides() {
    let mut asked = project("");
    let person = Person::who_says(Answer::Once);
    asked.approvals = person.clone();
    assert_eq!(stdout(&asked.call("run", ECHO).await), "hi\n");
    let request = person.seen.lock().unwrap().first().unwrap().clone();
    assert_eq!(request.command.as_str(), "echo hi");
    assert_eq!(request.rationale.as_ref().unwrap().as_str(), "to greet");
    assert!(request.backend.contains("linux-bubblewrap (verified)"));
    assert_eq!(request.scopes, ["once", "exact_session"]);
    let events = asked.events();
    let at = |name: &str| events.iter().position(|event| event == name).unwrap();
    assert!(at("policy_decided") < at("approval_requested"));
    assert!(at("approval_answered") < at("plan_created"));

    let mut refused = project("");
    refused.approvals = Person::who_says(Answer::Deny);
    assert_eq!(code(&refused.call("run", ECHO).await), "denied");
    refused.approvals = Person::who_says(Answer::TimedOut);
    let late = refused.call("run", ECHO).await;
    assert!(late.text.contains("approval timed out"), "{}", late.text);
}

/// A stored approval would hold a hash of the secret; so such a command is asked about every time.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_carries_a_secret_is_approved_once_at_most() {
    let tool = r#"<tool name="show" type="shell" mode="fixed" runtime="r">
  <command program="echo"><secret_arg env="TOKEN"/></command>
</tool>"#;
    let environment =
        r#"<environment inherit="safe"><pass name="TOKEN" secret="true"/></environment>"#;
    let document = ASK
        .replace("UNAVAILABLE", "")
        .replace(r#"<environment inherit="safe"/>"#, environment)
        + tool;
    let mut project = Project::new(&document).with("TOKEN=hunter2-SECRET-value");
    std::fs::create_dir(project.root.join("out")).unwrap();
    let person = Person::who_says(Answer::Once);
    project.approvals = person.clone();
    let registry = project.live().await;
    for _ in 0..2 {
        invoke(&registry, "show", b"{}")
            .await
            .unwrap()
            .result
            .unwrap();
    }
    let seen = person.seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    for request in seen.iter() {
        assert_eq!(request.scopes, ["once"]);
        assert!(!request.command.as_str().contains("hunter2"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deny_is_not_asked_about() {
    let mut project = project("");
    let person = Person::who_says(Answer::Once);
    project.approvals = person.clone();
    let invoked = project
        .call("run", r#"{"program":"echo","arguments":["forbidden"]}"#)
        .await;
    assert_eq!(code(&invoked), "denied");
    assert!(invoked.text.contains("never"), "{}", invoked.text);
    assert!(person.seen.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_approval_holds_for_the_same_command_alone() {
    let mut project = project("");
    let person = Person::who_says(Answer::ExactSession);
    project.approvals = person.clone();
    let registry = project.live().await;
    for input in [
        ECHO,
        ECHO,
        r#"{"program":"echo","arguments":["hi","there"]}"#,
    ] {
        assert!(
            invoke(&registry, "run", input.as_bytes())
                .await
                .unwrap()
                .result
                .is_ok()
        );
    }
    // The second call was covered by the first answer; the third is another command.
    assert_eq!(person.seen.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executable_replaced_after_approval_does_not_run() {
    let mut project = project("");
    let program = project.root.join("tool");
    script(&program, "#!/bin/sh\necho approved\n");
    let swapped = program.clone();
    project.approvals = Person::who_meanwhile(Answer::Once, move || {
        script(&swapped, "#!/bin/sh\necho swapped\n");
    });
    let invoked = project
        .call("run", r#"{"program":"tool","arguments":[]}"#)
        .await;
    assert_eq!(code(&invoked), "executable_changed");
    assert!(!project.events().contains(&"started".to_owned()));
    // Control: left alone, it runs.
    project.approvals = Person::who_says(Answer::Once);
    let invoked = project
        .call("run", r#"{"program":"tool","arguments":[]}"#)
        .await;
    assert_eq!(stdout(&invoked), "swapped\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executable_modified_in_place_never_runs_new_bytes() {
    let mut project = project("");
    let program = project.root.join("tool");
    script(&program, "#!/bin/sh\necho approved\n");
    let target = program.clone();
    project.approvals = Person::who_meanwhile(Answer::Once, move || {
        std::fs::write(&target, "#!/bin/sh\necho modified\n").unwrap();
    });
    let invoked = project
        .call("run", r#"{"program":"tool","arguments":[]}"#)
        .await;
    assert_eq!(code(&invoked), "executable_changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_that_moves_while_a_person_thinks_grants_nothing() {
    let mut project = project("");
    let (out, root) = (project.root.join("out"), project.root.clone());
    project.approvals = Person::who_meanwhile(Answer::Once, move || {
        std::fs::remove_dir(&out).unwrap();
        std::os::unix::fs::symlink(root.join("src"), &out).unwrap();
    });
    let invoked = project
        .call("run", r#"{"program":"touch","arguments":["out/x"]}"#)
        .await;
    assert_eq!(code(&invoked), "capability_violation");
    assert!(!project.root.join("src/x").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn time_to_think_is_not_charged() {
    let mut project = Project::new(&ASK.replace("UNAVAILABLE", "").replace(
        "<policy default",
        "<limits wall_time=\"1s\"/><policy default",
    ));
    std::fs::create_dir(project.root.join("out")).unwrap();
    project.approvals = Person::who_meanwhile(Answer::Once, || {
        std::thread::sleep(std::time::Duration::from_millis(1_500));
    });
    assert_eq!(stdout(&project.call("run", ECHO).await), "hi\n");
}
