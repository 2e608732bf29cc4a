//! Limits lowered for the supervisor and the operating system (spec 06b B4).

use std::time::Duration;

use chatmd_compiler::manifest::Limits;

/// Limits the supervisor enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supervision {
    /// Whole request.
    pub wall_time: Duration,
    /// No activity; `None` = off.
    pub idle_time: Option<Duration>,
    /// Bytes of stdin.
    pub max_stdin: u64,
    /// Captured stdout bytes of a request.
    pub stdout: u64,
    /// Captured stderr bytes of a request.
    pub stderr: u64,
    /// All bytes read.
    pub total_output: u64,
}

/// A limit set by `setrlimit` in the child before exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceLimit {
    /// Which one.
    pub resource: Resource,
    /// Soft value: whole seconds, bytes or descriptors.
    pub soft: u64,
    /// Hard value.
    pub hard: u64,
}

/// Resources with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// `RLIMIT_CORE`.
    Core,
    /// `RLIMIT_CPU`, seconds.
    Cpu,
    /// `RLIMIT_AS`, bytes.
    AddressSpace,
    /// `RLIMIT_FSIZE`, bytes.
    FileSize,
    /// `RLIMIT_NOFILE`.
    OpenFiles,
}

impl Resource {
    /// Name of the attribute that sets it.
    pub const fn attribute(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Cpu => "cpu_time",
            Self::AddressSpace => "memory",
            Self::FileSize => "file_size",
            Self::OpenFiles => "open_files",
        }
    }
}

/// Why limits can not be lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The value does not fit the host's integers, or is 0 where 0 means nothing.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// The host's hard limit is lower.
    #[error("{attribute} is {wanted} and the host's hard limit is {hard}")]
    Unavailable {
        /// Attribute name.
        attribute: &'static str,
        /// Value asked for.
        wanted: u64,
        /// Present hard limit.
        hard: u64,
    },
}

impl LimitError {
    /// Diagnostic code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OutOfRange(_) => "shell.limit_out_of_range",
            Self::Unavailable { .. } => "shell.resource_limit_unavailable",
        }
    }
}

/// Limits of one runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// For the supervisor.
    pub supervision: Supervision,
    /// For the child; `RLIMIT_CORE` 0 is always first.
    pub resources: Vec<ResourceLimit>,
}

/// Lowers the limits of a manifest.
pub fn lower(limits: &Limits) -> Result<Lowered, LimitError> {
    let positive = |name: &'static str, value: u64| {
        if value == 0 || i64::try_from(value).is_err() {
            Err(LimitError::OutOfRange(name))
        } else {
            Ok(value)
        }
    };
    if i64::try_from(limits.max_stdin_bytes).is_err() {
        return Err(LimitError::OutOfRange("max_stdin"));
    }
    let supervision = Supervision {
        wall_time: Duration::from_millis(positive("wall_time", limits.wall_time_ms)?),
        idle_time: match limits.idle_time_ms {
            Some(value) => Some(Duration::from_millis(positive("idle_time", value)?)),
            None => None,
        },
        max_stdin: limits.max_stdin_bytes,
        stdout: positive("stdout", limits.stdout_bytes)?,
        stderr: positive("stderr", limits.stderr_bytes)?,
        total_output: positive("total_output", limits.total_output_bytes)?,
    };
    let mut resources = vec![ResourceLimit {
        resource: Resource::Core,
        soft: 0,
        hard: 0,
    }];
    if let Some(value) = limits.cpu_time_ms {
        let seconds = positive("cpu_time", value)?.div_ceil(1000);
        // The soft limit ends the process with SIGXCPU; the hard one kills what ignores that.
        resources.push(ResourceLimit {
            resource: Resource::Cpu,
            soft: seconds,
            hard: seconds + 1,
        });
    }
    for (resource, value) in [
        (Resource::AddressSpace, limits.memory_bytes),
        (Resource::FileSize, limits.file_size_bytes),
        (Resource::OpenFiles, limits.open_files),
    ] {
        if let Some(value) = value {
            let value = positive(resource.attribute(), value)?;
            resources.push(ResourceLimit {
                resource,
                soft: value,
                hard: value,
            });
        }
    }
    Ok(Lowered {
        supervision,
        resources,
    })
}

impl Lowered {
    /// Checks each limit against the host's present hard limit (`None` = unlimited).
    pub fn check(&self, hard: impl Fn(Resource) -> Option<u64>) -> Result<(), LimitError> {
        for limit in &self.resources {
            if let Some(hard) = hard(limit.resource)
                && limit.hard > hard
            {
                return Err(LimitError::Unavailable {
                    attribute: limit.resource.attribute(),
                    wanted: limit.hard,
                    hard,
                });
            }
        }
        Ok(())
    }

    /// Limits for a stage of which bubblewrap copies `sealed_bytes` into its own memory: the copy
    /// must fit `file_size`.
    pub fn for_sealed_copy(&self, sealed_bytes: u64) -> Vec<ResourceLimit> {
        let mut resources = self.resources.clone();
        for limit in &mut resources {
            if limit.resource == Resource::FileSize {
                limit.soft = limit.soft.max(sealed_bytes);
                limit.hard = limit.hard.max(sealed_bytes);
            }
        }
        resources
    }

    /// Options of the resource helper for external wrappers (B4.2), without the `--`.
    pub fn helper_arguments(&self) -> Vec<String> {
        let mut words = Vec::new();
        for limit in &self.resources {
            let name = match limit.resource {
                Resource::Core => continue,
                Resource::Cpu => "--cpu",
                Resource::AddressSpace => "--memory",
                Resource::FileSize => "--file-size",
                Resource::OpenFiles => "--open-files",
            };
            words.push(name.to_owned());
            words.push(limit.soft.to_string());
        }
        words
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
