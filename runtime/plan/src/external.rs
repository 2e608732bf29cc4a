//! Argument vector of an external wrapper (spec 06b B3.3).

use std::ffi::OsString;
use std::path::Path;

use chatmd_compiler::manifest::Atom;

/// Facts that a template is expanded with.
#[derive(Clone, Copy, Debug)]
pub struct Expansion<'a> {
    /// Canonical wrapper.
    pub wrapper: &'a Path,
    /// Canonical working directory.
    pub cwd: &'a Path,
    /// Canonical target; also the target's `argv[0]`, since wrappers exec what they are given.
    pub target: &'a Path,
    /// Arguments after `argv[0]`.
    pub arguments: &'a [OsString],
    /// Canonical read roots in declared order.
    pub read: &'a [&'a Path],
    /// Canonical write roots in declared order.
    pub write: &'a [&'a Path],
    /// `network` ceiling.
    pub network: bool,
    /// Options of [`crate::limits::Lowered::helper_arguments`].
    pub resource_arguments: &'a [String],
}

/// A template without exactly one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the template of an external backend must hold the command exactly once, not {0} times")]
pub struct TemplateError(pub usize);

impl TemplateError {
    /// Diagnostic code.
    pub const fn code(&self) -> &'static str {
        "shell.external_backend_command_argv"
    }
}

/// Expands the atoms in order. No element is split, joined or interpreted.
pub fn expand(atoms: &[Atom], facts: &Expansion<'_>) -> Result<Vec<OsString>, TemplateError> {
    let commands = atoms
        .iter()
        .filter(|atom| matches!(atom, Atom::CommandArgv {}))
        .count();
    if commands != 1 {
        return Err(TemplateError(commands));
    }
    let mut argv = vec![OsString::from(facts.wrapper)];
    for atom in atoms {
        match atom {
            Atom::Arg { value } => argv.push(value.into()),
            Atom::CwdValue {} => argv.push(facts.cwd.into()),
            Atom::TargetExecutable {} => argv.push(facts.target.into()),
            Atom::CommandArgv {} => {
                argv.push(facts.target.into());
                argv.extend(facts.arguments.iter().cloned());
            }
            Atom::ResourceLimitArgs {} => {
                argv.extend(facts.resource_arguments.iter().map(OsString::from));
            }
            Atom::ReadRoots { flag } => roots(&mut argv, flag, facts.read),
            Atom::WriteRoots { flag } => roots(&mut argv, flag, facts.write),
            Atom::NetworkFlag { value } => {
                if facts.network {
                    argv.push(value.into());
                }
            }
        }
    }
    Ok(argv)
}

fn roots(argv: &mut Vec<OsString>, flag: &str, roots: &[&Path]) {
    for root in roots {
        argv.push(flag.into());
        argv.push((*root).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts<'a>(arguments: &'a [OsString], resources: &'a [String]) -> Expansion<'a> {
        Expansion {
            wrapper: Path::new("/opt/box"),
            cwd: Path::new("/w dir"),
            target: Path::new("/usr/bin/rg"),
            arguments,
            read: &[],
            write: &[],
            network: false,
            resource_arguments: resources,
        }
    }

    #[test]
    fn every_atom() {
        let arguments = ["a b".into(), "$HOME".into()];
        let resources = ["--cpu".to_owned(), "2".to_owned()];
        let atoms = [
            Atom::Arg {
                value: "--quiet now".into(),
            },
            Atom::CwdValue {},
            Atom::TargetExecutable {},
            Atom::ReadRoots { flag: "-r".into() },
            Atom::WriteRoots { flag: "-w".into() },
            Atom::NetworkFlag {
                value: "--net".into(),
            },
            Atom::ResourceLimitArgs {},
            Atom::Arg { value: "--".into() },
            Atom::CommandArgv {},
        ];
        let wide = Expansion {
            read: &[Path::new("/z"), Path::new("/a")],
            write: &[Path::new("/w")],
            network: true,
            ..facts(&arguments, &resources)
        };
        let expected = [
            "/opt/box",
            "--quiet now",
            "/w dir",
            "/usr/bin/rg",
            "-r",
            "/z",
            "-r",
            "/a",
            "-w",
            "/w",
            "--net",
            "--cpu",
            "2",
            "--",
            "/usr/bin/rg",
            "a b",
            "$HOME",
        ];
        assert_eq!(
            expand(&atoms, &wide).as_deref(),
            Ok(expected.map(OsString::from).as_slice())
        );
        let narrow = expand(&atoms, &facts(&[], &[]));
        let expected = [
            "/opt/box",
            "--quiet now",
            "/w dir",
            "/usr/bin/rg",
            "--",
            "/usr/bin/rg",
        ];
        assert_eq!(
            narrow.as_deref(),
            Ok(expected.map(OsString::from).as_slice())
        );
    }

    #[test]
    fn the_command_stands_exactly_once() {
        assert_eq!(expand(&[], &facts(&[], &[])), Err(TemplateError(0)));
        let twice = [Atom::CommandArgv {}, Atom::CommandArgv {}];
        assert_eq!(expand(&twice, &facts(&[], &[])), Err(TemplateError(2)));
    }
}
