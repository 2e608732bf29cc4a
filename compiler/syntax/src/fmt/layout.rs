//! Layout of one declaration (spec 01 sections 19.2 to 19.4).

use crate::context::is_conversation;
use crate::lexer::is_blank;
use crate::tree::{Attribute, Element, Name, Node, NodeId, Quote, Tree};
use crate::write::attribute_value;
use crate::{Span, Tag};

/// Widest line, in Unicode scalar values, its indent included.
const WIDTH: usize = 100;
const INDENT: usize = 2;
/// Indent of an attribute on a line of its own, from its element.
const ATTRIBUTE_INDENT: usize = 4;

/// What is still to be written, innermost last: the formatter does not recurse.
enum Step {
    Element {
        id: NodeId,
        depth: usize,
    },
    /// A comment, as it is.
    Copy(Span),
    Break {
        blank: bool,
        depth: usize,
    },
    Space,
    EndTag(NodeId),
}

/// The output under construction.
pub(super) struct Layout<'t> {
    tree: &'t Tree,
    out: String,
    line_end: &'static str,
}

impl<'t> Layout<'t> {
    pub(super) fn new(tree: &'t Tree) -> Self {
        let text = &*tree.text;
        let line_end =
            match memchr::memchr2(b'\n', b'\r', text.as_bytes()).and_then(|at| text.get(at..)) {
                Some(rest) if rest.starts_with("\r\n") => "\r\n",
                Some(rest) if rest.starts_with('\r') => "\r",
                _ => "\n",
            };
        Self {
            tree,
            out: String::with_capacity(text.len()),
            line_end,
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn copy(&mut self, span: Span) {
        self.out.push_str(self.tree.slice(span));
    }

    /// Writes a declaration of the top level as if it stood at column 1; a message as it is.
    pub(super) fn element_at_top(&mut self, id: NodeId) {
        let mut work = vec![Step::Element { id, depth: 0 }];
        while let Some(step) = work.pop() {
            match step {
                Step::Element { id, depth } => self.element(id, depth, &mut work),
                Step::Copy(span) => self.copy(span),
                Step::Space => self.out.push(' '),
                Step::Break { blank, depth } => {
                    if blank {
                        self.out.push_str(self.line_end);
                    }
                    self.line_break(depth * INDENT);
                }
                Step::EndTag(id) => {
                    if let Some(element) = self.tree.element(id) {
                        self.end_tag(element);
                    }
                }
            }
        }
    }

    fn line_break(&mut self, indent: usize) {
        self.out.push_str(self.line_end);
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn end_tag(&mut self, element: &Element) {
        self.out.push_str("</");
        self.copy(element.name_span);
        self.out.push('>');
    }

    fn element(&mut self, id: NodeId, depth: usize, work: &mut Vec<Step>) {
        let Some(element) = self.tree.element(id) else {
            return;
        };
        if self.is_copied(element) {
            self.copy(element.span);
        } else if element.tag() == Some(Tag::Script) {
            self.script(element, depth);
        } else if self.is_empty(element) {
            self.start_tag(element, depth, "/>");
        } else if let Some(line) = self.one_line(element, depth) {
            self.out.push_str(&line);
        } else {
            self.start_tag(element, depth, ">");
            let mut steps = self.children(element, depth + 1);
            steps.push(Step::Break {
                blank: false,
                depth,
            });
            steps.push(Step::EndTag(id));
            work.extend(steps.into_iter().rev());
        }
    }

    /// Whether an element is left as it is: it holds what the formatter cannot place, or whitespace
    /// in it is content.
    fn is_copied(&self, element: &Element) -> bool {
        let Name::Known(tag) = element.name else {
            return true;
        };
        let closed = element.self_closing || element.end_tag.is_some();
        !closed || is_conversation(tag) || element.children.iter().any(|id| self.is_foreign(*id))
    }

    fn is_foreign(&self, id: NodeId) -> bool {
        match self.tree.node(id) {
            Node::Element(element) => element.name == Name::Unknown,
            Node::Text { span } => !is_blank(self.tree.slice(*span)),
            Node::Comment { .. } | Node::ScriptBody { .. } => false,
            Node::Raw { .. } | Node::StrayEnd { .. } | Node::Skipped { .. } => true,
        }
    }

    fn is_empty(&self, element: &Element) -> bool {
        element
            .children
            .iter()
            .all(|id| matches!(self.tree.node(*id), Node::Text { .. }))
    }

    /// Only the start tag of a script is laid out, unless it has nothing else.
    fn script(&mut self, element: &Element, depth: usize) {
        let body = Span::new(
            element.start_tag.end,
            element.end_tag.map_or(element.span.end, |tag| tag.start),
        );
        let has_src = element.attribute(self.tree, "src").is_some();
        if element.self_closing || (has_src && is_blank(self.tree.slice(body))) {
            return self.start_tag(element, depth, "/>");
        }
        self.start_tag(element, depth, ">");
        self.copy(Span::new(element.start_tag.end, element.span.end));
    }

    fn children(&self, element: &Element, depth: usize) -> Vec<Step> {
        let mut steps = Vec::with_capacity(element.children.len() * 2);
        // Line ends since the last child, and whether a comment could stay on its line.
        let (mut line_ends, mut stays, mut first) = (0, false, true);
        for id in &element.children {
            let node = self.tree.node(*id);
            match node {
                Node::Text { span } => {
                    line_ends += count_line_ends(self.tree.slice(*span));
                    continue;
                }
                Node::Comment { span } if stays && line_ends == 0 => {
                    steps.extend([Step::Space, Step::Copy(*span)]);
                }
                _ => {
                    steps.push(Step::Break {
                        blank: line_ends > 1 && !first,
                        depth,
                    });
                    stays = matches!(node, Node::Element(_));
                    steps.push(match node {
                        Node::Element(_) => Step::Element { id: *id, depth },
                        node => Step::Copy(node.span()),
                    });
                }
            }
            (line_ends, first) = (0, false);
        }
        steps
    }

    /// The element on one line, if it was written so, holds only empty elements and fits.
    fn one_line(&self, element: &Element, depth: usize) -> Option<String> {
        if count_line_ends(self.tree.slice(element.span)) > 0 {
            return None;
        }
        let mut line = self.tag(element, ">")?;
        for id in &element.children {
            match self.tree.node(*id) {
                Node::Text { .. } => {}
                Node::Element(child) => {
                    let script = child.tag() == Some(Tag::Script) && !child.self_closing;
                    if script || self.is_copied(child) || !self.is_empty(child) {
                        return None;
                    }
                    line.push_str(&self.tag(child, "/>")?);
                }
                _ => return None,
            }
        }
        line.push_str("</");
        line.push_str(self.tree.slice(element.name_span));
        line.push('>');
        fits(&line, depth * INDENT).then_some(line)
    }

    fn start_tag(&mut self, element: &Element, depth: usize, close: &str) {
        let indent = depth * INDENT;
        if let Some(line) = self.tag(element, close).filter(|line| fits(line, indent)) {
            self.out.push_str(&line);
            return;
        }
        self.out.push('<');
        self.copy(element.name_span);
        for attribute in &element.attributes {
            self.line_break(indent + ATTRIBUTE_INDENT);
            let written = self.attribute(attribute);
            self.out.push_str(&written);
        }
        self.out.push_str(close);
    }

    /// A start tag on one line; `None` when a value has several lines.
    fn tag(&self, element: &Element, close: &str) -> Option<String> {
        let mut line = format!("<{}", self.tree.slice(element.name_span));
        for attribute in &element.attributes {
            if attribute
                .value
                .is_some_and(|span| count_line_ends(self.tree.slice(span)) > 0)
            {
                return None;
            }
            line.push(' ');
            line.push_str(&self.attribute(attribute));
        }
        line.push_str(close);
        Some(line)
    }

    fn attribute(&self, attribute: &Attribute) -> String {
        let name = self.tree.slice(attribute.name);
        let Some(span) = attribute.value else {
            return name.to_owned();
        };
        let raw = self.tree.slice(span);
        match attribute.quote {
            Quote::None => format!("{name}={}", attribute_value(raw)),
            Quote::Single if raw.contains(['"', '\\']) => format!("{name}='{raw}'"),
            Quote::Single | Quote::Double => format!("{name}=\"{raw}\""),
        }
    }
}

fn fits(line: &str, indent: usize) -> bool {
    // Bytes are never fewer than characters: most lines need no counting.
    indent + line.len() <= WIDTH || indent + line.chars().count() <= WIDTH
}

/// Line ends of a text; CRLF is one.
fn count_line_ends(text: &str) -> usize {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'\n', b'\r', bytes)
        .filter(|at| !(bytes.get(*at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n')))
        .count()
}
