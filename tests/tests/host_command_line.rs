//! What `chatmd` shares with `chatmdc` on its command line (spec 10 sections 1 and 3): global
//! options, machine answers, where state lives, signals while it asks.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chatmd_tests::{Outcome, Project, program};
use serde_json::Value;

const DOCUMENT: &str = r#"<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required"><read path="${workspace}"/><read path_env="EXTRA" optional="true"/></capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <policy default="allow"/>
  <audit format="session"/>
</shell_access>
<tool name="say" type="shell" runtime="r" command="printf plain"/>
<tool name="show" type="shell" runtime="r" command="cat"/>
"#;
/// A warning and no error.
const UNUSED: &str = r#"<shell_access id="spare" extends="builtin:workspace-readonly@1"/>"#;

fn answer(outcome: &Outcome, status: i32) -> Value {
    outcome.expect(status);
    assert_eq!(outcome.stderr, "");
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn a_list_of_tools_as_json_says_also_why_there_is_none() {
    let project = Project::new(&format!("{DOCUMENT}{UNUSED}"));
    let tools = |words: &[&str]| project.chatmd(&[&["tools", "--format", "json"], words].concat());

    let listed = answer(&tools(&["agent.chatmd"]), 0);
    assert_eq!(listed["ok"], true);
    assert_eq!(listed["diagnostics"][0]["code"], "shell.unused_runtime");
    assert_eq!(listed["summary"]["warnings"], 1);

    project.write(
        "wrong.chatmd",
        "<tool name=\"a\" type=\"shell\" runtime=\"gone\"/>",
    );
    let wrong = answer(&tools(&["wrong.chatmd"]), 1);
    assert_eq!(wrong["ok"], false);
    assert_eq!(wrong["error"]["message"], "the document has errors");
    assert!(wrong["summary"]["errors"].as_u64().unwrap() > 0);
    assert!(wrong["diagnostics"][0]["line"].as_u64().is_some());

    let missing = answer(&tools(&["none.chatmd"]), 4);
    let message = missing["error"]["message"].as_str().unwrap();
    assert!(message.contains("none.chatmd"), "{message}");
    assert_eq!(missing["error"]["code"], Value::Null);

    let refused = answer(
        &tools(&[
            "--live",
            "--authorize-manifest",
            &"0".repeat(64),
            "agent.chatmd",
        ]),
        3,
    );
    assert_eq!(refused["error"]["code"], "shell.manifest_grant_mismatch");
}

#[test]
fn quiet_hides_warnings_verbose_adds_details_and_neither_changes_the_answer() {
    let project = Project::new(&format!("{DOCUMENT}{UNUSED}"));
    let call = |options: &[&str]| {
        let digest = project.bound_digest();
        let words = [
            "run",
            "--authorize-manifest",
            &digest,
            "agent.chatmd",
            "say",
        ];
        let outcome = project.chatmd(&[options, &words].concat());
        // A person's next prompt begins on a line of its own.
        assert_eq!(outcome.expect(0).stdout, "plain\n");
        outcome.stderr.clone()
    };
    let plain = call(&[]);
    assert!(plain.contains("shell.unused_runtime"), "{plain}");
    assert!(!plain.contains("confinement"), "{plain}");
    assert!(!plain.contains('\x1b'), "{plain}");
    assert_eq!(call(&["--quiet"]), "");
    let verbose = call(&["-v"]);
    let line = "runtime r: backend linux-bubblewrap, confinement verified\n";
    assert!(verbose.contains(line), "{verbose}");
    assert!(call(&["--color", "always"]).contains('\x1b'));
    assert!(!call(&["--color=never"]).contains('\x1b'));
}

#[test]
fn reading_options_hold_as_they_do_for_the_compiler() {
    let project = Project::new(DOCUMENT);
    std::fs::create_dir(project.path().join("extra")).unwrap();
    let extra = project.path().join("extra");
    project.write("vars", format!("EXTRA={}\n", extra.display()));
    let bound = |more: &[&str]| {
        let words = ["manifest", "--bound", "--digest", "agent.chatmd"];
        let outcome = project.chatmdc(&[&words[..], more].concat());
        outcome.expect(0).stdout.trim().to_owned()
    };
    let run = |digest: &str, more: &[&str]| {
        let words = ["run", "--authorize-manifest", digest, "agent.chatmd", "say"];
        project.chatmd(&[&words[..], more].concat())
    };
    let (without, with) = (bound(&[]), bound(&["--env-file", "vars"]));
    assert_ne!(without, with);
    run(&with, &["--env-file", "vars"]).expect(0);
    run(&with, &[]).expect(3);
    run(&without, &["--platform", "current"]).expect(0);
    let other = run(&without, &["--platform", "macos"]);
    assert!(
        other.expect(2).stderr.contains("--platform"),
        "{}",
        other.stderr
    );
    let small = run(&without, &["--max-source", "10"]);
    let text = "the document is larger than 10 bytes, the most";
    assert!(small.expect(1).stderr.contains(text), "{}", small.stderr);
    run(&without, &["--max-source", "0"]).expect(2);
    let missing = run(&without, &["--env-file", "none"]);
    assert!(
        missing.expect(4).stderr.contains("none"),
        "{}",
        missing.stderr
    );
}

#[test]
fn the_integrity_key_can_lie_elsewhere_and_no_command_sees_it() {
    let project = Project::new(DOCUMENT);
    let key = project.path().join("keys/integrity.key");
    std::fs::create_dir(project.path().join("keys")).unwrap();
    let with_key =
        |command: &mut Command| project.run(command.env("CHATMD_SHELL_INTEGRITY_KEY_FILE", &key));
    with_key(&mut project.call_command("say", "{}")).expect(0);
    let text = std::fs::read_to_string(&key).unwrap();
    assert!(!project.state().join("integrity.key").exists());
    let shown =
        with_key(&mut project.call_command("show", r#"{"arguments":["keys/integrity.key"]}"#));
    assert!(!shown.stdout.contains(text.trim()), "{}", shown.stdout);
    assert!(
        shown.stdout.contains("Permission denied"),
        "{}",
        shown.stdout
    );

    // The end of the log is proved with that key alone.
    let validate = || {
        let mut command = Command::new(program("chatmd"));
        command.args(["audit", "validate", "--state-dir"]);
        command.arg(project.state()).arg(project.audit_log());
        command
    };
    let proved = with_key(&mut validate());
    assert!(
        !proved.expect(0).stdout.contains("not provable"),
        "{}",
        proved.stdout
    );
    let unproved = project.run(&mut validate());
    assert!(
        unproved.stdout.contains("not provable"),
        "{}",
        unproved.stdout
    );

    // Within a write root it could be changed.
    let writable = Project::new(&DOCUMENT.replace(
        "<read path=\"${workspace}\"/>",
        "<write path=\"${workspace}\"/>",
    ));
    std::fs::create_dir(writable.path().join("keys")).unwrap();
    let key = writable.path().join("keys/integrity.key");
    let mut call = writable.call_command("say", "{}");
    let refused = writable.run(call.env("CHATMD_SHELL_INTEGRITY_KEY_FILE", key));
    assert!(
        refused
            .expect(3)
            .stderr
            .contains("shell.state_in_write_root"),
        "{}",
        refused.stderr
    );
}

/// Control-C at the question whether the document may run at all.
#[test]
fn an_interrupt_at_the_authority_prompt_leaves_nothing() {
    let project = Project::new(DOCUMENT);
    let temporary = tempfile::tempdir().unwrap();
    let command = format!("{} run agent.chatmd say", program("chatmd").display());
    let transcript = temporary.path().join("transcript");
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--flush", "--command", &command])
        .arg(&transcript)
        .current_dir(project.path())
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("script of util-linux is installed");
    let sessions = || {
        let entries = std::fs::read_dir(temporary.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| name.starts_with("chatmd-session-"))
            .count()
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    let text = || std::fs::read_to_string(&transcript).unwrap_or_default();
    while !text().contains("Authorize this manifest for this run? [y/N]") {
        assert!(Instant::now() < deadline, "{}", text());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(sessions(), 1);
    child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < deadline, "{}", text());
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(130), "{}", text());
    assert!(text().contains("chatmd: interrupted"), "{}", text());
    assert_eq!(sessions(), 0);
}
