//! Every document of the corpus.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::diagnostics::Fix;
use chatmd_compiler::diagnostics::pages::suite;
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::resolve::Features;
use chatmd_compiler::{Compilation, CompileOptions, compile};

/// A root with the files beside it.
pub struct Document {
    /// Where it comes from.
    pub name: String,
    root: String,
    files: BTreeMap<String, Vec<u8>>,
    options: CompileOptions,
}

impl Document {
    /// Most fixes of one document that are tried.
    pub const MAX_FIXES: usize = 40;

    pub fn new(name: String, root: &str, files: BTreeMap<String, Vec<u8>>) -> Self {
        Self {
            name,
            root: root.to_owned(),
            files,
            options: CompileOptions::for_platform(Platform::Linux),
        }
    }

    pub fn compile(&self) -> Arc<Compilation> {
        let system: MemoryFileSystem = self
            .files
            .iter()
            .map(|(name, bytes)| (format!("/project/{name}"), bytes.as_slice()))
            .collect();
        let mut db = Database::new(system);
        let root = db
            .root_from_path(Utf8Path::new(&self.root), Utf8Path::new("/project"))
            .unwrap();
        compile(&db, root, &self.options)
    }

    /// The document after a fix. Edits must not overlap.
    pub fn repaired(&self, compilation: &Compilation, fix: &Fix) -> Self {
        let mut edits: Vec<_> = fix
            .edits
            .iter()
            .map(|edit| {
                let at = compilation.locate(edit.place).unwrap();
                (at.file.display.clone(), at.span, &edit.text)
            })
            .collect();
        edits.sort_by_key(|(_, span, _)| std::cmp::Reverse(span.start));
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for file in &compilation.files {
            texts.insert(file.display.clone(), file.text.to_string());
        }
        let mut files = self.files.clone();
        for (name, span, text) in edits {
            let whole = texts.get_mut(&name).unwrap();
            whole.replace_range(span.range(), text);
            files.insert(name, whole.clone().into_bytes());
        }
        Self {
            name: self.name.clone(),
            root: self.root.clone(),
            files,
            options: self.options.clone(),
        }
    }
}

fn corpus() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// All documents of `corpus`.
pub fn documents() -> Vec<Document> {
    let mut found = Vec::new();
    suites(&corpus().join("spec"), &mut found);
    folders(&corpus().join("vectors/errors"), &mut found);
    folders(&corpus().join("vectors/manifest"), &mut found);
    for folder in ["hostile", "examples", "examples/refused"] {
        files(folder, &mut found);
    }
    assert!(found.len() > 500, "{}", found.len());
    found
}

/// The blocks of every suite.
fn suites(folder: &Path, found: &mut Vec<Document>) {
    for path in sorted(folder) {
        if path.is_dir() {
            suites(&path, found);
            continue;
        }
        if path.extension().is_none_or(|ext| ext != "md") || path.ends_with("README.md") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let suite = suite::parse(&text).unwrap();
        for case in suite.sections.iter().flat_map(|section| &section.cases) {
            let name = format!(
                "{}:{}",
                path.strip_prefix(corpus()).unwrap().display(),
                case.line
            );
            let files = case
                .files
                .iter()
                .map(|file| (file.name.clone(), file.bytes.clone()));
            let mut document = Document::new(name, &case.files[0].name, files.collect());
            let platform = Platform::from_word(&case.platform).unwrap();
            document.options = CompileOptions::for_platform(platform);
            if !case.without.is_empty() {
                let all = chatmd_compiler::resolve::features::ALL.iter().copied();
                let with = all.filter(|id| !case.without.iter().any(|without| without == id));
                document.options.features = Features::of(with);
            }
            found.push(document);
        }
    }
}

/// Folders of one document each.
fn folders(folder: &Path, found: &mut Vec<Document>) {
    for path in sorted(folder) {
        let mut files = BTreeMap::new();
        read(&path, "", &mut files);
        let expected = files.remove("expect.json").unwrap();
        let expected: serde_json::Value = serde_json::from_slice(&expected).unwrap();
        let word = |name: &str| expected[name].as_str().unwrap();
        let mut document = Document::new(path.display().to_string(), word("root"), files);
        let platform = Platform::from_word(word("platform")).unwrap();
        document.options = CompileOptions::for_platform(platform);
        found.push(document);
    }
}

fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for path in sorted(folder) {
        let name = format!("{prefix}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            read(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

/// Documents of one file each.
fn files(folder: &str, found: &mut Vec<Document>) {
    let folder = corpus().join(folder);
    for path in sorted(&folder) {
        if path.extension().is_some_and(|ext| ext == "chatmd") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let mut files = BTreeMap::new();
            read(&folder, "", &mut files);
            found.push(Document::new(path.display().to_string(), &name, files));
        }
    }
}

fn sorted(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
