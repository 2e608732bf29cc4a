//! From the checker's graph to types as data and back.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::graph::{GENERIC, GROUND, Graph, Label, Shape, Slot, Ty};
use crate::types::print::{VariableNames, print_node};
use crate::types::{NodeId, NodeKind, TypeGraph, TypeNode};

/// Builds one [`TypeGraph`] from several types, which share their nodes.
struct Exporter<'g> {
    graph: &'g Graph,
    nodes: Vec<TypeNode>,
    known: FxHashMap<Ty, NodeId>,
    waiting: VecDeque<(Ty, NodeId)>,
    /// Nodes and labels that may still be added.
    budget: usize,
}

/// Nodes and labels of types in one message; more would not show in 2000 bytes.
const MESSAGE_BUDGET: usize = 10_000;

impl Graph {
    /// The type as data.
    pub(crate) fn export(&self, ty: Ty) -> TypeGraph {
        let mut exporter = Exporter::new(self, usize::MAX);
        let root = exporter.root(ty);
        TypeGraph {
            nodes: exporter.nodes,
            root,
        }
    }

    /// The texts of several types that stand side by side: one variable has one name.
    pub(crate) fn print_together<const N: usize>(&self, types: [Ty; N]) -> [String; N] {
        let mut exporter = Exporter::new(self, MESSAGE_BUDGET);
        let roots = types.map(|ty| exporter.root(ty));
        let graph = TypeGraph {
            nodes: exporter.nodes,
            root: NodeId(0),
        };
        let mut names = VariableNames::default();
        roots.map(|root| print_node(&graph, root, &mut names))
    }

    pub(crate) fn print(&self, ty: Ty) -> String {
        let [text] = self.print_together([ty]);
        text
    }

    /// Adds a type given as data; its variables become quantified ones.
    pub(crate) fn import(&mut self, from: &TypeGraph) -> Ty {
        let start = self.len();
        let types: Vec<Ty> = from
            .nodes
            .iter()
            .map(|node| match node.kind {
                NodeKind::Variable { .. } => self.add(Shape::Variable { equality: false }, GENERIC),
                NodeKind::Int => Self::INT,
                NodeKind::Float => Self::FLOAT,
                NodeKind::Bool => Self::BOOL,
                NodeKind::String => Self::STRING,
                NodeKind::Unit => Self::UNIT,
                // Filled in below.
                _ => self.add(Shape::Variable { equality: false }, GROUND),
            })
            .collect();
        let at = |id: &NodeId| types.get(id.0 as usize).copied().unwrap_or(Self::UNIT);
        for (node, ty) in from.nodes.iter().zip(&types) {
            let shape = match &node.kind {
                NodeKind::Array(item) => Shape::Array(at(item)),
                NodeKind::Ref(item) => Shape::Ref(at(item)),
                NodeKind::Task(item) => Shape::Task(at(item)),
                NodeKind::Function { params, result } => {
                    Shape::Function(params.iter().map(at).collect(), at(result))
                }
                NodeKind::Record { fields, row } => {
                    let fields = fields
                        .iter()
                        .map(|(name, id)| (self.label(name), vec![at(id)]))
                        .collect();
                    Shape::Record(self.import_row(fields, *row, &types))
                }
                NodeKind::Variant { cases, row } => {
                    let cases = cases
                        .iter()
                        .map(|(name, args)| (self.label(name), args.iter().map(at).collect()))
                        .collect();
                    Shape::Variant(self.import_row(cases, *row, &types))
                }
                _ => continue,
            };
            self.fill(*ty, shape);
            if let Some(name) = &node.name {
                self.set_name(*ty, name.clone());
            }
        }
        self.spread_generic(start);
        at(&from.root)
    }

    fn import_row(
        &mut self,
        fields: Vec<(Label, Vec<Ty>)>,
        row: Option<NodeId>,
        types: &[Ty],
    ) -> Ty {
        let tail = match row {
            None => Self::ROW_EMPTY,
            Some(id) => {
                let ty = types.get(id.0 as usize).copied().unwrap_or(Self::ROW_EMPTY);
                if matches!(self.shape(ty), Shape::Variable { .. }) {
                    self.fill(ty, Shape::RowVariable { equality: false });
                }
                ty
            }
        };
        let fields = fields
            .into_iter()
            .map(|(label, types)| (label, Slot::Types(types.into())));
        self.row(fields.collect(), tail)
    }
}

impl<'g> Exporter<'g> {
    fn new(graph: &'g Graph, budget: usize) -> Self {
        Self {
            graph,
            nodes: Vec::new(),
            known: FxHashMap::default(),
            waiting: VecDeque::new(),
            budget,
        }
    }

    fn root(&mut self, ty: Ty) -> NodeId {
        let root = self.node(ty);
        while let Some((ty, id)) = self.waiting.pop_front() {
            let kind = self.kind(ty);
            if let Some(node) = self.nodes.get_mut(id.0 as usize) {
                node.kind = kind;
            }
        }
        root
    }

    /// The number of a node; a new one is filled in later.
    fn node(&mut self, ty: Ty) -> NodeId {
        let ty = self.graph.find(ty);
        if let Some(id) = self.known.get(&ty) {
            return *id;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        let name = self.graph.node(ty).name;
        self.nodes.push(TypeNode {
            kind: NodeKind::Unit,
            name: name.and_then(|name| self.graph.type_names.get(name as usize).cloned()),
        });
        self.known.insert(ty, id);
        if self.budget == 0 {
            // Printing shows where the budget ended.
            if let Some(node) = self.nodes.last_mut() {
                node.name = Some("…".into());
            }
            return id;
        }
        self.budget -= 1;
        self.waiting.push_back((ty, id));
        id
    }

    fn kind(&mut self, ty: Ty) -> NodeKind {
        let graph = self.graph;
        let node = graph.node(ty);
        match &node.shape {
            Shape::Int => NodeKind::Int,
            Shape::Float => NodeKind::Float,
            Shape::Bool => NodeKind::Bool,
            Shape::String => NodeKind::String,
            Shape::Unit | Shape::RowEmpty | Shape::Row(..) | Shape::Link(_) => NodeKind::Unit,
            Shape::Variable { .. } | Shape::RowVariable { .. } => NodeKind::Variable {
                weak: node.level != GENERIC,
            },
            Shape::Array(item) => NodeKind::Array(self.node(*item)),
            Shape::Ref(item) => NodeKind::Ref(self.node(*item)),
            Shape::Task(item) => NodeKind::Task(self.node(*item)),
            Shape::Function(params, result) => NodeKind::Function {
                params: params.iter().map(|param| self.node(*param)).collect(),
                result: self.node(*result),
            },
            Shape::Record(row) => {
                let (cases, row) = self.row(*row);
                let fields = cases
                    .into_iter()
                    .filter_map(|(name, types)| Some((name, *types.first()?)));
                NodeKind::Record {
                    fields: fields.collect(),
                    row,
                }
            }
            Shape::Variant(row) => {
                let (cases, row) = self.row(*row);
                NodeKind::Variant { cases, row }
            }
        }
    }

    /// Labels in byte order, and the row variable.
    fn row(&mut self, row: Ty) -> (Vec<(crate::ast::Name, Vec<NodeId>)>, Option<NodeId>) {
        let graph = self.graph;
        let mut fields = Vec::new();
        let mut hidden = rustc_hash::FxHashSet::default();
        let mut at = graph.find(row);
        while let Shape::Row(own, tail) = &graph.node(at).shape {
            for (label, slot) in own {
                if self.budget == 0 {
                    break;
                }
                self.budget -= 1;
                if hidden.insert(*label)
                    && let Slot::Types(types) = slot
                    && let Some(name) = graph.label_names.get(label.0 as usize)
                {
                    let types = types.iter().map(|ty| self.node(*ty)).collect();
                    fields.push((name.clone(), types));
                }
            }
            at = graph.find(*tail);
        }
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        let open = matches!(graph.node(at).shape, Shape::RowVariable { .. });
        (fields, open.then(|| self.node(at)))
    }
}
