//! Collecting the findings of resolution.

use std::collections::HashSet;

use chatmd_syntax::Span;

use super::input::{Expanded, ExpandedItem};
pub(crate) use crate::diagnostics::quote;
use crate::diagnostics::{Diagnostic, FileIndex, Place, Severity};

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

/// An error; the registry knows its severity, the name says it to the reader.
pub(crate) fn error(code: &'static str, at: Place, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, at, message).with_severity(Severity::Error)
}

pub(crate) fn warning(code: &'static str, at: Place, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, at, message).with_severity(Severity::Warning)
}

pub(crate) fn note(code: &'static str, at: Place, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, at, message).with_severity(Severity::Note)
}

/// Filling in what the findings of resolution have beside those of lowering.
pub(crate) trait Fill: Sized {
    /// A related place, when there is one: built-in values have none.
    fn also(self, at: Option<Place>, text: impl Into<String>) -> Self;
    fn path<S: Into<String>>(self, path: impl IntoIterator<Item = S>) -> Self;
    fn runtime(self, id: impl Into<String>) -> Self;
}

impl Fill for Diagnostic {
    fn also(self, at: Option<Place>, text: impl Into<String>) -> Self {
        match at {
            Some(place) => self.related(place, text),
            None => self,
        }
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
    candidates: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    crate::diagnostics::nearest(word, candidates.take(2000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_short() {
        assert_eq!(
            list(["a"; 10]),
            "`a`, `a`, `a`, `a`, `a`, `a`, `a`, `a`, 2 more"
        );
    }
}
