//! Golden cases: a directory of sources with an `expect.json`.

#![allow(dead_code)] // each test crate uses what it needs

use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::Utf8Path;
use chatmd_compiler::db::Database;
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::{Compilation, CompileOptions, compile};

/// One case.
pub struct Case {
    pub name: String,
    pub expectation: String,
    directory: PathBuf,
}

/// All cases of a folder of `corpus/vectors`, by name.
pub fn cases(folder: &str) -> Vec<Case> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/vectors")
        .join(folder);
    let mut cases: Vec<Case> = std::fs::read_dir(&base)
        .unwrap()
        .map(|entry| {
            let directory = entry.unwrap().path();
            Case {
                name: directory
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned(),
                expectation: std::fs::read_to_string(directory.join("expect.json")).unwrap(),
                directory,
            }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

impl Case {
    /// Compiles a copy of the case in a fresh directory through the real file system.
    pub fn compile(&self, root: &str, platform: &str) -> Arc<Compilation> {
        let copy = tempfile::tempdir().unwrap();
        copy_sources(&self.directory, copy.path());
        let directory = Utf8Path::from_path(copy.path()).unwrap();
        let mut db = Database::default();
        let path = directory.join(root);
        let parent = path.parent().unwrap();
        let name = path.file_name().unwrap();
        let root = db.root_from_path(name.into(), parent).unwrap();
        let platform = Platform::from_word(platform).unwrap();
        let compilation = compile(&db, root, &CompileOptions::for_platform(platform));
        let text = format!("{:?}", compilation.diagnostics);
        assert!(
            !text.contains(directory.as_str()),
            "{}: a path of the machine leaks",
            self.name
        );
        compilation
    }
}

fn copy_sources(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_sources(&entry.path(), &target);
        } else if entry.file_name() != "expect.json" {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Case {
    /// Every source file: path below the case, bytes.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        let mut open = vec![self.directory.clone()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if path.file_name().unwrap() != "expect.json" {
                    let name = path.strip_prefix(&self.directory).unwrap();
                    files.push((
                        name.to_str().unwrap().to_owned(),
                        std::fs::read(&path).unwrap(),
                    ));
                }
            }
        }
        files
    }
}
