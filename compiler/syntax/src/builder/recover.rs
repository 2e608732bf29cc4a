//! The end of the file with elements still open: going back to a fence (spec 01 section 16.3).

use super::close::Crossed;
use super::{Builder, TopRun};
use crate::Span;
use crate::report::ClosedBy;
use crate::tree::{Node, NodeId};

/// Most times a file is resumed at a fence.
const MAX_REWINDS: u32 = 64;

/// The state just before the first fence inside the outermost open element.
#[derive(Debug)]
pub(super) struct Checkpoint {
    fence: Span,
    index: usize,
    raw_end: usize,
    nodes: usize,
    diagnostics: usize,
    /// The open elements of the tree and how many children each had.
    open: Vec<(NodeId, usize)>,
    skip_start: Option<u32>,
}

impl Builder<'_> {
    pub(super) fn save_checkpoint(&mut self, fence: Span) {
        let open = self
            .stack
            .iter()
            .map_while(|open| open.node)
            .map(|id| (id, self.child_count(id)))
            .collect();
        self.checkpoint = Some(Checkpoint {
            fence,
            index: self.index.saturating_sub(1),
            raw_end: self.raw_end,
            nodes: self.nodes.len(),
            diagnostics: self.diagnostics.len(),
            open,
            skip_start: self.skip_start,
        });
    }

    fn child_count(&self, id: NodeId) -> usize {
        match self.nodes.get(id.0 as usize) {
            Some(Node::Element(element)) => element.children.len(),
            _ => 0,
        }
    }

    /// Handles the end of the file; true when parsing goes on at a fence.
    pub(super) fn finish(&mut self) -> bool {
        let Some(outermost) = self.stack.first().copied() else {
            return false;
        };
        let end = self.text.len() as u32;
        let checkpoint = self
            .checkpoint
            .take()
            .filter(|_| self.rewinds < MAX_REWINDS);
        let fence = checkpoint.as_ref().map(|checkpoint| checkpoint.fence);
        if let Some(checkpoint) = checkpoint {
            self.rewinds += 1;
            self.restore(checkpoint);
        } else {
            while !self.stack.is_empty() {
                self.pop(None, end);
            }
        }
        if outermost.report {
            let by = fence.map_or(ClosedBy::EndOfFile(end), ClosedBy::Fence);
            self.report_unclosed(&outermost, by, Some(outermost.name));
        }
        fence.is_some()
    }

    /// Handles an end tag that would close the outermost element although it does not bear its
    /// name: with a fence inside, the element was left open before that fence, and the end tag is
    /// one of its own that went astray. True when parsing goes on at the fence.
    pub(super) fn resume_at_fence(&mut self) -> bool {
        let [outermost] = self.stack.as_slice() else {
            return false;
        };
        if !outermost.report || self.checkpoint.is_none() || self.rewinds >= MAX_REWINDS {
            return false;
        }
        self.finish()
    }

    fn restore(&mut self, checkpoint: Checkpoint) {
        let at = checkpoint.fence.start;
        self.nodes.truncate(checkpoint.nodes);
        self.diagnostics.truncate(checkpoint.diagnostics);
        for (id, children) in &checkpoint.open {
            if let Some(Node::Element(element)) = self.nodes.get_mut(id.0 as usize) {
                element.children.truncate(*children);
                element.end_tag = None;
                element.span.end = at;
            }
        }
        if let (Some(start), Some((innermost, _))) = (checkpoint.skip_start, checkpoint.open.last())
        {
            let id = NodeId(self.nodes.len() as u32);
            self.nodes.push(Node::Skipped {
                span: Span::new(start, at),
            });
            if let Some(Node::Element(element)) = self.nodes.get_mut(innermost.0 as usize) {
                element.children.push(id);
            }
        }
        self.stack.clear();
        self.open_known.fill(0);
        self.open_unknown.clear();
        self.skip_start = None;
        self.crossed = Crossed::default();
        self.run = TopRun::Blank;
        self.at = at;
        self.index = checkpoint.index;
        self.raw_end = checkpoint.raw_end;
    }
}
