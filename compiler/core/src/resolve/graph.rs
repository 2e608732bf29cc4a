//! Dependency cycles between runtimes (spec 04 section 10.2).

use std::collections::HashMap;

use super::context::Context;
use super::cycles;
use super::effective::Effective;
use super::inherit::written;
use super::registry::{Parent, field_place};
use super::report::{Fill, error, quote};
use crate::diagnostics::Place;
use crate::manifest::{Extension, Hook, Reviewer};

/// An edge between two runtimes. An `extends` edge has no label.
#[derive(Clone)]
struct Edge {
    via: Option<String>,
    at: Place,
}

/// Every executable extension of an effective runtime: label, hook, place of its `runtime` value.
pub(crate) fn hooks(effective: &Effective) -> Vec<(String, &Hook, Option<Place>)> {
    let mut hooks = Vec::new();
    for entry in &effective.reviewers {
        if let Some(Reviewer::Executable { id, hook, .. }) = entry.value.as_deref() {
            hooks.push((format!("reviewer {id}"), hook, entry.worker_at));
        }
    }
    for entry in &effective.interceptors {
        if let Some(interceptor) = entry.value.as_deref()
            && let Extension::Executable { hook } = &interceptor.extension
        {
            hooks.push((
                format!("interceptor {}", interceptor.id),
                hook,
                entry.worker_at,
            ));
        }
    }
    for entry in &effective.analyzers {
        if let Some(analyzer) = entry.value.as_deref()
            && let Extension::Executable { hook } = &analyzer.extension
        {
            hooks.push((format!("analyzer {}", analyzer.id), hook, entry.worker_at));
        }
    }
    if let Some(Extension::Executable { hook }) = &effective.audit.filter {
        hooks.push(("audit filter".to_owned(), hook, effective.filter_worker_at));
    }
    hooks
}

/// Reports every elementary cycle once.
pub(crate) fn report(cx: &mut Context<'_>) {
    let runtimes = &cx.registry.runtimes;
    // Nodes in the order of ids, as messages and starts need them.
    let mut order: Vec<usize> = (0..runtimes.len())
        .filter(|index| runtimes[*index].registered)
        .collect();
    order.sort_by(|left, right| runtimes[*left].id.cmp(&runtimes[*right].id));
    let rank: HashMap<usize, usize> = order
        .iter()
        .enumerate()
        .map(|(rank, index)| (*index, rank))
        .collect();
    let by_id: HashMap<&str, usize> = order
        .iter()
        .enumerate()
        .map(|(rank, index)| (runtimes[*index].id.as_str(), rank))
        .collect();

    let mut edges: HashMap<(usize, usize), Edge> = HashMap::new();
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
    for (from, index) in order.iter().enumerate() {
        let node = &runtimes[*index];
        if let Parent::Runtime(parent) = node.parent
            && let Some(to) = rank.get(&parent)
        {
            let at = field_place(node.item, &node.decl.extends);
            edges.insert((from, *to), Edge { via: None, at });
            successors[from].push(*to);
        }
        let Some(effective) = &node.effective else {
            continue;
        };
        for (via, hook, at) in hooks(effective) {
            let (Some(to), Some(at)) = (by_id.get(hook.runtime.as_str()), at) else {
                continue;
            };
            edges.entry((from, *to)).or_insert_with(|| {
                successors[from].push(*to);
                Edge { via: Some(via), at }
            });
        }
    }
    // A hook that its own section replaced or lost is declared all the same.
    for used in &cx.hooks {
        if let (Some(from), Some(to)) = (rank.get(&used.owner), rank.get(&used.worker)) {
            edges.entry((*from, *to)).or_insert_with(|| {
                successors[*from].push(*to);
                Edge {
                    via: Some(used.via.clone()),
                    at: used.worker_at,
                }
            });
        }
    }
    for targets in &mut successors {
        targets.sort_unstable();
    }

    let mut findings = Vec::new();
    for cycle in cycles::elementary(&successors) {
        let names: Vec<&str> = cycle
            .iter()
            .map(|node| runtimes[order[*node]].id.as_str())
            .collect();
        let steps: Vec<(&str, &Edge)> = cycle
            .iter()
            .enumerate()
            .filter_map(|(at, from)| {
                let next = (at + 1) % cycle.len();
                Some((names[next], edges.get(&(*from, cycle[next]))?))
            })
            .collect();
        findings.push(finding(names[0], &steps));
        let node = &runtimes[order[cycle[cycle.len() - 1]]];
        if let Some(last) = findings.last_mut() {
            last.path = vec!["shell_access".to_owned(), written(&node.decl.id).to_owned()];
            last.runtime_id = Some(node.id.clone());
        }
    }
    for finding in findings {
        cx.sink.push(finding);
    }
}

fn finding(first: &str, steps: &[(&str, &Edge)]) -> crate::diagnostics::Diagnostic {
    let inheritance = steps.iter().all(|(_, edge)| edge.via.is_none());
    let mut text = first.to_owned();
    for (to, edge) in steps {
        match &edge.via {
            Some(via) => text.push_str(&format!(" -> {via} -> {to}")),
            None if inheritance => text.push_str(&format!(" -> {to}")),
            None => text.push_str(&format!(" -> extends {to}")),
        }
    }
    let closing = steps.last().map(|(to, edge)| (*to, edge.at));
    let (to, at) = closing.unwrap_or((first, steps[0].1.at));
    let (code, message, hint) = if inheritance {
        (
            "shell.inheritance_cycle",
            format!("runtimes extend each other: {text}"),
            "remove one `extends`, or move what they share into a third runtime",
        )
    } else {
        (
            "shell.runtime_dependency_cycle",
            format!("a runtime would need itself to run: {text}"),
            "give the hook a worker runtime of its own that does not extend its caller",
        )
    };
    let mut finding = error(code, at, message)
        .label(format!("leads back to {}", quote(to)))
        .hint(hint);
    for (to, edge) in &steps[..steps.len().saturating_sub(1)] {
        finding = finding.also(Some(edge.at), format!("leads to {}", quote(to)));
    }
    finding
}
