//! Limits in both backends (06b B4, B5).

use crate::harness::{Project, code, stdout};

fn document(limits: &str, direct: bool) -> String {
    let (sandbox, backend) = if direct {
        ("direct_unsafe", "<direct/>")
    } else {
        ("required", "<bubblewrap/>")
    };
    format!(
        r#"
<shell_access id="r" cwd="${{workspace}}">
  <capabilities sandbox="{sandbox}" child_processes="true" arbitrary_code="true">
    <read path="/usr"/><write path="${{workspace}}"/>
  </capabilities>
  <resolver><search_path path="/usr/bin"/></resolver>
  <environment inherit="safe"/>
  <limits {limits}/>
  <backends merge="replace">{backend}</backends>
  <policy default="allow"/>
  <approvals provider="none"/>
  <audit format="session"/>
</shell_access>
<tool name="sh" type="shell" mode="fixed" runtime="r" result="structured">
  <command program="sh"><arg value="-c"/></command>
</tool>
"#
    )
}

fn script(text: &str) -> String {
    serde_json::json!({ "arguments": [text] }).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn time_and_output_limits_end_a_command() {
    for direct in [false, true] {
        for (limits, text, expected, message) in [
            (
                "wall_time=\"400ms\"",
                "sleep 604.25",
                "timed_out",
                "after 0.400s",
            ),
            (
                "idle_time=\"300ms\"",
                "sleep 604.26",
                "idle_timed_out",
                "idle for 0.300s",
            ),
            (
                "stdout=\"1KiB\" stderr=\"1KiB\" total_output=\"2KiB\"",
                "yes 604.27",
                "output_limit_exceeded",
                "exceeded total output limit",
            ),
        ] {
            let project = Project::new(&document(limits, direct));
            let invoked = project.call("sh", &script(text)).await;
            assert_eq!(code(&invoked), expected, "{limits}");
            assert!(invoked.text.contains(message), "{}", invoked.text);
            let events = project.events();
            assert_eq!(
                &events[events.len() - 2..],
                ["terminated", "request_completed"]
            );
            project.assert_audit_is_valid();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_channel_is_cut_and_flagged() {
    let limits = "stdout=\"100B\" stderr=\"100B\" total_output=\"64KiB\"";
    let project = Project::new(&document(limits, false));
    let invoked = project
        .call("sh", &script("yes abcdefg | head -c 5000; echo e >&2"))
        .await;
    assert_eq!(stdout(&invoked).len(), 100);
    let result = invoked.result.unwrap();
    assert!(result.stdout_truncated && !result.stderr_truncated);
    assert_eq!(result.stderr.as_str(), "e\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn system_limits_hold_in_both_backends() {
    for direct in [false, true] {
        let limits = "cpu_time=\"1s\" file_size=\"64KiB\" open_files=\"32\"";
        let project = Project::new(&document(limits, direct));
        let show = project
            .call("sh", &script("ulimit -St; ulimit -f; ulimit -n; ulimit -c"))
            .await;
        assert_eq!(stdout(&show), "1\n128\n32\n0\n", "direct {direct}");
        let write = "head -c 200000 /dev/zero > big; stat -c %s big";
        assert!(stdout(&project.call("sh", &script(write)).await).ends_with("65536\n"));
        let spin = project.call("sh", &script("while :; do :; done")).await;
        let status =
            spin.text.contains("{\"signaled\":24}") || spin.text.contains("{\"exited\":152}");
        assert!(status, "{}", spin.text);
    }
}

/// Further commands wait for their turn; none is refused and none is lost.
#[tokio::test(flavor = "multi_thread")]
async fn at_most_64_commands_run_at_once() {
    let project = Project::new(&crate::DIRECT.replace("stdin=\"optional\"", ""));
    let registry = project.live().await;
    let script = "echo x >> begun; until test -e go; do sleep 0.05; done";
    let input = serde_json::json!({"program": "sh", "arguments": ["-c", script]}).to_string();
    let calls: Vec<_> = (0..70)
        .map(|_| {
            let (registry, input) = (std::sync::Arc::clone(&registry), input.clone());
            tokio::spawn(async move {
                let invoked = chatmd_runtime::pipeline::invoke(&registry, "run", input.as_bytes());
                invoked.await.unwrap().result.is_ok()
            })
        })
        .collect();
    let begun = || {
        std::fs::read_to_string(project.root.join("begun")).map_or(0, |text| text.lines().count())
    };
    while begun() < 64 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(begun(), 64);
    std::fs::write(project.root.join("go"), "").unwrap();
    for call in calls {
        assert!(call.await.unwrap());
    }
    assert_eq!(begun(), 70);
    project.assert_audit_is_valid();
}

/// What a killed command wrote is counted to the last byte that was read.
#[tokio::test(flavor = "multi_thread")]
async fn killed_commands_are_counted() {
    for direct in [false, true] {
        let limits = "stdout=\"64KiB\" stderr=\"64KiB\" total_output=\"1MiB\"";
        let project = Project::new(&document(limits, direct));
        let flood = "echo started; head -c 3000000 /dev/zero";
        assert_eq!(
            code(&project.call("sh", &script(flood)).await),
            "output_limit_exceeded"
        );
        let last = project.assert_balanced();
        assert_eq!(last["commands"], 1);
        assert!(last["stdout_bytes"].as_u64().unwrap() > 1 << 20, "{last}");
        // The bytes come after the last regular note.
        let project = Project::new(&document("wall_time=\"2s\"", direct));
        let late = "printf abc; sleep 0.4; printf de >&2; sleep 604.31";
        assert_eq!(code(&project.call("sh", &script(late)).await), "timed_out");
        let last = project.assert_balanced();
        assert_eq!(
            (
                &last["commands"],
                &last["stdout_bytes"],
                &last["stderr_bytes"]
            ),
            (&1.into(), &3.into(), &2.into())
        );
        let events = project.events();
        let end = &events[events.len() - 3..];
        assert_eq!(end, ["output", "terminated", "request_completed"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_command_is_counted() {
    let project = Project::new(&document("", false));
    let registry = project.live().await;
    let input = script("printf abc; touch wrote; sleep 604.32");
    let call = tokio::spawn(async move {
        let invoked = chatmd_runtime::pipeline::invoke(&registry, "sh", input.as_bytes());
        invoked.await.is_ok()
    });
    while !project.root.join("wrote").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    let last = project.assert_balanced();
    assert_eq!(last["outcome"], "cancelled");
    assert_eq!(
        (&last["commands"], &last["stdout_bytes"]),
        (&1.into(), &3.into())
    );
}
