//! Audit logs that a document places where commands write (06b B2.4 rule 6, 08 section 1 P4).

use std::sync::Arc;

use chatmd_runtime::audit::{IntegrityKey, ValidationOptions, ValidationReport, validate};
use chatmd_runtime::materialise::Registry;
use chatmd_runtime::pipeline::{Invoked, invoke};

use crate::harness::{Project, stdout};

/// Two runtimes with one write root; only `a` has a log in it.
const TWO: &str = r#"
<shell_access id="a" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true">
    <read path="/usr"/><write path="${workspace}"/>
  </capabilities>
  <resolver><search_path path="/usr/bin"/></resolver>
  <environment inherit="safe"/>
  <policy default="allow"/>
  <approvals provider="none"/>
  <audit format="jsonl" path="${workspace}/LOG" failure="terminate"/>
</shell_access>
<shell_access id="b" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true">
    <read path="/usr"/><write path="${workspace}"/>
  </capabilities>
  <resolver><search_path path="/usr/bin"/></resolver>
  <environment inherit="safe"/>
  <policy default="allow"/>
  <approvals provider="none"/>
  <audit format="session"/>
</shell_access>
<tool name="own" type="shell" mode="fixed" runtime="a" result="structured">
  <command program="sh"><arg value="-c"/></command>
</tool>
<tool name="other" type="shell" mode="fixed" runtime="b" result="structured">
  <command program="sh"><arg value="-c"/></command>
</tool>
"#;

fn report(project: &Project, log: &str) -> ValidationReport {
    let key = IntegrityKey::load(&project.state().join("integrity.key"))
        .unwrap()
        .unwrap();
    let anchors = project.state().join("audit-heads");
    let options = ValidationOptions {
        key: Some(&key),
        anchors: Some(&anchors),
        ..Default::default()
    };
    validate(&project.root.join(log), options).unwrap()
}

/// Each attack is tried by the log's own runtime and by another one; each would succeed on an
/// ordinary file, which the same command shows on a copy.
#[tokio::test(flavor = "multi_thread")]
async fn no_command_of_any_runtime_changes_a_log() {
    for log in ["a.jsonl", "logs/deep/a.jsonl"] {
        let project = Project::new(&TWO.replace("LOG", log));
        let registry = project.live().await;
        for suffix in ["", ".head", ".lock", ".1"] {
            let victim = format!("{log}{suffix}");
            let copy = format!("copy{suffix}");
            std::fs::copy(project.root.join(&victim), project.root.join(&copy)).unwrap();
            for attack in [
                "echo junk >> F",
                "mv F gone",
                "rm -f F",
                "ln -sf /dev/null F",
                "cp /usr/bin/true F",
                "truncate -s 0 F",
            ] {
                let before = std::fs::read(project.root.join(&victim)).unwrap();
                for tool in ["own", "other"] {
                    let text = attack.replace('F', &victim);
                    let input = serde_json::json!({ "arguments": [text] }).to_string();
                    let invoked = invoke(&registry, tool, input.as_bytes()).await.unwrap();
                    let result = invoked.result.unwrap();
                    assert!(!result.status.is_success(), "{tool}: {text}");
                    let after = std::fs::read(project.root.join(&victim)).unwrap();
                    // Only the host's own events were added.
                    assert!(
                        suffix == ".head" || after.starts_with(&before),
                        "{tool}: {text}"
                    );
                }
            }
            let input = serde_json::json!({ "arguments": [format!("rm {copy}")] }).to_string();
            let control = invoke(&registry, "other", input.as_bytes()).await.unwrap();
            assert!(control.result.unwrap().status.is_success());
        }
        registry.close("test");
        let report = report(&project, log);
        assert!(report.is_valid() && report.tail_provable(), "{report:#?}");
        assert_eq!(report.first_sequence, Some(0));
    }
}

/// Every folder on the way to a log stays in its place, and can still be worked in.
#[tokio::test(flavor = "multi_thread")]
async fn the_folders_of_a_log_can_not_be_exchanged() {
    let project = Project::new(&TWO.replace("LOG", "logs/deep/a.jsonl"));
    let registry = project.live().await;
    for text in [
        "mv logs old && mkdir logs",
        "mv logs/deep logs/old && mkdir logs/deep",
        "rm -rf logs",
    ] {
        for tool in ["own", "other"] {
            let input = serde_json::json!({ "arguments": [text] }).to_string();
            let invoked = invoke(&registry, tool, input.as_bytes()).await.unwrap();
            assert!(
                !invoked.result.unwrap().status.is_success(),
                "{tool}: {text}"
            );
        }
    }
    let input = r#"{"arguments":["echo x > logs/deep/mine && cat logs/deep/mine"]}"#;
    let mine = invoke(&registry, "other", input.as_bytes()).await.unwrap();
    assert_eq!(stdout(&mine), "x\n");
    registry.close("test");
    assert!(report(&project, "logs/deep/a.jsonl").is_valid());
}

/// Control: without a sandbox it can be removed; the host notices, and nothing passes for a whole
/// log afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_a_command_without_a_sandbox_removes_is_missed() {
    let direct = TWO
        .replace("LOG", "a.jsonl")
        .replace(r#"sandbox="required""#, r#"sandbox="direct_unsafe""#)
        .replace(
            r#"<policy default="allow"/>"#,
            r#"<backends merge="replace"><direct/></backends><policy default="allow"/>"#,
        );
    for (failure, code) in [
        ("terminate", Some("audit_unavailable")),
        ("deny_start", None),
        ("continue", None),
    ] {
        let document = direct.replace(r#"failure="terminate""#, &format!("failure=\"{failure}\""));
        let project = Project::new(&document);
        let (authorized, host, settings) = project.authorized().unwrap();
        let warnings = std::sync::Arc::clone(&settings.warnings);
        let registry = chatmd_runtime::materialise::materialise(authorized, &host, settings)
            .await
            .unwrap();
        let input = r#"{"arguments":["rm a.jsonl a.jsonl.head; echo out; sleep 0.4"]}"#;
        let invoked = invoke(&registry, "own", input.as_bytes()).await.unwrap();
        match (&invoked.result, code) {
            (Err(error), Some(code)) => assert_eq!(error.code, code),
            (Ok(result), None) => assert_eq!(result.stdout.as_str(), "out\n"),
            (result, _) => panic!("{failure}: {result:?}"),
        }
        assert!(invoked.audit_incomplete, "{failure}");
        registry.close("test");
        let told = warnings.take();
        let code = |wanted: &str| told.iter().any(|(code, _)| *code == wanted);
        assert!(code("shell.audit_sequence_conflict"), "{told:?}");
        assert!(code("shell.audit_in_write_root"), "{told:?}");
        let report = report(&project, "a.jsonl");
        assert!(!report.is_valid(), "{failure}: {report:#?}");
        assert_eq!(report.errors[0].code, "shell.audit_truncated");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_a_write_root_is_told() {
    for (log, told) in [("${workspace}/a.jsonl", true), ("${home}/a.jsonl", false)] {
        let document = TWO.replace("${workspace}/LOG", log);
        let mut project = Project::new(&document);
        let home = project.folder.path().join("home");
        project.environment = vec![
            "PATH=/usr/bin:/bin".into(),
            format!("HOME={}", home.display()),
        ];
        std::fs::create_dir(&home).unwrap();
        let (authorized, host, settings) = project.authorized().unwrap();
        let warnings = std::sync::Arc::clone(&settings.warnings);
        chatmd_runtime::materialise::materialise(authorized, &host, settings)
            .await
            .unwrap();
        let found = warnings.take();
        let found: Vec<_> = found
            .iter()
            .filter(|(code, _)| *code == "shell.audit_in_write_root")
            .collect();
        assert_eq!(found.len(), usize::from(told), "{log}: {found:?}");
    }
}

/// A command that runs until the file `go` appears.
async fn begin(project: &Project, registry: &Arc<Registry>) -> tokio::task::JoinHandle<Invoked> {
    let registry = Arc::clone(registry);
    let text = "echo out; touch begun; until test -e go; do sleep 0.05; done";
    let input = serde_json::json!({ "arguments": [text] }).to_string();
    let call =
        tokio::spawn(async move { invoke(&registry, "own", input.as_bytes()).await.unwrap() });
    while !project.root.join("begun").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    call
}

/// Two whole lines that are no events: no interrupted write leaves that, so the log is not
/// continued.
const DAMAGE: &str = "damage\ndamage\n";

/// A log that can not be written while commands run, under each failure policy (08 section 7.5).
#[tokio::test(flavor = "multi_thread")]
async fn each_failure_policy_does_its_part_while_commands_run() {
    for failure in ["continue", "deny_start", "terminate"] {
        let document = TWO
            .replace("LOG", "a.jsonl")
            .replace(r#"failure="terminate""#, &format!("failure=\"{failure}\""));
        let project = Project::new(&document);
        let registry = project.live().await;
        let long = begin(&project, &registry).await;
        let log = project.root.join("a.jsonl");
        let whole = std::fs::read(&log).unwrap();
        let damaged = [&whole[..], DAMAGE.as_bytes()].concat();
        std::fs::write(&log, damaged).unwrap();
        let second = invoke(&registry, "own", br#"{"arguments":["echo second"]}"#);
        let second = second.await.unwrap();
        if failure == "continue" {
            assert_eq!(stdout(&second), "second\n");
        } else {
            assert_eq!(crate::harness::code(&second), "audit_unavailable");
        }
        if failure == "terminate" {
            // Nobody wrote `go`: the other request in flight was ended.
            let long = tokio::time::timeout(std::time::Duration::from_secs(10), long);
            let long = long.await.unwrap().unwrap();
            assert_eq!(crate::harness::code(&long), "audit_unavailable");
        } else {
            std::fs::write(project.root.join("go"), "").unwrap();
            let long = long.await.unwrap();
            assert_eq!(stdout(&long), "out\n");
            assert!(long.audit_incomplete);
        }
        // Only a restart opens a terminated runtime again.
        let end = std::fs::read(&log).unwrap();
        let end = end.len() - DAMAGE.len();
        std::fs::write(&log, &std::fs::read(&log).unwrap()[..end]).unwrap();
        let third = invoke(&registry, "own", br#"{"arguments":["echo third"]}"#);
        let third = third.await.unwrap();
        if failure == "terminate" {
            assert_eq!(crate::harness::code(&third), "audit_unavailable");
        } else {
            assert_eq!(stdout(&third), "third\n");
            let text = std::fs::read_to_string(&log).unwrap();
            assert!(text.contains("\"audit_recovered\""), "{failure}");
            assert!(report(&project, "a.jsonl").is_valid());
        }
    }
}

/// A write root whose folder went away can not be shown to a command.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_can_not_be_made_is_an_error_on_record() {
    let document = TWO
        .replace("LOG", "a.jsonl")
        .replace(
            r#"<write path="${workspace}"/>"#,
            r#"<read path="${workspace}"/><write path="${workspace}/made/deep"/>"#,
        )
        .replace(
            r#"format="jsonl" path="${workspace}/a.jsonl" failure="terminate""#,
            r#"format="session""#,
        );
    let project = Project::new(&document);
    std::fs::create_dir(project.root.join("made")).unwrap();
    let registry = project.live().await;
    let call = || async {
        let input = br#"{"arguments":["echo x"]}"#;
        invoke(&registry, "own", input).await.unwrap()
    };
    assert_eq!(stdout(&call().await), "x\n");
    std::fs::remove_dir_all(project.root.join("made")).unwrap();
    let refused = call().await;
    assert_eq!(crate::harness::code(&refused), "sandbox_unavailable");
    assert!(
        refused.text.contains("write root is unavailable"),
        "{}",
        refused.text
    );
    project.assert_balanced();
    let records = project.records();
    let rejected = records.iter().find(|r| r["event"] == "rejected").unwrap();
    assert_eq!(rejected["stage"], "backend");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_can_not_be_opened_stops_all_but_who_goes_on_without() {
    for failure in ["continue", "deny_start", "terminate"] {
        let document = TWO
            .replace("${workspace}/LOG", "/proc/nowhere/a.jsonl")
            .replace(r#"failure="terminate""#, &format!("failure=\"{failure}\""));
        let project = Project::new(&document);
        let live = project.try_live().await;
        if failure != "continue" {
            let problems = live.unwrap_err();
            assert_eq!(problems[0].code, "shell.audit_open_failed", "{failure}");
            continue;
        }
        let registry = live.unwrap();
        let input = br#"{"arguments":["echo out"]}"#;
        let invoked = invoke(&registry, "own", input).await.unwrap();
        assert_eq!(stdout(&invoked), "out\n");
        assert!(invoked.audit_incomplete);
        let other = invoke(&registry, "other", input).await.unwrap();
        assert!(!other.audit_incomplete);
    }
}
