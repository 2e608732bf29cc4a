//! Findings inside a start tag (spec 01 sections 2.4, 16.2 and 20).

use std::collections::HashMap;

use super::Builder;
use crate::attributes::{Problem, ProblemKind};
use crate::item::{Closing, StartTag};
use crate::lexer::is_space;
use crate::tree::{Attribute, Quote};
use crate::value::{decode_text, unknown_entities};
use crate::{Span, Tag, report};

/// Most attributes of a tag that are looked at (spec 01 section 20); one finding covers the rest.
pub const MAX_ATTRIBUTES: usize = 128;
/// Longest decoded value (spec 01 section 20).
const MAX_VALUE_BYTES: usize = 1024 * 1024;

/// Up to here, looking for duplicates pair by pair is cheaper than a map.
const FEW: usize = 12;

impl Builder<'_> {
    /// The attributes of a tag, with repeated ones poisoned, and whether the tag is unsound.
    /// `validate`: findings about single attributes are reported too; a tag that is not closed is
    /// reported wherever it stands.
    pub(super) fn take_attributes(
        &mut self,
        tag: &StartTag,
        known: Option<Tag>,
        validate: bool,
    ) -> (Box<[Attribute]>, bool) {
        let mut attributes: Box<[Attribute]> = self.scanner.attributes(tag).into();
        let problems: Box<[Problem]> = self.scanner.problems(tag).into();
        let repeated = duplicates(self.text, &attributes);
        for (later, first) in &repeated {
            for index in [later, first] {
                if let Some(attribute) = attributes.get_mut(*index) {
                    attribute.poisoned = true;
                }
            }
        }
        let unterminated = problems
            .iter()
            .position(|p| matches!(p.kind, ProblemKind::Unterminated { .. }));
        let broken = unterminated.is_some() || tag.closing == Closing::Missing;
        let Some(known) = known else {
            return (attributes, broken);
        };
        if broken && !self.is_quiet() {
            match unterminated.and_then(|index| problems.get(index)) {
                Some(problem) => self.report_unterminated_value(tag, known, *problem),
                None => self.report_unterminated_tag(tag, known),
            }
        }
        if validate {
            // Behind an open quote nothing is certain.
            let certain = problems
                .get(..unterminated.unwrap_or(problems.len()))
                .unwrap_or_default();
            for problem in certain {
                self.report_problem(tag, known, *problem);
            }
            self.report_duplicates(tag, known, &attributes, &repeated);
            self.check_values(tag, known, &mut attributes);
        }
        (attributes, broken)
    }

    fn report_problem(&mut self, tag: &StartTag, known: Tag, problem: Problem) {
        let (element, name, span) = (known.as_str(), self.slice(problem.name), problem.span);
        let found = match problem.kind {
            ProblemKind::Junk => report::junk(element, known, self.slice(span), span),
            ProblemKind::NameTooLong => report::name_too_long(element, known, span),
            ProblemKind::MissingSpace => report::missing_space(element, problem.name),
            ProblemKind::ValueMissing => report::value_missing(element, name, span),
            ProblemKind::Unquoted => report::unquoted(name, self.slice(span), span),
            ProblemKind::Unterminated { .. } => return,
        };
        let attribute = (problem.kind != ProblemKind::Junk).then_some(problem.name);
        self.report(found, attribute, Some(tag.name));
    }

    fn report_unterminated_value(&mut self, tag: &StartTag, known: Tag, problem: Problem) {
        let ProblemKind::Unterminated { quote_at } = problem.kind else {
            return;
        };
        let line = self.first_line(Span::new(quote_at, self.text.len() as u32));
        let quote = if self.slice(line).starts_with('\'') {
            '\''
        } else {
            '"'
        };
        let name = self.slice(problem.name);
        let found = report::unterminated_attribute(known.as_str(), name, quote, line, problem.name);
        self.report(found, Some(problem.name), Some(tag.name));
    }

    fn report_unterminated_tag(&mut self, tag: &StartTag, known: Tag) {
        let start = tag.name.start - 1;
        let end = self.at;
        let offending = ((end as usize) < self.text.len()).then(|| Span::new(end, end + 1));
        let primary = self.trimmed_end(Span::new(start, end));
        let opens = self.opens(Span::new(start, end), tag, known);
        let found = report::unterminated_tag(
            &report::quote(self.slice(primary)),
            primary,
            offending,
            if opens { ">" } else { "/>" },
        );
        self.report(found, None, Some(tag.name));
    }

    pub(super) fn trimmed_end(&self, span: Span) -> Span {
        let text = self.slice(span);
        let kept = text.trim_end_matches(|c: char| c.is_ascii() && is_space(c as u8));
        Span::new(span.start, span.start + kept.len() as u32)
    }

    fn report_duplicates(
        &mut self,
        tag: &StartTag,
        known: Tag,
        attributes: &[Attribute],
        repeated: &[(usize, usize)],
    ) {
        let code = if repeated.is_empty() {
            ""
        } else {
            self.duplicate_code(known, attributes)
        };
        for (later, first) in repeated {
            let (Some(later), Some(first)) = (attributes.get(*later), attributes.get(*first))
            else {
                continue;
            };
            let name = self.slice(later.name);
            let found =
                report::duplicate_attribute(code, known.as_str(), name, later.name, first.name);
            self.report(found, Some(later.name), Some(tag.name));
        }
    }

    /// The code of a repeated attribute (spec 01 section 2.4).
    fn duplicate_code(&self, known: Tag, attributes: &[Attribute]) -> &'static str {
        let has = |name: &str| {
            attributes
                .iter()
                .any(|attribute| self.slice(attribute.name) == name)
        };
        let shell = match known {
            Tag::ShellAccess | Tag::Script | Tag::ModeratorRuntime => true,
            Tag::Tool => {
                let name = self.first_value(attributes, "name");
                let reads = matches!(
                    name.as_deref().map(str::trim),
                    Some("read_file" | "get_contents")
                );
                let agent = has("agent") || has("mcp_server");
                has("type") || has("runtime") || (!agent && (has("command") || reads))
            }
            known => known.is_shell(),
        };
        if shell {
            "shell.duplicate_attribute"
        } else {
            "chatmd.duplicate_attribute"
        }
    }

    fn check_values(&mut self, tag: &StartTag, known: Tag, attributes: &mut [Attribute]) {
        if let Some(attribute) = attributes.get(MAX_ATTRIBUTES) {
            let name = attribute.name;
            self.report(
                report::too_many_attributes(known.as_str(), name),
                None,
                Some(tag.name),
            );
        }
        for attribute in attributes {
            let Some(span) = attribute.value else {
                continue;
            };
            let raw = self.slice(span);
            if raw.len() > MAX_VALUE_BYTES
                && decode_text(raw, attribute.quote).len() > MAX_VALUE_BYTES
            {
                attribute.poisoned = true;
                let found = report::value_too_large(self.slice(attribute.name), attribute.name);
                self.report(found, Some(attribute.name), Some(tag.name));
            }
            if attribute.poisoned || attribute.quote == Quote::None || !raw.contains('&') {
                continue;
            }
            for range in unknown_entities(raw) {
                let at = Span::new(
                    span.start + range.start as u32,
                    span.start + range.end as u32,
                );
                // The value may be a secret, of which nothing is quoted.
                let found = match self.slice(tag.name) {
                    "literal" => report::unknown_entity_in_secret(attribute.name),
                    _ => report::unknown_entity(self.slice(at), at),
                };
                self.report(found, Some(attribute.name), Some(tag.name));
            }
        }
    }
}

/// Pairs `(later, first)` of attributes with one name.
fn duplicates(text: &str, attributes: &[Attribute]) -> Vec<(usize, usize)> {
    let name = |attribute: &Attribute| text.get(attribute.name.range()).unwrap_or_default();
    let mut pairs = Vec::new();
    if attributes.len() <= FEW {
        for (later, attribute) in attributes.iter().enumerate() {
            let first = attributes
                .iter()
                .take(later)
                .position(|earlier| name(earlier) == name(attribute));
            pairs.extend(first.map(|first| (later, first)));
        }
        return pairs;
    }
    // The std hasher: names come from the document and may be chosen to collide.
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(attributes.len());
    for (index, attribute) in attributes.iter().enumerate() {
        match seen.entry(name(attribute)) {
            std::collections::hash_map::Entry::Occupied(first) => pairs.push((index, *first.get())),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(index);
            }
        }
    }
    pairs
}
