//! Types as data: what the checker hands out and what the surface tables are made of.
//!
//! A [`TypeGraph`] is one type as a small graph, which may be cyclic for recursive types. The
//! checker works on its own mutable graph; this one is for everybody else.

use std::sync::Arc;

pub use text::{TextError, parse_type};

pub mod print;
pub mod text;

/// Place of a node in [`TypeGraph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A type, possibly recursive (a recursive type equals its unfolding).
#[derive(Clone, Debug, PartialEq)]
pub struct TypeGraph {
    /// The nodes; every [`NodeId`] in them is in range.
    pub nodes: Vec<TypeNode>,
    /// The type itself.
    pub root: NodeId,
}

/// One node of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeNode {
    /// What it is.
    pub kind: NodeKind,
    /// The name of the declared recursive type it came from; such a node prints as its name.
    pub name: Option<Arc<str>>,
}

/// The kinds of types (spec 05 section 5.1).
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// `int`
    Int,
    /// `float`
    Float,
    /// `bool`
    Bool,
    /// `string`
    String,
    /// `unit`
    Unit,
    /// A type variable.
    Variable {
        /// Not quantified: shared, and fixed by its first use.
        weak: bool,
    },
    /// `t array`
    Array(NodeId),
    /// `t ref`
    Ref(NodeId),
    /// `t task`
    Task(NodeId),
    /// A function of exactly these parameters.
    Function {
        /// Parameter types; none for `unit -> r`.
        params: Vec<NodeId>,
        /// The result.
        result: NodeId,
    },
    /// A record.
    Record {
        /// Labels in byte order.
        fields: Vec<(Arc<str>, NodeId)>,
        /// The row variable of an open record; equal numbers are the same row.
        row: Option<NodeId>,
    },
    /// A variant.
    Variant {
        /// Tags without accent, in byte order, with their argument types.
        cases: Vec<(Arc<str>, Vec<NodeId>)>,
        /// The row variable of an open variant.
        row: Option<NodeId>,
    },
}

impl TypeGraph {
    /// The node at `id`; a graph that was built outside this crate with a wrong number has
    /// nothing there.
    pub fn node(&self, id: NodeId) -> Option<&TypeNode> {
        self.nodes.get(id.0 as usize)
    }

    /// The root node.
    pub fn root(&self) -> Option<&TypeNode> {
        self.node(self.root)
    }
}

impl std::fmt::Display for TypeGraph {
    /// The text of spec 05 section 5.9, cut at 2000 bytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print::print(self))
    }
}
