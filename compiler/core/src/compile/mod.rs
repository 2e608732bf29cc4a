//! The one entry point of command line, language server and runtime: a root document in, a
//! manifest and every finding out.

mod findings;
mod position;
mod programs;
mod secrets;
mod standalone;
mod tested;

use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};

use crate::db::{self, Db, Root};
use crate::diagnostics::{Diagnostic, FileIndex, Place, Severity};
use crate::expand::{Reading, expand};
use crate::manifest::bundle::{self, Bundle, Content};
use crate::manifest::json::clip;
use crate::manifest::{Manifest, ManifestError, Platform, SourceRole};
use crate::resolve::{Features, Material, Places, Resolution};

pub use chatmd_syntax::{LineIndex, Position, Span};
pub use findings::{MAX_DIAGNOSTICS, from_syntax};
pub use position::Location;
pub use standalone::Standalone;
pub use tested::{Secrets, TestSelection, Tested};

/// What a compilation depends on beside its files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// Target platform.
    pub platform: Platform,
    /// Features that the consumer of the manifest has.
    pub features: Features,
    /// Whether digests are wanted: of documents in `sources`, and of the manifest. A checker that
    /// only reports can do without them; such a manifest authorises nothing.
    pub digests: bool,
    /// Which tests are run; one that fails is an error of the document. `None`: none is run, which
    /// is for tools that have said so.
    pub tests: Option<TestSelection>,
}

impl CompileOptions {
    /// For that platform with all features and the tests in the document.
    pub fn for_platform(platform: Platform) -> Self {
        Self {
            platform,
            features: Features::all(),
            digests: true,
            tests: Some(TestSelection::default()),
        }
    }

    /// The key of resolution, which depends on less.
    fn resolution_key<'db>(&self, db: &'db dyn Db) -> OptionsKey<'db> {
        let options = Self {
            digests: false,
            tests: None,
            ..self.clone()
        };
        OptionsKey::new(db, options)
    }

    /// For the platform of this machine; systems that are not Macs or Windows count as Linux.
    pub fn for_this_machine() -> Self {
        let platform = if cfg!(target_os = "macos") {
            Platform::Macos
        } else if cfg!(windows) {
            Platform::Windows
        } else {
            Platform::Linux
        };
        Self::for_platform(platform)
    }
}

/// The result of compiling one document.
#[derive(Debug)]
pub struct Compilation {
    /// The requested manifest (`binding` is `None`). `None` exactly when there is an error.
    pub manifest: Option<Arc<Manifest>>,
    /// Digest of the canonical bytes of [`Compilation::manifest`], if digests are wanted.
    pub requested_sha256: Option<String>,
    /// Program texts, command texts and literal secrets that a run needs beside the manifest.
    pub material: Arc<Material>,
    /// Where the declarations of the manifest stand; empty for a bundle.
    pub places: Arc<Places>,
    /// Its tests and their results; empty for a bundle, and when the document has errors.
    pub tested: Tested,
    /// Every finding: sorted by file, position and code, without repetitions, at most
    /// [`MAX_DIAGNOSTICS`] and one that says so.
    pub diagnostics: Vec<Diagnostic>,
    /// Every file that was read, by [`FileIndex`], root first.
    pub files: Vec<CompiledFile>,
    /// Absolute directory of the root document: `${prompt_dir}`.
    pub directory: Utf8PathBuf,
}

/// A file of a compilation.
#[derive(Debug)]
pub struct CompiledFile {
    /// Path for people (spec 01 section 15.1): the root as the caller named it, others relative to
    /// the directory of the root.
    pub display: String,
    /// Path in the manifest.
    pub manifest_path: String,
    /// Absolute path by which the file was reached, for `source_dir`, links and editors.
    pub path: Utf8PathBuf,
    /// The text that spans refer to; invalid UTF-8 is replaced.
    pub text: Arc<str>,
    item_starts: Arc<[u32]>,
    lines: OnceLock<LineIndex>,
    secrets: OnceLock<Vec<Span>>,
}

impl Compilation {
    /// A bundle in the place of its documents (spec 04 section 8.10). `display` is how it is called
    /// for people, `path` is the bundle itself, and `directory` is where the paths of its sources
    /// begin.
    fn from_bundle(bundle: Bundle, display: &str, path: &Utf8Path, directory: Utf8PathBuf) -> Self {
        let file = CompiledFile {
            display: display.to_owned(),
            manifest_path: path.file_name().unwrap_or(display).to_owned(),
            path: path.to_owned(),
            text: Arc::from(""),
            item_starts: Arc::from([]),
            lines: OnceLock::new(),
            secrets: OnceLock::new(),
        };
        Self {
            manifest: Some(Arc::new(bundle.manifest)),
            requested_sha256: Some(bundle.requested_sha256),
            material: Arc::new(Material {
                scripts: bundle.scripts,
                ..Material::default()
            }),
            places: Arc::default(),
            tested: Tested::default(),
            diagnostics: Vec::new(),
            files: vec![file],
            directory,
        }
    }

    /// How many findings have that severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics
            .iter()
            .filter(|found| found.severity == severity)
            .count()
    }

    /// Whether the document compiled.
    pub fn succeeded(&self) -> bool {
        self.manifest.is_some()
    }

    /// The file of an index.
    pub fn file(&self, index: FileIndex) -> Option<&CompiledFile> {
        self.files.get(index.0 as usize)
    }

    /// Where a place lies now: file, absolute bytes, lines and columns.
    pub fn locate(&self, place: Place) -> Option<Location<'_>> {
        let file = self.file(place.file)?;
        Some(file.location(place))
    }
}

impl CompiledFile {
    /// Lines of the text.
    pub fn lines(&self) -> &LineIndex {
        self.lines
            .get_or_init(|| LineIndex::new(Arc::clone(&self.text)))
    }

    /// Literal secrets in the text, ascending: no excerpt may show them (spec 01 section 15.3).
    pub fn secrets(&self) -> &[Span] {
        self.secrets
            .get_or_init(|| secrets::literal_values(&self.text))
    }

    /// Whether a part of a literal secret lies in that span, so that nothing may show what stands
    /// there or what a repair makes of it.
    pub fn holds_secret(&self, span: Span) -> bool {
        let secrets = self.secrets();
        let next = secrets.partition_point(|secret| secret.end <= span.start);
        secrets
            .get(next)
            .is_some_and(|secret| secret.start < span.end)
    }

    /// The parts of literal secrets that lie in that span.
    fn secret_parts(&self, span: Span) -> impl Iterator<Item = &str> {
        let secrets = self.secrets();
        let next = secrets.partition_point(|secret| secret.end <= span.start);
        let within = secrets.get(next..).unwrap_or_default().iter();
        within
            .take_while(move |secret| secret.start < span.end)
            .filter_map(move |secret| {
                let start = secret.start.max(span.start) as usize;
                let end = secret.end.min(span.end) as usize;
                self.text.get(start..end)
            })
    }

    fn location(&self, place: Place) -> Location<'_> {
        let span = position::absolute(place, &self.item_starts, &self.text);
        let lines = self.lines();
        Location {
            file: self,
            index: place.file,
            span,
            start: lines.position(span.start),
            end: lines.position(span.end),
        }
    }
}

/// Options as salsa keys.
#[salsa::interned(debug)]
struct OptionsKey<'db> {
    #[returns(ref)]
    options: CompileOptions,
}

#[salsa::tracked(returns(clone))]
fn resolution<'db>(db: &'db dyn Db, root: Root, options: OptionsKey<'db>) -> Arc<Resolution> {
    let expansion = expand(db, root);
    let options = options.options(db);
    Arc::new(crate::resolve::resolve(
        &expansion.document,
        options.platform,
        &options.features,
    ))
}

/// Compiles a document.
///
/// Reads the root, what it imports and its script files through the database, and nothing else:
/// no command runs, no environment variable is looked at.
pub fn compile(db: &dyn Db, root: Root, options: &CompileOptions) -> Arc<Compilation> {
    compile_query(db, root, OptionsKey::new(db, options.clone()))
}

/// Compiles a document, or reads what was compiled before: an operand that may be either (spec 10
/// section 1). The paths of the sources of a bundle begin at `source_dir`, else at the directory
/// of the bundle. A bundle keeps the platform that it was compiled for.
///
/// # Errors
/// Why a bundle is refused ([`bundle::read`], `shell.unsupported_feature`), or that a plain
/// manifest cannot stand for a document (`shell.manifest_material_missing`).
pub fn compile_or_read(
    db: &dyn Db,
    root: Root,
    options: &CompileOptions,
    source_dir: Option<&Utf8Path>,
) -> Result<Arc<Compilation>, ManifestError> {
    let bytes: &[u8] = match root.file(db).content(db) {
        Ok(bytes) => bytes,
        Err(_) => &[],
    };
    match bundle::recognise(bytes) {
        Content::Document => return Ok(compile(db, root, options)),
        Content::Bundle => {}
        Content::Manifest => {
            return Err(ManifestError {
                code: "shell.manifest_material_missing",
                message: "this is a plain manifest, which has no scripts; name a document, or a \
                          bundle made by `chatmdc manifest --bundle`"
                    .to_owned(),
            });
        }
    }
    let bundle = bundle::read(bytes)?;
    let mut features = bundle.manifest.features.iter();
    if let Some(missing) = features.find(|id| !options.features.contains(id)) {
        let missing = clip(missing);
        return Err(ManifestError {
            code: "shell.unsupported_feature",
            message: format!("the bundle needs feature {missing:?}, which is not supported"),
        });
    }
    let directory = source_dir.map_or_else(|| root.directory(db).clone(), Utf8Path::to_owned);
    let path = root.directory(db).join(root.manifest_name(db));
    let name = root.name(db);
    let compilation = Compilation::from_bundle(bundle, name, &path, directory);
    Ok(Arc::new(compilation))
}

#[salsa::tracked(returns(clone), no_eq)]
fn compile_query<'db>(db: &'db dyn Db, root: Root, options: OptionsKey<'db>) -> Arc<Compilation> {
    let expansion = expand(db, root);
    let wants_digests = options.options(db).digests;
    let resolution = resolution(db, root, options.options(db).resolution_key(db));
    let suite = tested::suite(db, root, options);
    let files = compiled_files(db, root, options.options(db), &expansion);
    let mut found = findings::gather(db, &expansion, &resolution);
    let sound = resolution.manifest.is_some()
        && found.iter().all(|found| found.severity != Severity::Error);
    let mut tested = Tested {
        suite,
        ..Tested::default()
    };
    if sound {
        tested.fill(db, root, options);
    }
    found.extend(tested.suite.diagnostics.iter().cloned());
    found.extend(tested.run.diagnostics.iter().cloned());
    let diagnostics = findings::finish(found, &expansion, &files);
    let failed = diagnostics
        .iter()
        .any(|found| found.severity == Severity::Error);
    let mut manifest = resolution.manifest.clone().filter(|_| !failed);
    let mut requested_sha256 = None;
    if wants_digests && let Some(manifest) = &mut manifest {
        fill_digests(db, &expansion, Arc::make_mut(manifest));
        requested_sha256 = crate::manifest::requested_sha256(manifest).ok();
    }
    let mut material = Arc::default();
    if let Some(manifest) = &manifest {
        material = Arc::clone(&resolution.material);
        let rationales = tested.suite.annotations.beside_refusals(&manifest.runtimes);
        if !rationales.is_empty() {
            Arc::make_mut(&mut material).rationales = rationales;
        }
    }
    Arc::new(Compilation {
        manifest,
        requested_sha256,
        material,
        places: Arc::clone(&resolution.places),
        tested,
        diagnostics,
        files,
        directory: root.directory(db).clone(),
    })
}

/// What the parser alone says of a document, without its imports: for texts that are too large to be
/// analysed while someone types (spec 11 section 2.4). There is never a manifest.
#[salsa::tracked(returns(clone), no_eq)]
pub fn syntax_only(db: &dyn Db, root: Root) -> Arc<Compilation> {
    let source = db::source(db, root.file(db));
    let mut diagnostics: Vec<_> = source.diagnostics.iter().map(from_syntax).collect();
    diagnostics.truncate(MAX_DIAGNOSTICS);
    let directory = root.directory(db).clone();
    Arc::new(Compilation {
        manifest: None,
        requested_sha256: None,
        material: Arc::default(),
        places: Arc::default(),
        tested: Tested::default(),
        diagnostics,
        files: vec![CompiledFile {
            display: root.name(db).to_string(),
            manifest_path: root.manifest_name(db).to_string(),
            path: directory.join(root.manifest_name(db)),
            text: Arc::clone(&source.text),
            item_starts: Arc::clone(&source.item_starts),
            lines: OnceLock::new(),
            secrets: OnceLock::new(),
        }],
        directory,
    })
}

/// Fills in the digests of documents, which resolution does not see.
fn fill_digests(db: &dyn Db, expansion: &crate::expand::Expansion, manifest: &mut Manifest) {
    let by_path: std::collections::HashMap<&str, db::FileInput> = expansion
        .document
        .files
        .iter()
        .zip(&expansion.files)
        .map(|(source, file)| (source.path.as_str(), file.input))
        .collect();
    for source in &mut manifest.sources {
        if source.role == SourceRole::Script && !source.sha256.is_empty() {
            continue;
        }
        if let Some(input) = by_path.get(source.path.as_str()) {
            source.sha256 = db::digest(db, *input).to_string();
        }
    }
}

fn compiled_files(
    db: &dyn Db,
    root: Root,
    options: &CompileOptions,
    expansion: &crate::expand::Expansion,
) -> Vec<CompiledFile> {
    let files = expansion.files.iter().zip(&expansion.document.files);
    let tests = options.tests.iter();
    let tests = tests.flat_map(|tests| tested::files(db, root, tests));
    let tests = tests.map(|file| {
        let bytes = file
            .file
            .ok()
            .and_then(|input| input.content(db).clone().ok());
        CompiledFile {
            manifest_path: file.display.clone(),
            display: file.display,
            path: file.path,
            text: String::from_utf8_lossy(&bytes.unwrap_or_default()).into(),
            item_starts: Arc::from([]),
            lines: OnceLock::new(),
            secrets: OnceLock::new(),
        }
    });
    files
        .map(|(file, source)| {
            let document = file.readings.contains(&Reading::Document);
            let source_of = if document {
                Some(db::source(db, file.input))
            } else if file.readings.contains(&Reading::Content) {
                Some(db::content_source(db, file.input))
            } else {
                None
            };
            let (text, item_starts) = match source_of {
                Some(known) => (Arc::clone(&known.text), Arc::clone(&known.item_starts)),
                None => {
                    let bytes = file.input.content(db).clone().unwrap_or_default();
                    (String::from_utf8_lossy(&bytes).into(), Arc::from([]))
                }
            };
            CompiledFile {
                display: file.display.clone(),
                manifest_path: source.path.clone(),
                path: file.path.clone(),
                text,
                item_starts,
                lines: OnceLock::new(),
                secrets: OnceLock::new(),
            }
        })
        .chain(tests)
        .collect()
}
