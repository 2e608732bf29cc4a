//! Real processes under guard and supervision, without a sandbox (06b B5, B9).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use chatmd_runtime::supervise::{
    Budget, Channel, Ended, Feed, Observer, Silent, Stage, Stop, Termination, WaitStatus, run,
};
use chatmd_runtime::sys::{Guarded, Launch, LaunchStep, Limit, descriptor, launcher, reaper};
use tokio::time::Instant;

struct Command {
    argv: Vec<&'static str>,
    stdin: Option<OwnedFd>,
    limits: Vec<Limit>,
    inherit: Vec<OwnedFd>,
}

fn command(argv: &[&'static str]) -> Command {
    Command {
        argv: argv.to_vec(),
        stdin: None,
        limits: Vec::new(),
        inherit: Vec::new(),
    }
}

fn limits(
    cpu: Option<u64>,
    memory: Option<u64>,
    file: Option<u64>,
    open: Option<u64>,
) -> Vec<Limit> {
    let limits = chatmd_compiler::manifest::Limits {
        wall_time_ms: 1_000,
        idle_time_ms: None,
        max_stdin_bytes: 0,
        stdout_bytes: 1,
        stderr_bytes: 1,
        total_output_bytes: 1,
        cpu_time_ms: cpu,
        memory_bytes: memory,
        file_size_bytes: file,
        open_files: open,
    };
    let lowered = chatmd_plan::limits::lower(&limits).unwrap();
    lowered.resources.into_iter().map(Limit::from).collect()
}

fn sh(script: &'static str) -> Command {
    command(&["/bin/sh", "-c", script])
}

impl Command {
    fn launch(self, stdout: OwnedFd, stderr: OwnedFd) -> Launch {
        Launch {
            program: File::open(self.argv[0]).unwrap().into(),
            keep_program: false,
            argv: self
                .argv
                .iter()
                .map(|a| CString::new(*a).unwrap())
                .collect(),
            env: vec![c"PATH=/usr/bin:/bin".to_owned()],
            cwd: None,
            stdin: self.stdin,
            stdout,
            stderr,
            inherit: self.inherit,
            limits: self.limits,
            no_new_privs: true,
            private_dev: false,
        }
    }
}

/// Starts a pipeline whose neighbours are connected.
async fn pipeline(commands: Vec<Command>) -> Vec<Stage> {
    let mut stages = Vec::new();
    let count = commands.len();
    let mut next_stdin = None;
    for (index, mut command) in commands.into_iter().enumerate() {
        if index > 0 {
            command.stdin = next_stdin.take();
        }
        let (read, write) = descriptor::pipe().unwrap();
        let (stderr, stderr_write) = descriptor::pipe().unwrap();
        let launch = command.launch(write, stderr_write);
        let process = launcher().unwrap().start(launch).await.unwrap();
        let last = index + 1 == count;
        let mut stdout = Some(read);
        if !last {
            next_stdin = stdout.take();
        }
        stages.push(Stage {
            process,
            stdout,
            stderr,
            side: None,
            termination: Termination::Graceful,
        });
    }
    stages
}

fn budget() -> Budget {
    Budget {
        deadline: Instant::now() + Duration::from_secs(20),
        idle: None,
        stdout_bytes: 1_000_000,
        stderr_bytes: 1_000_000,
        total_bytes: 1_500_000,
        total_used: 0,
    }
}

async fn ended(commands: Vec<Command>) -> Vec<Ended> {
    run(pipeline(commands).await, None, &mut budget(), &mut Silent)
        .await
        .expect("runs to its end")
}

/// Processes of the session that `pid` leads, and everything whose environment has the marker.
fn alive_with_marker(marker: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name();
        let Ok(pid) = name.to_str().unwrap().parse::<i32>() else {
            continue;
        };
        let Ok(text) = std::fs::read(entry.path().join("cmdline")) else {
            continue;
        };
        if String::from_utf8_lossy(&text).contains(marker) {
            found.push(pid);
        }
    }
    found
}

async fn gone(marker: &str) {
    for _ in 0..300 {
        if alive_with_marker(marker).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("still running: {:?}", alive_with_marker(marker));
}

/// Nobody outside the command's own processes can hold up its result.
#[tokio::test]
async fn a_stranger_that_holds_the_pipe_delays_the_end_by_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let (pid, go) = (folder.path().join("pid"), folder.path().join("go"));
    let script = format!(
        "echo $$ > {pid}.new; mv {pid}.new {pid}; until test -e {go}; do sleep 0.02; done; echo out",
        pid = pid.display(),
        go = go.display()
    );
    let stranger = std::thread::spawn(move || {
        let number = loop {
            match std::fs::read_to_string(&pid) {
                Ok(text) => break text.trim().to_owned(),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let held = std::fs::OpenOptions::new()
            .write(true)
            .open(format!("/proc/{number}/fd/1"))
            .unwrap();
        std::fs::write(&go, "").unwrap();
        held
    });
    let begun = Instant::now();
    let script: &'static str = script.leak();
    let end = ended(vec![sh(script)]).await;
    assert_eq!(end[0].stdout.bytes, b"out\n");
    assert!(
        begun.elapsed() >= Duration::from_millis(400),
        "it was not held"
    );
    assert!(
        begun.elapsed() < Duration::from_secs(6),
        "{:?}",
        begun.elapsed()
    );
    drop(stranger.join().unwrap());
}

#[tokio::test]
async fn output_and_status_of_one_command() {
    let end = ended(vec![sh("echo out; echo err >&2; exit 3")]).await;
    assert_eq!(end[0].status, Some(WaitStatus::Exited(3)));
    assert_eq!(end[0].stdout.bytes, b"out\n");
    assert_eq!(end[0].stderr.bytes, b"err\n");
    assert!(!end[0].stdout.truncated);
}

#[tokio::test]
async fn early_reader_ends_the_producer_by_sigpipe() {
    let end = ended(vec![
        command(&["/usr/bin/yes"]),
        command(&["/usr/bin/head", "-n", "1"]),
    ])
    .await;
    assert_eq!(end[0].status, Some(WaitStatus::Signaled(13)));
    assert_eq!(end[1].status, Some(WaitStatus::Exited(0)));
    assert_eq!(end[1].stdout.bytes, b"y\n");
}

#[tokio::test]
async fn stderr_does_not_enter_the_next_stdin() {
    let end = ended(vec![sh("echo a; echo b >&2"), command(&["/bin/cat"])]).await;
    assert_eq!(end[1].stdout.bytes, b"a\n");
    assert_eq!(end[0].stderr.bytes, b"b\n");
}

#[tokio::test]
async fn empty_stdin_is_the_null_device_and_supplied_stdin_arrives_whole() {
    let end = ended(vec![command(&["/usr/bin/readlink", "/proc/self/fd/0"])]).await;
    assert_eq!(end[0].stdout.bytes, b"/dev/null\n");

    let (read, write) = descriptor::pipe().unwrap();
    let mut cat = command(&["/usr/bin/sha256sum"]);
    cat.stdin = Some(read);
    let bytes = vec![b'x'; 1 << 20];
    let feed = Some(Feed {
        pipe: write,
        bytes: bytes.clone(),
    });
    let end = run(pipeline(vec![cat]).await, feed, &mut budget(), &mut Silent)
        .await
        .unwrap();
    use sha2::Digest;
    let expected: String = sha2::Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert!(end[0].stdout.bytes.starts_with(expected.as_bytes()));
}

#[tokio::test]
async fn unread_stdin_is_no_error() {
    let (read, write) = descriptor::pipe().unwrap();
    let mut command = command(&["/bin/true"]);
    command.stdin = Some(read);
    let feed = Some(Feed {
        pipe: write,
        bytes: vec![0; 1 << 20],
    });
    let end = run(
        pipeline(vec![command]).await,
        feed,
        &mut budget(),
        &mut Silent,
    )
    .await
    .unwrap();
    assert_eq!(end[0].status, Some(WaitStatus::Exited(0)));
}

#[tokio::test]
async fn wall_and_idle_time_are_distinct_and_leave_nothing() {
    let mut bounds = budget();
    bounds.deadline = Instant::now() + Duration::from_millis(200);
    let stages = pipeline(vec![command(&["/bin/sleep", "317.25"])]).await;
    assert!(matches!(
        run(stages, None, &mut bounds, &mut Silent).await,
        Err(Stop::WallTime)
    ));
    gone("317.25").await;

    let mut bounds = budget();
    bounds.idle = Some(Duration::from_millis(200));
    let stages = pipeline(vec![command(&["/bin/sleep", "317.26"])]).await;
    assert!(matches!(
        run(stages, None, &mut bounds, &mut Silent).await,
        Err(Stop::IdleTime)
    ));
    gone("317.26").await;

    // Activity holds the idle clock back.
    let mut bounds = budget();
    bounds.idle = Some(Duration::from_millis(300));
    let stages = pipeline(vec![sh(
        "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done",
    )])
    .await;
    assert!(run(stages, None, &mut bounds, &mut Silent).await.is_ok());
}

#[tokio::test]
async fn termination_is_gentle_first_then_certain() {
    let mut bounds = budget();
    bounds.deadline = Instant::now() + Duration::from_millis(300);
    let file = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "trap 'echo term > {}; exit' TERM; echo; sleep 318.25 & wait",
        file.path().display()
    );
    let script: &'static str = script.leak();
    let stages = pipeline(vec![sh(script)]).await;
    assert!(matches!(
        run(stages, None, &mut bounds, &mut Silent).await,
        Err(Stop::WallTime)
    ));
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "term\n");
    gone("318.25").await;

    let mut bounds = budget();
    bounds.deadline = Instant::now() + Duration::from_millis(100);
    let begun = Instant::now();
    let stages = pipeline(vec![sh("trap '' TERM; while :; do sleep 318.26; done")]).await;
    assert!(matches!(
        run(stages, None, &mut bounds, &mut Silent).await,
        Err(Stop::WallTime)
    ));
    assert!(
        begun.elapsed() >= Duration::from_millis(600),
        "no grace was given"
    );
    assert!(begun.elapsed() < Duration::from_secs(4));
    gone("318.26").await;
}

#[tokio::test]
async fn total_output_stops_a_flood_and_truncation_does_not() {
    let mut bounds = budget();
    bounds.total_bytes = 10_000;
    let stages = pipeline(vec![command(&["/usr/bin/yes", "319.25"])]).await;
    let Err(Stop::TotalOutput(count)) = run(stages, None, &mut bounds, &mut Silent).await else {
        panic!("the flood went on");
    };
    assert!(count > 10_000);
    gone("319.25").await;

    let mut bounds = budget();
    bounds.stdout_bytes = 100;
    let stages = pipeline(vec![sh("yes | head -c 200000; echo end >&2")]).await;
    let end = run(stages, None, &mut bounds, &mut Silent).await.unwrap();
    assert_eq!(
        (end[0].stdout.bytes.len(), end[0].stdout.truncated),
        (100, true)
    );
    assert_eq!(end[0].stdout.total, 200_000);
    assert_eq!(end[0].stderr.bytes, b"end\n");
    assert_eq!(bounds.total_used, 200_004);
}

#[tokio::test]
async fn background_descendants_do_not_outlive_a_normal_end() {
    let begun = Instant::now();
    let end = ended(vec![sh(
        "setsid sh -c 'trap \"\" TERM HUP; sleep 320.25' & (sleep 320.26 &) ; echo done",
    )])
    .await;
    assert_eq!(end[0].status, Some(WaitStatus::Exited(0)));
    assert_eq!(end[0].stdout.bytes, b"done\n");
    assert!(begun.elapsed() < Duration::from_secs(5));
    gone("320.2").await;
}

#[tokio::test]
async fn dropping_the_future_kills() {
    let stages = pipeline(vec![
        sh("setsid sleep 321.25 & sleep 321.26"),
        command(&["/bin/cat"]),
    ])
    .await;
    let mut bounds = budget();
    let mut silent = Silent;
    let work = run(stages, None, &mut bounds, &mut silent);
    assert!(
        tokio::time::timeout(Duration::from_millis(100), work)
            .await
            .is_err()
    );
    gone("321.2").await;
    assert!(
        tokio::task::spawn_blocking(|| reaper::wait_until_collected(Duration::from_secs(6)))
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn no_zombie_is_left() {
    for _ in 0..5 {
        ended(vec![command(&["/bin/true"])]).await;
    }
    reaper::wait_until_collected(Duration::from_secs(6));
    let me = std::process::id().to_string();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let Some((head, rest)) = stat.rsplit_once(") ") else {
            continue;
        };
        let fields: Vec<&str> = rest.split(' ').collect();
        // Other tests of this binary may have a guard of their own at this moment.
        if fields[1] == me && fields[0] == "Z" && head.contains("(true") {
            panic!("zombie: {stat}");
        }
    }
}

#[tokio::test]
async fn only_the_wanted_descriptors_reach_the_program() {
    // A descriptor that lost its close-on-exec flag must not leak either.
    let leaked = nix::unistd::dup(File::open("/").unwrap()).unwrap();
    nix::fcntl::fcntl(
        &leaked,
        nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty()),
    )
    .unwrap();
    let list = "exec ls -l /proc/self/fd";
    let end = ended(vec![sh(list)]).await;
    let text = String::from_utf8(end[0].stdout.bytes.clone()).unwrap();
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(" -> "))
        .map(|(left, _)| left.rsplit(' ').next().unwrap())
        .collect();
    // 3 is the directory that `ls` reads.
    assert_eq!(names, ["0", "1", "2", "3"], "{text}");
    assert!(text.contains("3 -> /proc/"), "{text}");

    // Control: an inherited descriptor does arrive, under its own number.
    let wanted = descriptor::duplicate(&leaked).unwrap();
    let number = wanted.as_raw_fd();
    let mut command = sh(list);
    command.inherit.push(wanted);
    let end = ended(vec![command]).await;
    let text = String::from_utf8(end[0].stdout.bytes.clone()).unwrap();
    assert!(text.contains(&format!(" {number} -> /\n")), "{text}");
}

#[tokio::test]
async fn limits_reach_the_program() {
    let bounds = limits(Some(1_500), Some(512 << 20), Some(1 << 20), Some(40));
    let mut show = sh("ulimit -c; ulimit -St; ulimit -Ht; ulimit -v; ulimit -f; ulimit -n");
    show.limits = bounds;
    let end = ended(vec![show]).await;
    assert_eq!(
        String::from_utf8_lossy(&end[0].stdout.bytes),
        "0\n2\n3\n524288\n2048\n40\n"
    );

    let mut spin = sh("while :; do :; done");
    spin.limits = limits(Some(1_000), None, None, None);
    let end = ended(vec![spin]).await;
    assert_eq!(end[0].status, Some(WaitStatus::Signaled(libc::SIGXCPU)));
}

#[tokio::test]
async fn signals_are_as_in_a_fresh_process() {
    let end = ended(vec![command(&[
        "/bin/grep",
        "^Sig[BI]",
        "/proc/self/status",
    ])])
    .await;
    let text = String::from_utf8(end[0].stdout.bytes.clone()).unwrap();
    assert_eq!(
        text,
        "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
    );
}

#[tokio::test]
async fn own_session_and_no_new_privileges() {
    let end = ended(vec![sh(
        "ps -o pid= -o sid= -o pgid= -p $$; grep NoNewPrivs /proc/self/status",
    )])
    .await;
    let text = String::from_utf8(end[0].stdout.bytes.clone()).unwrap();
    let mut words = text.split_whitespace();
    let pid = words.next().unwrap();
    assert_eq!((words.next(), words.next()), (Some(pid), Some(pid)));
    assert!(text.ends_with("NoNewPrivs:\t1\n"), "{text}");
}

#[tokio::test]
async fn failed_exec_names_step_and_cause() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "not a program").unwrap();
    let mut launch = command(&["/bin/true"])
        .launch(descriptor::pipe().unwrap().1, descriptor::pipe().unwrap().1);
    launch.program = File::open(file.path()).unwrap().into();
    let error = launcher().unwrap().start(launch).await.unwrap_err();
    assert_eq!(error.step, LaunchStep::Exec);
    assert_eq!(error.source.raw_os_error(), Some(libc::EACCES));
}

#[tokio::test]
async fn script_needs_its_descriptor_and_an_elf_does_not() {
    // Written by another process: a start in a parallel test could hold a copy of our descriptor
    // for a moment, and a file that is open for writing can not be executed.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("script");
    let write = "printf '#!/bin/sh\\necho from script\\n' > \"$0\" && chmod 755 \"$0\"";
    let written = std::process::Command::new("sh")
        .args(["-c", write])
        .arg(&file)
        .status();
    assert!(written.unwrap().success());
    for keep in [true, false] {
        let (read, write) = descriptor::pipe().unwrap();
        let (stderr, stderr_write) = descriptor::pipe().unwrap();
        let mut launch = command(&["/bin/true"]).launch(write, stderr_write);
        launch.program = File::open(&file).unwrap().into();
        launch.keep_program = keep;
        let process: Result<Guarded, _> = launcher().unwrap().start(launch).await;
        let stage = Stage {
            process: process.unwrap(),
            stdout: Some(read),
            stderr,
            side: None,
            termination: Termination::Graceful,
        };
        let end = run(vec![stage], None, &mut budget(), &mut Silent)
            .await
            .unwrap();
        // Without it the interpreter starts and can not open the script.
        let expected: &[u8] = if keep { b"from script\n" } else { b"" };
        assert_eq!(end[0].stdout.bytes, expected);
        assert_eq!(end[0].status == Some(WaitStatus::Exited(0)), keep);
    }
}

#[derive(Default)]
struct Counting {
    notes: Vec<(usize, Channel, u64, bool)>,
    fail_after: Option<usize>,
}

impl Observer for Counting {
    type Error = &'static str;

    fn output(
        &mut self,
        stage: usize,
        channel: Channel,
        bytes: u64,
        last: bool,
    ) -> Result<(), Self::Error> {
        if self
            .fail_after
            .is_some_and(|after| self.notes.len() >= after)
        {
            return Err("no");
        }
        self.notes.push((stage, channel, bytes, last));
        Ok(())
    }
}

#[tokio::test]
async fn observer_hears_every_byte_once_and_can_stop_the_run() {
    let mut counting = Counting::default();
    let stages = pipeline(vec![sh(
        "for i in 1 2 3 4 5; do echo 12345; sleep 0.15; done; echo e >&2",
    )])
    .await;
    run(stages, None, &mut budget(), &mut counting)
        .await
        .unwrap();
    let sum = |channel| {
        counting
            .notes
            .iter()
            .filter(|n| n.1 == channel)
            .map(|n| n.2)
            .sum::<u64>()
    };
    assert_eq!((sum(Channel::Stdout), sum(Channel::Stderr)), (30, 2));
    assert_eq!(counting.notes.iter().filter(|n| n.3).count(), 2);
    assert!(counting.notes.len() <= 7, "{:?}", counting.notes);

    let mut counting = Counting {
        fail_after: Some(0),
        ..Counting::default()
    };
    let stages = pipeline(vec![sh("while :; do echo x; sleep 0.05; done; : 322.25")]).await;
    let stopped = run(stages, None, &mut budget(), &mut counting).await;
    assert!(matches!(stopped, Err(Stop::Observer("no"))));
    gone("322.25").await;
}
