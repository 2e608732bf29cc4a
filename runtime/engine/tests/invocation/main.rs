//! Whole invocations: documents, policy, real sandboxes, results and audit (06, 06b B9).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod approvals;
mod chains;
mod harness;
mod limits;
mod logs;
mod sandbox_options;
mod secrets;
mod start_codes;
mod wrapper;

use harness::{Project, code, script, stdout};

const SEARCH: &str = r#"
<shell_access id="ro" cwd="${workspace}">
  <capabilities sandbox="required"><read path="${workspace}"/></capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <environment inherit="safe"/>
  <policy default="deny">
    <rule id="grep" action="allow"><all><basename value="grep"/><trusted_executable/></all></rule>
  </policy>
  <approvals provider="none"/>
  <audit format="session"/>
</shell_access>
<tool name="search" type="shell" mode="fixed" runtime="ro">
  <command program="grep"><arg value="-rFn"/><arg value="--"/></command>
  <arguments mode="required" min_count="2" max_count="4"/>
</tool>
<tool name="any" type="shell" mode="structured" runtime="ro" result="structured"/>
"#;

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_literal_text() {
    let project = Project::new(SEARCH);
    let invoked = project
        .call("search", r#"{"arguments":["TODO; rm -rf /","src"]}"#)
        .await;
    assert_eq!(invoked.text, "src/a.txt:2:two TODO; rm -rf /\n");
    for hostile in ["$(id)", "`id`", "|| true", "> src/x", "../../*"] {
        let input = serde_json::json!({ "arguments": [hostile, "src"] }).to_string();
        let invoked = project.call("search", &input).await;
        assert_eq!(invoked.text, "", "{hostile}");
        assert!(!project.root.join("src/x").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_come_in_their_order_and_the_log_is_valid() {
    let project = Project::new(SEARCH);
    project
        .call("search", r#"{"arguments":["TODO","src"]}"#)
        .await;
    let events = project.events();
    assert_eq!(
        events,
        [
            "request_received",
            "resolved",
            "policy_decided",
            "plan_created",
            "started",
            "output",
            "output",
            "finished",
            "request_completed",
        ]
    );
    project
        .call("search", r#"{"arguments":["x","/etc/passwd"]}"#)
        .await;
    assert_eq!(
        project.events(),
        [
            "request_received",
            "resolved",
            "rejected",
            "request_completed"
        ]
    );
    project.call("search", r#"{"arguments":["x"]}"#).await;
    assert_eq!(
        project.events(),
        ["request_received", "rejected", "request_completed"]
    );
    project
        .call("any", r#"{"program":"true","arguments":[]}"#)
        .await;
    assert_eq!(
        project.events(),
        [
            "request_received",
            "resolved",
            "policy_decided",
            "rejected",
            "request_completed"
        ]
    );
    project.assert_audit_is_valid();
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_have_their_codes() {
    let project = Project::new(SEARCH);
    for (tool, input, expected) in [
        (
            "search",
            r#"{"arguments":["x","/etc/passwd"]}"#,
            "capability_violation",
        ),
        (
            "search",
            r#"{"arguments":["x","src/../../outside"]}"#,
            "capability_violation",
        ),
        (
            "search",
            r#"{"arguments":["x"]}"#,
            "shell.tool_too_few_arguments",
        ),
        (
            "search",
            r#"{"arguments":["x","a","b","c","d"]}"#,
            "shell.tool_too_many_arguments",
        ),
        (
            "search",
            r#"{"arguments":["x","a"],"stdin":""}"#,
            "shell.tool_stdin_forbidden",
        ),
        (
            "search",
            r#"{"arguments":["x","a"],"program":"sh"}"#,
            "shell.tool_field_forbidden",
        ),
        (
            "search",
            r#"{"arguments":["x","a"],"y":1}"#,
            "shell.tool_unknown_input",
        ),
        (
            "search",
            r#"{"arguments":["x","a"],"arguments":[]}"#,
            "shell.tool_duplicate_input",
        ),
        ("search", r#"{"arguments":"x"}"#, "shell.tool_invalid_input"),
        ("search", "{", "shell.tool_invalid_input"),
        (
            "search",
            r#"{"arguments":["x\u0000","src"]}"#,
            "shell.tool_nul_byte",
        ),
        ("any", r#"{"program":"true","arguments":[]}"#, "denied"),
        (
            "any",
            r#"{"program":"no-such-program","arguments":[]}"#,
            "resolution_error",
        ),
        (
            "any",
            r#"{"program":"sh","arguments":["-c","ls"]}"#,
            "capability_violation",
        ),
    ] {
        let invoked = project.call(tool, input).await;
        assert_eq!(code(&invoked), expected, "{input}");
        let value: serde_json::Value = serde_json::from_str(&invoked.text).unwrap();
        assert_eq!(value["error"]["code"], expected);
        assert!(value["error"]["message"].as_str().unwrap().len() > 5);
    }
    project.assert_audit_is_valid();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_out_of_the_workspace_is_no_way_out() {
    let project = Project::new(SEARCH);
    std::fs::write(project.folder.path().join("outside"), "TODO secret place\n").unwrap();
    std::os::unix::fs::symlink("../outside", project.root.join("link")).unwrap();
    let invoked = project
        .call("search", r#"{"arguments":["TODO","link"]}"#)
        .await;
    assert_eq!(code(&invoked), "capability_violation");
    // A recursive search meets the link inside, where it leads nowhere.
    std::os::unix::fs::symlink("../../outside", project.root.join("src/link")).unwrap();
    let invoked = project
        .call("search", r#"{"arguments":["secret","src"]}"#)
        .await;
    assert!(!stdout(&invoked).contains("secret place"));
}

#[tokio::test(flavor = "multi_thread")]
async fn required_sandbox_never_falls_back() {
    let document = SEARCH.replace(
        "<approvals",
        r#"<backends merge="replace"><direct id="open"/><bubblewrap id="box" executable="/usr/bin/no-bwrap"/></backends><approvals"#,
    );
    let problems = Project::new(&document).try_live().await.unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].code, "shell.backend_unavailable");
    assert!(problems[0].message.contains("no-bwrap"), "{problems:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_problems_of_a_runtime_are_reported() {
    let document = SEARCH
        .replace("cwd=\"${workspace}\"", "cwd=\"${workspace}/missing\"")
        .replace(
            "inherit=\"safe\"/>",
            "inherit=\"safe\"><pass name=\"NOT_SET\"/></environment>",
        )
        .replace(
            "<approvals",
            "<secrets><from_env name=\"NO_TOKEN\"/></secrets><approvals",
        );
    let problems = Project::new(&document).try_live().await.unwrap_err();
    let mut codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    codes.sort_unstable();
    codes.dedup();
    assert!(
        codes.contains(&"shell.directory_unavailable"),
        "{problems:?}"
    );
    assert!(codes.contains(&"shell.environment_missing"), "{problems:?}");
    assert!(!Project::new(&document).audit_file().exists());
}

/// What was authorised is a place, not a name: a root that leads elsewhere by now starts nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_root_that_moves_after_authorisation_starts_nothing() {
    let src = "<read path=\"${workspace}/src\"/>";
    let project = Project::new(&SEARCH.replace("<read path=\"${workspace}\"/>", src));
    let (authorized, host, settings) = project.authorized().unwrap();
    std::fs::rename(project.root.join("src"), project.root.join("old")).unwrap();
    std::os::unix::fs::symlink("/etc", project.root.join("src")).unwrap();
    let problems = chatmd_runtime::materialise::materialise(authorized, &host, settings)
        .await
        .unwrap_err();
    assert_eq!(
        problems[0].code, "shell.manifest_grant_mismatch",
        "{problems:?}"
    );
    assert!(problems[0].message.contains("after it was authorised"));
}

#[tokio::test(flavor = "multi_thread")]
async fn state_in_a_write_root_is_refused() {
    let open = "<capabilities sandbox=\"required\"><read path=\"${workspace}\"/>";
    let document = SEARCH.replace(open, &format!("{open}<write path=\"${{workspace}}/..\"/>"));
    let problems = Project::new(&document).try_live().await.unwrap_err();
    assert_eq!(
        problems[0].code, "shell.state_in_write_root",
        "{problems:?}"
    );
    // The key that signs the log is hidden below a mere read root.
    let document = SEARCH.replace(
        "<read path=\"${workspace}\"/>",
        "<read path=\"${workspace}/..\"/>",
    );
    let project = Project::new(&document);
    let invoked = project
        .call("search", r#"{"arguments":["","../state"]}"#)
        .await;
    assert_eq!(stdout(&invoked), "");
    assert!(project.state().join("integrity.key").exists());
}

const DIRECT: &str = r#"
<shell_access id="open" cwd="${workspace}">
  <capabilities sandbox="direct_unsafe" child_processes="true" arbitrary_code="true">
    <read path="${workspace}"/><read path="/usr"/><read path="/bin"/><write path="${workspace}"/>
  </capabilities>
  <resolver><search_path path="${workspace}"/><search_path path="/usr/bin"/></resolver>
  <environment inherit="selected"><set name="GREETING" value="hello"/></environment>
  <backends merge="replace"><direct id="here"/></backends>
  <policy default="allow"/>
  <approvals provider="none"/>
  <audit format="session"/>
</shell_access>
<tool name="run" type="shell" mode="structured" runtime="open" stdin="optional" result="structured"/>
"#;

#[tokio::test(flavor = "multi_thread")]
async fn direct_runs_where_it_is_declared() {
    let project = Project::new(DIRECT);
    let script = r#"{"program":"sh","arguments":["-c","pwd; echo $GREETING; env | wc -l; cat"],"stdin":"from stdin"}"#;
    let invoked = project.call("run", script).await;
    let text = stdout(&invoked);
    let mut lines = text.lines();
    assert_eq!(lines.next(), project.root.to_str());
    assert_eq!(lines.next(), Some("hello"));
    lines.next();
    assert_eq!(lines.next(), Some("from stdin"));
    let result = invoked.result.unwrap();
    assert_eq!(result.backend, "direct-unsafe");
    project.assert_audit_is_valid();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_with_an_interpreter_line_runs_in_both_backends() {
    let boxed = DIRECT
        .replace("direct_unsafe", "required")
        .replace("<direct id=\"here\"/>", "<bubblewrap id=\"box\"/>");
    for document in [DIRECT, &boxed] {
        let project = Project::new(document);
        script(
            &project.root.join("hello"),
            "#!/bin/sh\necho \"$GREETING from $0, $1\"\n",
        );
        let invoked = project
            .call("run", r#"{"program":"hello","arguments":["you"]}"#)
            .await;
        let text = stdout(&invoked);
        assert!(
            text.starts_with("hello from ") && text.ends_with(", you\n"),
            "{text:?}"
        );
    }
}

/// A command that may write the workspace can still not leave something there that a person's
/// next command would run, nor widen its own document (06b B2.4 rule 6).
#[tokio::test(flavor = "multi_thread")]
async fn files_that_steer_other_programs_stay_as_they_are() {
    let boxed = DIRECT
        .replace("direct_unsafe", "required")
        .replace("<direct id=\"here\"/>", "<bubblewrap id=\"box\"/>");
    let project = Project::new(&boxed);
    std::fs::create_dir_all(project.root.join(".git/hooks")).unwrap();
    std::fs::write(project.root.join(".git/config"), "[core]\n").unwrap();
    std::fs::write(project.root.join(".envrc"), "").unwrap();
    let guarded = [
        ".git/config",
        ".git/hooks/pre-commit",
        ".envrc",
        "agent.chatmd",
    ];
    let before = guarded.map(|name| std::fs::read(project.root.join(name)).ok());
    let writes = guarded.map(|name| format!("echo attack >> {name}; "));
    let script = format!("{} echo plain > notes.txt; echo end", writes.concat());
    let input = serde_json::json!({"program": "sh", "arguments": ["-c", script]}).to_string();
    let invoked = project.call("run", &input).await;
    assert_eq!(stdout(&invoked), "end\n", "{}", invoked.text);
    let after = guarded.map(|name| std::fs::read(project.root.join(name)).ok());
    assert_eq!(before, after);
    let notes = std::fs::read_to_string(project.root.join("notes.txt")).unwrap();
    assert_eq!(notes, "plain\n");
}

/// The same where those files stand behind links of the project itself.
#[tokio::test(flavor = "multi_thread")]
async fn files_behind_links_stay_as_they_are() {
    let boxed = DIRECT
        .replace("direct_unsafe", "required")
        .replace("<direct id=\"here\"/>", "<bubblewrap id=\"box\"/>");
    let project = Project::new(&boxed);
    let file = |name: &str, text: &str| {
        let path = project.root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    file("store/hooks/keep", "");
    file("store/config", "[core]\n");
    file("real.envrc", "");
    file("vs/settings.json", "{}\n");
    for (target, link) in [
        ("store", ".git"),
        ("real.envrc", ".envrc"),
        ("vs", ".vscode"),
    ] {
        std::os::unix::fs::symlink(target, project.root.join(link)).unwrap();
    }
    let guarded = [
        ".git/config",
        ".git/hooks/pre-commit",
        "store/config",
        ".envrc",
        "real.envrc",
        ".vscode/settings.json",
        "vs/settings.json",
    ];
    let before = guarded.map(|name| std::fs::read(project.root.join(name)).ok());
    let writes = guarded.map(|name| format!("echo attack >> {name}; "));
    // Other parts of a git directory stay writable.
    let script = format!("{} echo plain > .git/index; echo end", writes.concat());
    let input = serde_json::json!({"program": "sh", "arguments": ["-c", script]}).to_string();
    let invoked = project.call("run", &input).await;
    assert_eq!(stdout(&invoked), "end\n", "{}", invoked.text);
    let after = guarded.map(|name| std::fs::read(project.root.join(name)).ok());
    assert_eq!(before, after);
    let index = std::fs::read_to_string(project.root.join("store/index")).unwrap();
    assert_eq!(index, "plain\n");
}

/// The folders above those files can not be moved away to make room for others either.
#[tokio::test(flavor = "multi_thread")]
async fn folders_of_such_files_can_not_be_exchanged() {
    let boxed = DIRECT
        .replace("direct_unsafe", "required")
        .replace("<direct id=\"here\"/>", "<bubblewrap id=\"box\"/>");
    let project = Project::new(&boxed);
    for folder in ["deep/store/hooks", "plain/store/hooks"] {
        std::fs::create_dir_all(project.root.join(folder)).unwrap();
        std::fs::write(project.root.join(folder).join("../config"), "[core]\n").unwrap();
    }
    std::fs::write(project.root.join(".git"), "gitdir: deep/store\n").unwrap();
    // The same attack on a folder that nothing protects succeeds.
    let attack = |name: &str| {
        format!(
            "mv {name} {name}.gone; mv {name}/store {name}/gone; mkdir -p {name}/store/hooks; \
             echo attack > {name}/store/hooks/pre-commit; echo attack > {name}/store/config; "
        )
    };
    let script = format!("{}{}echo end", attack("deep"), attack("plain"));
    let input = serde_json::json!({"program": "sh", "arguments": ["-c", script]}).to_string();
    let invoked = project.call("run", &input).await;
    assert_eq!(stdout(&invoked), "end\n", "{}", invoked.text);
    let read = |name: &str| std::fs::read_to_string(project.root.join(name)).ok();
    assert_eq!(read("deep/store/config").as_deref(), Some("[core]\n"));
    assert_eq!(read("deep/store/hooks/pre-commit"), None);
    assert_eq!(read("plain/store/config").as_deref(), Some("attack\n"));
}

/// Programs such as `rg` search their standard input instead of the folder when it is a pipe.
#[tokio::test(flavor = "multi_thread")]
async fn without_input_standard_input_is_the_null_device() {
    let boxed = DIRECT
        .replace("direct_unsafe", "required")
        .replace("<direct id=\"here\"/>", "<bubblewrap id=\"box\"/>");
    for document in [DIRECT, &boxed] {
        let project = Project::new(document);
        let input = r#"{"program":"sh","arguments":["-c","test -c /dev/stdin && echo device; stat -L -c %t:%T /dev/stdin; cat"]}"#;
        let invoked = project.call("run", input).await;
        assert_eq!(stdout(&invoked), "device\n1:3\n");
        let piped = input.replace("\"]}", "\"],\"stdin\":\"text\"}");
        let invoked = project.call("run", &piped).await;
        assert_eq!(stdout(&invoked), "0:0\ntext");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nonzero_is_a_result_or_an_error_as_declared() {
    let project = Project::new(DIRECT);
    let fail = r#"{"program":"sh","arguments":["-c","echo out; exit 7"]}"#;
    let invoked = project.call("run", fail).await;
    assert!(
        invoked.text.contains(r#""status":{"exited":7}"#),
        "{}",
        invoked.text
    );
    let document = DIRECT.replace("result=\"structured\"", "nonzero=\"error\"");
    let invoked = Project::new(&document).call("run", fail).await;
    assert_eq!(
        invoked.text,
        r#"{"error":{"code":"shell.tool_nonzero","message":"shell command exited unsuccessfully","result":"out\n"}}"#
    );
    assert!(invoked.nonzero_error);
}

#[tokio::test(flavor = "multi_thread")]
async fn terminal_controls_never_come_through() {
    let project = Project::new(DIRECT);
    let input = serde_json::json!({
        "program": "printf",
        "arguments": ["\\033[31mred\\033[0m \\033]0;title\\007end \\033]unterminated kept \\302\\233x"],
    });
    let invoked = project.call("run", &input.to_string()).await;
    let text = stdout(&invoked);
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{9b}'),
        "{text:?}"
    );
    assert!(
        text.starts_with("red end ") && text.contains("unterminated kept"),
        "{text:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_stops_a_start_only_where_it_says_so() {
    // The log's folder turns into something that can not be written.
    for (failure, runs) in [
        ("continue", true),
        ("deny_start", false),
        ("terminate", false),
    ] {
        let document = SEARCH.replace(
            "format=\"session\"",
            &format!("format=\"session\" failure=\"{failure}\""),
        );
        let project = Project::new(&document);
        let registry = project.live().await;
        let log = project.audit_file();
        let away = log.with_extension("away");
        std::fs::rename(&log, &away).unwrap();
        std::fs::create_dir(&log).unwrap();
        let input = br#"{"arguments":["TODO","src"]}"#;
        let invoked = chatmd_runtime::pipeline::invoke(&registry, "search", input)
            .await
            .unwrap();
        if runs {
            assert!(stdout(&invoked).contains("greet"), "{failure}");
        } else {
            assert_eq!(code(&invoked), "audit_unavailable", "{failure}");
        }
        // After `terminate` the runtime stays closed even when the log could be written again.
        std::fs::remove_dir(&log).unwrap();
        std::fs::rename(&away, &log).unwrap();
        let again = chatmd_runtime::pipeline::invoke(&registry, "search", input)
            .await
            .unwrap();
        assert_eq!(
            again.result.is_err(),
            failure == "terminate",
            "{failure}: {}",
            again.text
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_kills_and_says_so() {
    let project = Project::new(DIRECT);
    let registry = project.live().await;
    // A time that no other run of this test uses, so that only its own processes are found.
    let seconds = format!("603.{:06}", std::process::id());
    let script = format!("setsid sleep {seconds}1 & sleep {seconds}2");
    let input = serde_json::json!({"program": "sh", "arguments": ["-c", script]}).to_string();
    let call = chatmd_runtime::pipeline::invoke(&registry, "run", input.as_bytes());
    let bound = std::time::Duration::from_millis(500);
    assert!(tokio::time::timeout(bound, call).await.is_err());
    let events = project.events();
    assert_eq!(
        &events[events.len() - 2..],
        ["terminated", "request_completed"],
        "{events:?}"
    );
    assert!(project.audit_text().contains(r#""outcome":"cancelled""#));
    chatmd_runtime::sys::reaper::wait_until_collected(std::time::Duration::from_secs(6));
    let left = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|text| String::from_utf8_lossy(&text).contains(&seconds))
    });
    assert!(!left);
    project.assert_audit_is_valid();
}
