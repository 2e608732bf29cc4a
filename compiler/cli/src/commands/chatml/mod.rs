//! `chatmdc chatml`: checking and trying scripts (spec 10 section 2.12). Nothing here reads a
//! document or the host; scripts can not either.

pub mod check;
pub mod eval;
pub mod invoke;
pub mod repl;
pub mod source;

use camino::Utf8PathBuf;
use chatml::surface::Kind;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::args::{CheckFormat, Common, InspectFormat};
use crate::output::Output;

const CHATML_END: &str = "\
Exit codes:
  0  success        1  the script has errors, or its evaluation failed
  2  usage error    4  the script cannot be read

Example:
  chatmdc chatml check --kind shell_reviewer reviewer.chatml";

/// Arguments of `chatml`.
#[derive(Args, Debug)]
#[command(after_help = CHATML_END)]
pub struct Chatml {
    /// What to do.
    #[command(subcommand)]
    pub command: ChatmlCommand,
}

/// The commands for script authors.
#[derive(Debug, Subcommand)]
pub enum ChatmlCommand {
    /// Report every error and warning of a script
    Check(Check),
    /// Evaluate a script, or call its entry function with an event
    Eval(Eval),
    /// Try ChatML line by line
    Repl(Repl),
}

const CHECK_END: &str = "\
Exit codes:
  0  no errors      1  errors
  2  usage error    4  the script cannot be read

Example:
  chatmdc chatml check --kind shell_matcher --types find-exec.chatml";

/// Arguments of `chatml check`.
#[derive(Args, Debug)]
#[command(after_help = CHECK_END)]
pub struct Check {
    /// What the script is for; decides which names it can reach and what it has to define
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    pub kind: Option<Kind>,
    /// Print the name and the type of every top-level definition
    #[arg(long, overrides_with = "types")]
    pub types: bool,
    /// Form of the report
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: CheckFormat,
    /// The script; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: Utf8PathBuf,
}

const EVAL_END: &str = "\
Without --event the value of the last statement is printed. With --event the entry function of
the kind is called once, and its action and the next state are printed as JSON.

JSON stands for values by their type: null for unit, an object for a record, and
{\"tag\":\"Some\",\"args\":[1]} for `Some(1); null for `None too.

Exit codes:
  0  success        1  the script has errors, or its evaluation failed
  2  usage error    4  the script cannot be read

Examples:
  chatmdc chatml eval -e 'Array.map([1, 2], fun n -> n * n)'
  chatmdc chatml eval --kind shell_audit_filter --event \"$(cat event.json)\" filter.chatml";

/// Arguments of `chatml eval`.
#[derive(Args, Debug)]
#[command(after_help = EVAL_END)]
pub struct Eval {
    /// What the script is for; decides which names it can reach
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    pub kind: Option<Kind>,
    /// Form of the answer
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: InspectFormat,
    /// The program itself, instead of a file
    #[arg(
        short = 'e',
        value_name = "PROGRAM",
        allow_hyphen_values = true,
        required_unless_present = "file",
        conflicts_with = "file"
    )]
    pub program: Option<String>,
    /// Call the entry function with this event
    #[arg(long, value_name = "JSON", requires = "kind")]
    pub event: Option<String>,
    /// State to call it with, instead of `initial_state`
    #[arg(
        long,
        value_name = "JSON",
        requires = "event",
        allow_hyphen_values = true
    )]
    pub state: Option<String>,
    /// The script; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: Option<Utf8PathBuf>,
}

const REPL_END: &str = "\
Type an expression to see its value, or a definition to use later. `:help` lists what else there
is. On a terminal the input has history, completion (Tab) and lines that go on while something
is open. Without a terminal the inputs are read from standard input and only results are printed.

Exit codes:
  0  the end of the input, or `:quit`    1  an input failed and there is no terminal
  2  usage error

Example:
  chatmdc chatml repl --kind shell_matcher";

/// Arguments of `chatml repl`.
#[derive(Args, Debug)]
#[command(after_help = REPL_END)]
pub struct Repl {
    /// Names of which kind of script can be reached
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    pub kind: Option<Kind>,
}

/// The names of kinds.
fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::as_str))
        .map(|name| Kind::from_name(&name).unwrap_or(Kind::Core))
}

/// Runs the command.
pub fn run(args: &Chatml, common: Common, output: &mut Output) -> u8 {
    match &args.command {
        ChatmlCommand::Check(args) => check::run(args, common, output),
        ChatmlCommand::Eval(args) => eval::run(args, common, output),
        ChatmlCommand::Repl(args) => repl::run(args, output),
    }
}
