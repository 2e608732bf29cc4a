//! The check of all open documents on one snapshot.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::compile::MAX_DIAGNOSTICS;
use chatmd_compiler::db::{Database, Root};
use chatmd_compiler::diagnostics::FileIndex;
use salsa::Cancelled;
use tower_lsp::ls_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Uri};

use super::convert::Converter;
use super::publish::Publication;
use super::settings::Settings;
use super::text::Encoding;
use crate::ide::{Analysis, analyse};

/// An open document as the check sees it.
#[derive(Clone)]
pub struct Open {
    /// Its URI.
    pub uri: Uri,
    /// Its version.
    pub version: i32,
    /// The file by canonical path.
    pub key: Utf8PathBuf,
    /// The document; `None` for open files that are none.
    pub root: Option<Root>,
    /// Its set has to be sent even if nothing changed.
    pub due: bool,
    /// The client was sent a set before.
    pub sent: bool,
    /// Settings of its folder.
    pub settings: Arc<Settings>,
}

/// What a check knows when it is done.
#[derive(Default)]
pub struct Results {
    /// Results by document.
    pub analyses: HashMap<Uri, Analysis>,
    /// The files that were open, by canonical path.
    pub open: HashSet<Utf8PathBuf>,
}

/// What to check.
pub struct Check {
    /// State of the writer that the snapshot shows.
    pub generation: u64,
    /// The open documents, edited ones first.
    pub open: Vec<Open>,
    /// Results of the last check.
    pub previous: Arc<Results>,
    /// How the client counts.
    pub encoding: Encoding,
}

/// The documents as the compiler sees them.
#[derive(Default)]
pub struct Analysed {
    analyses: HashMap<Uri, Analysis>,
    panicked: Vec<Uri>,
}

/// What came out.
pub struct Checked {
    /// Of the check.
    pub generation: u64,
    /// Results for the next check to compare with.
    pub results: Results,
    /// Sets that may differ from what was sent before.
    pub sets: Vec<Publication>,
    /// Documents whose check panicked.
    pub panicked: Vec<Uri>,
}

/// Why one document has no result.
enum Stopped {
    /// The snapshot is out of date.
    Outdated,
    /// A bug.
    Panicked,
}

fn one(db: &Database, root: Root, settings: &Settings) -> Result<Analysis, Stopped> {
    let work = || analyse(db, root, &settings.options);
    match catch_unwind(AssertUnwindSafe(|| {
        Cancelled::catch(AssertUnwindSafe(work))
    })) {
        Ok(Ok(analysis)) => Ok(analysis),
        Ok(Err(Cancelled::PropagatedPanic)) | Err(_) => Err(Stopped::Panicked),
        Ok(Err(_)) => Err(Stopped::Outdated),
    }
}

impl Check {
    /// Looks at every document. `None`: a newer check will run.
    pub fn analyse(&self, db: &Database) -> Option<Analysed> {
        let mut analysed = Analysed::default();
        for document in &self.open {
            let Some(root) = document.root else { continue };
            match one(db, root, &document.settings) {
                Ok(analysis) => {
                    analysed.analyses.insert(document.uri.clone(), analysis);
                }
                Err(Stopped::Outdated) => return None,
                Err(Stopped::Panicked) => analysed.panicked.push(document.uri.clone()),
            }
        }
        Some(analysed)
    }

    /// Makes the sets. Needs no snapshot any more, so no write waits for it.
    pub fn finish(&self, analysed: Analysed) -> Checked {
        let Analysed { analyses, panicked } = analysed;
        let sets = self.sets(&analyses);
        Checked {
            generation: self.generation,
            results: Results {
                analyses,
                open: self.open.iter().map(|open| open.key.clone()).collect(),
            },
            sets,
            panicked,
        }
    }

    /// The sets of the documents that a changed result touches.
    fn sets(&self, analyses: &HashMap<Uri, Analysis>) -> Vec<Publication> {
        let touched = self.touched(analyses);
        let by_key: HashMap<&Utf8Path, &Uri> = self
            .open
            .iter()
            .map(|document| (document.key.as_path(), &document.uri))
            .collect();
        let due = |document: &&Open| document.due || touched.contains(document.key.as_path());
        let due: Vec<&Open> = self.open.iter().filter(due).collect();
        let readers = self.readers(analyses, &due);
        let uri_of = |path: &Utf8Path| by_key.get(path).map(|uri| (*uri).clone());
        let publication = |document: &&Open| {
            let converter = Converter {
                encoding: self.encoding,
                settings: &document.settings,
                uri_of: &uri_of,
            };
            let diagnostics = set_of(document, analyses, &readers, &converter, &by_key);
            // A file that is no document says nothing until a document finds something in it.
            let speaks = analyses.contains_key(&document.uri) || document.sent;
            (speaks || !diagnostics.is_empty()).then(|| Publication {
                uri: document.uri.clone(),
                version: Some(document.version),
                diagnostics,
            })
        };
        due.iter().filter_map(publication).collect()
    }

    /// Files whose sets may have changed since the last check: those that a changed document reads
    /// or read, and the readers of those that were opened or closed.
    fn touched<'a>(&'a self, analyses: &'a HashMap<Uri, Analysis>) -> HashSet<&'a Utf8Path> {
        let last = &*self.previous;
        let changed = |uri: &Uri| match (last.analyses.get(uri), analyses.get(uri)) {
            (Some(old), Some(new)) => !Arc::ptr_eq(&old.compilation, &new.compilation),
            (None, None) => false,
            _ => true,
        };
        let open: HashSet<&Utf8Path> = self.open.iter().map(|one| one.key.as_path()).collect();
        let opened = open.iter().filter(|key| !last.open.contains(**key));
        let closed = last.open.iter().filter(|key| !open.contains(key.as_path()));
        let shown: HashSet<&Utf8Path> = opened
            .copied()
            .chain(closed.map(Utf8PathBuf::as_path))
            .collect();
        let mut touched: HashSet<&Utf8Path> = HashSet::new();
        for (uri, analysis) in analyses.iter().chain(last.analyses.iter()) {
            let mut files = analysis.canonical.iter().map(Utf8PathBuf::as_path);
            if changed(uri) {
                touched.extend(files);
            } else if !shown.is_empty()
                && files.any(|file| shown.contains(file))
                && let Some(root) = analysis.canonical.first()
            {
                touched.insert(root);
            }
        }
        touched
    }

    /// Which documents read which of the given files beside themselves, in the order of the
    /// documents.
    fn readers<'a>(
        &'a self,
        analyses: &'a HashMap<Uri, Analysis>,
        of: &[&'a Open],
    ) -> HashMap<&'a Utf8Path, Vec<(&'a Analysis, FileIndex)>> {
        let mut readers: HashMap<&Utf8Path, Vec<_>> = of
            .iter()
            .map(|open| (open.key.as_path(), Vec::new()))
            .collect();
        if readers.is_empty() {
            return readers;
        }
        let mut sorted: Vec<_> = self.open.iter().collect();
        sorted.sort_by(|a, b| a.uri.cmp(&b.uri));
        for analysis in sorted
            .iter()
            .filter_map(|document| analyses.get(&document.uri))
        {
            for (index, path) in analysis.canonical.iter().enumerate().skip(1) {
                if let Some(list) = readers.get_mut(path.as_path()) {
                    list.push((analysis, FileIndex(index as u32)));
                }
            }
        }
        readers
    }
}

/// Keeps [`MAX_DIAGNOSTICS`] findings of a file, worse ones before others, and says so.
fn cap(set: &mut Vec<Diagnostic>) {
    // The compiler's own last finding may be the one that says so.
    if set.len() <= MAX_DIAGNOSTICS + 1 {
        return;
    }
    let code = NumberOrString::String("chatmd.too_many_diagnostics".to_owned());
    set.retain(|one| one.code.as_ref() != Some(&code));
    if set.len() <= MAX_DIAGNOSTICS {
        return;
    }
    // Stable: what is equally bad stays in the order in which it was found.
    set.sort_by_key(|one| one.severity.unwrap_or(DiagnosticSeverity::ERROR));
    let hidden = set.split_off(MAX_DIAGNOSTICS);
    let place = hidden.first().map(|one| one.range).unwrap_or_default();
    set.push(Diagnostic {
        range: place,
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(code),
        source: Some("chatmd".to_owned()),
        message: format!(
            "more than {MAX_DIAGNOSTICS} findings; the first that is not shown is here"
        ),
        ..Diagnostic::default()
    });
}

/// The whole set of a document: what it shows on its own, what other open documents find in it,
/// and which of its imports hide errors.
fn set_of(
    document: &Open,
    analyses: &HashMap<Uri, Analysis>,
    readers: &HashMap<&Utf8Path, Vec<(&Analysis, FileIndex)>>,
    converter: &Converter<'_>,
    open: &HashMap<&Utf8Path, &Uri>,
) -> Vec<Diagnostic> {
    let mut set: Vec<Diagnostic> = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |diagnostic: Option<Diagnostic>| {
        let Some(diagnostic) = diagnostic else { return };
        let range = diagnostic.range;
        let key = (
            format!("{:?}", diagnostic.code),
            (range.start.line, range.start.character),
            (range.end.line, range.end.character),
            diagnostic.message.clone(),
        );
        if seen.insert(key) {
            set.push(diagnostic);
        }
    };
    if let Some(own) = analyses.get(&document.uri) {
        let here = own.findings().filter(|found| found.file == FileIndex(0));
        here.for_each(|found| add(converter.diagnostic(own, &found)));
        let hidden = own.hidden_errors(&|path| open.contains_key(path));
        hidden
            .iter()
            .for_each(|found| add(converter.diagnostic(own, found)));
    }
    for (analysis, file) in readers.get(document.key.as_path()).into_iter().flatten() {
        let here = analysis.findings().filter(|found| found.file == *file);
        here.for_each(|found| add(converter.diagnostic(analysis, &found)));
    }
    cap(&mut set);
    set
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn a_file_shows_a_thousand_findings_errors_first() {
        let one = |severity, line: u32| Diagnostic {
            severity: Some(severity),
            message: line.to_string(),
            ..Diagnostic::default()
        };
        let notes = (0..900).map(|line| one(DiagnosticSeverity::INFORMATION, line));
        let errors = (900..1_100).map(|line| one(DiagnosticSeverity::ERROR, line));
        let all: Vec<_> = notes.chain(errors).collect();
        // The compiler's own limit is a thousand and the finding that says so.
        let mut few = all[..=MAX_DIAGNOSTICS].to_vec();
        cap(&mut few);
        assert_eq!(few, all[..=MAX_DIAGNOSTICS]);
        let mut set = all;
        cap(&mut set);
        assert_eq!(set.len(), MAX_DIAGNOSTICS + 1);
        assert_eq!(
            (set[0].message.as_str(), set[200].message.as_str()),
            ("900", "0")
        );
        let last = set.last().unwrap();
        assert!(last.message.contains("1000 findings"), "{}", last.message);
    }
}
