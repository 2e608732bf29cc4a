//! `chatmdc manifest` (spec 10 section 2.3).

use chatmd_compiler::Compilation;
use chatmd_compiler::manifest::{self, Manifest, bundle};

use super::{complain, findings, print_human, refuse};
use crate::args::{Common, ManifestArgs};
use crate::documents::{Documents, compilation};
use crate::output::Output;
use crate::report::Summary;
use crate::{exit, files, live};

/// Runs the command.
pub fn run(args: &ManifestArgs, common: Common, output: &mut Output) -> u8 {
    if args.pretty && args.output.is_some() && !args.force {
        complain(
            output,
            "indented JSON does not have the manifest's digest: writing it to a file needs --force",
        );
        return exit::USAGE;
    }
    let opened = Documents::new(&args.reading).and_then(|mut documents| {
        let root = documents.open(&args.document, &args.reading, None)?;
        Ok((documents, root))
    });
    let (documents, root) = match opened {
        Ok(opened) => opened,
        Err(why) => {
            complain(output, &why.to_string());
            return exit::IO;
        }
    };
    let compilation = match compilation(&documents.db, root, &args.reading, documents.cwd()) {
        Ok(compilation) => compilation,
        Err(why) => return refuse(&args.document, &why, output),
    };
    let shown = findings(&compilation, common.quiet);
    print_human(&shown, output);
    let Some(requested) = &compilation.manifest else {
        if !common.quiet {
            output.message(Summary::of(&[shown]).line());
        }
        return exit::FAILED;
    };
    let mut bound = String::new();
    let made = text(
        args,
        &compilation,
        requested,
        &documents,
        output,
        &mut |live| {
            bound = super::inspect::binding_findings(&live.findings, common.quiet);
        },
    );
    output.message(&bound);
    match made {
        Ok(text) => deliver(args, &text, output),
        Err(message) => {
            complain(output, &message);
            exit::FAILED
        }
    }
}

/// The bytes to deliver, or why there are none. `bound` sees what was bound.
fn text(
    args: &ManifestArgs,
    compilation: &Compilation,
    requested: &Manifest,
    documents: &Documents,
    output: &Output,
    bound: &mut dyn FnMut(&live::Live),
) -> Result<Vec<u8>, String> {
    if args.bundle {
        let scripts = &compilation.material.scripts;
        return bundle::write(requested, scripts)
            .map_err(|error| format!("{}: {}", error.code, error.message));
    }
    let text = |error: manifest::ManifestError| error.to_string();
    let bind = || {
        let environment = live::environment(&args.reading)?;
        live::bind(&args.reading, environment, compilation, documents).map_err(|why| why.reason)
    };
    if args.digest && !args.bound && output.stdout_is_terminal && args.output.is_none() {
        let requested = manifest::digest(requested).map_err(text)?;
        let bound = bind().map_or_else(|why| format!("unavailable ({why})"), |live| live.sha256);
        return Ok(format!("requested  {requested}\nbound      {bound}\n").into_bytes());
    }
    let live;
    let selected = if args.bound {
        live = bind()?;
        bound(&live);
        &live.manifest
    } else {
        requested
    };
    if args.digest {
        return Ok(format!("{}\n", manifest::digest(selected).map_err(text)?).into_bytes());
    }
    if args.pretty {
        let value = manifest::to_value(selected).map_err(text)?;
        return Ok(format!("{value:#}\n").into_bytes());
    }
    let mut bytes = manifest::to_bytes(selected).map_err(text)?;
    if output.stdout_is_terminal && args.output.is_none() {
        bytes.push(b'\n');
    }
    Ok(bytes)
}

fn deliver(args: &ManifestArgs, bytes: &[u8], output: &mut Output) -> u8 {
    match &args.output {
        None => {
            output.result(bytes);
            exit::OK
        }
        Some(path) => match files::replace(path, bytes) {
            Ok(()) => exit::OK,
            Err(error) => {
                complain(output, &format!("cannot write `{path}`: {error}"));
                exit::IO
            }
        },
    }
}
