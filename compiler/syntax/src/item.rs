//! Flat items: a tag with its attributes, an end tag, a comment, a RAW block, a stretch of text.
//!
//! Where one item ends depends on its bytes alone, never on the open elements. The one exception
//! is a tag of the shell vocabulary, which is a tag in shell scope and text elsewhere: it carries
//! both readings ([`StartTag::well_formed`]) and the tree builder picks one.

use logos::Logos;
use memchr::{memchr2, memmem};

use crate::attributes::{self, Kind, Sink, Token};
use crate::lexer::{TagToken, TextToken, is_space};
use crate::quoted::{Scope, quoted, unquoted};
use crate::tree::{Attribute, Quote};
use crate::{Span, Tag};

/// Longest tag name, in bytes; longer ones are unknown (spec 01 section 20).
const MAX_NAME_BYTES: usize = 128;

/// How a tag ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// `>`
    Open,
    /// `/>`
    SelfClosed,
    /// No `>`: the next byte is `<` or the file ends.
    Missing,
}

/// The body of a `<script>` (spec 01 section 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScriptBody {
    pub span: Span,
    pub content: Span,
    /// Text between `|RAW` and `</script>`, trimmed.
    pub trailing: Option<Span>,
    /// `RAW|` without its closer.
    pub unterminated_raw: Option<Span>,
}

/// What follows a start tag of `script`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// No script, or self-closed.
    None,
    /// A body up to an end tag.
    Closed(u32),
    /// No `</script>` in the rest of the file.
    Unclosed,
}

/// A start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StartTag {
    pub name: Span,
    /// `None`: not in the vocabulary. Such an item is always well-formed.
    pub tag: Option<Tag>,
    pub attributes: (u32, u32),
    pub problems: (u32, u32),
    pub closing: Closing,
    /// Complete and without junk: as text, the whole tag is one piece; otherwise only its `<` is.
    pub well_formed: bool,
    pub first_on_line: bool,
    pub body: Body,
}

/// An end tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndTag {
    pub name: Span,
    pub tag: Option<Tag>,
    /// What stands between the name and `>`, trimmed.
    pub junk: Option<Span>,
    /// Whether `>` was there.
    pub closed: bool,
    pub first_on_line: bool,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    Text,
    Comment {
        closed: bool,
    },
    Raw {
        content: Span,
    },
    /// `RAW|` without a later `|RAW`; where its block ends depends on the open elements.
    RawOpener,
    Start(StartTag),
    End(EndTag),
}

/// One flat item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub span: Span,
    pub kind: ItemKind,
}

/// Scans items of one text.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    sink: Sink,
    scripts: Vec<ScriptBody>,
    /// A special item found behind a stretch of text that was returned first.
    pending: Option<Item>,
    tokens: Vec<Token>,
    /// Offsets at and behind which the closer is known not to occur.
    no_comment_end: usize,
    no_raw_end: usize,
    no_script_end: usize,
    /// Bytes that failed attempts at unknown tags may still look at. An attempt costs as much as it
    /// reads, so that a file of half-open tags is read a bounded number of times.
    fuel: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            sink: Sink::default(),
            scripts: Vec::new(),
            pending: None,
            tokens: Vec::new(),
            no_comment_end: text.len(),
            no_raw_end: text.len(),
            no_script_end: text.len(),
            fuel: text.len().saturating_mul(8).saturating_add(1 << 16),
        }
    }

    pub(crate) fn attributes(&self, tag: &StartTag) -> &[Attribute] {
        let (from, to) = tag.attributes;
        self.sink
            .attributes
            .get(from as usize..to as usize)
            .unwrap_or_default()
    }

    pub(crate) fn problems(&self, tag: &StartTag) -> &[attributes::Problem] {
        let (from, to) = tag.problems;
        self.sink
            .problems
            .get(from as usize..to as usize)
            .unwrap_or_default()
    }

    /// The tokens behind the name of a tag.
    pub(crate) fn tokens_of(&mut self, tag: &StartTag) -> &[Token] {
        self.tag_tokens(tag.name.end as usize, tag.tag);
        &self.tokens
    }

    pub(crate) fn script(&self, index: u32) -> Option<ScriptBody> {
        self.scripts.get(index as usize).copied()
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    fn rest(&self, at: usize) -> &'t [u8] {
        self.bytes().get(at..).unwrap_or_default()
    }

    /// All items of the text, in order; they cover it.
    pub(crate) fn all(&mut self, from: usize) -> Vec<Item> {
        let mut items = Vec::with_capacity(self.text.len() / 48 + 1);
        let mut at = from;
        let mut raw_end = usize::MAX;
        while at < self.text.len() {
            let item = self.next(at, raw_end);
            at = item.span.end as usize;
            if let ItemKind::Raw { .. } = item.kind {
                raw_end = at;
            }
            if let ItemKind::Start(StartTag {
                body: Body::Closed(index),
                ..
            }) = item.kind
                && let Some(body) = self.script(index)
            {
                at = body.span.end as usize;
            }
            items.push(item);
        }
        items
    }

    /// The item at `at`, which must be before the end. `raw_end` is the end of the last RAW block:
    /// directly behind one, a new block may open whatever its last letter was.
    pub(crate) fn next(&mut self, at: usize, raw_end: usize) -> Item {
        if let Some(item) = self
            .pending
            .take()
            .filter(|item| item.span.start as usize == at)
        {
            return item;
        }
        let mut base = at;
        let mut lexer = TextToken::lexer(self.rest(base));
        while let Some(token) = lexer.next() {
            let (start, end) = (base + lexer.span().start, base + lexer.span().end);
            let special = match token {
                Ok(TextToken::CommentOpen) => Some(self.comment(start)),
                Ok(TextToken::RawOpen) if self.opens_raw(start, raw_end) => Some(self.raw(start)),
                Ok(TextToken::StartOpen) => self.start_tag(start, end),
                Ok(TextToken::EndOpen) => self.end_tag(start, end),
                _ => None,
            };
            match (special, token) {
                (Some(item), _) if start == at => return item,
                (Some(item), _) => {
                    self.pending = Some(item);
                    return Item {
                        span: span(at, start),
                        kind: ItemKind::Text,
                    };
                }
                // Only the `<` is text; what follows may be anything, `RAW|` for instance.
                (None, Ok(TextToken::StartOpen | TextToken::EndOpen)) => {
                    base = start + 1;
                    lexer = TextToken::lexer(self.rest(base));
                }
                (None, _) => {}
            }
        }
        Item {
            span: span(at, self.text.len()),
            kind: ItemKind::Text,
        }
    }

    /// Whether another reading of `length` bytes is within the bound on repeated work.
    pub(crate) fn afford(&mut self, length: usize) -> bool {
        let enough = self.fuel >= length;
        self.fuel = self.fuel.saturating_sub(length);
        enough
    }

    fn may_be_tag(&self, name_end: usize) -> bool {
        match self.rest(name_end) {
            [b'>', ..] | [b'/', b'>', ..] => true,
            [byte, ..] => is_space(*byte),
            [] => false,
        }
    }

    fn opens_raw(&self, start: usize, raw_end: usize) -> bool {
        let before = start.checked_sub(1).and_then(|at| self.bytes().get(at));
        start == raw_end
            || !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    }

    fn comment(&mut self, start: usize) -> Item {
        let from = start + 4;
        let found = if from >= self.no_comment_end {
            None
        } else {
            memmem::find(self.rest(from), b"-->")
        };
        if let Some(length) = found {
            let end = from + length + 3;
            return Item {
                span: span(start, end),
                kind: ItemKind::Comment { closed: true },
            };
        }
        self.no_comment_end = self.no_comment_end.min(from);
        let end = self.line_end(from);
        Item {
            span: span(start, end),
            kind: ItemKind::Comment { closed: false },
        }
    }

    fn line_end(&self, from: usize) -> usize {
        memchr2(b'\n', b'\r', self.rest(from)).map_or(self.text.len(), |length| from + length)
    }

    fn find_raw_end(&mut self, from: usize) -> Option<usize> {
        if from >= self.no_raw_end {
            return None;
        }
        let found = memmem::find(self.rest(from), b"|RAW").map(|length| from + length);
        if found.is_none() {
            self.no_raw_end = self.no_raw_end.min(from);
        }
        found
    }

    fn raw(&mut self, start: usize) -> Item {
        let from = start + 4;
        match self.find_raw_end(from) {
            Some(end) => Item {
                span: span(start, end + 4),
                kind: ItemKind::Raw {
                    content: span(from, end),
                },
            },
            None => Item {
                span: span(start, from),
                kind: ItemKind::RawOpener,
            },
        }
    }

    /// The first byte of `</script` ws* `>` at or behind `from`.
    fn find_script_end(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        while at < self.no_script_end {
            let Some(length) = memmem::find(self.rest(at), b"</script") else {
                break;
            };
            let start = at + length;
            at = start + 8;
            let spaces = self
                .rest(at)
                .iter()
                .take_while(|byte| is_space(**byte))
                .count();
            if self.rest(at + spaces).first() == Some(&b'>') {
                return Some(start);
            }
        }
        self.no_script_end = self.no_script_end.min(from);
        None
    }

    fn script_body(&mut self, from: usize) -> Body {
        let spaces = self
            .rest(from)
            .iter()
            .take_while(|byte| is_space(**byte))
            .count();
        let opener = from + spaces;
        let raw = self.rest(opener).starts_with(b"RAW|");
        let raw_end = if raw {
            self.find_raw_end(opener + 4)
        } else {
            None
        };
        let Some(end) = self.find_script_end(raw_end.map_or(from, |end| end + 4)) else {
            return Body::Unclosed;
        };
        let body = match raw_end {
            Some(raw_end) => ScriptBody {
                span: span(from, end),
                content: span(opener + 4, raw_end),
                trailing: self.trimmed(raw_end + 4, end),
                unterminated_raw: None,
            },
            None if raw => ScriptBody {
                span: span(from, end),
                content: span((opener + 4).min(end), end),
                trailing: None,
                unterminated_raw: Some(span(opener, opener + 4)),
            },
            None => ScriptBody {
                span: span(from, end),
                content: span(from, end),
                trailing: None,
                unterminated_raw: None,
            },
        };
        self.scripts.push(body);
        Body::Closed(self.scripts.len() as u32 - 1)
    }

    /// `[from, to)` without `ws` at both ends; `None` when nothing is left.
    fn trimmed(&self, from: usize, to: usize) -> Option<Span> {
        let bytes = self.bytes().get(from..to)?;
        let start = bytes.iter().position(|byte| !is_space(*byte))?;
        let end = bytes.iter().rposition(|byte| !is_space(*byte))? + 1;
        Some(span(from + start, from + end))
    }

    fn name(&self, from: usize, to: usize) -> Option<Tag> {
        self.text
            .get(from..to)
            .filter(|name| name.len() <= MAX_NAME_BYTES)
            .and_then(Tag::from_name)
    }

    /// Whether only `ws` (or the start of the file) stands between `at` and the line end before it.
    fn first_on_line(&self, at: usize) -> bool {
        let before = self.bytes().get(..at).unwrap_or_default();
        let mut left = before.len();
        while let Some(byte) = left.checked_sub(1).and_then(|at| before.get(at)) {
            match byte {
                b'\n' | b'\r' => return true,
                byte if is_space(*byte) => left -= 1,
                _ => return left == 3 && before.starts_with(crate::tree::BOM.as_bytes()),
            }
        }
        true
    }

    fn end_tag(&self, start: usize, name_end: usize) -> Option<Item> {
        if !self.may_be_tag(name_end) {
            return None;
        }
        let name = span(start + 2, name_end);
        let tag = self.name(start + 2, name_end);
        let stop = memchr2(b'>', b'<', self.rest(name_end))
            .map_or(self.text.len(), |length| name_end + length);
        let closed = self.bytes().get(stop) == Some(&b'>');
        let junk = self.trimmed(name_end, stop);
        // An unknown name is a tag only when all of it is well-formed.
        if tag.is_none() && (!closed || junk.is_some()) {
            return None;
        }
        let end = if closed { stop + 1 } else { stop };
        let first_on_line = self.first_on_line(start);
        Some(Item {
            span: span(start, end),
            kind: ItemKind::End(EndTag {
                name,
                tag,
                junk,
                closed,
                first_on_line,
            }),
        })
    }

    fn start_tag(&mut self, start: usize, name_end: usize) -> Option<Item> {
        if !self.may_be_tag(name_end) {
            return None;
        }
        let name = span(start + 1, name_end);
        let tag = self.name(start + 1, name_end);
        if tag.is_none() && self.fuel == 0 {
            return None;
        }
        let (attributes, problems) = (self.sink.attributes.len(), self.sink.problems.len());
        let (end, closing) = self.tag_tokens(name_end, tag);
        self.sink = attributes::parse(&self.tokens, std::mem::take(&mut self.sink));
        let well_formed = closing != Closing::Missing && self.sink.well_formed_from(problems);
        if tag.is_none() && !well_formed {
            self.fuel = self.fuel.saturating_sub(end - start);
            self.sink.attributes.truncate(attributes);
            self.sink.problems.truncate(problems);
            return None;
        }
        let body = match (tag, closing) {
            (Some(Tag::Script), Closing::Open) => self.script_body(end),
            (Some(Tag::Script), Closing::Missing) if self.find_script_end(end).is_some() => {
                self.script_body(end)
            }
            _ => Body::None,
        };
        let tag = StartTag {
            name,
            tag,
            attributes: (attributes as u32, self.sink.attributes.len() as u32),
            problems: (problems as u32, self.sink.problems.len() as u32),
            closing,
            well_formed,
            first_on_line: self.first_on_line(start),
            body,
        };
        Some(Item {
            span: span(start, end),
            kind: ItemKind::Start(tag),
        })
    }

    /// Fills `self.tokens` with the tokens behind a tag name.
    fn tag_tokens(&mut self, from: usize, tag: Option<Tag>) -> (usize, Closing) {
        self.tokens.clear();
        let text = self.text;
        let mut lexer = TagToken::lexer(text.as_bytes().get(from..).unwrap_or_default());
        let mut place = Place::Between;
        let mut scope = Scope::new(tag);
        while let Some(token) = lexer.next() {
            let (start, mut end) = (from + lexer.span().start, from + lexer.span().end);
            let token = token.unwrap_or(TagToken::Other);
            let kind = match token {
                TagToken::Open => return (start, Closing::Missing),
                TagToken::Space => Kind::Space,
                TagToken::Close => Kind::Close,
                TagToken::SelfClose => Kind::SelfClose,
                TagToken::Double | TagToken::Single if place == Place::Value => {
                    let quote = if token == TagToken::Double {
                        Quote::Double
                    } else {
                        Quote::Single
                    };
                    let value = quoted(text.as_bytes(), end, quote, scope.shell);
                    scope.value(text.get(end..value.content_end).unwrap_or_default());
                    end = value.end;
                    Kind::Quoted {
                        quote,
                        terminated: value.terminated,
                    }
                }
                TagToken::Name | TagToken::Other if place == Place::Value => {
                    end = unquoted(text.as_bytes(), start);
                    scope.value(text.get(start..end).unwrap_or_default());
                    if end > start {
                        Kind::Unquoted
                    } else {
                        Kind::Junk
                    }
                }
                TagToken::Name => Kind::Name,
                TagToken::Equals => Kind::Equals,
                _ => Kind::Junk,
            };
            let end = end.max(from + lexer.span().end);
            lexer.bump(end - (from + lexer.span().end));
            self.tokens.push(Token {
                kind,
                span: span(start, end),
            });
            place = match kind {
                Kind::Close => return (end, Closing::Open),
                Kind::SelfClose => return (end, Closing::SelfClosed),
                Kind::Name => {
                    scope.name(text.get(start..end).unwrap_or_default());
                    Place::Name
                }
                Kind::Equals if place == Place::Name => Place::Value,
                Kind::Space => place,
                _ => Place::Between,
            };
        }
        (text.len(), Closing::Missing)
    }
}

/// Where the lexer stands in an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    Name,
    Value,
}

fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}
