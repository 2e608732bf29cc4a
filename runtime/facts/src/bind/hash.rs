//! Hashing a file through one descriptor.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;
use sha2::{Digest, Sha256};

use super::files::FileFault;

/// SHA-256 and size of a regular file at a canonical path.
///
/// The file is opened once and never followed if it turned into a link; it must be regular, and
/// neither its size nor its times may change while it is read. A FIFO or device is not waited for.
pub(super) fn file(path: &Path) -> Result<(String, u64), FileFault> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path)
        .map_err(|error| match error.kind() {
            // It was there a moment ago.
            ErrorKind::NotFound => FileFault::Changed,
            _ => FileFault::Unusable(error.to_string()),
        })?;
    let before = stat(&file)?;
    if !before.is_file() {
        return Err(FileFault::Unusable("it is not a regular file".to_owned()));
    }
    let mut digest = Sha256::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    let mut size = 0_u64;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                digest.update(buffer.get(..count).unwrap_or_default());
                size += count as u64;
                // A file that grows without end is never read to its end.
                if size > before.len() {
                    return Err(FileFault::Changed);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(FileFault::Unusable(error.to_string())),
        }
    }
    if size != before.len() || state(&stat(&file)?) != state(&before) {
        return Err(FileFault::Changed);
    }
    Ok((chatmd_compiler::manifest::hex(&digest.finalize()), size))
}

fn stat(file: &File) -> Result<Metadata, FileFault> {
    file.metadata()
        .map_err(|error| FileFault::Unusable(error.to_string()))
}

/// Size, modification and change time.
fn state(metadata: &Metadata) -> (u64, i64, i64, i64, i64) {
    (
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    )
}
