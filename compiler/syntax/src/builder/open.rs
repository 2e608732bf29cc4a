//! Start tags.

use super::{Builder, MAX_DEPTH, Mode, Open};
use crate::context::Context;
use crate::item::{Body, Closing, StartTag};
use crate::landmarks::is_fence;
use crate::nearest::nearest;
use crate::report::{self, ClosedBy};
use crate::tree::{Attribute, Element, Name, Node};
use crate::value::decode_text;
use crate::{Span, Tag};

impl<'t> Builder<'t> {
    pub(super) fn start(&mut self, span: Span, tag: StartTag) {
        let scope = self.in_scope();
        match tag.tag.filter(|tag| scope || !tag.is_shell()) {
            Some(known) => self.known(span, tag, known),
            None => self.unknown(span, tag),
        }
    }

    /// A tag that is not recognised here: text, except where text is an error.
    fn unknown(&mut self, span: Span, tag: StartTag) {
        let context = self.context();
        let element = self.at_document_level()
            || context == Context::Quiet
            || (self.in_scope() && context == Context::Declaration);
        if !tag.well_formed && self.scanner.afford(span.len() as usize) {
            // Only the `<` is text.
            self.at = span.start + 1;
            return self.add_text(Span::new(span.start, span.start + 1));
        }
        if !element || !tag.well_formed {
            return self.add_text(span);
        }
        if self.at_document_level() {
            self.flush_run();
            self.report_unknown(span, &tag);
        }
        let name = self.slice(tag.name);
        let self_closed = tag.closing == Closing::SelfClosed;
        let closes = !self_closed && self.unknown_closes(name, span.end);
        let meant = match self_closed || closes {
            true => None,
            false => self.closed_as(name, span.end),
        };
        if !self_closed && !closes && meant.is_none() && self.at_document_level() {
            *self.orphan_ends.entry(name).or_default() += 1;
        }
        let closes = closes || meant.is_some();
        let context = if self.stack.is_empty() || !closes {
            Context::Quiet
        } else {
            context
        };
        let context = if context == Context::Declaration {
            Context::Quiet
        } else {
            context
        };
        let attributes = self.take_attributes(&tag, None, false).0;
        self.place(
            span,
            &tag,
            (None, meant),
            attributes,
            false,
            closes.then_some(context),
        );
    }

    /// The name under which an element is closed of which the start tag alone is misspelt: the one
    /// that it resembles, when that one's end tag comes and can be meant for nothing else.
    fn closed_as(&mut self, name: &str, from: u32) -> Option<Tag> {
        let top = self.at_document_level();
        let names = || {
            let all = Tag::ALL.iter().filter(|tag| tag.is_shell() != top);
            all.map(|tag| tag.as_str())
        };
        let folded = names().find(|known| known.eq_ignore_ascii_case(name));
        let near = folded.or_else(|| nearest(name, names()));
        let meant = Tag::from_name(near.or_else(|| foreign(name).filter(|_| top))?)?;
        if self.open_known.get(meant as usize).is_none_or(|n| *n > 0) {
            return None;
        }
        let around = self.stack.last().and_then(|open| open.tag);
        let table = self.landmarks();
        let end = table.end(meant, from)?;
        let around_ends = around.and_then(|tag| table.end(tag, from));
        let limit = table.fence(from).map(|fence| fence.start);
        if [around_ends, limit]
            .into_iter()
            .flatten()
            .any(|at| at < end)
        {
            return None;
        }
        let inside = self.slice(Span::new(from, end));
        if !self.scanner.afford(inside.len()) {
            return None;
        }
        let opens = memchr::memmem::find_iter(inside.as_bytes(), meant.as_str().as_bytes())
            .any(|at| inside.get(..at).is_some_and(|before| before.ends_with('<')));
        (!opens).then_some(meant)
    }

    /// Whether `</name>` occurs before the next fence.
    fn unknown_closes(&mut self, name: &str, from: u32) -> bool {
        let table = self.landmarks();
        match (table.unknown_end(name, from), table.fence(from)) {
            (Some(end), Some(fence)) => end < fence.start,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// The name in the end tag of an unknown element, if it is certain which one that is.
    fn end_name_of(&mut self, span: Span, tag: &StartTag) -> Option<Span> {
        let name = self.slice(tag.name);
        if tag.closing == Closing::SelfClosed || !self.unknown_closes(name, span.end) {
            return None;
        }
        let end = self.landmarks().unknown_end(name, span.end)?;
        let inside = self.slice(Span::new(span.end, end));
        let nested = memchr::memmem::find_iter(inside.as_bytes(), name.as_bytes())
            .any(|at| inside[..at].ends_with('<'));
        (!nested).then(|| Span::new(end + 2, end + 2 + tag.name.len()))
    }

    fn report_unknown(&mut self, span: Span, tag: &StartTag) {
        let name = self.slice(tag.name);
        let found = if tag.tag.is_some() {
            report::shell_element_at_top(name, span)
        } else {
            let vocabulary = || {
                Tag::ALL
                    .iter()
                    .filter(|tag| !tag.is_shell())
                    .map(|tag| tag.as_str())
            };
            let mut names = vec![tag.name];
            names.extend(self.end_name_of(span, tag));
            let folded = vocabulary().find(|known| known.eq_ignore_ascii_case(name));
            report::unknown_element(
                name,
                span,
                &names,
                folded
                    .or_else(|| nearest(name, vocabulary()))
                    .or_else(|| foreign(name)),
            )
        };
        self.report(found, None, Some(tag.name));
    }

    fn known(&mut self, span: Span, tag: StartTag, known: Tag) {
        if is_fence(&tag) && !self.stack.is_empty() && self.checkpoint.is_none() {
            self.save_checkpoint(span);
        }
        let context = self.context();
        if self.at_document_level() {
            self.flush_run();
            if matches!(known, Tag::Doc | Tag::Img | Tag::Agent | Tag::Summary) {
                self.report(
                    report::misplaced_element(known.as_str(), span),
                    None,
                    Some(tag.name),
                );
            }
        }
        let opens = self.opens(span, &tag, known);
        if self.skip_start.is_some() {
            return self.place_skipped(span, &tag, known, opens);
        }
        let deep = self.stack.len() >= MAX_DEPTH;
        let validate = !context.makes_literal(known);
        let quiet = self.is_quiet();
        let (attributes, broken) =
            self.take_attributes(&tag, Some(known), validate && !deep && !quiet);
        if deep {
            if !quiet {
                self.report(report::nesting_too_deep(known.as_str(), span), None, None);
            }
            self.skip_start = Some(span.start);
            return self.place_skipped(span, &tag, known, opens);
        }
        let inside = context.inside(known, self.transcript_role(known, &attributes));
        self.place(
            span,
            &tag,
            (Some(known), None),
            attributes,
            broken,
            opens.then_some(inside),
        );
    }

    /// Whether the element has content: `>`, or no `>` and a `>` is what was meant.
    pub(super) fn opens(&mut self, span: Span, tag: &StartTag, known: Tag) -> bool {
        match tag.closing {
            Closing::Open => true,
            Closing::SelfClosed => false,
            Closing::Missing => {
                let empty = matches!(
                    known,
                    Tag::Config | Tag::Import | Tag::ModeratorRuntime | Tag::Doc | Tag::Img
                );
                match tag.body {
                    _ if known == Tag::Script => tag.body != Body::None,
                    _ => !empty && self.landmarks().end(known, span.end).is_some(),
                }
            }
        }
    }

    fn transcript_role(&self, known: Tag, attributes: &[Attribute]) -> bool {
        known == Tag::Msg
            && matches!(
                self.first_value(attributes, "role").as_deref(),
                Some("assistant" | "tool")
            )
    }

    pub(super) fn first_value(
        &self,
        attributes: &[Attribute],
        name: &str,
    ) -> Option<std::borrow::Cow<'t, str>> {
        let attribute = attributes
            .iter()
            .find(|attribute| self.slice(attribute.name) == name)?;
        Some(decode_text(self.slice(attribute.value?), attribute.quote))
    }

    /// Whether the start tag opens shell scope (spec 01 section 4).
    fn is_scope_root(&self, known: Tag, attributes: &[Attribute]) -> bool {
        match known {
            Tag::ShellAccess => true,
            Tag::Tool => {
                attributes
                    .iter()
                    .any(|attribute| self.slice(attribute.name) == "runtime")
                    || self.first_value(attributes, "type").as_deref() == Some("shell")
                    || matches!(
                        self.first_value(attributes, "name").as_deref(),
                        Some("read_file" | "get_contents")
                    )
            }
            _ => false,
        }
    }

    /// Adds the element; `inside`: it has content, of that kind. One that is not recognised may
    /// still be closed by the end tag of `closed_as`.
    fn place(
        &mut self,
        span: Span,
        tag: &StartTag,
        (known, closed_as): (Option<Tag>, Option<Tag>),
        attributes: Box<[Attribute]>,
        broken: bool,
        inside: Option<Context>,
    ) {
        if self.stack.len() >= MAX_DEPTH {
            // An unknown element this deep; reported with the element around it or by its own code.
            return self.add_text(span);
        }
        let scope_here = self.in_scope();
        let quiet = self.is_quiet();
        let root = known.is_some_and(|known| self.is_scope_root(known, &attributes));
        let node = self.add(Node::Element(Element {
            name: known.map_or(Name::Unknown, Name::Known),
            name_span: tag.name,
            start_tag: span,
            end_tag: None,
            span,
            attributes,
            children: Vec::new(),
            self_closing: tag.closing == Closing::SelfClosed,
            broken_start: broken,
            in_shell_scope: scope_here,
        }));
        let Some(context) = inside else { return };
        let open = Open {
            node: Some(node),
            tag: known.or(closed_as),
            name: tag.name,
            start_tag: span,
            scope: scope_here || root,
            context,
            report: known.is_some() && !quiet,
            first_on_line: tag.first_on_line,
        };
        self.push(open);
        if known == Some(Tag::Script) {
            self.script_body(span, tag);
        }
    }

    /// An element below the depth limit: on the stack, not in the tree.
    fn place_skipped(&mut self, span: Span, tag: &StartTag, known: Tag, opens: bool) {
        let open = Open {
            node: None,
            tag: Some(known),
            name: tag.name,
            start_tag: span,
            scope: self.in_scope(),
            context: Context::Quiet,
            report: false,
            first_on_line: tag.first_on_line,
        };
        self.push(open);
        if !opens {
            self.pop(None, span.end);
        } else if known == Tag::Script {
            self.script_body(span, tag);
        }
    }

    fn push(&mut self, open: Open) {
        match open.tag {
            Some(tag) => {
                if let Some(count) = self.open_known.get_mut(tag as usize) {
                    *count += 1;
                }
            }
            None => *self.open_unknown.entry(self.slice(open.name)).or_default() += 1,
        }
        self.stack.push(open);
    }

    /// The body behind the start tag of the script that was just opened.
    fn script_body(&mut self, start_tag: Span, tag: &StartTag) {
        let quiet = self.is_quiet();
        let skipped = self.skip_start.is_some();
        let closed = match tag.body {
            Body::Closed(index) => self.scanner.script(index),
            Body::None | Body::Unclosed => None,
        };
        let Some(body) = closed else {
            let fence = self.landmarks().fence(start_tag.end);
            let stop = fence.map_or(self.text.len() as u32, |fence| fence.start);
            let span = Span::new(start_tag.end, stop);
            if !quiet && tag.body == Body::Unclosed {
                let by = fence.map_or(ClosedBy::EndOfFile(stop), ClosedBy::Fence);
                let found = report::unclosed_element("script", start_tag, by, false);
                self.report(found, None, None);
            }
            if !skipped && !span.is_empty() {
                self.add(Node::ScriptBody {
                    span,
                    content: span,
                });
            }
            self.at = stop;
            self.pop(None, stop);
            return;
        };
        if !quiet && let Some(marker) = body.unterminated_raw {
            let found =
                report::unterminated_raw(marker, Some(("script", start_tag)), Some(body.span.end));
            self.report(found, None, None);
        }
        if !quiet && let Some(trailing) = body.trailing {
            let line = self.first_line(trailing);
            self.report(report::script_trailing_text(line), None, None);
        }
        if !skipped && !body.span.is_empty() {
            self.add(Node::ScriptBody {
                span: body.span,
                content: body.content,
            });
        }
        self.at = body.span.end;
    }

    /// The class of a content import's top level.
    pub(crate) fn content_mode(transcript: bool) -> Mode {
        Mode::Content(if transcript {
            Context::Transcript
        } else {
            Context::Authored
        })
    }
}

/// The element that other formats call by this name.
fn foreign(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "message" => "msg",
        "human" | "prompt" => "user",
        "ai" | "bot" | "model" => "assistant",
        "instructions" => "system",
        "include" => "import",
        "settings" | "configuration" => "config",
        _ => return None,
    })
}
