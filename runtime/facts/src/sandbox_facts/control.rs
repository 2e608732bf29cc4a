//! Files inside write roots that a person's next command would run outside the sandbox
//! (spec 06b B2.4 rule 6).

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use chatmd_plan::facts::{ControlPath, ControlState};

use crate::canonical::{CanonicalPath, canonical, canonical_or_parent};

/// Names at the top of a project.
const PROJECT_FILES: [&str; 5] = [
    "chatmd.toml",
    ".pre-commit-config.yaml",
    ".envrc",
    ".vscode",
    ".idea",
];
/// Names below a git directory.
const GIT_FILES: [&str; 3] = ["hooks", "config", "info/attributes"];
/// Most git directories of submodules that are looked for, and how deep.
const MAX_MODULES: usize = 512;
const MAX_MODULE_DEPTH: usize = 6;
/// A `.git` file is one line.
const MAX_GIT_FILE_BYTES: u64 = 8192;

/// What the search starts from.
#[derive(Clone, Copy, Debug)]
pub struct ControlInput<'a> {
    /// Canonical write roots.
    pub write_roots: &'a [CanonicalPath],
    /// The document's own files: root, imports, scripts, sidecars.
    pub sources: &'a [PathBuf],
    /// Folders beside the write roots that may be projects, such as the workspace.
    pub projects: &'a [CanonicalPath],
}

/// Every control path in a write root, sorted.
pub fn control_paths(input: &ControlInput<'_>) -> Vec<ControlPath> {
    let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
    for source in input.sources {
        // The name itself and, through links, the file it leads to.
        wanted.insert(parent_resolved(source));
        if let Ok(path) = canonical(source) {
            wanted.insert(path.as_path().to_path_buf());
        }
    }
    let inside = |path: &Path| {
        input
            .write_roots
            .iter()
            .any(|root| path.starts_with(root.as_path()))
    };
    let projects = input.projects.iter().filter(|path| inside(path.as_path()));
    for project in input
        .write_roots
        .iter()
        .chain(projects)
        .filter(|path| path.as_path().is_dir())
    {
        let top = project.as_path();
        wanted.extend(PROJECT_FILES.iter().map(|name| top.join(name)));
        git(&top.join(".git"), &mut wanted);
    }
    // What a link leads to is read like the name itself; the link can not be bound. Of a git
    // directory only parts are protected, and they are among the wanted.
    let linked: Vec<PathBuf> = wanted
        .iter()
        .filter(|path| path.file_name().is_none_or(|name| name != ".git"))
        .filter(|path| state(path) == ControlState::Symlink)
        .filter_map(|path| canonical(path).ok())
        .map(|path| path.as_path().to_path_buf())
        .collect();
    wanted.extend(linked);
    let kept = wanted.into_iter().filter(|path| inside(path));
    kept.map(|path| ControlPath {
        state: state(&path),
        path,
    })
    .collect()
}

fn state(path: &Path) -> ControlState {
    // A link anywhere above would let the path lead elsewhere; only canonical ones are bound.
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.file_type().is_symlink() => ControlState::Symlink,
        Ok(_) if canonical(path).is_ok_and(|found| found.as_path() == path) => {
            ControlState::Present
        }
        Ok(_) => ControlState::Symlink,
        Err(_) => ControlState::Missing,
    }
}

/// The name of a file in its resolved folder.
fn parent_resolved(path: &Path) -> PathBuf {
    match (path.parent().map(canonical_or_parent), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.as_path().join(name),
        _ => path.to_path_buf(),
    }
}

/// Adds the control paths of a `.git` folder or, in a worktree, of the folder its `.git` file names.
fn git(dot_git: &Path, wanted: &mut BTreeSet<PathBuf>) {
    let Ok(meta) = fs::symlink_metadata(dot_git) else {
        return;
    };
    if meta.is_dir() {
        git_directory(dot_git, wanted);
    } else if meta.is_file() {
        // Another content would make git read another folder.
        wanted.insert(dot_git.to_path_buf());
        if let Some(folder) = linked(dot_git, b"gitdir:") {
            git_directory(folder.as_path(), wanted);
            if let Some(common) = linked(&folder.as_path().join("commondir"), b"") {
                git_directory(common.as_path(), wanted);
            }
        }
    } else {
        wanted.insert(dot_git.to_path_buf());
        if let Ok(folder) = canonical(dot_git)
            && folder.as_path().is_dir()
        {
            git_directory(folder.as_path(), wanted);
        }
    }
}

/// The git directories that the `.git` file of the working tree around a folder leads to: its own,
/// and the one that it shares with others. None when `.git` is a folder.
pub(crate) fn git_directories(folder: &Path) -> Vec<CanonicalPath> {
    let marks = folder.ancestors().map(|above| above.join(".git"));
    let Some((mark, meta)) = marks
        .filter_map(|mark| Some((mark.clone(), fs::symlink_metadata(mark).ok()?)))
        .next()
    else {
        return Vec::new();
    };
    let own = meta.is_file().then(|| linked(&mark, b"gitdir:")).flatten();
    let shared = own
        .as_ref()
        .and_then(|own| linked(&own.as_path().join("commondir"), b""));
    own.into_iter().chain(shared).collect()
}

/// A folder named by the one line of a file, relative to the file's own folder.
fn linked(file: &Path, prefix: &[u8]) -> Option<CanonicalPath> {
    let meta = fs::symlink_metadata(file)
        .ok()
        .filter(|meta| meta.is_file())?;
    let mut text = Vec::new();
    fs::File::open(file)
        .ok()?
        .take(MAX_GIT_FILE_BYTES)
        .read_to_end(&mut text)
        .ok()?;
    if meta.len() > MAX_GIT_FILE_BYTES {
        return None;
    }
    let name = text.strip_prefix(prefix)?.trim_ascii();
    canonical(file.parent()?.join(std::ffi::OsStr::from_bytes(name))).ok()
}

fn git_directory(folder: &Path, wanted: &mut BTreeSet<PathBuf>) {
    wanted.extend(GIT_FILES.iter().map(|name| folder.join(name)));
    // A worktree's own settings, read beside `config` when it exists.
    let worktree = folder.join("config.worktree");
    if worktree.symlink_metadata().is_ok() {
        wanted.insert(worktree);
    }
    let mut pending = vec![(folder.join("modules"), 0_usize)];
    let mut found = 0;
    while let Some((path, depth)) = pending.pop() {
        let Ok(entries) = fs::read_dir(&path) else {
            continue;
        };
        for entry in entries.flatten() {
            if found >= MAX_MODULES || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let module = entry.path();
            if module.join("HEAD").symlink_metadata().is_ok() {
                found += 1;
                wanted.extend(GIT_FILES.iter().map(|name| module.join(name)));
                pending.push((module.join("modules"), depth + 1));
            } else if depth < MAX_MODULE_DEPTH {
                // A submodule's name may hold slashes.
                pending.push((module, depth + 1));
            }
        }
    }
}
