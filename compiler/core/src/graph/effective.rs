//! The graph of a manifest.

use super::NodeKind;
use super::collect::Facts;
use crate::manifest::{Backend, Dependency, DependencyKind, Manifest};

pub(super) fn collect(manifest: &Manifest) -> Facts {
    let mut facts = Facts::default();
    for runtime in &manifest.runtimes {
        facts.node(NodeKind::Runtime, &runtime.id);
        for executable in &runtime.resolver.executables {
            let name = format!("{}/{}", runtime.id, executable.id);
            facts.node(NodeKind::Executable, &name);
        }
        for (index, backend) in runtime.backends.entries.iter().enumerate() {
            let (kind, id) = match backend {
                Backend::Seatbelt { id, .. } => ("seatbelt", id),
                Backend::Bubblewrap { id, .. } => ("bubblewrap", id),
                Backend::Direct { id, .. } => ("direct", id),
                Backend::External { id, .. } => ("external", id),
            };
            facts.backend(&runtime.id, id.as_deref(), kind, index + 1);
        }
    }
    for tool in &manifest.tools {
        facts.node(NodeKind::Tool, &tool.name);
    }
    for script in &manifest.scripts {
        facts.node(NodeKind::Script, &script.id);
    }
    for edge in &manifest.dependencies {
        dependency(edge, &mut facts);
    }
    facts.finish();
    facts
}

fn dependency(edge: &Dependency, facts: &mut Facts) {
    let name = |id: &str| id.split_once(':').map_or(id, |(_, name)| name).to_owned();
    let (from, to) = (name(&edge.from), name(&edge.to));
    let via = edge.via.as_deref().unwrap_or_default();
    match edge.kind {
        DependencyKind::Extends if edge.to.starts_with("profile:") => {
            facts.extends(&from, NodeKind::Profile, &to);
        }
        DependencyKind::Extends => facts.extends(&from, NodeKind::Runtime, &to),
        DependencyKind::ToolRuntime => facts.tool(&from, &to),
        DependencyKind::ModeratorRuntime => facts.moderator(&to),
        DependencyKind::ChatmlExtension => facts.script(&from, &to, via),
        DependencyKind::WorkerRuntime => facts.hook(&from, &to, via),
        DependencyKind::ModelReviewer => facts.agent(&from, &to, via),
        DependencyKind::AgentTool => {
            let from = facts.node(NodeKind::Agent, &from);
            let target = facts.node(NodeKind::Tool, &to);
            let kind = DependencyKind::AgentTool.as_str();
            facts.edge(from, target, kind, format!("tool {to}"));
        }
        DependencyKind::ExecutableRef => {
            // `RUNTIME/ID`; an id has no `/`.
            let (runtime, id) = to.rsplit_once('/').unwrap_or(("", &to));
            facts.executable(&from, runtime, id);
        }
    }
}
