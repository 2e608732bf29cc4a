//! The real program: exit codes, authority, audit, prompts, and what a SIGKILL leaves.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const CHATMD: &str = env!("CARGO_BIN_EXE_chatmd");

const DOCUMENT: &str = r#"
<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required" child_processes="true" arbitrary_code="true">
    <read path="${workspace}"/>
  </capabilities>
  <resolver><search_path path="/usr/bin"/></resolver>
  <environment inherit="safe"/>
  <policy default="ask">
    <rule id="known" action="allow">
      <any><basename value="grep"/><basename value="sleep"/><argument value="exit 7"/></any>
    </rule>
  </policy>
  <approvals scopes="once"/>
  <audit format="session" failure="deny_start"/>
</shell_access>
<tool name="search" type="shell" mode="fixed" runtime="r">
  <command program="grep"><arg value="-rF"/><arg value="--"/></command>
  <arguments mode="required" min_count="2"/>
</tool>
<tool name="any" type="shell" mode="structured" runtime="r"/>
"#;

struct Project {
    folder: tempfile::TempDir,
    digest: String,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("chatmd-cli")
            .tempdir_in("/var/tmp")
            .unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a"), "TODO one\n").unwrap();
        std::fs::write(folder.path().join("agent.chatmd"), DOCUMENT).unwrap();
        let mut project = Self {
            folder,
            digest: String::new(),
        };
        let refused = project.chatmd(&["run", "agent.chatmd", "search"]);
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        let mut words = text.split_whitespace();
        project.digest = words.find(|word| word.len() == 64).expect(&text).to_owned();
        project
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(CHATMD);
        command
            .current_dir(self.folder.path())
            .args(words)
            .stdin(Stdio::null());
        command
            .env("HOME", self.folder.path().join("home"))
            .env_remove("XDG_STATE_HOME");
        command
    }

    /// Without a controlling terminal.
    fn chatmd(&self, words: &[&str]) -> Output {
        let mut command = Command::new("setsid");
        command
            .current_dir(self.folder.path())
            .arg("--wait")
            .arg(CHATMD)
            .args(words);
        command
            .env("HOME", self.folder.path().join("home"))
            .env_remove("XDG_STATE_HOME");
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn run(&self, rest: &[&str]) -> Output {
        let mut words = vec!["run", "--state-dir", "state", "--session", "s"];
        words.extend(["--authorize-manifest", &self.digest]);
        words.extend(rest);
        self.chatmd(&words)
    }

    fn log(&self) -> PathBuf {
        self.folder
            .path()
            .join("state/sessions/s/.chatmd/shell-audit.jsonl")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn exit_codes_tell_what_happened() {
    let project = Project::new();
    for (words, code, shown) in [
        (
            vec!["agent.chatmd", "search", r#"{"arguments":["TODO","src"]}"#],
            0,
            "src/a:TODO one",
        ),
        (
            vec!["agent.chatmd", "search", r#"{"arguments":["x","/etc"]}"#],
            1,
            "capability_violation",
        ),
        (
            vec!["agent.chatmd", "search", "{"],
            1,
            "shell.tool_invalid_input",
        ),
        (vec!["agent.chatmd", "nothing"], 1, "any, search"),
        (
            vec![
                "--no-approval",
                "agent.chatmd",
                "any",
                r#"{"program":"ls","arguments":[]}"#,
            ],
            1,
            "approval is unavailable",
        ),
        (vec!["agent.chatmd"], 2, "TOOL"),
        (
            vec!["--timeout", "0s", "agent.chatmd", "search"],
            2,
            "duration",
        ),
        (
            vec![
                "--rationale",
                "x",
                "--input",
                r#"{"rationale":"y"}"#,
                "agent.chatmd",
                "any",
            ],
            2,
            "exclude",
        ),
        (vec!["--unknown", "agent.chatmd", "search"], 2, "--unknown"),
        (vec!["missing.chatmd", "search"], 4, "missing.chatmd"),
        (
            vec![
                "--exit-status",
                "agent.chatmd",
                "any",
                r#"{"program":"sh","arguments":["-c","exit 7"]}"#,
            ],
            7,
            "",
        ),
        (
            vec![
                "--timeout",
                "300ms",
                "agent.chatmd",
                "any",
                r#"{"program":"sleep","arguments":["5"]}"#,
            ],
            1,
            "after 0.300s",
        ),
    ] {
        let output = project.run(&words);
        let all = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {all}");
        assert!(all.contains(shown), "{words:?}: {all}");
    }
}

#[test]
fn authority_is_the_whole_bound_digest() {
    let project = Project::new();
    let refused = |words: &[&str]| {
        let output = project.chatmd(words);
        assert_eq!(
            output.status.code(),
            Some(3),
            "{words:?}: {}",
            text(&output.stderr)
        );
        assert!(output.stdout.is_empty());
        text(&output.stderr)
    };
    let input = r#"{"arguments":["TODO","src"]}"#;
    let with = |digest: &str| {
        refused(&[
            "run",
            "--authorize-manifest",
            digest,
            "agent.chatmd",
            "search",
            input,
        ])
    };
    assert!(refused(&["run", "agent.chatmd", "search", input]).contains(&project.digest));
    let short = project.chatmd(&[
        "run",
        "--authorize-manifest",
        &project.digest[..63],
        "agent.chatmd",
        "search",
        input,
    ]);
    assert_eq!(
        short.status.code(),
        Some(2),
        "not a digest at all is a usage error"
    );
    assert!(text(&short.stderr).contains("64 hexadecimal digits"));
    assert!(with(&"0".repeat(64)).contains("not that of this manifest"));
    let tools = project.chatmd(&["tools", "--format", "json", "agent.chatmd"]);
    let listing: serde_json::Value = serde_json::from_slice(&tools.stdout).unwrap();
    assert_eq!(listing["manifest_sha256"], *project.digest);
    let requested = listing["requested_sha256"].as_str().unwrap();
    let shown = with(requested);
    assert!(
        shown.contains("requested digest") && shown.contains(&project.digest),
        "{shown}"
    );
    // Any edit with authority needs a new digest.
    let wider = DOCUMENT.replace("<read path=\"${workspace}\"/>", "<read path=\"/\"/>");
    std::fs::write(project.folder.path().join("agent.chatmd"), wider).unwrap();
    assert!(with(&project.digest).contains("not that of this manifest"));
}

#[test]
fn administration_that_can_not_be_evaluated_stops_everything() {
    let project = Project::new();
    for variable in [
        "CHATMD_SHELL_ADMIN_POLICY",
        "OCHAT_SHELL_TRUSTED_SOURCES",
        "CHATMD_SHELL_REPOSITORY_IDENTITY",
        "CHATMD_SHELL_MANIFEST_SIGNATURE",
        "CHATMD_SHELL_MANIFEST_PUBLIC_KEYS",
        "OCHAT_SHELL_SIGNATURE_AUDIENCE",
    ] {
        let words = [
            "run",
            "--authorize-manifest",
            &project.digest,
            "agent.chatmd",
            "search",
        ];
        let output = project
            .command(&words)
            .env(variable, "/x")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{variable}");
        assert!(text(&output.stderr).contains(variable));
    }
}

#[test]
fn a_session_has_one_owner() {
    let project = Project::new();
    let words = [
        "run",
        "--state-dir",
        "state",
        "--session",
        "s",
        "--authorize-manifest",
    ];
    let rest = [
        "agent.chatmd",
        "any",
        r#"{"program":"sleep","arguments":["3"]}"#,
    ];
    let all: Vec<&str> = words
        .iter()
        .chain(&[project.digest.as_str()])
        .chain(&rest)
        .copied()
        .collect();
    let mut first = project.command(&all).stdout(Stdio::null()).spawn().unwrap();
    wait_for(|| project.log().exists());
    let second = project.run(&["agent.chatmd", "search", r#"{"arguments":["x","src"]}"#]);
    assert_eq!(second.status.code(), Some(3), "{}", text(&second.stderr));
    assert!(text(&second.stderr).contains("shell.session_in_use"));
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn an_interrupt_cancels_and_reaps() {
    let project = Project::new();
    let words = [
        "run",
        "--state-dir",
        "state",
        "--session",
        "s",
        "--authorize-manifest",
    ];
    let marker = format!("{}", 700_000 + std::process::id());
    let input = format!(r#"{{"program":"sleep","arguments":["{marker}"]}}"#);
    let rest = ["agent.chatmd", "any", &input];
    let all: Vec<&str> = words
        .iter()
        .chain(&[project.digest.as_str()])
        .chain(&rest)
        .copied()
        .collect();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // The wrapper's own arguments name the command before it starts: the log tells.
        let started = || std::fs::read_to_string(project.log()).unwrap_or_default();
        let before = started().matches(r#""event":"started""#).count();
        // Under `nohup` the tests inherit an ignored hangup, which `chatmd` rightly leaves ignored.
        let child = Command::new("env")
            .args(["--default-signal=HUP", CHATMD])
            .args(&all)
            .current_dir(project.folder.path())
            .env("HOME", project.folder.path().join("home"))
            .env_remove("XDG_STATE_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(|| started().matches(r#""event":"started""#).count() > before);
        let pid = child.id().to_string();
        Command::new("kill")
            .args(["-s", signal, &pid])
            .status()
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(alive(&marker).is_empty(), "left: {:?}", alive(&marker));
        let log = std::fs::read_to_string(project.log()).unwrap();
        assert!(
            log.contains(r#""event":"terminated""#) && log.contains(r#""outcome":"cancelled""#)
        );
        let last = log.lines().last().unwrap();
        assert!(
            last.contains(r#""event":"runtime_stopped","cause":"signal""#),
            "{last}"
        );
    }
    assert_valid(&project);
}

#[test]
fn a_hangup_that_was_ignored_stays_ignored() {
    let project = Project::new();
    let digest = &project.digest;
    let input = r#"{"program":"sleep","arguments":["1"]}"#;
    let script = format!(
        "trap '' HUP; exec {CHATMD} run --state-dir state --session s --authorize-manifest {digest} agent.chatmd any '{input}'"
    );
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .current_dir(project.folder.path())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let log = || std::fs::read_to_string(project.log()).unwrap_or_default();
    wait_for(|| log().contains(r#""event":"started""#));
    let pid = child.id().to_string();
    Command::new("kill")
        .args(["-s", "HUP", &pid])
        .status()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_interrupt_ends_a_question() {
    let project = Project::new();
    let words = format!(
        "run --state-dir state --session s --authorize-manifest {} agent.chatmd any {}",
        project.digest, r#""{\"program\":\"ls\",\"arguments\":[]}""#
    );
    let mut child = Command::new("script")
        .args(["-qec", &format!("{CHATMD} {words}"), "/dev/null"])
        .current_dir(project.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The question throws away what was typed before it was drawn, an interrupt that the terminal
    // has not yet looked at included: it must be on the screen, being on record is too early.
    let mut screen = child.stdout.take().unwrap();
    let (mut drawn, mut byte) = (Vec::new(), [0]);
    while !drawn.ends_with(b"= no] ") {
        std::io::Read::read_exact(&mut screen, &mut byte)
            .unwrap_or_else(|error| panic!("{error}: {}", text(&drawn)));
        drawn.extend_from_slice(&byte);
    }
    let log = || std::fs::read_to_string(project.log()).unwrap_or_default();
    assert!(log().contains(r#""event":"approval_requested""#));
    // Control-C, and nothing that answers.
    let mut keys = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut keys, b"\x03").unwrap();
    let mut status = None;
    wait_for_mut(|| {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(130));
    let log = log();
    assert!(!log.contains(r#""event":"started""#), "{log}");
    assert!(log.contains(r#""outcome":"cancelled""#), "{log}");
    assert_valid(&project);
}

#[test]
fn a_killed_run_leaves_nothing_and_a_valid_log() {
    let project = Project::new();
    let words = [
        "run",
        "--state-dir",
        "state",
        "--session",
        "s",
        "--authorize-manifest",
    ];
    for number in 0..25_u64 {
        let marker = format!("{}.{number:03}", 800_000 + std::process::id());
        let input = format!(r#"{{"program":"sleep","arguments":["{marker}"]}}"#);
        let rest = ["agent.chatmd", "any", &input];
        let all: Vec<&str> = words
            .iter()
            .chain(&[project.digest.as_str()])
            .chain(&rest)
            .copied()
            .collect();
        let mut child = project.command(&all).stdout(Stdio::null()).spawn().unwrap();
        // Spread over compilation, materialisation, start and run.
        std::thread::sleep(Duration::from_millis(number * 9 % 220));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for(|| alive(&marker).is_empty());
        if project.log().exists() {
            assert_valid(&project);
        }
    }
    // The next run recovers a torn end and goes on.
    let output = project.run(&["agent.chatmd", "search", r#"{"arguments":["TODO","src"]}"#]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_valid(&project);
}

/// What the log says of a start is on the disk before the command runs.
#[test]
fn the_start_is_durable_before_the_command_runs_and_the_wrapper_has_no_environment() {
    let project = Project::new();
    let trace = project.folder.path().join("trace");
    let output = Command::new("strace")
        .args(["-f", "-y", "-s", "4096", "-e"])
        .arg("trace=write,pwrite64,writev,fdatasync,fsync,execve")
        .arg("-o")
        .arg(&trace)
        .arg(CHATMD)
        .args(["run", "--state-dir", "state", "--session", "s"])
        .args(["--authorize-manifest", &project.digest, "agent.chatmd"])
        .args(["search", r#"{"arguments":["TODO","src"]}"#])
        .current_dir(project.folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let trace = std::fs::read_to_string(trace).unwrap();
    // Calls of other threads may come between the two halves of one, so results are not looked at.
    let kept = |line: &&str| !line.contains("/memfd:") && !line.contains("eventfd");
    let lines: Vec<&str> = trace.lines().filter(kept).collect();
    let shown = lines.join("\n");
    let after = |from: usize, words: &[&str]| {
        let found = lines
            .iter()
            .skip(from)
            .position(|line| words.iter().all(|word| line.contains(word)));
        from + found.unwrap_or_else(|| panic!("no {words:?} after line {from}:\n{shown}"))
    };
    let log = "shell-audit.jsonl>";
    let written = after(0, &[log, r#"\"event\":\"started\""#]);
    let flushed = after(written, &["fdatasync(", log]);
    let executed = after(0, &["execve(\"", "/grep\", ["]);
    assert!(written < flushed && flushed < executed, "{shown}");
    // The host's environment reaches neither the wrapper nor, through it, a loader.
    let wrapper = after(0, &["execve(", "[\"bwrap\", \"--args\""]);
    assert!(
        lines[wrapper].contains("/* 0 vars */"),
        "{}",
        lines[wrapper]
    );
}

#[test]
fn a_changed_log_is_not_valid() {
    let project = Project::new();
    project.run(&["agent.chatmd", "search", r#"{"arguments":["TODO","src"]}"#]);
    assert_valid(&project);
    let log = std::fs::read_to_string(project.log()).unwrap();
    std::fs::write(project.log(), log.replace("grep", "gerp")).unwrap();
    let path = project.log();
    let output = project.chatmd(&["audit", "validate", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("shell.audit_chain_digest"),
        "{}",
        text(&output.stderr)
    );
    let output = project.chatmd(&["audit", "validate", "no-such-log"]);
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn tools_are_published_in_every_form() {
    let project = Project::new();
    for (format, names) in [
        ("json", "/tools/0/name"),
        ("openai", "/0/function/name"),
        ("anthropic", "/0/name"),
        ("mcp", "/tools/0/name"),
    ] {
        let output = project.chatmd(&["tools", "--format", format, "agent.chatmd"]);
        assert_eq!(output.status.code(), Some(0));
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value.pointer(names).unwrap(), "any", "{format}");
        assert!(text(&output.stdout).contains(r#""additionalProperties":false"#));
    }
}

/// `script` of util-linux gives the program a terminal of its own.
fn on_a_terminal(project: &Project, words: &str, keys: &str) -> String {
    let shell = format!("{keys} | script -qec '{CHATMD} {words}' /dev/null");
    let output = Command::new("sh")
        .args(["-c", &shell])
        .current_dir(project.folder.path())
        .env("HOME", project.folder.path().join("home"))
        .output()
        .unwrap();
    text(&output.stdout)
}

#[test]
fn the_authority_prompt_shows_a_summary_and_ignores_keys_typed_before() {
    let project = Project::new();
    let words = "run agent.chatmd search \"{\\\"arguments\\\":[\\\"TODO\\\",\\\"src\\\"]}\"";
    let shown = on_a_terminal(&project, words, "(sleep 1.5; echo y; sleep 1.5)");
    assert!(shown.contains("Authorize this manifest"), "{shown}");
    assert!(
        shown.contains("1 shell runtime(s), 2 shell tool(s)"),
        "{shown}"
    );
    assert!(shown.contains("src/a:TODO one"), "{shown}");
    // Typed before the question is drawn: no answer. The end of input is No.
    let shown = on_a_terminal(&project, words, "(printf 'y\\n'; sleep 3)");
    assert!(!shown.contains("src/a:TODO one"), "{shown}");
}

fn alive(marker: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let text = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).replace('\0', " ");
        // The program itself carries the marker in its input, with a quote behind it.
        if text.contains(&format!("{marker} ")) && !text.contains("arguments") {
            found.push(text);
        }
    }
    found
}

fn wait_for(condition: impl Fn() -> bool) {
    wait_for_mut(condition);
}

fn wait_for_mut(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(8);
    while !condition() {
        assert!(Instant::now() < deadline, "it did not happen in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn assert_valid(project: &Project) {
    let path = project.log();
    let output = project.chatmd(&["audit", "validate", path.to_str().unwrap()]);
    let all = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{all}");
    assert!(all.contains("valid audit log: "), "{all}");
}

/// Nobody may run it: that is on record in the session, with the digest that was refused.
#[test]
fn a_refused_manifest_is_on_record() {
    let project = Project::new();
    let other = "0".repeat(64);
    let refused = project.chatmd(&[
        "run",
        "--state-dir",
        "state",
        "--session",
        "s",
        "--authorize-manifest",
        &other,
        "agent.chatmd",
        "search",
    ]);
    assert_eq!(refused.status.code(), Some(3));
    let log = std::fs::read_to_string(project.log()).unwrap();
    let last = log.lines().last().unwrap();
    let event = r#""event":"manifest_rejected","code":"shell.manifest_grant_mismatch""#;
    assert!(last.contains(event), "{log}");
    assert!(last.contains(&project.digest), "{log}");
    assert_valid(&project);
}

/// A key that somebody put where a state folder would have it proves nothing: the state folder is
/// the one that the user names, or the usual one.
#[test]
fn a_key_beside_a_log_does_not_prove_its_end() {
    let project = Project::new();
    let search = ["agent.chatmd", "search", r#"{"arguments":["TODO","src"]}"#];
    assert!(project.run(&search).status.success());
    let log = std::fs::read_to_string(project.log()).unwrap();
    // The newest events are gone, and the head is signed with the forger's own key.
    let lines: Vec<&str> = log.lines().collect();
    let kept = &lines[..lines.len() - 3];
    let forged = project.folder.path().join("x/sessions/s/.chatmd");
    std::fs::create_dir_all(&forged).unwrap();
    let copy = forged.join("shell-audit.jsonl");
    std::fs::write(&copy, format!("{}\n", kept.join("\n"))).unwrap();
    let own = chatmd_runtime::audit::IntegrityKey::load_or_create(
        &project.folder.path().join("x/integrity.key"),
    )
    .unwrap();
    let last: serde_json::Value = serde_json::from_str(kept.last().unwrap()).unwrap();
    let head = chatmd_runtime::audit::head::Head {
        sequence: last["sequence"].as_u64().unwrap(),
        event_sha256: last["event_sha256"].as_str().unwrap().to_owned(),
    };
    let head_path = chatmd_runtime::audit::head::head_path(&copy);
    std::fs::write(head_path, head.encode(&own)).unwrap();
    let real = project.folder.path().join("state");
    let path = copy.to_str().unwrap();
    for (option, environment) in [(true, false), (false, true), (false, false)] {
        let mut command = project.command(&["audit", "validate"]);
        if option {
            command.arg("--state-dir").arg(&real);
        }
        if environment {
            command.env("CHATMD_SHELL_STATE_DIR", &real);
        }
        let output = command.arg(path).output().unwrap();
        let shown = text(&output.stdout);
        assert!(shown.contains("tail not provable"), "{shown}");
    }
    // Control: the forger's folder named as the state proves what was forged.
    let output = project
        .command(&["audit", "validate", "--state-dir", "x", path])
        .output()
        .unwrap();
    assert!(!text(&output.stdout).contains("tail not provable"));
}

/// Whatever the command says of itself: what it did is not on record.
#[test]
fn a_lost_record_is_a_failure_with_exit_status_too() {
    let project = Project::new();
    let document = DOCUMENT
        .replace(
            r#"<audit format="session" failure="deny_start"/>"#,
            r#"<audit format="jsonl" path="${workspace}/a.jsonl"/>"#,
        )
        .replace(r#"sandbox="required""#, r#"sandbox="direct_unsafe""#)
        .replace(
            "<policy default=\"ask\">",
            "<backends merge=\"replace\"><direct/></backends><policy default=\"allow\">",
        )
        .replace("<read path", "<write path");
    std::fs::write(project.folder.path().join("agent.chatmd"), document).unwrap();
    let refused = project.chatmd(&["run", "agent.chatmd", "any"]);
    let shown = text(&refused.stderr);
    let digest = shown.split_whitespace().find(|word| word.len() == 64);
    let digest = digest.expect(&shown);
    let input = r#"{"program":"sh","arguments":["-c","rm a.jsonl; echo out"]}"#;
    for (rest, code) in [(&["--exit-status"][..], 1), (&[], 1)] {
        let mut words = vec!["run", "--authorize-manifest", digest];
        words.extend(rest);
        words.extend(["agent.chatmd", "any", input]);
        let output = project.chatmd(&words);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{shown}");
        assert_eq!(text(&output.stdout), "out\n");
        assert!(shown.contains("shell.audit_sequence_conflict"), "{shown}");
    }
}
