//! What `chatmdc explain` and an editor show of a code: its registry row, its sentences in
//! `registry/explanations`, and its examples, which are fixtures of `corpus/spec` and therefore
//! compiled by the tests.

mod block;
mod related;
pub mod suite;

pub use block::{Expectation, File, Where};
pub use suite::{Case, Suite};

use std::sync::OnceLock;

use super::registry::{self, Entry};

/// Sentences about codes, one file for each group of the registry: lines of
/// `CODE | MEANING | CAUSE`, and comments that start with `#`.
const EXPLANATIONS: &[&str] = &[
    include_str!("../registry/explanations/document.txt"),
    include_str!("../registry/explanations/runtime.txt"),
    include_str!("../registry/explanations/tools.txt"),
    include_str!("../registry/explanations/manifest.txt"),
    include_str!("../registry/explanations/chatml.txt"),
    include_str!("../registry/explanations/execution.txt"),
    include_str!("../registry/explanations/extensions.txt"),
    include_str!("../registry/explanations/persistence.txt"),
    include_str!("../registry/explanations/administration.txt"),
    include_str!("../registry/explanations/editor.txt"),
    include_str!("../registry/explanations/analysis.txt"),
];

macro_rules! suites {
    ($($name:literal),* $(,)?) => {
        /// The suites with their paths below `corpus/spec`, without extension.
        pub const SUITES: &[(&str, &str)] = &[$((
            $name,
            include_str!(concat!("../../../../../corpus/spec/", $name, ".md")),
        )),*];
    };
}

suites![
    "authority",
    "chatml",
    "config",
    "conformance",
    "import",
    "lexical",
    "manual",
    "messages",
    "moderator",
    "resolution",
    "script",
    "shell_access/approvals",
    "shell_access/audit",
    "shell_access/backends",
    "shell_access/capabilities",
    "shell_access/environment",
    "shell_access/extensions",
    "shell_access/limits",
    "shell_access/policy",
    "shell_access/resolver",
    "shell_access/root",
    "shell_access/secrets",
    "structure",
    "tests",
    "tools/legacy",
    "tools/other",
    "tools/read_file",
    "tools/shell",
    "lints",
    "newcomers",
];

/// Everything there is to say about a code.
#[derive(Clone, Debug)]
pub struct Page {
    /// Code, level and title.
    pub entry: Entry,
    /// Why the rule exists or what follows.
    pub meaning: &'static str,
    /// How it usually comes about.
    pub cause: &'static str,
    /// The examples, for codes that a document can cause.
    pub example: Option<Example>,
    /// Codes to look at next, at most four.
    pub related: Vec<&'static str>,
}

/// A document with the fault and one without it.
#[derive(Clone, Debug)]
pub struct Example {
    /// Has the fault.
    pub failing: Case,
    /// As close as possible, without it.
    pub corrected: Case,
}

/// The page of a code; `None` for an unknown code.
pub fn page(code: &str) -> Option<Page> {
    let entry = registry::entry(code)?;
    let (meaning, cause) = sentences(code).unwrap_or_default();
    Some(Page {
        entry,
        meaning,
        cause,
        example: example(code),
        related: related::to(entry),
    })
}

/// Meaning and cause of a code.
pub fn sentences(code: &str) -> Option<(&'static str, &'static str)> {
    let mut lines = EXPLANATIONS.iter().flat_map(|file| file.lines());
    let line = lines.find_map(|line| line.strip_prefix(code)?.strip_prefix(" | "))?;
    line.split_once(" | ")
}

fn parsed() -> &'static [Suite] {
    static PARSED: OnceLock<Vec<Suite>> = OnceLock::new();
    PARSED.get_or_init(|| {
        // A suite that does not parse fails the tests; here it only means fewer examples.
        let suites = SUITES.iter().map(|(_, text)| suite::parse(text));
        suites.filter_map(Result::ok).collect()
    })
}

fn example(code: &str) -> Option<Example> {
    let mut sections = parsed().iter().flat_map(|suite| &suite.sections);
    let section = sections.find(|section| section.codes.iter().any(|named| named == code))?;
    let failing = section.cases.iter().position(|case| case.fires(code))?;
    let corrected = section.cases.iter().skip(failing);
    let mut corrected = corrected.filter(|case| !case.fires(code) && case.compiles());
    Some(Example {
        failing: section.cases.get(failing)?.clone(),
        corrected: corrected.next()?.clone(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_registered_code_has_a_title_and_sentences() {
        let mut missing = Vec::new();
        for entry in registry::entries() {
            let sound = sentences(entry.code).is_some_and(|(meaning, cause)| {
                [entry.title, meaning, cause]
                    .iter()
                    .all(|text| text.len() > 10 && text.ends_with(['.', '`']))
            });
            if !sound {
                missing.push(entry.code);
            }
        }
        assert!(
            missing.is_empty(),
            "no sentences in registry/explanations: {missing:?}"
        );
    }

    #[test]
    fn sentences_belong_to_registered_codes_and_stand_once() {
        let mut seen = BTreeSet::new();
        for line in EXPLANATIONS.iter().flat_map(|file| file.lines()) {
            if line.starts_with('#') {
                continue;
            }
            let parts: Vec<_> = line.split(" | ").collect();
            let [code, ..] = parts.as_slice() else {
                panic!("{line}");
            };
            assert_eq!(parts.len(), 3, "{line}");
            assert!(registry::entry(code).is_some(), "{code} is not registered");
            assert!(seen.insert(*code), "{code} stands twice");
        }
    }

    #[test]
    fn every_suite_parses_and_is_embedded() {
        for (name, text) in SUITES {
            suite::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/spec");
        let mut open = vec![std::path::PathBuf::from(folder)];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(folder).unwrap().with_extension("");
                let name = name.to_string_lossy().replace('\\', "/");
                let known = SUITES.iter().any(|(suite, _)| *suite == name);
                assert!(known || name == "README", "{name} is not embedded");
            }
        }
    }

    #[test]
    fn a_page_holds_examples_as_they_are_written() {
        let page = page("shell.duplicate_section").unwrap();
        let example = page.example.unwrap();
        let marked = example.failing.display(Some("shell.duplicate_section"));
        assert!(
            marked.contains("^^ error shell.duplicate_section"),
            "{marked}"
        );
        let plain = example.failing.display(None);
        assert!(!plain.contains('^') && plain.matches("<policy").count() == 2);
        let corrected = example.corrected.display(None);
        assert_eq!(corrected.matches("<policy").count(), 1);
    }
}
