//! Inspection as JSON (spec 10 section 1.3).

use chatmd_compiler::authority::Summary as Authority;
use chatmd_compiler::manifest;
use chatmd_compiler::published::{PublishedTool, publish};
use chatmd_facts::BindFinding;
use serde::Serialize;

use super::View;
use crate::commands::{JsonError, findings, to_json};
use crate::exit;
use crate::live::LiveRuntime;
use crate::report::Summary;
use crate::report::json::{self, JsonDiagnostic};

#[derive(Serialize)]
struct Answer<'a> {
    version: u32,
    command: &'static str,
    ok: bool,
    requested_sha256: Option<&'a str>,
    manifest_sha256: Option<&'a str>,
    live_unavailable: Option<&'a str>,
    encoding_version: &'static str,
    platform: Option<&'static str>,
    administrative: Administrative,
    signature: Signature,
    trusted_sources: TrustedSources,
    authority: Option<Authority>,
    live: &'a [LiveRuntime],
    tools: Vec<PublishedTool>,
    diagnostics: Vec<JsonDiagnostic>,
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
}

/// No violation can be listed yet: with a policy configured the command refuses.
#[derive(Serialize)]
struct Administrative {
    sources: Vec<&'static str>,
    violations: [(); 0],
}

#[derive(Serialize)]
struct Signature {
    status: &'static str,
    key_id: Option<()>,
    issuer: Option<()>,
    code: Option<()>,
    message: Option<String>,
}

#[derive(Serialize)]
struct TrustedSources {
    status: &'static str,
    evidence: [(); 0],
    failures: [(); 0],
}

/// The answer as text.
pub(super) fn answer(view: &View<'_>) -> String {
    let compilation = view.compilation;
    let shown = [findings(compilation, false)];
    let mut summary = Summary::of(&shown);
    let mut diagnostics = json::diagnostics(&shown);
    let binding: &[BindFinding] = match &view.live {
        Ok(live) => &live.findings,
        Err(unavailable) => &unavailable.findings,
    };
    for found in binding {
        if found.error {
            summary.errors += 1;
        } else {
            summary.warnings += 1;
        }
        diagnostics.push(json::without_place(
            found.code,
            if found.error { "error" } else { "warning" },
            &found.message,
        ));
    }
    let code = view.exit_code();
    let refusals = view.refusals();
    let message = match (code, &view.live) {
        (exit::OK, _) => None,
        (exit::FAILED, Err(unavailable)) if compilation.manifest.is_some() => {
            Some(unavailable.reason.clone())
        }
        (exit::FAILED, _) => Some("the document has errors".to_owned()),
        _ => Some(refusals.join("; ")),
    };
    let configured = |label: &str| {
        let mut subjects = view.administration.iter();
        subjects
            .find(|(subject, _)| subject.label == label)
            .and_then(|(subject, by)| Some(subject.refusal(by.as_deref()?)))
    };
    let signature = configured("signature");
    let requested = compilation.manifest.as_ref();
    let commands = &compilation.material.commands;
    let tools = requested
        .map(|manifest| &manifest.tools[..])
        .unwrap_or_default();
    let canonical = view.args.canonical.then(|| view.canonical()).flatten();
    to_json(&Answer {
        version: 1,
        command: "inspect",
        ok: code == exit::OK,
        requested_sha256: compilation.requested_sha256.as_deref(),
        manifest_sha256: view.live.as_ref().ok().map(|live| live.sha256.as_str()),
        live_unavailable: view.live.as_ref().err().map(|why| why.reason.as_str()),
        encoding_version: manifest::ENCODING,
        platform: requested.map(|manifest| manifest.platform.as_str()),
        administrative: Administrative {
            sources: match configured("administrative") {
                None => vec!["builtin:permissive"],
                Some(_) => Vec::new(),
            },
            violations: [],
        },
        signature: Signature {
            status: if signature.is_some() {
                "failed"
            } else {
                "unsigned"
            },
            key_id: None,
            issuer: None,
            code: None,
            message: signature,
        },
        trusted_sources: TrustedSources {
            status: match configured("trusted sources") {
                None => "not_configured",
                Some(_) => "failed",
            },
            evidence: [],
            failures: [],
        },
        authority: requested.and_then(|manifest| view.authority(manifest)),
        live: view
            .live
            .as_ref()
            .map(|live| &live.runtimes[..])
            .unwrap_or_default(),
        tools: tools
            .iter()
            .map(|tool| publish(tool, commands.get(&tool.name).map(String::as_str)))
            .collect(),
        diagnostics,
        summary,
        canonical: canonical.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        error: message.map(|message| JsonError {
            code: None,
            message,
        }),
    })
}
