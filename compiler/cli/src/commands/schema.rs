//! `chatmdc schema` (spec 10 section 2.10). The schemas themselves are the files of
//! `compiler/cli/schemas`; the one of a tool's input is made from its document.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use chatmd_compiler::diagnostics::nearest::nearest;
use chatmd_compiler::published::{InputSchema, publish};
use chatmd_compiler::{Compilation, SafeText, compile};
use clap::Args;
use serde::Serialize;

use super::{complain, findings, print_human, to_json};
use crate::args::{Common, Reading};
use crate::documents::{Documents, compile_options};
use crate::exit;
use crate::output::Output;
use crate::report::Summary;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

const SCHEMA_END: &str = "\
Exit codes:
  0  success    1  no such schema or tool, or the document has errors
  2  usage error    4  the document cannot be read

Example:
  chatmdc schema tool-input --tool search agent.chatmd";

/// Arguments of `schema`.
#[derive(Args, Debug)]
#[command(after_help = SCHEMA_END)]
pub struct SchemaArgs {
    /// Which schema; without it, they are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// With `tool-input`: the tool
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Reading options.
    #[command(flatten)]
    pub reading: Reading,
    /// With `tool-input`: the document that declares the tool; `-` is standard input
    #[arg(value_name = "DOC")]
    pub document: Option<Utf8PathBuf>,
}

/// Where the text of a schema comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The same for every document.
    Text(&'static str),
    /// From the tool of a document.
    Tool,
    /// What it would describe is not part of this version.
    NotBuilt,
}

use Source::{NotBuilt, Text, Tool};

/// Every name of the specification with what it describes.
const SCHEMAS: &[(&str, Source, &str)] = &[
    (
        "diagnostics",
        Text(include_str!("../../schemas/diagnostics.json")),
        "report of `chatmdc check --format json`",
    ),
    (
        "manifest",
        Text(include_str!("../../schemas/manifest.json")),
        "canonical manifest, and the bundle around it",
    ),
    (
        "authority-diff",
        Text(include_str!("../../schemas/authority-diff.json")),
        "answer of `chatmdc diff --format json`",
    ),
    (
        "graph",
        Text(include_str!("../../schemas/graph.json")),
        "answer of `chatmdc graph --format json`",
    ),
    ("tool-input", Tool, "what one tool takes (--tool NAME DOC)"),
    (
        "tool-result",
        Text(include_str!("../../schemas/tool-result.json")),
        "structured result or error of a call",
    ),
    (
        "audit-event",
        Text(include_str!("../../schemas/audit-event.json")),
        "one line of an audit log",
    ),
    ("hook-request", NotBuilt, "what a hook reads"),
    ("hook-response", NotBuilt, "what a hook answers"),
    ("admin-policy", NotBuilt, "administrative policy file"),
    ("trusted-sources", NotBuilt, "registry of trusted sources"),
    ("signature", NotBuilt, "manifest signature"),
    ("public-keys", NotBuilt, "key set for signatures"),
    ("reviewer-decision", NotBuilt, "answer of a model reviewer"),
    (
        "reviewer-config",
        NotBuilt,
        "configuration of model reviewers",
    ),
    (
        "eval",
        Text(include_str!("../../schemas/eval.json")),
        "answer of `chatmdc eval --format json`",
    ),
    (
        "trace",
        Text(include_str!("../../schemas/trace.json")),
        "steps of a decision",
    ),
    (
        "test-report",
        Text(include_str!("../../schemas/test-report.json")),
        "report of `chatmdc test`",
    ),
    (
        "tests-sidecar",
        Text(include_str!("../../schemas/tests-sidecar.json")),
        "tests beside a document",
    ),
    ("denial-report", NotBuilt, "report of `chatmdc why`"),
    (
        "semantic-diff",
        NotBuilt,
        "answer of `chatmdc diff --semantic`",
    ),
    ("lint-config", NotBuilt, "configuration of lints"),
    ("suggestion", NotBuilt, "answer of `chatmdc suggest`"),
    ("import-report", NotBuilt, "report of `chatmdc import`"),
];

/// Runs the command.
pub fn run(args: &SchemaArgs, common: Common, output: &mut Output) -> u8 {
    let Some(name) = &args.name else {
        if args.tool.is_some() {
            return usage(output, "`--tool` belongs to `chatmdc schema tool-input`");
        }
        output.result(list());
        return exit::OK;
    };
    let known = SCHEMAS.iter().find(|(known, ..)| known == name);
    let Some((_, source, _)) = known else {
        complain(output, &unknown(name));
        return exit::FAILED;
    };
    if !matches!(source, Tool) && (args.tool.is_some() || args.document.is_some()) {
        return usage(
            output,
            &format!("the schema `{name}` takes neither a tool nor a document"),
        );
    }
    match source {
        Text(text) => {
            output.result(text);
            exit::OK
        }
        Tool => tool_input(args, common, output),
        NotBuilt => {
            complain(
                output,
                &format!("this version has no schema `{name}`: what it describes is not built yet"),
            );
            exit::FAILED
        }
    }
}

fn usage(output: &mut Output, message: &str) -> u8 {
    complain(output, message);
    output.message("\nFor more information, try 'chatmdc schema --help'.\n");
    exit::USAGE
}

fn list() -> String {
    let mut text = String::new();
    for (name, source, what) in SCHEMAS {
        let state = if matches!(source, NotBuilt) {
            " (not built yet)"
        } else {
            ""
        };
        let _ = writeln!(text, "{name:17}  {what}{state}");
    }
    text
}

fn unknown(name: &str) -> String {
    let names = SCHEMAS.iter().map(|(known, ..)| *known);
    let advice = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`chatmdc schema` lists them".to_owned(),
    };
    format!("there is no schema `{name}`; {advice}")
}

/// The strict schema of a tool with what makes it a document of its own.
#[derive(Serialize)]
struct ToolSchema<'a> {
    #[serde(rename = "$schema")]
    dialect: &'static str,
    title: &'a str,
    description: &'a str,
    #[serde(flatten)]
    schema: &'a InputSchema,
}

fn tool_input(args: &SchemaArgs, common: Common, output: &mut Output) -> u8 {
    let (Some(tool), Some(document)) = (&args.tool, &args.document) else {
        return usage(
            output,
            "the input of a tool depends on its document: name both, as in `chatmdc schema \
             tool-input --tool search agent.chatmd`",
        );
    };
    let opened = Documents::new(&args.reading).and_then(|mut documents| {
        let root = documents.open(document, &args.reading, None)?;
        Ok((documents, root))
    });
    let (documents, root) = match opened {
        Ok(opened) => opened,
        Err(why) => {
            complain(output, &why.to_string());
            return exit::IO;
        }
    };
    let compilation = compile(&documents.db, root, &compile_options(&args.reading));
    let shown = findings(&compilation, true);
    if compilation.manifest.is_none() {
        print_human(&shown, output);
        if !common.quiet {
            output.message(Summary::of(&[shown]).line());
        }
        return exit::FAILED;
    }
    match published(&compilation, tool) {
        Ok(schema) => {
            output.result(schema);
            exit::OK
        }
        Err(message) => {
            complain(output, &message);
            exit::FAILED
        }
    }
}

fn published(compilation: &Compilation, name: &str) -> Result<String, String> {
    let tools = compilation.manifest.iter().flat_map(|m| &m.tools);
    let Some(tool) = tools.clone().find(|tool| tool.name == name) else {
        let names: Vec<String> = tools
            .map(|tool| format!("`{}`", SafeText::line(&tool.name)))
            .collect();
        let has = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        return Err(format!(
            "the document has no shell tool `{name}`; it has {has}"
        ));
    };
    let compact = compilation.material.commands.get(name).map(String::as_str);
    let tool = publish(tool, compact);
    Ok(to_json(&ToolSchema {
        dialect: DIALECT,
        title: &tool.name,
        description: &tool.description,
        schema: &tool.input_schema,
    }))
}
