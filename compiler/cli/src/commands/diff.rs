//! `chatmdc diff` (spec 10 section 2.4).

mod answer;
mod operand;

use camino::Utf8PathBuf;
use chatmd_compiler::authority::diff::{self, Class, Diff, Verdict};
use chatmd_compiler::manifest::{self, Manifest};

use super::complain;
use crate::args::{Common, DiffArgs, DiffFormat, FailOn};
use crate::exit;
use crate::output::Output;
use operand::{Failure, Operand, Operands, Side};

/// Two operands and what is between them.
struct Comparison {
    old: Described,
    new: Described,
    outcome: Outcome,
}

/// An operand in answers.
#[derive(Clone, serde::Serialize)]
struct Described {
    operand: String,
    form: &'static str,
    /// `None`: there is nothing, or it does not compile.
    sha256: Option<String>,
}

enum Outcome {
    Compared(Diff),
    /// Neither could be compared, for these reasons.
    Unknown(Vec<Failure>),
}

/// Runs the command.
pub fn run(args: &DiffArgs, common: Common, output: &mut Output) -> u8 {
    let mut pairs = match pairs(args) {
        Ok(pairs) => pairs,
        Err(message) => return usage(output, &message),
    };
    let unreadable = |output: &mut Output, message: &str| {
        complain(output, message);
        exit::IO
    };
    let mut operands = match Operands::new(&args.reading) {
        Ok(operands) => operands,
        Err(message) => return unreadable(output, &message),
    };
    if let Some(revision) = revision_of_all(args) {
        let files = match operands.documents(revision) {
            Ok(files) => files,
            Err(why) => return unreadable(output, &format!("cannot read `git:{revision}`: {why}")),
        };
        let pair = |file: Utf8PathBuf| (Operand::before(revision, &file), Operand::File(file));
        pairs.extend(files.into_iter().map(pair));
    }
    let comparisons: Vec<Comparison> = pairs
        .into_iter()
        .map(|(old, new)| compare(args, &mut operands, &old, &new))
        .collect();
    let code = comparisons
        .iter()
        .map(|comparison| comparison.exit_code(args.fail_on))
        .max()
        .unwrap_or(exit::OK);
    if args.bound && args.format == DiffFormat::Human && !common.quiet {
        let requested = comparisons.iter().any(|c| c.new.form == "requested");
        if requested {
            complain(
                output,
                "comparing the requested forms: --bound needs two documents of this machine",
            );
        }
    }
    let answer = answer::Answer {
        args,
        quiet: common.quiet,
        comparisons: &comparisons,
        code,
    };
    answer.print(operands.cwd(), output);
    code
}

fn usage(output: &mut Output, message: &str) -> u8 {
    complain(output, message);
    output.message("\nFor more information, try 'chatmdc diff --help'.\n");
    exit::USAGE
}

/// The revision of `--against` when no file is named: every document is compared.
fn revision_of_all(args: &DiffArgs) -> Option<&str> {
    let base = args.against.as_deref()?;
    let revision = base.strip_prefix(crate::git::PREFIX)?;
    args.operands.is_empty().then_some(revision)
}

/// What is to be compared with what, as far as it is named.
fn pairs(args: &DiffArgs) -> Result<Vec<(Operand, Operand)>, String> {
    let read = |text: &str| Operand::parse(text);
    let Some(base) = &args.against else {
        let [old, new] = args.operands.as_slice() else {
            return Err(format!(
                "two operands are needed, OLD and NEW, but there {} {}; to compare files with a \
                 revision use --against git:REV",
                if args.operands.len() == 1 {
                    "is"
                } else {
                    "are"
                },
                args.operands.len()
            ));
        };
        let pair = (read(old.as_str())?, read(new.as_str())?);
        let git = |operand: &Operand| matches!(operand, Operand::Git { .. });
        if (git(&pair.0) || git(&pair.1)) && !args.allow_git {
            return Err("an operand `git:REV:PATH` starts git: that needs --allow-git".to_owned());
        }
        if pair.0 == Operand::Stdin && pair.1 == Operand::Stdin {
            return Err("standard input can be read only once".to_owned());
        }
        return Ok(vec![pair]);
    };
    let Some(revision) = base.strip_prefix(crate::git::PREFIX) else {
        return Err(format!("--against takes git:REV, not `{base}`"));
    };
    if revision.is_empty() || revision.contains(':') {
        return Err("--against takes git:REV without a path, for example git:HEAD".to_owned());
    }
    let files = args.operands.iter();
    files
        .map(|file| match Operand::parse(file.as_str())? {
            new @ Operand::File(_) => Ok((Operand::before(revision, file), new)),
            _ => Err(format!("with --against, `{file}` must be a file")),
        })
        .collect()
}

fn compare(
    args: &DiffArgs,
    operands: &mut Operands<'_>,
    old: &Operand,
    new: &Operand,
) -> Comparison {
    let several = args.against.is_some();
    let mut sides = (operands.load(old, several), operands.load(new, several));
    // A file that is in one state and not in the other came or went as a whole.
    if several && let (Ok(Side::Nothing), Ok(Side::Nothing)) = &sides {
        let file = new.label();
        sides.1 = Err(Failure::Unreadable(format!(
            "cannot read `{file}`: it does not exist"
        )));
    }
    let bound = args.bound && both_documents(&sides);
    let form = if bound { "bound" } else { "requested" };
    let (old_manifest, new_manifest) = (
        sides.0.and_then(|side| operands.manifest(&side, bound)),
        sides.1.and_then(|side| operands.manifest(&side, bound)),
    );
    let described = |operand: &Operand, manifest: &Result<Option<Manifest>, Failure>| Described {
        operand: operand.label(),
        form,
        sha256: match manifest {
            Ok(Some(manifest)) => manifest::digest(manifest).ok(),
            _ => None,
        },
    };
    let (old, new) = (described(old, &old_manifest), described(new, &new_manifest));
    let outcome = match (old_manifest, new_manifest) {
        (Ok(before), Ok(after)) => difference(before, after),
        (before, after) => Outcome::Unknown(before.err().into_iter().chain(after.err()).collect()),
    };
    Comparison { old, new, outcome }
}

fn both_documents(sides: &(Result<Side, Failure>, Result<Side, Failure>)) -> bool {
    matches!(sides, (Ok(Side::Here(_)), Ok(Side::Here(_))))
}

fn difference(old: Option<Manifest>, new: Option<Manifest>) -> Outcome {
    let platform = |side: &Option<Manifest>| side.as_ref().map(|manifest| manifest.platform);
    let here = chatmd_compiler::CompileOptions::for_this_machine().platform;
    let platform = platform(&old).or(platform(&new)).unwrap_or(here);
    let old = old.unwrap_or_else(|| diff::nothing(platform));
    let new = new.unwrap_or_else(|| diff::nothing(platform));
    match diff::diff(&old, &new) {
        Ok(diff) => Outcome::Compared(diff),
        Err(error) => Outcome::Unknown(vec![Failure::Refused(error)]),
    }
}

impl Comparison {
    /// The verdict; `None` is unknown.
    fn verdict(&self) -> Option<Verdict> {
        match &self.outcome {
            Outcome::Compared(diff) => Some(diff.verdict),
            Outcome::Unknown(_) => None,
        }
    }

    fn exit_code(&self, fail_on: FailOn) -> u8 {
        match &self.outcome {
            Outcome::Unknown(failures) => failures
                .iter()
                .map(Failure::exit_code)
                .max()
                .unwrap_or(exit::FAILED),
            Outcome::Compared(diff) if fails(fail_on, diff) => exit::FAILED,
            Outcome::Compared(_) => exit::OK,
        }
    }
}

/// Whether a difference is one to fail on.
fn fails(fail_on: FailOn, diff: &Diff) -> bool {
    match fail_on {
        FailOn::None => false,
        FailOn::Any => diff.verdict != Verdict::Equal,
        FailOn::Widening => diff.verdict == Verdict::Widening,
    }
}

/// Whether a change is one to fail on.
fn is_failure(fail_on: FailOn, class: Class) -> bool {
    match fail_on {
        FailOn::None => false,
        FailOn::Any => true,
        FailOn::Widening => class.widens(),
    }
}
