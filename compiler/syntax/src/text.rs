//! What the model reads of a body (spec 01 sections 2.3, 2.5 and 5.3).

use crate::lexer::is_blank;
use crate::tree::{Node, NodeId, Tree};

impl Tree {
    /// The text of consecutive nodes of one body: text as it is, RAW blocks without their markers,
    /// comments dropped, elements as their own source. Whitespace that alone stands between a tag,
    /// comment or block and a RAW block is dropped.
    pub fn body_text(&self, nodes: &[NodeId]) -> String {
        let mut out = String::new();
        // Nodes still to write, innermost last; an end tag is written when its element is done.
        let mut work = vec![(nodes, 0usize, None)];
        while let Some((siblings, next, end_tag)) = work.pop() {
            let Some(id) = siblings.get(next) else {
                out.extend(end_tag.map(|span| self.slice(span)));
                continue;
            };
            work.push((siblings, next + 1, end_tag));
            match self.node(*id) {
                Node::Text { span } => {
                    let text = self.slice(*span);
                    let before_raw = siblings
                        .get(next + 1)
                        .is_some_and(|id| matches!(self.node(*id), Node::Raw { .. }));
                    if !(before_raw && is_blank(text)) {
                        out.push_str(text);
                    }
                }
                Node::Raw { content, .. } => out.push_str(self.slice(*content)),
                Node::Comment { .. } => {}
                Node::Element(element) => {
                    out.push_str(self.slice(element.start_tag));
                    work.push((&element.children, 0, element.end_tag));
                }
                node => out.push_str(self.slice(node.span())),
            }
        }
        out
    }
}
