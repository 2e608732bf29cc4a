//! Collecting the findings of resolution.

use std::collections::HashSet;

use chatmd_syntax::Span;

use super::input::{Expanded, ExpandedItem};
use crate::diagnostics::{Diagnostic, Edit, FileIndex, Fix, Label, Place, Severity};

/// Findings so far.
pub(crate) struct Sink {
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) failed: bool,
    /// Errors that lowering reported: the same code at the same place is not repeated.
    lowered: HashSet<(&'static str, FileIndex, u32, Span)>,
    seen: HashSet<(&'static str, Place, String)>,
}

impl Sink {
    pub(crate) fn new(expanded: &Expanded) -> Self {
        let mut lowered = HashSet::new();
        for item in &expanded.items {
            for diagnostic in &item.decl.diagnostics {
                let span = diagnostic.primary.place.span;
                lowered.insert((diagnostic.code, item.file, item.item, span));
            }
        }
        Self {
            diagnostics: Vec::new(),
            failed: false,
            lowered,
            seen: HashSet::new(),
        }
    }

    /// Adds a finding unless it is known already. A file that is read under two namespaces gives
    /// each of its errors once; cycles through one place are different findings.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let error = diagnostic.severity == Severity::Error;
        self.failed |= error;
        let place = diagnostic.primary.place;
        if let Some(item) = place.item
            && self
                .lowered
                .contains(&(diagnostic.code, place.file, item, place.span))
        {
            return;
        }
        let distinct = if error && !diagnostic.code.ends_with("_cycle") {
            String::new()
        } else {
            diagnostic.message.clone()
        };
        if self.seen.insert((diagnostic.code, place, distinct)) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether looking for similar names is still worth its time: a document with thousands of
    /// unknown names does not need thousands of suggestions.
    pub(crate) fn suggests(&self) -> bool {
        self.diagnostics.len() < 200
    }
}

/// The place of a span of an item.
pub(crate) fn place(item: &ExpandedItem, span: Span) -> Place {
    Place {
        file: item.file,
        item: Some(item.item),
        span,
    }
}

fn finding(code: &'static str, severity: Severity, at: Place, message: String) -> Diagnostic {
    Diagnostic {
        code,
        detail: None,
        severity,
        message,
        path: Vec::new(),
        primary: Label {
            place: at,
            text: String::new(),
        },
        secondary: Vec::new(),
        hints: Vec::new(),
        fixes: Vec::new(),
        runtime_id: None,
    }
}

pub(crate) fn error(code: &'static str, at: Place, message: impl Into<String>) -> Diagnostic {
    finding(code, Severity::Error, at, message.into())
}

pub(crate) fn warning(code: &'static str, at: Place, message: impl Into<String>) -> Diagnostic {
    finding(code, Severity::Warning, at, message.into())
}

pub(crate) fn note(code: &'static str, at: Place, message: impl Into<String>) -> Diagnostic {
    finding(code, Severity::Note, at, message.into())
}

/// Filling in a finding.
pub(crate) trait Fill: Sized {
    fn label(self, text: impl Into<String>) -> Self;
    fn also(self, at: Option<Place>, text: impl Into<String>) -> Self;
    fn hint(self, text: impl Into<String>) -> Self;
    fn fix(self, title: impl Into<String>, at: Place, text: impl Into<String>) -> Self;
    fn path<S: Into<String>>(self, path: impl IntoIterator<Item = S>) -> Self;
    fn runtime(self, id: impl Into<String>) -> Self;
}

impl Fill for Diagnostic {
    fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    fn also(mut self, at: Option<Place>, text: impl Into<String>) -> Self {
        if let Some(place) = at {
            self.secondary.push(Label {
                place,
                text: text.into(),
            });
        }
        self
    }

    fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(text.into());
        self
    }

    fn fix(mut self, title: impl Into<String>, at: Place, text: impl Into<String>) -> Self {
        let edits = vec![Edit {
            place: at,
            text: text.into(),
        }];
        self.fixes.push(Fix {
            title: title.into(),
            edits,
        });
        self
    }

    fn path<S: Into<String>>(mut self, path: impl IntoIterator<Item = S>) -> Self {
        self.path = path.into_iter().map(Into::into).collect();
        self
    }

    fn runtime(mut self, id: impl Into<String>) -> Self {
        self.runtime_id = Some(id.into());
        self
    }
}

/// Source text in a message: quoted, at most 40 characters.
pub(crate) fn quote(text: &str) -> String {
    let mut shown: String = text.chars().take(40).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// A list in a sentence: at most eight entries, then the count of the rest.
pub(crate) fn list<'a>(entries: impl IntoIterator<Item = &'a str>) -> String {
    let entries: Vec<&str> = entries.into_iter().collect();
    let mut shown: Vec<String> = entries.iter().take(8).map(|entry| quote(entry)).collect();
    if entries.len() > 8 {
        shown.push(format!("{} more", entries.len() - 8));
    }
    shown.join(", ")
}

/// The nearest of the first 2,000 candidates, when it is near enough to be a slip.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let bound = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .take(2000)
        .filter_map(|candidate| {
            let distance = distance(word, candidate, bound)?;
            Some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance (Damerau-Levenshtein with adjacent swaps) up to `bound`.
fn distance(left: &str, right: &str, bound: usize) -> Option<usize> {
    let left: Vec<char> = left.chars().take(128).collect();
    let right: Vec<char> = right.chars().take(128).collect();
    if left.len().abs_diff(right.len()) > bound {
        return None;
    }
    let width = right.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (row, a) in left.iter().enumerate() {
        let mut line = vec![row + 1; width];
        for (column, b) in right.iter().enumerate() {
            let change = last[column] + usize::from(a != b);
            let mut best = change.min(last[column + 1] + 1).min(line[column] + 1);
            let swapped = row > 0 && column > 0 && *a == right[column - 1] && left[row - 1] == *b;
            if swapped {
                best = best.min(before[column - 1] + 1);
            }
            line[column + 1] = best;
        }
        if line.iter().all(|value| *value > bound) {
            return None;
        }
        before = std::mem::replace(&mut last, line);
    }
    let found = last[right.len()];
    (found <= bound).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let names = ["build", "checks", "team:base"];
        assert_eq!(nearest("biuld", names), Some("build"));
        assert_eq!(nearest("check", names), Some("checks"));
        assert_eq!(nearest("team:bse", names), Some("team:base"));
        assert_eq!(nearest("deploy", names), None);
        assert_eq!(nearest("", names), None);
    }

    #[test]
    fn quotes_are_short() {
        assert_eq!(quote("abc"), "`abc`");
        assert_eq!(quote(&"é".repeat(50)), format!("`{}…`", "é".repeat(40)));
        assert_eq!(
            list(["a"; 10]),
            "`a`, `a`, `a`, `a`, `a`, `a`, `a`, `a`, 2 more"
        );
    }
}
