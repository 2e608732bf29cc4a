//! The check of all open documents on one snapshot.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::db::{Database, Root};
use chatmd_compiler::diagnostics::FileIndex;
use salsa::Cancelled;
use tower_lsp::ls_types::{Diagnostic, Uri};

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
    /// Settings.
    pub settings: Arc<Settings>,
    /// How the client counts.
    pub encoding: Encoding,
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

impl Check {
    /// Runs the check. `None`: a newer one will run.
    pub fn run(&self, db: &Database) -> Option<Checked> {
        let mut analyses = HashMap::with_capacity(self.open.len());
        let mut panicked = Vec::new();
        for document in &self.open {
            let Some(root) = document.root else { continue };
            match self.one(db, root) {
                Ok(analysis) => {
                    analyses.insert(document.uri.clone(), analysis);
                }
                Err(Stopped::Outdated) => return None,
                Err(Stopped::Panicked) => panicked.push(document.uri.clone()),
            }
        }
        let sets = self.sets(&analyses);
        Some(Checked {
            generation: self.generation,
            results: Results {
                analyses,
                open: self.open.iter().map(|open| open.key.clone()).collect(),
            },
            sets,
            panicked,
        })
    }

    fn one(&self, db: &Database, root: Root) -> Result<Analysis, Stopped> {
        let work = || analyse(db, root, &self.settings.options);
        match catch_unwind(AssertUnwindSafe(|| {
            Cancelled::catch(AssertUnwindSafe(work))
        })) {
            Ok(Ok(analysis)) => Ok(analysis),
            Ok(Err(Cancelled::PropagatedPanic)) | Err(_) => Err(Stopped::Panicked),
            Ok(Err(_)) => Err(Stopped::Outdated),
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
        let converter = Converter {
            encoding: self.encoding,
            settings: &self.settings,
            uri_of: &uri_of,
        };
        let publication = |document: &&Open| {
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
    set
}
