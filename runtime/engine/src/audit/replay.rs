//! Timeline of a log (spec 08 section 8.3). Read-only: nothing is executed, resumed or unredacted.

use std::path::Path;

use super::load::{Loaded, LogFiles, Record};
use super::schema::event_schema;
use super::validate::{Finding, ValidationOptions, ValidationReport, validate};
use crate::output::escape_controls;

/// Which events, and how.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// First sequence.
    pub since: Option<u64>,
    /// Last sequence.
    pub until: Option<u64>,
    /// Only these events; empty for all.
    pub events: Vec<String>,
    /// Only this request.
    pub request: Option<String>,
    /// Adds the members of each event.
    pub wide: bool,
    /// One stored event per line instead of the timeline.
    pub json: bool,
    /// Shows a log that does not validate, behind a warning.
    pub allow_invalid: bool,
}

/// Why nothing is shown.
#[derive(Debug)]
pub enum Refused {
    /// The log cannot be read.
    Unreadable(Finding),
    /// The log does not validate.
    Invalid(Box<ValidationReport>),
    /// `shell.audit_request_not_found`.
    RequestNotFound(Finding),
}

/// Validates unless told otherwise; returns the warning line for a log that does not.
pub(super) fn validated(
    path: &Path,
    validation: ValidationOptions<'_>,
    allow_invalid: bool,
) -> Result<Option<String>, Refused> {
    let report = validate(path, validation).map_err(Refused::Unreadable)?;
    if report.is_valid() {
        return Ok(None);
    }
    if !allow_invalid {
        return Err(Refused::Invalid(Box::new(report)));
    }
    let errors = report.errors.len() as u64 + report.more_errors;
    Ok(Some(format!(
        "warning: this log is not valid ({errors} errors); do not rely on what follows"
    )))
}

/// Calls `each` for every event that could be loaded, with its stored bytes.
pub(super) fn for_each_event(
    path: &Path,
    mut each: impl FnMut(&Record, &[u8]),
) -> Result<(), Refused> {
    let unreadable = |(file, error): super::load::ReadError| {
        Refused::Unreadable(super::validate::read_failed(&file, &error))
    };
    let files = LogFiles::open(path).map_err(unreadable)?;
    files
        .for_each(|line| {
            if let Loaded::Event(record) = &line.content {
                each(record, line.raw);
            }
        })
        .map_err(unreadable)
}

/// Calls `out` with every line of the timeline. A log that is not valid is refused, or shown behind
/// a warning line.
pub fn replay(
    path: &Path,
    validation: ValidationOptions<'_>,
    options: &ReplayOptions,
    mut out: impl FnMut(&str),
) -> Result<(), Refused> {
    let warning = validated(path, validation, options.allow_invalid)?;
    if let Some(warning) = warning.filter(|_| !options.json) {
        out(&warning);
    }
    for_each_event(path, |record, raw| {
        if !wanted(record, options) {
            return;
        }
        if options.json {
            out(&String::from_utf8_lossy(raw));
        } else {
            out(&timeline(record, options.wide));
        }
    })
}

fn wanted(record: &Record, options: &ReplayOptions) -> bool {
    options.since.is_none_or(|since| record.sequence >= since)
        && options.until.is_none_or(|until| record.sequence <= until)
        && options
            .request
            .as_ref()
            .is_none_or(|request| record.request_id == *request)
        && (options.events.is_empty() || options.events.contains(&record.event))
}

fn timeline(record: &Record, wide: bool) -> String {
    let mut line = format!(
        "{}  {:.3}  {:<20}  request={}",
        record.sequence,
        record.timestamp,
        escape_controls(&record.event),
        escape_controls(&record.request_id),
    );
    if let Some(plan) = &record.plan_id {
        line.push_str(&format!(" plan={}", escape_controls(plan)));
    }
    if wide {
        let own = event_schema(&record.event).map_or(&[][..], |schema| schema.fields);
        let names = ["command"]
            .into_iter()
            .chain(own.iter().map(|(name, _)| *name));
        for name in names {
            if let Some(value) = record.member(name) {
                line.push_str(&format!(" {name}={}", escape_controls(&value.compact())));
            }
        }
    }
    line
}
