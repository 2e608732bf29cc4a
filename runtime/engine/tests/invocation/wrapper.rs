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

/// Runs the real bubblewrap with the same options, but for what the definitions change: `DROP` leaves
/// an option and its `ARGS` values out, `FROM` at the place `AT` becomes `TO`, `FIRST` comes before
/// all others and `LAST` after them, and with `FAIL` no sandbox is made.
const BETWEEN: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char in[1 << 20], number[16];
static char *next(char *word) { return word + strlen(word) + 1; }
static void put(int out, const char *words, size_t length) {
  if (write(out, words, length) != (ssize_t)length) _exit(1);
}
int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "--args") == 0) {
#ifdef FAIL
    fputs(FAIL "\n", stderr);
    return 1;
#endif
    ssize_t length = pread(atoi(argv[2]), in, sizeof in, 0);
    int out = memfd_create("args", 0);
#ifdef FIRST
    put(out, FIRST, sizeof FIRST);
#endif
    for (char *word = in; word < in + length; word = next(word)) {
#ifdef DROP
      if (strcmp(word, DROP) == 0) {
        for (int values = ARGS; values > 0; values--) word = next(word);
        continue;
      }
#endif
#ifdef FROM
      if (strcmp(word, FROM) == 0 && strcmp(next(next(word)), AT) == 0) {
        put(out, TO, sizeof TO);
        continue;
      }
#endif
      put(out, word, strlen(word) + 1);
    }
#ifdef LAST
    put(out, LAST, sizeof LAST);
#endif
    lseek(out, 0, SEEK_SET);
    snprintf(number, sizeof number, "%d", out);
    argv[2] = number;
  }
  execv("/usr/bin/bwrap", argv);
  return 1;
}
"#;

fn build(between: &Path, options: &[impl AsRef<std::ffi::OsStr>]) {
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
    for (options, noticed) in [
        (&["-DDROP=\"--seccomp\"", "-DARGS=1"][..], true),
        (&[], false),
    ] {
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

/// Words for the C compiler: a definition whose value is a string of several words.
fn define(name: &str, words: &[&str]) -> String {
    format!("-D{name}=\"{}\"", words.join("\\0"))
}

/// The check of the held sandbox, point by point: what a wrapper did other than the plan says is
/// seen from outside, and the command never starts.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_makes_another_sandbox_than_planned_starts_nothing() {
    if !nix::unistd::geteuid().is_root() {
        println!("NOT APPLICABLE: only root can install a wrapper");
        return;
    }
    let interfaces = std::fs::read_to_string("/proc/net/dev").unwrap();
    let has_network = interfaces
        .lines()
        .skip(2)
        .any(|line| !line.trim().starts_with("lo:"));
    let project = Project::new(DOCUMENT);
    let root = project.root.to_str().unwrap().to_owned();
    let session = project.state().join("sessions/s");
    let session = session.to_str().unwrap().to_owned();
    let drop =
        |option: &str, values: u8| vec![define("DROP", &[option]), format!("-DARGS={values}")];
    for (options, reason, applies) in [
        (drop("--unshare-net", 0), "exists inside", has_network),
        (drop("--cap-drop", 1), "still had capabilities", true),
        (
            vec![
                define("FROM", &["--ro-bind-fd"]),
                define("AT", &[&root]),
                define("TO", &["--bind-fd"]),
            ],
            "is writable inside",
            true,
        ),
        (
            vec![define("LAST", &["--tmpfs", &root])],
            "is another file inside",
            true,
        ),
        (
            vec![define(
                "LAST",
                &[
                    "--ro-bind",
                    "/tmp",
                    project.root.parent().unwrap().to_str().unwrap(),
                ],
            )],
            "is not visible inside",
            true,
        ),
        (
            vec![define("FIRST", &["--ro-bind", &session, &session])],
            "a private file of the host is visible inside",
            true,
        ),
    ] {
        if !applies {
            println!("NOT APPLICABLE: {reason}: this machine has no network interface");
            continue;
        }
        std::fs::create_dir_all(project.root.join("bin")).unwrap();
        build(&project.root.join("bin/bwrap"), &options);
        let invoked = project.call("go", "{}").await;
        assert!(invoked.result.is_err(), "{reason}: {}", invoked.text);
        assert_eq!(code(&invoked), "sandbox_unavailable", "{}", invoked.text);
        assert!(invoked.text.contains(reason), "{reason}: {}", invoked.text);
        let events = project.events();
        let expected = ["plan_created", "rejected", "request_completed"];
        assert_eq!(events[3..], expected, "{reason}");
    }
    project.assert_audit_is_valid();
}

/// The next backend of the list is no second try (06b B1.2).
#[tokio::test(flavor = "multi_thread")]
async fn one_that_fails_is_not_followed_by_a_start_without_a_sandbox() {
    if !nix::unistd::geteuid().is_root() {
        println!("NOT APPLICABLE: only root can install a wrapper");
        return;
    }
    let document = DOCUMENT
        .replace(
            r#"sandbox="required"><read path="${workspace}"/>"#,
            r#"sandbox="preferred"><write path="${workspace}"/>"#,
        )
        .replace("</backends>", "<direct id=\"open\"/></backends>")
        .replace("command=\"true\"", "command=\"touch made\"");
    let project = Project::new(&document);
    std::fs::create_dir(project.root.join("bin")).unwrap();
    let wrapper = project.root.join("bin/bwrap");
    build(&wrapper, &[define("FAIL", &["bwrap: no luck today"])]);
    let invoked = project.call("go", "{}").await;
    assert_eq!(code(&invoked), "sandbox_unavailable", "{}", invoked.text);
    assert!(invoked.text.contains("no luck today"), "{}", invoked.text);
    assert!(!project.root.join("made").exists());
    // Control: the same wrapper without the failure runs the command.
    build(&wrapper, &[] as &[&str]);
    assert!(project.call("go", "{}").await.result.is_ok());
    assert!(project.root.join("made").exists());
}

/// What runs every later command is no file that a command may leave behind, also where its folder
/// may be written.
#[tokio::test(flavor = "multi_thread")]
async fn one_in_a_write_root_can_not_be_exchanged_by_a_command() {
    if !nix::unistd::geteuid().is_root() {
        println!("NOT APPLICABLE: only root can install a wrapper");
        return;
    }
    let document = DOCUMENT
        .replace(
            r#"sandbox="required"><read path="${workspace}"/>"#,
            r#"sandbox="required" child_processes="true" arbitrary_code="true"><write path="${workspace}"/>"#,
        )
        .replace(
            r#"runtime="r" command="true""#,
            r#"runtime="r" mode="structured""#,
        );
    let project = Project::new(&document);
    for folder in ["bin", "plain"] {
        std::fs::create_dir(project.root.join(folder)).unwrap();
        let file = project.root.join(folder).join("bwrap");
        std::fs::copy("/usr/bin/bwrap", &file).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // The same attack on a copy that is no wrapper succeeds.
    let attack = |folder: &str| {
        format!(
            "echo x >> {folder}/bwrap; rm -f {folder}/bwrap; mv {folder} {folder}.gone; \
             mkdir -p {folder}; echo attack > {folder}/bwrap; "
        )
    };
    let script = format!("{}{}echo end", attack("bin"), attack("plain"));
    let input = serde_json::json!({"program": "sh", "arguments": ["-c", script]}).to_string();
    let invoked = project.call("go", &input).await;
    assert_eq!(
        crate::harness::stdout(&invoked),
        "end\n",
        "{}",
        invoked.text
    );
    let read = |folder: &str| std::fs::read(project.root.join(folder).join("bwrap")).unwrap();
    assert_eq!(read("plain"), b"attack\n");
    assert!(read("bin") == std::fs::read("/usr/bin/bwrap").unwrap());
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
