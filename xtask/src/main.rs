//! Project automation: `cargo xtask demo | test | bench | fuzz | soundness | man`.

mod bench;
mod demo;
mod fuzz;
mod man;
mod process;
mod soundness;
mod test;
mod tools;

use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask COMMAND

  demo    from a ChatMD document to a sandboxed command, step by step
  test    everything that has to hold: format, lints, docs, every fuzz target for 60 seconds, every
          test of every crate; with `--fuzz-seconds N` each target runs for N seconds
  bench   benchmarks beside their anchors (release build, several minutes)
  fuzz    every fuzz target, or TARGET, for SECONDS (default 60); finds go to corpus/hostile
  soundness  generated ChatML programs (100,000, or as many as told) that must not go wrong, and the
          proof that the generator notices a checker that is broken on purpose
  man     manual pages into a folder (default target/man)

`demo` and `test` install what they need with apt-get when they may, and say so first.";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    let result = match command.as_str() {
        "demo" if rest.is_empty() => demo::run(),
        "test" => test::run(&rest),
        "bench" => bench::run(&rest),
        "fuzz" => fuzz::run(&rest),
        "soundness" => soundness::run(&rest),
        "man" if rest.len() < 2 => man::run(rest.first().map(String::as_str)),
        "-h" | "--help" | "help" => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
