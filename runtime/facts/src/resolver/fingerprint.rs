//! Identity of a file through one held descriptor (spec 06 section 3.4).

use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};

use nix::fcntl::OFlag;
use sha2::{Digest, Sha256};

use super::cache::DigestCache;
use super::error::ResolveError;
use crate::canonical::CanonicalPath;

/// Largest file that is hashed, in bytes.
pub const MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// A SHA-256 digest; prints as lower-case hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256Digest(pub [u8; 32]);

impl fmt::Display for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What identifies a file: two are the same exactly when all fields are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Permission bits, `0o7000` included.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime_ns: i128,
    /// Change time in nanoseconds since 1970.
    pub ctime_ns: i128,
    /// Digest of the content.
    pub sha256: Sha256Digest,
}

/// Identity without the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StatKey {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) mtime_ns: i128,
    pub(crate) ctime_ns: i128,
}

impl StatKey {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.len(),
            mtime_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            ctime_ns: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        }
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

/// An open file with the facts of its first `fstat`.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) meta: Metadata,
    pub(crate) name: String,
}

/// Opens a canonical path for reading; a link in the file's place is refused.
pub(crate) fn open_regular(path: &CanonicalPath) -> Result<Opened, ResolveError> {
    let name = path.as_path().display().to_string();
    // Non-blocking, so that a FIFO in the file's place can not hold the host.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path.as_path());
    let found = opened.and_then(|file| file.metadata().map(|meta| (file, meta)));
    match found {
        Ok((file, meta)) if meta.is_file() => Ok(Opened { file, meta, name }),
        Ok(_) => Err(ResolveError::NotRegular(name)),
        Err(source) => Err(ResolveError::Unreadable { path: name, source }),
    }
}

impl Opened {
    /// Hashes through the descriptor and makes sure that nothing changed meanwhile. `cache` is given
    /// for stable files only.
    pub(crate) fn fingerprint(
        &self,
        cache: Option<&DigestCache>,
    ) -> Result<Fingerprint, ResolveError> {
        let key = StatKey::of(&self.meta);
        let sha256 = match cache.and_then(|cache| cache.get(&key)) {
            Some(known) => known,
            None => {
                let digest = self.digest()?;
                if let Some(cache) = cache {
                    cache.put(key, digest);
                }
                digest
            }
        };
        Ok(self.with_digest(sha256))
    }

    /// The fingerprint of this open file, given the digest of its content.
    pub(crate) fn with_digest(&self, sha256: Sha256Digest) -> Fingerprint {
        let key = StatKey::of(&self.meta);
        Fingerprint {
            device: key.device,
            inode: key.inode,
            mode: self.meta.mode() & 0o7777,
            uid: self.meta.uid(),
            gid: self.meta.gid(),
            size: key.size,
            mtime_ns: key.mtime_ns,
            ctime_ns: key.ctime_ns,
            sha256,
        }
    }

    fn digest(&self) -> Result<Sha256Digest, ResolveError> {
        if self.meta.len() > MAX_BYTES {
            return Err(ResolveError::TooLarge(self.name.clone()));
        }
        let unreadable = |source| ResolveError::Unreadable {
            path: self.name.clone(),
            source,
        };
        let digest = hash_through(&self.file, MAX_BYTES, |_| Ok(())).map_err(unreadable)?;
        let after = self.file.metadata().map_err(unreadable)?;
        match digest {
            Some(digest) if StatKey::of(&after) == StatKey::of(&self.meta) => Ok(digest),
            _ => Err(ResolveError::Changing(self.name.clone())),
        }
    }
}

/// Reads a file from its start through the descriptor, without moving its offset, hashing every
/// byte and handing it to `sink`. `None` when it holds more than `limit` bytes.
pub(crate) fn hash_through(
    file: &File,
    limit: u64,
    mut sink: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Option<Sha256Digest>> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0_u8; CHUNK];
    let mut offset = 0_u64;
    loop {
        let count = match file.read_at(&mut chunk, offset) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        offset += count as u64;
        if offset > limit {
            return Ok(None);
        }
        let bytes = chunk.get(..count).unwrap_or_default();
        hasher.update(bytes);
        sink(bytes)?;
    }
    Ok(Some(Sha256Digest(hasher.finalize().into())))
}
