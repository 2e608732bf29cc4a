//! The attribute list of one tag (spec 01 section 2.4): a flat grammar over tag tokens.
//!
//! The grammar is total: whatever is no attribute is junk, so it never fails and never backtracks
//! further than one optional `=`.

use chumsky::extra::Full;
use chumsky::input::MapExtra;
use chumsky::inspector::SimpleState;
use chumsky::prelude::*;

use crate::Span;
use crate::tree::{Attribute, Quote};

/// Longest attribute name, in bytes (spec 01 section 20).
const MAX_NAME_BYTES: u32 = 128;

/// Kind of a token inside a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Space,
    Name,
    Equals,
    /// Quotes included; without a closing quote the value ends where recovery put its end.
    Quoted {
        quote: Quote,
        terminated: bool,
    },
    Unquoted,
    Close,
    SelfClose,
    Junk,
}

/// A token inside a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// What is wrong in an attribute list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    Junk,
    NameTooLong,
    MissingSpace,
    ValueMissing,
    Unquoted,
    /// `span` is the whole attribute, `value` where its opening quote stands.
    Unterminated {
        quote_at: u32,
    },
}

/// A finding inside a tag, in source order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub kind: ProblemKind,
    pub span: Span,
    /// Name of the attribute; the span itself for junk.
    pub name: Span,
}

/// Where the grammar puts its findings: shared by all tags of a file, so a tag costs no allocation.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    pub attributes: Vec<Attribute>,
    pub problems: Vec<Problem>,
    after_space: bool,
}

type Extra = Full<EmptyErr, SimpleState<Sink>, ()>;
type Here<'t, 'p> = MapExtra<'t, 'p, &'t [Token], Extra>;

/// Parses the tokens between the name of a start tag and its end; returns the sink with the
/// findings appended.
pub(crate) fn parse(tokens: &[Token], sink: Sink) -> Sink {
    let mut state = SimpleState(sink);
    state.0.after_space = false;
    // The grammar accepts every token sequence.
    let _ = list().parse_with_state(tokens, &mut state).into_output();
    state.0
}

fn kind<'t>(want: Kind) -> impl Parser<'t, &'t [Token], Token, Extra> + Copy {
    any().filter(move |token: &Token| token.kind == want)
}

fn list<'t>() -> impl Parser<'t, &'t [Token], Vec<()>, Extra> {
    let space = kind(Kind::Space);
    let value =
        any().filter(|token: &Token| matches!(token.kind, Kind::Quoted { .. } | Kind::Unquoted));
    let assigned = space
        .or_not()
        .ignore_then(kind(Kind::Equals))
        .then(space.or_not().ignore_then(value).or_not());
    let attribute = kind(Kind::Name)
        .then(assigned.or_not())
        .map_with(|(name, assigned), extra| extra.state().attribute(name.span, assigned));
    let junk = any()
        .filter(|token: &Token| !matches!(token.kind, Kind::Space | Kind::Close | Kind::SelfClose))
        .repeated()
        .at_least(1)
        .to_slice()
        .map_with(|run: &[Token], extra: &mut Here<'t, '_>| {
            extra.state().junk(run);
        });
    let gap = any()
        .filter(|token: &Token| matches!(token.kind, Kind::Space | Kind::Close | Kind::SelfClose))
        .map_with(|_, extra: &mut Here<'t, '_>| extra.state().after_space = true);
    // Collecting makes chumsky run the closures, which it skips when nothing uses their output; a
    // `Vec` of nothing costs nothing.
    choice((attribute, gap, junk)).repeated().collect()
}

impl Sink {
    /// Whether the problems from index `from` on leave every attribute readable.
    pub(crate) fn well_formed_from(&self, from: usize) -> bool {
        let problems = self.problems.get(from..).unwrap_or_default();
        problems
            .iter()
            .all(|p| matches!(p.kind, ProblemKind::Unquoted | ProblemKind::MissingSpace))
    }

    fn attribute(&mut self, name: Span, assigned: Option<(Token, Option<Token>)>) {
        let spaced = std::mem::replace(&mut self.after_space, false);
        let end = match assigned {
            Some((_, Some(value))) => value.span.end,
            Some((equals, None)) => equals.span.end,
            None => name.end,
        };
        let span = Span::new(name.start, end);
        if name.len() > MAX_NAME_BYTES {
            self.problem(ProblemKind::NameTooLong, name, name);
            return;
        }
        if !spaced {
            self.problem(ProblemKind::MissingSpace, span, name);
        }
        let mut attribute = Attribute {
            name,
            value: None,
            quote: Quote::None,
            span,
            poisoned: false,
        };
        match assigned {
            None => {}
            Some((_, None)) => {
                attribute.poisoned = true;
                self.problem(ProblemKind::ValueMissing, span, name);
            }
            Some((_, Some(value))) => self.value(&mut attribute, value),
        }
        self.attributes.push(attribute);
    }

    fn value(&mut self, attribute: &mut Attribute, value: Token) {
        match value.kind {
            Kind::Quoted { quote, terminated } => {
                attribute.quote = quote;
                attribute.value = Some(Span::new(
                    value.span.start + 1,
                    value.span.end - u32::from(terminated),
                ));
                if !terminated {
                    attribute.poisoned = true;
                    let kind = ProblemKind::Unterminated {
                        quote_at: value.span.start,
                    };
                    self.problem(kind, attribute.span, attribute.name);
                }
            }
            _ => {
                attribute.value = Some(value.span);
                self.problem(ProblemKind::Unquoted, value.span, attribute.name);
            }
        }
    }

    fn junk(&mut self, run: &[Token]) {
        if let (Some(first), Some(last)) = (run.first(), run.last()) {
            let span = Span::new(first.span.start, last.span.end);
            self.problem(ProblemKind::Junk, span, span);
        }
        // Junk ends at whitespace or at the end of the tag, so what follows is spaced.
        self.after_space = true;
    }

    fn problem(&mut self, kind: ProblemKind, span: Span, name: Span) {
        self.problems.push(Problem { kind, span, name });
    }
}
