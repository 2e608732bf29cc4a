//! Types as text (spec 05 section 5.9).
//!
//! No recursion: a type may be as deep as the node limit of the checker allows.

use std::sync::Arc;

use std::collections::HashSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{NodeId, NodeKind, TypeGraph};

/// Longest text of a type, in bytes, before it is cut.
pub const MAX_TEXT_BYTES: usize = 2000;

/// Names of the variables printed so far, shared by types that are printed side by side.
#[derive(Default)]
pub struct VariableNames {
    names: FxHashMap<NodeId, String>,
}

impl VariableNames {
    fn name(&mut self, id: NodeId, weak: bool) -> &str {
        let count = self.names.len();
        self.names.entry(id).or_insert_with(|| {
            let letters = letters(count);
            if weak {
                format!("'_{letters}")
            } else {
                format!("'{letters}")
            }
        })
    }
}

/// The root of `graph` as text.
pub fn print(graph: &TypeGraph) -> String {
    print_node(graph, graph.root, &mut VariableNames::default())
}

/// The node `root` of `graph` as text; variables get the names they have in `names`, or new ones.
pub fn print_node(graph: &TypeGraph, root: NodeId, names: &mut VariableNames) -> String {
    Printer {
        graph,
        names,
        loops: loops(graph, root),
        bound: FxHashMap::default(),
        taken: graph
            .nodes
            .iter()
            .filter_map(|node| node.name.clone())
            .collect(),
        stack: vec![Item::Node(root, Place::Free)],
        out: String::new(),
    }
    .run()
}

/// `a`, `b`, … `z`, `a1`, …
fn letters(count: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(count % 26).unwrap_or(0));
    match count / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// Nodes of which an unnamed cycle is entered first, seen from `root`.
fn loops(graph: &TypeGraph, root: NodeId) -> FxHashSet<NodeId> {
    enum Step {
        Enter(NodeId),
        Leave(NodeId),
    }
    let mut open = FxHashSet::default();
    let mut done = FxHashSet::default();
    let mut found = FxHashSet::default();
    let mut stack = vec![Step::Enter(root)];
    while let Some(step) = stack.pop() {
        match step {
            Step::Leave(id) => {
                open.remove(&id);
                done.insert(id);
            }
            Step::Enter(id) if open.contains(&id) => {
                found.insert(id);
            }
            Step::Enter(id) if done.contains(&id) => {}
            Step::Enter(id) => {
                let Some(node) = graph.node(id) else { continue };
                if node.name.is_some() {
                    continue;
                }
                open.insert(id);
                stack.push(Step::Leave(id));
                let first = stack.len();
                node.kind
                    .for_each_child(|child| stack.push(Step::Enter(child)));
                stack[first..].reverse();
            }
        }
    }
    found
}

impl NodeKind {
    /// Calls `visit` for every type inside, in printing order; row variables are no types.
    pub fn for_each_child(&self, mut visit: impl FnMut(NodeId)) {
        match self {
            Self::Int
            | Self::Float
            | Self::Bool
            | Self::String
            | Self::Unit
            | Self::Variable { .. } => {}
            Self::Array(item) | Self::Ref(item) | Self::Task(item) => visit(*item),
            Self::Function { params, result } => {
                params.iter().copied().for_each(&mut visit);
                visit(*result);
            }
            Self::Record { fields, .. } => fields.iter().for_each(|(_, id)| visit(*id)),
            Self::Variant { cases, .. } => cases
                .iter()
                .flat_map(|(_, args)| args)
                .for_each(|id| visit(*id)),
        }
    }
}

/// Where a type stands: inside another type a function needs parentheses, and so does `mu`
/// where something may follow.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Free,
    Result,
    Tight,
}

enum Item {
    Text(&'static str),
    Name(Arc<str>),
    Node(NodeId, Place),
    Unbind(NodeId),
}

struct Printer<'g> {
    graph: &'g TypeGraph,
    names: &'g mut VariableNames,
    loops: FxHashSet<NodeId>,
    bound: FxHashMap<NodeId, String>,
    taken: HashSet<Arc<str>>,
    stack: Vec<Item>,
    out: String,
}

impl Printer<'_> {
    fn run(mut self) -> String {
        while let Some(item) = self.stack.pop() {
            match item {
                Item::Text(text) => self.out.push_str(text),
                Item::Name(name) => self.out.push_str(&name),
                Item::Unbind(id) => {
                    self.bound.remove(&id);
                }
                Item::Node(id, place) => self.node(id, place),
            }
            if self.out.len() > MAX_TEXT_BYTES {
                let mut end = MAX_TEXT_BYTES;
                while !self.out.is_char_boundary(end) {
                    end -= 1;
                }
                self.out.truncate(end);
                self.out.push('…');
                break;
            }
        }
        self.out
    }

    fn node(&mut self, id: NodeId, place: Place) {
        if let Some(name) = self.bound.get(&id) {
            self.out.push_str(name);
            return;
        }
        let Some(node) = self.graph.node(id) else {
            return;
        };
        if let Some(name) = &node.name {
            self.out.push_str(name);
            return;
        }
        let is_loop = self.loops.contains(&id);
        let mut items = Vec::new();
        let is_function = matches!(node.kind, NodeKind::Function { .. });
        let parentheses = match place {
            Place::Free => false,
            // `mu` reaches as far right as it can.
            Place::Result => is_function && !is_loop,
            Place::Tight => is_function || is_loop,
        };
        if parentheses {
            items.push(Item::Text("("));
        }
        if is_loop {
            let name = self.loop_name();
            items.push(Item::Text("mu "));
            items.push(Item::Name(name.as_str().into()));
            items.push(Item::Text(". "));
            self.bound.insert(id, name);
        }
        self.contents(id, &node.kind, &mut items);
        if is_loop {
            items.push(Item::Unbind(id));
        }
        if parentheses {
            items.push(Item::Text(")"));
        }
        self.stack.extend(items.into_iter().rev());
    }

    fn loop_name(&self) -> String {
        (self.bound.len()..)
            .map(letters)
            .find(|name| !self.taken.contains(name.as_str()))
            .unwrap_or_default()
    }

    fn contents(&mut self, id: NodeId, kind: &NodeKind, items: &mut Vec<Item>) {
        match kind {
            NodeKind::Int => items.push(Item::Text("int")),
            NodeKind::Float => items.push(Item::Text("float")),
            NodeKind::Bool => items.push(Item::Text("bool")),
            NodeKind::String => items.push(Item::Text("string")),
            NodeKind::Unit => items.push(Item::Text("unit")),
            NodeKind::Variable { weak } => {
                items.push(Item::Name(self.names.name(id, *weak).into()))
            }
            NodeKind::Array(item) => postfix(items, *item, " array"),
            NodeKind::Ref(item) => postfix(items, *item, " ref"),
            NodeKind::Task(item) => postfix(items, *item, " task"),
            NodeKind::Function { params, result } => self.function(params, *result, items),
            NodeKind::Record { fields, row } => record(fields, row.is_some(), items),
            NodeKind::Variant { cases, row } => variant(cases, row.is_some(), items),
        }
    }

    fn function(&self, params: &[NodeId], result: NodeId, items: &mut Vec<Item>) {
        let is_unit = |id: NodeId| {
            matches!(
                self.graph.node(id).map(|node| &node.kind),
                Some(NodeKind::Unit)
            )
        };
        match params {
            [] => items.push(Item::Text("unit -> ")),
            // One unit parameter is not the same as none.
            [only] if is_unit(*only) => items.push(Item::Text("(unit) -> ")),
            _ => {
                for param in params {
                    items.push(Item::Node(*param, Place::Tight));
                    items.push(Item::Text(" -> "));
                }
            }
        }
        items.push(Item::Node(result, Place::Result));
    }
}

fn postfix(items: &mut Vec<Item>, inner: NodeId, constructor: &'static str) {
    items.push(Item::Node(inner, Place::Tight));
    items.push(Item::Text(constructor));
}

fn record(fields: &[(Arc<str>, NodeId)], open: bool, items: &mut Vec<Item>) {
    items.push(Item::Text("{ "));
    for (index, (label, id)) in fields.iter().enumerate() {
        if index > 0 {
            items.push(Item::Text("; "));
        }
        items.push(Item::Name(label.clone()));
        items.push(Item::Text(" : "));
        items.push(Item::Node(*id, Place::Free));
    }
    items.push(Item::Text(match (fields.is_empty(), open) {
        (true, false) => "}",
        (false, false) => " }",
        (true, true) => ".. }",
        (false, true) => "; .. }",
    }));
}

fn variant(cases: &[(Arc<str>, Vec<NodeId>)], open: bool, items: &mut Vec<Item>) {
    items.push(Item::Text("[ "));
    for (index, (tag, args)) in cases.iter().enumerate() {
        items.push(Item::Text(if index > 0 { " | `" } else { "`" }));
        items.push(Item::Name(tag.clone()));
        for (index, arg) in args.iter().enumerate() {
            items.push(Item::Text(if index > 0 { ", " } else { "(" }));
            items.push(Item::Node(*arg, Place::Free));
        }
        if !args.is_empty() {
            items.push(Item::Text(")"));
        }
    }
    items.push(Item::Text(match (cases.is_empty(), open) {
        (true, false) => "]",
        (false, false) => " ]",
        (true, true) => ".. ]",
        (false, true) => " | .. ]",
    }));
}
