//! End tags (spec 01 section 16.3).

use super::{Builder, Open};
use crate::context::Context;
use crate::item::EndTag;
use crate::lexer;
use crate::nearest::nearest;
use crate::report::{self, ClosedBy};
use crate::tree::{MAX_DIAGNOSTICS, Node, SyntaxDiagnostic};
use crate::{Span, Tag};

/// Most end tags with unknown names that are compared with the name of an unclosed element.
const MAX_MISSPELT: usize = 64;

/// Elements that an end tag has just closed with itself, although they were not closed.
#[derive(Debug, Default)]
pub(super) struct Crossed {
    /// The elements with the numbers of their findings.
    open: Vec<(Open, usize)>,
    /// That end tag.
    end_tag: Span,
    /// End of the last end tag that was looked for behind it.
    behind: u32,
}

impl<'t> Builder<'t> {
    pub(super) fn end(&mut self, span: Span, end: EndTag) {
        let scope = self.in_scope();
        let known = end.tag.filter(|tag| scope || !tag.is_shell());
        let name = self.slice(end.name);
        let open = match known {
            Some(tag) => self
                .open_known
                .get(tag as usize)
                .is_some_and(|count| *count > 0),
            None => self.open_unknown.get(name).is_some_and(|count| *count > 0),
        };
        if known.is_none() && !open && !self.stray_unknown_matters(&end) {
            let sound = end.closed && end.junk.is_none();
            if !sound && self.scanner.afford(span.len() as usize) {
                self.at = span.start + 1;
                return self.add_text(Span::new(span.start, span.start + 1));
            }
            return self.add_text(span);
        }
        if self.at_document_level() {
            self.flush_run();
        }
        self.report_shape(span, &end, name);
        if open {
            self.close_down_to(known, name, span);
        } else {
            self.stray(known, name, span);
        }
    }

    /// Whether an end tag of a name that is not recognised here, and of which nothing is open, is
    /// more than text: at the top level and among declarations, where text is an error anyway, it
    /// is most likely a misspelt end tag.
    fn stray_unknown_matters(&self, end: &EndTag) -> bool {
        let place =
            self.at_document_level() || (self.in_scope() && self.context() == Context::Declaration);
        place && end.closed && end.junk.is_none()
    }

    fn report_shape(&mut self, span: Span, end: &EndTag, name: &str) {
        if self.is_quiet() {
            return;
        }
        if !end.closed {
            let offending =
                ((span.end as usize) < self.text.len()).then(|| Span::new(span.end, span.end + 1));
            let primary = self.trimmed_end(span);
            let shown = report::quote(self.slice(primary));
            self.report(
                report::unterminated_tag(&shown, primary, offending, ">"),
                None,
                None,
            );
        } else if let Some(junk) = end.junk {
            self.report(
                report::malformed_end_tag(&report::quote(name), junk, span),
                None,
                None,
            );
        }
    }

    /// Closes the innermost open element of that name and everything above it.
    fn close_down_to(&mut self, known: Option<Tag>, name: &str, end_tag: Span) {
        self.crossed.open.clear();
        (self.crossed.end_tag, self.crossed.behind) = (end_tag, end_tag.end);
        while let Some(top) = self.stack.last().copied() {
            let this = match known {
                Some(tag) => top.tag == Some(tag),
                None => top.tag.is_none() && self.slice(top.name) == name,
            };
            if this {
                self.pop(Some(end_tag), end_tag.end);
                return;
            }
            if top.report {
                let index = self.diagnostics.len();
                self.report_unclosed(&top, ClosedBy::EndTag(end_tag), None);
                if self.diagnostics.len() > index {
                    self.crossed.open.push((top, index));
                }
            }
            self.pop(None, end_tag.start);
        }
    }

    /// An end tag right behind that of the element around its own: both were written, in the wrong
    /// order, and that is one mistake.
    fn take_crossed(&mut self, known: Option<Tag>, name: &str, span: Span) -> bool {
        let between = Span::new(self.crossed.behind.min(span.start), span.start);
        let outer = self.crossed.end_tag;
        // Outside of shell scope a shell name is none, but it still is the name of the element.
        let of_this_name =
            |open: &Open| self.slice(open.name) == name || known.is_some() && open.tag == known;
        let (Some(at), true) = (
            self.crossed
                .open
                .iter()
                .position(|(open, _)| of_this_name(open)),
            self.slice(between).bytes().all(lexer::is_space),
        ) else {
            return false;
        };
        let (open, index) = self.crossed.open.remove(at);
        self.crossed.behind = span.end;
        let found = report::crossed_end_tags(name, open.start_tag, outer, span);
        if let Some(known) = self.diagnostics.get_mut(index) {
            let path = std::mem::take(&mut known.path);
            *known = SyntaxDiagnostic { path, ..found };
        }
        true
    }

    fn stray(&mut self, known: Option<Tag>, name: &str, span: Span) {
        if self.take_crossed(known, name, span) {
            if self.skip_start.is_none() {
                self.add(Node::StrayEnd { span });
            }
            return;
        }
        let Some(top) = self.stack.last().copied() else {
            if !self.take_orphan_end(name) {
                let last = known
                    .and_then(|tag| self.last_closed.get(tag as usize))
                    .copied();
                let last = last.filter(|last| !last.is_empty() && last.end <= span.start);
                self.report(report::unexpected_end_tag(name, span, last), None, None);
            }
            self.add(Node::StrayEnd { span });
            return;
        };
        let meant = if known.is_none() {
            self.misspelt(name)
        } else {
            None
        };
        let later = meant.is_none() && self.top_closes_later(&top, span.end);
        if meant.is_none() && !later && self.resume_at_fence() {
            return;
        }
        if !self.is_quiet() {
            let expected: &str = match meant {
                Some(tag) => tag.as_str(),
                None => self.slice(top.name),
            };
            self.report(
                report::mismatched_tag(name, expected, span, top.start_tag, later),
                None,
                None,
            );
        }
        // A misspelt end tag of an element further out closes that one.
        if let Some(tag) = meant {
            return self.close_down_to(Some(tag), tag.as_str(), span);
        }
        if later {
            if self.skip_start.is_none() {
                self.add(Node::StrayEnd { span });
            }
        } else {
            self.pop(Some(span), span.end);
        }
    }

    /// Reports an element without an end tag. An end tag between its start and the place where it
    /// is taken to end that nearly bears its name is the one that was meant.
    pub(super) fn report_unclosed(&mut self, open: &Open, by: ClosedBy, element: Option<Span>) {
        if self.diagnostics.len() > MAX_DIAGNOSTICS {
            return;
        }
        let name = self.slice(open.name);
        let found = match self.misspelt_end(open, by.start()) {
            Some((tag, written)) => {
                report::misspelt_end_tag(name, open.start_tag, tag, self.slice(written))
            }
            None => report::unclosed_element(name, open.start_tag, by, !open.first_on_line),
        };
        self.report(found, None, element);
    }

    /// The last end tag before `stop`, whole and name, whose name nearly is that of `open` and which
    /// closes no unknown element of the text.
    fn misspelt_end(&mut self, open: &Open, stop: u32) -> Option<(Span, Span)> {
        let name = self.slice(open.name);
        let text = self.text;
        let slice = |span: Span| text.get(span.range()).unwrap_or_default();
        let inside = Span::new(open.start_tag.end, stop.max(open.start_tag.end));
        let is_near = |written: &str| {
            written.eq_ignore_ascii_case(name) || nearest(written, [name]).is_some()
        };
        let (tag, written) = {
            let mut last = self.landmarks().misspelt_ends(inside).take(MAX_MISSPELT);
            last.find(|(_, written)| is_near(slice(*written)))?
        };
        let before = slice(Span::new(inside.start, tag.start));
        if !self.scanner.afford(before.len()) {
            return None;
        }
        let opens = memchr::memmem::find_iter(before.as_bytes(), slice(written).as_bytes())
            .any(|at| before.get(..at).is_some_and(|before| before.ends_with('<')));
        (!opens).then_some((tag, written))
    }

    /// The open element whose name an unknown end tag most likely misspells.
    fn misspelt(&self, name: &str) -> Option<Tag> {
        let open = Tag::ALL
            .iter()
            .zip(&self.open_known)
            .filter(|(_, count)| **count > 0);
        nearest(name, open.map(|(tag, _)| tag.as_str())).and_then(Tag::from_name)
    }

    /// The end tag of an unknown element that was already reported.
    fn take_orphan_end(&mut self, name: &str) -> bool {
        match self.orphan_ends.get_mut(name) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// Whether the end tag of `top` occurs before the next fence.
    fn top_closes_later(&mut self, top: &Open, from: u32) -> bool {
        let name = self.slice(top.name);
        let table = self.landmarks();
        let end = match top.tag {
            Some(tag) => table.end(tag, from),
            None => table.unknown_end(name, from),
        };
        match (end, table.fence(from)) {
            (Some(end), Some(fence)) => end < fence.start,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// Closes the innermost open element at `end`, with its end tag if it has one.
    pub(super) fn pop(&mut self, end_tag: Option<Span>, end: u32) {
        let Some(open) = self.stack.pop() else { return };
        match open.tag {
            Some(tag) => {
                if let Some(count) = self.open_known.get_mut(tag as usize) {
                    *count -= 1;
                }
                if let Some(last) = self.last_closed.get_mut(tag as usize) {
                    *last = end_tag.unwrap_or(open.start_tag);
                }
            }
            None => {
                if let Some(count) = self.open_unknown.get_mut(self.slice(open.name)) {
                    *count -= 1;
                }
            }
        }
        if let Some(Node::Element(element)) = open
            .node
            .and_then(|node| self.nodes.get_mut(node.0 as usize))
        {
            element.end_tag = end_tag;
            element.span.end = end;
        }
        if let Some(start) = self.skip_start
            && open.start_tag.start == start
        {
            self.skip_start = None;
            self.add(Node::Skipped {
                span: Span::new(start, end),
            });
        }
        if self.stack.is_empty() {
            self.checkpoint = None;
        }
    }
}
