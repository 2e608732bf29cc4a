//! The bubblewrap option plan (spec 06b B2.2, B2.4) as a pure function of typed facts.
//!
//! The order of the options is their meaning: a later mount lies over an earlier one.

mod features;
mod launch;
mod mounts;
mod option;
mod standing;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use chatmd_compiler::manifest::DevMode;
use zeroize::Zeroizing;

pub use features::{Features, MINIMUM_VERSION, parse_version};
pub use option::{BwrapOption, Descriptor, Item, MAX_ARGUMENTS, Slot};
pub use standing::Standing;

use crate::error::PlanError;
use crate::facts::{ControlPath, Level, Root, StatePath, SystemFacts, Target};
use crate::roots::{self, RootMounts};
use crate::seccomp::{self, Arch, Conditions};

/// Fixed places of the wrapper, tried in this order; never found by `PATH`.
pub const WRAPPER_PLACES: [&str; 3] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// Size bound of `/tmp` and `/dev/shm` in bytes, where the installed bubblewrap can set one.
pub const TMPFS_BYTES: u64 = 512 * 1024 * 1024;

/// Settings of the backend and ceilings of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `private_tmp` of the backend.
    pub private_tmp: bool,
    /// `proc` of the backend.
    pub proc: bool,
    /// `dev` of the backend.
    pub dev: DevMode,
    /// `network` ceiling.
    pub network: bool,
    /// `child_processes` ceiling.
    pub child_processes: bool,
    /// `privilege_change` ceiling.
    pub privilege_change: bool,
    /// False when the probe failed only with `--disable-userns` (B1.3).
    pub disable_userns: bool,
    /// Hold the start for inspection from outside, where `--block-fd` exists (B1.3).
    pub hold: bool,
    /// Architecture of the filter; `None` where no filter is generated.
    pub arch: Option<Arch>,
}

/// Everything one plan depends on.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What the installed bubblewrap can do.
    pub features: Features,
    /// Settings of backend and runtime.
    pub settings: Settings,
    /// Facts about the host.
    pub system: &'a SystemFacts,
    /// Capability roots, frozen and unchanged since.
    pub roots: &'a [Root],
    /// The runtime's own state (B2.4 rule 6).
    pub state: &'a [StatePath],
    /// Files that would run outside the sandbox later (B2.4 rule 6).
    pub control: &'a [ControlPath],
    /// The program.
    pub executable: &'a Target,
    /// Interpreter of its `#!` line.
    pub interpreter: Option<&'a Target>,
    /// Script file that an interpreter opens (script mode).
    pub script: Option<&'a Target>,
    /// `argv[0]`: the path as located (spec 06 section 3.6).
    pub argv0: &'a OsStr,
    /// The other arguments.
    pub arguments: &'a [OsString],
    /// Canonical working directory.
    pub cwd: &'a Path,
    /// Environment of the target, sorted by name.
    pub environment: &'a [(OsString, OsString)],
}

/// Something that inspection says about a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The sandbox runs as uid 0.
    UidZero,
    /// Roots are mounted by path, without comparing the inode.
    MountsByPath,
    /// No filter is generated for this architecture.
    NoFilter,
    /// `child_processes="false"` is not enforced by the operating system.
    ChildProcessesNotEnforced,
    /// `--disable-userns` is not used.
    NestedUsernsNotDisabled,
    /// A control path inside a write root can not be protected.
    Unprotected(PathBuf),
    /// Not stable and larger than a sealed copy may be: the held descriptor is used.
    TooLargeToSeal(PathBuf),
}

impl Note {
    /// Sentences for inspection, one for all unprotected files of a folder.
    pub fn texts(notes: &[Self]) -> Vec<String> {
        let mut texts = Vec::new();
        let mut unprotected: BTreeMap<&Path, Vec<String>> = BTreeMap::new();
        for note in notes {
            match note {
                Self::Unprotected(path) => {
                    let folder = path.parent().unwrap_or(Path::new("/"));
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    unprotected
                        .entry(folder)
                        .or_default()
                        .push(name.into_owned());
                }
                other => texts.push(other.text()),
            }
        }
        texts.extend(unprotected.into_iter().map(|(folder, names)| {
            format!(
                "commands may write {}, and what they put there as {} can act when other programs \
                 read it (each is missing or a link, so nothing protects it)",
                folder.display(),
                names.join(", ")
            )
        }));
        texts
    }

    fn text(&self) -> String {
        match self {
            Self::UidZero => "the sandbox runs as uid 0".to_owned(),
            Self::MountsByPath => {
                "roots are mounted by path: this bubblewrap has no --bind-fd".to_owned()
            }
            Self::NoFilter => "no system call filter for this architecture".to_owned(),
            Self::ChildProcessesNotEnforced => "child_processes: not enforced by the OS".to_owned(),
            Self::NestedUsernsNotDisabled => {
                "--disable-userns is not used; the filter alone refuses nested namespaces"
                    .to_owned()
            }
            Self::Unprotected(path) => {
                format!("{} can not be protected", path.display())
            }
            Self::TooLargeToSeal(path) => {
                format!("{} is too large for a sealed copy", path.display())
            }
        }
    }
}

/// A complete plan: `bwrap --args FD -- COMMAND…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BubblewrapPlan {
    /// Options in order.
    pub options: Vec<BwrapOption>,
    /// What each [`Slot`] stands for.
    pub descriptors: Vec<Descriptor>,
    /// Launched path and arguments, after `--`.
    pub command: Vec<OsString>,
    /// Write roots to create before anything is opened.
    pub create: Vec<PathBuf>,
    /// The filter (B2.5), for [`Descriptor::Seccomp`].
    pub seccomp: Option<seccomp::Program>,
    /// Verification level of each file, for inspection.
    pub levels: Vec<(Item, Level)>,
    /// What inspection says.
    pub notes: Vec<Note>,
}

impl BubblewrapPlan {
    /// Bytes for the `--args` descriptor; `numbers[i]` is the descriptor opened for slot `i`.
    pub fn encode_args(&self, numbers: &[i32]) -> Result<Zeroizing<Vec<u8>>, PlanError> {
        option::encode(&self.options, numbers, self.descriptors.len())
    }

    /// The whole command line for people, one option a line; no environment values.
    pub fn display_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .options
            .iter()
            .map(|option| format!("{option:?}"))
            .collect();
        let command: Vec<_> = self
            .command
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        lines.push(format!("-- {}", command.join(" ")));
        lines
    }
}

/// State while a plan is written down.
struct Builder<'a> {
    input: &'a Input<'a>,
    roots: RootMounts,
    options: Vec<BwrapOption>,
    descriptors: Vec<Descriptor>,
    levels: Vec<(Item, Level)>,
    notes: Vec<Note>,
    /// Folders that become read-only only after something was mounted beneath them.
    late_remounts: Vec<PathBuf>,
}

/// Builds the plan.
pub fn plan(input: &Input<'_>) -> Result<BubblewrapPlan, PlanError> {
    input.features.require()?;
    let roots = roots::collect(input.roots)?;
    if !roots::cwd_reachable(input.roots, input.cwd) {
        return Err(PlanError::CwdUnreachable(input.cwd.to_path_buf()));
    }
    let seccomp = match input.settings.arch {
        Some(arch) => Some(seccomp::program(arch, conditions(&input.settings))?),
        None => None,
    };
    let mut builder = Builder {
        input,
        roots,
        options: Vec::with_capacity(64 + input.environment.len()),
        descriptors: Vec::new(),
        levels: Vec::new(),
        notes: Vec::new(),
        late_remounts: Vec::new(),
    };
    builder.namespaces();
    builder.file_systems();
    let launched = builder.executables();
    builder.finish_mounts();
    builder.process(seccomp.is_some(), &launched);
    builder.general_notes();
    builder.finish(launched, seccomp)
}

/// The filter's conditions for these settings.
pub fn conditions(settings: &Settings) -> Conditions {
    Conditions {
        network: settings.network,
        child_processes: settings.child_processes,
        privilege_change: settings.privilege_change,
    }
}

impl Builder<'_> {
    fn push(&mut self, option: BwrapOption) {
        self.options.push(option);
    }

    fn flag(&mut self, name: &'static str) {
        self.push(BwrapOption::Flag(name));
    }

    fn slot(&mut self, descriptor: Descriptor) -> Slot {
        self.descriptors.push(descriptor);
        Slot(self.descriptors.len() - 1)
    }

    /// Rows 1 to 6.
    fn namespaces(&mut self) {
        for name in [
            "--die-with-parent",
            "--new-session",
            "--unshare-user",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-uts",
            "--unshare-cgroup-try",
        ] {
            self.flag(name);
        }
        let settings = self.input.settings;
        if !settings.network {
            self.flag("--unshare-net");
        }
        if self.input.features.disable_userns && settings.disable_userns {
            self.flag("--disable-userns");
        } else {
            self.notes.push(Note::NestedUsernsNotDisabled);
        }
        self.push(BwrapOption::CapDropAll);
        self.push(BwrapOption::Hostname("sandbox"));
    }

    /// Rows 17 to 21.
    fn process(&mut self, filtered: bool, launched: &Path) {
        self.flag("--clearenv");
        for (name, value) in self.input.environment {
            let outside = name == "TMPDIR" && !self.writable_text(value);
            let value = if outside {
                OsString::from("/tmp")
            } else {
                value.clone()
            };
            self.push(BwrapOption::SetEnv {
                name: name.clone(),
                value,
            });
        }
        self.push(BwrapOption::Chdir(self.input.cwd.to_path_buf()));
        if filtered {
            let slot = self.slot(Descriptor::Seccomp);
            self.push(BwrapOption::Seccomp(slot));
        }
        let slot = self.slot(Descriptor::Status);
        self.push(BwrapOption::JsonStatusFd(slot));
        if self.input.settings.hold && self.input.features.block_fd {
            let slot = self.slot(Descriptor::Block);
            self.push(BwrapOption::BlockFd(slot));
        }
        if self.input.features.argv0 && launched.as_os_str() != self.input.argv0 {
            self.push(BwrapOption::Argv0(self.input.argv0.to_os_string()));
        }
    }

    /// Whether a variable's text names a place in a write root. A text with `..` never does.
    fn writable_text(&self, value: &OsStr) -> bool {
        let path = Path::new(value);
        mounts::is_normal(path) && self.roots.access(path) == Some(crate::facts::Access::Write)
    }

    fn general_notes(&mut self) {
        if self.input.system.uid_zero {
            self.notes.push(Note::UidZero);
        }
        if !(self.input.features.bind_fd && self.input.features.ro_bind_fd) {
            self.notes.push(Note::MountsByPath);
        }
        if self.input.settings.arch.is_none() {
            self.notes.push(Note::NoFilter);
            if !self.input.settings.child_processes {
                self.notes.push(Note::ChildProcessesNotEnforced);
            }
        }
    }

    fn finish(
        self,
        launched: PathBuf,
        seccomp: Option<seccomp::Program>,
    ) -> Result<BubblewrapPlan, PlanError> {
        let mut command = Vec::with_capacity(1 + self.input.arguments.len());
        command.push(launched.into_os_string());
        command.extend(self.input.arguments.iter().cloned());
        let count = option::word_count(&self.options) + command.len() + 4;
        if count > MAX_ARGUMENTS {
            return Err(PlanError::TooManyOptions(count, MAX_ARGUMENTS));
        }
        Ok(BubblewrapPlan {
            options: self.options,
            descriptors: self.descriptors,
            command,
            create: self.roots.create,
            seccomp,
            levels: self.levels,
            notes: self.notes,
        })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

#[cfg(test)]
mod overlay_tests;
