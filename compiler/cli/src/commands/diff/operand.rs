//! From operands to manifests.

use std::collections::HashMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::Compilation;
use chatmd_compiler::db::{Database, LoadError, Root};
use chatmd_compiler::manifest::bundle::{self, Content};
use chatmd_compiler::manifest::{self, Manifest, ManifestError};

use crate::args::Reading;
use crate::documents::{Documents, Unreadable, compilation};
use crate::git::{self, Repository, Revision};
use crate::{exit, live};

/// One operand as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Stdin,
    File(Utf8PathBuf),
    /// `git:REV:PATH`. With `file`, PATH is a file of the work tree and may be missing there.
    Git {
        revision: String,
        path: String,
        file: bool,
    },
}

impl Operand {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        let Some(rest) = text.strip_prefix(git::PREFIX) else {
            return Ok(Self::File(Utf8PathBuf::from(text)));
        };
        match rest.split_once(':') {
            Some((revision, path)) if !revision.is_empty() && !path.is_empty() => Ok(Self::Git {
                revision: revision.to_owned(),
                path: path.to_owned(),
                file: false,
            }),
            _ => Err(format!(
                "`{text}` is not of the form git:REV:PATH, for example git:HEAD:agent.chatmd"
            )),
        }
    }

    /// A file of the work tree as a revision has it.
    pub(super) fn before(revision: &str, file: &Utf8Path) -> Self {
        Self::Git {
            revision: revision.to_owned(),
            path: file.as_str().to_owned(),
            file: true,
        }
    }

    pub(super) fn label(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) => path.as_str().to_owned(),
            Self::Git { revision, path, .. } => format!("{}{revision}:{path}", git::PREFIX),
        }
    }
}

/// What an operand turned out to be.
pub(super) enum Side {
    /// A document or bundle of this machine.
    Here(Arc<Compilation>),
    /// A document of a revision.
    Then(Arc<Compilation>),
    /// A plain manifest.
    Manifest(Box<Manifest>),
    /// A file that is not there.
    Nothing,
}

/// Why there is nothing to compare.
pub(super) enum Failure {
    /// The operand can not be read.
    Unreadable(String),
    /// The document has errors.
    Broken(String, Arc<Compilation>),
    /// A compiled file is refused.
    Refused(ManifestError),
    /// The manifest can not be bound to this machine.
    Unbound(String),
}

impl Failure {
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Unreadable(_) => exit::IO,
            Self::Broken(..) | Self::Refused(_) | Self::Unbound(_) => exit::FAILED,
        }
    }
}

/// Everything that operands are read from.
pub(super) struct Operands<'a> {
    reading: &'a Reading,
    documents: Documents,
    repository: Option<Repository>,
    revisions: HashMap<String, (Revision, Database)>,
}

impl<'a> Operands<'a> {
    pub(super) fn new(reading: &'a Reading) -> Result<Self, String> {
        Ok(Self {
            reading,
            documents: Documents::new(reading).map_err(|why| why.to_string())?,
            repository: None,
            revisions: HashMap::new(),
        })
    }

    pub(super) fn cwd(&self) -> &Utf8Path {
        self.documents.cwd()
    }

    /// Reads and compiles an operand. `may_be_missing`: a file that is not there is nothing.
    pub(super) fn load(
        &mut self,
        operand: &Operand,
        may_be_missing: bool,
    ) -> Result<Side, Failure> {
        match operand {
            Operand::Stdin => self.here(Utf8Path::new("-"), false),
            Operand::File(path) => self.here(path, may_be_missing),
            Operand::Git {
                revision,
                path,
                file,
            } => self
                .then(revision, path, *file)
                .map_err(|failure| match failure {
                    Failure::Unreadable(why) => {
                        Failure::Unreadable(format!("cannot read `{}`: {why}", operand.label()))
                    }
                    other => other,
                }),
        }
    }

    fn here(&mut self, path: &Utf8Path, may_be_missing: bool) -> Result<Side, Failure> {
        match self.documents.open(path, self.reading, None) {
            Ok(root) => {
                let read = self.read(&self.documents.db, root, path.as_str())?;
                Ok(match read {
                    Read::Compiled(compilation) => Side::Here(compilation),
                    Read::Manifest(manifest) => Side::Manifest(manifest),
                })
            }
            Err(Unreadable::File {
                why: LoadError::NotFound,
                ..
            }) if may_be_missing => Ok(Side::Nothing),
            Err(why) => Err(Failure::Unreadable(why.to_string())),
        }
    }

    /// Reads what files a revision has, once.
    fn open_revision(&mut self, name: &str) -> Result<(), git::Reason> {
        let repository = match self.repository.take() {
            Some(repository) => repository,
            None => Repository::around(self.documents.cwd())?,
        };
        let repository = self.repository.insert(repository);
        if !self.revisions.contains_key(name) {
            let revision = repository.revision(name, self.reading.max_source)?;
            let db = Database::new(revision.clone());
            self.revisions.insert(name.to_owned(), (revision, db));
        }
        Ok(())
    }

    /// Every document of the repository, here or in the revision.
    pub(super) fn documents(&mut self, name: &str) -> Result<Vec<Utf8PathBuf>, git::Reason> {
        self.open_revision(name)?;
        match (&self.repository, self.revisions.get(name)) {
            (Some(repository), Some((revision, _))) => repository.documents(revision),
            _ => Ok(Vec::new()),
        }
    }

    fn then(&mut self, name: &str, path: &str, file: bool) -> Result<Side, Failure> {
        self.open_revision(name).map_err(Failure::Unreadable)?;
        let (Some(repository), Some((revision, db))) =
            (&self.repository, self.revisions.get_mut(name))
        else {
            return Err(Failure::Unreadable("there is no such revision".to_owned()));
        };
        let within = if file {
            repository.path_of(Utf8Path::new(path))
        } else {
            repository.path_named(path)
        };
        let within = within.map_err(Failure::Unreadable)?;
        let top = revision.top().to_owned();
        let root = match db.root_from_path(&within, &top) {
            Ok(root) => root,
            Err(LoadError::NotFound) if file => return Ok(Side::Nothing),
            Err(why) => return Err(Failure::Unreadable(why.to_string())),
        };
        let Some((_, db)) = self.revisions.get(name) else {
            return Err(Failure::Unreadable("there is no such revision".to_owned()));
        };
        let label = format!("{}{name}:{path}", git::PREFIX);
        Ok(match self.read(db, root, &label)? {
            Read::Compiled(compilation) => Side::Then(compilation),
            Read::Manifest(manifest) => Side::Manifest(manifest),
        })
    }

    fn read(&self, db: &Database, root: Root, label: &str) -> Result<Read, Failure> {
        if let Ok(bytes) = root.file(db).content(db)
            && bundle::recognise(bytes) == Content::Manifest
        {
            let mut manifest = manifest::from_bytes(bytes).map_err(Failure::Refused)?;
            manifest.binding = None;
            return Ok(Read::Manifest(Box::new(manifest)));
        }
        let compilation =
            compilation(db, root, self.reading, self.documents.cwd()).map_err(Failure::Refused)?;
        if compilation.succeeded() {
            Ok(Read::Compiled(compilation))
        } else {
            Err(Failure::Broken(label.to_owned(), compilation))
        }
    }

    /// The manifest of a side; `None` for nothing.
    pub(super) fn manifest(&self, side: &Side, bound: bool) -> Result<Option<Manifest>, Failure> {
        match side {
            Side::Nothing => Ok(None),
            Side::Manifest(manifest) => Ok(Some((**manifest).clone())),
            Side::Here(compilation) if bound => {
                let environment = live::environment(self.reading).map_err(Failure::Unreadable)?;
                let live = live::bind(self.reading, environment, compilation, &self.documents);
                live.map(|live| Some(live.manifest))
                    .map_err(|why| Failure::Unbound(why.reason))
            }
            Side::Here(compilation) | Side::Then(compilation) => {
                Ok(compilation.manifest.as_deref().cloned())
            }
        }
    }
}

enum Read {
    Compiled(Arc<Compilation>),
    Manifest(Box<Manifest>),
}
