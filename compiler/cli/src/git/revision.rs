//! The files of one revision as a file system.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::db::{FileSystem, LoadError, Located};

use super::objects::Objects;

/// How the names of documents end.
const DOCUMENT: &str = "chatmd";

/// Most symbolic links on the way to one file, as Linux has it.
const MAX_LINKS: usize = 40;

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
    objects: Arc<Objects>,
    top: Utf8PathBuf,
    max_bytes: u64,
    entries: HashMap<Utf8PathBuf, Entry>,
    directories: HashSet<Utf8PathBuf>,
}

impl Revision {
    /// From what `git ls-tree -r -z` prints: `MODE TYPE OBJECT<TAB>PATH<NUL>`.
    pub(super) fn new(objects: Arc<Objects>, top: &Utf8Path, max_bytes: u64, tree: &str) -> Self {
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
            objects,
            top: top.to_owned(),
            max_bytes,
            entries,
            directories,
        }))
    }

    /// The documents among the files, known by the ending of their names.
    pub(super) fn documents(&self) -> impl Iterator<Item = &Utf8Path> {
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
        self.objects.read(&entry.object, self.max_bytes)
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
