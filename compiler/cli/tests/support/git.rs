//! Scratch repositories.

use std::process::{Command, Stdio};

use super::{Project, Run, finished};

pub fn git(project: &Project, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t.invalid"])
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args)
        .current_dir(project.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
}

pub fn repository(files: &[(&str, &str)]) -> Project {
    let project = Project::new(files);
    git(&project, &["init", "-q"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-qm", "first"]);
    project
}

/// With git on the search path.
pub fn run(project: &Project, args: &[&str]) -> Run {
    let mut command = project.command(args);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    finished(command.output().unwrap())
}

pub fn last(run: &Run) -> &str {
    run.stdout.lines().last().unwrap_or_default()
}
