//! The installed bubblewrap: finding it, pinning it, and asking what it can do (06b B1.3).

use std::ffi::CString;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use chatmd_facts::resolver::IdentityError;
use chatmd_facts::sandbox_facts::{MAX_READ, Wrapper as FoundWrapper, find_wrapper};
use chatmd_plan::PlanError;
use chatmd_plan::bubblewrap::{Features, MINIMUM_VERSION, parse_version};
use tokio::time::Instant;

use crate::supervise::{self, Budget, Silent, Stage, Termination, WaitStatus};
use crate::sys::{Launch, descriptor, launcher};

/// Bound of every question put to the wrapper.
const QUESTION: Duration = Duration::from_secs(5);
/// Bits of `CapEff` that the private `/dev` needs.
const CAP_SYS_ADMIN: u32 = 21;
const CAP_MKNOD: u32 = 27;

/// A bubblewrap that may be used.
#[derive(Debug)]
pub struct Wrapper {
    found: FoundWrapper,
    program: OwnedFd,
    features: Features,
    private_dev: bool,
    warnings: Vec<String>,
}

impl Wrapper {
    /// Finds the wrapper at its declared path or at one of the fixed places, and asks it what it
    /// can do.
    pub async fn find(declared: Option<&Path>) -> Result<Self, String> {
        let found = find_wrapper(declared).map_err(|error| error.to_string())?;
        Pinned::new(found)?.ask().await
    }

    /// Canonical path.
    pub fn path(&self) -> &Path {
        self.found.path().as_path()
    }

    /// Verifies, directly before a start, that it is still the file that was pinned (06 section
    /// 3.5).
    pub(crate) fn verify(&self) -> Result<(), IdentityError> {
        self.found.verify()
    }

    /// Recognised options.
    pub fn features(&self) -> Features {
        self.features
    }

    /// Whether stages get an own `/dev` (uid 0 with the capabilities for it).
    pub fn private_dev(&self) -> bool {
        self.private_dev
    }

    /// What inspection says about it.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The descriptor that is executed: a sealed copy for uid 0, else the pinned file.
    ///
    /// The file belongs to root and nobody else may write it, so the inode that was pinned stays
    /// what it was; replacing the name has no effect on a descriptor.
    pub(super) fn program(&self) -> io::Result<OwnedFd> {
        descriptor::duplicate(self.program.as_fd())
    }
}

struct Pinned {
    found: FoundWrapper,
    program: OwnedFd,
    /// What its own bytes say that it can do.
    features: Option<Features>,
}

impl Pinned {
    /// As uid 0 the host's file would be within reach inside, as `/proc/1/exe`: a sealed copy runs.
    fn new(found: FoundWrapper) -> Result<Self, String> {
        let readable = found.fingerprint().size <= MAX_READ;
        let mut bytes = Vec::new();
        let mut keep = |chunk: &[u8]| {
            if readable {
                bytes.extend_from_slice(chunk);
            }
        };
        let program = if nix::unistd::geteuid().is_root() {
            descriptor::sealed_with(c"bwrap", true, |copy| {
                found.file().copy_verified(|chunk| {
                    keep(chunk);
                    copy.write_all(chunk)
                })
            })
        } else {
            let read = found.file().copy_verified(|chunk| {
                keep(chunk);
                Ok(())
            });
            read.and_then(|()| descriptor::duplicate(found.file().descriptor().as_fd()))
        };
        Ok(Self {
            found,
            program: program.map_err(|error| error.to_string())?,
            features: Features::from_program(&bytes),
        })
    }
}

impl Pinned {
    async fn ask(self) -> Result<Wrapper, String> {
        let features = match self.features {
            Some(found) => found,
            None => Features::from_help(&self.question("--help").await?),
        };
        if let Err(missing) = features.require() {
            return Err(self.too_old(&missing).await);
        }
        let root = nix::unistd::geteuid().is_root();
        let private_dev = root && has_capabilities(&[CAP_SYS_ADMIN, CAP_MKNOD]);
        let mut warnings = Vec::new();
        if root && !private_dev {
            warnings.push("uid 0 without CAP_SYS_ADMIN and CAP_MKNOD: the host's device nodes are shared with the sandbox".to_owned());
        }
        let Pinned { found, program, .. } = self;
        Ok(Wrapper {
            found,
            program,
            features,
            private_dev,
            warnings,
        })
    }

    /// Why it can not be used. What it can do decides, not its version, which is asked only to say
    /// something that a person can act on.
    async fn too_old(&self, missing: &PlanError) -> String {
        let (major, minor, patch) = MINIMUM_VERSION;
        let needed = format!("bubblewrap {major}.{minor}.{patch} or newer is needed");
        match self
            .question("--version")
            .await
            .as_deref()
            .map(parse_version)
        {
            Ok(Some((major, minor, patch))) => {
                format!("{needed}, this is {major}.{minor}.{patch}: {missing}")
            }
            _ => format!(
                "{} is not bubblewrap: {missing}",
                self.found.path().as_path().display()
            ),
        }
    }

    /// Runs the wrapper with one option and returns what it prints.
    async fn question(&self, option: &str) -> Result<String, String> {
        let failed = |error: &dyn std::fmt::Display| format!("bwrap {option} failed: {error}");
        let io = |error: io::Error| failed(&error);
        let (stdout, stdout_write) = descriptor::pipe().map_err(io)?;
        let (stderr, stderr_write) = descriptor::pipe().map_err(io)?;
        let word = |text: &str| CString::new(text).unwrap_or_default();
        let launch = Launch {
            program: descriptor::duplicate(self.program.as_fd()).map_err(io)?,
            keep_program: false,
            argv: vec![word("bwrap"), word(option)],
            env: Vec::new(),
            cwd: None,
            stdin: None,
            stdout: stdout_write,
            stderr: stderr_write,
            inherit: Vec::new(),
            limits: Vec::new(),
            no_new_privs: true,
            private_dev: false,
        };
        let process = launcher()
            .map_err(io)?
            .start(launch)
            .await
            .map_err(|e| failed(&e))?;
        let stage = Stage {
            process,
            stdout: Some(stdout),
            stderr,
            side: None,
            termination: Termination::Immediate,
        };
        let mut budget = Budget {
            deadline: Instant::now() + QUESTION,
            idle: None,
            stdout_bytes: 64 * 1024,
            stderr_bytes: 4096,
            total_bytes: 128 * 1024,
            total_used: 0,
        };
        let ended = supervise::run(vec![stage], None, &mut budget, &mut Silent)
            .await
            .map_err(|_| failed(&"no answer within 5 seconds"))?;
        let end = ended
            .into_iter()
            .next()
            .ok_or_else(|| failed(&"no answer"))?;
        if end.status != Some(WaitStatus::Exited(0)) {
            let reason = String::from_utf8_lossy(&end.stderr.first);
            return Err(failed(&reason.lines().next().unwrap_or("unexpected end")));
        }
        Ok(String::from_utf8_lossy(&end.stdout.bytes).into_owned())
    }
}

fn has_capabilities(bits: &[u32]) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set
        .and_then(|text| u64::from_str_radix(text.trim(), 16).ok())
        .unwrap_or(0);
    bits.iter().all(|bit| set & (1 << bit) != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn the_installed_wrapper_says_of_itself_what_it_prints() {
        let pinned = Pinned::new(find_wrapper(None).unwrap()).unwrap();
        let printed = Features::from_help(&pinned.question("--help").await.unwrap());
        if let Some(read) = pinned.features {
            assert_eq!(read, printed);
        } else {
            // One that is too old for the strongest plan has to be asked.
            assert!(!(printed.block_fd && printed.ro_bind_fd && printed.disable_userns));
        }
    }
}
