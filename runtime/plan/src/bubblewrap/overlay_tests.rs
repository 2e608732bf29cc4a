//! What a plan shows, found by replaying its mounts, against what the rules say about each path.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use chatmd_compiler::manifest::DevMode;
use proptest::prelude::*;

use super::*;
use crate::facts::{
    Access, ControlPath, ControlState, Mask, NodeKind, Presence, StateProtection, SystemRoot,
    SystemRootKind, within,
};

/// How a path of the host looks inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Hidden,
    ReadOnly,
    Writable,
}

#[derive(Clone, Debug)]
struct World {
    roots: Vec<Root>,
    masks: Vec<Mask>,
    state: Vec<PathBuf>,
    control: Vec<PathBuf>,
    descriptors: bool,
    proc: bool,
    dev: bool,
}

fn path() -> impl Strategy<Value = PathBuf> {
    let part = prop::sample::select(vec!["a", "b", ".git", "etc", "tmp", "usr"]);
    prop::collection::vec(part, 1..5)
        .prop_map(|parts| PathBuf::from(format!("/{}", parts.join("/"))))
}

fn root() -> impl Strategy<Value = Root> {
    let place = prop_oneof![12 => path(), 1 => Just(PathBuf::from("/"))];
    (place, any::<bool>()).prop_map(|(path, write)| Root {
        path,
        access: if write { Access::Write } else { Access::Read },
        presence: Presence::Directory,
    })
}

fn world() -> impl Strategy<Value = World> {
    let mask = path().prop_map(|path| {
        let path = Path::new("/etc").join(path.strip_prefix("/").unwrap());
        Mask {
            path,
            kind: NodeKind::Directory,
        }
    });
    (
        prop::collection::vec(root(), 1..5),
        prop::collection::vec(mask, 0..3),
        prop::collection::vec(path(), 0..2),
        prop::collection::vec(path(), 0..4),
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(roots, masks, state, control, [descriptors, proc, dev])| World {
                // As the facts have them: no mask inside another.
                masks: masks
                    .iter()
                    .enumerate()
                    .filter(|(at, mask)| {
                        !masks.iter().enumerate().any(|(other, outer)| {
                            other != *at
                                && within(&outer.path, &mask.path)
                                && (outer.path != mask.path || other < *at)
                        })
                    })
                    .map(|(_, mask)| mask.clone())
                    .collect(),
                roots,
                state,
                control,
                descriptors,
                proc,
                dev,
            },
        )
}

impl World {
    fn plan(&self) -> BubblewrapPlan {
        let directory = |path: &str| SystemRoot {
            path: path.into(),
            kind: SystemRootKind::Directory,
        };
        let system = SystemFacts {
            system_roots: vec![directory("/usr"), directory("/etc")],
            masks: self.masks.clone(),
            ..SystemFacts::default()
        };
        let covered = |path: &PathBuf| crate::facts::StatePath {
            path: path.clone(),
            protection: StateProtection::Mask(NodeKind::Directory),
        };
        let state: Vec<_> = self.state.iter().map(covered).collect();
        let present = |path: &PathBuf| ControlPath {
            path: path.clone(),
            state: ControlState::Present,
        };
        let control: Vec<_> = self.control.iter().map(present).collect();
        let executable = Target {
            located: "/usr/bin/rg".into(),
            canonical: "/usr/bin/rg".into(),
            stable: true,
            size: 1,
            links: vec![],
        };
        let features = Features {
            perms: true,
            clearenv: true,
            json_status_fd: true,
            ro_bind_fd: self.descriptors,
            bind_fd: self.descriptors,
            ..Features::default()
        };
        plan(&Input {
            features,
            settings: Settings {
                private_tmp: true,
                proc: self.proc,
                dev: if self.dev {
                    DevMode::Minimal
                } else {
                    DevMode::None
                },
                network: true,
                child_processes: true,
                privilege_change: true,
                disable_userns: true,
                hold: false,
                arch: None,
            },
            system: &system,
            roots: &self.roots,
            state: &state,
            control: &control,
            executable: &executable,
            interpreter: None,
            script: None,
            argv0: OsStr::new("/usr/bin/rg"),
            arguments: &[],
            cwd: &self.roots[0].path,
            environment: &[],
        })
        .unwrap()
    }

    /// The rules, path by path: 06b B2.2 rows 7 to 11, B2.4.
    fn expected(&self, path: &Path) -> View {
        let depth = |path: &Path| path.components().count();
        if self.state.iter().any(|state| within(state, path)) {
            return View::Hidden;
        }
        let covering = |path: &Path| {
            let writable = |root: &Root| {
                let same = self.roots.iter().filter(|other| other.path == root.path);
                same.clone().any(|other| other.access == Access::Write)
                    || self.roots.iter().any(|other| {
                        other.access == Access::Write && within(&other.path, &root.path)
                    })
            };
            let around = self.roots.iter().filter(|root| within(&root.path, path));
            let deepest = around.max_by_key(|root| depth(&root.path))?;
            // A read root beneath a write root adds nothing: the write root is what covers.
            let access = if writable(deepest) {
                Access::Write
            } else {
                Access::Read
            };
            let effective = self
                .roots
                .iter()
                .filter(|root| {
                    within(&root.path, path)
                        && (access == Access::Read || root.access == Access::Write)
                })
                .max_by_key(|root| depth(&root.path))?;
            Some((effective.path.clone(), access))
        };
        let masked = |below: usize| {
            self.masks
                .iter()
                .any(|mask| within(&mask.path, path) && depth(&mask.path) > below)
        };
        let special = ["/tmp", "/dev", "/proc"]
            .iter()
            .any(|area| within(Path::new(area), path));
        match covering(path) {
            Some((root, _)) if root == Path::new("/") && special => View::Hidden,
            Some((root, Access::Write)) => {
                let controlled = self.control.iter().any(|control| {
                    within(control, path)
                        && depth(control) > depth(&root)
                        && covering(control).is_some_and(|(over, _)| over != *control)
                });
                if controlled {
                    View::ReadOnly
                } else {
                    View::Writable
                }
            }
            Some((root, Access::Read)) => {
                if masked(depth(&root)) {
                    View::Hidden
                } else {
                    View::ReadOnly
                }
            }
            None if ["/usr", "/etc"]
                .iter()
                .any(|area| within(Path::new(area), path)) =>
            {
                if masked(0) {
                    View::Hidden
                } else {
                    View::ReadOnly
                }
            }
            None => View::Hidden,
        }
    }
}

/// A mount of a plan: where, and what it shows of the host there.
fn mounts(made: &BubblewrapPlan) -> Vec<(PathBuf, View)> {
    let mut found = Vec::new();
    for option in &made.options {
        match option {
            BwrapOption::RoBind { source, dest } | BwrapOption::RoBindTry { source, dest } => {
                found.push((
                    dest.clone(),
                    if source == dest {
                        View::ReadOnly
                    } else {
                        View::Hidden
                    },
                ));
            }
            BwrapOption::Bind { source, dest } => {
                assert_eq!(source, dest);
                found.push((dest.clone(), View::Writable));
            }
            BwrapOption::RoBindFd { slot, dest } | BwrapOption::BindFd { slot, dest } => {
                let same = match &made.descriptors[slot.0] {
                    Descriptor::MountPoint(source) => source == dest,
                    Descriptor::Held(_) => true,
                    other => panic!("{other:?}"),
                };
                assert!(same);
                let read = matches!(option, BwrapOption::RoBindFd { .. });
                found.push((
                    dest.clone(),
                    if read { View::ReadOnly } else { View::Writable },
                ));
            }
            BwrapOption::Tmpfs(path) | BwrapOption::Proc(path) | BwrapOption::Dev(path) => {
                found.push((path.clone(), View::Hidden));
            }
            _ => {}
        }
    }
    found
}

/// A later mount lies over every earlier one at or beneath its place, so the last one that holds a
/// path decides.
fn view(mounts: &[(PathBuf, View)], path: &Path) -> View {
    let last = mounts.iter().rev().find(|(place, _)| within(place, path));
    last.map_or(View::Hidden, |(_, view)| *view)
}

/// bubblewrap creates a missing mount point; beneath a folder that is read-only already it can not.
fn creates_below_read_only(made: &BubblewrapPlan) -> Option<PathBuf> {
    let mut closed: Vec<&PathBuf> = Vec::new();
    for option in &made.options {
        let dest = match option {
            BwrapOption::RemountRo(path) => {
                closed.push(path);
                continue;
            }
            BwrapOption::RoBind { dest, .. }
            | BwrapOption::Bind { dest, .. }
            | BwrapOption::RoBindFd { dest, .. }
            | BwrapOption::BindFd { dest, .. }
            | BwrapOption::Tmpfs(dest)
            | BwrapOption::Dir(dest) => dest,
            _ => continue,
        };
        if closed
            .iter()
            .any(|folder| folder.as_path() != dest && within(folder, dest))
        {
            return Some(dest.clone());
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("CHATMD_PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1500)
    ))]

    #[test]
    fn the_mounts_show_what_the_rules_say(world in world(), paths in prop::collection::vec(path(), 8)) {
        let made = world.plan();
        let mounts = mounts(&made);
        let interesting = world.roots.iter().map(|root| root.path.clone())
            .chain(world.masks.iter().map(|mask| mask.path.join("x")))
            .chain(world.state.iter().map(|path| path.join("x")))
            .chain(world.control.iter().map(|path| path.join("x")))
            .chain(paths)
            .filter(|path| !within(Path::new("/usr/bin/rg"), path));
        for path in interesting {
            prop_assert_eq!(view(&mounts, &path), world.expected(&path), "{:?}\n{:#?}", path, made.options);
        }
    }

    #[test]
    fn no_mount_point_is_created_too_late(world in world()) {
        let made = world.plan();
        // Masks of the runtime's state are closed at once on purpose; nothing else may lie in them.
        let state = |path: &PathBuf| world.state.iter().any(|state| within(state, path));
        if let Some(path) = creates_below_read_only(&made) {
            prop_assert!(state(&path) || path == Path::new("/usr/bin/rg"), "{:?}\n{:#?}", path, made.options);
        }
    }
}
