//! A real sandbox for one shell command, with single protections that can be taken away.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use chatmd_compiler::manifest::DevMode;
use chatmd_plan::bubblewrap::{
    self, BubblewrapPlan, BwrapOption, Descriptor, Input, Settings, Slot,
};
use chatmd_plan::facts::{Access, Presence, Root, SystemFacts, SystemRoot, SystemRootKind, Target};
use chatmd_plan::seccomp::Arch;
use chatmd_runtime::sandbox::{
    BubblewrapStart, Files, Start, StartError, Streams, Verdict, VerifiedFile, Wrapper, judge,
    start_bubblewrap,
};
use chatmd_runtime::supervise::{Budget, Silent, Stage, Termination, run};
use chatmd_runtime::sys::descriptor;
use tokio::time::Instant;

/// A protection that a control takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// The system call filter.
    Filter,
    /// `--cap-drop ALL`, and what else keeps a process from using capabilities.
    Capabilities,
}

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn succeeded(&self) -> bool {
        self.verdict == Verdict::Exited(0)
    }
}

/// A scratch area outside `/tmp`, with one read root and one write root.
pub struct Box {
    /// Removes everything when dropped.
    _area: tempfile::TempDir,
    pub read: PathBuf,
    pub write: PathBuf,
    /// Beside the roots: must not be visible.
    pub private: PathBuf,
    pub network: bool,
    pub child_processes: bool,
}

impl Box {
    pub fn new() -> Self {
        let area = tempfile::Builder::new()
            .prefix("chatmd-box")
            .tempdir_in("/var/tmp")
            .unwrap();
        let path = area.path().canonicalize().unwrap();
        let sub = |name: &str| {
            let dir = path.join(name);
            std::fs::create_dir(&dir).unwrap();
            std::fs::write(dir.join("file"), format!("content of {name}\n")).unwrap();
            dir
        };
        Self {
            read: sub("read"),
            write: sub("write"),
            private: sub("private"),
            _area: area,
            network: false,
            child_processes: true,
        }
    }

    /// Runs `/bin/sh -c SCRIPT` with `$R` and `$W` as the roots and `$P` as the private folder.
    pub async fn sh(&self, script: &str, off: &[Off]) -> Outcome {
        self.try_sh(script, off)
            .await
            .expect("the sandbox can be made")
    }

    pub async fn try_sh(&self, script: &str, off: &[Off]) -> Result<Outcome, StartError> {
        let shell = Path::new("/bin/sh");
        let arguments = [OsString::from("-c"), script.into()];
        let plan = self.plan(shell, &arguments, off);
        let files = Files {
            executable: VerifiedFile {
                held: File::open(shell).unwrap().into(),
                sealed: None,
            },
            interpreter: None,
            script: None,
        };
        self.start(&plan, &files).await
    }

    async fn start(&self, plan: &BubblewrapPlan, files: &Files) -> Result<Outcome, StartError> {
        let wrapper = Wrapper::find(None).await.expect("bubblewrap is installed");
        let (stdout, stdout_write) = descriptor::pipe().unwrap();
        let (stderr, stderr_write) = descriptor::pipe().unwrap();
        let marker = self.private.join("file");
        let start = BubblewrapStart {
            wrapper: &wrapper,
            plan,
            files,
            limits: Vec::new(),
            no_network: !self.network,
            marker: Some(&marker),
        };
        let streams = Streams {
            stdin: None,
            stdout: stdout_write,
            stderr: stderr_write,
        };
        let mut started = start_bubblewrap(start, streams).await?;
        assert!(
            !matches!(started.hold, Start::Running),
            "the start was not held"
        );
        started.release()?;
        let stage = Stage {
            process: started.process,
            stdout: Some(stdout),
            stderr,
            side: started.side,
            termination: Termination::Immediate,
        };
        let mut budget = Budget {
            deadline: Instant::now() + Duration::from_secs(20),
            idle: None,
            stdout_bytes: 100_000,
            stderr_bytes: 100_000,
            total_bytes: 1_000_000,
            total_used: 0,
        };
        let ended = run(vec![stage], None, &mut budget, &mut Silent)
            .await
            .expect("it ends in time");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Outcome {
            verdict: judge(&ended[0]),
            stdout: text(&ended[0].stdout.bytes),
            stderr: text(&ended[0].stderr.bytes),
        })
    }

    pub fn plan(&self, program: &Path, arguments: &[OsString], off: &[Off]) -> BubblewrapPlan {
        let help = Command::new("/usr/bin/bwrap")
            .arg("--help")
            .output()
            .unwrap();
        let help = [help.stdout, help.stderr].concat();
        let features = bubblewrap::Features::from_help(&String::from_utf8_lossy(&help));
        let system = system_facts();
        let root = |path: &Path, access| Root {
            path: path.to_path_buf(),
            access,
            presence: Presence::Directory,
        };
        let roots = [
            root(&self.read, Access::Read),
            root(&self.write, Access::Write),
        ];
        let canonical = program.canonicalize().unwrap();
        let executable = Target {
            located: program.to_path_buf(),
            size: canonical.metadata().unwrap().len(),
            canonical,
            stable: true,
            links: Vec::new(),
        };
        let variable = |name: &str, value: &Path| (OsString::from(name), value.into());
        let environment = [
            variable("P", &self.private),
            variable("PATH", Path::new("/usr/sbin:/usr/bin:/bin")),
            variable("R", &self.read),
            variable("W", &self.write),
        ];
        let input = Input {
            features,
            settings: Settings {
                private_tmp: true,
                proc: true,
                dev: DevMode::Minimal,
                network: self.network,
                child_processes: self.child_processes,
                privilege_change: false,
                disable_userns: true,
                hold: true,
                arch: Arch::host(),
            },
            system: &system,
            roots: &roots,
            state: &[],
            control: &[],
            executable: &executable,
            interpreter: None,
            script: None,
            argv0: OsStr::new(program.as_os_str()),
            arguments,
            cwd: &self.write,
            environment: &environment,
        };
        let mut plan = bubblewrap::plan(&input).expect("a plan");
        for off in off {
            take_away(&mut plan, *off);
        }
        plan
    }
}

fn take_away(plan: &mut BubblewrapPlan, off: Off) {
    match off {
        // The descriptor of the filter stays in the plan and is simply not named any more.
        Off::Filter => plan
            .options
            .retain(|option| !matches!(option, BwrapOption::Seccomp(_))),
        Off::Capabilities => {
            plan.options
                .retain(|option| *option != BwrapOption::Flag("--disable-userns"));
            for option in &mut plan.options {
                if *option == BwrapOption::CapDropAll {
                    // As an ordinary user bubblewrap keeps none unless told to.
                    *option = BwrapOption::Flag("--cap-add");
                }
            }
            let at = plan
                .options
                .iter()
                .position(|o| *o == BwrapOption::Flag("--cap-add"));
            plan.options
                .insert(at.unwrap() + 1, BwrapOption::Flag("ALL"));
        }
    }
}

fn system_facts() -> SystemFacts {
    let mut system_roots = Vec::new();
    for name in ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc"] {
        let path = PathBuf::from(name);
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        let kind = if metadata.is_symlink() {
            SystemRootKind::Symlink(std::fs::read_link(&path).unwrap())
        } else {
            SystemRootKind::Directory
        };
        system_roots.push(SystemRoot { path, kind });
    }
    SystemFacts {
        system_roots,
        uid_zero: nix::unistd::geteuid().is_root(),
        ..SystemFacts::default()
    }
}

const AS_USER: &str = "CHATMD_TEST_AS_USER";
/// An ordinary user that need not have an account.
const USER: &str = "61234";

/// Runs the body of a test.
pub fn as_present_user<F: Future<Output = ()>>(body: impl FnOnce() -> F) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(body());
}

/// Runs the body of test `name` as the present user and, when that is root, again in a process of an
/// ordinary user.
pub fn as_each_user<F: Future<Output = ()>>(name: &str, body: impl FnOnce() -> F) {
    as_present_user(body);
    if !nix::unistd::geteuid().is_root() {
        if std::env::var_os(AS_USER).is_none() {
            println!("NOT APPLICABLE: {name} was tested as an ordinary user only, not as root");
        }
        return;
    }
    let copy = tempfile::Builder::new()
        .prefix("chatmd-test")
        .tempdir_in("/var/tmp")
        .unwrap();
    std::fs::set_permissions(copy.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = copy.path().join("tests");
    // Copied by another process: a fork of a parallel test would inherit a descriptor that is open for
    // writing here, and starting the copy would then fail with "Text file busy".
    let copied = Command::new("install")
        .args(["-m", "0755"])
        .arg(std::env::current_exe().unwrap())
        .arg(&program)
        .status()
        .expect("install of coreutils starts");
    assert!(copied.success(), "the test program could not be copied");
    let output = Command::new("setpriv")
        .args(["--reuid", USER, "--regid", USER, "--clear-groups"])
        .arg(&program)
        .args(["--exact", name, "--nocapture"])
        .env(AS_USER, "1")
        .env("HOME", "/nonexistent")
        .current_dir("/")
        .output()
        .expect("setpriv of util-linux starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    print!("{text}");
    assert!(output.status.success(), "as an ordinary user: {text}");
    assert!(
        text.contains("1 passed"),
        "the test {name} did not run as an ordinary user: {text}"
    );
}

/// Asserts that an attack works when its protection is off; says loudly when this kernel refuses it
/// anyway, because then the attack proves nothing here.
pub fn control(attack: &str, outcome: &Outcome, worked: bool) {
    assert!(
        !outcome.stderr.starts_with("bwrap: "),
        "the control was not set up: {outcome:?}"
    );
    if !worked {
        println!("NOT APPLICABLE: {attack} fails here even without its protection: {outcome:?}");
    }
}

impl Box {
    /// Runs plain bubblewrap with the plan's options: no guard, no held start, no clean-up of
    /// descriptors. For controls.
    pub fn unchecked(&self, script: &str, off: &[Off], leak: bool) -> Outcome {
        let arguments = [OsString::from("-c"), script.into()];
        let mut plan = self.plan(Path::new("/bin/sh"), &arguments, off);
        let drop_held = |option: &BwrapOption| {
            !matches!(
                option,
                BwrapOption::BlockFd(_) | BwrapOption::JsonStatusFd(_) | BwrapOption::Seccomp(_)
            )
        };
        plan.options.retain(drop_held);
        // Mounts by path instead of by descriptor.
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        let source = |slot: Slot| match &plan.descriptors[slot.0] {
            Descriptor::MountPoint(path) => path.clone(),
            _ => shell.clone(),
        };
        for option in &mut plan.options {
            *option = match option.clone() {
                BwrapOption::RoBindFd { slot, dest } => BwrapOption::RoBind {
                    source: source(slot),
                    dest,
                },
                BwrapOption::BindFd { slot, dest } => BwrapOption::Bind {
                    source: source(slot),
                    dest,
                },
                other => other,
            };
        }
        let numbers = vec![-1; plan.descriptors.len()];
        let words = plan.encode_args(&numbers).unwrap();
        let words = words
            .split(|byte| *byte == 0)
            .filter(|word| !word.is_empty());
        let mut command = Command::new("/usr/bin/bwrap");
        for word in words {
            command.arg(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(word));
        }
        command.arg("--").args(&plan.command);
        if leak {
            let path = nix::fcntl::OFlag::O_PATH;
            let fd = nix::fcntl::open(&self.private, path, nix::sys::stat::Mode::empty()).unwrap();
            let output = command.output().unwrap();
            drop(fd);
            return outcome(output);
        }
        outcome(command.output().unwrap())
    }

    /// Plans, removes the read root's folder, starts.
    pub async fn try_sh_planned_before_loss(&self) -> StartError {
        std::fs::create_dir(&self.read).unwrap();
        let shell = Path::new("/bin/sh");
        let plan = self.plan(shell, &[OsString::from("-c"), "true".into()], &[]);
        std::fs::remove_dir(&self.read).unwrap();
        let files = Files {
            executable: VerifiedFile {
                held: File::open(shell).unwrap().into(),
                sealed: None,
            },
            interpreter: None,
            script: None,
        };
        self.start(&plan, &files)
            .await
            .expect_err("a root is missing")
    }
}

fn outcome(output: std::process::Output) -> Outcome {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome {
        verdict: Verdict::Exited(output.status.code().unwrap_or(-1)),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}
