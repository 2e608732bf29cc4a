//! `chatmdc init` (spec 10 section 2.9).

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::{CompileOptions, SafeText, compile};
use clap::{Args, ValueEnum};

use super::{complain, findings, print_human};
use crate::args::Common;
use crate::output::Output;
use crate::{exit, files};

/// The file that is written.
const FILE: &str = "agent.chatmd";

const INIT_END: &str = "\
Exit codes:
  0  written    1  there is an agent.chatmd already; it stays as it is
  2  usage error    4  the file cannot be written

Example:
  chatmdc init --profile development agents/build";

/// Arguments of `init`.
#[derive(Args, Debug)]
#[command(after_help = INIT_END)]
pub struct Init {
    /// What the agent may do: look at files, or build and change them
    #[arg(long, value_name = "PROFILE", default_value = "readonly")]
    pub profile: Profile,
    /// Name of the tool that is declared
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Print the document instead of writing it
    #[arg(long, overrides_with = "stdout")]
    pub stdout: bool,
    /// Folder of the document; it is made when missing
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub directory: Utf8PathBuf,
}

/// Starting points. There is no unconfined one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// Text search, read-only, without a question
    Readonly,
    /// `make` in the workspace, everything else asked about
    Development,
}

const READONLY: &str = include_str!("init/readonly.chatmd");
const DEVELOPMENT: &str = include_str!("init/development.chatmd");

/// Runs the command.
pub fn run(args: &Init, common: Common, output: &mut Output) -> u8 {
    let (template, default) = match args.profile {
        Profile::Readonly => (READONLY, "search"),
        Profile::Development => (DEVELOPMENT, "build"),
    };
    let tool = args.tool.as_deref().unwrap_or(default);
    if !is_tool_name(tool) {
        complain(
            output,
            &format!(
                "`{tool}` cannot name a tool: 1 to 64 letters, digits, `_` and `-` of ASCII can"
            ),
        );
        return exit::USAGE;
    }
    let text = template.replace("TOOL", tool);
    if !is_clean(&text, output) {
        complain(
            output,
            &format!("a starter document with the tool `{tool}` would not be correct"),
        );
        return exit::FAILED;
    }
    if args.stdout {
        output.result(text);
        return exit::OK;
    }
    write(args, common, &text, output)
}

fn is_tool_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(legal)
}

/// What is written has no finding at all; otherwise they are shown.
fn is_clean(text: &str, output: &mut Output) -> bool {
    let mut db = Database::new(MemoryFileSystem::default());
    let bytes = Ok(text.as_bytes().into());
    let root = db.root_from_content(FILE, Utf8Path::new("/"), bytes, None);
    let compilation = compile(&db, root, &CompileOptions::for_this_machine());
    let shown = findings(&compilation, false);
    print_human(&shown, output);
    shown.shown.is_empty()
}

fn write(args: &Init, common: Common, text: &str, output: &mut Output) -> u8 {
    let directory = &args.directory;
    let path = if directory == "." {
        Utf8PathBuf::from(FILE)
    } else {
        directory.join(FILE)
    };
    let written =
        std::fs::create_dir_all(directory).and_then(|()| files::create(&path, text.as_bytes()));
    match written {
        Ok(()) => {
            if !common.quiet {
                let path = SafeText::line(path.as_str());
                output.message(format!(
                    "wrote {path}; `chatmdc inspect {path}` shows what it may do\n"
                ));
            }
            exit::OK
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && !directory.is_file() => {
            complain(output, &format!("`{path}` exists; it stays as it is"));
            exit::FAILED
        }
        Err(error) => {
            complain(output, &format!("cannot write `{path}`: {error}"));
            exit::IO
        }
    }
}
