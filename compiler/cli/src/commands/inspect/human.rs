//! Inspection for people. Everything passes [`SafeText`].

use std::fmt::Write as _;

use chatmd_compiler::SafeText;
use chatmd_compiler::manifest::{Manifest, Runtime};
use chatmd_facts::BindFinding;

use super::View;
use crate::live::LiveRuntime;

/// The whole view.
pub(super) fn text(view: &View<'_>, requested: &Manifest) -> String {
    let mut text = labels(view, requested);
    for runtime in &requested.runtimes {
        let _ = writeln!(text, "  {}", SafeText::line(&runtime_line(runtime)));
    }
    if let Some(authority) = view.authority(requested) {
        text.push('\n');
        text.push_str(&authority.text());
    }
    if let Ok(live) = &view.live
        && !live.runtimes.is_empty()
    {
        text.push_str("\nlive view (backends as found, not tried):\n");
        for runtime in &live.runtimes {
            text.push_str(&live_runtime(runtime));
        }
    }
    text
}

/// What binding found, for standard error.
pub(super) fn binding(view: &View<'_>, quiet: bool) -> String {
    binding_findings(
        match &view.live {
            Ok(live) => &live.findings,
            Err(unavailable) => &unavailable.findings,
        },
        quiet,
    )
}

/// Findings of binding, one a line.
pub(in crate::commands) fn binding_findings(findings: &[BindFinding], quiet: bool) -> String {
    let mut text = String::new();
    for found in findings.iter().filter(|found| found.error || !quiet) {
        let severity = if found.error { "error" } else { "warning" };
        let owner = found
            .owner
            .as_ref()
            .map(|owner| format!(" at {owner}"))
            .unwrap_or_default();
        let line = format!("{severity}[{}]{owner}: {}", found.code, found.message);
        let _ = writeln!(text, "{}", SafeText::line(&line));
    }
    text
}

/// The labelled lines, labels padded.
fn labels(view: &View<'_>, requested: &Manifest) -> String {
    let digest = view
        .compilation
        .requested_sha256
        .as_deref()
        .unwrap_or_default();
    let live = match &view.live {
        Ok(live) => live.sha256.clone(),
        Err(unavailable) => format!("unavailable ({})", unavailable.reason),
    };
    let mut rows = vec![
        ("requested manifest", digest.to_owned()),
        ("live manifest", live),
    ];
    for (subject, by) in &view.administration {
        let state = match by {
            None => "not configured".to_owned(),
            Some(by) => format!("not evaluated (configured by {by})"),
        };
        rows.push((subject.label, state));
    }
    rows.push(("live runtimes", requested.runtimes.len().to_string()));
    let width = rows
        .iter()
        .map(|(label, _)| label.len() + 1)
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (label, value) in rows {
        let label = format!("{label}:");
        let _ = writeln!(text, "{label:width$}  {}", SafeText::line(&value));
    }
    text
}

/// `ID  profile=…  sandbox=…  network=…  policy=…  audit=…`.
fn runtime_line(runtime: &Runtime) -> String {
    let profile = runtime
        .profile
        .as_ref()
        .map_or("custom", |profile| profile.resolved.as_str());
    format!(
        "{}  profile={profile}  sandbox={}  network={}  policy={}  audit={}",
        runtime.id,
        runtime.capabilities.sandbox.as_str(),
        runtime.capabilities.network,
        runtime.policy.default.as_str(),
        runtime.audit.format.as_str(),
    )
}

fn live_runtime(runtime: &LiveRuntime) -> String {
    let list = |paths: &[String]| match paths {
        [] => "none".to_owned(),
        paths => paths.join(", "),
    };
    let mut lines = vec![
        format!("  {}", runtime.runtime),
        format!("    read: {}", list(&runtime.roots.read)),
        format!("    write: {}", list(&runtime.roots.write)),
    ];
    lines.push(match &runtime.backend {
        None => "    backend: none can be used here".to_owned(),
        Some(backend) => {
            let name = backend.id.as_deref().unwrap_or(backend.kind);
            let (kind, confinement) = (backend.kind, backend.confinement);
            let wrapper = backend
                .wrapper
                .as_ref()
                .map(|wrapper| format!(", {} sha256 {}", wrapper.path, wrapper.sha256));
            let wrapper = wrapper.unwrap_or_default();
            format!("    backend: {name} ({kind}, confinement {confinement}{wrapper})")
        }
    });
    for excluded in &runtime.excluded_backends {
        let id = excluded.id.as_deref().unwrap_or("(no id)");
        lines.push(format!("    not usable: {id}: {}", excluded.reason));
    }
    let warnings = runtime.warnings.iter();
    lines.extend(warnings.map(|warning| format!("    warning: {warning}")));
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{}", SafeText::line(&line));
    }
    text
}
