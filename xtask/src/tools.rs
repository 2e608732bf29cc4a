//! Programs of the system that a command needs: found, installed, or named in a plain refusal.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::process::run;

/// A program and the Debian package that brings it.
pub struct Tool {
    /// Name looked up in `PATH`.
    pub program: &'static str,
    /// Package for `apt-get install`.
    pub package: &'static str,
}

/// The sandbox itself.
pub const BUBBLEWRAP: Tool = Tool {
    program: "bwrap",
    package: "bubblewrap",
};

/// Shows what a program hands to the sandbox.
pub const STRACE: Tool = Tool {
    program: "strace",
    package: "strace",
};

/// Builds libFuzzer.
pub const CPP: Tool = Tool {
    program: "c++",
    package: "g++",
};

/// What the tests use beside the sandbox.
pub const TEST_TOOLS: &[Tool] = &[
    BUBBLEWRAP,
    Tool {
        program: "git",
        package: "git",
    },
    STRACE,
    CPP,
    Tool {
        program: "gcc",
        package: "gcc",
    },
    Tool {
        program: "make",
        package: "make",
    },
    Tool {
        program: "python3",
        package: "python3",
    },
    Tool {
        program: "mandoc",
        package: "mandoc",
    },
    Tool {
        program: "nvim",
        package: "neovim",
    },
    Tool {
        program: "dash",
        package: "dash",
    },
    Tool {
        program: "setpriv",
        package: "util-linux",
    },
];

/// Installs every missing tool; fails with the command to type when it may not.
pub fn ensure(tools: &[Tool]) -> Result<()> {
    let missing: Vec<&Tool> = tools
        .iter()
        .filter(|tool| find(tool.program).is_none())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|tool| tool.package).collect();
    let names: Vec<&str> = missing.iter().map(|tool| tool.program).collect();
    let install = format!("apt-get install -y {}", packages.join(" "));
    println!(
        "missing: {} (package {})",
        names.join(", "),
        packages.join(", ")
    );
    if find("apt-get").is_none() {
        bail!(
            "this system has no apt-get; install {} by its own means and run this again",
            names.join(", ")
        );
    }
    let prefix: &[&str] = if nix_is_root() {
        &[]
    } else if sudo_without_password() {
        &["sudo", "-n"]
    } else {
        bail!("no right to install packages; run this, then start again:\n\n    sudo {install}\n");
    };
    println!("installing: {} {install}", prefix.join(" "));
    apt(prefix, &["-q", "update"])?;
    let mut words = vec!["install", "-y", "-q", "--no-install-recommends"];
    words.extend(&packages);
    apt(prefix, &words)?;
    match missing.iter().find(|tool| find(tool.program).is_none()) {
        None => Ok(()),
        Some(tool) => bail!(
            "{} is still missing after installing {}",
            tool.program,
            tool.package
        ),
    }
}

/// The first executable of that name in `PATH`.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

fn nix_is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    Path::new("/proc/self")
        .metadata()
        .is_ok_and(|data| data.uid() == 0)
}

fn sudo_without_password() -> bool {
    find("sudo").is_some()
        && Command::new("sudo")
            .args(["-n", "true"])
            .output()
            .is_ok_and(|out| out.status.success())
}

fn apt(prefix: &[&str], words: &[&str]) -> Result<()> {
    let mut all: Vec<&str> = prefix.to_vec();
    all.push("env");
    all.push("DEBIAN_FRONTEND=noninteractive");
    all.push("apt-get");
    all.extend(words);
    run(Command::new(all[0]).args(&all[1..]))
}
