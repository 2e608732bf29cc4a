//! Opening the audit sink of a runtime (06 section 2.1, step 12).

use std::path::PathBuf;
use std::sync::Arc;

use chatmd_compiler::manifest::{Audit, AuditFailure, AuditFormat};
use chatmd_facts::Host;

use super::{HostSettings, Problem};
use crate::audit::{AuditSink, IntegrityKey, SinkOptions, Target};
use crate::journal::Journal;
use crate::output::Redactor;

/// Name of the session audit file below the session directory.
pub const SESSION_AUDIT: &str = ".chatmd/shell-audit.jsonl";
/// Name of the integrity key below the state root.
pub const INTEGRITY_KEY: &str = "integrity.key";

/// Opens the sink that a runtime declares. With `failure="continue"` a sink that can not be opened
/// is a warning.
pub(super) fn open(
    host: &Host,
    declared: &Audit,
    manifest_sha256: &str,
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
    let opened = key(settings).and_then(|key| {
        let options = SinkOptions {
            target,
            content: declared.content,
            session_id: host.session_id().map(str::to_owned),
            manifest_sha256: Some(manifest_sha256.to_owned()),
            redactor: redactor.clone(),
            key,
        };
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
            Ok(Journal::new(None, declared.failure, warnings))
        }
        Err(problem) => Err(problem),
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

fn key(settings: &HostSettings) -> Result<Option<Arc<IntegrityKey>>, Problem> {
    let path = settings.state_root.join(INTEGRITY_KEY);
    match IntegrityKey::load_or_create(&path) {
        Ok(key) => Ok(Some(Arc::new(key))),
        Err(error) => Err(Problem::new("shell.audit_open_failed", error.to_string())),
    }
}
