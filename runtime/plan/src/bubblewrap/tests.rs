#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::facts::*;

/// A merged-/usr host, as Debian and Ubuntu are.
fn host() -> SystemFacts {
    let directory = |path: &str| SystemRoot {
        path: path.into(),
        kind: SystemRootKind::Directory,
    };
    let link = |path: &str, target: &str| SystemRoot {
        path: path.into(),
        kind: SystemRootKind::Symlink(target.into()),
    };
    let file = |path: &str| Mask {
        path: path.into(),
        kind: NodeKind::File,
    };
    SystemFacts {
        system_roots: vec![
            directory("/usr"),
            link("/bin", "usr/bin"),
            link("/sbin", "usr/sbin"),
            link("/lib", "usr/lib"),
            link("/lib64", "usr/lib64"),
            directory("/etc"),
        ],
        stores: vec!["/nix/store".into()],
        masks: vec![
            file("/etc/shadow"),
            file("/etc/sudoers"),
            Mask {
                path: "/etc/ssl/private".into(),
                kind: NodeKind::Directory,
            },
        ],
        resolv_conf: Some("/run/systemd/resolve/stub-resolv.conf".into()),
        uid_zero: false,
    }
}

const FEATURES: Features = Features {
    perms: true,
    clearenv: true,
    json_status_fd: true,
    disable_userns: true,
    size: true,
    argv0: false,
    ro_bind_fd: true,
    bind_fd: true,
    block_fd: true,
};

const OLD: Features = Features {
    disable_userns: false,
    size: false,
    ro_bind_fd: false,
    bind_fd: false,
    block_fd: false,
    ..FEATURES
};

const SETTINGS: Settings = Settings {
    private_tmp: true,
    proc: true,
    dev: DevMode::Minimal,
    network: false,
    child_processes: false,
    privilege_change: false,
    disable_userns: true,
    hold: false,
    arch: Some(Arch::X86_64),
};

fn stable(located: &str, canonical: &str, links: &[&str]) -> Target {
    let link = |path: &&str| Link {
        path: path.into(),
        stable: true,
    };
    Target {
        located: located.into(),
        canonical: canonical.into(),
        stable: true,
        size: 100_000,
        links: links.iter().map(link).collect(),
    }
}

fn unstable(path: &str) -> Target {
    Target {
        stable: false,
        ..stable(path, path, &[])
    }
}

fn root(path: &str, access: Access) -> Root {
    Root {
        path: path.into(),
        access,
        presence: Presence::Directory,
    }
}

/// A case that owns what an input borrows.
struct Case {
    features: Features,
    settings: Settings,
    system: SystemFacts,
    roots: Vec<Root>,
    state: Vec<StatePath>,
    control: Vec<ControlPath>,
    executable: Target,
    interpreter: Option<Target>,
    script: Option<Target>,
    cwd: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Case {
    fn new() -> Self {
        let pair = |name: &str, value: &str| (name.into(), value.into());
        Self {
            features: FEATURES,
            settings: SETTINGS,
            system: host(),
            roots: vec![root("/home/u/work", Access::Read)],
            state: Vec::new(),
            control: Vec::new(),
            executable: stable("/usr/bin/rg", "/usr/bin/rg", &[]),
            interpreter: None,
            script: None,
            cwd: "/home/u/work".into(),
            environment: vec![
                pair("HOME", "/home/u"),
                pair("PATH", "/usr/bin"),
                pair("TMPDIR", "/var/tmp"),
            ],
        }
    }

    fn plan(&self) -> Result<BubblewrapPlan, PlanError> {
        plan(&Input {
            features: self.features,
            settings: self.settings,
            system: &self.system,
            roots: &self.roots,
            state: &self.state,
            control: &self.control,
            executable: &self.executable,
            interpreter: self.interpreter.as_ref(),
            script: self.script.as_ref(),
            argv0: self.executable.located.as_os_str(),
            arguments: &["TODO; rm -rf /".into(), "src".into()],
            cwd: &self.cwd,
            environment: &self.environment,
        })
    }

    /// Options, descriptors and notes as text; the options that every plan starts with are left out
    /// unless `whole`.
    fn golden(&self, whole: bool) -> String {
        let plan = self.plan().unwrap();
        let mut lines = plan.display_lines();
        if !whole {
            let start = lines
                .iter()
                .position(|line| line == "--hostname sandbox")
                .unwrap();
            lines.drain(..=start);
        }
        for (slot, descriptor) in plan.descriptors.iter().enumerate() {
            lines.push(format!("{{{slot}}} = {descriptor:?}"));
        }
        lines.extend(
            plan.create
                .iter()
                .map(|path| format!("create {}", path.display())),
        );
        let notes = Note::texts(&plan.notes).into_iter();
        lines.extend(notes.map(|text| format!("note: {text}")));
        lines.join("\n")
    }
}

#[test]
fn read_only_search() {
    insta::assert_snapshot!(Case::new().golden(true));
}

#[test]
fn oldest_supported_bubblewrap() {
    insta::assert_snapshot!(
        Case {
            features: OLD,
            ..Case::new()
        }
        .golden(true)
    );
}

#[test]
fn newest_bubblewrap_held_with_network() {
    let mut case = Case::new();
    case.features.argv0 = true;
    case.settings.hold = true;
    case.settings.network = true;
    case.executable = stable("/usr/bin/awk", "/usr/bin/mawk", &["/home/u/bin/awk"]);
    insta::assert_snapshot!(case.golden(true));
}

#[test]
fn writable_workspace_with_control_paths() {
    let mut case = Case::new();
    let control = |path: &str, state| ControlPath {
        path: path.into(),
        state,
    };
    case.roots = vec![
        root("/home/u/work", Access::Write),
        root("/home/u/work/ref", Access::Read),
        root("/home/u/work/.vscode/out", Access::Write),
        root("/home/u/work/.envrc", Access::Write),
        root("/home/u", Access::Read),
    ];
    case.control = vec![
        control("/home/u/work/.git/hooks", ControlState::Present),
        control("/home/u/work/.git/config", ControlState::Present),
        control("/home/u/work/.git/modules/sub/hooks", ControlState::Present),
        control("/home/u/work/.vscode", ControlState::Present),
        control("/home/u/work/.envrc", ControlState::Present),
        control("/home/u/work/.idea", ControlState::Missing),
        control(
            "/home/u/work/.pre-commit-config.yaml",
            ControlState::Symlink,
        ),
        control("/home/u/work/agents/main.chatmd", ControlState::Present),
        control("/home/u/.git/hooks", ControlState::Present),
    ];
    case.environment = vec![("TMPDIR".into(), "/home/u/work/tmp".into())];
    insta::assert_snapshot!(case.golden(false));
}

#[test]
fn state_of_the_runtime_below_a_read_root() {
    let mut case = Case::new();
    let masked = |path: &str, kind| StatePath {
        path: path.into(),
        protection: StateProtection::Mask(kind),
    };
    case.roots = vec![
        root("/home/u", Access::Read),
        root("/srv/state/inner", Access::Write),
    ];
    case.cwd = "/home/u".into();
    case.state = vec![
        masked("/home/u/.local/state/chatmd", NodeKind::Directory),
        masked("/home/u/.config/chatmd/integrity.key", NodeKind::File),
        StatePath {
            path: "/home/u/audit.jsonl".into(),
            protection: StateProtection::ReadOnly,
        },
        masked("/srv/state", NodeKind::Directory),
        masked("/opt/unseen", NodeKind::Directory),
        masked("/etc/chatmd/key", NodeKind::File),
    ];
    insta::assert_snapshot!(case.golden(false));
}

#[test]
fn unstable_script_with_interpreter() {
    let mut case = Case::new();
    case.roots = vec![root("/home/u/work", Access::Write)];
    case.executable = unstable("/home/u/work/run");
    case.interpreter = Some(stable("/bin/sh", "/usr/bin/dash", &["/bin", "/usr/bin/sh"]));
    case.script = Some(unstable("/home/u/work/s.py"));
    insta::assert_snapshot!(case.golden(false));
}

#[test]
fn applet_of_a_multi_call_binary_without_argv0() {
    let mut case = Case::new();
    case.executable = stable("/home/u/bin/ls", "/usr/bin/busybox", &["/home/u/bin/ls"]);
    for link in &mut case.executable.links {
        link.stable = false;
    }
    insta::assert_snapshot!(case.golden(false));
}

#[test]
fn whole_file_system_readable() {
    let mut case = Case::new();
    case.roots = vec![root("/", Access::Read), root("/srv/data", Access::Write)];
    case.settings.dev = DevMode::None;
    case.settings.proc = false;
    insta::assert_snapshot!(case.golden(false));
}

#[test]
fn whole_file_system_writable() {
    let mut case = Case::new();
    case.roots = vec![root("/", Access::Write)];
    case.settings.private_tmp = false;
    insta::assert_snapshot!(case.golden(false));
}

#[test]
fn masks_below_declared_roots() {
    let mut case = Case::new();
    case.roots = vec![
        root("/etc", Access::Read),
        root("/etc/ssl/private/public", Access::Read),
        Root {
            path: "/etc/sudoers".into(),
            access: Access::Read,
            presence: Presence::File,
        },
    ];
    case.cwd = "/etc".into();
    insta::assert_snapshot!(case.golden(false));
}

#[test]
fn missing_roots_and_a_store() {
    let mut case = Case::new();
    case.system.uid_zero = true;
    case.settings.arch = None;
    case.settings.disable_userns = false;
    case.roots.push(Root {
        path: "/home/u/out".into(),
        access: Access::Write,
        presence: Presence::MissingLeaf,
    });
    case.roots.push(Root {
        path: "/home/u/gone/x".into(),
        access: Access::Read,
        presence: Presence::MissingParent,
    });
    case.executable = stable("/nix/store/abc/bin/rg", "/nix/store/abc/bin/rg", &[]);
    insta::assert_snapshot!(case.golden(false));
}

#[test]
fn device_folder_stays_open_for_a_root_beneath_it() {
    let mut case = Case::new();
    case.settings.network = true;
    case.settings.privilege_change = true;
    case.settings.child_processes = true;
    case.roots.push(root("/dev/dri", Access::Read));
    case.environment = vec![("HOME".into(), "/dev/null".into())];
    insta::assert_snapshot!(case.golden(false));
}

#[test]
fn refusals() {
    let mut case = Case::new();
    case.cwd = "/usr".into();
    assert_eq!(
        case.plan().unwrap_err(),
        PlanError::CwdUnreachable("/usr".into())
    );
    let mut case = Case::new();
    case.features.clearenv = false;
    assert_eq!(
        case.plan().unwrap_err(),
        PlanError::MissingFeature("--clearenv")
    );
    let mut case = Case::new();
    case.roots.push(root("/proc/sys", Access::Write));
    assert_eq!(
        case.plan().unwrap_err(),
        PlanError::KernelWriteRoot("/proc/sys".into())
    );
    let mut case = Case::new();
    case.environment = (0..4000)
        .map(|n| (format!("N{n}").into(), "v".into()))
        .collect();
    assert!(matches!(case.plan(), Err(PlanError::TooManyOptions(..))));
}

#[test]
fn encoded_arguments() {
    let mut case = Case::new();
    case.environment = vec![("A".into(), "multi\nline 'x'".into())];
    let plan = case.plan().unwrap();
    let numbers: Vec<i32> = (0..plan.descriptors.len())
        .map(|n| 100 + n as i32)
        .collect();
    let bytes = plan.encode_args(&numbers).unwrap();
    let words: Vec<&str> = bytes
        .split(|byte| *byte == 0)
        .map(|word| std::str::from_utf8(word).unwrap())
        .collect();
    assert_eq!(words.first(), Some(&"--die-with-parent"));
    assert_eq!(words.last(), Some(&""), "every word ends with NUL");
    let at = words.iter().position(|word| *word == "--setenv").unwrap();
    assert_eq!(&words[at..at + 3], ["--setenv", "A", "multi\nline 'x'"]);
    let at = words
        .iter()
        .position(|word| *word == "--ro-bind-fd")
        .unwrap();
    assert_eq!(&words[at..at + 3], ["--ro-bind-fd", "100", "/home/u/work"]);
    assert_eq!(
        plan.command,
        ["/usr/bin/rg", "TODO; rm -rf /", "src"].map(OsString::from)
    );
    // Each descriptor is named exactly once.
    for number in &numbers {
        let text = number.to_string();
        assert_eq!(words.iter().filter(|word| **word == text).count(), 1);
    }
    assert!(matches!(
        plan.encode_args(&numbers[1..]),
        Err(PlanError::Descriptors { .. })
    ));
    case.environment = vec![("A".into(), "a\0--bind\0/".into())];
    assert_eq!(
        case.plan().unwrap().encode_args(&numbers).unwrap_err(),
        PlanError::Nul
    );
}

#[test]
fn environment_values_are_not_shown() {
    let mut case = Case::new();
    case.environment = vec![("TOKEN".into(), "hunter2".into())];
    let plan = case.plan().unwrap();
    assert!(!format!("{plan:?} {}", plan.display_lines().join("\n")).contains("hunter2"));
    let numbers: Vec<i32> = (0..plan.descriptors.len() as i32).collect();
    assert!(
        plan.encode_args(&numbers)
            .unwrap()
            .windows(7)
            .any(|w| w == b"hunter2")
    );
}

#[test]
fn a_large_unstable_file_is_held_and_said_so() {
    let mut case = Case::new();
    case.executable = Target {
        size: SEALED_COPY_MAX + 1,
        ..unstable("/home/u/work/big")
    };
    let plan = case.plan().unwrap();
    assert_eq!(plan.levels, [(Item::Executable, Level::Held)]);
    assert!(
        plan.notes
            .contains(&Note::TooLargeToSeal("/home/u/work/big".into()))
    );
    case.executable.size = SEALED_COPY_MAX;
    assert_eq!(
        case.plan().unwrap().levels,
        [(Item::Executable, Level::Sealed)]
    );
}

#[test]
fn nothing_is_created_on_the_host_for_an_alias() {
    let mut case = Case::new();
    case.executable = stable("/home/u/bin/ls", "/usr/bin/busybox", &["/opt/x/ls"]);
    case.executable.links[0].stable = false;
    case.roots = vec![root("/", Access::Write), root("/tmp", Access::Write)];
    case.cwd = "/tmp".into();
    assert_eq!(
        case.plan().unwrap().command[0],
        "/usr/bin/busybox",
        "/tmp is the host's"
    );
    case.roots.pop();
    assert_eq!(case.plan().unwrap().command[0], "/tmp/.chatmd/ls");
    case.settings.private_tmp = false;
    assert_eq!(case.plan().unwrap().command[0], "/usr/bin/busybox");
    case.executable.links[0].stable = true;
    assert_eq!(
        case.plan().unwrap().command[0],
        "/home/u/bin/ls",
        "nobody can switch the link"
    );
}

#[test]
fn tmpdir_stays_only_in_a_write_root() {
    let mut case = Case::new();
    for (access, value, expected) in [
        (Access::Read, "/home/u/work/t", "/tmp"),
        (Access::Write, "/home/u/work/t", "/home/u/work/t"),
        (Access::Write, "/home/u/work/../t", "/tmp"),
        (Access::Write, "t", "/tmp"),
        (Access::Write, "/home/u/workt", "/tmp"),
    ] {
        case.roots = vec![root("/home/u/work", access)];
        case.environment = vec![("TMPDIR".into(), value.into())];
        let set = BwrapOption::SetEnv {
            name: "TMPDIR".into(),
            value: expected.into(),
        };
        assert!(case.plan().unwrap().options.contains(&set), "{value}");
    }
}

/// Renamed, any folder above a log would take the log along (B2.4 rule 6).
#[test]
fn every_folder_between_a_write_root_and_a_log_is_pinned() {
    let mut case = Case::new();
    case.cwd = "/home/u/work".into();
    case.roots = vec![root("/home/u/work", Access::Write)];
    let log = |path: &str| StatePath {
        path: path.into(),
        protection: StateProtection::ReadOnly,
    };
    case.state = vec![
        log("/home/u/work/a.jsonl"),
        log("/home/u/work/logs/deep/b.jsonl"),
        log("/home/u/work/.vscode/c.jsonl"),
    ];
    case.control = vec![ControlPath {
        path: "/home/u/work/.vscode".into(),
        state: ControlState::Present,
    }];
    let bound: Vec<(bool, PathBuf)> = case
        .plan()
        .unwrap()
        .options
        .into_iter()
        .filter_map(|option| match option {
            BwrapOption::Bind { dest, .. } | BwrapOption::BindFd { dest, .. } => Some((true, dest)),
            BwrapOption::RoBind { dest, .. } | BwrapOption::RoBindFd { dest, .. } => {
                Some((false, dest))
            }
            _ => None,
        })
        .filter(|(_, dest)| dest.starts_with("/home/u/work"))
        .collect();
    let expected = [
        (true, "/home/u/work"),
        (false, "/home/u/work/.vscode"),
        (true, "/home/u/work/logs"),
        (true, "/home/u/work/logs/deep"),
        (false, "/home/u/work/a.jsonl"),
        (false, "/home/u/work/logs/deep/b.jsonl"),
        (false, "/home/u/work/.vscode/c.jsonl"),
    ];
    let expected = expected.map(|(write, path)| (write, PathBuf::from(path)));
    assert_eq!(bound, expected);
}

/// A source in a folder of a write root: renamed, the folder would take the mount along, and a
/// document of the command's own could stand in its place (B2.4 rule 6). A write root inside
/// another one can be taken along too.
#[test]
fn every_folder_between_the_outermost_write_root_and_a_control_path_is_pinned() {
    let mut case = Case::new();
    case.cwd = "/home/u/work".into();
    case.roots = vec![
        root("/home/u/work", Access::Write),
        root("/home/u/work/a/inner", Access::Write),
    ];
    let control = |path: &str| ControlPath {
        path: path.into(),
        state: ControlState::Present,
    };
    case.control = vec![
        control("/home/u/work/agents/team/main.chatmd"),
        control("/home/u/work/a/inner/b/prompt.chatmd"),
        control("/home/u/work/.vscode"),
        control("/home/u/work/.vscode/agents/main.chatmd"),
    ];
    let pins = [
        "/home/u/work/agents",
        "/home/u/work/agents/team",
        "/home/u/work/a",
        "/home/u/work/a/inner/b",
    ];
    let plan = case.plan().unwrap();
    let writable: std::collections::BTreeSet<PathBuf> = plan
        .options
        .into_iter()
        .filter_map(|option| match option {
            BwrapOption::Bind { dest, .. } | BwrapOption::BindFd { dest, .. } => Some(dest),
            _ => None,
        })
        .collect();
    let roots = ["/home/u/work", "/home/u/work/a/inner"];
    let expected = roots.iter().chain(&pins).map(PathBuf::from).collect();
    assert_eq!(writable, expected);
}
