//! Requests that a host left without an end because it was killed (spec 08 section 5).

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use chatmd_policy::strict_json::Json;
use memchr::memmem;

use super::key::IntegrityKey;
use super::load::{Loaded, LogFiles, Record};
use super::validate::{Finding, ValidationOptions, read_failed, validate};

/// How the events that begin and end a request are written. Quotes inside of texts are escaped, so
/// no text can look like it.
const MILESTONE: &str = "\"event\":\"request_";

/// A request with a `request_received` and no terminal event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfinished {
    pub(super) request_id: String,
    pub(super) runtime_id: String,
    pub(super) manifest_sha256: String,
    pub(super) session_id: Option<String>,
    /// Name and sequence of its newest event.
    pub(super) last_event: String,
    pub(super) last_sequence: u64,
}

/// The unfinished requests of the log at `path`, in the order of their newest events. Nobody may
/// append meanwhile. The log is parsed and validated only when there are any; an error says why
/// nothing can be concluded from it.
pub(super) fn unfinished(
    path: &Path,
    key: Option<&IntegrityKey>,
) -> Result<Vec<Unfinished>, Finding> {
    let open = open_requests(path)?;
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let options = ValidationOptions {
        key,
        ..ValidationOptions::default()
    };
    let report = validate(path, options)?;
    if let Some(error) = report.errors.into_iter().next() {
        return Err(error);
    }
    let mut found: BTreeMap<String, Unfinished> = BTreeMap::new();
    each_event(path, |record| {
        if !open.contains(&record.request_id) {
            return;
        }
        let entry = found.entry(record.request_id.clone());
        let known = entry.or_insert_with(|| Unfinished {
            request_id: record.request_id.clone(),
            runtime_id: record.runtime_id.clone(),
            manifest_sha256: record.manifest_sha256.clone(),
            session_id: match record.member("session_id") {
                Some(Json::Text(id)) => Some(id.clone()),
                _ => None,
            },
            last_event: String::new(),
            last_sequence: 0,
        });
        known.last_event.clone_from(&record.event);
        known.last_sequence = record.sequence;
    })?;
    let mut found: Vec<Unfinished> = found.into_values().collect();
    found.sort_by_key(|request| request.last_sequence);
    Ok(found)
}

/// Ids that were received and never completed. Only the lines that can say so are parsed.
fn open_requests(path: &Path) -> Result<HashSet<String>, Finding> {
    let mut open = HashSet::new();
    let milestone = memmem::Finder::new(MILESTONE);
    let files = LogFiles::open(path).map_err(|(file, error)| read_failed(&file, &error))?;
    files
        .for_each_line(|line| {
            if !line.terminated || milestone.find(line.bytes).is_none() {
                return;
            }
            // A line that is no event is found by the validation.
            let Ok(record) = Record::parse(line.bytes) else {
                return;
            };
            match record.event.as_str() {
                "request_received" => {
                    open.insert(record.request_id);
                }
                "request_completed" | "request_interrupted" => {
                    open.remove(&record.request_id);
                }
                _ => {}
            }
        })
        .map_err(|(file, error)| read_failed(&file, &error))?;
    Ok(open)
}

fn each_event(path: &Path, mut each: impl FnMut(&Record)) -> Result<(), Finding> {
    let files = LogFiles::open(path).map_err(|(file, error)| read_failed(&file, &error))?;
    files
        .for_each(|line| {
            if let Loaded::Event(record) = &line.content {
                each(record);
            }
        })
        .map_err(|(file, error)| read_failed(&file, &error))
}
