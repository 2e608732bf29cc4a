//! Comment directives of one file: which comments are directives, and what they stand at
//! (spec 12 sections 1.1 and 1.2).

use std::sync::Arc;

use chatmd_syntax::{Element, Node, NodeId, Parse, Span, Tag, Tree};

use super::verb::Verb;

/// Most bytes of one directive, between its comment marks.
pub const MAX_DIRECTIVE_BYTES: usize = 64 << 10;

/// What a directive begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// `expect VERB …: …`, well formed or not.
    Expect,
    /// `expect-given: …`
    Given,
    /// `why: …`
    Why,
    /// `instead: …`
    Instead,
}

/// What a directive stands at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// Inside a rule, at any depth.
    Rule {
        /// The `shell_access` item.
        item: u32,
        /// Id of the rule as written.
        rule: String,
    },
    /// Elsewhere in a `shell_access`, or directly before one.
    Runtime {
        /// The item.
        item: u32,
    },
    /// Inside a shell tool, or directly before a tool.
    Tool {
        /// The item.
        item: u32,
    },
    /// At top level before anything else.
    Nothing,
}

/// A comment that is a directive. Equal after an edit that only moves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// What it begins with.
    pub head: Head,
    /// What tests and facts belong to.
    pub anchor: Anchor,
    /// The rule or tool that an annotation speaks of, when there is one.
    pub annotates: Option<Anchor>,
    /// Item that spans are relative to: [`crate::diagnostics::Place::item`]. A comment between the
    /// items counts from its own start and has a number behind those of the items.
    pub item: u32,
    /// The whole comment.
    pub comment: Span,
    /// What stands between the comment marks, at most [`MAX_DIRECTIVE_BYTES`]; empty when it is
    /// longer.
    pub text: Arc<str>,
    /// Offset of the first byte of `text`.
    pub start: u32,
    /// Whether the text is longer than permitted.
    pub too_long: bool,
}

/// A comment that would be a test, where none is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Item; `None` in a file without items.
    pub item: Option<u32>,
    /// The whole comment.
    pub comment: Span,
}

/// The directives of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDirectives {
    /// In source order.
    pub directives: Vec<Directive>,
    /// Comments in bodies that look like tests, in source order.
    pub strays: Vec<Stray>,
}

/// Reads the directives of a document. `is_item` says which top-level nodes are items, in the
/// numbering of [`crate::decl::FileDeclarations::items`].
pub(crate) fn of_document(parse: &Parse, is_item: impl Fn(NodeId) -> bool) -> FileDirectives {
    let mut found = FileDirectives::default();
    if !parse.lowerable || !may_hold_directives(&parse.tree.text) {
        return found;
    }
    let tree = &parse.tree;
    let items = tree.top.iter().filter(|id| is_item(**id)).count() as u32;
    let mut between = items;
    let mut item = 0;
    for (at, id) in tree.top.iter().enumerate() {
        match tree.node(*id) {
            Node::Comment { span } => {
                if let Some(recognised) = recognise(tree, *span) {
                    let next = following(tree, &tree.top, at).filter(|id| is_item(*id));
                    let anchor = before(tree, next, item);
                    let annotates = match anchor {
                        Anchor::Tool { .. } => Some(anchor.clone()),
                        _ => None,
                    };
                    let base = (between, span.start);
                    found
                        .directives
                        .push(recognised.into_directive(*span, base, anchor, annotates));
                    between += 1;
                }
            }
            node if is_item(*id) => {
                if let Node::Element(element) = node {
                    within(tree, element, item, &mut found);
                }
                item += 1;
            }
            _ => {}
        }
    }
    found
}

/// Offsets of the directives between the items, in their order: what their places count from.
pub(crate) fn starts_between_items(parse: &Parse) -> Vec<u32> {
    if !parse.lowerable || !may_hold_directives(&parse.tree.text) {
        return Vec::new();
    }
    let tree = &parse.tree;
    let comments = tree.top.iter().filter_map(|id| match tree.node(*id) {
        Node::Comment { span } => recognise(tree, *span).map(|_| span.start),
        _ => None,
    });
    comments.collect()
}

/// Looks for tests in a file that is imported into a message, where none is recognised.
pub(crate) fn of_content(parse: &Parse) -> FileDirectives {
    let mut found = FileDirectives::default();
    if parse.lowerable && may_hold_directives(&parse.tree.text) {
        strays(&parse.tree, &parse.tree.top, None, &mut found);
    }
    found
}

/// Most documents have no directive: they are told apart without a look at their tree.
fn may_hold_directives(text: &str) -> bool {
    text.contains("<!--")
        && ["expect", "why:", "instead:"]
            .iter()
            .any(|head| text.contains(head))
}

/// A recognised comment: its head, and what stands between its marks.
struct Recognised<'t> {
    head: Head,
    text: &'t str,
    /// Offset of the text in the file.
    start: u32,
}

/// Whether a comment is a directive.
fn recognise(tree: &Tree, comment: Span) -> Option<Recognised<'_>> {
    let whole = tree.slice(comment);
    let text = whole.strip_prefix("<!--")?.strip_suffix("-->")?;
    let head = head_of(text.trim_start_matches(is_ws))?;
    Some(Recognised {
        head,
        text,
        start: comment.start + 4,
    })
}

/// The whitespace of spec 01 section 2.
pub(super) fn is_ws(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ')
}

fn head_of(text: &str) -> Option<Head> {
    if text.starts_with("why:") {
        return Some(Head::Why);
    }
    if text.starts_with("instead:") {
        return Some(Head::Instead);
    }
    let rest = text.strip_prefix("expect")?;
    if rest.starts_with("-given:") {
        return Some(Head::Given);
    }
    if !rest.contains(':') {
        return None;
    }
    match rest.chars().next()? {
        // "expected output: …" is prose; "expects deny: …" was meant as a test.
        c if c.is_ascii_alphabetic() => {
            let word = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let next = word.trim_start_matches(is_ws);
            let end = next.find(|c: char| !(c.is_ascii_alphabetic() || c == '_'));
            let next = next.get(..end.unwrap_or(next.len())).unwrap_or_default();
            let glued = rest.get(..rest.len() - word.len()).unwrap_or_default();
            let verb = [next, glued].into_iter().any(|w| Verb::parse(w).is_some());
            verb.then_some(Head::Expect)
        }
        _ => Some(Head::Expect),
    }
}

/// The next sibling that is neither blank text nor a comment.
fn following(tree: &Tree, siblings: &[NodeId], at: usize) -> Option<NodeId> {
    let rest = siblings.get(at + 1..).unwrap_or_default();
    rest.iter().copied().find(|id| match tree.node(*id) {
        Node::Comment { .. } => false,
        Node::Text { span } => !tree.slice(*span).chars().all(is_ws),
        _ => true,
    })
}

/// What a comment at top level stands at, given the item behind it.
fn before(tree: &Tree, next: Option<NodeId>, item: u32) -> Anchor {
    let element = next.and_then(|id| tree.element(id));
    match element.and_then(Element::tag) {
        Some(Tag::ShellAccess) => Anchor::Runtime { item },
        Some(Tag::Tool) => Anchor::Tool { item },
        _ => Anchor::Nothing,
    }
}

impl Recognised<'_> {
    fn into_directive(
        self,
        comment: Span,
        (item, base): (u32, u32),
        anchor: Anchor,
        annotates: Option<Anchor>,
    ) -> Directive {
        let too_long = self.text.len() > MAX_DIRECTIVE_BYTES;
        Directive {
            head: self.head,
            anchor,
            annotates,
            item,
            comment: comment.relative_to(base),
            text: if too_long { "" } else { self.text }.into(),
            start: self.start - base,
            too_long,
        }
    }
}

/// A level of the walk through an item.
struct Level<'t> {
    children: &'t [NodeId],
    next: usize,
    /// Rule around it.
    rule: Option<String>,
}

/// Collects the directives inside an item, or the comments that cannot be any there.
fn within(tree: &Tree, element: &Element, item: u32, found: &mut FileDirectives) {
    let anchor = match element.tag() {
        Some(Tag::ShellAccess) => Anchor::Runtime { item },
        Some(Tag::Tool) if is_shell_tool(tree, element) => Anchor::Tool { item },
        _ => return strays(tree, &element.children, Some((item, element)), found),
    };
    let base = element.span.start;
    let mut stack = vec![Level {
        children: &element.children,
        next: 0,
        rule: None,
    }];
    while let Some(level) = stack.last_mut() {
        let at = level.next;
        let Some(id) = level.children.get(at) else {
            stack.pop();
            continue;
        };
        level.next += 1;
        match tree.node(*id) {
            Node::Element(child) => {
                let own = (child.tag() == Some(Tag::Rule)).then(|| id_of(tree, child));
                let rule = level.rule.clone().or(own);
                stack.push(Level {
                    children: &child.children,
                    next: 0,
                    rule,
                });
            }
            Node::Comment { span } => {
                let Some(recognised) = recognise(tree, *span) else {
                    continue;
                };
                let inside = |rule: String| Anchor::Rule { item, rule };
                let here = match (&level.rule, &anchor) {
                    (Some(rule), Anchor::Runtime { .. }) => inside(rule.clone()),
                    _ => anchor.clone(),
                };
                let annotates = match &here {
                    Anchor::Runtime { .. } => following(tree, level.children, at)
                        .and_then(|id| tree.element(id))
                        .filter(|next| next.tag() == Some(Tag::Rule))
                        .map(|next| inside(id_of(tree, next))),
                    other => Some(other.clone()),
                };
                let base = (item, base);
                found
                    .directives
                    .push(recognised.into_directive(*span, base, here, annotates));
            }
            _ => {}
        }
    }
}

fn id_of(tree: &Tree, rule: &Element) -> String {
    let id = rule.attribute(tree, "id").and_then(|id| tree.value(id));
    id.unwrap_or_default().trim_matches(is_ws).to_owned()
}

/// Whether a tool is one that runs commands: spec 01 section 13.1.
fn is_shell_tool(tree: &Tree, tool: &Element) -> bool {
    match tool.attribute(tree, "type").and_then(|t| tree.value(t)) {
        Some(kind) => kind == "shell",
        None => ["runtime", "command"]
            .iter()
            .any(|name| tool.attribute(tree, name).is_some()),
    }
}

/// Collects the comments below some nodes that would be tests elsewhere.
fn strays(
    tree: &Tree,
    top: &[NodeId],
    within: Option<(u32, &Element)>,
    found: &mut FileDirectives,
) {
    let base = within.map_or(0, |(_, element)| element.span.start);
    let mut open: Vec<NodeId> = top.iter().rev().copied().collect();
    while let Some(id) = open.pop() {
        match tree.node(id) {
            Node::Element(element) => open.extend(element.children.iter().rev()),
            Node::Comment { span } => {
                let head = recognise(tree, *span).map(|found| found.head);
                if matches!(head, Some(Head::Expect | Head::Given)) {
                    found.strays.push(Stray {
                        item: within.map(|(item, _)| item),
                        comment: span.relative_to(base),
                    });
                }
            }
            _ => {}
        }
    }
}
