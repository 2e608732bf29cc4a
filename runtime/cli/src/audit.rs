//! `chatmd audit`.

use std::path::Path;

use chatmd_compiler::SafeText;
use chatmd_facts::Snapshot;
use chatmd_runtime::audit::head::ANCHORS;
use chatmd_runtime::audit::validate::Finding;
use chatmd_runtime::audit::{IntegrityKey, ValidationOptions, ValidationReport};
use chatmd_runtime::session::StatePlaces;
use chatmdc::args::Common;
use serde::Serialize;

use crate::args::{ReportFormat, Validate};
use crate::exit::{self, Stop};
use crate::show;

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    command: &'static str,
    ok: bool,
    #[serde(flatten)]
    report: &'a ValidationReport,
}

/// Checks a log. Writes nothing and takes no lock.
pub fn validate(args: &Validate, common: Common) -> Result<u8, Stop> {
    if let Err(why) = readable(&args.path) {
        return unreadable(args, &why);
    }
    let state = StatePlaces::find(args.state_dir.as_deref(), &Snapshot::of_process()).ok();
    // The key and the head records prove the end of a log. Only those of the given or the usual
    // place count: whoever can write a log could put a key of their own beside it.
    let key = state.as_ref().and_then(|state| {
        let loaded = IntegrityKey::load(&state.integrity_key);
        loaded.ok().flatten()
    });
    let anchors = state.map(|state| state.root.join(ANCHORS));
    let options = ValidationOptions {
        require_chain: args.require_chain,
        strict: args.strict,
        session: None,
        key: key.as_ref(),
        anchors: anchors.as_deref(),
    };
    let report = match chatmd_runtime::audit::validate(&args.path, options) {
        Ok(report) => report,
        Err(finding) => return unreadable(args, &line(&finding)),
    };
    match args.format {
        ReportFormat::Json => {
            let ok = report.is_valid();
            let report = Report {
                version: 1,
                command: "audit validate",
                ok,
                report: &report,
            };
            let text = serde_json::to_string(&report)
                .map_err(|error| Stop::new(exit::INTERNAL, format!("chatmd: {error}")))?;
            show::result(format!("{text}\n").as_bytes())?;
        }
        ReportFormat::Human => human(&report, common)?,
    }
    Ok(if report.is_valid() {
        exit::OK
    } else {
        exit::FAILED
    })
}

/// A device or a pipe by name could go on without end; a folder is no log.
fn readable(path: &Path) -> Result<(), String> {
    if path == Path::new("-") {
        return Ok(());
    }
    let shown = path.display();
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => Ok(()),
        Ok(_) => Err(format!(
            "shell.audit_read_failed: {shown} is not a regular file"
        )),
        Err(error) => Err(format!("chatmd: cannot read {shown}: {error}")),
    }
}

/// There is no report: the answer says why, in the form that was asked for.
fn unreadable(args: &Validate, why: &str) -> Result<u8, Stop> {
    #[derive(Serialize)]
    struct Answer<'a> {
        version: u32,
        command: &'static str,
        ok: bool,
        error: Failure<'a>,
    }
    #[derive(Serialize)]
    struct Failure<'a> {
        code: Option<&'a str>,
        message: &'a str,
    }
    let safe = SafeText::line(why);
    if args.format == ReportFormat::Human {
        return Err(Stop::new(exit::IO, safe.as_str().to_owned()));
    }
    let (code, message) = match safe.as_str().split_once(": ") {
        Some((code, message)) if code.starts_with("shell.") => (code.split(' ').next(), message),
        _ => (None, safe.as_str()),
    };
    let answer = Answer {
        version: 1,
        command: "audit validate",
        ok: false,
        error: Failure { code, message },
    };
    let text = serde_json::to_string(&answer)
        .map_err(|error| Stop::new(exit::INTERNAL, format!("chatmd: {error}")))?;
    show::result(format!("{text}\n").as_bytes())?;
    Ok(exit::IO)
}

fn human(report: &ValidationReport, common: Common) -> Result<(), Stop> {
    for warning in report.warnings.iter().filter(|_| !common.quiet) {
        show::message(&format!("warning: {}", line(warning)));
    }
    for error in &report.errors {
        show::message(&line(error));
    }
    if report.more_errors > 0 {
        show::message(&format!("and {} more errors", report.more_errors));
    }
    if report.is_valid() && !common.quiet {
        show::result(format!("{}\n", report.summary().join("\n")).as_bytes())?;
    }
    Ok(())
}

/// `CODE [file=F line=L]: MESSAGE`.
fn line(finding: &Finding) -> String {
    let mut place = Vec::new();
    place.extend(finding.file.as_ref().map(|file| format!("file={file}")));
    place.extend(finding.line.map(|line| format!("line={line}")));
    let place = if place.is_empty() {
        String::new()
    } else {
        format!(" [{}]", place.join(" "))
    };
    SafeText::line(&format!("{}{place}: {}", finding.code, finding.message)).into_string()
}
