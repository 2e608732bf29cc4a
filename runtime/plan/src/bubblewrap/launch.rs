//! Row 15 of the option plan and the launched path: verified bytes are what runs.

use std::path::{Path, PathBuf};

use super::{Builder, BwrapOption, Descriptor, Item, Note};
use crate::facts::{Level, Target};

/// Mode of an executable inside.
const EXECUTABLE_MODE: u32 = 0o555;
/// Mode of a script that an interpreter opens.
const SCRIPT_MODE: u32 = 0o444;

impl Builder<'_> {
    /// Row 15. Returns the launched path.
    pub(super) fn executables(&mut self) -> PathBuf {
        let input = self.input;
        self.item(Item::Executable, input.executable, EXECUTABLE_MODE);
        if let Some(interpreter) = input.interpreter {
            self.item(Item::Interpreter, interpreter, EXECUTABLE_MODE);
        }
        if let Some(script) = input.script {
            self.item(Item::Script, script, SCRIPT_MODE);
        }
        self.launched()
    }

    fn item(&mut self, item: Item, target: &Target, mode: u32) {
        let level = target.level();
        self.levels.push((item, level));
        if level == Level::Held && !target.stable {
            self.notes
                .push(Note::TooLargeToSeal(target.canonical.clone()));
        }
        let by_name = level == Level::Held && !self.input.features.ro_bind_fd;
        if by_name && self.shown(&target.canonical) {
            return;
        }
        self.bind_file(item, target, level, mode, target.canonical.clone());
    }

    fn bind_file(&mut self, item: Item, target: &Target, level: Level, mode: u32, dest: PathBuf) {
        match level {
            Level::Sealed => {
                self.push(BwrapOption::Perms(mode));
                let slot = self.slot(Descriptor::Sealed(item));
                self.push(BwrapOption::RoBindData { slot, dest });
            }
            Level::Held if self.input.features.ro_bind_fd => {
                let slot = self.slot(Descriptor::Held(item));
                self.push(BwrapOption::RoBindFd { slot, dest });
            }
            Level::Held => self.push(BwrapOption::RoBind {
                source: target.canonical.clone(),
                dest,
            }),
        }
    }

    fn launched(&mut self) -> PathBuf {
        let target = self.input.executable;
        if self.located_is_safe(target) {
            return target.located.clone();
        }
        let argv0 = Path::new(self.input.argv0);
        let same_name = argv0.file_name() == target.canonical.file_name();
        if self.input.features.argv0 || same_name {
            return target.canonical.clone();
        }
        let Some(name) = argv0.file_name() else {
            return target.canonical.clone();
        };
        let Some(folder) = self.alias_folder() else {
            return target.canonical.clone();
        };
        let alias = folder.join(name);
        self.bind_file(
            Item::Executable,
            target,
            target.level(),
            EXECUTABLE_MODE,
            alias.clone(),
        );
        alias
    }

    /// The located path may be launched when it leads to the same file inside and nobody can
    /// switch one of its links between verification and start.
    fn located_is_safe(&self, target: &Target) -> bool {
        if !super::mounts::is_normal(&target.located) {
            return false;
        }
        if target.links.is_empty() {
            return target.located == target.canonical;
        }
        target.stable
            && target
                .links
                .iter()
                .all(|link| link.stable && self.shown(&link.path))
    }

    /// A folder for the program under its other name, on a file system made for the sandbox:
    /// nothing is created on the host.
    fn alias_folder(&self) -> Option<PathBuf> {
        let folder = if self.roots.slash.is_none() {
            Path::new("/.chatmd")
        } else if self.input.settings.private_tmp {
            Path::new("/tmp/.chatmd")
        } else {
            return None;
        };
        let on_host = self
            .roots
            .covering(folder)
            .is_some_and(|(root, _)| root != Path::new("/"));
        (!on_host).then(|| folder.to_path_buf())
    }
}
