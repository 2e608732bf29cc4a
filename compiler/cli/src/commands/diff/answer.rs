//! The forms of the answer.

use std::fmt::Write as _;

use camino::Utf8Path;
use chatmd_compiler::SafeText;
use chatmd_compiler::authority::diff::{self, Change, Class, Verdict};
use serde::Serialize;

use super::operand::Failure;
use super::{Comparison, Described, Outcome, is_failure};
use crate::args::{DiffArgs, DiffFormat};
use crate::commands::{JsonError, complain, findings, print_human, to_json};
use crate::exit;
use crate::output::Output;
use crate::report::json::{self, JsonDiagnostic};
use crate::report::{Findings, Summary, github};

pub(super) struct Answer<'a> {
    pub(super) args: &'a DiffArgs,
    pub(super) quiet: bool,
    pub(super) comparisons: &'a [Comparison],
    pub(super) code: u8,
}

/// The answer about two operands. Members are those of spec 10 section 1.3.
#[derive(Serialize)]
struct Envelope<'a> {
    version: u32,
    command: &'static str,
    ok: bool,
    #[serde(flatten)]
    one: Option<One<'a>>,
    /// With `--against`: the verdict over all files, and one entry for each.
    #[serde(flatten)]
    many: Option<Many<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Vec<JsonDiagnostic>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
}

#[derive(Serialize)]
struct One<'a> {
    old: &'a Described,
    new: &'a Described,
    verdict: &'static str,
    changes: &'a [Change],
}

#[derive(Serialize)]
struct Many<'a> {
    verdict: &'static str,
    documents: Vec<One<'a>>,
}

fn one(comparison: &Comparison) -> One<'_> {
    let Comparison { old, new, outcome } = comparison;
    One {
        old,
        new,
        verdict: word(comparison.verdict()),
        changes: match outcome {
            Outcome::Compared(diff) => &diff.changes,
            Outcome::Unknown(_) => &[],
        },
    }
}

fn word(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("unknown", Verdict::as_str)
}

impl Answer<'_> {
    pub(super) fn print(&self, cwd: &Utf8Path, output: &mut Output) {
        match self.args.format {
            DiffFormat::Human => self.human(output),
            DiffFormat::Json => output.result(self.json()),
            DiffFormat::Github => self.github(cwd, output),
        }
    }

    /// The verdict over all comparisons; `None` is unknown.
    fn verdict(&self) -> Option<Verdict> {
        let all: Option<Vec<Verdict>> = self.comparisons.iter().map(Comparison::verdict).collect();
        all.map(|all| all.into_iter().max().unwrap_or(Verdict::Equal))
    }

    fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.comparisons
            .iter()
            .flat_map(|comparison| match &comparison.outcome {
                Outcome::Unknown(failures) => failures.as_slice(),
                Outcome::Compared(_) => &[],
            })
    }

    fn broken(&self) -> Vec<Findings<'_>> {
        self.failures()
            .filter_map(|failure| match failure {
                Failure::Broken(_, compilation) => Some(findings(compilation, self.quiet)),
                _ => None,
            })
            .collect()
    }

    fn human(&self, output: &mut Output) {
        for failure in self.failures() {
            if let Failure::Broken(label, compilation) = failure {
                print_human(&findings(compilation, self.quiet), output);
                complain(output, &format!("`{label}` does not compile"));
            } else if let Some(message) = message(failure) {
                complain(output, &message);
            }
        }
        if self.quiet {
            return;
        }
        let several = self.args.against.is_some();
        for comparison in self.comparisons {
            // A file of which nothing has to be said is not worth its heading.
            if several && comparison.verdict() == Some(Verdict::Equal) {
                continue;
            }
            if several {
                let name = SafeText::line(&comparison.new.operand);
                let state = match (&comparison.old.sha256, &comparison.new.sha256) {
                    (None, Some(_)) => " (new)",
                    (Some(_), None) => " (removed)",
                    _ => "",
                };
                let state = if comparison.verdict().is_none() {
                    ""
                } else {
                    state
                };
                output.result(format!("== {name}{state}\n"));
            }
            match &comparison.outcome {
                Outcome::Compared(diff) => output.result(diff::text(diff)),
                Outcome::Unknown(_) => output.result("authority: unknown\n"),
            }
        }
        let shown = self
            .comparisons
            .iter()
            .filter(|comparison| comparison.verdict() != Some(Verdict::Equal))
            .count();
        if several && shown != 1 {
            if shown > 0 {
                let count = self.comparisons.len();
                output.result(format!("== all {count} documents\n"));
            }
            output.result(format!("authority: {}\n", word(self.verdict())));
        }
    }

    fn json(&self) -> String {
        let several = self.args.against.is_some();
        let broken = self.broken();
        let error = self.failures().next().map(|failure| match failure {
            Failure::Broken(label, _) => JsonError {
                code: None,
                message: safe(&format!("`{label}` has errors")),
            },
            Failure::Refused(error) => JsonError {
                code: Some(error.code),
                message: safe(&error.message),
            },
            Failure::Unreadable(message) | Failure::Unbound(message) => JsonError {
                code: None,
                message: safe(message),
            },
        });
        let with_diagnostics = error.is_some();
        let comparisons = self.comparisons;
        to_json(&Envelope {
            version: 1,
            command: "diff",
            ok: self.code == exit::OK,
            one: comparisons.first().filter(|_| !several).map(one),
            many: several.then(|| Many {
                verdict: word(self.verdict()),
                documents: comparisons.iter().map(one).collect(),
            }),
            error,
            diagnostics: with_diagnostics.then(|| json::diagnostics(&broken)),
            summary: with_diagnostics.then(|| Summary::of(&broken)),
        })
    }

    fn github(&self, cwd: &Utf8Path, output: &mut Output) {
        for failure in self.failures() {
            if let Failure::Broken(_, compilation) = failure {
                output.result(github::render(&findings(compilation, self.quiet), cwd));
            } else if let Some(message) = message(failure) {
                output.result(format!(
                    "::error title=authority::{}\n",
                    github::data(&message)
                ));
            }
        }
        for comparison in self.comparisons {
            let Outcome::Compared(diff) = &comparison.outcome else {
                continue;
            };
            let mut text = String::new();
            let changes = diff.changes.iter();
            for change in changes.filter(|change| change.class != Class::Neutral) {
                let level = if is_failure(self.args.fail_on, change.class) {
                    "error"
                } else {
                    "warning"
                };
                let _ = writeln!(
                    text,
                    "::{level} file={},title=authority {}::{}",
                    github::property(&comparison.new.operand),
                    change.class.as_str(),
                    github::data(&diff::line(change)),
                );
            }
            output.result(text);
        }
    }
}

fn message(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Unreadable(message) => Some(message.clone()),
        Failure::Refused(error) => Some(format!("error[{}]: {}", error.code, error.message)),
        Failure::Unbound(why) => Some(format!("the bound form is unavailable: {why}")),
        Failure::Broken(..) => None,
    }
}

fn safe(text: &str) -> String {
    SafeText::line(text).into_string()
}
