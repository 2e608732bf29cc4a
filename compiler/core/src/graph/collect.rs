//! Nodes and edges while they are found.

use std::collections::BTreeMap;

use super::{Edge, Node, NodeKind};
use crate::manifest::DependencyKind;

/// What was found.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) nodes: BTreeMap<String, Node>,
    pub(super) edges: Vec<Edge>,
}

pub(super) fn edge_key(edge: &Edge) -> (&str, &str, &str, &str) {
    (&edge.from, &edge.to, edge.kind, &edge.label)
}

impl Facts {
    /// A node, once; gives its id.
    pub(super) fn node(&mut self, kind: NodeKind, name: &str) -> String {
        let id = match kind {
            NodeKind::Moderator => "moderator".to_owned(),
            kind => format!("{}:{name}", kind.as_str()),
        };
        self.nodes.entry(id.clone()).or_insert_with(|| Node {
            id: id.clone(),
            kind,
            label: name.to_owned(),
        });
        id
    }

    /// An edge between nodes.
    pub(super) fn edge(&mut self, from: String, to: String, kind: &'static str, label: String) {
        self.edges.push(Edge {
            from,
            to,
            kind,
            label,
            in_cycle: false,
        });
    }

    pub(super) fn extends(&mut self, runtime: &str, kind: NodeKind, parent: &str) {
        let from = self.node(NodeKind::Runtime, runtime);
        let to = self.node(kind, parent);
        let label = format!("extends {parent}");
        self.edge(from, to, DependencyKind::Extends.as_str(), label);
    }

    pub(super) fn tool(&mut self, tool: &str, runtime: &str) {
        let from = self.node(NodeKind::Tool, tool);
        let to = self.node(NodeKind::Runtime, runtime);
        let label = format!("runtime {runtime}");
        self.edge(from, to, DependencyKind::ToolRuntime.as_str(), label);
    }

    pub(super) fn executable(&mut self, tool: &str, runtime: &str, id: &str) {
        let from = self.node(NodeKind::Tool, tool);
        let to = self.node(NodeKind::Executable, &format!("{runtime}/{id}"));
        let label = format!("executable {id}");
        self.edge(from, to, DependencyKind::ExecutableRef.as_str(), label);
    }

    pub(super) fn moderator(&mut self, runtime: &str) {
        let from = self.node(NodeKind::Moderator, "moderator");
        let to = self.node(NodeKind::Runtime, runtime);
        let label = format!("moderator_runtime {runtime}");
        self.edge(from, to, DependencyKind::ModeratorRuntime.as_str(), label);
    }

    pub(super) fn script(&mut self, runtime: &str, script: &str, via: &str) {
        let from = self.node(NodeKind::Runtime, runtime);
        let to = self.node(NodeKind::Script, script);
        let kind = DependencyKind::ChatmlExtension.as_str();
        self.edge(from, to, kind, via.to_owned());
    }

    /// A runtime, its hook, and the runtime in which that runs.
    pub(super) fn hook(&mut self, runtime: &str, worker: &str, via: &str) {
        let from = self.node(NodeKind::Runtime, runtime);
        let hook = self.node(NodeKind::Hook, &format!("{runtime}/{via}"));
        let to = self.node(NodeKind::Runtime, worker);
        self.edge(from, hook.clone(), "hook", via.to_owned());
        let label = format!("worker {worker}");
        self.edge(hook, to, DependencyKind::WorkerRuntime.as_str(), label);
    }

    pub(super) fn agent(&mut self, runtime: &str, agent: &str, via: &str) {
        let from = self.node(NodeKind::Runtime, runtime);
        let to = self.node(NodeKind::Agent, agent);
        let label = format!("{via}, agent {agent}");
        self.edge(from, to, DependencyKind::ModelReviewer.as_str(), label);
    }

    /// A backend by its id, or by kind and number.
    pub(super) fn backend(&mut self, runtime: &str, id: Option<&str>, kind: &str, number: usize) {
        let from = self.node(NodeKind::Runtime, runtime);
        let name = match id {
            Some(id) => format!("{runtime}/{id}"),
            None => format!("{runtime}/{kind}#{number}"),
        };
        let to = self.node(NodeKind::Backend, &name);
        self.edge(from, to, "backend", format!("backend {number}, {kind}"));
    }

    pub(super) fn file(&mut self, from: &str, to: &str, label: String) {
        let from = self.node(NodeKind::File, from);
        let to = self.node(NodeKind::File, to);
        self.edge(from, to, "imports", label);
    }

    /// Edges in order, equal ones once.
    pub(super) fn finish(&mut self) {
        self.edges
            .sort_by(|left, right| edge_key(left).cmp(&edge_key(right)));
        self.edges.dedup();
    }
}
