//! What the next host writes for requests that a killed one left without an end (spec 08 section 5).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const CHATMD: &str = env!("CARGO_BIN_EXE_chatmd");

struct Project {
    folder: tempfile::TempDir,
    digest: String,
    session: Option<&'static str>,
}

impl Project {
    /// A project whose two tools write to one log.
    fn new(audit: &str, session: Option<&'static str>) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("chatmd-killed")
            .tempdir_in("/var/tmp")
            .unwrap();
        let document = format!(
            "<shell_access id=\"r\" cwd=\"${{workspace}}\">\n  \
               <capabilities sandbox=\"required\" child_processes=\"true\" arbitrary_code=\"true\">\n    \
                 <read path=\"${{workspace}}\"/>\n  </capabilities>\n  \
               <resolver><search_path path=\"/usr/bin\"/></resolver>\n  \
               <policy default=\"allow\"/>\n  {audit}\n</shell_access>\n\
             <tool name=\"long\" runtime=\"r\" command=\"sleep 600\"/>\n\
             <tool name=\"short\" runtime=\"r\" command=\"true\"/>\n"
        );
        std::fs::write(folder.path().join("agent.chatmd"), document).unwrap();
        let mut project = Self {
            folder,
            digest: "0".repeat(64),
            session,
        };
        let refused = project.run("short").output().unwrap();
        let text = String::from_utf8(refused.stderr).unwrap();
        let mut words = text.split_whitespace();
        project.digest = words
            .rfind(|word| word.len() == 64)
            .expect(&text)
            .to_owned();
        project
    }

    fn run(&self, tool: &str) -> Command {
        let mut command = Command::new(CHATMD);
        command
            .current_dir(self.folder.path())
            .args(["run", "--state-dir", "state", "--authorize-manifest"])
            .arg(&self.digest);
        if let Some(session) = self.session {
            command.args(["--session", session]);
        }
        command.args(["agent.chatmd", tool]).stdin(Stdio::null());
        command
            .env("HOME", self.folder.path().join("home"))
            .env_remove("XDG_STATE_HOME");
        command
    }

    fn short(&self) {
        let output = self.run("short").output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
    }

    /// A host whose command has started.
    fn long(&self, log: &Path) -> Child {
        let before = count(log, "started");
        let host = self
            .run("long")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while count(log, "started") == before {
            assert!(Instant::now() < deadline, "the command never started");
            std::thread::sleep(Duration::from_millis(10));
        }
        host
    }

    fn validate(&self, log: &Path) {
        let mut command = Command::new(CHATMD);
        command.current_dir(self.folder.path());
        command.args(["audit", "validate", "--state-dir", "state", "--strict"]);
        let output = command.arg(log).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat())
        .into_owned()
}

fn events(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    text[..whole]
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn named(log: &Path, name: &str) -> Vec<Value> {
    let mut events = events(log);
    events.retain(|event| event["event"] == name);
    events
}

fn count(log: &Path, name: &str) -> usize {
    named(log, name).len()
}

fn kill(mut host: Child) {
    // SIGKILL.
    host.kill().unwrap();
    host.wait().unwrap();
}

/// Every request has exactly one end.
fn all_ended(log: &Path) {
    let events = events(log);
    for received in events.iter().filter(|e| e["event"] == "request_received") {
        let ends = events.iter().filter(|event| {
            let end = ["request_completed", "request_interrupted"];
            event["request_id"] == received["request_id"]
                && end.iter().any(|name| event["event"] == *name)
        });
        assert_eq!(ends.count(), 1, "{received}");
    }
}

#[test]
fn the_next_host_of_a_session_ends_what_a_killed_one_left() {
    let project = Project::new(
        "<audit format=\"session\" failure=\"deny_start\"/>",
        Some("s"),
    );
    let log: PathBuf = project
        .folder
        .path()
        .join("state/sessions/s/.chatmd/shell-audit.jsonl");
    kill(project.long(&log));
    let lost = named(&log, "request_received").remove(0);
    let last = events(&log)
        .into_iter()
        .rfind(|event| event["request_id"] == lost["request_id"])
        .unwrap();
    assert_eq!(count(&log, "request_interrupted"), 0);
    project.short();
    let found = named(&log, "request_interrupted");
    assert_eq!(found.len(), 1);
    for member in ["request_id", "runtime_id", "manifest_sha256", "session_id"] {
        assert_eq!(found[0][member], lost[member], "{member}");
    }
    assert_eq!(found[0]["last_event"], last["event"]);
    assert_eq!(found[0]["interrupted_sequence"], last["sequence"]);
    all_ended(&log);
    project.validate(&log);
    // It is found once.
    project.short();
    assert_eq!(count(&log, "request_interrupted"), 1);
    all_ended(&log);
    project.validate(&log);
}

#[test]
fn a_log_of_several_hosts_is_left_alone_while_one_of_them_lives() {
    let audit = "<audit format=\"jsonl\" path=\"${tool_dir}/log.jsonl\" failure=\"deny_start\"/>";
    let project = Project::new(audit, None);
    let log = project.folder.path().join("log.jsonl");
    let alive = project.long(&log);
    kill(project.long(&log));
    project.short();
    // One of the two is at work: neither may be called interrupted.
    assert_eq!(count(&log, "request_interrupted"), 0);
    project.validate(&log);
    kill(alive);
    project.short();
    assert_eq!(count(&log, "request_interrupted"), 2);
    all_ended(&log);
    project.validate(&log);
}

#[test]
fn nothing_is_concluded_from_a_log_that_was_changed() {
    let project = Project::new("<audit format=\"session\"/>", Some("s"));
    let log = project
        .folder
        .path()
        .join("state/sessions/s/.chatmd/shell-audit.jsonl");
    kill(project.long(&log));
    let text_before = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text_before.replacen("process", "embedder", 1)).unwrap();
    let output = project.run("short").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(shown.contains("shell.audit_chain_digest"), "{shown}");
    assert!(shown.contains("unfinished"), "{shown}");
    assert_eq!(count(&log, "request_interrupted"), 0);
}
