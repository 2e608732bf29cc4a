//! Reconstruction of one request from its events (spec 08 section 8.4).

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use super::load::Record;
use super::replay::{Refused, for_each_event, validated};
use super::schema::{Class, event_schema};
use super::validate::{Finding, ValidationOptions};
use crate::output::escape_controls;
use chatmd_policy::strict_json::Json;

/// Fewest hexadecimal digits of an abbreviated id.
const PREFIX_DIGITS: usize = 8;

/// What the log says about one request; serialises to the members of section 8.4.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)] // The members are those of the specification, by the same names.
pub struct RequestReport {
    pub request_id: String,
    pub runtime_id: String,
    pub manifest_sha256: String,
    pub tool_name: Option<String>,
    pub request_kind: Option<String>,
    pub command: Option<String>,
    pub command_sha256: Option<String>,
    pub cwd_sha256: Option<String>,
    pub backend: Option<String>,
    pub policy_action: Option<String>,
    pub approval_answer: Option<String>,
    pub effects: Vec<String>,
    pub interceptors: Vec<String>,
    pub reviewers: Vec<String>,
    pub grants_used: Vec<String>,
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub exit_kind: Option<String>,
    pub exit_code: Option<i64>,
    pub signal: Option<i64>,
    pub rejected_reason: Option<String>,
    pub code: Option<String>,
    pub completed: bool,
    events: Vec<Json>,
}

/// Collects the events of `request_id`, which may be a unique prefix of at least eight digits.
/// Returns the warning line of an invalid log that was allowed.
pub fn reconstruct(
    path: &Path,
    validation: ValidationOptions<'_>,
    request_id: &str,
    allow_invalid: bool,
) -> Result<(RequestReport, Option<String>), Refused> {
    let warning = validated(path, validation, allow_invalid)?;
    let id = resolve(path, request_id)?;
    let mut records = Vec::new();
    for_each_event(path, |record, _| {
        if record.request_id == id && is_request(record) {
            records.push(record.clone());
        }
    })?;
    if records.is_empty() {
        return Err(not_found(request_id, "no event has this request id"));
    }
    records.sort_by_key(|record| record.sequence);
    Ok((RequestReport::of(&id, &records), warning))
}

fn not_found(id: &str, message: &str) -> Refused {
    Refused::RequestNotFound(Finding {
        code: "shell.audit_request_not_found",
        file: None,
        line: None,
        message: format!("{}: {message}", escape_controls(id)),
    })
}

/// Events that other programs added count as request events.
fn is_request(record: &Record) -> bool {
    event_schema(&record.event).is_none_or(|schema| schema.class == Class::Request)
}

fn resolve(path: &Path, given: &str) -> Result<String, Refused> {
    let digits = given.strip_prefix("shell-").unwrap_or_default();
    let hexadecimal = digits
        .bytes()
        .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let abbreviated = digits.len() >= PREFIX_DIGITS && hexadecimal;
    let mut found = BTreeSet::new();
    for_each_event(path, |record, _| {
        let known =
            record.request_id == given || abbreviated && record.request_id.starts_with(given);
        if known && is_request(record) {
            found.insert(record.request_id.clone());
        }
    })?;
    if found.contains(given) || found.is_empty() {
        return Ok(given.to_owned());
    }
    let mut ids = found.into_iter();
    match (ids.next(), ids.next()) {
        (Some(id), None) => Ok(id),
        _ => Err(not_found(given, "several requests begin like this")),
    }
}

impl RequestReport {
    fn of(id: &str, records: &[Record]) -> Self {
        let mut report = Self {
            request_id: id.to_owned(),
            ..Self::default()
        };
        if let Some(first) = records.first() {
            report.runtime_id = first.runtime_id.clone();
            report.manifest_sha256 = first.manifest_sha256.clone();
        }
        records.iter().for_each(|record| report.take(record));
        let terminal = |names: &[&str]| {
            records
                .iter()
                .any(|record| names.contains(&record.event.as_str()))
        };
        // Logs of other writers have no event that brackets a request.
        let bracketed = terminal(&["request_received"]);
        report.completed = terminal(&["request_completed", "request_interrupted"])
            || !bracketed && terminal(&["finished", "terminated", "rejected"]);
        report
    }

    fn take(&mut self, record: &Record) {
        let text = |name: &str| {
            record
                .member(name)
                .and_then(Json::as_text)
                .map(str::to_owned)
        };
        let latest = |slot: &mut Option<String>, name: &str| {
            if let Some(value) = text(name) {
                *slot = Some(value);
            }
        };
        let number = |name: &str| record.member(name).and_then(Json::as_integer);
        self.tool_name = self.tool_name.take().or_else(|| text("tool_name"));
        self.request_kind = self.request_kind.take().or_else(|| text("request_kind"));
        latest(&mut self.command, "command");
        latest(&mut self.command_sha256, "command_sha256");
        latest(&mut self.cwd_sha256, "cwd_sha256");
        latest(&mut self.backend, "backend");
        latest(&mut self.policy_action, "policy_action");
        latest(&mut self.approval_answer, "approval_answer");
        latest(&mut self.exit_kind, "exit_kind");
        latest(&mut self.code, "code");
        self.exit_code = number("exit_code").or(self.exit_code);
        self.signal = number("signal").or(self.signal);
        let effects = record
            .member("effects")
            .map(Json::texts)
            .unwrap_or_default();
        if !effects.is_empty() {
            self.effects = effects;
        }
        match record.event.as_str() {
            "intercepted" => self.interceptors.extend(text("interceptor")),
            "reviewer_completed" => {
                self.reviewers
                    .extend(text("reviewer_id").or_else(|| text("reviewer_kind")));
            }
            "approval_answered" => self.grants_used.extend(text("grant_id")),
            "rejected" => {
                self.rejected_reason = text("reason").or_else(|| self.rejected_reason.take())
            }
            "output" => {
                let bytes = number("bytes")
                    .and_then(|bytes| u64::try_from(bytes).ok())
                    .unwrap_or(0);
                match text("channel").as_deref() {
                    Some("stdout") => self.stdout_bytes = self.stdout_bytes.saturating_add(bytes),
                    Some("stderr") => self.stderr_bytes = self.stderr_bytes.saturating_add(bytes),
                    _ => {}
                }
            }
            _ => {}
        }
        self.events.push(Json::Object(record.members.clone()));
    }

    /// Labelled lines for people (spec 10 section 3.8); control characters are escaped.
    pub fn lines(&self) -> Vec<String> {
        let shown = |text: &Option<String>| {
            text.as_ref()
                .map_or_else(|| "<none>".to_owned(), |text| escape_controls(text))
        };
        let list = |items: &[String]| {
            if items.is_empty() {
                "<none>".to_owned()
            } else {
                escape_controls(&items.join(", "))
            }
        };
        let command = match &self.command {
            Some(command) => escape_controls(command),
            None => "<metadata only>".to_owned(),
        };
        vec![
            format!("request: {}", escape_controls(&self.request_id)),
            format!("runtime: {}", escape_controls(&self.runtime_id)),
            format!("manifest: {}", escape_controls(&self.manifest_sha256)),
            format!("tool: {}", shown(&self.tool_name)),
            format!("request kind: {}", shown(&self.request_kind)),
            format!("command: {command}"),
            format!("command identity: {}", shown(&self.command_sha256)),
            format!("cwd identity: {}", shown(&self.cwd_sha256)),
            format!("effects: {}", list(&self.effects)),
            format!("policy: {}", shown(&self.policy_action)),
            format!("approval: {}", shown(&self.approval_answer)),
            format!("interceptors: {}", list(&self.interceptors)),
            format!("backend: {}", shown(&self.backend)),
            format!(
                "output: stdout={} stderr={}",
                self.stdout_bytes, self.stderr_bytes
            ),
            format!("result: {}", self.result()),
            format!("reason: {}", shown(&self.rejected_reason)),
        ]
    }

    fn result(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.exit_kind.as_deref().map(escape_controls));
        parts.extend(self.exit_code.map(|code| format!("code={code}")));
        parts.extend(self.signal.map(|signal| format!("signal={signal}")));
        if self.exit_kind.is_none() {
            parts.extend(self.code.as_deref().map(escape_controls));
        }
        if !self.completed {
            return "<unfinished>".to_owned();
        }
        if parts.is_empty() {
            "<none>".to_owned()
        } else {
            parts.join(" ")
        }
    }
}
