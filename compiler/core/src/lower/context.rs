//! What lowering of one item carries along: the tree, the declaration path and the findings.

use core::ops::Range;

use chatmd_syntax::{Attribute, Element, Node, NodeId, Span, SyntaxSeverity, Tree};

use crate::diagnostics::{Diagnostic, FileIndex, Place, Severity};

/// Where the parser found errors.
#[derive(Debug, Default)]
pub(super) struct Reported {
    /// Starts of parser errors, ascending.
    errors: Vec<u32>,
}

impl Reported {
    pub(super) fn new(parse: &chatmd_syntax::Parse) -> Self {
        let errors = parse
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == SyntaxSeverity::Error);
        let mut errors: Vec<u32> = errors.map(|finding| finding.primary.start).collect();
        errors.sort_unstable();
        Self { errors }
    }

    /// Whether the parser reported an error that starts within `span`.
    pub(super) fn error_in(&self, span: Span) -> bool {
        let at = self.errors.partition_point(|start| *start < span.start);
        self.errors
            .get(at)
            .is_some_and(|start| *start < span.end.max(span.start + 1))
    }
}

/// The declaration path of the current element: names one behind the other in one text, because
/// it changes with every element and is read for findings alone.
#[derive(Clone, Debug, Default)]
struct Trail {
    text: String,
    /// Where each name ends in `text`.
    ends: Vec<usize>,
}

impl Trail {
    fn depth(&self) -> usize {
        self.ends.len()
    }

    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    fn truncate(&mut self, depth: usize) {
        self.ends.truncate(depth);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    fn names(&self) -> Vec<String> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let names = starts.zip(&self.ends);
        names
            .map(|(start, end)| self.text.get(start..*end).unwrap_or_default().to_owned())
            .collect()
    }
}

/// State of lowering one item.
pub(super) struct Context<'t> {
    pub(super) tree: &'t Tree,
    reported: &'t Reported,
    base: u32,
    item: Option<u32>,
    path: Trail,
    findings: Vec<Diagnostic>,
    errors: usize,
    /// Written id of the runtime being lowered.
    pub(super) runtime_id: Option<String>,
    /// Matcher elements seen in the runtime being lowered.
    pub(super) matcher_nodes: usize,
    /// What is left for the whole file.
    pub(super) budget: &'t mut Budget,
}

/// What lowering of one file may use up.
#[derive(Debug)]
pub(super) struct Budget {
    /// Bytes of compiled patterns (spec 02 section 11.1 bounds one pattern; this keeps the sum in
    /// proportion).
    pub(super) patterns: usize,
    errors: usize,
    others: usize,
}

impl Default for Budget {
    /// One finding more than is ever shown, so that a counter behind lowering sees the bound passed.
    fn default() -> Self {
        let findings = chatmd_syntax::MAX_DIAGNOSTICS + 1;
        Self {
            patterns: 32 << 20,
            errors: findings,
            others: findings,
        }
    }
}

impl<'t> Context<'t> {
    /// Starts the item at `base`; without `item`, spans count from the start of the file.
    pub(super) fn new(
        tree: &'t Tree,
        reported: &'t Reported,
        base: u32,
        item: Option<u32>,
        budget: &'t mut Budget,
    ) -> Self {
        Self {
            tree,
            reported,
            base,
            item,
            path: Trail::default(),
            findings: Vec::new(),
            errors: 0,
            runtime_id: None,
            matcher_nodes: 0,
            budget,
        }
    }

    /// A file span as seen from the item.
    pub(super) fn relative(&self, span: Span) -> Span {
        span.relative_to(self.base)
    }

    /// The place of a file span.
    pub(super) fn place(&self, span: Span) -> Place {
        Place {
            file: FileIndex::SELF,
            item: self.item,
            span: self.relative(span),
        }
    }

    /// The place of a span that is already relative to the item.
    pub(super) fn place_of(&self, relative: Span) -> Place {
        Place {
            file: FileIndex::SELF,
            item: self.item,
            span: relative,
        }
    }

    /// A finding at a file span.
    pub(super) fn finding(
        &self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(code, self.place(span), message)
    }

    /// Records a finding about the current element.
    pub(super) fn report(&mut self, finding: Diagnostic) {
        self.report_below(finding, &[]);
    }

    /// Records a finding about an attribute or part of the current element.
    pub(super) fn report_below(&mut self, mut finding: Diagnostic, below: &[&str]) {
        finding.path = self.path.names();
        finding
            .path
            .extend(below.iter().map(|name| (*name).to_owned()));
        finding.runtime_id.clone_from(&self.runtime_id);
        let is_error = finding.severity == Severity::Error;
        self.errors += usize::from(is_error);
        let left = if is_error {
            &mut self.budget.errors
        } else {
            &mut self.budget.others
        };
        if *left > 0 {
            *left -= 1;
            self.findings.push(finding);
        }
    }

    /// Runs `body` with more names on the declaration path.
    pub(super) fn within<R>(&mut self, names: &[&str], body: impl FnOnce(&mut Self) -> R) -> R {
        let depth = self.path.depth();
        names.iter().for_each(|name| self.path.push(name));
        let result = body(self);
        self.path.truncate(depth);
        result
    }

    /// Adds the id (or name) of the element being lowered to the path, as far as it is readable;
    /// [`Context::within`] of the caller removes it.
    pub(super) fn named_by(&mut self, element: &Element, attribute: &str) {
        let written = element
            .attribute(self.tree, attribute)
            .filter(|written| !written.poisoned);
        let Some(id) = written.and_then(|written| self.tree.value(written)) else {
            return;
        };
        let id = trim(&id);
        if !id.is_empty() && id.len() <= 128 && !id.chars().any(char::is_control) {
            self.path.push(id);
        }
    }

    /// Errors recorded so far.
    pub(super) fn error_count(&self) -> usize {
        self.errors
    }

    /// Whether the parser found an error inside `span`.
    pub(super) fn parser_error_in(&self, span: Span) -> bool {
        self.reported.error_in(span)
    }

    pub(super) fn into_findings(mut self) -> Vec<Diagnostic> {
        self.findings.sort_by(|a, b| {
            (a.primary.place.span.start, a.code).cmp(&(b.primary.place.span.start, b.code))
        });
        self.findings
    }

    /// The element of that node, with the lifetime of the tree.
    pub(super) fn element(&self, id: NodeId) -> Option<&'t Element> {
        self.tree.element(id)
    }

    /// Name of an element as written.
    pub(super) fn name_of(&self, element: &Element) -> &'t str {
        self.tree.slice(element.name_span)
    }

    /// The first line of a run of text without surrounding whitespace; for RAW from its marker.
    pub(super) fn text_place(&self, node: &Node) -> Span {
        let span = node.span();
        let text = self.tree.slice(span);
        let lead = text.len() - text.trim_start_matches(is_layout).len();
        let rest = text.get(lead..).unwrap_or_default();
        let line = rest
            .find(['\n', '\r'])
            .map_or(rest, |end| rest.get(..end).unwrap_or(rest));
        let start = span.start + lead as u32;
        Span::new(start, start + line.trim_end_matches(is_layout).len() as u32)
    }

    /// Source of a range of bytes of a decoded attribute value.
    pub(super) fn inside(&self, attribute: &Attribute, range: &Range<usize>) -> Span {
        match self.tree.decoded(attribute) {
            Some(decoded) if range.end <= decoded.text.len() => decoded.source_span(range.clone()),
            _ => attribute.value.unwrap_or(attribute.name),
        }
    }
}

/// `ws` of spec 01 section 2.1; a leading BOM counts as layout too.
pub(super) fn is_layout(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{feff}')
}

/// Drops `ws` on both sides.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c| matches!(c, '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' '))
}

impl Context<'_> {
    /// Records a finding whose path ends `up` names above the current element.
    pub(super) fn report_at_parent(&mut self, finding: Diagnostic, up: usize) {
        let whole = self.path.clone();
        self.path.truncate(whole.depth().saturating_sub(up));
        self.report(finding);
        self.path = whole;
    }
}
