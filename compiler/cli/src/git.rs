//! Documents as a revision has them: a file system over the objects of a git repository.
//!
//! `git` is asked for objects only. It runs no hook, no filter, no monitor and no pager, fetches
//! nothing from elsewhere, takes no lock and looks at no replacement object; content comes out as
//! it was stored. Four processes answer for a whole run, however many files it compares.

mod objects;
mod process;
mod revision;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::db::normalize;

use objects::Objects;
use process::Git;
pub use revision::Revision;

/// Prefix of operands that name a revision.
pub const PREFIX: &str = "git:";

/// Largest list of the files of a revision, in bytes.
const MAX_TREE: u64 = 256 << 20;

/// What is wrong, in one sentence.
pub type Reason = String;

/// A work tree.
pub struct Repository {
    git: Git,
    cwd: Utf8PathBuf,
    top: Utf8PathBuf,
    /// Shared by all revisions: one process reads the files of all of them.
    objects: Arc<Objects>,
}

impl Repository {
    /// The repository around a directory.
    ///
    /// # Errors
    /// When there is no git, or no repository.
    pub fn around(cwd: &Utf8Path) -> Result<Self, Reason> {
        Self::around_within(cwd, process::SILENCE)
    }

    /// With another limit on the silence of git.
    fn around_within(cwd: &Utf8Path, silence: Duration) -> Result<Self, Reason> {
        let git = Git::find(silence)?;
        let top = answer(&git, cwd, &["rev-parse", "--show-toplevel"])?;
        let top = normalize(Utf8Path::new(top.strip_suffix('\n').unwrap_or(&top)));
        Ok(Self {
            objects: Arc::new(Objects::new(git.clone(), cwd.to_owned())),
            git,
            cwd: cwd.to_owned(),
            top,
        })
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
                return Ok(self.with_files(max_bytes, ""));
            }
            Err(why) => return Err(why),
        };
        let tree = self.answer(&["ls-tree", "-r", "-z", "--full-tree", &commit])?;
        Ok(self.with_files(max_bytes, &tree))
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
        answer(&self.git, &self.cwd, args)
    }

    fn with_files(&self, max_bytes: u64, tree: &str) -> Revision {
        Revision::new(Arc::clone(&self.objects), &self.top, max_bytes, tree)
    }
}

fn answer(git: &Git, cwd: &Utf8Path, args: &[&str]) -> Result<String, Reason> {
    let bytes = git.answer(cwd, args, MAX_TREE)?;
    String::from_utf8(bytes).map_err(|_| "git names a file that is not valid UTF-8".to_owned())
}
