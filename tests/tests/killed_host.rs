//! A host program that dies at any moment leaves no process behind and an audit log that validates.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use chatmd_tests::Project;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Kills of one test; spread over the first milliseconds of a call.
fn rounds() -> u64 {
    std::env::var("CHATMD_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(200)
}

fn project(backend: &str) -> Project {
    Project::new(&format!(
        r#"<shell_access id="r" cwd="${{workspace}}">
  <capabilities sandbox="{}" child_processes="true" arbitrary_code="true"><read path="${{workspace}}"/></capabilities>
  <backends merge="replace"><{backend}/></backends>
  <policy default="allow"/>
  <audit format="session"/>
</shell_access>
<tool name="sleep" runtime="r"><command program="/bin/sh"><arg value="-c"/><arg value="setsid sleep $0 &amp; sleep $0"/></command></tool>
"#,
        if backend == "direct" {
            "direct_unsafe"
        } else {
            "required"
        }
    ))
}

/// Processes, not zombies, with `marker` as an argument, other than the host program itself.
fn processes(marker: &str, host: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.bytes().all(|byte| byte.is_ascii_digit()) || name == host.to_string() {
            continue;
        }
        let Ok(line) = fs::read(entry.path().join("cmdline")) else {
            continue;
        };
        if line
            .split(|byte| *byte == 0)
            .any(|word| word == marker.as_bytes())
        {
            found.push(format!(
                "{name} {}",
                String::from_utf8_lossy(&line).replace('\0', " ")
            ));
        }
    }
    found
}

fn killed_at_random_times(backend: &str) {
    let project = project(backend);
    let input_of = |marker: &str| serde_json::json!({"arguments": [marker]}).to_string();
    let mut alive_when_killed = 0;
    for round in 0..rounds() {
        let marker = format!("3000.{}{round:06}", std::process::id());
        let mut command = project.call_command("sleep", &input_of(&marker));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut host = command.spawn().unwrap();
        // Mostly the first 50 ms after the start, every fourth time with the command surely running.
        let delay = if round % 4 == 3 { 150 } else { round * 7 % 50 };
        std::thread::sleep(Duration::from_millis(delay));
        if !processes(&marker, host.id()).is_empty() {
            alive_when_killed += 1;
        }
        kill(Pid::from_raw(host.id().cast_signed()), Signal::SIGKILL).unwrap();
        host.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        while !processes(&marker, host.id()).is_empty() {
            assert!(
                Instant::now() < deadline,
                "round {round}: left behind {:#?}",
                processes(&marker, host.id())
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    assert!(
        alive_when_killed > 0,
        "the command never ran, so nothing was proved"
    );
    let outcome = project.chatmd(&[
        "audit",
        "validate",
        "--state-dir",
        project.state().to_str().unwrap(),
        project.audit_log().to_str().unwrap(),
    ]);
    outcome.expect(0);
}

#[test]
fn in_bubblewrap() {
    killed_at_random_times("bubblewrap");
}

#[test]
fn without_a_sandbox() {
    killed_at_random_times("direct");
}
