//! Policy `ask` and people (06 section 10).

use std::sync::Arc;

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

/// Field case fc1-032, and the commands of an audit: what a person reads, what the log says and what
/// runs are the same.
#[tokio::test(flavor = "multi_thread")]
async fn hidden_text_is_shown_in_the_question_and_in_the_log() {
    let mut project = project("");
    let person = Person::who_says(Answer::Once);
    project.approvals = person.clone();
    let hidden = "echo ok \u{1b}]\necho hidden > out/x\n#\u{7}";
    let input = serde_json::json!({
        "program": "sh", "arguments": ["-c", hidden],
        "rationale": "ok\nApproved: yes\u{202e}",
    });
    stdout(&project.call("run", &input.to_string()).await);
    assert!(project.root.join("out/x").exists());
    let request = person.seen.lock().unwrap().first().unwrap().clone();
    let shown = r"sh -c $'echo ok \x1b]\necho hidden > out/x\n#\x07'";
    assert_eq!(request.command.as_str(), shown);
    let rationale = request.rationale.unwrap();
    assert_eq!(rationale.as_str(), r"ok\nApproved: yes\u202e");
    for record in project.records() {
        if let Some(command) = record.get("command") {
            assert_eq!(command, shown);
            assert_eq!(
                record["argv"][2],
                r"$'echo ok \x1b]\necho hidden > out/x\n#\x07'"
            );
        }
    }
    // In errors too.
    let input = serde_json::json!({"program": "safe\u{202e}x", "arguments": []});
    let refused = project.call("run", &input.to_string()).await;
    assert_eq!(code(&refused), "resolution_error");
    assert!(refused.text.contains(r"safe\\u202ex"), "{}", refused.text);
    let rejected = project.records();
    let rejected = rejected.iter().find(|r| r["event"] == "rejected").unwrap();
    let reason = rejected["reason"].as_str().unwrap();
    assert!(reason.contains(r"safe\u202ex"), "{reason}");
}

/// The digest of what is read would be stored with the approval.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_standard_input_is_approved_once_at_most() {
    let document = ASK
        .replace("UNAVAILABLE", "")
        .replace(
            r#"<environment inherit="safe"/>"#,
            r#"<environment inherit="safe"/><secrets><from_env name="TOKEN"/></secrets>"#,
        )
        .replace(
            r#"runtime="r" rationale"#,
            r#"runtime="r" stdin="optional" rationale"#,
        )
        + r#"<tool name="chain" type="shell" mode="chain" runtime="r" stdin="optional"/>"#;
    let mut project = Project::new(&document).with("TOKEN=hunter2-SECRET-value");
    std::fs::create_dir(project.root.join("out")).unwrap();
    let person = Person::who_says(Answer::Once);
    project.approvals = person.clone();
    let registry = project.live().await;
    for (tool, input, scopes) in [
        (
            "run",
            r#"{"program":"cat","arguments":[],"stdin":"x hunter2-SECRET-value"}"#,
            vec![vec!["once"]],
        ),
        (
            "run",
            r#"{"program":"cat","arguments":[],"stdin":"x"}"#,
            vec![vec!["once", "exact_session"]],
        ),
        (
            "chain",
            r#"{"command":"cat | cat; true","stdin":"hunter2-SECRET-value"}"#,
            vec![vec!["once"], vec!["once"], vec!["once", "exact_session"]],
        ),
    ] {
        person.seen.lock().unwrap().clear();
        let invoked = invoke(&registry, tool, input.as_bytes()).await.unwrap();
        assert!(invoked.result.is_ok(), "{}", invoked.text);
        let seen = person.seen.lock().unwrap();
        let offered: Vec<_> = seen.iter().map(|request| request.scopes.clone()).collect();
        assert_eq!(offered, scopes, "{input}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_approval_is_on_record_with_its_uses() {
    let mut project = project("");
    project.approvals = Person::who_says(Answer::ExactSession);
    let registry = project.live().await;
    invoke(&registry, "run", ECHO.as_bytes()).await.unwrap();
    let records = project.records();
    let at = |name: &str| {
        let found = records.iter().position(|record| record["event"] == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    assert!(at("approval_answered") < at("grant_created"));
    assert!(at("grant_created") < at("plan_created"));
    let created = &records[at("grant_created")];
    assert_eq!(
        (&created["scope"], &created["store"]),
        (&"exact_session".into(), &"memory".into())
    );
    let id = created["grant_id"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 32);
    invoke(&registry, "run", ECHO.as_bytes()).await.unwrap();
    let records = project.records();
    let used = records
        .iter()
        .find(|r| r["event"] == "approval_answered")
        .unwrap();
    assert_eq!(used["approval_answer"], "grant");
    assert_eq!(used["grant_id"], id.as_str());
    assert!(!project.events().contains(&"approval_requested".to_owned()));
}

/// The author asked for nobody; that somebody sits at the terminal changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_document_without_a_provider_asks_nobody() {
    let mut project = project("provider=\"none\"");
    let person = Person::who_says(Answer::Once);
    project.approvals = person.clone();
    let refused = project.call("run", ECHO).await;
    assert!(refused.text.contains("approval is unavailable"));
    assert!(person.seen.lock().unwrap().is_empty());
}

/// An explicit chain without reviewers is no return to the person at the terminal (02 section 12).
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_chain_of_reviewers_denies_and_asks_nobody() {
    for (reviewers, unavailable, asked) in [
        ("<reviewers/>", "", false),
        ("<reviewers/>", "unavailable=\"error\"", false),
        (
            "<reviewers><reviewer id=\"me\" kind=\"ui\"/></reviewers>",
            "",
            true,
        ),
        ("", "", true),
    ] {
        let document = ASK.replace("UNAVAILABLE", unavailable);
        let document = document.replace("<audit", &format!("{reviewers}<audit"));
        let mut project = Project::new(&document);
        let person = Person::who_says(Answer::Once);
        project.approvals = person.clone();
        let invoked = project.call("run", ECHO).await;
        assert_eq!(
            !person.seen.lock().unwrap().is_empty(),
            asked,
            "{reviewers}"
        );
        assert_eq!(invoked.result.is_ok(), asked, "{}", invoked.text);
        if !asked {
            assert_eq!(code(&invoked), "denied");
            let reason = "all configured reviewers deferred";
            assert!(invoked.text.contains(reason), "{}", invoked.text);
            assert!(!project.events().contains(&"started".to_owned()));
        }
    }
}

/// A scope that this document offers to nobody is no approval (06 section 10.3).
#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_is_not_offered_is_denied() {
    let only = |scopes: &str| {
        ASK.replace("once,exact_session", scopes)
            .replace("UNAVAILABLE", "")
    };
    for (scopes, answer, allowed) in [
        ("exact_session", Answer::Once, false),
        ("once", Answer::ExactSession, false),
        ("prefix_session", Answer::Once, false),
        ("once", Answer::Once, true),
        ("exact_session", Answer::ExactSession, true),
    ] {
        let mut project = Project::new(&only(scopes));
        project.approvals = Person::who_says(answer);
        let invoked = project.call("run", ECHO).await;
        assert_eq!(
            invoked.result.is_ok(),
            allowed,
            "{scopes}: {}",
            invoked.text
        );
        if !allowed {
            let reason = "the requested approval scope is not enabled for this runtime";
            assert!(invoked.text.contains(reason), "{}", invoked.text);
        }
    }
}

/// Field case fc1-030: one answer releases one execution.
#[tokio::test(flavor = "multi_thread")]
async fn equal_requests_at_once_are_asked_about_one_by_one() {
    let mut project = project("");
    let person = Person::who_says(Answer::Once);
    project.approvals = person.clone();
    let registry = project.live().await;
    let call = || {
        let registry = Arc::clone(&registry);
        tokio::spawn(async move { invoke(&registry, "run", ECHO.as_bytes()).await.unwrap() })
    };
    let (one, two) = (call(), call());
    assert!(one.await.unwrap().result.is_ok() && two.await.unwrap().result.is_ok());
    let seen = person.seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    assert_ne!(seen[0].request_id, seen[1].request_id);
    assert_ne!(seen[0].approval_id, seen[1].approval_id);
}

/// A document that prefers a sandbox may run without one; whoever is asked must know.
#[tokio::test(flavor = "multi_thread")]
async fn a_fallback_without_a_sandbox_is_in_the_question() {
    let document = ASK
        .replace("UNAVAILABLE", "")
        .replace(r#"sandbox="required""#, r#"sandbox="preferred""#)
        .replace(
            "<policy default",
            "<backends merge=\"replace\"><bubblewrap executable=\"/nowhere/bwrap\"/><direct/></backends><policy default",
        );
    let mut project = Project::new(&document);
    std::fs::create_dir(project.root.join("out")).unwrap();
    let person = Person::who_says(Answer::Once);
    project.approvals = person.clone();
    let invoked = project.call("run", ECHO).await;
    assert_eq!(invoked.result.unwrap().backend, "direct-unsafe");
    let request = person.seen.lock().unwrap().first().unwrap().clone();
    assert!(request.unconfined_fallback);
    assert!(
        request.backend.contains("direct-unsafe"),
        "{}",
        request.backend
    );
}

/// A part of the host that panics ends the request on record.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_on_record_and_goes_to_the_host() {
    let mut project = project("");
    project.approvals = Person::who_meanwhile(Answer::Once, || panic!("a bug of the host"));
    let registry = project.live().await;
    let call = tokio::spawn(async move { invoke(&registry, "run", ECHO.as_bytes()).await.is_ok() });
    assert!(call.await.unwrap_err().is_panic());
    let last = project.assert_balanced();
    assert_eq!(last["outcome"], "error");
    assert_eq!(last["code"], "internal_error");
}
