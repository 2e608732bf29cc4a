//! The sandbox wrapper of a live runtime (06 section 3.5, 06b B1.3).

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness::{Project, code};

const DOCUMENT: &str = r#"
<shell_access id="r" cwd="${workspace}">
  <capabilities sandbox="required"><read path="${workspace}"/></capabilities>
  <resolver><search_path path="/usr/bin"/><trusted_root path="/usr/bin"/></resolver>
  <backends merge="replace"><bubblewrap id="box" executable="${workspace}/bin/bwrap"/></backends>
  <policy default="allow"/>
  <audit format="session"/>
  <approvals provider="none"/>
</shell_access>
<tool name="go" type="shell" runtime="r" command="true"/>
<tool name="wait" type="shell" runtime="r" command="sleep 4"/>
"#;

/// Runs the real bubblewrap with the same options, but for `--seccomp` where `DROP` is defined.
const BETWEEN: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char in[1 << 20], number[16];
int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "--args") == 0) {
    ssize_t length = pread(atoi(argv[2]), in, sizeof in, 0);
    int out = memfd_create("args", 0);
    for (char *word = in; word < in + length; word += strlen(word) + 1) {
#ifdef DROP
      if (strcmp(word, "--seccomp") == 0) { word += strlen(word) + 1; continue; }
#endif
      if (write(out, word, strlen(word) + 1) < 0) return 1;
    }
    lseek(out, 0, SEEK_SET);
    snprintf(number, sizeof number, "%d", out);
    argv[2] = number;
  }
  execv("/usr/bin/bwrap", argv);
  return 1;
}
"#;

fn build(between: &Path, options: &[&str]) {
    let source = between.with_extension("c");
    std::fs::write(&source, BETWEEN).unwrap();
    let mut cc = Command::new("cc");
    let built = cc
        .arg("-o")
        .arg(between)
        .arg(&source)
        .args(options)
        .status();
    assert!(built.expect("a C compiler is installed").success());
}

/// The check of the held sandbox comes before the filter is installed, so the running command is
/// looked at.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_leaves_the_filter_out_is_noticed_while_the_command_runs() {
    if !nix::unistd::geteuid().is_root() {
        println!("NOT APPLICABLE: only root can install a wrapper");
        return;
    }
    for (options, noticed) in [(&["-DDROP"][..], true), (&[], false)] {
        let project = Project::new(DOCUMENT);
        std::fs::create_dir(project.root.join("bin")).unwrap();
        build(&project.root.join("bin/bwrap"), options);
        let started = Instant::now();
        let invoked = project.call("wait", "{}").await;
        assert_eq!(invoked.result.is_err(), noticed, "{}", invoked.text);
        if noticed {
            assert_eq!(code(&invoked), "sandbox_unavailable");
            let text = "the command ran without its system call filter and was killed";
            assert!(invoked.text.contains(text), "{}", invoked.text);
            assert!(started.elapsed() < Duration::from_secs(3));
            let events = project.events();
            let events: Vec<&str> = events
                .iter()
                .map(String::as_str)
                .filter(|name| *name != "output")
                .collect();
            let expected = ["plan_created", "started", "rejected", "request_completed"];
            assert_eq!(events[3..], expected);
        }
    }
}

/// Only root can exchange a wrapper that may be used: it belongs to root and nobody else may write
/// it. An update of bubblewrap under a live runtime looks like this too.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_exchanged_starts_nothing() {
    if !nix::unistd::geteuid().is_root() {
        println!("NOT APPLICABLE: only root can exchange the wrapper");
        return;
    }
    let project = Project::new(DOCUMENT);
    let wrapper = project.root.join("bin/bwrap");
    std::fs::create_dir(project.root.join("bin")).unwrap();
    let install = || {
        std::fs::copy("/usr/bin/bwrap", &wrapper).unwrap();
        std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    install();
    let registry = project.live().await;
    let call = || chatmd_runtime::pipeline::invoke(&registry, "go", b"{}");
    let before = call().await.unwrap();
    assert!(before.result.is_ok(), "{}", before.text);
    std::fs::remove_file(&wrapper).unwrap();
    install();
    let after = call().await.unwrap();
    assert_eq!(code(&after), "executable_changed", "{}", after.text);
    assert_eq!(
        project.events(),
        [
            "request_received",
            "resolved",
            "policy_decided",
            "plan_created",
            "rejected",
            "request_completed"
        ]
    );
}
