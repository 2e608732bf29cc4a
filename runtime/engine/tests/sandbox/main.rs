//! Attacks from inside a real sandbox, as root and as an ordinary user, each beside a control in
//! which the same attack works because its protection is off.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod harness;

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;

use chatmd_runtime::sandbox::Verdict;
use harness::{Box, Off, as_each_user, as_present_user, control};

/// `syscall` from the shell: perl is part of every Debian and Ubuntu.
fn perl(code: &str) -> String {
    format!("perl -e '{code}'")
}

#[test]
fn an_ordinary_command_works() {
    as_each_user("an_ordinary_command_works", || async {
        let area = Box::new();
        let outcome = area
            .sh("cat $R/file; echo new > $W/new; echo err >&2; exit 3", &[])
            .await;
        assert_eq!(outcome.verdict, Verdict::Exited(3), "{outcome:?}");
        assert_eq!(
            (&*outcome.stdout, &*outcome.stderr),
            ("content of read\n", "err\n")
        );
        assert_eq!(
            std::fs::read_to_string(area.write.join("new")).unwrap(),
            "new\n"
        );
    });
}

#[test]
fn only_roots_are_visible_and_read_roots_stay_read_only() {
    as_each_user(
        "only_roots_are_visible_and_read_roots_stay_read_only",
        || async {
            let area = Box::new();
            for script in [
                "cat $P/file",
                "ls $P",
                "ls /root",
                "ls /home",
                "ls /var/lib",
                "ls /run",
                "echo x > $R/file",
                "rm $R/file",
                "ln $R/file $W/hard",
                "mv $R/file $W/moved",
                "ln -s $R/file $W/soft && echo x > $W/soft",
                "echo x > /usr/x",
                "echo x > /x",
                "echo x > /dev/x",
                "echo x > /proc/sys/kernel/core_pattern",
                "echo x > /proc/self/oom_score_adj",
            ] {
                let outcome = area.sh(script, &[]).await;
                assert!(!outcome.succeeded(), "{script}: {outcome:?}");
            }
            assert_eq!(
                std::fs::read_to_string(area.read.join("file")).unwrap(),
                "content of read\n"
            );
            // Control: the same words work where a root allows them.
            let outcome = area
                .sh(
                    "cat $R/file && echo x > $W/file && ls /dev && rm $W/file",
                    &[],
                )
                .await;
            assert!(outcome.succeeded(), "{outcome:?}");
        },
    );
}

#[test]
fn remount_of_a_read_only_bind() {
    as_each_user("remount_of_a_read_only_bind", || async {
        let area = Box::new();
        // mount(2) itself: the command mount refuses to try without uid 0. The flags are remount,
        // bind, nosuid and nodev: those two may be locked, and read-only goes.
        let number = if cfg!(target_arch = "x86_64") {
            165
        } else {
            40
        };
        let attack = format!(
            "{} && echo x > $R/file",
            perl(&format!(
                "my $r = $ENV{{R}}; my $n = \"none\"; \
                 syscall({number}, $n, $r, $n, 4134, 0) == 0 or die \"remount: $!\""
            ))
        );
        let attack = attack.as_str();
        let outcome = area.sh(attack, &[]).await;
        assert!(!outcome.succeeded(), "{outcome:?}");
        // Capabilities alone are enough to keep it out, without the filter.
        let outcome = area.sh(attack, &[Off::Filter]).await;
        assert!(!outcome.succeeded(), "{outcome:?}");
        assert_eq!(
            std::fs::read_to_string(area.read.join("file")).unwrap(),
            "content of read\n"
        );
        // The held start would notice such a sandbox: the control must bypass it.
        let refused = area.try_sh(attack, &[Off::Capabilities, Off::Filter]).await;
        assert!(
            refused.is_err(),
            "a sandbox with capabilities was let through"
        );
        let outcome = area.unchecked(attack, &[Off::Capabilities, Off::Filter], false);
        let worked = std::fs::read_to_string(area.read.join("file")).unwrap() == "x\n";
        control("remount", &outcome, worked);
    });
}

#[test]
fn path_named_unix_socket() {
    as_each_user("path_named_unix_socket", || async {
        let area = Box::new();
        let _server = UnixListener::bind(area.read.join("socket")).unwrap();
        std::fs::set_permissions(area.read.join("socket"), PermissionsExt::from_mode(0o777))
            .unwrap();
        let connect = perl(
            "use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die \"socket: $!\"; \
             connect($s, sockaddr_un(\"$ENV{R}/socket\")) or die \"connect: $!\"; print \"connected\"",
        );
        let outcome = area.sh(&connect, &[]).await;
        assert!(
            !outcome.succeeded() && outcome.stderr.contains("socket: "),
            "{outcome:?}"
        );
        let outcome = area.sh(&connect, &[Off::Filter]).await;
        control(
            "a path-named unix socket",
            &outcome,
            outcome.stdout == "connected",
        );

        // A datagram pair can be re-addressed.
        let pair = perl(
            "use Socket; socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0) or die \"pair: $!\"; \
             connect($a, sockaddr_un(\"$ENV{R}/socket\")); print \"paired\"",
        );
        let outcome = area.sh(&pair, &[]).await;
        assert!(outcome.stderr.contains("pair: "), "{outcome:?}");
        let outcome = area.sh(&pair, &[Off::Filter]).await;
        control("a datagram pair", &outcome, outcome.stdout == "paired");
        // Stream pairs are wanted: shells and runtimes use them.
        let stream = perl(
            "use Socket; socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die; print \"ok\"",
        );
        assert_eq!(area.sh(&stream, &[]).await.stdout, "ok");
    });
}

#[test]
fn io_uring() {
    as_each_user("io_uring", || async {
        let area = Box::new();
        // io_uring_setup has number 425 on every architecture.
        let attack = perl(
            "my $p = \"\\0\" x 120; my $fd = syscall(425, 8, $p); die \"io_uring: $!\" if $fd < 0; print \"ring\"",
        );
        let outcome = area.sh(&attack, &[]).await;
        assert!(outcome.stderr.contains("not permitted"), "{outcome:?}");
        let outcome = area.sh(&attack, &[Off::Filter]).await;
        control("io_uring", &outcome, outcome.stdout == "ring");
    });
}

#[test]
fn leaked_descriptor() {
    as_each_user("leaked_descriptor", || async {
        let area = Box::new();
        // A folder of the host without close-on-exec, as careless embedding code leaves it.
        let path = nix::fcntl::OFlag::O_PATH;
        let leaked = nix::fcntl::open(&area.private, path, nix::sys::stat::Mode::empty()).unwrap();
        let escape =
            "for fd in /proc/self/fd/*; do cat $fd/file 2>/dev/null; done; ls /proc/self/fd";
        let outcome = area.sh(escape, &[]).await;
        assert_eq!(
            outcome.stdout, "0\n1\n2\n3\n",
            "only stdio and the listing's own folder"
        );
        // Control: bubblewrap started without the clean-up of the engine lets it through.
        let outcome = area.unchecked(escape, &[], true);
        control(
            "a leaked descriptor",
            &outcome,
            outcome.stdout.contains("content of private"),
        );
        drop(leaked);
    });
}

#[test]
fn set_user_id_file_by_open_mknod_and_chmod() {
    as_each_user("set_user_id_file_by_open_mknod_and_chmod", || async {
        let area = Box::new();
        let numbers = if cfg!(target_arch = "x86_64") {
            [257, 259]
        } else {
            [56, 33]
        };
        let [openat, mknodat] = numbers;
        let at = "my $d = \"$ENV{W}\"; umask 0;";
        let attacks = [
            (
                "open",
                perl(&format!(
                    "{at} my $p=\"$d/open\"; syscall({openat}, -100, $p, 0101, 06755) >= 0 or die $!"
                )),
            ),
            (
                "mknod",
                perl(&format!(
                    "{at} my $p=\"$d/mknod\"; syscall({mknodat}, -100, $p, 0106755, 0) >= 0 or die $!"
                )),
            ),
            ("chmod", "touch $W/chmod && chmod 6755 $W/chmod".to_owned()),
        ];
        for (name, attack) in attacks {
            let file = area.write.join(name);
            let set = || file.metadata().is_ok_and(|m| m.mode() & 0o6000 != 0);
            let outcome = area.sh(&attack, &[]).await;
            assert!(!outcome.succeeded() && !set(), "{name}: {outcome:?}");
            let _ = std::fs::remove_file(&file);
            let outcome = area.sh(&attack, &[Off::Filter]).await;
            control(&format!("a set-user-id file by {name}"), &outcome, set());
        }
    });
}

#[test]
fn a_daemon_does_not_survive() {
    as_each_user("a_daemon_does_not_survive", || async {
        let area = Box::new();
        let seconds = 500_000 + std::process::id();
        let daemon = format!("setsid sleep {seconds} >/dev/null 2>&1 & echo started");
        let outcome = area.sh(&daemon, &[]).await;
        assert_eq!(outcome.stdout, "started\n");
        assert_eq!(running(seconds), Vec::<i32>::new());
        // Control: the same daemon survives a shell that nobody watches.
        std::process::Command::new("sh")
            .args(["-c", &daemon])
            .output()
            .unwrap();
        // `setsid` may need a moment to become `sleep`.
        let left = (0..200).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            running(seconds).first().copied()
        });
        let Some(pid) = left else {
            println!("NOT APPLICABLE: no daemon survives its shell on this machine");
            return;
        };
        let pid = nix::unistd::Pid::from_raw(pid);
        nix::sys::signal::kill(pid, nix::sys::signal::SIGKILL).unwrap();
    });
}

fn running(seconds: u32) -> Vec<i32> {
    let wanted = format!("sleep\0{seconds}\0");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| {
            std::fs::read(entry.path().join("cmdline")).is_ok_and(|c| c == wanted.as_bytes())
        })
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

#[test]
fn nested_namespaces_and_terminal_injection() {
    as_each_user("nested_namespaces_and_terminal_injection", || async {
        let area = Box::new();
        for attack in [
            "unshare -U true",
            "unshare -n true",
            "unshare -m true",
            "chroot / true",
        ] {
            let outcome = area.sh(attack, &[]).await;
            assert!(!outcome.succeeded(), "{attack}: {outcome:?}");
        }
        let outcome = area.unchecked("unshare -U true", &[Off::Filter, Off::Capabilities], false);
        control("a nested user namespace", &outcome, outcome.succeeded());
        // TIOCSTI (0x5412) on a terminal of our own, with bits set that the kernel ignores.
        let inject = perl(
            "open my $t, \"+<\", \"/dev/ptmx\" or die \"ptmx: $!\"; my $c = \"x\"; \
             my $r = syscall(16, fileno($t), 0x100005412, $c); print $r < 0 ? \"refused $!\" : \"injected\"",
        );
        if cfg!(target_arch = "x86_64") {
            let outcome = area.sh(&inject, &[]).await;
            assert_eq!(
                outcome.stdout, "refused Operation not permitted",
                "{outcome:?}"
            );
        }
    });
}

#[test]
fn child_processes_can_be_forbidden() {
    as_each_user("child_processes_can_be_forbidden", || async {
        let mut area = Box::new();
        area.child_processes = false;
        // A shell that replaces itself starts no child.
        assert_eq!(area.sh("exec echo fine", &[]).await.stdout, "fine\n");
        let outcome = area.sh("(echo child); true", &[]).await;
        assert!(!outcome.stdout.contains("child"), "{outcome:?}");
        let outcome = area.sh("(echo child); true", &[Off::Filter]).await;
        control(
            "a child process",
            &outcome,
            outcome.stdout.contains("child"),
        );
    });
}

#[test]
fn set_up_failures_are_told_from_command_failures() {
    as_each_user("set_up_failures_are_told_from_command_failures", || async {
        let area = Box::new();
        let forged = "echo 'bwrap: execvp /bin/x: No such file or directory' >&2; exit 1";
        assert_eq!(area.sh(forged, &[]).await.verdict, Verdict::Exited(1));
        assert_eq!(
            area.sh("kill -9 $$", &[]).await.verdict,
            Verdict::Exited(137)
        );
        // A root that vanishes between plan and start.
        std::fs::remove_dir_all(&area.read).unwrap();
        let error = area.try_sh_planned_before_loss().await;
        assert!(error.to_string().contains("read"), "{error}");
    });
}

#[test]
fn the_host_is_unchanged_for_uid_zero() {
    if !nix::unistd::geteuid().is_root() {
        println!("NOT APPLICABLE: only root could change these files");
        return;
    }
    as_present_user(|| async {
        let area = Box::new();
        let mode = |path: &str| std::fs::metadata(path).unwrap().mode();
        let before = (mode("/dev/null"), mode("/usr/bin/bwrap"));
        for attack in [
            "chmod 0 /dev/null",
            "chmod 0 /proc/1/exe",
            "setfattr -n user.x -v y /proc/1/exe",
            "cat /proc/1/mem",
            "echo x > /proc/1/mem",
        ] {
            area.sh(attack, &[]).await;
        }
        assert_eq!((mode("/dev/null"), mode("/usr/bin/bwrap")), before);
    });
}
