//! The head record (spec 08 section 7.2): the newest event of a log, authenticated.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::key::IntegrityKey;
use super::secure_file::{self, FileError, Readable, sibling};
use crate::identity::sha256_hex;

/// Folder below the state root for second head records: those of logs that a document places
/// somewhere else. Whatever happens there, this copy is out of reach of every command.
pub const ANCHORS: &str = "audit-heads";

/// Size of the record, in bytes.
pub const HEAD_BYTES: usize = 512;

/// Why a record can not be checked where the key is not.
pub const NO_KEY: &str = "there is no integrity key to check the head record with";

/// Sequence and digest of an event that was on stable storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Sequence.
    pub sequence: u64,
    /// 64 lower-case hexadecimal digits.
    pub event_sha256: String,
}

/// What the head file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadState {
    /// Authentic.
    Ok(Head),
    /// There is no file.
    Absent,
    /// Not the form, not authentic, or there is no key to tell. Counts as absent.
    Unreadable(&'static str),
}

impl HeadState {
    /// The authentic record.
    pub const fn ok(&self) -> Option<&Head> {
        match self {
            Self::Ok(head) => Some(head),
            _ => None,
        }
    }
}

fn hmac_of(key: &IntegrityKey, sequence: u64, digest: &str) -> String {
    let sequence = sequence.to_string();
    key.hmac_hex(&[
        b"chatmd-audit-head-v1\n",
        sequence.as_bytes(),
        b"\n",
        digest.as_bytes(),
    ])
}

/// Path of the head record of a log.
pub fn head_path(log: &Path) -> PathBuf {
    sibling(log, ".head")
}

impl Head {
    /// The record: fixed size, so that it can be overwritten in place.
    pub fn encode(&self, key: &IntegrityKey) -> Vec<u8> {
        let hmac = hmac_of(key, self.sequence, &self.event_sha256);
        let mut bytes = format!(
            "{{\"hmac\":\"{hmac}\",\"sequence\":{},\"event_sha256\":\"{}\"}}",
            self.sequence, self.event_sha256
        )
        .into_bytes();
        bytes.resize(HEAD_BYTES - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Reads a record; the bytes must be exactly those that [`Head::encode`] writes.
    pub fn decode(bytes: &[u8], key: &IntegrityKey) -> Result<Self, &'static str> {
        if bytes.len() != HEAD_BYTES {
            return Err("the head record does not have 512 bytes");
        }
        let form = "the head record does not have its fixed form";
        let text = std::str::from_utf8(bytes).map_err(|_| form)?;
        let fields = text.trim_end_matches([' ', '\n']);
        let rest = fields.strip_prefix("{\"hmac\":\"").ok_or(form)?;
        let (hmac, rest) = rest.split_once("\",\"sequence\":").ok_or(form)?;
        let (sequence, rest) = rest.split_once(",\"event_sha256\":\"").ok_or(form)?;
        let digest = rest.strip_suffix("\"}").ok_or(form)?;
        let sequence: u64 = sequence.parse().map_err(|_| form)?;
        let head = Self {
            sequence,
            event_sha256: digest.to_owned(),
        };
        if head.encode(key) != bytes {
            let authentic = hmac == hmac_of(key, sequence, digest);
            return Err(if authentic {
                form
            } else {
                "the head record is not authentic"
            });
        }
        Ok(head)
    }
}

/// Places of the second head records of `log` below `anchors`: one for the folder that its path
/// leads to, and one for the path as given. Where they differ there is a link on the way, and a link
/// that is turned elsewhere must not make a new log of an old one.
pub fn anchor_paths(anchors: &Path, log: &Path) -> Vec<PathBuf> {
    let given = std::path::absolute(log).unwrap_or_else(|_| log.to_owned());
    let mut paths = vec![located(log), given];
    paths.dedup();
    let named = paths.iter().map(|path| {
        let name = sha256_hex(path.as_os_str().as_encoded_bytes());
        anchors.join(format!("{name}.head"))
    });
    named.collect()
}

/// The newest of the second head records.
pub(crate) fn read_anchored(
    anchors: &Path,
    log: &Path,
    key: Option<&IntegrityKey>,
) -> Option<HeadState> {
    let states = anchor_paths(anchors, log).into_iter();
    let states = states.map(|path| read_at(&path, key));
    states.max_by_key(|state| state.ok().map(|head| head.sequence))
}

/// `log` in the folder that its own path leads to now.
pub(crate) fn located(log: &Path) -> PathBuf {
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, log.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => log.to_owned(),
    }
}

/// Reads the head record beside `log`.
pub fn read(log: &Path, key: Option<&IntegrityKey>) -> HeadState {
    read_at(&head_path(log), key)
}

/// Reads the head record at `path`.
pub(crate) fn read_at(path: &Path, key: Option<&IntegrityKey>) -> HeadState {
    let how = {
        let mut how = secure_file::options();
        how.read(true);
        how
    };
    let file = match secure_file::open(path, &how, Readable::Leave) {
        Ok(opened) => opened.file,
        Err(error) if error.is_missing() => return HeadState::Absent,
        Err(_) => return HeadState::Unreadable("the head record cannot be opened safely"),
    };
    let Some(key) = key else {
        return HeadState::Unreadable(NO_KEY);
    };
    let mut bytes = vec![0u8; HEAD_BYTES + 1];
    let Ok(length) = read_up_to(&file, &mut bytes) else {
        return HeadState::Unreadable("the head record cannot be read");
    };
    match Head::decode(bytes.get(..length).unwrap_or_default(), key) {
        Ok(head) => HeadState::Ok(head),
        Err(reason) => HeadState::Unreadable(reason),
    }
}

fn read_up_to(file: &File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// Opens the record for overwriting, creating it.
pub(crate) fn open_for_writing(path: &Path) -> Result<File, FileError> {
    let mut how = secure_file::options();
    how.read(true).write(true).create(true);
    Ok(secure_file::open(path, &how, Readable::Repair)?.file)
}
