//! Rows 7 to 14 and 16 of the option plan: what the sandbox shows of the host.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use chatmd_compiler::manifest::DevMode;

use super::{Builder, BwrapOption, Descriptor, Note, TMPFS_BYTES};
use crate::facts::{Access, ControlState, Mask, NodeKind, StateProtection, SystemRootKind, within};
use crate::roots::mount_order;

/// Whether a path is absolute and free of `.` and `..`.
pub(super) fn is_normal(path: &Path) -> bool {
    let mut parts = path.components();
    parts.next() == Some(Component::RootDir)
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// One mount of row 14, sorted with the others of that row.
enum Mount<'a> {
    Root(Access),
    /// A writable folder mounted over itself, so that it can not be renamed away.
    Pin,
    Control,
    Mask(&'a Mask),
}

impl Builder<'_> {
    /// Rows 7 to 14.
    pub(super) fn file_systems(&mut self) {
        if let Some(access) = self.roots.slash {
            self.slash(access);
        }
        self.tmp();
        self.proc();
        self.dev();
        if self.roots.slash.is_none() {
            self.system_roots();
        }
        self.early_masks();
        self.resolv_conf();
        self.home();
        self.root_mounts();
        self.state_masks();
    }

    /// Row 16 and the folders that had to stay writable until now.
    pub(super) fn finish_mounts(&mut self) {
        for path in std::mem::take(&mut self.late_remounts) {
            self.push(BwrapOption::RemountRo(path));
        }
        if self.roots.slash != Some(Access::Write) {
            self.push(BwrapOption::RemountRo("/".into()));
        }
    }

    fn slash(&mut self, access: Access) {
        let (source, dest) = (PathBuf::from("/"), PathBuf::from("/"));
        match access {
            Access::Read => self.push(BwrapOption::RoBind { source, dest }),
            Access::Write => {
                self.push(BwrapOption::Bind { source, dest });
                // As uid 0 a writable /sys is control of the host (uevent_helper, release_agent).
                self.push(BwrapOption::RoBindTry {
                    source: "/sys".into(),
                    dest: "/sys".into(),
                });
            }
        }
    }

    fn tmpfs_1777(&mut self, path: &str) {
        self.push(BwrapOption::Perms(0o1777));
        if self.input.features.size {
            self.push(BwrapOption::Size(TMPFS_BYTES));
        }
        self.push(BwrapOption::Tmpfs(path.into()));
    }

    fn tmp(&mut self) {
        if self.input.settings.private_tmp {
            self.tmpfs_1777("/tmp");
        }
    }

    fn proc(&mut self) {
        if self.input.settings.proc {
            self.push(BwrapOption::Proc("/proc".into()));
        } else if self.roots.slash.is_some() {
            self.push(BwrapOption::Tmpfs("/proc".into()));
        } else {
            return;
        }
        self.push(BwrapOption::RemountRo("/proc".into()));
    }

    fn dev(&mut self) {
        match self.input.settings.dev {
            DevMode::Minimal => {
                self.push(BwrapOption::Dev("/dev".into()));
                self.tmpfs_1777("/dev/shm");
                self.remount_ro("/dev".into());
            }
            DevMode::None => {
                let covered = self.roots.slash.is_some();
                if covered {
                    self.push(BwrapOption::Tmpfs("/dev".into()));
                }
                let (source, dest) = (PathBuf::from("/dev/null"), PathBuf::from("/dev/null"));
                self.push(BwrapOption::DevBindTry { source, dest });
                if covered {
                    self.remount_ro("/dev".into());
                }
            }
        }
    }

    /// Makes a fresh folder read-only, at once when nothing will be mounted beneath it.
    fn remount_ro(&mut self, path: PathBuf) {
        if self.mounts_beneath(&path) {
            self.late_remounts.push(path);
        } else {
            self.push(BwrapOption::RemountRo(path));
        }
    }

    fn mounts_beneath(&self, path: &Path) -> bool {
        let files = [
            Some(self.input.executable),
            self.input.interpreter,
            self.input.script,
        ];
        let roots = self.roots.mounts.iter().map(|(root, _)| root.as_path());
        let files = files
            .into_iter()
            .flatten()
            .map(|file| file.canonical.as_path());
        let mut all = roots.chain(files);
        all.any(|inner| {
            inner != path && within(path, inner) && !within(Path::new("/dev/shm"), inner)
        })
    }

    /// Row 10.
    fn system_roots(&mut self) {
        let system = self.input.system;
        for root in &system.system_roots {
            let path = root.path.clone();
            self.push(match &root.kind {
                SystemRootKind::Directory => BwrapOption::RoBind {
                    source: path.clone(),
                    dest: path,
                },
                SystemRootKind::Symlink(target) => BwrapOption::Symlink {
                    target: target.clone(),
                    path,
                },
            });
        }
        for store in &system.stores {
            if within(store, &self.input.executable.canonical) {
                self.push(BwrapOption::RoBind {
                    source: store.clone(),
                    dest: store.clone(),
                });
            }
        }
    }

    /// Whether the deepest root over a private file leaves it to be masked, and when: `Some(false)`
    /// with the system roots, `Some(true)` after the root that shows it.
    fn masked_late(&self, path: &Path) -> Option<bool> {
        match self.roots.covering(path) {
            None => Some(false),
            Some((_, Access::Write)) => None,
            Some((root, Access::Read)) if root == path => None,
            Some((root, Access::Read)) => Some(root != Path::new("/")),
        }
    }

    /// Row 11, for files that the system roots show.
    fn early_masks(&mut self) {
        let system = self.input.system;
        for mask in &system.masks {
            if self.masked_late(&mask.path) == Some(false) {
                self.mask(&mask.path, mask.kind);
            }
        }
    }

    fn mask(&mut self, path: &Path, kind: NodeKind) {
        match kind {
            NodeKind::File => self.push(BwrapOption::RoBind {
                source: "/dev/null".into(),
                dest: path.to_path_buf(),
            }),
            NodeKind::Directory => {
                self.push(BwrapOption::Tmpfs(path.to_path_buf()));
                self.remount_ro(path.to_path_buf());
            }
        }
    }

    /// Row 12.
    fn resolv_conf(&mut self) {
        let Some(path) = &self.input.system.resolv_conf else {
            return;
        };
        if self.input.settings.network
            && self.roots.covering(path).is_none()
            && !self.in_system(path)
        {
            self.push(BwrapOption::RoBind {
                source: path.clone(),
                dest: path.clone(),
            });
        }
    }

    fn in_system(&self, path: &Path) -> bool {
        self.input
            .system
            .system_roots
            .iter()
            .any(|root| within(&root.path, path))
    }

    /// Row 13.
    fn home(&mut self) {
        let Some((_, home)) = self
            .input
            .environment
            .iter()
            .find(|(name, _)| name == "HOME")
        else {
            return;
        };
        let home = Path::new(home);
        let kernel = ["/proc", "/dev"]
            .iter()
            .any(|area| within(Path::new(area), home));
        if is_normal(home)
            && home != Path::new("/")
            && !kernel
            && self.roots.covering(home).is_none()
            && !self.in_system(home)
        {
            self.push(BwrapOption::Dir(home.to_path_buf()));
        }
    }

    /// Row 14 (B2.4): roots, control paths inside them, and masks that a read root uncovered.
    fn root_mounts(&mut self) {
        let system = self.input.system;
        let mut mounts: Vec<(PathBuf, Mount<'_>)> = Vec::new();
        for (path, access) in &self.roots.mounts {
            mounts.push((path.clone(), Mount::Root(*access)));
        }
        let late = system
            .masks
            .iter()
            .filter(|mask| self.masked_late(&mask.path) == Some(true));
        mounts.extend(late.map(|mask| (mask.path.clone(), Mount::Mask(mask))));
        self.control_mounts(&mut mounts);
        mounts.sort_by(|(a, _), (b, _)| mount_order(a, b));
        for (path, mount) in mounts {
            match mount {
                Mount::Root(Access::Read) | Mount::Control => self.bind(path, Access::Read),
                Mount::Root(Access::Write) | Mount::Pin => self.bind(path, Access::Write),
                Mount::Mask(mask) => self.mask(&path, mask.kind),
            }
        }
    }

    /// Control paths (B2.4 rule 6). A folder that holds one can be renamed even while something is
    /// mounted beneath it, and a new one put in its place; a mount on the folder itself prevents
    /// that. Moving a file across such a pin is a move between mounts: `mv` copies, `link` fails.
    fn control_mounts(&mut self, mounts: &mut Vec<(PathBuf, Mount<'_>)>) {
        let input = self.input;
        let mut controls: BTreeSet<&Path> = BTreeSet::new();
        for control in input.control {
            let path = &control.path;
            let Some((root, Access::Write)) = self.roots.covering(path) else {
                continue;
            };
            // A private area over a root `/` hides the host's file: nothing to protect there, and a
            // mount would show it.
            if root == path || !self.shown(path) {
                continue;
            }
            if control.state == ControlState::Present {
                controls.insert(path);
            } else {
                self.notes.push(Note::Unprotected(path.clone()));
            }
        }
        let mut pins = BTreeSet::new();
        // Renamed, the folder of a log would take it along: what follows would go elsewhere.
        let logs = input.state.iter();
        let logs = logs.filter(|state| state.protection == StateProtection::ReadOnly);
        let logs = logs.map(|log| log.path.as_path());
        for path in controls.iter().copied().chain(logs) {
            pins.extend(self.pinned(path, &controls));
        }
        mounts.extend(
            controls
                .iter()
                .map(|path| (path.to_path_buf(), Mount::Control)),
        );
        mounts.extend(pins.into_iter().map(|pin| (pin, Mount::Pin)));
    }

    /// The folders above a path that a command could rename: those of the host in a write root,
    /// without the roots, which are mounts already. None when one of them is a control path: what
    /// lies in that is read-only.
    fn pinned(&self, path: &Path, controls: &BTreeSet<&Path>) -> Vec<PathBuf> {
        if !self.shown(path) {
            return Vec::new();
        }
        let in_write_root = |folder: &&Path| {
            let covering = self.roots.covering(folder);
            covering.is_some_and(|(_, access)| access == Access::Write)
        };
        let folders: Vec<&Path> = path.ancestors().skip(1).take_while(in_write_root).collect();
        if folders.iter().any(|folder| controls.contains(folder)) {
            return Vec::new();
        }
        let folders = folders.into_iter();
        let folders = folders.filter(|folder| folder.parent().is_some() && self.shown(folder));
        let folders = folders.filter(|folder| !self.roots.is_root(folder));
        folders.map(Path::to_path_buf).collect()
    }

    fn bind(&mut self, path: PathBuf, access: Access) {
        let features = self.input.features;
        let by_descriptor = match access {
            Access::Read => features.ro_bind_fd,
            Access::Write => features.bind_fd,
        };
        let dest = path.clone();
        let option = if by_descriptor {
            let slot = self.slot(Descriptor::MountPoint(path));
            match access {
                Access::Read => BwrapOption::RoBindFd { slot, dest },
                Access::Write => BwrapOption::BindFd { slot, dest },
            }
        } else {
            match access {
                Access::Read => BwrapOption::RoBind { source: path, dest },
                Access::Write => BwrapOption::Bind { source: path, dest },
            }
        };
        self.push(option);
    }

    /// The runtime's own state lies over everything else (B2.4 rule 6).
    fn state_masks(&mut self) {
        let input = self.input;
        for state in input.state {
            let inner_root = self
                .roots
                .mounts
                .iter()
                .any(|(root, _)| within(&state.path, root));
            if !inner_root && !self.shown(&state.path) {
                continue;
            }
            match state.protection {
                StateProtection::Mask(kind) => {
                    // Never late: nothing may be mounted into the runtime's state.
                    match kind {
                        NodeKind::File => self.mask(&state.path, kind),
                        NodeKind::Directory => {
                            self.push(BwrapOption::Tmpfs(state.path.clone()));
                            self.push(BwrapOption::RemountRo(state.path.clone()));
                        }
                    }
                }
                StateProtection::ReadOnly => self.bind(state.path.clone(), Access::Read),
            }
        }
    }

    /// Whether the mounts of rows 7 to 14 show the host's `path` inside.
    pub(super) fn shown(&self, path: &Path) -> bool {
        let mut deepest: (usize, bool) = (0, self.roots.slash.is_some());
        let mut consider = |mount: &Path, shows: bool| {
            let depth = mount.components().count();
            // On equal depth the later mount wins, and the calls below follow the plan's order.
            if within(mount, path) && depth >= deepest.0 {
                deepest = (depth, shows);
            }
        };
        if self.input.settings.private_tmp {
            consider(Path::new("/tmp"), false);
        }
        if self.input.settings.proc || self.roots.slash.is_some() {
            consider(Path::new("/proc"), false);
        }
        consider(Path::new("/dev"), false);
        if self.roots.slash.is_none() {
            for root in &self.input.system.system_roots {
                match root.kind {
                    SystemRootKind::Directory => consider(&root.path, true),
                    SystemRootKind::Symlink(_) => consider(&root.path, root.path == path),
                }
            }
            for store in &self.input.system.stores {
                consider(store, within(store, &self.input.executable.canonical));
            }
        }
        for mask in &self.input.system.masks {
            if self.masked_late(&mask.path).is_some() {
                consider(&mask.path, false);
            }
        }
        if let Some((root, _)) = self.roots.covering(path)
            && root != Path::new("/")
        {
            consider(root, true);
        }
        deepest.1
    }
}
