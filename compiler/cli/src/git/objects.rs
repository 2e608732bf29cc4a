//! The content of stored files, from one `git cat-file --batch` for all of them.

use std::io::{ErrorKind, Read as _};
use std::sync::{Mutex, PoisonError};

use camino::Utf8PathBuf;
use chatmd_compiler::db::LoadError;

use super::process::{Git, Process};

/// Longest line before the content of an object: `OBJECT TYPE SIZE`.
const MAX_HEADER: usize = 256;

/// A handle on the objects of a repository.
pub(super) struct Objects {
    git: Git,
    directory: Utf8PathBuf,
    /// Started for the first object. What went wrong with it once is not repaired but started anew.
    process: Mutex<Option<Process>>,
}

impl Objects {
    /// Of the repository around a directory. Starts nothing yet.
    pub(super) fn new(git: Git, directory: Utf8PathBuf) -> Self {
        Self {
            git,
            directory,
            process: Mutex::new(None),
        }
    }

    /// The bytes of a file, as they were stored.
    ///
    /// # Errors
    /// When there are more than `limit`, when the object is missing (as in a partial clone) or no
    /// file, or when git does not answer.
    pub(super) fn read(&self, object: &str, limit: u64) -> Result<Vec<u8>, LoadError> {
        const MISSING: LoadError = LoadError::Other(ErrorKind::NotFound);
        if object.is_empty() || !object.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(MISSING);
        }
        let mut slot = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out while it answers: only a process whose answer was read to its end goes on.
        let process = slot.take();
        let process = match process {
            Some(process) => Ok(process),
            None => self
                .git
                .start(&self.directory, &["cat-file", "--batch"])
                .map_err(|_| MISSING),
        };
        let mut process = process?;
        match answer(&mut process, object, limit) {
            Ok(bytes) => {
                *slot = Some(process);
                bytes.ok_or(MISSING)
            }
            Err(error) => Err(error),
        }
    }
}

/// Asks for one object. `None`: git has no such file and said so.
fn answer(process: &mut Process, object: &str, limit: u64) -> Result<Option<Vec<u8>>, LoadError> {
    let failed = |error: std::io::Error| LoadError::Other(error.kind());
    process.ask(&format!("{object}\n")).map_err(failed)?;
    let header = header(process).map_err(failed)?;
    let mut words = header.split(' ');
    let (name, kind, size) = (words.next(), words.next(), words.next());
    if name != Some(object) {
        return Err(LoadError::Other(ErrorKind::InvalidData));
    }
    if kind == Some("missing") {
        return Ok(None);
    }
    let size: u64 = size
        .and_then(|size| size.parse().ok())
        .ok_or(LoadError::Other(ErrorKind::InvalidData))?;
    if kind != Some("blob") {
        return Err(LoadError::Other(ErrorKind::NotFound));
    }
    if size > limit {
        return Err(LoadError::TooLarge { limit });
    }
    // Grows with what arrives; one byte more than the content is the end of its line.
    let mut bytes = Vec::new();
    let output = &mut process.output;
    let read = output.take(size + 1).read_to_end(&mut bytes);
    if read.map_err(failed)? as u64 != size + 1 || bytes.pop() != Some(b'\n') {
        return Err(LoadError::Other(ErrorKind::UnexpectedEof));
    }
    Ok(Some(bytes))
}

fn header(process: &mut Process) -> std::io::Result<String> {
    let mut line = Vec::new();
    loop {
        let mut byte = [0];
        process.output.read_exact(&mut byte)?;
        match byte {
            [b'\n'] => break,
            [byte] => line.push(byte),
        }
        if line.len() > MAX_HEADER {
            return Err(ErrorKind::InvalidData.into());
        }
    }
    String::from_utf8(line).map_err(|_| ErrorKind::InvalidData.into())
}
