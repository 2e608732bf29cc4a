//! Opening the audit sink of a runtime (06 section 2.1, step 12).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmd_compiler::manifest::{Audit, AuditContent, AuditFailure, AuditFormat, Manifest};
use chatmd_facts::{Host, canonical_or_parent};

use super::{HostSettings, Problem};
use crate::audit::head::ANCHORS;
use crate::audit::secure_file::{self, sibling};
use crate::audit::{AuditError, AuditSink, Event, EventBody, IntegrityKey, SinkOptions, Target};
use crate::authorise::BoundDocument;
use crate::journal::Journal;
use crate::output::Redactor;
use crate::session::StatePlaces;

/// Name of the session audit file below the session directory.
pub const SESSION_AUDIT: &str = ".chatmd/shell-audit.jsonl";

/// Opens the sink that a runtime declares. With `failure="continue"` a sink that can not be opened
/// is a warning.
pub(super) fn open(
    host: &Host,
    declared: &Audit,
    document: &BoundDocument,
    redactor: &Redactor,
    settings: &HostSettings,
) -> Result<Journal, Problem> {
    let warnings = Arc::clone(&settings.warnings);
    let target = target(host, declared, settings)?;
    if target == Target::None {
        return Ok(Journal::new(None, declared.failure, warnings));
    }
    let path = match &target {
        Target::File { path, .. } => Some(path.clone()),
        _ => None,
    };
    let opened = key(&settings.state.integrity_key).and_then(|key| {
        let options = SinkOptions {
            target,
            content: declared.content,
            session_id: host.session_id().map(str::to_owned),
            manifest_sha256: Some(document.bound_sha256.clone()),
            redactor: redactor.clone(),
            key,
            anchors: Some(settings.state.root.join(ANCHORS)),
        };
        if let Some(path) = path.as_deref() {
            reserve_older_name(path, &document.manifest);
        }
        AuditSink::open(options).map_err(|error| Problem::new(error.code, error.message))
    });
    match opened {
        Ok((sink, found)) => {
            for warning in found {
                warnings.add(warning.code, &warning.message);
            }
            Ok(Journal::new(Some(sink), declared.failure, warnings).at(path))
        }
        Err(problem) if declared.failure == AuditFailure::Continue => {
            warnings.add(problem.code, &problem.message);
            Ok(Journal::lost(declared.failure, warnings))
        }
        Err(problem) => Err(problem),
    }
}

/// The logs that the runtimes place by path. A path that can not be resolved is reported when its
/// sink is opened.
pub(super) fn logs(host: &Host, manifest: &Manifest) -> BTreeMap<String, PathBuf> {
    let declared = manifest.runtimes.iter().filter_map(|runtime| {
        let path = runtime.audit.path.as_ref()?;
        let by_path = runtime.audit.format == AuditFormat::Jsonl;
        let path = by_path.then(|| host.resolve(path).ok()).flatten()?;
        Some((runtime.id.clone(), path))
    });
    declared.collect()
}

/// A write root that covers `path`, with its runtime.
fn write_root<'a>(path: &Path, manifest: &'a Manifest) -> Option<(&'a str, &'a str)> {
    let path = canonical_or_parent(path).ok()?;
    let runtimes = manifest.binding.iter().flat_map(|binding| &binding.roots);
    let mut roots = runtimes.flat_map(|roots| {
        let write = roots.write.iter();
        write.map(|root| (root.as_str(), roots.runtime.as_str()))
    });
    roots.find(|(root, _)| path.as_path().starts_with(root))
}

/// What lies in a write root is protected in every sandbox, but a folder of its own is better
/// (spec 08 section 1, P4).
pub(super) fn warn_of_logs_in_write_roots(
    logs: &BTreeMap<String, PathBuf>,
    manifest: &Manifest,
    settings: &HostSettings,
) {
    for (id, log) in logs {
        let Some((root, runtime)) = write_root(log, manifest) else {
            continue;
        };
        let message = format!(
            "{id}: the audit log {} lies in {root}, which {runtime} may write",
            log.display()
        );
        settings.warnings.add("shell.audit_in_write_root", &message);
    }
}

/// Readers of a log look for older events in `LOG.1`. Where commands could put one there, an empty
/// file takes the name: what exists can be made read-only, what is missing can not.
fn reserve_older_name(log: &Path, manifest: &Manifest) {
    if write_root(log, manifest).is_some() {
        let mut how = secure_file::options();
        how.write(true).create_new(true);
        // It is there already, or the sink can not be opened either.
        let _ = secure_file::create_parents(log).map(|()| how.open(sibling(log, ".1")));
    }
}

fn target(host: &Host, declared: &Audit, settings: &HostSettings) -> Result<Target, Problem> {
    Ok(match declared.format {
        AuditFormat::None => Target::None,
        AuditFormat::Stderr => Target::Stderr,
        AuditFormat::Session => Target::session(session_audit(settings)),
        AuditFormat::Jsonl => {
            let path = declared.path.as_ref().ok_or_else(|| {
                Problem::new("shell.audit_path_required", "the audit file has no path")
            })?;
            let path = host
                .resolve(path)
                .map_err(|error| Problem::new(error.code(), error.to_string()))?;
            Target::jsonl(path)
        }
    })
}

fn session_audit(settings: &HostSettings) -> PathBuf {
    settings.session_dir.join(SESSION_AUDIT)
}

/// Records in a session's audit file that a manifest was not authorised. Logs that the document
/// places by path are left alone: nobody has allowed it to name a file.
pub fn record_rejection(
    state: &StatePlaces,
    (session_id, session_dir): (&str, &Path),
    manifest_sha256: &str,
    code: &str,
    reason: &str,
) -> Result<(), Problem> {
    let failed = |error: AuditError| Problem::new(error.code, error.message);
    let options = SinkOptions {
        target: Target::session(session_dir.join(SESSION_AUDIT)),
        content: AuditContent::Redacted,
        session_id: Some(session_id.to_owned()),
        manifest_sha256: Some(manifest_sha256.to_owned()),
        redactor: Redactor::default(),
        key: key(&state.integrity_key)?,
        anchors: None,
    };
    let (sink, _) = AuditSink::open(options).map_err(failed)?;
    let id = manifest_sha256.get(..16).unwrap_or(manifest_sha256);
    let body = EventBody::ManifestRejected {
        code: code.to_owned(),
        reason: reason.to_owned(),
    };
    let event = Event::document(&format!("manifest:{id}"), body);
    sink.emit(&event).map(|_| ()).map_err(failed)
}

fn key(path: &Path) -> Result<Option<Arc<IntegrityKey>>, Problem> {
    match IntegrityKey::load_or_create(path) {
        Ok(key) => Ok(Some(Arc::new(key))),
        Err(error) => Err(Problem::new("shell.audit_open_failed", error.to_string())),
    }
}
