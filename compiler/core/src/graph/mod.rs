//! What depends on what in a document, for people and drawing programs (spec 10 section 2.6).
//!
//! A document that compiles is shown as its manifest says, so with everything that runtimes
//! inherit. One with errors, cycles among them, has no manifest: then the declarations are shown as
//! written. Every cycle of the former is one of the latter, so none is missed.

mod collect;
mod declared;
mod effective;
mod files;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::db::{Db, Root};
use crate::expand::expand;
use crate::manifest::Manifest;
use crate::resolve::cycles;
use collect::Facts;

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// The moderator.
    Moderator,
    /// A shell tool.
    Tool,
    /// A runtime.
    Runtime,
    /// A built-in profile.
    Profile,
    /// An executable extension of a runtime.
    Hook,
    /// A script.
    Script,
    /// An agent that reviews.
    Agent,
    /// A declared executable.
    Executable,
    /// A backend of a runtime.
    Backend,
    /// A file.
    File,
}

impl NodeKind {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Moderator => "moderator",
            Self::Tool => "tool",
            Self::Runtime => "runtime",
            Self::Profile => "profile",
            Self::Hook => "hook",
            Self::Script => "script",
            Self::Agent => "agent",
            Self::Executable => "executable",
            Self::Backend => "backend",
            Self::File => "file",
        }
    }
}

/// A node. Its id is the kind and the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Unique in the graph.
    pub id: String,
    /// What it stands for.
    pub kind: NodeKind,
    /// Name for people.
    pub label: String,
}

/// A directed edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// Id of a node.
    pub from: String,
    /// Id of a node.
    pub to: String,
    /// `imports`, `backend`, `hook`, or a dependency kind of the manifest.
    pub kind: &'static str,
    /// What makes the dependency (spec 07 section 12).
    pub label: String,
    /// Whether it lies on a cycle.
    pub in_cycle: bool,
}

/// The graph of a document, nodes by kind and id, edges by their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// Ids of the nodes of each cycle, from the smallest id on, at most 16, shortest first.
    pub cycles: Vec<Vec<String>>,
}

/// The graph of a document; `manifest` is what it compiled to, if it did.
pub fn of_document(db: &dyn Db, root: Root, manifest: Option<&Manifest>) -> Graph {
    let expansion = expand(db, root);
    let mut facts = match manifest {
        Some(manifest) => effective::collect(manifest),
        None => declared::collect(&expansion.document),
    };
    files::collect(db, &expansion, &mut facts);
    build(facts)
}

/// The graph of a manifest without its document. It does not tell which file imports which.
pub fn of_manifest(manifest: &Manifest) -> Graph {
    let mut facts = effective::collect(manifest);
    for source in &manifest.sources {
        facts.node(NodeKind::File, &source.path);
    }
    build(facts)
}

fn build(facts: Facts) -> Graph {
    let mut order: Vec<&String> = facts.nodes.keys().collect();
    order.sort();
    let number: HashMap<&str, usize> = order
        .iter()
        .enumerate()
        .map(|(number, id)| (id.as_str(), number))
        .collect();
    let mut successors: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); order.len()];
    for edge in &facts.edges {
        if let (Some(from), Some(to)) =
            (number.get(edge.from.as_str()), number.get(edge.to.as_str()))
            && let Some(targets) = successors.get_mut(*from)
        {
            targets.insert(*to);
        }
    }
    let successors: Vec<Vec<usize>> = successors
        .into_iter()
        .map(|targets| targets.into_iter().collect())
        .collect();
    // Two nodes of one strongly connected component lie on a common cycle.
    let component = cycles::components(&successors);
    let in_cycle = |from: &str, to: &str| match (number.get(from), number.get(to)) {
        (Some(from), Some(to)) => component.get(*from) == component.get(*to),
        _ => false,
    };
    let edges = facts.edges.iter().cloned();
    let edges = edges.map(|mut edge| {
        edge.in_cycle = in_cycle(&edge.from, &edge.to);
        edge
    });
    let cycles = cycles::elementary(&successors).into_iter().map(|cycle| {
        let ids = cycle.into_iter().filter_map(|node| order.get(node));
        ids.map(|id| (*id).clone()).collect()
    });
    let (edges, cycles) = (edges.collect(), cycles.collect());
    let mut nodes: Vec<Node> = facts.nodes.into_values().collect();
    nodes.sort_by(|left, right| (left.kind, &left.id).cmp(&(right.kind, &right.id)));
    Graph {
        nodes,
        edges,
        cycles,
    }
}

impl Graph {
    /// Ids of runtimes in which hooks run.
    pub fn workers(&self) -> BTreeSet<&str> {
        let edges = self.edges.iter();
        edges
            .filter(|edge| edge.kind == "worker_runtime")
            .map(|edge| edge.to.as_str())
            .collect()
    }

    /// The part of the graph whose nodes are kept. A hook that is not kept leaves an edge from its
    /// runtime to its worker behind, so that the dependency stays to be seen. Cycles are those of
    /// the whole graph.
    pub fn only(&self, keep: impl Fn(&Node) -> bool) -> Self {
        let nodes: Vec<Node> = self
            .nodes
            .iter()
            .filter(|node| keep(node))
            .cloned()
            .collect();
        let kept: BTreeSet<&str> = nodes.iter().map(|node| node.id.as_str()).collect();
        let mut through: BTreeMap<&str, &Edge> = BTreeMap::new();
        for edge in self.edges.iter().filter(|edge| edge.kind == "hook") {
            if !kept.contains(edge.to.as_str()) {
                through.insert(&edge.to, edge);
            }
        }
        let mut edges = Vec::new();
        for edge in &self.edges {
            let mut edge = edge.clone();
            if let Some(hook) = through.get(edge.from.as_str()) {
                edge.from.clone_from(&hook.from);
                edge.label.clone_from(&hook.label);
            }
            if kept.contains(edge.from.as_str()) && kept.contains(edge.to.as_str()) {
                edges.push(edge);
            }
        }
        edges.sort_by(|left, right| collect::edge_key(left).cmp(&collect::edge_key(right)));
        Self {
            nodes,
            edges,
            cycles: self.cycles.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
