//! Text form of the authority summary, in the order that the specification fixes.

use std::fmt::Write as _;

use super::findings::Level;
use super::show::{list, safe};
use super::summary::{ExtensionSummary, RuntimeSummary, Summary};
use crate::manifest::Limits;

impl Summary {
    /// Lines for a terminal, each ended by a line feed. Every string of the document is escaped and
    /// cut; long lists are shortened, findings never.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.critical(&mut out);
        let digest = match &self.manifest_sha256 {
            Some(digest) => format!("manifest {digest}"),
            None => format!("requested {}", self.requested_sha256),
        };
        let (runtimes, tools) = (self.runtimes.len(), self.rest.tools);
        line(
            &mut out,
            format!("{runtimes} shell runtime(s), {tools} shell tool(s), {digest}"),
        );
        for finding in self.findings.iter().filter(|f| f.level != Level::Critical) {
            let about = finding
                .runtime
                .as_deref()
                .map_or_else(String::new, |id| format!("runtime {}: ", safe(id)));
            line(
                &mut out,
                format!("{}: {about}{}", finding.level.as_str(), finding.text),
            );
        }
        for runtime in &self.runtimes {
            self.runtime(runtime, &mut out);
        }
        self.rest(&mut out);
        out
    }

    fn critical(&self, out: &mut String) {
        if self.level != Level::Critical {
            return;
        }
        let texts: Vec<String> = self
            .findings
            .iter()
            .filter(|finding| finding.level == Level::Critical)
            .map(|finding| match &finding.runtime {
                Some(id) => format!("runtime {}: {}", safe(id), finding.text),
                None => finding.text.clone(),
            })
            .collect();
        line(out, format!("CRITICAL: {}", texts.join("; ")));
    }

    fn runtime(&self, runtime: &RuntimeSummary, out: &mut String) {
        line(out, format!("runtime {}", safe(&runtime.id)));
        let mut field = |name: &str, value: String| line(out, format!("  {name}: {value}"));
        field(
            "profile",
            runtime
                .profile
                .as_deref()
                .map_or_else(|| "none".to_owned(), safe),
        );
        let backends = runtime.backends.iter().map(|backend| {
            let name = backend.id.as_deref().unwrap_or(&backend.kind);
            format!(
                "{name} ({}, confinement {})",
                backend.kind,
                backend.confinement.as_str()
            )
        });
        field(
            "sandbox",
            format!("{}; backends: {}", runtime.sandbox.as_str(), list(backends)),
        );
        field("read", list(&runtime.read));
        field("write", list(&runtime.write));
        field("powers", list(powers(runtime)));
        let policy = &runtime.policy;
        field(
            "policy",
            format!(
                "default {}; {} allow, {} ask, {} deny rule(s)",
                policy.default.as_str(),
                policy.allow,
                policy.ask,
                policy.deny
            ),
        );
        let environment = &runtime.environment;
        field(
            "environment",
            format!(
                "{}; set: {}; passed: {}; secret: {}",
                environment.inherit.as_str(),
                list(&environment.set),
                list(&environment.passed),
                list(&environment.secret)
            ),
        );
        field("secrets", list(&runtime.secrets));
        let approvals = &runtime.approvals;
        field(
            "approvals",
            format!(
                "provider {}; unavailable {}; scopes: {}; durable {}",
                approvals.provider.as_str(),
                approvals.unavailable.as_str(),
                list(approvals.scopes.iter().map(|scope| scope.as_str())),
                approvals.durable
            ),
        );
        let reviewers = runtime.reviewers.entries.iter();
        let reviewers = list(reviewers.map(|entry| format!("{} ({})", entry.id, entry.kind)));
        field(
            "reviewers",
            format!("{}; {reviewers}", runtime.reviewers.mode.as_str()),
        );
        field("extensions", list(runtime.extensions.iter().map(extension)));
        field("limits", limits(&runtime.limits));
        let audit = &runtime.audit;
        field(
            "audit",
            format!(
                "{}; path: {}; content {}; failure {}; filter {}",
                audit.format.as_str(),
                audit
                    .path
                    .as_deref()
                    .map_or_else(|| "none".to_owned(), safe),
                audit.content.as_str(),
                audit.failure.as_str(),
                if audit.filter { "yes" } else { "no" }
            ),
        );
        let tools = runtime
            .tools
            .iter()
            .map(|tool| format!("{} ({})", tool.name, tool.mode));
        field("tools", list(tools));
    }

    fn rest(&self, out: &mut String) {
        let moderator = match &self.rest.moderator {
            Some(id) => format!("may start processes in runtime {}", safe(id)),
            None => "starts no processes".to_owned(),
        };
        line(out, format!("moderator: {moderator}"));
        line(out, "sources:".to_owned());
        for (path, role, sha256) in &self.rest.sources {
            line(out, format!("  {} ({role}) {}", safe(path), safe(sha256)));
        }
        let profiles = self.rest.profiles.iter().map(|(requested, resolved)| {
            if requested == resolved {
                resolved.clone()
            } else {
                format!("{requested} = {resolved}")
            }
        });
        line(out, format!("profiles: {}", list(profiles)));
    }
}

fn line(out: &mut String, text: String) {
    let _ = writeln!(out, "{text}");
}

fn powers(runtime: &RuntimeSummary) -> Vec<&'static str> {
    [
        (runtime.network, "network"),
        (runtime.child_processes, "child_processes"),
        (runtime.arbitrary_code, "arbitrary_code"),
        (runtime.privilege_change, "privilege_change"),
    ]
    .into_iter()
    .filter_map(|(granted, name)| granted.then_some(name))
    .collect()
}

fn extension(extension: &ExtensionSummary) -> String {
    let mut text = extension.point.clone();
    if let Some(id) = &extension.id {
        let _ = write!(text, " {id}");
    }
    let _ = write!(text, " ({}", extension.mechanism);
    if let Some(script) = &extension.script {
        let _ = write!(text, " {script}");
    }
    if let Some(worker) = &extension.worker {
        let _ = write!(text, ", worker {worker}");
    }
    match extension.pinned {
        Some(true) => text.push_str(", pinned"),
        Some(false) => text.push_str(", not pinned"),
        None => {}
    }
    text.push(')');
    text
}

fn limits(limits: &Limits) -> String {
    let optional = |value: Option<u64>, unit: &str| match value {
        Some(value) => format!("{value}{unit}"),
        None => "unlimited".to_owned(),
    };
    format!(
        "wall {} ms, idle {}, stdin {} B, stdout {} B, stderr {} B, output {} B, cpu {}, memory {}, file {}, open files {}",
        limits.wall_time_ms,
        optional(limits.idle_time_ms, " ms"),
        limits.max_stdin_bytes,
        limits.stdout_bytes,
        limits.stderr_bytes,
        limits.total_output_bytes,
        optional(limits.cpu_time_ms, " ms"),
        optional(limits.memory_bytes, " B"),
        optional(limits.file_size_bytes, " B"),
        optional(limits.open_files, "")
    )
}
