//! The lossless tree as text, for tests and for people who wonder what the parser saw.

use std::fmt::Write as _;

use chatmd_syntax::{Name, Node, NodeId, Tree};

/// Longest answer, in bytes; what is left out is said.
const MAX_BYTES: usize = 64 << 20;

/// Nodes between two looks at whether anyone still wants the answer.
const CHECK_EVERY: usize = 1_000;

/// The tree, one node a line, indented by depth, and behind it the whole text between two marks.
/// `check` is called now and then and may unwind.
pub fn render(tree: &Tree, check: &dyn Fn()) -> String {
    let mut seen = 0_usize;
    let mut out = String::new();
    let mut stack: Vec<(NodeId, usize)> = tree.top.iter().rev().map(|id| (*id, 0)).collect();
    while let Some((id, depth)) = stack.pop() {
        seen += 1;
        if seen.is_multiple_of(CHECK_EVERY) {
            check();
        }
        if out.len() > MAX_BYTES {
            out.push_str("…\n");
            break;
        }
        let Some(node) = tree.nodes.get(id.0 as usize) else {
            continue;
        };
        let span = node.span();
        // Depth is bounded by the parser, and so is the indentation.
        out.extend(std::iter::repeat_n("  ", depth));
        let _ = writeln!(out, "{} {}..{}", describe(tree, node), span.start, span.end);
        if let Node::Element(element) = node {
            stack.extend(element.children.iter().rev().map(|id| (*id, depth + 1)));
        }
    }
    out.push_str("--- text ---\n");
    out.push_str(&tree.text);
    out
}

fn describe(tree: &Tree, node: &Node) -> String {
    match node {
        Node::Element(element) => {
            let name = tree.text.get(element.name_span.range()).unwrap_or_default();
            match element.name {
                Name::Known(tag) => format!("element {}", tag.as_str()),
                Name::Unknown => format!("unknown element {name}"),
            }
        }
        Node::Text { .. } => "text".to_owned(),
        Node::Raw { .. } => "raw".to_owned(),
        Node::Comment { .. } => "comment".to_owned(),
        Node::ScriptBody { .. } => "script body".to_owned(),
        Node::StrayEnd { .. } => "stray end tag".to_owned(),
        Node::Skipped { .. } => "skipped".to_owned(),
    }
}
