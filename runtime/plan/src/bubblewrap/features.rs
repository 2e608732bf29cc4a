//! What the installed bubblewrap can do (spec 06b B1.3).

use crate::error::PlanError;

/// Oldest usable version: the first with `--perms`, `--clearenv` and `--json-status-fd`.
pub const MINIMUM_VERSION: (u32, u32, u32) = (0, 5, 0);

/// What a line of the usage text begins with when it describes an option.
const USAGE_INDENT: &[u8] = b"    --";

/// Options found by name in `--help`. The version does not tell: distributions back-port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Features {
    pub perms: bool,
    pub clearenv: bool,
    pub json_status_fd: bool,
    pub disable_userns: bool,
    pub size: bool,
    pub argv0: bool,
    pub ro_bind_fd: bool,
    pub bind_fd: bool,
    pub block_fd: bool,
}

impl Features {
    /// Reads the output of `bwrap --help`.
    pub fn from_help(help: &str) -> Self {
        let mut found = Self::default();
        for line in help.lines() {
            let Some(option) = line.split_whitespace().next() else {
                continue;
            };
            let flag = match option {
                "--perms" => &mut found.perms,
                "--clearenv" => &mut found.clearenv,
                "--json-status-fd" => &mut found.json_status_fd,
                "--disable-userns" => &mut found.disable_userns,
                "--size" => &mut found.size,
                "--argv0" => &mut found.argv0,
                "--ro-bind-fd" => &mut found.ro_bind_fd,
                "--bind-fd" => &mut found.bind_fd,
                "--block-fd" => &mut found.block_fd,
                _ => continue,
            };
            *flag = true;
        }
        found
    }

    /// Reads the same lines where the program keeps them, in its own bytes, which spares a run of
    /// it. `None` when they do not name every option whose absence would make a plan weaker: a
    /// wrapper around bubblewrap looks like this, and has to be asked.
    pub fn from_program(program: &[u8]) -> Option<Self> {
        let mut help = String::new();
        for text in program.split(|byte| matches!(byte, 0 | b'\n')) {
            if text.starts_with(USAGE_INDENT)
                && let Ok(line) = std::str::from_utf8(text)
            {
                help.push_str(line);
                help.push('\n');
            }
        }
        let found = Self::from_help(&help);
        let strong = found.block_fd && found.ro_bind_fd && found.disable_userns;
        (strong && found.require().is_ok()).then_some(found)
    }

    /// Fails when an option that every plan uses is missing.
    pub fn require(&self) -> Result<(), PlanError> {
        for (present, name) in [
            (self.perms, "--perms"),
            (self.clearenv, "--clearenv"),
            (self.json_status_fd, "--json-status-fd"),
        ] {
            if !present {
                return Err(PlanError::MissingFeature(name));
            }
        }
        Ok(())
    }
}

/// Version in the output of `bwrap --version`, such as `bubblewrap 0.8.0`.
pub fn parse_version(output: &str) -> Option<(u32, u32, u32)> {
    let text = output.trim().strip_prefix("bubblewrap ")?;
    let mut numbers = text.split('.').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    let major = numbers.next()??;
    let minor = numbers.next()??;
    let patch = numbers.next().flatten().unwrap_or(0);
    Some((major, minor, patch))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn options_are_recognised_by_name() {
        let help = "usage: bwrap [OPTIONS...]\n\n    --args FD   Parse\n    --perms OCTAL  Set\n    \
                    --ro-bind-fd FD DEST   Bind\n    --bind-fd FD DEST\n    --clearenv  Unset\n    \
                    --json-status-fd FD\n    --size BYTES\n    text that names --argv0 in passing\n";
        let found = Features::from_help(help);
        assert!(found.perms && found.ro_bind_fd && found.bind_fd && found.size);
        assert!(!found.argv0 && !found.disable_userns && !found.block_fd);
        assert_eq!(found.require(), Ok(()));
        assert_eq!(
            Features::from_help("--perms\n--clearenv\n").require(),
            Err(PlanError::MissingFeature("--json-status-fd"))
        );
    }

    #[test]
    fn a_program_tells_what_it_can_do_only_when_it_tells_enough() {
        let strong = "--perms OCTAL\n    --clearenv\n    --json-status-fd FD\n    --disable-userns\n    \
                      --ro-bind-fd FD DEST\n    --block-fd FD\n";
        let program = |usage: &str| {
            let mut bytes = b"\x7fELF\xff\0--argv0\0    ".to_vec();
            bytes.extend_from_slice(usage.as_bytes());
            bytes.extend_from_slice(b"\0--size takes an argument\0\xfe");
            bytes
        };
        let found = Features::from_program(&program(strong)).unwrap();
        assert!(found.block_fd && found.ro_bind_fd && found.disable_userns && found.perms);
        // A word elsewhere in the program describes no option.
        assert!(!found.argv0 && !found.size);
        for option in [
            "--perms",
            "--clearenv",
            "--json-status-fd",
            "--disable-userns",
            "--ro-bind-fd",
            "--block-fd",
        ] {
            let without = strong.replace(option, "--another");
            assert_eq!(Features::from_program(&program(&without)), None, "{option}");
        }
        assert_eq!(Features::from_program(b""), None);
    }

    #[test]
    fn versions() {
        assert_eq!(parse_version("bubblewrap 0.8.0\n"), Some((0, 8, 0)));
        assert_eq!(parse_version("bubblewrap 0.11.0-rc1"), Some((0, 11, 0)));
        assert_eq!(parse_version("bubblewrap 1.2"), Some((1, 2, 0)));
        assert_eq!(parse_version("sandbox 0.8.0"), None);
        assert_eq!(parse_version("bubblewrap x"), None);
        assert!(parse_version("bubblewrap 0.4.1").is_some_and(|v| v < MINIMUM_VERSION));
    }
}
