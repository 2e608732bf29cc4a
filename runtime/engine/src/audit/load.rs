//! Loading the lines of a log (spec 08 section 8.1).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::line::DIGEST_PREFIX;
use super::secure_file::sibling;
use crate::identity::hex;
use chatmd_policy::strict_json::Json;

/// Largest sequence: integers above it are not exact in JSON readers.
pub const SEQUENCE_MAX: u64 = (1 << 53) - 1;

/// Most rotated files that are read.
pub(crate) const ROTATED_MAX: u32 = 1024;

/// Longest line that is kept in memory, in bytes. Writers stop at 1 MiB.
const LINE_READ_MAX: u64 = 16 * 1024 * 1024;

/// Digest member of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredDigest {
    /// Absent or null.
    Missing,
    /// Right, and exactly the suffix of the line.
    Good(String),
    /// Wrong, or not the exact suffix; with the text that stands there.
    Bad(String),
}

impl StoredDigest {
    /// The text of the member, right or wrong.
    pub fn stored(&self) -> Option<&str> {
        match self {
            Self::Missing => None,
            Self::Good(text) | Self::Bad(text) => Some(text),
        }
    }
}

/// A loaded event.
#[derive(Clone, Debug)]
pub struct Record {
    /// `sequence`.
    pub sequence: u64,
    /// `timestamp`, Unix seconds.
    pub timestamp: f64,
    /// `schema_version`, absent in old logs.
    pub schema: Option<String>,
    /// `event`.
    pub event: String,
    /// `request_id`.
    pub request_id: String,
    /// `runtime_id`.
    pub runtime_id: String,
    /// `manifest_sha256`.
    pub manifest_sha256: String,
    /// `plan_id`.
    pub plan_id: Option<String>,
    /// `previous_event_sha256`.
    pub previous: Option<String>,
    /// `event_sha256`.
    pub digest: StoredDigest,
    /// All members in stored order.
    pub(crate) members: Vec<(String, Json)>,
}

/// Why a line is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// `shell.audit_json` or `shell.audit_field`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

impl Record {
    pub(crate) fn member(&self, name: &str) -> Option<&Json> {
        self.members
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Parses a line without its LF.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, LineError> {
        let json = |message: String| LineError {
            code: "shell.audit_json",
            message,
        };
        let members = match Json::parse(line) {
            Ok(Json::Object(members)) => members,
            Ok(_) => return Err(json("the line is not a JSON object".to_owned())),
            Err(error) => return Err(json(format!("the line is not a JSON object: {error}"))),
        };
        let fields = Fields(&members);
        let stored = fields.optional("event_sha256")?;
        let sequence = match fields.get("sequence") {
            Some(Json::Int(sequence)) if *sequence <= SEQUENCE_MAX => *sequence,
            Some(_) => {
                return Err(field(
                    "`sequence` is not an integer from 0 to 2^53-1".to_owned(),
                ));
            }
            None => return Err(field("`sequence` is missing".to_owned())),
        };
        let timestamp = match fields.get("timestamp") {
            Some(Json::Int(seconds)) => *seconds as f64,
            Some(Json::Number(seconds)) if seconds.is_finite() => *seconds,
            Some(_) => return Err(field("`timestamp` is not a number".to_owned())),
            None => return Err(field("`timestamp` is missing".to_owned())),
        };
        let schema = match fields.get("schema_version") {
            Some(Json::Text(schema)) => Some(schema.clone()),
            None => None,
            Some(_) => return Err(field("`schema_version` is not a string".to_owned())),
        };
        fields.optional("session_id")?;
        let record = Self {
            sequence,
            timestamp,
            schema,
            event: fields.required("event")?,
            request_id: fields.required("request_id")?,
            runtime_id: fields.required("runtime_id")?,
            manifest_sha256: fields.required("manifest_sha256")?,
            plan_id: fields.optional("plan_id")?,
            previous: fields.optional("previous_event_sha256")?,
            digest: stored.map_or(StoredDigest::Missing, |text| check_digest(line, text)),
            members: Vec::new(),
        };
        Ok(Self { members, ..record })
    }
}

fn field(message: String) -> LineError {
    LineError {
        code: "shell.audit_field",
        message,
    }
}

struct Fields<'a>(&'a [(String, Json)]);

impl Fields<'_> {
    fn get(&self, name: &str) -> Option<&Json> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    fn required(&self, name: &str) -> Result<String, LineError> {
        match self.get(name) {
            Some(Json::Text(text)) => Ok(text.clone()),
            Some(_) => Err(field(format!("`{name}` is not a string"))),
            None => Err(field(format!("`{name}` is missing"))),
        }
    }

    fn optional(&self, name: &str) -> Result<Option<String>, LineError> {
        match self.get(name) {
            Some(Json::Text(text)) => Ok(Some(text.clone())),
            Some(Json::Null) | None => Ok(None),
            Some(_) => Err(field(format!("`{name}` is neither a string nor null"))),
        }
    }
}

/// Hashes the stored bytes: the line without the exact suffix of the digest, closed by `}`.
fn check_digest(line: &[u8], stored: String) -> StoredDigest {
    let hexadecimal = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let body = line
        .strip_suffix(b"\"}")
        .and_then(|rest| rest.strip_suffix(stored.as_bytes()))
        .and_then(|rest| rest.strip_suffix(DIGEST_PREFIX));
    let well_formed = stored.len() == 64 && stored.bytes().all(hexadecimal);
    match body {
        Some(body) if well_formed => {
            let mut hash = Sha256::new();
            hash.update(body);
            hash.update(b"}");
            if hex(&hash.finalize()) == stored {
                StoredDigest::Good(stored)
            } else {
                StoredDigest::Bad(stored)
            }
        }
        _ => StoredDigest::Bad(stored),
    }
}

/// One line of a log.
#[derive(Debug)]
pub enum Loaded {
    /// An event.
    Event(Box<Record>),
    /// A line that is no event.
    Error(LineError),
    /// An unterminated final line; no event, whatever it holds.
    Torn,
}

/// A line with its place.
#[derive(Debug)]
pub struct PlacedLine<'a> {
    /// Path as opened.
    pub file: &'a Path,
    /// 1-based.
    pub line: u64,
    /// Whether the file is the newest one, which a writer may still append to.
    pub newest: bool,
    /// The line.
    pub content: Loaded,
    /// The bytes without LF.
    pub raw: &'a [u8],
}

/// A line as it is stored.
pub(super) struct RawLine<'a> {
    file: &'a Path,
    line: u64,
    newest: bool,
    /// Without LF.
    pub(super) bytes: &'a [u8],
    /// Whether it ends with LF; only the last one of a file may lack it.
    pub(super) terminated: bool,
}

/// A file that cannot be read, and why.
pub type ReadError = (PathBuf, io::Error);

/// The files of a log, oldest first.
pub struct LogFiles {
    files: Vec<(PathBuf, Box<dyn Read>)>,
}

impl LogFiles {
    /// Opens `path` and its rotated files. `-` is standard input, which has none.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        if path == Path::new("-") {
            return Ok(Self {
                files: vec![(path.to_owned(), Box::new(io::stdin()))],
            });
        }
        // A rotation between two opens would show a file twice or not at all: try again then.
        for _ in 0..8 {
            match Self::open_once(path) {
                Ok(Some(files)) => return Ok(files),
                Ok(None) => {}
                // Between the two steps of a rotation there is no active file.
                Err((_, error))
                    if error.kind() == io::ErrorKind::NotFound && sibling(path, ".1").exists() =>
                {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                Err(error) => return Err(error),
            }
        }
        Err((
            path.to_owned(),
            io::Error::other("the active file is missing, or rotated faster than it can be opened"),
        ))
    }

    fn open_once(path: &Path) -> Result<Option<Self>, ReadError> {
        let newest = open_log(path).map_err(|error| (path.to_owned(), error))?;
        let mut files = vec![(path.to_owned(), newest)];
        for index in 1..=ROTATED_MAX {
            let rotated = sibling(path, &format!(".{index}"));
            match open_log(&rotated) {
                // Rotation leaves none; an empty one keeps the name from being taken.
                Ok(file) if file.metadata().is_ok_and(|facts| facts.len() == 0) => break,
                Ok(file) => files.push((rotated, file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err((rotated, error)),
            }
        }
        for (name, file) in &files {
            let opened = file.metadata().map_err(|error| (name.clone(), error))?;
            let same = std::fs::metadata(name)
                .is_ok_and(|named| named.dev() == opened.dev() && named.ino() == opened.ino());
            if !same {
                return Ok(None);
            }
        }
        files.reverse();
        let boxed = files
            .into_iter()
            .map(|(name, file)| (name, Box::new(file) as Box<dyn Read>));
        Ok(Some(Self {
            files: boxed.collect(),
        }))
    }

    /// Calls `each` for every line that is not empty. An error is one of reading.
    pub fn for_each(self, mut each: impl FnMut(PlacedLine<'_>)) -> Result<(), ReadError> {
        self.for_each_line(|line| {
            each(PlacedLine {
                file: line.file,
                line: line.line,
                newest: line.newest,
                content: load_line(line.bytes, line.terminated),
                raw: line.bytes,
            });
        })
    }

    /// The same, and nothing is parsed.
    pub(super) fn for_each_line(self, mut each: impl FnMut(RawLine<'_>)) -> Result<(), ReadError> {
        let last = self.files.len().saturating_sub(1);
        for (index, (path, file)) in self.files.into_iter().enumerate() {
            let mut reader = BufReader::with_capacity(64 * 1024, file);
            let mut raw = Vec::new();
            let mut line = 0;
            while read_line(&mut reader, &mut raw).map_err(|error| (path.clone(), error))? {
                line += 1;
                let terminated = raw.last() == Some(&b'\n');
                if terminated {
                    raw.pop();
                }
                if raw.is_empty() {
                    continue;
                }
                each(RawLine {
                    file: &path,
                    line,
                    newest: index == last,
                    bytes: &raw,
                    terminated,
                });
            }
        }
        Ok(())
    }
}

/// Reads up to and with LF; what exceeds the bound is skipped, so the line fails to load.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut limited = reader.by_ref().take(LINE_READ_MAX);
    limited.read_until(b'\n', line)?;
    if line.len() as u64 == LINE_READ_MAX && line.last() != Some(&b'\n') {
        let mut skipped = Vec::new();
        loop {
            skipped.clear();
            reader
                .by_ref()
                .take(LINE_READ_MAX)
                .read_until(b'\n', &mut skipped)?;
            if skipped.last() == Some(&b'\n') {
                line.push(b'\n');
                break;
            }
            if skipped.is_empty() {
                break;
            }
        }
    }
    Ok(!line.is_empty())
}

fn load_line(raw: &[u8], terminated: bool) -> Loaded {
    if !terminated {
        return Loaded::Torn;
    }
    if raw.len() as u64 >= LINE_READ_MAX {
        return Loaded::Error(LineError {
            code: "shell.audit_json",
            message: "the line is longer than 16 MiB".to_owned(),
        });
    }
    match Record::parse(raw) {
        Ok(record) => Loaded::Event(Box::new(record)),
        Err(error) => Loaded::Error(error),
    }
}

fn open_log(path: &Path) -> io::Result<File> {
    let mut how = std::fs::OpenOptions::new();
    how.read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    let file = how.open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() || kind.is_fifo() || kind.is_socket() || kind.is_block_device() {
        return Err(io::Error::other("it is not a file"));
    }
    Ok(file)
}
