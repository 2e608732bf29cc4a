//! `chatmdc fmt` (spec 10 section 2.7, 01 section 19).

use std::io::Read as _;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::db::{Database, FileSystem as _, MAX_FILE_BYTES, OsFileSystem};
use chatmd_compiler::manifest::comparison_form;
use chatmd_compiler::{CompileOptions, SafeText, compile};

use super::{complain, print_human};
use crate::args::{Common, Fmt};
use crate::documents::STDIN;
use crate::output::Output;
use crate::report::Findings;
use crate::{exit, files};

/// What became of one document.
enum Outcome {
    Unchanged,
    Changed(String),
    /// The document has syntax errors, which were printed.
    Refused,
    /// The result would not mean the same: a bug of the formatter.
    Unsound,
}

/// Runs the command.
pub fn run(args: &Fmt, common: Common, output: &mut Output) -> u8 {
    let from_stdin = args.documents.iter().any(|path| path == "-");
    if args.stdin || from_stdin && args.documents.len() == 1 {
        return standard_input(args, common, output);
    }
    if from_stdin {
        complain(
            output,
            "`-` formats standard input to standard output: it goes with no other document",
        );
        output.message("\nFor more information, try 'chatmdc fmt --help'.\n");
        return exit::USAGE;
    }
    let mut code = exit::OK;
    for path in &args.documents {
        if path.is_dir() {
            complain(
                output,
                &format!("`{path}` is a directory; name the documents in it"),
            );
            return exit::USAGE;
        }
    }
    for path in &args.documents {
        code = code.max(document(args, common, path, output));
    }
    code
}

fn standard_input(args: &Fmt, common: Common, output: &mut Output) -> u8 {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes);
    if let Err(error) = read {
        complain(output, &format!("cannot read standard input: {error}"));
        return exit::IO;
    }
    let outcome = format(Utf8Path::new(STDIN), &bytes, output);
    let text = match &outcome {
        Outcome::Unchanged => String::from_utf8_lossy(&bytes).into_owned(),
        Outcome::Changed(text) => text.clone(),
        Outcome::Refused => return exit::FAILED,
        Outcome::Unsound => return unsound(STDIN, output),
    };
    let changed = matches!(outcome, Outcome::Changed(_));
    if args.diff && changed {
        output.result(difference(STDIN, &bytes, &text));
    } else if !args.diff && !args.check {
        output.result(text);
    }
    if args.check && changed {
        if !args.diff && !common.quiet {
            output.result(format!("{STDIN}\n"));
        }
        exit::FAILED
    } else {
        exit::OK
    }
}

fn document(args: &Fmt, common: Common, path: &Utf8PathBuf, output: &mut Output) -> u8 {
    // The file behind a link is rewritten, not the link.
    let system = OsFileSystem::default();
    let absolute = match std::path::absolute(path).map(Utf8PathBuf::from_path_buf) {
        Ok(Ok(absolute)) => absolute,
        _ => path.clone(),
    };
    let loaded = system
        .locate(&absolute)
        .and_then(|located| Ok((system.read(&located.canonical)?, located.canonical)));
    let (bytes, target) = match loaded {
        Ok(loaded) => loaded,
        Err(why) => {
            complain(output, &format!("cannot read `{path}`: {why}"));
            return exit::IO;
        }
    };
    let text = match format(path, &bytes, output) {
        Outcome::Unchanged => return exit::OK,
        Outcome::Refused => return exit::FAILED,
        Outcome::Unsound => return unsound(path.as_str(), output),
        Outcome::Changed(text) => text,
    };
    if args.diff {
        output.result(difference(path.as_str(), &bytes, &text));
    }
    if args.check {
        if !args.diff && !common.quiet {
            output.result(format!("{}\n", SafeText::line(path.as_str())));
        }
        return exit::FAILED;
    }
    if args.diff {
        return exit::OK;
    }
    // Somebody may have written the file meanwhile; their text must not be lost.
    if system.read(&target).ok().as_deref() != Some(&*bytes) {
        complain(
            output,
            &format!("`{path}` changed while it was formatted; left as it is"),
        );
        return exit::IO;
    }
    match files::replace(&target, text.as_bytes()) {
        Ok(()) => exit::OK,
        Err(error) => {
            complain(output, &format!("cannot write `{path}`: {error}"));
            exit::IO
        }
    }
}

fn unsound(name: &str, output: &mut Output) -> u8 {
    complain(
        output,
        &format!("internal error: formatting `{name}` would change its meaning; left as it is"),
    );
    exit::INTERNAL
}

/// Formats a document and proves that it means the same: by its manifest when it compiles, else by
/// its tree, which the formatter compares itself.
fn format(path: &Utf8Path, bytes: &[u8], output: &mut Output) -> Outcome {
    let parsed = chatmd_syntax::parse(bytes);
    let text = match chatmd_syntax::fmt::format(&parsed) {
        Ok(text) => text,
        Err(refusal) => {
            let mut db = Database::default();
            let directory = working_directory();
            let root = db.root_from_content(path.as_str(), &directory, Ok(bytes.into()), None);
            let compilation = compile(&db, root, &CompileOptions::for_this_machine());
            let shown = chatmd_compiler::compile::from_syntax(&refusal);
            print_human(
                &Findings {
                    compilation: &compilation,
                    shown: vec![shown],
                },
                output,
            );
            return Outcome::Refused;
        }
    };
    if text.as_bytes() == bytes {
        return Outcome::Unchanged;
    }
    let meaning = |bytes: &[u8]| {
        let mut db = Database::default();
        let directory = working_directory().join(path);
        let directory = directory.parent().unwrap_or(&directory);
        let root = db.root_from_content(path.as_str(), directory, Ok(bytes.into()), None);
        let compilation = compile(&db, root, &CompileOptions::for_this_machine());
        let manifest = compilation.manifest.as_ref();
        manifest.and_then(|manifest| comparison_form(manifest).ok())
    };
    if meaning(bytes) == meaning(text.as_bytes()) {
        Outcome::Changed(text)
    } else {
        Outcome::Unsound
    }
}

fn working_directory() -> Utf8PathBuf {
    let cwd = std::env::current_dir().ok();
    cwd.and_then(|cwd| Utf8PathBuf::from_path_buf(cwd).ok())
        .unwrap_or_else(|| "/".into())
}

/// A unified diff, escaped.
fn difference(name: &str, before: &[u8], after: &str) -> String {
    let before = String::from_utf8_lossy(before);
    let diff = similar::TextDiff::from_lines(before.as_ref(), after);
    let name = name.to_owned();
    let unified = diff.unified_diff().header(&name, &name).to_string();
    SafeText::lines(&unified).into_string()
}
