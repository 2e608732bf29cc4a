//! The chained file behind a sink (spec 08 section 7).

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::head::{self, Head};
use super::key::IntegrityKey;
use super::secure_file::{self, FileError, LockFile, LockGuard, Readable, sibling};
use super::sink::{AuditError, Rotation};
use super::tail::{self, Last, Tail};
use super::unfinished::{Unfinished, unfinished};
use super::validate::Finding;
use crate::identity::hex;

/// What was cut off after an interrupted write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Torn {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    pub(crate) last_valid: Option<u64>,
}

/// A log that is appended to.
pub(crate) struct StreamFile {
    path: PathBuf,
    rotation: Option<Rotation>,
    key: Option<std::sync::Arc<IntegrityKey>>,
    lock: LockFile,
    open: Option<Opened>,
    memory: Memory,
}

/// What is known of the log apart from its file.
#[derive(Default)]
struct Memory {
    /// The newest event that this process wrote.
    known: Option<Last>,
    /// The log has vanished under this process, and its user has been told by an error.
    told: bool,
    /// The head records in the state folder: their paths, and the files once they are open.
    anchors: Vec<(PathBuf, Option<File>)>,
}

/// The state that is known while nobody else has appended.
struct Opened {
    file: File,
    size: u64,
    last: Option<Last>,
    head: Option<File>,
}

/// The right to append, held for one event.
pub(crate) struct Appender<'a> {
    stream: &'a mut Option<Opened>,
    path: &'a Path,
    rotation: Option<Rotation>,
    key: Option<&'a IntegrityKey>,
    memory: &'a mut Memory,
    /// The end of a log that stood here and is gone; what is written next continues it.
    pub(crate) lost: Option<Last>,
    /// What was recovered while opening.
    pub(crate) torn: Option<Torn>,
    /// Whether the mode of the file was repaired while opening.
    pub(crate) repaired: bool,
    /// Whether no other host has the file open, known while it is being opened.
    alone: bool,
    /// Why the newest event is not in the head record: removing it could not be proved.
    pub(crate) head_problem: Option<FileError>,
    _held: LockGuard<'a>,
}

impl StreamFile {
    pub(crate) fn new(
        path: PathBuf,
        rotation: Option<Rotation>,
        key: Option<std::sync::Arc<IntegrityKey>>,
        anchors: Option<&Path>,
    ) -> Result<Self, AuditError> {
        if rotation.is_some_and(|rotation| rotation.max_bytes == 0 || rotation.files == 0) {
            return Err(AuditError::new(
                "shell.audit_rotation_invalid",
                "a rotation limit is not positive".to_owned(),
            ));
        }
        secure_file::create_parents(&path).map_err(open_failed)?;
        let anchors = anchors.map(|anchors| head::anchor_paths(anchors, &path));
        // A link above that is turned elsewhere later does not move the log.
        let path = head::located(&path);
        let lock = LockFile::of(&path).map_err(open_failed)?;
        Ok(Self {
            path,
            rotation,
            key,
            lock,
            open: None,
            memory: Memory {
                anchors: anchors
                    .into_iter()
                    .flatten()
                    .map(|path| (path, None))
                    .collect(),
                ..Memory::default()
            },
        })
    }

    /// Takes the lock and makes sure that the end of the file is known.
    pub(crate) fn begin(&mut self) -> Result<Appender<'_>, AuditError> {
        if self
            .open
            .as_ref()
            .is_some_and(|opened| !still_named(opened, &self.path))
        {
            // The lock file may have gone the same way as the log; all writers need the same one.
            secure_file::create_parents(&self.path).map_err(open_failed)?;
            self.lock = LockFile::of(&self.path).map_err(open_failed)?;
        }
        let held = self.lock.lock().map_err(open_failed)?;
        let mut appender = Appender {
            stream: &mut self.open,
            path: &self.path,
            rotation: self.rotation,
            key: self.key.as_deref(),
            memory: &mut self.memory,
            lost: None,
            torn: None,
            repaired: false,
            alone: false,
            head_problem: None,
            _held: held,
        };
        appender.refresh()?;
        Ok(appender)
    }
}

impl Appender<'_> {
    /// The active file.
    pub(crate) fn path(&self) -> &Path {
        self.path
    }

    /// Sequence and previous digest of the next event.
    pub(crate) fn next(&self) -> Result<(u64, Option<String>), AuditError> {
        let Some(last) = self.stream.as_ref().and_then(|opened| opened.last.as_ref()) else {
            return Ok((0, None));
        };
        if last.sequence >= super::load::SEQUENCE_MAX {
            return Err(AuditError::new(
                "shell.audit_sequence_overflow",
                "the audit sequence has reached 2^53-1".to_owned(),
            ));
        }
        Ok((last.sequence + 1, Some(last.event_sha256.clone())))
    }

    /// Whether there are events before the next one.
    pub(crate) fn continues(&self) -> bool {
        self.stream
            .as_ref()
            .is_some_and(|opened| opened.last.is_some())
    }

    /// Requests that a dead host left without an end; none while another host has the file open.
    pub(crate) fn unfinished(&self) -> Result<Vec<Unfinished>, Finding> {
        if self.alone {
            unfinished(self.path, self.key)
        } else {
            Ok(Vec::new())
        }
    }

    /// Appends one line and flushes it. On failure the file ends where it ended before.
    pub(crate) fn append(&mut self, line: &[u8], last: Last) -> Result<(), AuditError> {
        self.rotate_for(line.len() as u64)?;
        let Some(opened) = self.stream.as_mut() else {
            return Err(write_failed(
                self.path,
                &io::Error::other("the file is not open"),
            ));
        };
        match append_line(opened, line) {
            Ok(()) => {}
            Err(Failure::Conflict) => {
                *self.stream = None;
                return Err(AuditError::new(
                    "shell.audit_sequence_conflict",
                    format!(
                        "{}: another writer changed the file although it was locked",
                        self.path.display()
                    ),
                ));
            }
            Err(Failure::Io(error)) => {
                // Nothing that is cached can be trusted any more: the next event reads the end again.
                *self.stream = None;
                return Err(write_failed(self.path, &error));
            }
        }
        opened.size += line.len() as u64;
        self.write_head(&last);
        self.memory.known = Some(last.clone());
        self.memory.told = false;
        if let Some(opened) = self.stream.as_mut() {
            opened.last = Some(last);
        }
        Ok(())
    }

    /// A head that cannot be written is only behind, which is normal after a crash. The event is
    /// safe, but until the head follows, nothing proves a removal of it: that is worth a warning.
    fn write_head(&mut self, last: &Last) {
        let (Some(key), Some(opened)) = (self.key, self.stream.as_mut()) else {
            return;
        };
        let record = Head {
            sequence: last.sequence,
            event_sha256: last.event_sha256.clone(),
        };
        let record = record.encode(key);
        let beside = head::head_path(self.path);
        if let Err(error) = overwrite(&beside, &mut opened.head, &record) {
            self.head_problem = Some(error);
        }
        for (path, file) in &mut self.memory.anchors {
            let made = match file {
                Some(_) => Ok(()),
                None => secure_file::create_parents(path),
            };
            if let Err(error) = made.and_then(|()| overwrite(path, file, &record)) {
                self.head_problem = Some(error);
            }
        }
    }

    fn refresh(&mut self) -> Result<(), AuditError> {
        if let Some(opened) = self.stream.as_ref()
            && still_named(opened, self.path)
            && opened
                .file
                .metadata()
                .is_ok_and(|facts| facts.len() == opened.size)
        {
            return Ok(());
        }
        *self.stream = None;
        secure_file::create_parents(self.path).map_err(open_failed)?;
        let mut opened = self.open_file()?;
        let tail = tail::read(&opened.file, opened.size).map_err(|error| {
            AuditError::new(
                error.code,
                format!("{}: {}", self.path.display(), error.message),
            )
        })?;
        let (last, keep) = match tail {
            Tail::Whole(last) => (Some(last), None),
            Tail::Empty => (self.rotated_tail()?, None),
            Tail::Torn {
                keep,
                last: Some(last),
            } => (Some(last), Some(keep)),
            Tail::Torn { keep, last: None } => (self.rotated_tail()?, Some(keep)),
        };
        // A log that is refused stays as it was found.
        match &last {
            Some(last) => self.check_end(last)?,
            None => self.lost = self.lost_end()?,
        }
        if let Some(keep) = keep {
            self.set_aside(&mut opened, keep, last.as_ref())?;
        }
        opened.last = last.or_else(|| self.lost.clone());
        *self.stream = Some(opened);
        Ok(())
    }

    fn open_file(&mut self) -> Result<Opened, AuditError> {
        let mut how = secure_file::options();
        how.read(true).append(true).create(true);
        let existed = self.path.symlink_metadata().is_ok();
        let opened = secure_file::open(self.path, &how, Readable::Repair).map_err(open_failed)?;
        if !existed {
            secure_file::flush_directory(self.path).map_err(open_failed)?;
        }
        self.repaired |= opened.repaired;
        // Every host holds a shared lock on the file as long as it may write it, and the kernel ends
        // that with the process. Opening is serialised by the order lock. A file system without
        // locks leaves it open who else is there: then nobody is alone.
        self.alone = opened.file.try_lock().is_ok();
        let _ = opened.file.try_lock_shared();
        let size = opened
            .file
            .metadata()
            .map_err(|error| open_failed(FileError::io(self.path, error)))?
            .len();
        Ok(Opened {
            file: opened.file,
            size,
            last: None,
            head: None,
        })
    }

    /// The newest event of `PATH.1`, for a file that is missing or empty after a rotation.
    fn rotated_tail(&self) -> Result<Option<Last>, AuditError> {
        let path = sibling(self.path, ".1");
        let mut how = secure_file::options();
        how.read(true);
        let file = match secure_file::open(&path, &how, Readable::Leave) {
            Ok(opened) => opened.file,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(open_failed(error)),
        };
        let size = file
            .metadata()
            .map_err(|error| open_failed(FileError::io(&path, error)))?
            .len();
        let named =
            |code, message: &str| AuditError::new(code, format!("{}: {message}", path.display()));
        match tail::read(&file, size).map_err(|error| named(error.code, &error.message))? {
            Tail::Empty => Ok(None),
            Tail::Whole(last) => Ok(Some(last)),
            Tail::Torn { .. } => Err(named(
                "shell.audit_chain_invalid_tail",
                "a rotated file ends in a damaged line, which no interrupted write leaves behind",
            )),
        }
    }

    /// What an authentic record says about the newest event.
    fn record(&self, path: &Path) -> Option<Last> {
        let state = head::read_at(path, self.key);
        state.ok().map(|head| Last {
            sequence: head.sequence,
            event_sha256: head.event_sha256.clone(),
        })
    }

    /// What the records in the state folder say, each with its path.
    fn anchored(&self) -> impl Iterator<Item = (Last, &Path)> {
        let anchors = self.memory.anchors.iter();
        anchors.filter_map(|(path, _)| Some((self.record(path)?, path.as_path())))
    }

    /// A record that is ahead of the file, or that names another event, proves a change.
    fn check_end(&self, last: &Last) -> Result<(), AuditError> {
        let beside = self.record(&head::head_path(self.path));
        let known = self.memory.known.clone();
        let named = [(beside, "the head record"), (known, "this process")];
        let named = named.into_iter();
        let named = named.filter_map(|(record, who)| Some((record?, who.to_owned())));
        let anchored = self
            .anchored()
            .map(|(record, path)| (record, format!("the head record {}", path.display())));
        for (record, who) in named.chain(anchored) {
            if record.sequence > last.sequence {
                return Err(self.changed(&format!("{who} knows newer events: they were removed")));
            }
            if record.sequence == last.sequence && record.event_sha256 != last.event_sha256 {
                return Err(self.changed(&format!(
                    "{who} knows another last event: the file was rewritten"
                )));
            }
        }
        Ok(())
    }

    /// The end of the log that must have stood here when there is none now.
    ///
    /// Under a running host its disappearance is an error once, so that the failure policy acts;
    /// what follows continues the lost chain in a new file, which can so never pass for a whole one.
    fn lost_end(&mut self) -> Result<Option<Last>, AuditError> {
        let beside = self.record(&head::head_path(self.path));
        let anchored = self.anchored().map(|(record, _)| record);
        let anchored = anchored.max_by_key(|last| last.sequence);
        if self.memory.known.is_some() {
            if !std::mem::replace(&mut self.memory.told, true) {
                return Err(AuditError::new(
                    "shell.audit_sequence_conflict",
                    format!(
                        "{}: the log was removed, replaced or emptied while it was being written",
                        self.path.display()
                    ),
                ));
            }
        } else if beside.is_some() {
            return Err(self.changed("the head record proves that newer events were removed"));
        }
        let ends = [self.memory.known.clone(), beside, anchored];
        Ok(ends.into_iter().flatten().max_by_key(|last| last.sequence))
    }

    fn changed(&self, message: &str) -> AuditError {
        AuditError::new(
            "shell.audit_chain_invalid_tail",
            format!(
                "{}: {message}; move the log and its .head file away to go on in a new file",
                self.path.display()
            ),
        )
    }

    /// Moves the rest of an interrupted write to `PATH.torn-TIMESTAMP` and cuts the file.
    fn set_aside(
        &mut self,
        opened: &mut Opened,
        keep: u64,
        last: Option<&Last>,
    ) -> Result<(), AuditError> {
        let failed = |error: io::Error| open_failed(FileError::io(self.path, error));
        let bytes = (opened.size - keep) as usize;
        let mut torn = vec![0u8; bytes];
        opened.file.read_exact_at(&mut torn, keep).map_err(failed)?;
        write_torn(self.path, &torn).map_err(open_failed)?;
        opened.file.set_len(keep).map_err(failed)?;
        opened.file.sync_data().map_err(failed)?;
        opened.size = keep;
        self.torn = Some(Torn {
            bytes: bytes as u64,
            sha256: hex(&Sha256::digest(&torn)),
            last_valid: last.map(|last| last.sequence),
        });
        Ok(())
    }

    /// Rotates when the line would exceed the limit and the file is not empty.
    fn rotate_for(&mut self, length: u64) -> Result<(), AuditError> {
        let (Some(rotation), Some(opened)) = (self.rotation, self.stream.as_ref()) else {
            return Ok(());
        };
        if opened.size == 0 || opened.size.saturating_add(length) <= rotation.max_bytes {
            return Ok(());
        }
        let last = opened.last.clone();
        let rotated = |index: u32| sibling(self.path, &format!(".{index}"));
        let result = (|| {
            ignore_missing(std::fs::remove_file(rotated(rotation.files)))?;
            for index in (1..rotation.files).rev() {
                ignore_missing(std::fs::rename(rotated(index), rotated(index + 1)))?;
            }
            std::fs::rename(self.path, rotated(1))
        })();
        *self.stream = None;
        result.map_err(|error| write_failed(self.path, &error))?;
        let mut opened = self.open_file()?;
        opened.last = last;
        *self.stream = Some(opened);
        Ok(())
    }
}

/// Overwrites a head record in place, opening it first where that is needed.
fn overwrite(path: &Path, file: &mut Option<File>, record: &[u8]) -> Result<(), FileError> {
    let open = match file.take() {
        Some(open) => open,
        None => head::open_for_writing(path)?,
    };
    let written = open.write_all_at(record, 0);
    written.map_err(|error| FileError::io(path, error))?;
    *file = Some(open);
    Ok(())
}

enum Failure {
    Conflict,
    Io(io::Error),
}

/// One write, one flush. A short write or a failed flush is cut back.
fn append_line(opened: &mut Opened, line: &[u8]) -> Result<(), Failure> {
    let before = opened.size;
    let now = opened.file.metadata().map_err(Failure::Io)?.len();
    if now != before {
        return Err(Failure::Conflict);
    }
    let result = write_once(&mut opened.file, line).and_then(|()| opened.file.sync_data());
    result.map_err(|error| {
        // A flush is never repeated: a second one would report success though the pages are gone.
        let _ = opened.file.set_len(before);
        Failure::Io(error)
    })
}

fn write_once(file: &mut File, line: &[u8]) -> io::Result<()> {
    loop {
        match file.write(line) {
            Ok(count) if count == line.len() => return Ok(()),
            Ok(count) => {
                return Err(io::Error::new(
                    ErrorKind::WriteZero,
                    format!("only {count} of {} bytes were written", line.len()),
                ));
            }
            // Interrupted before anything was written.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn still_named(opened: &Opened, path: &Path) -> bool {
    let Ok(facts) = opened.file.metadata() else {
        return false;
    };
    path.symlink_metadata()
        .is_ok_and(|named| named.dev() == facts.dev() && named.ino() == facts.ino())
}

fn write_torn(log: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let stamp = jiff::Timestamp::now()
        .strftime("%Y%m%dT%H%M%SZ")
        .to_string();
    let base = sibling(log, &format!(".torn-{stamp}"));
    for attempt in 0..100 {
        let path = if attempt == 0 {
            base.clone()
        } else {
            sibling(&base, &format!("-{attempt}"))
        };
        match secure_file::options()
            .write(true)
            .create_new(true)
            .open(&path)
        {
            Ok(mut file) => {
                let written = file.write_all(bytes).and_then(|()| file.sync_all());
                return written.map_err(|error| FileError::io(&path, error));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(FileError::io(&path, error)),
        }
    }
    Err(FileError::io(&base, ErrorKind::AlreadyExists.into()))
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn write_failed(path: &Path, error: &io::Error) -> AuditError {
    AuditError::new(
        "shell.audit_write_failed",
        format!("{}: {error}", path.display()),
    )
}

/// The code of a file problem while opening.
fn open_failed(error: FileError) -> AuditError {
    let code = match &error {
        FileError::Locked { .. } => "shell.audit_locked",
        FileError::Io { .. } => "shell.audit_open_failed",
        FileError::Insecure { .. } => "shell.state_insecure_file",
    };
    AuditError::new(code, error.to_string())
}
