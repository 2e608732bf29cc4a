//! Every diagnostic code: a code that is not listed here is never emitted.
//!
//! Rows are grouped by the specification file that owns the code; each has its severity and one
//! sentence that a newcomer understands.

mod administration;
mod analysis;
mod chatml;
mod document;
mod editor;
mod execution;
mod extensions;
mod manifest;
mod persistence;
mod runtime;
mod tools;

use super::Severity;

/// When a code appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Compile error: no manifest.
    Error,
    /// Compile warning.
    Warning,
    /// Compile note; the code tables call it "info".
    Info,
    /// Failure of start, host, hook or management.
    Runtime,
    /// Result of a tool call.
    Invocation,
}

impl Level {
    /// The word of the code tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "info",
            Level::Runtime => "runtime",
            Level::Invocation => "invocation",
        }
    }

    /// Severity of a diagnostic with this code unless the emitter lowers it.
    pub const fn severity(self) -> Severity {
        match self {
            Level::Error | Level::Runtime | Level::Invocation => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Info => Severity::Note,
        }
    }
}

/// One code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The code.
    pub code: &'static str,
    /// When it appears.
    pub level: Level,
    /// File of the specification that owns it, for example `02-shell-access.md`.
    pub owner: &'static str,
    /// One sentence.
    pub title: &'static str,
}

/// A row before its owner is known.
type Row = (&'static str, Level, &'static str);

const GROUPS: &[(&str, &[Row])] = &[
    ("01-document.md", document::ROWS),
    ("02-shell-access.md", runtime::ROWS),
    ("03-tools.md", tools::ROWS),
    ("04-manifest.md", manifest::ROWS),
    ("05-chatml.md", chatml::ROWS),
    ("06-execution.md", execution::ROWS),
    ("07-extensions.md", extensions::ROWS),
    ("08-persistence-and-audit.md", persistence::ROWS),
    ("09-administration.md", administration::ROWS),
    ("11-lsp.md", editor::ROWS),
    ("12-analysis.md", analysis::ROWS),
];

/// All entries, grouped by owner, sorted by code within a group.
pub fn entries() -> impl Iterator<Item = Entry> {
    GROUPS.iter().flat_map(|&(owner, rows)| {
        rows.iter().map(move |&(code, level, title)| Entry {
            code,
            level,
            owner,
            title,
        })
    })
}

/// The entry of exactly that code.
pub fn entry(code: &str) -> Option<Entry> {
    GROUPS.iter().find_map(|&(owner, rows)| {
        let at = rows.binary_search_by(|row| row.0.cmp(code)).ok()?;
        let &(code, level, title) = rows.get(at)?;
        Some(Entry {
            code,
            level,
            owner,
            title,
        })
    })
}

/// Severity of a code; an unknown one is an error.
pub fn severity(code: &str) -> Severity {
    entry(code).map_or(Severity::Error, |entry| entry.level.severity())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use std::collections::BTreeMap;

    fn listed() -> BTreeMap<String, (String, String)> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/spec/codes.txt");
        std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| {
                let mut columns = line.split('\t').map(str::to_owned);
                let code = columns.next().unwrap();
                (code, (columns.next().unwrap(), columns.next().unwrap()))
            })
            .collect()
    }

    #[test]
    fn every_entry_is_listed_with_its_severity_and_owner() {
        let listed = listed();
        for entry in entries() {
            let (severity, owner) = listed.get(entry.code).expect(entry.code);
            assert_eq!(
                (severity.as_str(), owner.as_str()),
                (entry.level.as_str(), entry.owner),
                "{}",
                entry.code
            );
        }
    }

    #[test]
    fn every_listed_code_of_the_declaration_language_has_an_entry() {
        for (code, (_, owner)) in listed() {
            if [
                "01-", "02-", "03-", "04-", "05-", "06-", "07-", "08-", "09-",
            ]
            .iter()
            .any(|start| owner.starts_with(start))
            {
                assert!(entry(&code).is_some(), "{code} has no entry");
            }
        }
    }

    #[test]
    fn rows_are_sorted_and_titles_are_sentences() {
        for (owner, rows) in GROUPS {
            assert!(rows.is_sorted_by(|a, b| a.0 < b.0), "{owner}");
            for (code, _, title) in *rows {
                assert!(title.ends_with('.') && title.len() > 15, "{code}: {title}");
                assert!(
                    title.starts_with(|c: char| c.is_uppercase() || c == '`'),
                    "{code}: {title}"
                );
            }
        }
    }
}
