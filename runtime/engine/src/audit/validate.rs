//! Validation of a log (spec 08 section 8.2).

use std::path::Path;

use chatmd_policy::strict_json::Json;
use serde::Serialize;

use super::head::{self, HeadState};
use super::key::IntegrityKey;
use super::load::{Loaded, LogFiles, PlacedLine, Record, StoredDigest};

use crate::output::escape_controls;

/// Most errors that are reported.
const ERRORS_MAX: usize = 1000;

/// How far timestamps may go back, in microseconds.
const CLOCK_MICROS: i64 = 5_000_000;

/// Schema strings that readers know.
const SCHEMAS: [&str; 2] = [super::line::SCHEMA, "ochat-shell-audit-v1"];

/// The last event that the session state knows of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionAnchor {
    /// `last_audit_sequence`.
    pub sequence: u64,
    /// `last_audit_event_sha256`.
    pub event_sha256: Option<String>,
}

/// How to validate.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValidationOptions<'a> {
    /// `--require-chain`.
    pub require_chain: bool,
    /// `--strict`: an unterminated last line is an error.
    pub strict: bool,
    /// `--session`.
    pub session: Option<&'a SessionAnchor>,
    /// Checks the head records.
    pub key: Option<&'a IntegrityKey>,
    /// Folder of the second head records ([`head::ANCHORS`] below the state root).
    pub anchors: Option<&'a Path>,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A code of section 9.
    pub code: &'static str,
    /// File, where there is a place.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u64>,
    /// One sentence.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = self.file.as_deref().map(escape_controls);
        match (&file, self.line) {
            (Some(file), Some(line)) => {
                write!(
                    f,
                    "{} [file={file} line={line}]: {}",
                    self.code, self.message
                )
            }
            (Some(file), None) => write!(f, "{} [file={file}]: {}", self.code, self.message),
            _ => write!(f, "{}: {}", self.code, self.message),
        }
    }
}

/// What proves that the newest events are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Anchor {
    /// The head record.
    Head,
    /// The session state.
    Session,
    /// Nothing.
    None,
}

/// Result of a validation; serialises to the members of `audit validate` (spec 10 section 1.3).
#[derive(Clone, Debug, Serialize)]
pub struct ValidationReport {
    /// Events loaded from all files.
    pub events: u64,
    /// Whether some event carries a digest.
    pub chained: bool,
    /// Sequence of the first event.
    pub first_sequence: Option<u64>,
    /// Sequence of the last event.
    pub last_sequence: Option<u64>,
    /// Digest of the last event as stored.
    pub last_event_sha256: Option<String>,
    /// What the end was compared with.
    pub anchor: Anchor,
    /// In the order of the log, then those of the anchors.
    pub errors: Vec<Finding>,
    /// The same for warnings.
    pub warnings: Vec<Finding>,
    /// What the head file says.
    #[serde(skip)]
    pub head: HeadState,
    /// Errors beyond the cap.
    #[serde(skip)]
    pub more_errors: u64,
}

impl ValidationReport {
    /// No error.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Whether a removed end would have been noticed.
    pub fn tail_provable(&self) -> bool {
        self.anchor != Anchor::None
    }

    /// First retained sequence when it is not 0.
    pub fn window_start(&self) -> Option<u64> {
        self.first_sequence.filter(|first| *first > 0)
    }

    /// The lines for people on success: the count, then the reservations.
    pub fn summary(&self) -> Vec<String> {
        let plural = if self.events == 1 { "" } else { "s" };
        let mut lines = vec![format!("valid audit log: {} event{plural}", self.events)];
        if self.events > 0 && !self.chained {
            lines.push("unchained".to_owned());
        }
        let unproved = self.chained && !self.tail_provable();
        if unproved {
            lines.push(self.unproved_tail());
        } else if let HeadState::Unreadable(reason) = &self.head {
            lines.push(format!("head record not used: {reason}"));
        }
        if let Some(start) = self.window_start() {
            lines.push(format!("retained window starts at {start}"));
        }
        lines
    }
}

impl ValidationReport {
    /// What is known of a log whose end nothing vouches for, what is not, and what to do.
    fn unproved_tail(&self) -> String {
        let last = self.last_sequence.unwrap_or_default();
        let (reason, remedy) = match &self.head {
            HeadState::Absent => (
                "there is no head record beside the log",
                "validate it where it was written, with its .head file and the integrity key",
            ),
            HeadState::Unreadable(head::NO_KEY) => (
                head::NO_KEY,
                "name the state folder that holds integrity.key with --state-dir",
            ),
            HeadState::Unreadable(reason) => (*reason, "restore the .head file from a copy"),
            // It would have been compared.
            HeadState::Ok(_) => ("it was not compared", "validate it again"),
        };
        format!(
            "tail not provable: the events here fit together up to event {last}, but if newer ones had \
             been removed, or the whole log rewritten, it would not show, because {reason}; to find \
             out, {remedy}, or compare event {last} with a copy kept elsewhere"
        )
    }
}

/// Validates the log at `path` with its rotated files; `-` is standard input, without a head.
/// Writes nothing and takes no lock. The error is `shell.audit_read_failed` with its message.
pub fn validate(path: &Path, options: ValidationOptions<'_>) -> Result<ValidationReport, Finding> {
    // Before the log: events appended meanwhile then only leave the head behind.
    let head = if path == Path::new("-") {
        HeadState::Absent
    } else {
        newest_head(path, options)
    };
    let files = LogFiles::open(path).map_err(|(file, error)| read_failed(&file, &error))?;
    let mut walk = Walk::new(options, head);
    files
        .for_each(|line| walk.line(&line))
        .map_err(|(file, error)| read_failed(&file, &error))?;
    Ok(walk.finish())
}

/// The record beside the log, or the one in the state folder when that knows more.
fn newest_head(path: &Path, options: ValidationOptions<'_>) -> HeadState {
    let beside = head::read(path, options.key);
    let Some(anchors) = options.anchors else {
        return beside;
    };
    let Some(anchored) = head::read_anchored(anchors, path, options.key) else {
        return beside;
    };
    let sequence = |state: &HeadState| state.ok().map(|head| head.sequence);
    if sequence(&anchored) > sequence(&beside) {
        anchored
    } else {
        beside
    }
}

pub(super) fn read_failed(file: &Path, error: &std::io::Error) -> Finding {
    Finding {
        code: "shell.audit_read_failed",
        file: Some(file.display().to_string()),
        line: None,
        message: format!("the audit log cannot be read: {error}"),
    }
}

/// The event before, as far as neighbours are compared.
struct Neighbour {
    sequence: u64,
    micros: i64,
    digest: Option<String>,
}

/// Digest of the event at the sequence of an anchor.
struct Wanted {
    sequence: u64,
    found: Option<Option<String>>,
}

impl Wanted {
    const fn new(sequence: u64) -> Self {
        Self {
            sequence,
            found: None,
        }
    }

    fn look(&mut self, record: &Record) {
        if record.sequence == self.sequence {
            self.found = Some(record.digest.stored().map(str::to_owned));
        }
    }
}

struct Walk<'a> {
    options: ValidationOptions<'a>,
    report: ValidationReport,
    previous: Option<Neighbour>,
    /// The line before failed to load.
    broken: bool,
    highest: Option<u64>,
    head: Option<Wanted>,
    session: Option<Wanted>,
    /// Places of events without a digest; errors only when another event has one.
    undigested: Vec<(Finding, usize)>,
    undigested_more: u64,
}

impl<'a> Walk<'a> {
    fn new(options: ValidationOptions<'a>, head: HeadState) -> Self {
        Self {
            head: head.ok().map(|head| Wanted::new(head.sequence)),
            session: options.session.map(|session| Wanted::new(session.sequence)),
            options,
            report: ValidationReport {
                events: 0,
                chained: false,
                first_sequence: None,
                last_sequence: None,
                last_event_sha256: None,
                anchor: Anchor::None,
                errors: Vec::new(),
                warnings: Vec::new(),
                head,
                more_errors: 0,
            },
            previous: None,
            broken: false,
            highest: None,
            undigested: Vec::new(),
            undigested_more: 0,
        }
    }

    fn error(&mut self, finding: Finding) {
        if self.report.errors.len() < ERRORS_MAX {
            self.report.errors.push(finding);
        } else {
            self.report.more_errors += 1;
        }
    }

    fn line(&mut self, line: &PlacedLine<'_>) {
        let place = |code, message: String| Finding {
            code,
            file: Some(line.file.display().to_string()),
            line: Some(line.line),
            message,
        };
        match &line.content {
            Loaded::Torn => {
                let message = "the last line has no line end: its write was interrupted or is \
                               still going on, so it counts as no event; the next host that opens \
                               the log sets it aside"
                    .to_owned();
                let finding = place("shell.audit_truncated_tail", message);
                if line.newest && !self.options.strict {
                    self.report.warnings.push(finding);
                } else {
                    self.error(finding);
                }
            }
            Loaded::Error(error) => {
                self.error(place(error.code, error.message.clone()));
                self.broken = true;
            }
            Loaded::Event(record) => self.event(record, &place),
        }
    }

    fn event(&mut self, record: &Record, place: &dyn Fn(&'static str, String) -> Finding) {
        self.report.events += 1;
        self.report.chained |= record.digest.stored().is_some() || record.previous.is_some();
        self.own_checks(record, place);
        let first = self.previous.is_none() && !self.broken && self.report.events == 1;
        if first {
            self.first_checks(record, place);
        } else if !self.broken {
            self.neighbour_checks(record, place);
        }
        self.broken = false;
        let micros = (record.timestamp * 1e6).round() as i64;
        self.report.first_sequence.get_or_insert(record.sequence);
        self.report.last_sequence = Some(record.sequence);
        self.report.last_event_sha256 = record.digest.stored().map(str::to_owned);
        self.highest = self.highest.max(Some(record.sequence));
        for wanted in [&mut self.head, &mut self.session].into_iter().flatten() {
            wanted.look(record);
        }
        self.previous = Some(Neighbour {
            sequence: record.sequence,
            micros,
            digest: record.digest.stored().map(str::to_owned),
        });
    }

    fn own_checks(&mut self, record: &Record, place: &dyn Fn(&'static str, String) -> Finding) {
        if let Some(schema) = record
            .schema
            .as_deref()
            .filter(|schema| !SCHEMAS.contains(schema))
        {
            let shown: String = schema.chars().take(40).collect();
            self.error(place(
                "shell.audit_schema_version",
                format!("the schema {shown:?} is unknown"),
            ));
        }
        match &record.digest {
            StoredDigest::Good(_) => {}
            StoredDigest::Bad(_) => self.error(place(
                "shell.audit_chain_digest",
                format!(
                    "event {} does not have the digest that is stored in it",
                    record.sequence
                ),
            )),
            StoredDigest::Missing => {
                let message = format!(
                    "event {} has no digest, though the log is chained",
                    record.sequence
                );
                let finding = place("shell.audit_chain_missing_digest", message);
                if self.undigested.len() < ERRORS_MAX {
                    self.undigested.push((finding, self.report.errors.len()));
                } else {
                    self.undigested_more += 1;
                }
            }
        }
    }

    fn first_checks(&mut self, record: &Record, place: &dyn Fn(&'static str, String) -> Finding) {
        let chained = record.digest.stored().is_some();
        let lost = record.member("lost_sequence").and_then(Json::as_integer);
        if let (true, Some(lost)) = (record.event == "log_opened", lost) {
            self.error(place(
                "shell.audit_truncated",
                format!(
                    "the file that held the events up to {lost} is gone; this one continues it"
                ),
            ));
        }
        if record.sequence == 0 && record.previous.is_some() {
            self.error(place(
                "shell.audit_chain_previous",
                "the first event names an event before it".to_owned(),
            ));
        } else if record.sequence > 0 && record.previous.is_none() && chained {
            self.error(place(
                "shell.audit_chain_previous",
                format!(
                    "event {} does not name the event before it",
                    record.sequence
                ),
            ));
        }
    }

    fn neighbour_checks(
        &mut self,
        record: &Record,
        place: &dyn Fn(&'static str, String) -> Finding,
    ) {
        let Some(before) = self.previous.take() else {
            return;
        };
        if record.sequence != before.sequence.wrapping_add(1) {
            self.error(place(
                "shell.audit_sequence_gap",
                format!(
                    "event {} follows event {}",
                    record.sequence, before.sequence
                ),
            ));
        }
        if before.digest.is_some() && record.previous != before.digest {
            self.error(place(
                "shell.audit_chain_previous",
                format!(
                    "event {} does not name the digest of the event before it",
                    record.sequence
                ),
            ));
        }
        let micros = (record.timestamp * 1e6).round() as i64;
        if before.micros.saturating_sub(micros) > CLOCK_MICROS {
            let seconds = before.micros.saturating_sub(micros) / 1_000_000;
            let finding = place(
                "shell.audit_clock",
                format!("the time goes back by {seconds} s"),
            );
            if self.report.warnings.len() < ERRORS_MAX {
                self.report.warnings.push(finding);
            }
        }
    }

    fn finish(mut self) -> ValidationReport {
        self.missing_digests();
        let session = self
            .options
            .session
            .map(|session| (session.sequence, session.event_sha256.clone()));
        let head = self
            .report
            .head
            .ok()
            .map(|head| (head.sequence, Some(head.event_sha256.clone())));
        let wanted = (self.head.take(), self.session.take());
        self.anchor("the head record", head.as_ref(), wanted.0);
        self.anchor("the session state", session.as_ref(), wanted.1);
        self.report.anchor = match (head, session) {
            (Some(_), _) => Anchor::Head,
            (None, Some(_)) => Anchor::Session,
            (None, None) => Anchor::None,
        };
        self.report
    }

    /// Once any event is chained every event is; their errors stand where the events stood.
    fn missing_digests(&mut self) {
        if !self.report.chained {
            if self.options.require_chain && self.report.events > 0 {
                self.error(Finding {
                    code: "shell.audit_chain_missing_digest",
                    file: None,
                    line: None,
                    message: "no event of this log has a digest, so nothing proves its order"
                        .to_owned(),
                });
            }
            return;
        }
        let mut merged = Vec::new();
        let mut missing = std::mem::take(&mut self.undigested).into_iter().peekable();
        for (index, error) in std::mem::take(&mut self.report.errors)
            .into_iter()
            .enumerate()
        {
            while let Some((finding, _)) = missing.next_if(|(_, at)| *at <= index) {
                merged.push(finding);
            }
            merged.push(error);
        }
        merged.extend(missing.map(|(finding, _)| finding));
        let over = merged.len().saturating_sub(ERRORS_MAX);
        merged.truncate(ERRORS_MAX);
        self.report.more_errors += over as u64 + self.undigested_more;
        self.report.errors = merged;
    }

    fn anchor(
        &mut self,
        name: &str,
        anchor: Option<&(u64, Option<String>)>,
        wanted: Option<Wanted>,
    ) {
        let Some((sequence, digest)) = anchor else {
            return;
        };
        let plain = |code, message| Finding {
            code,
            file: None,
            line: None,
            message,
        };
        if self.highest.is_none_or(|highest| highest < *sequence) {
            let end = self.highest.map_or_else(
                || "has no event".to_owned(),
                |last| format!("ends at {last}"),
            );
            self.error(plain(
                "shell.audit_truncated",
                format!(
                    "{name} knows event {sequence}, but the log {end}: newer events were removed"
                ),
            ));
            return;
        }
        let found = wanted.and_then(|wanted| wanted.found).flatten();
        if let (Some(expected), Some(found)) = (digest, found)
            && *expected != found
        {
            self.error(plain(
                "shell.audit_head_mismatch",
                format!("{name} names another event {sequence}: the log was rewritten"),
            ));
        }
    }
}
