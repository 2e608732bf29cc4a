//! `chatmdc manifest` (spec 10 section 2.3).

use chatmd_compiler::manifest::{self, Manifest};
use chatmd_compiler::{Compilation, compile};

use super::{complain, findings, print_human};
use crate::args::{Common, ManifestArgs};
use crate::documents::{Documents, compile_options};
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
    let compilation = compile(&documents.db, root, &compile_options(&args.reading));
    let shown = findings(&compilation, common.quiet);
    print_human(&shown, output);
    let Some(requested) = &compilation.manifest else {
        if !common.quiet {
            output.message(Summary::of(&[shown]).line());
        }
        return exit::FAILED;
    };
    match text(args, &compilation, requested, &documents, output) {
        Ok(text) => deliver(args, &text, output),
        Err(message) => {
            complain(output, &message);
            exit::FAILED
        }
    }
}

/// The bytes to deliver, or why there are none.
fn text(
    args: &ManifestArgs,
    compilation: &Compilation,
    requested: &Manifest,
    documents: &Documents,
    output: &Output,
) -> Result<Vec<u8>, String> {
    if args.bundle {
        return bundle(compilation, requested);
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

/// The compiled bundle (spec 04 section 8.10).
fn bundle(compilation: &Compilation, requested: &Manifest) -> Result<Vec<u8>, String> {
    if let Some((runtime, _)) = compilation.material.literals.keys().next() {
        return Err(format!(
            "shell.manifest_material_missing: runtime `{runtime}` has literal secrets, which are \
             never part of a bundle"
        ));
    }
    let payload = manifest::to_value(requested).map_err(|e| e.to_string())?;
    let scripts: serde_json::Map<String, serde_json::Value> = compilation
        .material
        .scripts
        .iter()
        .map(|(id, text)| (id.clone(), serde_json::Value::from(&**text)))
        .collect();
    let bundle = serde_json::json!({
        "format": "chatmd.shell.bundle.v1",
        "payload": payload,
        "manifest_sha256": null,
        "requested_sha256": compilation.requested_sha256,
        "material": { "scripts": scripts },
    });
    manifest::json::canonical(&bundle).map_err(|error| error.to_string())
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
