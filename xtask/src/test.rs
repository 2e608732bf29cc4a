//! `cargo xtask test`: cheap checks first, then every test.

use std::time::Instant;

use anyhow::Result;

use crate::process::{self, cargo};
use crate::tools::{TEST_TOOLS, ensure};

/// Runs the whole suite; the last lines are `cargo test`'s own summary.
fn step(title: &str, command: &mut std::process::Command) -> Result<()> {
    println!("\n== {title}");
    let started = Instant::now();
    process::run(command)?;
    println!("== {title}: {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Format, lints, docs, binaries, tests.
pub fn run() -> Result<()> {
    ensure(TEST_TOOLS)?;
    step("format", cargo().args(["fmt", "--all", "--check"]))?;
    step(
        "lints",
        cargo().args([
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ]),
    )?;
    step(
        "docs",
        cargo()
            .args([
                "doc",
                "--workspace",
                "--no-deps",
                "--locked",
                "--document-private-items",
            ])
            // Private items are documented too, so links to them do lead somewhere.
            .env(
                "RUSTDOCFLAGS",
                "-D warnings -A rustdoc::private_intra_doc_links",
            ),
    )?;
    // Tests of one package that start the program of another find it beside themselves.
    step(
        "programs",
        cargo().args(["build", "--workspace", "--bins", "--locked"]),
    )?;
    step(
        "tests",
        cargo()
            .args(["test", "--workspace", "--locked"])
            .env("INSTA_UPDATE", "no"),
    )
}
