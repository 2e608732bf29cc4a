//! Facts of this host, a plan made of them, and the installed bubblewrap carrying it out.
//!
//! The library itself starts nothing; these tests do, so that a plan is known to work and not only
//! to look right.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use chatmd_compiler::manifest::{self, DevMode, EnvOp, Environment, Inherit};
use chatmd_facts::canonical::{CanonicalPath, canonical};
use chatmd_facts::environment::{self, BuiltEnvironment};
use chatmd_facts::host::{Host, HostInput};
use chatmd_facts::resolver::{ResolvedExecutable, Resolver};
use chatmd_facts::roots::FrozenRoots;
use chatmd_facts::sandbox_facts::{
    ControlInput, control_paths, find_wrapper, state_path, system_facts,
};
use chatmd_plan::bubblewrap::{BubblewrapPlan, Descriptor, Features, Input, Settings, plan};
use chatmd_plan::facts::StatePath;
use chatmd_plan::seccomp::Arch;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, OpenHow, ResolveFlag, fcntl, openat2};
use nix::sys::memfd::{MFdFlags, memfd_create};

struct World {
    _keep: tempfile::TempDir,
    base: PathBuf,
    host: Host,
    environment: BuiltEnvironment,
    roots: FrozenRoots,
    state: Vec<StatePath>,
    features: Features,
    settings: Settings,
}

/// `work` is writable, `ref` readable, `other` neither.
fn world() -> World {
    let keep = tempfile::tempdir_in("/var/tmp").unwrap();
    let base = fs::canonicalize(keep.path()).unwrap();
    for name in ["work", "ref", "other", "work/state"] {
        fs::create_dir(base.join(name)).unwrap();
        fs::write(base.join(name).join("file"), name).unwrap();
    }
    let host = Host::new(HostInput::default());
    let set = |name: &str, value: &str| EnvOp::Set {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let operations = vec![
        set("PATH", "/usr/bin:/bin"),
        set("HOME", base.join("home").to_str().unwrap()),
        set("VALUE", "two\nlines = 'x'"),
    ];
    let declared = Environment {
        inherit: Inherit::None,
        operations,
    };
    let help = Command::new("bwrap")
        .arg("--help")
        .output()
        .expect("bubblewrap is installed");
    World {
        environment: environment::build(&host, &declared, false).unwrap(),
        roots: FrozenRoots {
            read: vec![canonical(base.join("ref")).unwrap()],
            write: vec![canonical(base.join("work")).unwrap()],
        },
        state: state_path(&base.join("work/state")).into_iter().collect(),
        features: Features::from_help(&String::from_utf8_lossy(&help.stdout)),
        settings: Settings {
            private_tmp: true,
            proc: true,
            dev: DevMode::Minimal,
            network: false,
            child_processes: true,
            privilege_change: false,
            // Not where /proc/sys is read-only; the probe finds out, these tests do without.
            disable_userns: false,
            hold: false,
            arch: Arch::host(),
        },
        _keep: keep,
        base,
        host,
    }
}

impl World {
    fn resolve(&self, program: &str) -> ResolvedExecutable {
        let declared = manifest::Resolver {
            search_path: vec![],
            trusted_roots: vec![],
            executables: vec![],
            allow_relative_search_path: false,
        };
        let cwd = canonical(self.base.join("work")).unwrap();
        let resolver =
            Resolver::new(&self.host, &declared, &cwd, &self.environment, &self.roots).unwrap();
        resolver.resolve(program).unwrap()
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let executable = self.resolve(program);
        let system = system_facts().unwrap();
        let current = self.roots.current();
        assert!(current.changed.is_empty());
        let control = control_paths(&ControlInput {
            write_roots: &self.roots.write,
            sources: &[self.base.join("work/agent.chatmd")],
            projects: &[],
        });
        let interpreter = executable.interpreter().map(|found| found.target());
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let cwd: CanonicalPath = self.roots.write[0].clone();
        let made = plan(&Input {
            features: self.features,
            settings: self.settings,
            system: &system,
            roots: &current.usable,
            state: &self.state,
            control: &control,
            executable: &executable.target(),
            interpreter: interpreter.as_ref(),
            script: None,
            argv0: executable.located().as_os_str(),
            arguments: &arguments,
            cwd: cwd.as_path(),
            environment: self.environment.entries(),
        })
        .unwrap();
        start(&made, &executable)
    }

    fn shell(&self, script: &str) -> String {
        let output = self.run("sh", &["-c", script]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!("{}{}", text(&output.stdout), text(&output.stderr))
    }
}

fn memory(bytes: &[u8]) -> OwnedFd {
    let fd = memfd_create("test", MFdFlags::empty()).unwrap();
    let mut file = File::from(fd);
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.into()
}

fn open(
    descriptor: &Descriptor,
    made: &BubblewrapPlan,
    executable: &ResolvedExecutable,
) -> OwnedFd {
    let item = |item| match item {
        chatmd_plan::bubblewrap::Item::Executable => executable.file(),
        _ => executable.interpreter().unwrap().file(),
    };
    match descriptor {
        Descriptor::MountPoint(path) => {
            let how = OpenHow::new()
                .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
                .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
            openat2(nix::fcntl::AT_FDCWD, path, how).unwrap()
        }
        Descriptor::Held(which) => item(*which).descriptor().try_clone().unwrap().into(),
        Descriptor::Sealed(which) => {
            let mut bytes = Vec::new();
            item(*which)
                .copy_verified(|chunk| {
                    bytes.extend_from_slice(chunk);
                    Ok(())
                })
                .unwrap();
            memory(&bytes)
        }
        Descriptor::Seccomp => memory(&made.seccomp.as_ref().unwrap().bytes()),
        Descriptor::Status => memory(b""),
        Descriptor::Block => unreachable!("not held"),
    }
}

fn start(made: &BubblewrapPlan, executable: &ResolvedExecutable) -> Output {
    let fds: Vec<OwnedFd> = made
        .descriptors
        .iter()
        .map(|d| open(d, made, executable))
        .collect();
    let numbers: Vec<i32> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let options = memory(&made.encode_args(&numbers).unwrap());
    let wrapper = find_wrapper(None).unwrap();
    let mut command = Command::new(wrapper.path().as_path());
    command
        .env_clear()
        .arg("--args")
        .arg(options.as_raw_fd().to_string())
        .arg("--")
        .args(&made.command);
    // std starts through a fork of this process: descriptors without close-on-exec go along. One
    // test at a time may do that.
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    for fd in fds.iter().chain([&options]) {
        fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    }
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn roots_are_what_the_command_sees() {
    let world = world();
    let base = world.base.display();
    let seen = world.shell(&format!(
        "pwd; cat {base}/ref/file; echo; cat file; echo; cat {base}/other/file; touch {base}/ref/x; touch new && echo made; ls -A {base}/work/state; ls -d $HOME; touch $HOME/x"
    ));
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(
        &lines[..4],
        [&format!("{base}/work"), "ref", "work", "made"],
        "{seen}"
    );
    assert!(seen.contains(&format!("{base}/home\n")), "{seen}");
    assert!(seen.contains("other/file: No such file"), "{seen}");
    assert!(seen.contains("ref/x': Read-only file system"), "{seen}");
    assert!(seen.contains("home/x': Read-only file system"), "{seen}");
    assert!(world.base.join("work/new").exists());
    // The state folder is empty inside and untouched outside.
    assert!(!seen.contains("work/state/file"));
    assert!(world.base.join("work/state/file").exists());
}

#[test]
fn private_files_and_kernel_controls() {
    let world = world();
    let seen = world.shell(
        "cat /etc/shadow; echo x > /proc/sys/kernel/core_pattern; echo x > /dev/new; echo t > /tmp/t && cat /tmp/t; \
         echo s > /dev/shm/s && cat /dev/shm/s; hostname; grep -c : /proc/net/dev; ls /home /root /run 2>&1 | head -3",
    );
    assert!(seen.contains("/etc/shadow: Permission denied"), "{seen}");
    assert!(
        seen.contains("core_pattern: Read-only file system")
            || seen.contains("cannot create /proc/sys/kernel/core_pattern"),
        "{seen}"
    );
    assert!(seen.contains("/dev/new"), "{seen}");
    assert!(seen.contains("t\ns\nsandbox\n1\n"), "{seen}");
    assert!(!Path::new("/tmp/t").exists());
}

#[test]
fn the_filter_is_the_one_of_the_plan() {
    let world = world();
    let status = world.shell("grep -E '^(Seccomp|NoNewPrivs|CapEff)' /proc/self/status");
    assert!(status.contains("Seccomp:\t2"), "{status}");
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    assert!(status.contains("CapEff:\t0000000000000000"), "{status}");
    let set_id = world.shell("cp /bin/true p && chmod 4755 p");
    assert!(set_id.contains("Operation not permitted"), "{set_id}");
    let mut open = self::world();
    open.settings.privilege_change = true;
    assert_eq!(
        open.shell("cp /bin/true p && chmod 4755 p"),
        "",
        "the control: permitted without the filter's rule"
    );
    let mut alone = self::world();
    alone.settings.child_processes = false;
    let refused = alone.shell("/bin/true; echo $?; exec /bin/echo replaced");
    assert!(refused.to_lowercase().contains("fork"), "{refused}");
}

#[test]
fn environment_is_exact() {
    let world = world();
    let output = world.run("env", &["-0"]);
    let mut expected: Vec<Vec<u8>> = world
        .environment
        .entries()
        .iter()
        .map(|(name, value)| [name.as_encoded_bytes(), b"=", value.as_encoded_bytes()].concat())
        .collect();
    expected.push(format!("PWD={}/work", world.base.display()).into_bytes());
    expected.sort();
    let mut seen: Vec<Vec<u8>> = output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|e| !e.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    seen.sort();
    assert_eq!(seen, expected);
}

#[test]
fn an_unstable_script_runs_from_its_sealed_copy() {
    let world = world();
    let script = world.base.join("work/run");
    fs::write(
        &script,
        "#!/bin/sh\necho \"$0\" \"$1\"\necho more >> \"$0\"\n",
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let resolved = world.resolve("./run");
    assert!(!resolved.stable());
    let output = world.run("./run", &["a b"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.ends_with("work/run a b\n"), "{output:?}");
    assert!(
        !fs::read_to_string(&script).unwrap().contains("\nmore\n"),
        "the file inside can not be changed"
    );
}

#[test]
fn a_program_under_another_name_keeps_that_name() {
    let world = world();
    // A link in a writable folder: launched by the canonical path or an alias, argv[0] as located.
    std::os::unix::fs::symlink("/bin/sh", world.base.join("work/renamed")).unwrap();
    let output = world.run("./renamed", &["-c", "echo $0"]);
    let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert_eq!(
        Path::new(&name).file_name(),
        Some(OsStr::new("renamed")),
        "{output:?}"
    );
}

#[test]
fn control_paths_stay_as_they_are() {
    let world = world();
    let work = world.base.join("work");
    for name in [".git/hooks", ".git/info"] {
        fs::create_dir_all(work.join(name)).unwrap();
    }
    fs::write(work.join(".git/config"), "[core]\n").unwrap();
    fs::write(work.join(".envrc"), "").unwrap();
    fs::write(work.join("agent.chatmd"), "").unwrap();
    let inode = fs::metadata(work.join(".git")).unwrap().ino();
    let seen = world.shell(
        "echo x > .git/config; echo x > .git/hooks/post-checkout; echo x > .envrc; echo x > agent.chatmd; \
         mv .git old; rm -rf .git/hooks; mv .envrc gone; touch .git/index && echo index",
    );
    assert!(
        seen.contains("index"),
        "the rest of the git directory is writable: {seen}"
    );
    assert_eq!(
        fs::read_to_string(work.join(".git/config")).unwrap(),
        "[core]\n"
    );
    assert!(!work.join(".git/hooks/post-checkout").exists());
    assert!(work.join(".git/hooks").is_dir() && work.join(".envrc").exists());
    assert_eq!(
        fs::metadata(work.join(".git")).unwrap().ino(),
        inode,
        "not renamed away: {seen}"
    );
    assert_eq!(fs::read(work.join("agent.chatmd")).unwrap(), b"");
    let mut text = String::new();
    File::open(work.join(".envrc"))
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "");
}

#[test]
fn the_whole_file_system_as_a_read_root() {
    let mut world = world();
    world.roots.read = vec![CanonicalPath::root()];
    let base = world.base.display().to_string();
    let seen = world.shell(&format!("cat {base}/other/file; echo x > {base}/other/file; cat /etc/shadow; echo > /sys/kernel/x; touch new; ls -A state"));
    assert!(seen.starts_with("other"), "{seen}");
    assert!(seen.contains("Read-only file system"), "{seen}");
    assert!(seen.contains("/etc/shadow: Permission denied"), "{seen}");
    assert_eq!(
        fs::read_to_string(world.base.join("other/file")).unwrap(),
        "other"
    );
    assert!(world.base.join("work/new").exists());
}
