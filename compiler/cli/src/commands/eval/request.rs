//! Which tool or runtime is meant, and the request that the arguments make.

use chatmd_compiler::diagnostics::nearest::nearest;
use chatmd_compiler::evaluation::RequestText;
use chatmd_compiler::manifest::{Manifest, Mode, Runtime, Tool};

use super::{EvalArgs, Stop};

/// Whose input it is.
pub(super) struct Target<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) tool: Option<&'a Tool>,
}

/// The tool, else the runtime; without either, the only one there is.
pub(super) fn target<'a>(args: &EvalArgs, manifest: &'a Manifest) -> Result<Target<'a>, Stop> {
    let tools: Vec<&str> = manifest.tools.iter().map(|it| it.name.as_str()).collect();
    let runtimes: Vec<&str> = manifest.runtimes.iter().map(|it| it.id.as_str()).collect();
    if let Some(name) = &args.tool {
        let found = manifest.tools.iter().find(|tool| tool.name == *name);
        let tool = found.ok_or_else(|| unknown("tool", name, &tools))?;
        return of_tool(manifest, tool);
    }
    if let Some(id) = &args.runtime {
        let found = manifest.runtimes.iter().find(|runtime| runtime.id == *id);
        let runtime = found.ok_or_else(|| unknown("runtime", id, &runtimes))?;
        return Ok(Target {
            runtime,
            tool: None,
        });
    }
    match (manifest.tools.as_slice(), manifest.runtimes.as_slice()) {
        ([tool], _) => of_tool(manifest, tool),
        ([], [runtime]) => Ok(Target {
            runtime,
            tool: None,
        }),
        ([], []) => Err(Stop::failed(
            "the document declares no shell tool and no runtime",
        )),
        ([], _) => Err(Stop::usage(format!(
            "name the runtime with --runtime: {}",
            runtimes.join(", ")
        ))),
        _ => Err(Stop::usage(format!(
            "name the tool with --tool: {}",
            tools.join(", ")
        ))),
    }
}

fn of_tool<'a>(manifest: &'a Manifest, tool: &'a Tool) -> Result<Target<'a>, Stop> {
    let mut runtimes = manifest.runtimes.iter();
    let runtime = runtimes
        .find(|runtime| runtime.id == tool.runtime)
        .ok_or_else(|| Stop::failed("the tool's runtime is not in the manifest"))?;
    Ok(Target {
        runtime,
        tool: Some(tool),
    })
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Stop {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => format!("; the document declares no {what}"),
        None => format!("; there are {}", known.join(", ")),
    };
    Stop::usage(format!("there is no {what} `{name}`{hint}"))
}

/// The request in the form that the target takes.
pub(super) fn text(args: &EvalArgs, tool: Option<&Tool>) -> Result<RequestText, Stop> {
    if let Some(input) = &args.input {
        return match tool {
            Some(_) => Ok(RequestText::Json(input.clone())),
            None => Err(Stop::usage(
                "--input is the input of a tool; give a command after `--`",
            )),
        };
    }
    let one = |what: &str| match args.argv.as_slice() {
        [text] => Ok(text.clone()),
        _ => Err(Stop::usage(format!("give {what} as one word after `--`"))),
    };
    match tool.map(|tool| &tool.mode) {
        Some(Mode::Fixed { .. } | Mode::Script { .. }) => Ok(RequestText::Argv(args.argv.clone())),
        _ if args.argv.is_empty() => Err(Stop::usage(
            "nothing to evaluate: give --input JSON, or a command after `--`",
        )),
        Some(Mode::Raw { .. }) => one("the script").map(RequestText::Script),
        // A chain is one text; several words are one simple command of it.
        Some(Mode::Chain {}) if args.argv.len() == 1 => one("the chain").map(RequestText::Command),
        _ => Ok(RequestText::Argv(args.argv.clone())),
    }
}
