//! Writes the manual pages of `chatmdc` into a folder, for `cargo xtask man`.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let Some(folder) = folder else {
        eprintln!("usage: man FOLDER");
        std::process::exit(2);
    };
    std::fs::create_dir_all(&folder)?;
    let command = chatmdc::args::Cli::command();
    clap_mangen::generate_to(command, &folder)?;
    listed(&folder)
}

/// One line for each page, sorted.
fn listed(folder: &Path) -> std::io::Result<()> {
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder)?.collect();
    let mut names: Vec<_> = entries?.into_iter().map(|entry| entry.path()).collect();
    names.sort();
    for name in names {
        println!("{}", name.display());
    }
    Ok(())
}
