//! The command line as data.

use std::path::PathBuf;
use std::time::Duration;

use camino::Utf8PathBuf;
use chatmd_compiler::SafeText;
use chatmdc::args::Common;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{duration, exit, show};

const MAIN_END: &str = "\
Exit codes:
  0  success        1  the request was understood and failed
  2  usage error    3  refused: authority, trust, session in use
  4  input or output failed    70  internal error    130, 143  interrupted

Example:
  chatmd run agent.chatmd search '{\"arguments\":[\"TODO\",\"src\"]}'";

/// Runs the tools of ChatMD documents under exactly the authority that they declare.
#[derive(Debug, Parser)]
#[command(name = "chatmd", version, after_help = MAIN_END)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Invoke one tool of a document
    Run(Box<Run>),
    /// List the tools of a document as a model sees them
    Tools(Box<Tools>),
    /// Read audit logs
    #[command(after_help = VALIDATE_END)]
    Audit {
        /// What to do with the log.
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Print a completion script for a shell
    Completions(Completions),
}

/// The audit commands.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check that a log is complete and unchanged
    Validate(Validate),
}

/// Options of commands that read a document.
#[derive(Args, Clone, Debug)]
pub struct Reading {
    /// Folder of sessions, grants and the integrity key
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Session to use; without it an ephemeral one
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Value of ${workspace}
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Value of ${tool_dir}
    #[arg(long, value_name = "DIR")]
    pub tool_dir: Option<PathBuf>,
    /// Value of ${session_dir}, with --session
    #[arg(long, value_name = "DIR", requires = "session")]
    pub session_dir: Option<PathBuf>,
    /// Value of ${cache_dir}
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
    /// Value of ${home}
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// KEY=VALUE lines used instead of the environment for `path_env`
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<Utf8PathBuf>,
    /// Platform that the document is compiled for; commands run on this machine only
    #[arg(
        long,
        value_name = "PLATFORM",
        default_value = "current",
        hide_default_value = true
    )]
    #[arg(value_parser = ["current"])]
    pub platform: String,
    /// Largest source file to read, in bytes (at most 67108864)
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20, hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=64 << 20))]
    pub max_source: u64,
    /// Directory of a document read from standard input
    #[arg(long, value_name = "DIR")]
    pub source_dir: Option<PathBuf>,
}

const RUN_END: &str = "\
Exit codes:
  0  the result was delivered, whatever the command's own status
  1  the call failed, or the tool says that an unsuccessful exit is an error
  2  usage error    3  refused    4  input or output failed    130, 143  interrupted

Example:
  chatmd run --authorize-manifest DIGEST agent.chatmd search '{\"arguments\":[\"TODO\",\"src\"]}'";

/// Arguments of `run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_END)]
pub struct Run {
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// Authorize this bound manifest digest for this run
    #[arg(long, value_name = "DIGEST")]
    pub authorize_manifest: Option<String>,
    /// The tool's JSON input
    #[arg(long = "input", value_name = "JSON", conflicts_with_all = ["input_file", "positional_input"])]
    pub input: Option<String>,
    /// File with the tool's JSON input; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "positional_input")]
    pub input_file: Option<PathBuf>,
    /// Why the call is made
    #[arg(long, value_name = "TEXT")]
    pub rationale: Option<String>,
    /// File with the command's standard input
    #[arg(long, value_name = "FILE")]
    pub stdin_file: Option<PathBuf>,
    /// Exit with the command's status, 128 + N for a signal
    #[arg(long)]
    pub exit_status: bool,
    /// Form of the result
    #[arg(long, value_name = "FORM", default_value = "auto")]
    pub result: ResultForm,
    /// Ask nobody: what needs approval is unavailable
    #[arg(long)]
    pub no_approval: bool,
    /// Shorten the wall time, such as 500ms, 20s or 10m
    #[arg(long, value_name = "DUR", value_parser = duration::parse)]
    pub timeout: Option<Duration>,
    /// Document; `-` is standard input
    #[arg(value_name = "DOC")]
    pub document: PathBuf,
    /// Tool name
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// The tool's JSON input; without it `{}`
    #[arg(value_name = "INPUT")]
    pub positional_input: Option<String>,
}

/// `--result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResultForm {
    /// The text that a model would get
    Auto,
    /// The structured object, whatever the tool declares
    Json,
    /// Standard output and standard error of the command
    Text,
}

const TOOLS_END: &str = "\
Exit codes:
  0  success    1  the document has errors, or a runtime can not start
  2  usage error    3  refused    4  input or output failed

Example:
  chatmd tools --format openai agent.chatmd";

/// Arguments of `tools`.
#[derive(Args, Debug)]
#[command(after_help = TOOLS_END)]
pub struct Tools {
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// Form of the list
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: ToolsFormat,
    /// Also start every runtime and report its backend
    #[arg(long)]
    pub live: bool,
    /// Authorize this bound manifest digest for --live
    #[arg(long, value_name = "DIGEST", requires = "live")]
    pub authorize_manifest: Option<String>,
    /// Document; `-` is standard input
    #[arg(value_name = "DOC")]
    pub document: PathBuf,
}

/// `--format` of `tools`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum ToolsFormat {
    Human,
    Json,
    Openai,
    Anthropic,
    Mcp,
}

const VALIDATE_END: &str = "\
Exit codes:
  0  the log is valid    1  it is not    2  usage error    4  it can not be read

Example:
  chatmd audit validate ~/.local/state/chatmd/sessions/demo/.chatmd/shell-audit.jsonl";

/// Arguments of `audit validate`.
#[derive(Args, Debug)]
#[command(after_help = VALIDATE_END)]
pub struct Validate {
    /// Fail when the log is not chained
    #[arg(long)]
    pub require_chain: bool,
    /// Fail on an unfinished last line
    #[arg(long)]
    pub strict: bool,
    /// Folder that holds the integrity key
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Form of the report
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: ReportFormat,
    /// The log; `-` is standard input
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

/// `--format` of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum ReportFormat {
    Human,
    Json,
}

const COMPLETIONS_END: &str = "\
Exit codes:
  0  success    2  usage error

Example:
  chatmd completions bash > ~/.local/share/bash-completion/completions/chatmd";

/// Arguments of `completions`.
#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_END)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Help and version go to standard output with success, all else is a usage error. The text may
/// quote arguments, so it is escaped.
pub fn usage(error: &clap::Error) -> u8 {
    let rendered = error.render().to_string();
    let mut text = SafeText::lines(&rendered).into_string();
    if rendered.contains("--authorize-shell-manifest") {
        text.push_str("  the option is --authorize-manifest DIGEST\n");
    }
    if error.use_stderr() {
        show::message(&text);
        return exit::USAGE;
    }
    match show::result(text.as_bytes()) {
        Ok(()) => exit::OK,
        Err(stop) => stop.report(),
    }
}
