//! Whether two trees say the same (spec 01 section 19.1).

use crate::Tag;
use crate::context::is_conversation;
use crate::lexer::is_blank;
use crate::tree::{Element, Node, NodeId, Tree};

/// Whether two trees have the same elements, attributes with their decoded values, comments, text
/// and programs in the same order. Whitespace between the children of a declaration says nothing;
/// everywhere else each byte counts.
pub fn same_meaning(a: &Tree, b: &Tree) -> bool {
    let (mut left, mut right) = (Walk::new(a), Walk::new(b));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(x), Some(y)) if same(a, &x, b, &y) => {}
            _ => return false,
        }
    }
}

/// What a walk over a tree meets.
enum Event<'t> {
    Open(&'t Element),
    Close,
    Leaf(&'t Node),
}

struct Walk<'t> {
    tree: &'t Tree,
    /// Children still to visit, and whether whitespace among them says nothing.
    work: Vec<(&'t [NodeId], bool)>,
    /// Whether the last level ended: its `Close` comes once.
    depth: usize,
}

impl<'t> Walk<'t> {
    fn new(tree: &'t Tree) -> Self {
        Self {
            tree,
            work: vec![(&tree.top, false)],
            depth: 0,
        }
    }

    fn next(&mut self) -> Option<Event<'t>> {
        loop {
            let (nodes, loose) = self.work.last_mut()?;
            let Some((id, rest)) = nodes.split_first() else {
                self.work.pop();
                if self.depth == 0 {
                    return None;
                }
                self.depth -= 1;
                return Some(Event::Close);
            };
            *nodes = rest;
            let loose = *loose;
            match self.tree.node(*id) {
                Node::Element(element) => {
                    let declaration = element.tag().is_some_and(|tag| !is_conversation(tag));
                    let inside = declaration && (loose || self.depth == 0);
                    // A script that names a file may lose a blank body.
                    self.work.push((&element.children, inside));
                    self.depth += 1;
                    return Some(Event::Open(element));
                }
                Node::Text { span } if loose && is_blank(self.tree.slice(*span)) => {}
                Node::ScriptBody { span, .. } if is_blank(self.tree.slice(*span)) => {}
                leaf => return Some(Event::Leaf(leaf)),
            }
        }
    }
}

fn same(a: &Tree, x: &Event<'_>, b: &Tree, y: &Event<'_>) -> bool {
    match (x, y) {
        (Event::Close, Event::Close) => true,
        (Event::Leaf(x), Event::Leaf(y)) => {
            std::mem::discriminant(*x) == std::mem::discriminant(*y)
                && a.slice(x.span()) == b.slice(y.span())
        }
        (Event::Open(x), Event::Open(y)) => same_element(a, x, b, y),
        _ => false,
    }
}

fn same_element(a: &Tree, x: &Element, b: &Tree, y: &Element) -> bool {
    x.name == y.name
        && a.slice(x.name_span) == b.slice(y.name_span)
        && x.in_shell_scope == y.in_shell_scope
        && x.attributes.len() == y.attributes.len()
        && x.attributes.iter().zip(&y.attributes).all(|(p, q)| {
            a.slice(p.name) == b.slice(q.name)
                && a.value(p) == b.value(q)
                && p.poisoned == q.poisoned
        })
        && (x.tag() != Some(Tag::Script)
            || x.self_closing == y.self_closing
            || y.attribute(b, "src").is_some())
}
