//! Plain `bwrap` with the plan that `chatmd` made: every namespace, mount, mask, variable and the
//! system call filter. What is left out is the hold and the status channel, which are checks of
//! `chatmd` and not part of the sandbox.
//!
//! The plan is read where it is handed over: `chatmd` writes it into an anonymous file that it
//! passes to bubblewrap, and strace shows what it writes.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::process::capture;

/// What bubblewrap was given.
pub struct SamePlan {
    options: Vec<Vec<u8>>,
    filter: Vec<u8>,
    folder: PathBuf,
    command: Vec<String>,
    /// Open until the next command is made: the child inherits them.
    inherited: RefCell<Vec<OwnedFd>>,
}

impl SamePlan {
    /// Runs a call of `chatmd` under strace and keeps its plan. `command` is what the sandbox runs.
    pub fn capture(call: &Command, folder: &Path, command: &[&str]) -> Result<Self> {
        let traces = folder.join("trace");
        fs::create_dir_all(&traces)?;
        let mut strace = Command::new("strace");
        strace.args([
            "-ff",
            "-xx",
            "-s",
            "1048576",
            "-e",
            "trace=memfd_create,write",
            "-o",
        ]);
        strace.arg(traces.join("t")).arg(call.get_program());
        strace.args(call.get_args()).current_dir(folder);
        let output = capture(&mut strace)?;
        if !output.status.success() {
            bail!("strace: {}", String::from_utf8_lossy(&output.stderr));
        }
        let (mut options, mut filter) = (None, None);
        for entry in fs::read_dir(&traces)? {
            let text = fs::read_to_string(entry?.path())?;
            options = options.or_else(|| written_to(&text, "chatmd-args"));
            filter = filter.or_else(|| written_to(&text, "chatmd-filter"));
        }
        let options = options.context("the call handed no plan to bubblewrap")?;
        Ok(Self {
            options: options
                .split(|byte| *byte == 0)
                .map(<[u8]>::to_vec)
                .collect(),
            filter: filter.context("the call handed no filter to bubblewrap")?,
            folder: folder.to_path_buf(),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            inherited: RefCell::default(),
        })
    }

    /// A run of bubblewrap with that plan.
    pub fn command(&self) -> Result<Command> {
        let mut inherited = Vec::new();
        let mut args = Vec::new();
        let mut options = self.options.iter().map(Vec::as_slice);
        while let Some(option) = options.next() {
            match option {
                b"--json-status-fd" | b"--block-fd" => {
                    options.next();
                }
                b"--seccomp" => {
                    options.next();
                    let number = keep(&mut inherited, self.holding("filter", &self.filter)?)?;
                    push(&mut args, &[option, number.as_bytes()]);
                }
                b"--ro-bind-fd" | b"--bind-fd" | b"--ro-bind-data" => {
                    options.next();
                    let target = options.next().context("an option without its target")?;
                    let file = File::open(Path::new(std::str::from_utf8(target)?))?;
                    let number = keep(&mut inherited, file)?;
                    push(&mut args, &[option, number.as_bytes(), target]);
                }
                other => push(&mut args, &[other]),
            }
        }
        // The options end with a separator, behind which the split found an empty word.
        args.pop();
        let number = keep(&mut inherited, self.holding("args", &args)?)?;
        *self.inherited.borrow_mut() = inherited;
        let mut command = Command::new("bwrap");
        command.args(["--args", &number, "--"]).args(&self.command);
        Ok(command)
    }

    /// A file with these bytes, at its beginning.
    fn holding(&self, name: &str, bytes: &[u8]) -> Result<File> {
        let path = self.folder.join(name);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        file.write_all(bytes)?;
        file.rewind()?;
        Ok(file)
    }
}

fn push(args: &mut Vec<u8>, words: &[&[u8]]) {
    for word in words {
        args.extend_from_slice(word);
        args.push(0);
    }
}

/// Lets children inherit the file; gives its number.
fn keep(inherited: &mut Vec<OwnedFd>, file: File) -> Result<String> {
    fcntl(file.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
    let number = file.as_raw_fd().to_string();
    inherited.push(file.into());
    Ok(number)
}

/// What a traced thread wrote into the anonymous file of that name.
fn written_to(trace: &str, name: &str) -> Option<Vec<u8>> {
    let mut lines = trace.lines();
    let number = lines.by_ref().find_map(|line| {
        let rest = line.strip_prefix("memfd_create(\"")?;
        let (made, rest) = rest.split_once('"')?;
        (unhex(made)? == name.as_bytes()).then(|| rest.rsplit_once(" = "))?
    })?;
    let start = format!("write({}, \"", number.1);
    let line = lines.find_map(|line| line.strip_prefix(&start))?;
    unhex(line.split_once('"')?.0)
}

/// The bytes of `\x61\x62…`.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split("\\x");
    parts.next().filter(|before| before.is_empty())?;
    parts
        .map(|part| u8::from_str_radix(part, 16).ok())
        .collect()
}
