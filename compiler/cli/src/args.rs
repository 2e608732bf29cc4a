//! The command line as data.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};

const MAIN_END: &str = "\
Exit codes:
  0  success        1  the documents have errors, or the request failed
  2  usage error    3  refused by policy, trust or signature
  4  input or output failed    70  internal error    130, 143  interrupted

Example:
  chatmdc check agent.chatmd";

/// Compiles ChatMD documents and shows exactly what they may run. Never runs anything itself.
#[derive(Debug, Parser)]
#[command(name = "chatmdc", version, after_help = MAIN_END)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
}

/// Options of every command.
#[derive(Args, Clone, Copy, Debug)]
pub struct Common {
    /// Colour in human output
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        overrides_with = "color"
    )]
    pub color: ColorChoice,
    /// Print errors only
    #[arg(short, long, global = true, overrides_with = "quiet")]
    pub quiet: bool,
    /// Print more detail
    #[arg(short, long, global = true, overrides_with = "verbose")]
    pub verbose: bool,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report every error and warning of documents
    Check(Check),
    /// Show the authority that a document asks for
    Inspect(Inspect),
    /// Print the canonical manifest of a document, or its digest
    Manifest(ManifestArgs),
    /// Show what one document, manifest or bundle permits that another does not
    Diff(DiffArgs),
    /// Run the tests in documents and beside them
    Test(TestArgs),
    /// Show what would become of one tool call here, and why
    Eval(crate::commands::eval::EvalArgs),
    /// Explain a diagnostic code
    Explain(Explain),
    /// Show what depends on what in a document
    Graph(GraphArgs),
    /// Lay out the declarations of documents; messages and scripts stay as they are
    Fmt(Fmt),
    /// Write a starter document
    Init(crate::commands::init::Init),
    /// Print the JSON Schema of something that these programs read or write
    Schema(crate::commands::schema::SchemaArgs),
    /// Check and try ChatML scripts
    Chatml(crate::commands::chatml::Chatml),
    /// Run the language server; editors start it
    Lsp(Lsp),
    /// Print a completion script for a shell
    Completions(Completions),
}

/// Options of commands that read documents.
#[derive(Args, Clone, Debug)]
pub struct Reading {
    /// Target platform
    #[arg(long, value_name = "PLATFORM", default_value = "current")]
    pub platform: PlatformChoice,
    /// Value of ${workspace}
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<Utf8PathBuf>,
    /// Value of ${tool_dir}
    #[arg(long, value_name = "DIR")]
    pub tool_dir: Option<Utf8PathBuf>,
    /// Value of ${session_dir}
    #[arg(long, value_name = "DIR")]
    pub session_dir: Option<Utf8PathBuf>,
    /// Value of ${cache_dir}
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<Utf8PathBuf>,
    /// Value of ${home}
    #[arg(long, value_name = "DIR")]
    pub home: Option<Utf8PathBuf>,
    /// KEY=VALUE lines used instead of the environment for `path_env`
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<Utf8PathBuf>,
    /// Largest file to read, in bytes (at most 67108864)
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20, hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=64 << 20))]
    pub max_source: u64,
    /// Directory of a document read from standard input, or of the sources of a bundle
    #[arg(long, value_name = "DIR")]
    pub source_dir: Option<Utf8PathBuf>,
}

/// `--platform`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum PlatformChoice {
    Macos,
    Linux,
    Windows,
    /// The platform of this machine
    Current,
}

const CHECK_END: &str = "\
Exit codes:
  0  no errors    1  errors (with --deny-warnings also warnings)
  2  usage error  4  a document cannot be read (the others are still checked)

Example:
  chatmdc check --format concise agents/review.chatmd agents/build.chatmd";

/// Arguments of `check`.
#[derive(Args, Debug)]
#[command(after_help = CHECK_END)]
pub struct Check {
    /// Form of the report
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: CheckFormat,
    /// Fail on warnings too
    #[arg(long, overrides_with = "deny_warnings")]
    pub deny_warnings: bool,
    /// Do not report this warning (may be repeated)
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<String>,
    /// Report this warning as an error (may be repeated)
    #[arg(long, value_name = "CODE")]
    pub deny: Vec<String>,
    /// Report findings of administrative policy, trust and signature too
    #[arg(long, overrides_with = "admin")]
    pub admin: bool,
    /// Do not run the tests in the documents and beside them
    #[arg(long, overrides_with = "no_tests")]
    pub no_tests: bool,
    /// Name to show for a document read from standard input
    #[arg(long, value_name = "FILE")]
    pub stdin_name: Option<Utf8PathBuf>,
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// Documents; `-` is standard input
    #[arg(required = true, value_name = "DOC")]
    pub documents: Vec<Utf8PathBuf>,
}

/// Forms of the report of `check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Source with labels, for reading
    Human,
    /// One line for each finding
    Concise,
    /// One JSON object
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

const TEST_END: &str = "\
Tests are comments `expect VERB: COMMAND` in a document, and lines of NAME.chatmd.tests.jsonl beside
it. They look at no fact of this machine. GLOB may hold * and ?, and is compared with FILE:LINE,
runtime, tool, rules, name and text of a test.

Exit codes:
  0  all passed     1  a test failed, or a document has errors
  2  usage error    4  a document or a file of tests cannot be read

Example:
  chatmdc test --coverage --mutate agent.chatmd";

/// Arguments of `test`.
#[derive(Args, Debug)]
#[command(after_help = TEST_END)]
pub struct TestArgs {
    /// Form of the report
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: TestFormat,
    /// Only tests that match (may be repeated: any)
    #[arg(long, value_name = "GLOB")]
    pub filter: Vec<String>,
    /// A further file of tests (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub tests: Vec<Utf8PathBuf>,
    /// Show failed tests only
    #[arg(long, overrides_with = "failed_only")]
    pub failed_only: bool,
    /// Count for each rule, ceiling and tool the tests in which it decided
    #[arg(long, overrides_with = "coverage")]
    pub coverage: bool,
    /// Change rules and ceilings one by one, and show the changes that no test notices
    #[arg(long, overrides_with = "mutate")]
    pub mutate: bool,
    /// Fail on warnings, on survivors of --mutate and on zero rows of --coverage too
    #[arg(long, overrides_with = "deny_warnings")]
    pub deny_warnings: bool,
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// Documents; `-` is standard input
    #[arg(required = true, value_name = "DOC")]
    pub documents: Vec<Utf8PathBuf>,
}

/// Forms of `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    /// For reading
    Human,
    /// One JSON object
    Json,
    /// JUnit XML
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

const INSPECT_END: &str = "\
Exit codes:
  0  success         1  the document has errors
  2  usage error     3  findings of administrative policy, trust or signature
  4  the document cannot be read

Example:
  chatmdc inspect agent.chatmd";

/// Arguments of `inspect`.
#[derive(Args, Debug)]
#[command(after_help = INSPECT_END)]
pub struct Inspect {
    /// Add the canonical requested manifest (alone with --quiet)
    #[arg(long, overrides_with = "canonical")]
    pub canonical: bool,
    /// Form of the output
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: InspectFormat,
    /// Do not look at directories, files and variables of this machine
    #[arg(long, overrides_with = "no_live")]
    pub no_live: bool,
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// The document; `-` is standard input
    #[arg(value_name = "DOC")]
    pub document: Utf8PathBuf,
}

/// Forms of `inspect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InspectFormat {
    /// For reading
    Human,
    /// One JSON object
    Json,
}

const MANIFEST_END: &str = "\
Exit codes:
  0  success         1  the document has errors
  2  usage error     4  the document cannot be read, or the output not written

Example:
  chatmdc manifest --digest agent.chatmd";

/// Arguments of `manifest`.
#[derive(Args, Debug)]
#[command(after_help = MANIFEST_END)]
pub struct ManifestArgs {
    /// The bound manifest of this machine instead of the requested one
    #[arg(long, overrides_with = "bound")]
    pub bound: bool,
    /// Print the digest only
    #[arg(long, overrides_with = "digest", conflicts_with_all = ["pretty", "bundle"])]
    pub digest: bool,
    /// Indent the JSON; such bytes do not have the manifest's digest
    #[arg(long, overrides_with = "pretty", conflicts_with = "bundle")]
    pub pretty: bool,
    /// A compiled bundle that runs without its sources
    #[arg(long, overrides_with = "bundle", conflicts_with = "bound")]
    pub bundle: bool,
    /// With --pretty: write indented JSON to a file all the same
    #[arg(long, overrides_with = "force", requires = "pretty")]
    pub force: bool,
    /// Write to a file, which is replaced whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<Utf8PathBuf>,
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// The document; `-` is standard input
    #[arg(value_name = "DOC")]
    pub document: Utf8PathBuf,
}

const DIFF_END: &str = "\
An operand is a document, a manifest, a bundle, or git:REV:PATH (with --allow-git).
`+` is added, `-` removed, `~` changed. Widening permits more, narrowing less, neutral neither;
mixed may permit more and counts as widening.

Exit codes:
  0  nothing to fail on    1  --fail-on is met, or an operand does not compile
  2  usage error           4  an operand cannot be read

Example:
  chatmdc diff --allow-git git:main:agent.chatmd agent.chatmd
  chatmdc diff --against git:HEAD agents/review.chatmd agents/build.chatmd
  chatmdc diff --against git:HEAD";

/// Arguments of `diff`.
#[derive(Args, Debug)]
#[command(after_help = DIFF_END)]
pub struct DiffArgs {
    /// Compare what the documents mean on this machine
    #[arg(long, overrides_with = "bound")]
    pub bound: bool,
    /// Form of the answer
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: DiffFormat,
    /// Which verdict fails
    #[arg(long, value_name = "WHAT", default_value = "widening")]
    pub fail_on: FailOn,
    /// Allow operands of the form git:REV:PATH, which are read by git without running hooks
    #[arg(long, overrides_with = "allow_git")]
    pub allow_git: bool,
    /// Compare each file, or without files every `*.chatmd` that git tracks, with itself in that
    /// revision; a file that is not there yet adds everything
    #[arg(long, value_name = "git:REV")]
    pub against: Option<String>,
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// OLD and NEW; with --against any number of files
    #[arg(required_unless_present = "against", value_name = "OPERAND")]
    pub operands: Vec<Utf8PathBuf>,
}

/// Forms of `diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For reading
    Human,
    /// One JSON object
    Json,
    /// Annotations of GitHub Actions
    Github,
}

/// `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Nothing
    None,
    /// Any difference of the digests
    Any,
    /// Wider authority, or authority that may be wider
    Widening,
}

const EXPLAIN_END: &str = "\
Exit codes:
  0  success    1  unknown code    2  usage error

Example:
  chatmdc explain chatmd.import_cycle";

/// Arguments of `explain`.
#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_END)]
pub struct Explain {
    /// Form of the output
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: InspectFormat,
    /// List every code
    #[arg(long, overrides_with = "list")]
    pub list: bool,
    /// The code
    #[arg(
        value_name = "CODE",
        required_unless_present = "list",
        conflicts_with = "list"
    )]
    pub code: Option<String>,
}

const GRAPH_END: &str = "\
Kinds for --only: file, runtime, profile, tool, script, hook, worker, agent, executable, backend,
moderator.

Exit codes:
  0  success    1  the document has errors or a cycle; what is known is shown
  2  usage error    4  the document cannot be read

Example:
  chatmdc graph --format dot agent.chatmd | dot -Tsvg > agent.svg";

/// Arguments of `graph`.
#[derive(Args, Debug)]
#[command(after_help = GRAPH_END)]
pub struct GraphArgs {
    /// Form of the output
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        overrides_with = "format"
    )]
    pub format: GraphFormat,
    /// Show nodes of this kind only (may be repeated)
    #[arg(long, value_name = "KIND")]
    pub only: Vec<GraphKind>,
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// The document; `-` is standard input
    #[arg(value_name = "DOC")]
    pub document: Utf8PathBuf,
}

/// Forms of `graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For reading
    Human,
    /// One JSON object
    Json,
    /// Graphviz
    Dot,
    /// Mermaid, as Markdown pages show it
    Mermaid,
}

/// Kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum GraphKind {
    File,
    Runtime,
    Profile,
    Tool,
    Script,
    Hook,
    /// Runtimes that run hooks
    Worker,
    Agent,
    Executable,
    Backend,
    Moderator,
}

const FMT_END: &str = "\
Exit codes:
  0  done, or nothing to do    1  a document has syntax errors, or --check found work
  2  usage error    4  a document cannot be read or written

Example:
  chatmdc fmt --check agents/review.chatmd";

/// Arguments of `fmt`.
#[derive(Args, Debug)]
#[command(after_help = FMT_END)]
pub struct Fmt {
    /// Write nothing; list the documents that would change and fail if there are any
    #[arg(long, overrides_with = "check")]
    pub check: bool,
    /// Write nothing; print what would change
    #[arg(long, overrides_with = "diff")]
    pub diff: bool,
    /// Read standard input and write the result to standard output
    #[arg(long, overrides_with = "stdin", conflicts_with = "documents")]
    pub stdin: bool,
    /// Documents; `-` alone is the same as --stdin
    #[arg(value_name = "DOC", required_unless_present = "stdin")]
    pub documents: Vec<Utf8PathBuf>,
}

const COMPLETIONS_END: &str = "\
Exit codes:
  0  success    2  usage error

Example:
  chatmdc completions bash > ~/.local/share/bash-completion/completions/chatmdc";

/// Arguments of `completions`.
#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_END)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

const LSP_END: &str = "\
Exit codes:
  0  the editor shut the server down    1  it ended any other way    2  usage error

Example:
  chatmdc lsp --log chatmd-lsp.log --log-level info";

/// Arguments of `lsp`.
#[derive(Args, Debug)]
#[command(version, after_help = LSP_END)]
pub struct Lsp {
    /// Talk on standard input and output (the default)
    #[arg(long, conflicts_with = "pipe")]
    pub stdio: bool,
    /// Connect to a local socket that the editor listens on
    #[arg(long, value_name = "NAME")]
    pub pipe: Option<Utf8PathBuf>,
    /// End soon after this process
    #[arg(long = "clientProcessId", value_name = "N")]
    pub client_process_id: Option<u32>,
    /// Write the log to a file instead of standard error
    #[arg(long, value_name = "FILE")]
    pub log: Option<Utf8PathBuf>,
    /// How much to log
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    pub log_level: LogLevel,
    /// Answer the requests that only tests send
    #[arg(long, hide = true)]
    pub test_requests: bool,
}

/// `--log-level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}
