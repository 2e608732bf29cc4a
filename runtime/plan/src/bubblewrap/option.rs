//! Typed bubblewrap options and their exact bytes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::error::PlanError;

/// bubblewrap's own bound on arguments, options and command together.
pub const MAX_ARGUMENTS: usize = 9000;

/// Index into [`super::BubblewrapPlan::descriptors`]. Each slot is used by one option only, and
/// bubblewrap closes the descriptor after use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub usize);

/// What the engine opens for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// `O_PATH` of this canonical path, opened with `openat2(RESOLVE_NO_SYMLINKS)`.
    MountPoint(PathBuf),
    /// The held descriptor of a verified file (level G2), duplicated.
    Held(Item),
    /// A sealed copy of a verified file (level G1), as an open file description of its own at
    /// offset 0: two slots of one item must not share an offset.
    Sealed(Item),
    /// Pipe or file with the BPF program of the plan, at offset 0.
    Seccomp,
    /// Write end of the status pipe.
    Status,
    /// Read end of the pipe that holds the start.
    Block,
}

/// A verified file of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// The program that is started.
    Executable,
    /// The interpreter of its `#!` line.
    Interpreter,
    /// The script of a script-mode tool.
    Script,
}

/// One option; the order of a plan is the order on the command line.
#[derive(Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BwrapOption {
    /// An option without a value.
    Flag(&'static str),
    CapDropAll,
    Hostname(&'static str),
    Perms(u32),
    Size(u64),
    Tmpfs(PathBuf),
    Proc(PathBuf),
    Dev(PathBuf),
    Dir(PathBuf),
    RemountRo(PathBuf),
    Symlink {
        target: PathBuf,
        path: PathBuf,
    },
    RoBind {
        source: PathBuf,
        dest: PathBuf,
    },
    Bind {
        source: PathBuf,
        dest: PathBuf,
    },
    RoBindTry {
        source: PathBuf,
        dest: PathBuf,
    },
    DevBindTry {
        source: PathBuf,
        dest: PathBuf,
    },
    RoBindFd {
        slot: Slot,
        dest: PathBuf,
    },
    BindFd {
        slot: Slot,
        dest: PathBuf,
    },
    RoBindData {
        slot: Slot,
        dest: PathBuf,
    },
    SetEnv {
        name: OsString,
        value: OsString,
    },
    Chdir(PathBuf),
    Seccomp(Slot),
    JsonStatusFd(Slot),
    BlockFd(Slot),
    Argv0(OsString),
}

impl BwrapOption {
    /// The words of this option; descriptor numbers come from `number`.
    fn words<E>(
        &self,
        number: &mut impl FnMut(Slot) -> Result<OsString, E>,
    ) -> Result<Vec<OsString>, E> {
        let one = |name: &str, path: &Path| vec![name.into(), path.into()];
        let two = |name: &str, a: &Path, b: &Path| vec![name.into(), a.into(), b.into()];
        Ok(match self {
            Self::Flag(name) => vec![(*name).into()],
            Self::CapDropAll => vec!["--cap-drop".into(), "ALL".into()],
            Self::Hostname(name) => vec!["--hostname".into(), (*name).into()],
            Self::Perms(mode) => vec!["--perms".into(), format!("{mode:04o}").into()],
            Self::Size(bytes) => vec!["--size".into(), bytes.to_string().into()],
            Self::Tmpfs(path) => one("--tmpfs", path),
            Self::Proc(path) => one("--proc", path),
            Self::Dev(path) => one("--dev", path),
            Self::Dir(path) => one("--dir", path),
            Self::RemountRo(path) => one("--remount-ro", path),
            Self::Symlink { target, path } => two("--symlink", target, path),
            Self::RoBind { source, dest } => two("--ro-bind", source, dest),
            Self::Bind { source, dest } => two("--bind", source, dest),
            Self::RoBindTry { source, dest } => two("--ro-bind-try", source, dest),
            Self::DevBindTry { source, dest } => two("--dev-bind-try", source, dest),
            Self::RoBindFd { slot, dest } => {
                vec!["--ro-bind-fd".into(), number(*slot)?, dest.into()]
            }
            Self::BindFd { slot, dest } => vec!["--bind-fd".into(), number(*slot)?, dest.into()],
            Self::RoBindData { slot, dest } => {
                vec!["--ro-bind-data".into(), number(*slot)?, dest.into()]
            }
            Self::SetEnv { name, value } => vec!["--setenv".into(), name.clone(), value.clone()],
            Self::Chdir(path) => one("--chdir", path),
            Self::Seccomp(slot) => vec!["--seccomp".into(), number(*slot)?],
            Self::JsonStatusFd(slot) => vec!["--json-status-fd".into(), number(*slot)?],
            Self::BlockFd(slot) => vec!["--block-fd".into(), number(*slot)?],
            Self::Argv0(name) => vec!["--argv0".into(), name.clone()],
        })
    }

    /// Words for people: logical descriptors as `{n}`, values of the environment left out because
    /// they may be secret.
    pub fn display_words(&self) -> Vec<OsString> {
        if let Self::SetEnv { name, .. } = self {
            return vec!["--setenv".into(), name.clone(), "{value}".into()];
        }
        let mut show =
            |slot: Slot| Ok::<_, std::convert::Infallible>(format!("{{{}}}", slot.0).into());
        match self.words(&mut show) {
            Ok(words) => words,
            Err(never) => match never {},
        }
    }
}

impl std::fmt::Debug for BwrapOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = self.display_words();
        let lossy: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        f.write_str(&lossy.join(" "))
    }
}

/// The NUL-terminated words of `--args`, with the descriptor number of each slot.
///
/// The buffer may hold secret values of the environment and is wiped when it is dropped.
pub fn encode(
    options: &[BwrapOption],
    numbers: &[i32],
    slots: usize,
) -> Result<Zeroizing<Vec<u8>>, PlanError> {
    if numbers.len() != slots {
        return Err(PlanError::Descriptors {
            needed: slots,
            given: numbers.len(),
        });
    }
    let mut number = |slot: Slot| {
        numbers
            .get(slot.0)
            .map(|number| number.to_string().into())
            .ok_or(PlanError::Descriptors {
                needed: slot.0 + 1,
                given: numbers.len(),
            })
    };
    // Sized first, so that growing never leaves an unwiped copy behind.
    let mut size = 0;
    for option in options {
        size += option
            .words(&mut number)?
            .iter()
            .map(|word| word.len() + 1)
            .sum::<usize>();
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(size));
    for option in options {
        for word in option.words(&mut number)? {
            push_word(&mut bytes, &word)?;
        }
    }
    Ok(bytes)
}

fn push_word(bytes: &mut Vec<u8>, word: &OsStr) -> Result<(), PlanError> {
    if word.as_bytes().contains(&0) {
        return Err(PlanError::Nul);
    }
    bytes.extend_from_slice(word.as_bytes());
    bytes.push(0);
    Ok(())
}

/// Number of words that the options take.
pub fn word_count(options: &[BwrapOption]) -> usize {
    options
        .iter()
        .map(|option| option.display_words().len())
        .sum()
}
