//! From flat items to the tree: an explicit stack of open elements with the recovery of spec 01
//! section 16. Nothing recurses, and no look-ahead reads the file again.

mod attributes;
mod close;
mod open;
mod recover;

use std::collections::HashMap;

use crate::context::Context;
use crate::item::{Item, ItemKind, Scanner};
use crate::landmarks::Landmarks;
use crate::tree::{MAX_DIAGNOSTICS, Node, NodeId, SyntaxDiagnostic};
use crate::{Span, Tag, lexer, report};

pub use attributes::MAX_ATTRIBUTES;
use recover::Checkpoint;

/// Deepest element, the top level being 1 (spec 01 section 20).
const MAX_DEPTH: usize = 256;

/// How the top level of a file reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As a document.
    Document,
    /// As the body of a message (spec 01 section 8.2).
    Content(Context),
}

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// `None` below the depth limit.
    node: Option<NodeId>,
    /// `None`: not recognised where it stands; found by its name.
    tag: Option<Tag>,
    name: Span,
    start_tag: Span,
    /// Whether its children stand in shell scope.
    scope: bool,
    /// What its content is.
    context: Context,
    /// Whether a missing end tag is worth a report: not for an element that was reported already.
    report: bool,
    first_on_line: bool,
}

/// Text and RAW blocks at the top level since the last element.
#[derive(Clone, Copy, Debug)]
enum TopRun {
    /// Nothing but whitespace yet.
    Blank,
    /// The first piece, still growing.
    Growing(Span),
    /// The first piece, ended by a comment.
    Ended(Span),
}

/// The tree under construction.
pub(crate) struct Builder<'t> {
    text: &'t str,
    mode: Mode,
    scanner: Scanner<'t>,
    items: Vec<Item>,
    /// First item that may start at or behind `at`.
    index: usize,
    at: u32,
    /// End of the last RAW block.
    raw_end: usize,
    landmarks: Option<Landmarks<'t>>,
    nodes: Vec<Node>,
    top: Vec<NodeId>,
    stack: Vec<Open>,
    /// How many elements of each name are open.
    open_known: Vec<u32>,
    open_unknown: HashMap<&'t str, u32>,
    /// Where the first element past the depth limit starts, while inside it.
    skip_start: Option<u32>,
    run: TopRun,
    last_closed: Vec<Span>,
    /// Unknown elements at the top level whose end tag is still to come.
    orphan_ends: HashMap<&'t str, u32>,
    diagnostics: Vec<SyntaxDiagnostic>,
    checkpoint: Option<Checkpoint>,
    rewinds: u32,
    crossed: close::Crossed,
}

/// What the builder hands back.
pub(crate) struct Built {
    pub nodes: Vec<Node>,
    pub top: Vec<NodeId>,
    pub diagnostics: Vec<SyntaxDiagnostic>,
}

/// Builds the tree of `text`, skipping its first `bom` bytes.
pub(crate) fn build(text: &str, bom: u32, mode: Mode) -> Built {
    let mut scanner = Scanner::new(text);
    let items = scanner.all(bom as usize);
    let mut builder = Builder {
        text,
        mode,
        scanner,
        nodes: Vec::with_capacity(items.len()),
        items,
        index: 0,
        at: bom,
        raw_end: usize::MAX,
        landmarks: None,
        top: Vec::new(),
        stack: Vec::new(),
        open_known: vec![0; Tag::ALL.len()],
        open_unknown: HashMap::new(),
        skip_start: None,
        run: TopRun::Blank,
        last_closed: vec![Span::default(); Tag::ALL.len()],
        orphan_ends: HashMap::new(),
        diagnostics: Vec::new(),
        checkpoint: None,
        rewinds: 0,
        crossed: close::Crossed::default(),
    };
    builder.run();
    Built {
        nodes: builder.nodes,
        top: builder.top,
        diagnostics: builder.diagnostics,
    }
}

impl<'t> Builder<'t> {
    fn run(&mut self) {
        loop {
            while (self.at as usize) < self.text.len() {
                let item = self.next_item();
                self.at = item.span.end;
                self.item(item);
            }
            if !self.finish() {
                break;
            }
        }
        self.flush_run();
    }

    /// The item at `self.at`: one of the list, or scanned anew where a shell tag was read as text
    /// and the list does not fit any more.
    fn next_item(&mut self) -> Item {
        while self
            .items
            .get(self.index)
            .is_some_and(|item| item.span.start < self.at)
        {
            self.index += 1;
        }
        match self.items.get(self.index) {
            Some(item) if item.span.start == self.at => {
                self.index += 1;
                *item
            }
            _ => self.scanner.next(self.at as usize, self.raw_end),
        }
    }

    fn item(&mut self, item: Item) {
        match item.kind {
            ItemKind::Text => self.add_text(item.span),
            ItemKind::Comment { closed } => self.comment(item.span, closed),
            ItemKind::Raw { content } => {
                self.raw_end = item.span.end as usize;
                self.add_raw(item.span, content);
            }
            ItemKind::RawOpener => self.unterminated_raw(item.span),
            ItemKind::Start(tag) => self.start(item.span, tag),
            ItemKind::End(tag) => self.end(item.span, tag),
        }
    }

    fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or_default()
    }

    fn landmarks(&mut self) -> &Landmarks<'t> {
        let (text, items) = (self.text, &self.items);
        self.landmarks
            .get_or_insert_with(|| Landmarks::new(text, items))
    }

    fn context(&self) -> Context {
        match (self.stack.last(), self.mode) {
            (Some(open), _) => open.context,
            (None, Mode::Document) => Context::Top,
            (None, Mode::Content(context)) => context,
        }
    }

    fn in_scope(&self) -> bool {
        self.stack.last().is_some_and(|open| open.scope)
    }

    fn at_document_level(&self) -> bool {
        self.stack.is_empty() && self.mode == Mode::Document
    }

    /// Whether findings here belong to something that was reported as a whole.
    fn is_quiet(&self) -> bool {
        self.skip_start.is_some() || self.context() == Context::Quiet
    }

    fn report(
        &mut self,
        mut found: SyntaxDiagnostic,
        attribute: Option<Span>,
        element: Option<Span>,
    ) {
        if self.diagnostics.len() > MAX_DIAGNOSTICS {
            return;
        }
        let names = self
            .stack
            .iter()
            .map(|open| open.name)
            .chain(element)
            .chain(attribute);
        found.path = names.map(|name| report::quote(self.slice(name))).collect();
        self.diagnostics.push(found);
    }

    /// Adds a node below the innermost open element.
    fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        match self.children() {
            Some(children) => children.push(id),
            None => self.top.push(id),
        }
        id
    }

    fn children(&mut self) -> Option<&mut Vec<NodeId>> {
        let parent = self.stack.iter().rev().find_map(|open| open.node)?;
        match self.nodes.get_mut(parent.0 as usize) {
            Some(Node::Element(element)) => Some(&mut element.children),
            _ => None,
        }
    }

    fn add_text(&mut self, span: Span) {
        if span.is_empty() || self.skip_start.is_some() {
            return;
        }
        if self.at_document_level() {
            self.grow_run(span);
        }
        let last = match self.children() {
            Some(children) => children.last().copied(),
            None => self.top.last().copied(),
        };
        if let Some(id) = last
            && let Some(Node::Text { span: before }) = self.nodes.get_mut(id.0 as usize)
            && before.end == span.start
        {
            before.end = span.end;
            return;
        }
        self.add(Node::Text { span });
    }

    fn add_raw(&mut self, span: Span, content: Span) {
        if self.skip_start.is_some() {
            return;
        }
        if self.at_document_level() {
            self.grow_run(span);
        }
        self.add(Node::Raw { span, content });
    }

    fn comment(&mut self, span: Span, closed: bool) {
        if self.skip_start.is_some() {
            return;
        }
        if let TopRun::Growing(piece) = self.run {
            self.run = TopRun::Ended(piece);
        }
        self.add(Node::Comment { span });
        if self.is_quiet() {
            return;
        }
        if !closed {
            let opener = Span::new(span.start, span.start + 4);
            self.report(report::unterminated_comment(opener, span.end), None, None);
        } else if self.slice(Span::new(span.start + 4, span.end - 3)).trim() == "META_REFINE" {
            self.report(report::meta_refine(span), None, None);
        }
    }

    fn unterminated_raw(&mut self, marker: Span) {
        let from = marker.end;
        let open: Vec<Tag> = Tag::ALL
            .iter()
            .copied()
            .filter(|tag| self.open_known.get(*tag as usize).is_some_and(|n| *n > 0))
            .collect();
        let table = self.landmarks();
        let end_tag = open
            .iter()
            .filter_map(|tag| table.line_end(*tag, from))
            .min();
        let end = end_tag.or(table.fence(from).map(|fence| fence.start));
        let stop = end.unwrap_or(self.text.len() as u32);
        self.at = stop;
        let span = Span::new(marker.start, stop);
        if !self.is_quiet() {
            let parent = self
                .stack
                .last()
                .map(|open| (self.slice(open.name), open.start_tag));
            self.report(report::unterminated_raw(marker, parent, end), None, None);
        }
        self.add_raw(span, Span::new(from, stop));
    }

    fn grow_run(&mut self, piece: Span) {
        self.run = match self.run {
            TopRun::Growing(before) if before.end == piece.start => {
                TopRun::Growing(Span::new(before.start, piece.end))
            }
            TopRun::Blank => {
                let text = self.slice(piece);
                match text.bytes().position(|byte| !lexer::is_space(byte)) {
                    Some(skip) => TopRun::Growing(Span::new(piece.start + skip as u32, piece.end)),
                    None => TopRun::Blank,
                }
            }
            other => other,
        };
    }

    /// Reports the text at the top level before an element or the end of the file.
    fn flush_run(&mut self) {
        let run = std::mem::replace(&mut self.run, TopRun::Blank);
        let (TopRun::Growing(piece) | TopRun::Ended(piece)) = run else {
            return;
        };
        let line = self.first_line(piece);
        self.report(report::top_level_text(self.slice(line), line), None, None);
    }

    /// The first line of a span, without whitespace at its end.
    fn first_line(&self, span: Span) -> Span {
        let line = self
            .slice(span)
            .split(['\n', '\r'])
            .next()
            .unwrap_or_default();
        let trimmed = line.trim_end_matches(|c: char| c.is_ascii() && lexer::is_space(c as u8));
        Span::new(span.start, span.start + trimmed.len() as u32)
    }
}
