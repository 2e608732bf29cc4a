//! What kind of executable a file is (spec 06 section 3.4).
//!
//! A file that the kernel rejects would be handed to `/bin/sh` by `execvp`, so only files that the
//! kernel takes by itself are resolved.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Longest `#!` line, its line end included, in bytes: the kernel looks at no more.
pub const MAX_INTERPRETER_LINE: usize = 256;

/// Format of an executable file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// A program for this machine.
    Elf,
    /// A script with its interpreter line.
    Script(InterpreterLine),
    /// Anything else.
    Unsupported,
}

/// A parsed `#!` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterpreterLine {
    /// Absolute path of the interpreter.
    pub path: PathBuf,
    /// Everything after it as one argument, blanks at both ends removed.
    pub argument: Option<OsString>,
}

/// A `#!` line that can not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// No line end within [`MAX_INTERPRETER_LINE`] bytes.
    #[error("the #! line is longer than 256 bytes")]
    TooLong,
    /// Nothing stands after `#!`.
    #[error("the #! line names no interpreter")]
    Empty,
    /// A relative interpreter depends on the working directory.
    #[error("the #! line names a relative path")]
    Relative,
    /// The kernel would cut the line there.
    #[error("the #! line holds a NUL byte")]
    Nul,
}

/// Reads the head of a file and says what it is.
pub(crate) fn detect(file: &File) -> io::Result<Result<Format, LineError>> {
    let mut head = [0_u8; MAX_INTERPRETER_LINE];
    let mut filled = 0;
    while let Some(rest) = head.get_mut(filled..)
        && !rest.is_empty()
    {
        match file.read_at(rest, filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(classify(head.get(..filled).unwrap_or_default()))
}

/// Format by the first bytes of a file.
pub fn classify(head: &[u8]) -> Result<Format, LineError> {
    if let Some(line) = head.strip_prefix(b"#!") {
        return interpreter_line(line, head.len()).map(Format::Script);
    }
    Ok(if is_native_elf(head) {
        Format::Elf
    } else {
        Format::Unsupported
    })
}

fn interpreter_line(rest: &[u8], seen: usize) -> Result<InterpreterLine, LineError> {
    let line = match rest.iter().position(|byte| *byte == b'\n') {
        Some(end) => rest.get(..end).unwrap_or_default(),
        None if seen >= MAX_INTERPRETER_LINE => return Err(LineError::TooLong),
        None => rest,
    };
    if line.contains(&0) {
        return Err(LineError::Nul);
    }
    let line = trim_blanks(line);
    let end = line
        .iter()
        .position(|byte| is_blank(*byte))
        .unwrap_or(line.len());
    let (path, argument) = line.split_at(end);
    match path.first() {
        None => return Err(LineError::Empty),
        Some(b'/') => {}
        Some(_) => return Err(LineError::Relative),
    }
    let argument = trim_blanks(argument);
    Ok(InterpreterLine {
        path: Path::new(OsStr::from_bytes(path)).to_path_buf(),
        argument: (!argument.is_empty()).then(|| OsStr::from_bytes(argument).to_owned()),
    })
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn trim_blanks(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_blank(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}

/// A 64-bit little-endian program or shared object for the machine this was built for.
fn is_native_elf(head: &[u8]) -> bool {
    const CLASS_64: u8 = 2;
    const LITTLE_ENDIAN: u8 = 1;
    const EXEC: u8 = 2;
    const DYN: u8 = 3;
    let machine: [u8; 2] = if cfg!(target_arch = "x86_64") {
        [62, 0]
    } else if cfg!(target_arch = "aarch64") {
        [183, 0]
    } else {
        return false;
    };
    head.starts_with(b"\x7FELF")
        && head.get(4) == Some(&CLASS_64)
        && head.get(5) == Some(&LITTLE_ENDIAN)
        && matches!(head.get(16..18), Some([EXEC | DYN, 0]))
        && head.get(18..20) == Some(&machine)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn line(text: &str) -> Result<(String, Option<String>), LineError> {
        match classify(text.as_bytes())? {
            Format::Script(line) => Ok((
                line.path.display().to_string(),
                line.argument.map(|argument| argument.display().to_string()),
            )),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn interpreter_lines() {
        let plain = |path: &str| Ok((path.to_owned(), None));
        let with = |path: &str, argument: &str| Ok((path.to_owned(), Some(argument.to_owned())));
        assert_eq!(line("#!/bin/sh\necho"), plain("/bin/sh"));
        assert_eq!(line("#! \t/bin/sh \t\n"), plain("/bin/sh"));
        assert_eq!(line("#!/bin/sh"), plain("/bin/sh"));
        assert_eq!(
            line("#!/usr/bin/env -S python3  -u \n"),
            with("/usr/bin/env", "-S python3  -u")
        );
        // A carriage return belongs to the name, as for the kernel.
        assert_eq!(line("#!/bin/sh\r\n"), plain("/bin/sh\r"));
        assert_eq!(line("#!\n/bin/sh"), Err(LineError::Empty));
        assert_eq!(line("#!"), Err(LineError::Empty));
        assert_eq!(line("#!bin/sh\n"), Err(LineError::Relative));
        assert_eq!(line("#!/bin/sh\0x\n"), Err(LineError::Nul));
        let longest = format!("#!/{}\n", "x".repeat(MAX_INTERPRETER_LINE - 4));
        assert!(line(&longest).is_ok());
        assert_eq!(
            line(longest.trim_end().replace("#!/", "#!/x").as_str()),
            Err(LineError::TooLong)
        );
    }

    #[test]
    fn programs() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let head = &own[..MAX_INTERPRETER_LINE];
        assert_eq!(classify(head), Ok(Format::Elf));
        for (at, byte) in [(0, 0), (4, 1), (5, 2), (16, 1), (17, 1), (18, 3), (19, 1)] {
            let mut broken = head.to_vec();
            broken[at] = byte;
            assert_eq!(classify(&broken), Ok(Format::Unsupported), "byte {at}");
        }
        for text in [
            &b""[..],
            b"echo hi\n",
            b" #!/bin/sh\n",
            b"\xEF\xBB\xBF#!/bin/sh\n",
            b"\x7FELF",
            b"MZ",
        ] {
            assert_eq!(classify(text), Ok(Format::Unsupported));
        }
    }
}
