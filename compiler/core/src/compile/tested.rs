//! The tests of a document, run with its compilation (spec 12 section 2.7).

use std::sync::Arc;

use camino::Utf8PathBuf;

use super::{CompileOptions, OptionsKey, resolution};
use crate::db::{Db, FileInput, LoadError, Root, normalize};
use crate::diagnostics::{Diagnostic, FileIndex, Place};
use crate::expand::expand;
use crate::expectations::{self, Suite, TestRun};
use crate::manifest::{Manifest, Platform};
use crate::resolve::{Material, Resolution};
use chatmd_syntax::Span;

/// Which tests are run with a compilation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TestSelection {
    /// What tests take for the platform. That of the machine must not be looked at.
    pub platform: Platform,
    /// Run the tests of `NAME.chatmd.tests.jsonl` too.
    pub sidecar: bool,
    /// Further files of tests, absolute, with the names that people gave them.
    pub files: Vec<(Utf8PathBuf, String)>,
}

impl Default for TestSelection {
    fn default() -> Self {
        Self {
            platform: Platform::Linux,
            sidecar: false,
            files: Vec::new(),
        }
    }
}

/// The tests of a document with their results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tested {
    /// The tests.
    pub suite: Arc<Suite>,
    /// What became of them.
    pub run: Arc<TestRun>,
    /// Literal secrets of the document, longest first: no report shows one.
    pub secrets: Arc<Secrets>,
    /// What they ran against, whether or not they passed. Nothing is authorised by it.
    pub manifest: Option<Arc<Manifest>>,
}

/// Literal secrets; their `Debug` form shows nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<String>);

impl core::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secrets(…)")
    }
}

impl Secrets {
    fn of(material: &Material) -> Self {
        let values = material.literals.values().map(|secret| secret.0.clone());
        let mut values: Vec<String> = values.filter(|value| !value.is_empty()).collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self(values)
    }

    /// The text with stars in the place of every secret.
    pub fn redact(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for value in &self.0 {
            if shown.contains(value.as_str()) {
                shown = shown.replace(value.as_str(), "***");
            }
        }
        shown
    }

    /// Redacts what the finding of a test says.
    fn redact_finding(&self, found: &mut Diagnostic) {
        if self.0.is_empty() {
            return;
        }
        let texts = std::iter::once(&mut found.message)
            .chain([&mut found.primary.text])
            .chain(found.secondary.iter_mut().map(|label| &mut label.text))
            .chain(&mut found.hints)
            .chain(&mut found.notes);
        for text in texts {
            *text = self.redact(text);
        }
    }
}

/// A file of tests as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestFile {
    pub path: Utf8PathBuf,
    pub display: String,
    pub file: Result<FileInput, LoadError>,
}

/// The files of tests of a document that are there, or were asked for.
pub(super) fn files(db: &dyn Db, root: Root, tests: &TestSelection) -> Vec<TestFile> {
    let mut found = Vec::new();
    // A text that is no file has no neighbours.
    if tests.sidecar && !root.name(db).starts_with('<') {
        let name = format!("{}.tests.jsonl", root.manifest_name(db));
        let path = normalize(&root.directory(db).join(name));
        let file = load(db, &path);
        if file != Err(LoadError::NotFound) {
            let display = format!("{}.tests.jsonl", root.name(db));
            found.push(TestFile {
                path,
                display,
                file,
            });
        }
    }
    for (path, display) in &tests.files {
        let path = normalize(path);
        if found.iter().any(|known: &TestFile| known.path == path) {
            continue;
        }
        found.push(TestFile {
            file: load(db, &path),
            path,
            display: display.clone(),
        });
    }
    found
}

fn load(db: &dyn Db, path: &camino::Utf8Path) -> Result<FileInput, LoadError> {
    let target = (*db.path_input(path).target(db))?;
    match crate::db::load_error(db, target.file) {
        None => Ok(target.file),
        Some(error) => Err(error),
    }
}

/// All tests of a document: those in it and its imports, then those of files beside it.
#[salsa::tracked(returns(clone))]
pub(super) fn suite<'db>(db: &'db dyn Db, root: Root, options: OptionsKey<'db>) -> Arc<Suite> {
    let inline = expectations::inline(db, root);
    let Some(tests) = &options.options(db).tests else {
        return inline;
    };
    let files = files(db, root, tests);
    if files.is_empty() {
        return inline;
    }
    let expansion = expand(db, root);
    let mut all = Arc::unwrap_or_clone(inline);
    for (number, file) in files.iter().enumerate() {
        let index = FileIndex((expansion.files.len() + number) as u32);
        match file.file {
            Ok(input) => {
                let bytes: &[u8] = match input.content(db) {
                    Ok(bytes) => bytes,
                    Err(_) => &[],
                };
                all.add_sidecar(bytes, index, &expansion);
            }
            Err(error) => all.diagnostics.push(unreadable(index, error)),
        }
    }
    Arc::new(all)
}

fn unreadable(file: FileIndex, error: LoadError) -> Diagnostic {
    let place = Place {
        file,
        item: None,
        span: Span::empty(0),
    };
    Diagnostic::new(
        "chatmd.test_sidecar",
        place,
        format!("this file of tests cannot be read: {error}"),
    )
}

/// What of the tests decides about their results: a firewall, so that neither a comment in a message
/// nor a rationale runs them again.
#[salsa::tracked(returns(clone))]
fn runnable<'db>(db: &'db dyn Db, root: Root, options: OptionsKey<'db>) -> Arc<Suite> {
    let suite = suite(db, root, options);
    Arc::new(Suite {
        cases: suite.cases.clone(),
        facts: suite.facts.clone(),
        ..Suite::default()
    })
}

/// Runs all tests. Depends on what the document declares and on its tests, not on its prose.
#[salsa::tracked(returns(clone))]
fn run<'db>(db: &'db dyn Db, root: Root, options: OptionsKey<'db>) -> Arc<TestRun> {
    let suite = runnable(db, root, options);
    let compile = options.options(db);
    let Some(tests) = &compile.tests else {
        return Arc::default();
    };
    if suite.cases.is_empty() {
        return Arc::default();
    }
    let resolution = subject(db, root, compile, tests);
    match &resolution.manifest {
        Some(manifest) => {
            let places = &resolution.places;
            let mut run = expectations::run_all(manifest, places, &suite, tests.platform);
            let secrets = Secrets::of(&resolution.material);
            for found in &mut run.diagnostics {
                secrets.redact_finding(found);
            }
            for reason in run.results.iter_mut().filter_map(|it| it.reason.as_mut()) {
                *reason = secrets.redact(reason);
            }
            Arc::new(run)
        }
        None => Arc::default(),
    }
}

impl Tested {
    /// Fills in the results.
    pub(super) fn fill<'db>(&mut self, db: &'db dyn Db, root: Root, options: OptionsKey<'db>) {
        let compile = options.options(db);
        if let Some(tests) = &compile.tests {
            self.run = run(db, root, options);
            let subject = subject(db, root, compile, tests);
            self.secrets = Arc::new(Secrets::of(&subject.material));
            self.manifest = subject.manifest.clone();
        }
    }
}

/// What tests run against: the document as the platform of the tests has it, so that the results
/// are the same on every machine, whatever it compiles for.
fn subject(
    db: &dyn Db,
    root: Root,
    options: &CompileOptions,
    tests: &TestSelection,
) -> Arc<Resolution> {
    let on = |platform| {
        let options = CompileOptions {
            platform,
            ..options.clone()
        };
        resolution(db, root, options.resolution_key(db))
    };
    let meant = on(tests.platform);
    match meant.manifest.is_some() {
        true => meant,
        false => on(options.platform),
    }
}
