//! Hard bounds of one command (spec 06 section 4.5).

use std::fmt;

/// Most arguments of one command.
pub const MAX_ARGUMENTS: usize = 4096;
/// Most bytes of one argument: what one argv element may hold on Linux.
pub const MAX_ARGUMENT_BYTES: usize = 131_071;
/// Most bytes of argv and environment together.
pub const MAX_ARGV_AND_ENVIRONMENT_BYTES: usize = 1 << 20;
/// Longest program text in bytes.
pub const MAX_PROGRAM_BYTES: usize = 4096;
/// Most bytes of a raw script.
pub const MAX_SCRIPT_BYTES: usize = 131_071;
/// Most bytes of a chain command.
pub const MAX_CHAIN_BYTES: usize = 65_536;
/// Most simple commands of a chain.
pub const MAX_CHAIN_COMMANDS: usize = 64;
/// Most stages of one pipeline.
pub const MAX_PIPELINE_STAGES: usize = 16;
/// Most words of one command in a chain.
pub const MAX_COMMAND_WORDS: usize = 1024;
/// Most bytes of a rationale; longer ones are cut.
pub const MAX_RATIONALE_BYTES: usize = 4096;
/// Most rewrites of one command (spec 06 section 9.3).
pub const MAX_REWRITES: u32 = 12;

/// Why an argv exceeds the hard bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgvFault {
    /// argv is empty.
    Empty,
    /// The program text is empty.
    EmptyProgram,
    /// More than [`MAX_ARGUMENTS`].
    TooManyArguments,
    /// An element is longer than [`MAX_ARGUMENT_BYTES`].
    ArgumentTooLarge,
    /// argv and environment exceed [`MAX_ARGV_AND_ENVIRONMENT_BYTES`].
    TotalTooLarge,
    /// An element holds a NUL byte.
    Nul,
}

impl ArgvFault {
    /// Tool code of the fault.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty | Self::EmptyProgram => "shell.tool_program_required",
            Self::TooManyArguments => "shell.tool_too_many_arguments",
            Self::ArgumentTooLarge | Self::TotalTooLarge => "shell.tool_argument_too_large",
            Self::Nul => "shell.tool_nul_byte",
        }
    }
}

impl fmt::Display for ArgvFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Empty | Self::EmptyProgram => "program is required",
            Self::TooManyArguments => "too many arguments were supplied",
            Self::ArgumentTooLarge | Self::TotalTooLarge => {
                "an argument exceeds the configured limit"
            }
            Self::Nul => "a NUL byte is not supported",
        })
    }
}

impl std::error::Error for ArgvFault {}

/// Checks a complete argv, also one that a rewrite produced (spec 06 sections 4.5 and 9.3).
/// `environment_bytes`: sum over `NAME=VALUE` of the runtime environment.
pub fn check_argv(argv: &[String], environment_bytes: usize) -> Result<(), ArgvFault> {
    let program = argv.first().ok_or(ArgvFault::Empty)?;
    if program.is_empty() {
        return Err(ArgvFault::EmptyProgram);
    }
    if argv.len() - 1 > MAX_ARGUMENTS {
        return Err(ArgvFault::TooManyArguments);
    }
    if argv
        .iter()
        .any(|element| element.len() > MAX_ARGUMENT_BYTES)
    {
        return Err(ArgvFault::ArgumentTooLarge);
    }
    let total = argv.iter().fold(environment_bytes, |sum, element| {
        sum.saturating_add(element.len())
    });
    if total > MAX_ARGV_AND_ENVIRONMENT_BYTES {
        return Err(ArgvFault::TotalTooLarge);
    }
    if argv.iter().any(|element| element.contains('\0')) {
        return Err(ArgvFault::Nul);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_is_exact() {
        let argv = |count: usize, bytes: usize| {
            let mut argv = vec!["p".to_owned()];
            argv.extend(std::iter::repeat_n("x".repeat(bytes), count));
            argv
        };
        let check = |argv: Vec<String>, env| check_argv(&argv, env).err();
        assert_eq!(check(vec![], 0), Some(ArgvFault::Empty));
        assert_eq!(check(vec![String::new()], 0), Some(ArgvFault::EmptyProgram));
        assert_eq!(check(argv(4096, 1), 0), None);
        assert_eq!(check(argv(4097, 1), 0), Some(ArgvFault::TooManyArguments));
        assert_eq!(check(argv(1, 131_071), 0), None);
        assert_eq!(
            check(argv(1, 131_072), 0),
            Some(ArgvFault::ArgumentTooLarge)
        );
        assert_eq!(check(argv(1, 5), (1 << 20) - 6), None);
        assert_eq!(
            check(argv(1, 5), (1 << 20) - 5),
            Some(ArgvFault::TotalTooLarge)
        );
        assert_eq!(check(vec!["a\0".to_owned()], 0), Some(ArgvFault::Nul));
    }
}
