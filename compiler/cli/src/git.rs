//! Documents as a revision has them: a file system over the objects of a git repository.
//!
//! `git` is asked for objects only. It runs no hook, no filter, no monitor and no pager, fetches
//! nothing from elsewhere, takes no lock and looks at no replacement object; content comes out as
//! it was stored.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::db::{FileSystem, LoadError, Located, normalize};

/// Prefix of operands that name a revision.
pub const PREFIX: &str = "git:";

/// How the names of documents end.
const DOCUMENT: &str = "chatmd";

/// Most symbolic links on the way to one file, as Linux has it.
const MAX_LINKS: usize = 40;

/// Most bytes of a message of git that are shown.
const MAX_MESSAGE: usize = 300;

/// Largest list of the files of a revision, in bytes.
const MAX_TREE: u64 = 256 << 20;

/// What is wrong, in one sentence.
pub type Reason = String;

/// A work tree.
pub struct Repository {
    program: PathBuf,
    cwd: Utf8PathBuf,
    top: Utf8PathBuf,
}

impl Repository {
    /// The repository around a directory.
    ///
    /// # Errors
    /// When there is no git, or no repository.
    pub fn around(cwd: &Utf8Path) -> Result<Self, Reason> {
        let mut repository = Self {
            program: find_git()?,
            cwd: cwd.to_owned(),
            top: cwd.to_owned(),
        };
        let top = repository.answer(&["rev-parse", "--show-toplevel"])?;
        let top = top.strip_suffix('\n').unwrap_or(&top);
        repository.top = normalize(Utf8Path::new(top));
        Ok(repository)
    }

    /// The path of a file of the work tree within the repository.
    ///
    /// # Errors
    /// When the file lies elsewhere.
    pub fn path_of(&self, file: &Utf8Path) -> Result<Utf8PathBuf, Reason> {
        let absolute = normalize(&self.cwd.join(file));
        if let Ok(within) = absolute.strip_prefix(&self.top) {
            return Ok(within.to_owned());
        }
        // The work tree may be known by another name than the one that was given.
        let real = absolute
            .parent()
            .and_then(|parent| parent.canonicalize_utf8().ok())
            .zip(absolute.file_name())
            .map(|(parent, name)| parent.join(name));
        let within = real
            .as_ref()
            .and_then(|real| real.strip_prefix(&self.top).ok());
        within
            .map(Utf8Path::to_owned)
            .ok_or_else(|| format!("`{file}` is not in the git repository at `{}`", self.top))
    }

    /// The path that `PATH` of `git:REV:PATH` means: from the top of the repository, or from the
    /// current directory when it begins with `./` or `../`, as for git itself.
    ///
    /// # Errors
    /// When it leads out of the repository.
    pub fn path_named(&self, path: &str) -> Result<Utf8PathBuf, Reason> {
        if path.starts_with("./") || path.starts_with("../") {
            self.path_of(Utf8Path::new(path))
        } else {
            let absolute = normalize(&self.top.join(path.trim_start_matches('/')));
            let within = absolute.strip_prefix(&self.top);
            within
                .map(Utf8Path::to_owned)
                .map_err(|_| format!("`{path}` leads out of the git repository"))
        }
    }

    /// The files of a revision.
    ///
    /// # Errors
    /// When there is no such revision.
    pub fn revision(&self, name: &str, max_bytes: u64) -> Result<Revision, Reason> {
        if name.is_empty() || name.starts_with('-') {
            return Err(format!("`{name}` names no revision"));
        }
        let wanted = format!("{name}^{{commit}}");
        let commit = match self.answer(&["rev-parse", "--verify", "--end-of-options", &wanted]) {
            Ok(commit) => commit.trim().to_owned(),
            // A branch without a commit, as before the first one, has no files.
            Err(_) if name == "HEAD" && self.answer(&["symbolic-ref", "-q", "HEAD"]).is_ok() => {
                return Ok(Revision::new(self, max_bytes, ""));
            }
            Err(why) => return Err(why),
        };
        let tree = self.answer(&["ls-tree", "-r", "-z", "--full-tree", &commit])?;
        Ok(Revision::new(self, max_bytes, &tree))
    }

    /// The documents that are tracked here or belong to the revision, in the order of their names,
    /// as files below the current directory or by absolute paths.
    ///
    /// # Errors
    /// When git cannot list the tracked files.
    pub fn documents(&self, revision: &Revision) -> Result<Vec<Utf8PathBuf>, Reason> {
        let tracked = self.answer(&[
            "ls-files",
            "-z",
            "--full-name",
            "--",
            ":(top,glob)**/*.chatmd",
        ])?;
        let tracked = tracked.split_terminator('\0').map(Utf8Path::new);
        // What is tracked and nowhere has nothing to compare.
        let here = tracked.filter(|path| self.top.join(path).symlink_metadata().is_ok());
        let names: BTreeSet<&Utf8Path> = here.chain(revision.documents()).collect();
        let below = |path: &Utf8Path| {
            let absolute = self.top.join(path);
            let name = absolute.strip_prefix(&self.cwd).map(Utf8Path::to_owned);
            name.unwrap_or(absolute)
        };
        Ok(names.into_iter().map(below).collect())
    }

    fn answer(&self, args: &[&str]) -> Result<String, Reason> {
        let mut command = command(&self.program, &self.cwd);
        let bytes = run(command.args(args), MAX_TREE)?;
        String::from_utf8(bytes).map_err(|_| "git names a file that is not valid UTF-8".to_owned())
    }
}

fn command(program: &Path, cwd: &Utf8Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(cwd)
        .arg("--no-pager")
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(["-c", "core.fsmonitor=false"])
        .args(["-c", "protocol.allow=never"])
        .args(["-c", "maintenance.auto=false"])
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Standard output of a command that succeeds, at most `limit` bytes.
fn run(command: &mut Command, limit: u64) -> Result<Vec<u8>, Reason> {
    let failed = |error: std::io::Error| format!("git cannot be run: {error}");
    let mut child = command.spawn().map_err(failed)?;
    // Read beside standard output: a full pipe would stop git.
    let errors = child.stderr.take().map(|stderr| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.take(1 << 16).read_to_end(&mut bytes);
            bytes
        })
    });
    let mut bytes = Vec::new();
    let read = match child.stdout.take() {
        Some(stdout) => stdout.take(limit + 1).read_to_end(&mut bytes),
        None => Ok(0),
    };
    if read.is_err() || bytes.len() as u64 > limit {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("git gave more than {limit} bytes"));
    }
    let status = child.wait().map_err(failed)?;
    if status.success() {
        return Ok(bytes);
    }
    let errors = errors.and_then(|reader| reader.join().ok());
    let errors = String::from_utf8_lossy(&errors.unwrap_or_default()).into_owned();
    let first = errors.lines().next().unwrap_or("it failed");
    let first: String = first.chars().take(MAX_MESSAGE).collect();
    Err(format!("git: {}", first.trim_start_matches("fatal: ")))
}

/// The program `git` of the search path. Relative entries are passed over: they may lead into the
/// repository that is looked at.
fn find_git() -> Result<PathBuf, Reason> {
    let path = std::env::var_os("PATH").filter(|path| !path.is_empty());
    let path = path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let name: &OsStr = OsStr::new(if cfg!(windows) { "git.exe" } else { "git" });
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
        .ok_or_else(|| "there is no git on the search path".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Link,
    Submodule,
}

#[derive(Clone, Debug)]
struct Entry {
    kind: Kind,
    object: String,
}

/// The files of one revision. Paths are those that the files would have in the work tree; outside
/// of it there is nothing.
#[derive(Clone)]
pub struct Revision(Arc<Files>);

struct Files {
    program: PathBuf,
    top: Utf8PathBuf,
    max_bytes: u64,
    entries: HashMap<Utf8PathBuf, Entry>,
    directories: HashSet<Utf8PathBuf>,
}

impl Revision {
    /// From what `git ls-tree -r -z` prints: `MODE TYPE OBJECT<TAB>PATH<NUL>`.
    fn new(repository: &Repository, max_bytes: u64, tree: &str) -> Self {
        let mut entries = HashMap::new();
        let mut directories = HashSet::new();
        for line in tree.split_terminator('\0') {
            let Some((header, path)) = line.split_once('\t') else {
                continue;
            };
            let mut words = header.split(' ');
            let (Some(mode), Some(_), Some(object)) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let kind = match mode {
                "120000" => Kind::Link,
                "160000" => Kind::Submodule,
                _ => Kind::File,
            };
            let path = Utf8PathBuf::from(path);
            let mut above = path.parent();
            while let Some(directory) = above.filter(|directory| *directory != "") {
                if !directories.insert(directory.to_owned()) {
                    break;
                }
                above = directory.parent();
            }
            let object = object.to_owned();
            entries.insert(path, Entry { kind, object });
        }
        Self(Arc::new(Files {
            program: repository.program.clone(),
            top: repository.top.clone(),
            max_bytes,
            entries,
            directories,
        }))
    }

    /// The documents among the files, known by the ending of their names.
    fn documents(&self) -> impl Iterator<Item = &Utf8Path> {
        let files = self.0.entries.iter();
        files
            .filter(|(path, entry)| {
                entry.kind != Kind::Submodule && path.extension() == Some(DOCUMENT)
            })
            .map(|(path, _)| path.as_path())
    }

    /// The top of the work tree.
    pub fn top(&self) -> &Utf8Path {
        &self.0.top
    }
}

impl Files {
    fn blob(&self, entry: &Entry) -> Result<Vec<u8>, LoadError> {
        let mut command = command(&self.program, &self.top);
        command.args(["cat-file", "blob", &entry.object]);
        let too_large = LoadError::TooLarge {
            limit: self.max_bytes,
        };
        match run(&mut command, self.max_bytes) {
            Ok(bytes) => Ok(bytes),
            Err(why) if why.starts_with("git gave more") => Err(too_large),
            // Objects that a partial clone has not got, for example.
            Err(_) => Err(LoadError::Other(std::io::ErrorKind::NotFound)),
        }
    }

    /// The file at an absolute path, following the links of the revision.
    fn find(&self, path: &Utf8Path) -> Result<(Utf8PathBuf, &Entry), LoadError> {
        let steps = |path: &Utf8Path| -> Vec<String> {
            let all = path.components().rev();
            all.map(|step| step.as_str().to_owned()).collect()
        };
        let within = path.strip_prefix(&self.top);
        let mut left = steps(within.map_err(|_| LoadError::NotFound)?);
        let mut at = Utf8PathBuf::new();
        let mut links = 0;
        while let Some(step) = left.pop() {
            match step.as_str() {
                "." => continue,
                ".." => {
                    // Above the top there is nothing that belongs to the revision.
                    if !at.pop() {
                        return Err(LoadError::NotFound);
                    }
                    continue;
                }
                step => at.push(step),
            }
            match self.entries.get(&at) {
                Some(entry) if entry.kind == Kind::Link => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(LoadError::LinkLoop);
                    }
                    let target = String::from_utf8(self.blob(entry)?);
                    let target = Utf8PathBuf::from(target.map_err(|_| LoadError::PathNotUtf8)?);
                    at.pop();
                    if target.is_absolute() {
                        let within = target.strip_prefix(&self.top);
                        left.extend(steps(within.map_err(|_| LoadError::NotFound)?));
                        at = Utf8PathBuf::new();
                    } else {
                        left.extend(steps(&target));
                    }
                }
                Some(entry) if entry.kind == Kind::File && left.is_empty() => {
                    return Ok((at, entry));
                }
                Some(entry) if entry.kind == Kind::Submodule && left.is_empty() => {
                    return Err(LoadError::Directory);
                }
                None if self.directories.contains(&at) => {}
                _ => return Err(LoadError::NotFound),
            }
        }
        Err(LoadError::Directory)
    }
}

impl FileSystem for Revision {
    fn locate(&self, path: &Utf8Path) -> Result<Located, LoadError> {
        let (within, _) = self.0.find(path)?;
        Ok(Located {
            canonical: self.0.top.join(within),
            identity: None,
        })
    }

    fn read(&self, canonical: &Utf8Path) -> Result<Arc<[u8]>, LoadError> {
        let (_, entry) = self.0.find(canonical)?;
        Ok(self.0.blob(entry)?.into())
    }
}
