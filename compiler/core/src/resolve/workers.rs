//! Compile-time checks of the worker runtimes of executable extensions (spec 02 section 14).

use super::context::{Context, HookUse};
use super::effective::Effective;
use super::inherit::written;
use super::registry::field_place;
use super::report::{Fill, quote, warning};
use super::taint::Taint;
use crate::diagnostics::{Diagnostic, Place};
use crate::manifest::{Action, ApprovalProvider, Matcher, Path, Sandbox};

/// Checks the worker of every hook, once per declaration.
pub(crate) fn check(cx: &mut Context<'_>) {
    for used in std::mem::take(&mut cx.hooks) {
        let (owner, worker) = (
            &cx.registry.runtimes[used.owner],
            &cx.registry.runtimes[used.worker],
        );
        let Some(effective) = worker.effective.clone() else {
            continue;
        };
        if worker.taint != Taint::NONE || used.owner == used.worker {
            continue;
        }
        let path = [
            "shell_access".to_owned(),
            written(&owner.decl.id).to_owned(),
            used.via.clone(),
        ];
        let owner_id = owner.id.clone();
        let declared = field_place(worker.item, &worker.decl.id);
        let id = worker.id.clone();
        for finding in findings(&used, &id, declared, &effective) {
            cx.sink.push(finding.path(path.clone()).runtime(&owner_id));
        }
    }
}

fn findings(used: &HookUse, id: &str, declared: Place, worker: &Effective) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut warn = |code, at, message: String, hint: &str| {
        let finding = warning(code, at, message)
            .label("worker runtime")
            .also(Some(declared), format!("runtime {}", quote(id)))
            .hint(hint);
        findings.push(finding);
    };
    let (via, quoted) = (&used.via, quote(id));
    if worker.sandbox.value != Sandbox::Required {
        warn(
            "shell.worker_unsandboxed",
            used.worker_at,
            format!("{via} may run outside a sandbox in worker {quoted}"),
            "set `sandbox=\"required\"` in the worker",
        );
    }
    if worker.network {
        warn(
            "shell.worker_network",
            used.worker_at,
            format!("{via} may use the network in worker {quoted}"),
            "set `network=\"false\"` in the worker unless the hook needs it",
        );
    }
    let asks = worker.provider != ApprovalProvider::None
        || !worker.reviewers.is_empty()
        || !worker.interceptors.is_empty();
    if asks {
        warn(
            "shell.worker_interactive",
            used.worker_at,
            format!(
                "{via} runs without questions: approvals, reviewers and interceptors of worker {quoted} are never consulted"
            ),
            "set `provider=\"none\"` in the worker and declare no reviewers or interceptors there",
        );
    }
    if !runs(worker, &used.hook.executable) {
        warn(
            "shell.worker_cannot_run_hook",
            used.worker_at,
            format!("the policy of worker {quoted} does not clearly allow {via}"),
            "add an `allow` rule with a `resolved_path` equal to the `executable` of the hook",
        );
    }
    if let (Some(timeout), Some(at)) = (used.hook.timeout_ms, used.timeout_at)
        && timeout > worker.limits.wall_time_ms
    {
        let wall = worker.limits.wall_time_ms;
        warn(
            "shell.limit_ineffective",
            at,
            format!(
                "`timeout` of {timeout} ms never ends {via}: `wall_time` of worker {quoted} is {wall} ms"
            ),
            "lower `timeout`, or raise `wall_time` in the worker",
        );
    }
    let (input, stdin) = (used.hook.max_input_bytes, worker.limits.max_stdin_bytes);
    if stdin < input {
        warn(
            "shell.limit_ineffective",
            used.max_input_at.unwrap_or(used.worker_at),
            format!(
                "`max_input` of {input} bytes is never reached by {via}: `max_stdin` of worker {quoted} is {stdin} bytes"
            ),
            "lower `max_input`, or raise `max_stdin` in the worker",
        );
    }
    findings
}

/// Whether the policy can be shown to allow the hook.
fn runs(worker: &Effective, executable: &Path) -> bool {
    let mut rules = worker
        .rules
        .iter()
        .filter_map(|entry| entry.value.as_deref());
    let denied = rules
        .clone()
        .any(|rule| rule.action != Action::Allow && holds(&rule.matcher, executable) == Some(true));
    let allowed = worker.policy == Action::Allow
        || rules.any(|rule| {
            rule.action == Action::Allow && holds(&rule.matcher, executable) == Some(true)
        });
    allowed && !denied
}

/// What is known about a matcher without running anything: `None` when it depends.
/// Matchers are at most 64 deep.
fn holds(matcher: &Matcher, executable: &Path) -> Option<bool> {
    match matcher {
        Matcher::AnyCommand {} => Some(true),
        Matcher::RawShell {} => Some(false),
        Matcher::ResolvedPath { path } if path == executable => Some(true),
        Matcher::Not { of } => holds(of, executable).map(|known| !known),
        Matcher::All { of } => fold(of, executable, false),
        Matcher::Any { of } => fold(of, executable, true),
        _ => None,
    }
}

/// `decisive` is the value that settles the whole; all others together give its opposite.
fn fold(of: &[Matcher], executable: &Path, decisive: bool) -> Option<bool> {
    let mut known = true;
    for matcher in of {
        match holds(matcher, executable) {
            Some(value) if value == decisive => return Some(decisive),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!decisive)
}
