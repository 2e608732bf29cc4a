//! The checker's types: a graph of nodes with union-find (spec 05 section 5.3).
//!
//! **Levels.** A variable's level says how deep the `let` is that may generalise it. A composite
//! node's level is an upper bound of the levels of the variables inside, so a walk can stop at
//! nodes of a low enough level; a node without variables has level [`GROUND`] and is walked by
//! nothing but printing. A quantified variable has level [`GENERIC`], as do all nodes on the way
//! to one: instantiating copies exactly those.
//!
//! **Cost.** Nodes and steps are counted; whoever drives the graph asks [`Graph::exhausted`].
//! No function here recurses: types may be as deep as there are nodes.

use std::collections::HashMap;

use crate::ast::Name;

/// Level of nodes without variables.
pub(crate) const GROUND: u32 = 0;
/// Level of top-level variables.
pub(crate) const TOP: u32 = 1;
/// Level of quantified variables.
pub(crate) const GENERIC: u32 = u32::MAX;

/// Most type nodes beyond those a program's own size accounts for (spec 05 section 5.8).
const MAX_NODES: usize = 200_000;
/// Nodes each expression may need without counting towards the limit.
const NODES_PER_EXPR: usize = 4;
/// Most unification steps (spec 05 section 5.8).
const MAX_STEPS: u64 = 20_000_000;

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ty(pub(crate) u32);

/// An interned label or tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Label(pub(crate) u32);

/// What a label of a row leads to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Slot {
    /// The record has no such field, whatever its tail may turn out to hold. Joins make these:
    /// a field that one branch adds is gone, also when the shared tail has one of that name.
    Absent,
    /// The type of a field (exactly one) or the arguments of a case.
    Types(Box<[Ty]>),
}

/// Labels in [`Label`] order.
pub(crate) type Fields = Vec<(Label, Slot)>;

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// The same as another node.
    Link(Ty),
    /// A type variable; `equality` if values of the type are compared (section 5.5).
    Variable {
        equality: bool,
    },
    /// A row variable.
    RowVariable {
        equality: bool,
    },
    RowEmpty,
    Row(Box<[(Label, Slot)]>, Ty),
    Int,
    Float,
    Bool,
    String,
    Unit,
    Array(Ty),
    Ref(Ty),
    Task(Ty),
    Function(Box<[Ty]>, Ty),
    Record(Ty),
    Variant(Ty),
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) shape: Shape,
    pub(crate) level: u32,
    /// Bound of the length of link chains that end here.
    rank: u8,
    /// Declared recursive type, as an index of [`Graph::type_names`].
    pub(crate) name: Option<u32>,
    /// Number of the last walk that came here.
    mark: u32,
}

enum Undo {
    Shape(Ty, Shape),
    Name(Ty, Option<u32>),
    Equality(Ty),
}

#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    /// Fields and parameters inside nodes; they take memory too.
    parts: usize,
    max_nodes: usize,
    pub(crate) steps: u64,
    walks: u32,
    labels: HashMap<Name, Label>,
    pub(crate) label_names: Vec<Name>,
    pub(crate) type_names: Vec<Name>,
    undo: Vec<Undo>,
}

impl Clone for Graph {
    /// A copy without the log of a unification under way: there is none between calls.
    fn clone(&self) -> Self {
        Self {
            nodes: self.nodes.clone(),
            parts: self.parts,
            max_nodes: self.max_nodes,
            steps: self.steps,
            walks: self.walks,
            labels: self.labels.clone(),
            label_names: self.label_names.clone(),
            type_names: self.type_names.clone(),
            undo: Vec::new(),
        }
    }
}

impl Graph {
    pub(crate) const INT: Ty = Ty(0);
    pub(crate) const FLOAT: Ty = Ty(1);
    pub(crate) const BOOL: Ty = Ty(2);
    pub(crate) const STRING: Ty = Ty(3);
    pub(crate) const UNIT: Ty = Ty(4);
    pub(crate) const ROW_EMPTY: Ty = Ty(5);

    pub(crate) fn new(expr_count: u32) -> Self {
        let mut graph = Self {
            max_nodes: MAX_NODES + NODES_PER_EXPR * expr_count as usize,
            ..Self::default()
        };
        for shape in [
            Shape::Int,
            Shape::Float,
            Shape::Bool,
            Shape::String,
            Shape::Unit,
            Shape::RowEmpty,
        ] {
            graph.add(shape, GROUND);
        }
        graph
    }

    /// Whether the bounds of section 5.8 are passed.
    pub(crate) fn exhausted(&self) -> bool {
        self.steps > MAX_STEPS || self.nodes.len() + self.parts > self.max_nodes
    }

    pub(crate) fn label(&mut self, name: &Name) -> Label {
        if let Some(label) = self.labels.get(name) {
            return *label;
        }
        let label = Label(index(self.label_names.len()));
        self.label_names.push(name.clone());
        self.labels.insert(name.clone(), label);
        label
    }

    pub(crate) fn label_name(&self, label: Label) -> &str {
        self.label_names
            .get(label.0 as usize)
            .map_or("", |name| name)
    }

    pub(crate) fn set_name(&mut self, ty: Ty, name: Name) {
        let root = self.find(ty);
        let number = index(self.type_names.len());
        self.type_names.push(name);
        self.node_mut(root).name = Some(number);
    }

    pub(crate) fn node(&self, ty: Ty) -> &Node {
        // Every `Ty` comes from `add` of this graph, which never shrinks.
        &self.nodes[ty.0 as usize]
    }

    fn node_mut(&mut self, ty: Ty) -> &mut Node {
        &mut self.nodes[ty.0 as usize]
    }

    pub(crate) fn add(&mut self, shape: Shape, level: u32) -> Ty {
        self.parts += parts(&shape);
        let ty = Ty(index(self.nodes.len()));
        self.nodes.push(Node {
            shape,
            level,
            rank: 0,
            name: None,
            mark: 0,
        });
        ty
    }

    /// Adds a composite node with the level its parts give it.
    pub(crate) fn compose(&mut self, shape: Shape) -> Ty {
        let mut level = GROUND;
        for_each_part(&shape, |part| level = level.max(self.level(part)));
        self.add(shape, level)
    }

    pub(crate) fn array(&mut self, item: Ty) -> Ty {
        self.compose(Shape::Array(item))
    }

    pub(crate) fn task(&mut self, result: Ty) -> Ty {
        self.compose(Shape::Task(result))
    }

    pub(crate) fn function(&mut self, params: Vec<Ty>, result: Ty) -> Ty {
        self.compose(Shape::Function(params.into(), result))
    }

    pub(crate) fn row(&mut self, mut fields: Fields, tail: Ty) -> Ty {
        if fields.is_empty() {
            return tail;
        }
        fields.sort_by_key(|(label, _)| *label);
        self.compose(Shape::Row(fields.into(), tail))
    }

    pub(crate) fn record(&mut self, fields: Fields, tail: Ty) -> Ty {
        let row = self.row(fields, tail);
        self.compose(Shape::Record(row))
    }

    pub(crate) fn variant(&mut self, cases: Fields, tail: Ty) -> Ty {
        let row = self.row(cases, tail);
        self.compose(Shape::Variant(row))
    }

    /// The node that stands for `ty`. Unions go by rank, so this takes few steps without ever
    /// rewriting links, which [`Graph::roll_back`] could not undo.
    pub(crate) fn find(&self, ty: Ty) -> Ty {
        let mut at = ty;
        while let Shape::Link(next) = self.node(at).shape {
            at = next;
        }
        at
    }

    pub(crate) fn shape(&self, ty: Ty) -> &Shape {
        &self.node(self.find(ty)).shape
    }

    pub(crate) fn level(&self, ty: Ty) -> u32 {
        self.node(self.find(ty)).level
    }

    pub(crate) fn set_level(&mut self, root: Ty, level: u32) {
        self.node_mut(root).level = level;
    }

    /// Makes the unbound `placeholder` the same as `target`, outside of unification.
    pub(crate) fn define(&mut self, placeholder: Ty, target: Ty) {
        let target = self.find(target);
        if target != placeholder {
            let rank = self.node(placeholder).rank + 1;
            let node = self.node_mut(target);
            node.rank = node.rank.max(rank);
            self.node_mut(placeholder).shape = Shape::Link(target);
        }
    }

    /// Gives a placeholder its shape.
    pub(crate) fn fill(&mut self, placeholder: Ty, shape: Shape) {
        self.parts += parts(&shape);
        self.node_mut(placeholder).shape = shape;
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Gives the nodes from `start` on, just imported, the level of what is inside them; they may
    /// be cyclic.
    pub(crate) fn spread_generic(&mut self, start: usize) {
        let mut changed = true;
        while changed {
            changed = false;
            for at in start..self.nodes.len() {
                let Some(node) = self.nodes.get(at) else {
                    continue;
                };
                if node.level == GENERIC {
                    continue;
                }
                let mut generic = false;
                for_each_part(&node.shape, |part| generic |= self.level(part) == GENERIC);
                if generic {
                    self.set_level(Ty(index(at)), GENERIC);
                    changed = true;
                }
            }
        }
    }

    // The log of a unification.

    /// Makes root `from` a link to root `to` and keeps a declared name.
    pub(crate) fn link(&mut self, from: Ty, to: Ty) {
        let (rank, level, name) = {
            let node = self.node(from);
            (node.rank, node.level, node.name)
        };
        let node = self.node_mut(to);
        let old_name = node.name;
        node.level = node.level.min(level);
        node.rank = node.rank.max(rank.saturating_add(1));
        node.name = node.name.or(name);
        let old_shape = std::mem::replace(&mut self.node_mut(from).shape, Shape::Link(to));
        self.undo.push(Undo::Shape(from, old_shape));
        if name.is_some() && old_name.is_none() {
            self.undo.push(Undo::Name(to, old_name));
        }
    }

    /// Links two roots in the direction that keeps chains short; the first gives its shape away
    /// only if the second is as high.
    pub(crate) fn union(&mut self, a: Ty, b: Ty) {
        if self.node(a).rank > self.node(b).rank {
            self.link(b, a)
        } else {
            self.link(a, b)
        }
    }

    /// Marks a variable or row variable as compared.
    pub(crate) fn require_equality(&mut self, root: Ty) {
        let node = self.node_mut(root);
        if let Shape::Variable { equality } | Shape::RowVariable { equality } = &mut node.shape
            && !*equality
        {
            *equality = true;
            self.undo.push(Undo::Equality(root));
        }
    }

    /// Forgets the log: the unification stands.
    pub(crate) fn commit(&mut self) {
        self.undo.clear();
    }

    /// Undoes the unification, so that messages show the types as they were.
    pub(crate) fn roll_back(&mut self) {
        while let Some(entry) = self.undo.pop() {
            match entry {
                Undo::Shape(ty, shape) => self.node_mut(ty).shape = shape,
                Undo::Name(ty, name) => self.node_mut(ty).name = name,
                Undo::Equality(ty) => {
                    if let Shape::Variable { equality } | Shape::RowVariable { equality } =
                        &mut self.node_mut(ty).shape
                    {
                        *equality = false;
                    }
                }
            }
        }
    }

    /// Starts a walk: [`Graph::visit`] is true once for each root until the next one starts.
    pub(crate) fn start_walk(&mut self) {
        self.walks += 1;
    }

    pub(crate) fn visit(&mut self, root: Ty) -> bool {
        self.steps += 1;
        let walk = self.walks;
        let node = self.node_mut(root);
        std::mem::replace(&mut node.mark, walk) != walk
    }

    /// All labels of a row, outermost first where one hides another, and the end of the row.
    pub(crate) fn collect_row(&mut self, row: Ty) -> (Fields, Ty) {
        let mut fields: Fields = Vec::new();
        let mut at = self.find(row);
        let mut runs = 0;
        while let Shape::Row(own, tail) = &self.node(at).shape {
            fields.extend(own.iter().cloned());
            at = *tail;
            at = self.find(at);
            runs += 1;
        }
        self.steps += 1 + fields.len() as u64;
        if runs > 1 {
            fields.sort_by_key(|(label, _)| *label);
            fields.dedup_by_key(|(label, _)| *label);
        }
        (fields, at)
    }
}

/// Memory of a shape beyond its node, in nodes.
fn parts(shape: &Shape) -> usize {
    match shape {
        Shape::Row(fields, _) => fields.len() * 2,
        Shape::Function(params, _) => params.len(),
        _ => 0,
    }
}

fn index(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Calls `visit` for every node directly inside.
pub(crate) fn for_each_part(shape: &Shape, mut visit: impl FnMut(Ty)) {
    match shape {
        Shape::Link(inner)
        | Shape::Array(inner)
        | Shape::Ref(inner)
        | Shape::Task(inner)
        | Shape::Record(inner)
        | Shape::Variant(inner) => visit(*inner),
        Shape::Function(params, result) => {
            params.iter().copied().for_each(&mut visit);
            visit(*result);
        }
        Shape::Row(fields, tail) => {
            for (_, slot) in fields {
                if let Slot::Types(types) = slot {
                    types.iter().copied().for_each(&mut visit);
                }
            }
            visit(*tail);
        }
        _ => {}
    }
}
