//! SIGKILL of the runtime at random times leaves nothing running (06b B5.1, B9).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::ffi::CString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chatmd_runtime::sys::{Launch, descriptor, launcher};

const MODE: &str = "CHATMD_TEST_KILLED_MODE";
const BWRAP: &str = "/usr/bin/bwrap";

/// A sandbox with the mounts of a usual plan, so that its set-up takes a usual time.
fn sandbox_argv(marker: &str) -> Vec<String> {
    let mut argv: Vec<&str> = vec![
        "bwrap",
        "--die-with-parent",
        "--unshare-all",
        "--cap-drop",
        "ALL",
    ];
    argv.extend(["--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc"]);
    argv.extend([
        "--symlink",
        "usr/bin",
        "/bin",
        "--symlink",
        "usr/lib",
        "/lib",
    ]);
    argv.extend([
        "--symlink",
        "usr/lib64",
        "/lib64",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]);
    argv.extend(["--tmpfs", "/tmp", "--", "/bin/sh", "-c"]);
    let mut argv: Vec<String> = argv.into_iter().map(str::to_owned).collect();
    argv.push(format!("setsid sleep {marker} & sleep {marker}"));
    argv
}

/// Not a test of its own: the process that the tests below start and kill.
#[test]
fn helper() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    let (kind, marker) = mode.split_once(':').unwrap();
    let argv = sandbox_argv(marker);
    if kind == "unguarded" {
        println!("spawning");
        let mut child = Command::new(BWRAP)
            .args(&argv[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        child.wait().unwrap();
        return;
    }
    let (_out, stdout) = descriptor::pipe().unwrap();
    let (_err, stderr) = descriptor::pipe().unwrap();
    let direct = ["sh", "-c", &argv[argv.len() - 1]]
        .map(str::to_owned)
        .to_vec();
    let (program, argv) = if kind == "direct" {
        ("/bin/sh", direct)
    } else {
        (BWRAP, argv)
    };
    let launch = Launch {
        program: File::open(program).unwrap().into(),
        keep_program: false,
        argv: argv
            .iter()
            .map(|word| CString::new(word.as_str()).unwrap())
            .collect(),
        env: vec![c"PATH=/usr/bin:/bin".to_owned()],
        cwd: None,
        stdin: None,
        stdout,
        stderr,
        inherit: Vec::new(),
        limits: Vec::new(),
        no_new_privs: true,
        private_dev: kind == "sandbox" && nix::unistd::geteuid().is_root(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // The thread and the guard's code are in place before the clock of the test starts.
    let launcher = launcher().unwrap();
    println!("spawning");
    let _stage = runtime.block_on(launcher.start(launch)).unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

/// Starts the helper, kills it `after` its spawn began, and returns what is left of it a moment
/// later.
fn leftovers(kind: &str, number: u32, after: Duration, patience: Duration) -> Vec<String> {
    let marker = format!("{}.{number:04}", 400_000 + std::process::id());
    let mut helper = Command::new(std::env::current_exe().unwrap())
        .args(["helper", "--exact", "--nocapture"])
        .env(MODE, format!("{kind}:{marker}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(helper.stdout.take().unwrap()).lines();
    while !lines
        .next()
        .expect("the helper says when it spawns")
        .unwrap()
        .contains("spawning")
    {}
    let begun = Instant::now();
    while begun.elapsed() < after {
        std::hint::spin_loop();
    }
    helper.kill().unwrap();
    helper.wait().unwrap();
    let deadline = Instant::now() + patience;
    loop {
        let left = with_marker(&marker);
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Command lines of the processes that carry the marker, guards included.
fn with_marker(marker: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name();
        if !name
            .as_encoded_bytes()
            .first()
            .is_some_and(u8::is_ascii_digit)
        {
            continue;
        }
        let read = |file| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        // A guard still has the helper's environment.
        let environment = String::from_utf8_lossy(&read("environ")).into_owned();
        if text.contains(marker) || environment.contains(marker) {
            found.push(format!("{} {text}", name.display()));
        }
    }
    found
}

fn end(left: &[String]) {
    for line in left {
        let pid: i32 = line.split(' ').next().unwrap().parse().unwrap();
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::SIGKILL);
    }
}

fn kill_at_random_times(kind: &str, offset: u32, times: u32) {
    for number in 0..times {
        let mut random = [0_u8; 2];
        getrandom::fill(&mut random).unwrap();
        let after = Duration::from_micros(u64::from(u16::from_ne_bytes(random)) * 50_000 / 65_536);
        let left = leftovers(kind, offset + number, after, Duration::from_secs(6));
        end(&left);
        assert!(
            left.is_empty(),
            "killed {after:?} after the spawn, left: {left:#?}"
        );
    }
}

#[test]
fn a_killed_runtime_leaves_no_sandboxed_process() {
    kill_at_random_times("sandbox", 0, 200);
}

#[test]
fn a_killed_runtime_leaves_no_direct_process() {
    kill_at_random_times("direct", 1000, 40);
}

#[test]
fn control_without_the_guard_something_is_left() {
    for number in 0..300 {
        let after = Duration::from_micros(200 * u64::from(number % 40));
        let left = leftovers(
            "unguarded",
            2000 + number,
            after,
            Duration::from_millis(300),
        );
        if !left.is_empty() {
            end(&left);
            return;
        }
    }
    println!("NOT APPLICABLE: on this kernel --die-with-parent alone lost no sandbox in 300 kills");
}
